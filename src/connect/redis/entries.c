#include "connect/redis/entries.h"

#include <string.h>

int redis_entries_read(redis_entries *e, const redis_reply *reply) {
    *e = (redis_entries){ .streams = NULL };
    if (reply->kind == REDIS_NIL) return 0;
    if (reply->kind != REDIS_LIST) return GALE_DAMAGED;
    e->streams = reply->items;
    e->stream_count = reply->count;
    return 0;
}

int redis_entries_claimed(redis_entries *e, const redis_reply *reply, gale_str *ret_cursor) {
    *e = (redis_entries){ .streams = NULL };
    if (reply->kind != REDIS_LIST || reply->count < 2 || reply->items[0].kind != REDIS_TEXT ||
        reply->items[1].kind != REDIS_LIST)
        return GALE_DAMAGED;
    *ret_cursor = reply->items[0].text;
    e->entries = reply->items[1].items;
    e->count = reply->items[1].count;
    return 0;
}

static size_t digits(gale_str text, size_t from) {
    size_t at = from;
    while (at < text.size && text.data[at] >= '0' && text.data[at] <= '9') at++;
    return at - from;
}

static bool is_id(gale_str text) {
    size_t first = digits(text, 0);
    if (!first || first > 20 || first >= text.size || text.data[first] != '-') return false;
    size_t second = digits(text, first + 1);
    return second && second <= 20 && first + 1 + second == text.size;
}

static bool are_fields(const redis_reply *fields) {
    if (fields->kind != REDIS_LIST || fields->count % 2) return false;
    for (size_t i = 0; i < fields->count; i++)
        if (fields->items[i].kind != REDIS_TEXT) return false;
    return true;
}

static int read_entry(const redis_reply *reply, gale_str stream, redis_entry *ret_entry) {
    if (reply->kind == REDIS_LIST && reply->count == 2 && reply->items[0].kind == REDIS_TEXT &&
        is_id(reply->items[0].text)) {
        const redis_reply *fields = &reply->items[1];
        bool deleted = fields->kind == REDIS_NIL;
        if (!deleted && !are_fields(fields)) return GALE_DAMAGED;
        *ret_entry = (redis_entry){ stream, reply->items[0].text, deleted ? NULL : fields };
        return 1;
    }
    return GALE_DAMAGED;
}

static int next_stream(redis_entries *e) {
    const redis_reply *pair = e->streams++;
    e->stream_count--;
    if (pair->kind != REDIS_LIST || pair->count != 2 || pair->items[0].kind != REDIS_TEXT ||
        pair->items[1].kind != REDIS_LIST)
        return GALE_DAMAGED;
    e->stream = pair->items[0].text;
    e->entries = pair->items[1].items;
    e->count = pair->items[1].count;
    return 0;
}

/* A nil among what was claimed is one that was deleted, by servers before 7.0, which do not say its id. */
int redis_entries_next(redis_entries *e, redis_entry *ret_entry) {
    int rc = 0;
    for (;;) {
        while (rc == 0 && !e->count && e->stream_count) rc = next_stream(e);
        if (rc < 0 || !e->count) return rc;
        const redis_reply *one = e->entries++;
        e->count--;
        if (one->kind != REDIS_NIL) return read_entry(one, e->stream, ret_entry);
    }
}
