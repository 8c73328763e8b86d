#include "sql/found.h"

#include <stdlib.h>
#include <string.h>

void sql_rows_done(sql_found *found, sql_rows *rows) {
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
    sql_rows *rows;
    memcpy(&rows, dead->value, sizeof rows);
    sql_rows_done(user, rows);
}

int sql_found_open(sql_found *found, double seconds, size_t most, const gale_context *context, gale_error *error) {
    gale_time_cache_map_options options = GALE_TIME_CACHE_MAP_OPTIONS_INIT;
    *found = (sql_found){ .context = context };
    if (!(seconds > 0)) return 0;
    options.expiration = gale_time_cache_map_seconds(seconds);
    options.key_type = GALE_KEY_BYTES;
    options.value_size = sizeof(sql_rows *);
    options.max_entries = most;
    options.shards = 1;
    options.clock = &context->clock;
    options.allocator = context->allocator;
    options.expired = expire;
    options.user = found;
    return gale_time_cache_map_new(&options, &found->map, error);
}

void sql_found_close(sql_found *found) {
    gale_time_cache_map_free(found->map);
    while (found->first) {
        found->first->uses = 1;
        sql_rows_done(found, found->first);
    }
}

sql_rows *sql_found_get(sql_found *found, gale_str key) {
    sql_rows *rows = NULL;
    if (!found->map) return NULL;
    (void)!gale_time_cache_map_tick(found->map, gale_context_now(found->context));
    if (gale_time_cache_map_get_bytes(found->map, key.data, key.size, &rows)) rows->uses++;
    return rows;
}

sql_rows *sql_found_put(sql_found *found, gale_str key, const gale_value *list) {
    sql_rows *rows = calloc(1, sizeof *rows);
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
