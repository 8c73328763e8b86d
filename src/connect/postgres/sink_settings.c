#include "connect/postgres/sink_settings.h"

#include <stdlib.h>

int pg_sink_settings_make(pg_sink_settings *settings, const gale_args *args, gale_error *error) {
    int rc = pg_settings_make(&settings->postgres, args, error);
    if (rc == 0) rc = pg_table_make(&settings->table, args, error);
    if (rc == 0) rc = pg_copy(&settings->target, args, "table", error);
    if (rc == 0) rc = pg_copy(&settings->markers, args, "markers", error);
    if (rc == 0) rc = pg_copy(&settings->refused, args, "refused", error);
    settings->rows = (size_t)gale_args_whole(args, "batch");
    settings->linger = (int64_t)(gale_args_number(args, "linger") * 1e9);
    settings->finish_wait = (int64_t)(gale_args_number(args, "finishWait") * 1e9);
    settings->memory = (uint64_t)gale_args_whole(args, "memory");
    return rc;
}

void pg_sink_settings_free(void *user) {
    pg_sink_settings *settings = user;
    pg_settings_free(&settings->postgres);
    pg_table_free(&settings->table);
    free(settings->target);
    free(settings->markers);
    free(settings->refused);
    free(settings);
}
