/* Bytes of MQTT: those that are written, which grow, and those that are read, which end.
 * Threads: any, one at a time. Owner: mqtt_bytes_free frees; zero has none. What failed for memory says so, and stays as it was. A cursor
 * borrows. */
#ifndef GALE_CONNECT_MQTT_BYTES_H
#define GALE_CONNECT_MQTT_BYTES_H

#include <gale/base.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The largest number of MQTT's numbers of one to four bytes, and so the largest packet behind its head. */
enum { MQTT_NUMBER_MAX = 268435455, MQTT_TEXT_MAX = 65535 };

typedef struct mqtt_bytes {
    char *data;
    size_t size, capacity;
    bool failed;
} mqtt_bytes;

void mqtt_bytes_free(mqtt_bytes *bytes);

/* So many more bytes, which are the caller's to write; NULL: memory is out. */
char *mqtt_bytes_more(mqtt_bytes *bytes, size_t size);

void mqtt_bytes_add(mqtt_bytes *bytes, const void *data, size_t size);
void mqtt_bytes_one(mqtt_bytes *bytes, uint8_t number);
void mqtt_bytes_two(mqtt_bytes *bytes, uint16_t number);
void mqtt_bytes_four(mqtt_bytes *bytes, uint32_t number);

/* In one to four bytes; at most MQTT_NUMBER_MAX. */
void mqtt_bytes_number(mqtt_bytes *bytes, uint32_t number);
size_t mqtt_number_size(uint32_t number);

/* Behind its length in two bytes; at most MQTT_TEXT_MAX. */
void mqtt_bytes_text(mqtt_bytes *bytes, gale_str text);

/* What is not read yet. What is read beyond the end is 0, or empty, and `failed` then. */
typedef struct mqtt_cursor {
    const unsigned char *at, *end;
    bool failed;
} mqtt_cursor;

mqtt_cursor mqtt_cursor_of(gale_str bytes);
size_t mqtt_left(const mqtt_cursor *cursor);
gale_str mqtt_take(mqtt_cursor *cursor, size_t size);
uint8_t mqtt_take_one(mqtt_cursor *cursor);
uint16_t mqtt_take_two(mqtt_cursor *cursor);
uint32_t mqtt_take_four(mqtt_cursor *cursor);

/* What stands behind its length in two bytes. */
gale_str mqtt_take_text(mqtt_cursor *cursor);

/* A number of one to four bytes. 1: it is there; 0: it is not there as a whole; -1: it has more than four; -2: it could be shorter. Nothing is taken unless it
 * is there. */
int mqtt_take_number(mqtt_cursor *cursor, uint32_t *ret_number);

#endif
