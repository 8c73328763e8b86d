#include "connect/postgres/found.h"

#include <stdlib.h>
#include <string.h>

void pg_rows_done(pg_found *found, pg_rows *rows) {
    if (--rows->uses) return;
    if (rows->before)
        rows->before->behind = rows->behind;
    else
        found->first = rows->behind;
    if (rows->behind) rows->behind->before = rows->before;
    gale_value_owned_free(rows->list);
    free(rows);
}

static void expire(void *user, const gale_rotating_map_entry *dead) {
    pg_rows *rows;
    memcpy(&rows, dead->value, sizeof rows);
    pg_rows_done(user, rows);
}

int pg_found_open(pg_found *found, double seconds, size_t most, const gale_context *context, gale_error *error) {
    gale_time_cache_map_options options = GALE_TIME_CACHE_MAP_OPTIONS_INIT;
    *found = (pg_found){ .context = context };
    if (!(seconds > 0)) return 0;
    options.expiration = gale_time_cache_map_seconds(seconds);
    options.key_type = GALE_KEY_BYTES;
    options.value_size = sizeof(pg_rows *);
    options.max_entries = most;
    options.shards = 1;
    options.clock = &context->clock;
    options.allocator = context->allocator;
    options.expired = expire;
    options.user = found;
    return gale_time_cache_map_new(&options, &found->map, error);
}

void pg_found_close(pg_found *found) {
    gale_time_cache_map_free(found->map);
    while (found->first) {
        found->first->uses = 1;
        pg_rows_done(found, found->first);
    }
}

pg_rows *pg_found_get(pg_found *found, gale_str key) {
    pg_rows *rows = NULL;
    if (!found->map) return NULL;
    (void)!gale_time_cache_map_tick(found->map, gale_context_now(found->context));
    if (gale_time_cache_map_get_bytes(found->map, key.data, key.size, &rows)) rows->uses++;
    return rows;
}

pg_rows *pg_found_put(pg_found *found, gale_str key, const gale_value *list) {
    pg_rows *rows = calloc(1, sizeof *rows);
    if (rows) rows->list = gale_value_copy(list);
    if (!rows || !rows->list) {
        free(rows);
        return NULL;
    }
    rows->uses = 1;
    rows->behind = found->first;
    if (rows->behind) rows->behind->before = rows;
    found->first = rows;
    if (found->map && gale_time_cache_map_put_if_absent_bytes(found->map, key.data, key.size, &rows, NULL) == 1)
        rows->uses++;
    return rows;
}
