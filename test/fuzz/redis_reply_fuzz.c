/* Bytes, read as what a Redis server answers, in pieces of any size: the first byte says how large. What is read takes no more memory than it may, however it is
 * cut into pieces it is the same, and whatever its shape is, entries of streams are read from it, and become valid rows. */
#include "fuzz.h"

#include "connect/redis/entries.h"
#include "connect/redis/row.h"
#include "connect/redis/text.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 20000 };

static redis_values values;

static void check_row(const redis_entry *entry) {
    static char field[] = "n";
    static const redis_row row = { .emit = { .places = { 0, 1, 2, 3 }, .count = 4 },
                                   .fields = { field },
                                   .field_count = 1,
                                   .count = 5,
                                   .keeps = true };
    if (!entry->fields || redis_row_values(&row, entry, "s", &values)) return;
    gale_value list = gale_list(values.list, redis_row_size(&row));
    gale_value_owned *copy = gale_value_copy(&list);
    expect(copy);
    gale_value_owned_free(copy);
}

static void check_entries(redis_entries *entries) {
    redis_entry entry;
    for (int left = MOST; redis_entries_next(entries, &entry) > 0; left--) {
        expect(left && entry.id.size >= 3);
        check_row(&entry);
    }
}

/* Adds it to the text, as one that is sent. */
static void write_reply(const redis_reply *reply, redis_text *to) {
    expect(reply->kind != REDIS_LIST || !reply->count || reply->items);
    redis_text_number(to, reply->kind);
    redis_text_number(to, reply->number);
    if (reply->text.data) expect(reply->text.data[reply->text.size] == '\0');
    redis_text_word(to, reply->text.data ? reply->text.data : "", reply->text.size);
    for (size_t i = 0; reply->kind == REDIS_LIST && i < reply->count; i++) write_reply(&reply->items[i], to);
}

static void check_reply(const redis_reply *reply, redis_text *to) {
    redis_entries entries;
    gale_str cursor;
    write_reply(reply, to);
    (void)redis_reply_refuses(reply);
    if (redis_entries_read(&entries, reply) == 0) check_entries(&entries);
    if (redis_entries_claimed(&entries, reply, &cursor) == 0) check_entries(&entries);
}

/* All replies up to the first mistake. */
static void read_all(const uint8_t *data, size_t size, size_t piece, redis_text *to) {
    redis_reader reader;
    const redis_reply *reply;
    int rc = redis_reader_open(&reader, MOST);
    for (size_t at = 0; rc == 0 && at < size; at += piece) {
        rc = redis_reader_feed(&reader, (const char *)data + at, size - at < piece ? size - at : piece);
        while (rc == 0 && (rc = redis_reader_next(&reader, &reply)) > 0) {
            expect(reader.used <= MOST);
            check_reply(reply, to);
            rc = 0;
        }
    }
    redis_reader_free(&reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    redis_text whole = { .data = NULL }, pieces = { .data = NULL };
    if (!size) return 0;
    read_all(data + 1, size - 1, 1 + data[0] % 64, &pieces);
    if (size < MOST / 2) { /* else the one is too large before the other is */
        read_all(data + 1, size - 1, 1, &whole);
        expect(whole.size == pieces.size && (!whole.size || memcmp(whole.data, pieces.data, whole.size) == 0));
    }
    redis_text_free(&whole);
    redis_text_free(&pieces);
    return 0;
}
