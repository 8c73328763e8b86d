#include "connect/mqtt/topic.h"

#include "connect/mqtt/property.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct piece {
    gale_str text; /* as it is, or the name of a field */
    bool field, slashes;
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
    ret->slashes = (*at)[1] == '+';
    const char *name = *at + 1 + ret->slashes;
    ret->text = (gale_str){ name, (size_t)(end - name) };
    *at = end + 1;
    return ret->text.size && !memchr(name, '{', ret->text.size) ? 1 : GALE_INVALID;
}

int mqtt_topic_check(const char *topic, bool *ret_fields, gale_error *error) {
    piece p;
    char room[MQTT_FAULT];
    int rc = *topic ? 1 : 0;
    *ret_fields = false;
    if (!rc) return gale_error_set(error, GALE_INVALID, "topic: it is empty");
    while ((rc = next_piece(&topic, &p)) > 0) {
        if (p.field)
            *ret_fields = true;
        else if (!mqtt_is_topic(p.text) || mqtt_text_fault(p.text, room))
            return gale_error_set(error, GALE_INVALID,
                                  "topic: it has no wildcards and no control characters, and is UTF-8");
    }
    return rc < 0 ? gale_error_set(error, rc, "topic: a field stands in braces: {name}") : 0;
}

static const char *level_fault(const piece *p, gale_str text, char room[MQTT_FAULT]) {
    if (!text.size) return "is empty";
    if (memchr(text.data, '+', text.size) || memchr(text.data, '#', text.size)) return "has a wildcard, + or #";
    if (!p->slashes && memchr(text.data, '/', text.size)) return "has a slash: {+name} may have some";
    return mqtt_text_fault(text, room);
}

static int write_field(const piece *p, const gale_value *value, mqtt_bytes *to, char *why, size_t size) {
    int length = (int)p->text.size;
    char number[32];
    gale_str text = { value->as.string, value->size };
    if (value->type == GALE_TYPE_I64) {
        text = (gale_str){ number, (size_t)snprintf(number, sizeof number, "%" PRId64, value->as.i64) };
    } else if (value->type != GALE_TYPE_STRING) {
        snprintf(why, size, "topic: field %.*s is no text and no whole number", length, p->text.data);
        return GALE_INVALID;
    }
    char room[MQTT_FAULT];
    const char *fault = level_fault(p, text, room);
    if (fault) {
        snprintf(why, size, "topic: field %.*s %s", length, p->text.data, fault);
        return GALE_INVALID;
    }
    mqtt_bytes_add(to, text.data, text.size);
    return 0;
}

static int write_piece(const piece *p, const gale_tuple *tuple, mqtt_bytes *to, char *why, size_t size) {
    char name[128];
    gale_value value;
    if (!p->field) {
        mqtt_bytes_add(to, p->text.data, p->text.size);
        return 0;
    }
    snprintf(name, sizeof name, "%.*s", (int)p->text.size, p->text.data);
    if (gale_tuple_get(tuple, name, &value)) return write_field(p, &value, to, why, size);
    snprintf(why, size, "topic: field %s is not there", name);
    return GALE_INVALID;
}

int mqtt_topic_write(const char *topic, const gale_tuple *tuple, mqtt_bytes *to, char *why, size_t size) {
    size_t before = to->size;
    piece p;
    int rc = 0;
    while (rc == 0 && next_piece(&topic, &p) > 0) rc = write_piece(&p, tuple, to, why, size);
    if (rc == 0 && to->size - before > MQTT_TEXT_MAX) {
        snprintf(why, size, "topic: it has more than 65,535 bytes");
        return GALE_INVALID;
    }
    return rc;
}
