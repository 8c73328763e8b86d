#include "connect/nats/row.h"

#include "connect/nats/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAYLOAD, SUBJECT, STREAM, SEQUENCE, TIME, DELIVERED, HEADERS };
static const char *const known[] = { "payload", "subject", "stream", "sequence", "time", "delivered", "headers", NULL };

/* --- Which ---------------------------------------------------------------------------------------------------------------- */

static bool is_left_out(const char *level) {
    return strcmp(level, "_") == 0;
}

static bool is_taken(const nats_row *row, const char *name) {
    for (uint32_t i = 0; i < row->emit.count; i++)
        if (strcmp(known[row->emit.places[i]], name) == 0) return true;
    for (size_t i = 0; i < row->level_count; i++)
        if (strcmp(row->levels[i], name) == 0) return true;
    return false;
}

static int add_level(nats_row *row, const gale_str *name, gale_error *error) {
    char *to = row->levels[row->level_count];
    if (row->level_count == NATS_LEVELS_MAX)
        return gale_error_set(error, GALE_INVALID, "levels: there are at most %d", NATS_LEVELS_MAX);
    if (name->size >= sizeof row->levels[0])
        return gale_error_set(error, GALE_INVALID, "levels: a name has at most %zu bytes", sizeof row->levels[0] - 1);
    snprintf(to, sizeof row->levels[0], "%.*s", (int)name->size, name->data);
    bool out = is_left_out(to);
    if (!out && is_taken(row, to))
        return gale_error_set(error, GALE_INVALID, "levels: '%s' is the name of another field already", to);
    row->level_count++;
    if (out) return 0;
    size_t used = strlen(row->names);
    snprintf(row->names + used, sizeof row->names - used, ", %s", to);
    row->count++;
    return 0;
}

int nats_row_parse(const char *emit, const char *levels, const char *stream, nats_row *row, gale_error *error) {
    gale_str name;
    *row = (nats_row){ .stream = stream };
    int rc = gale_names_read("emit", emit, "a message", known, &row->emit, error);
    if (rc < 0) return rc;
    row->count = row->emit.count;
    snprintf(row->names, sizeof row->names, "%s", row->emit.text);
    while (rc == 0 && nats_next_name(&levels, &name)) rc = add_level(row, &name, error);
    return rc;
}

/* --- Values ----------------------------------------------------------------------------------------------------------------- */

/* The last of each name. */
static int headers_of(natsMsg *msg, nats_row_values *values, gale_value *ret_map) {
    const char **keys = NULL;
    int count = 0;
    size_t used = 0;
    if (natsMsgHeader_Keys(msg, &keys, &count) != NATS_OK) count = 0;
    int rc = count > NATS_HEADERS_MAX ? GALE_TOO_LARGE : 0;
    for (int i = 0; rc == 0 && i < count; i++) {
        const char **texts = NULL;
        int texts_count = 0;
        bool has = gale_utf8_valid(keys[i], strlen(keys[i])) &&
                   natsMsgHeader_Values(msg, keys[i], &texts, &texts_count) == NATS_OK && texts_count > 0;
        if (has) {
            const char *text = texts[texts_count - 1];
            values->headers[2 * used] = gale_text(keys[i]);
            values->headers[2 * used + 1] = gale_text_or_bytes(text, strlen(text));
            used++;
        }
        free((void *)texts);
    }
    free((void *)keys);
    *ret_map = gale_map(values->headers, used);
    return rc;
}

static int fill_one(const nats_row *row, int32_t field, natsMsg *msg, const nats_place *place, nats_row_values *values,
                    gale_value *to) {
    const char *subject = natsMsg_GetSubject(msg), *data = natsMsg_GetData(msg);
    switch (field) {
    case PAYLOAD: *to = gale_text_or_bytes(data ? data : "", (size_t)natsMsg_GetDataLength(msg)); break;
    case SUBJECT: *to = gale_text_or_bytes(subject, strlen(subject)); break;
    case STREAM: *to = gale_text(row->stream); break;
    case SEQUENCE: *to = gale_i64(place->sequence); break;
    case TIME: *to = gale_i64(place->time / 1000000); break;
    case DELIVERED: *to = gale_i64(place->delivered); break;
    default: return headers_of(msg, values, to);
    }
    return 0;
}

static void fill_levels(const nats_row *row, natsMsg *msg, gale_value *to) {
    const char *at = natsMsg_GetSubject(msg);
    for (size_t i = 0; i < row->level_count; i++) {
        size_t size = at ? strcspn(at, ".") : 0;
        if (!is_left_out(row->levels[i])) *to++ = gale_text_or_bytes(at, size);
        at = at && at[size] ? at + size + 1 : NULL;
    }
}

int nats_row_fill(const nats_row *row, natsMsg *msg, const nats_place *place, nats_row_values *values) {
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < row->emit.count; i++)
        rc = fill_one(row, row->emit.places[i], msg, place, values, &values->list[i]);
    fill_levels(row, msg, values->list + row->emit.count);
    return rc;
}
