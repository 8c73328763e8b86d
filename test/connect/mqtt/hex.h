/* Bytes as tests of MQTT write them. Threads: one. Owner: give_back frees what bytes_of made. */
#ifndef GALE_TEST_CONNECT_MQTT_HEX_H
#define GALE_TEST_CONNECT_MQTT_HEX_H

#include <gale/base.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Bytes in hex, with blanks where they please; 'text' stands for its letters. In memory of its own, so that what reads beyond the end is found. */
static inline gale_str bytes_of(const char *hex) {
    char *bytes = malloc(strlen(hex) + 1);
    size_t size = 0;
    unsigned one;
    assert_non_null(bytes);
    while (*hex) {
        if (*hex == ' ') {
            hex++;
        } else if (*hex == '\'') {
            for (hex++; *hex != '\''; hex++) bytes[size++] = *hex;
            hex++;
        } else {
            assert_int_equal(sscanf(hex, "%2x", &one), 1);
            bytes[size++] = (char)one;
            hex += 2;
        }
    }
    char *exact = malloc(size ? size : 1);
    assert_non_null(exact);
    memcpy(exact, bytes, size);
    free(bytes);
    return (gale_str){ exact, size };
}

static inline void give_back(gale_str bytes) {
    free((char *)(uintptr_t)bytes.data);
}

#endif
