#include "connect/rabbitmq/template.h"

#include <gale/value.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { FIELD = 128 };

typedef struct piece {
    gale_str text; /* as it is, or the name of a field */
    bool field;
} piece;

/* 1: a piece; 0: there are no more; GALE_INVALID: a brace has no other one. */
static int next_piece(const char **at, piece *ret) {
    size_t plain = strcspn(*at, "{}");
    *ret = (piece){ .text = { *at, plain } };
    *at += plain;
    if (plain) return 1;
    if (!**at) return 0;
    const char *end = **at == '{' ? strchr(*at, '}') : NULL;
    if (!end) return GALE_INVALID;
    ret->field = true;
    ret->text = (gale_str){ *at + 1, (size_t)(end - *at) - 1 };
    *at = end + 1;
    bool is = ret->text.size && ret->text.size < FIELD && !memchr(ret->text.data, '{', ret->text.size);
    return is ? 1 : GALE_INVALID;
}

int rmq_template_check(const char *text, gale_error *error) {
    piece p;
    int rc;
    if (strlen(text) > 1000) return gale_error_set(error, GALE_INVALID, "routingKey: it is too long");
    while ((rc = next_piece(&text, &p)) > 0) continue;
    return rc < 0 ? gale_error_set(error, rc, "routingKey: a field stands in braces: {name}") : 0;
}

const char *rmq_short_fault(const void *bytes, size_t size) {
    if (size >= RMQ_NAME) return "has more than 255 bytes";
    if (size && memchr(bytes, '\0', size)) return "has a NUL, which AMQP forbids in a short string";
    return size && !gale_utf8_valid(bytes, size) ? "is not UTF-8, as AMQP's short strings are" : NULL;
}

static int find_value(const piece *p, const gale_tuple *tuple, gale_str *ret_text, char number[24], char *why,
                      size_t size) {
    char name[FIELD];
    gale_value value;
    snprintf(name, sizeof name, "%.*s", (int)p->text.size, p->text.data);
    if (!gale_tuple_get(tuple, name, &value)) {
        snprintf(why, size, "routingKey: field %s is not there", name);
        return GALE_INVALID;
    }
    if (value.type == GALE_TYPE_I64) {
        *ret_text = (gale_str){ number, (size_t)snprintf(number, 24, "%" PRId64, value.as.i64) };
        return 0;
    }
    *ret_text = (gale_str){ value.as.string, value.size };
    const char *fault = value.type == GALE_TYPE_STRING || value.type == GALE_TYPE_BYTES
                            ? rmq_short_fault(value.as.bytes, value.size)
                            : "is no text and no whole number";
    if (!fault) return 0;
    snprintf(why, size, "routingKey: field %s %s", name, fault);
    return GALE_INVALID;
}

int rmq_template_write(const char *text, const gale_tuple *tuple, char key[RMQ_NAME], size_t *ret_size, char *why,
                       size_t size) {
    piece p;
    size_t length = 0;
    while (next_piece(&text, &p) > 0) {
        char number[24];
        gale_str part = p.text;
        int rc = p.field ? find_value(&p, tuple, &part, number, why, size) : 0;
        if (rc < 0) return rc;
        if (part.size >= RMQ_NAME - length) {
            snprintf(why, size, "routingKey: it has more than 255 bytes");
            return GALE_INVALID;
        }
        if (part.size) memcpy(key + length, part.data, part.size);
        length += part.size;
    }
    key[length] = '\0';
    *ret_size = length;
    return 0;
}
