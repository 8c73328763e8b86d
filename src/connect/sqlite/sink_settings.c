#include "connect/sqlite/sink_settings.h"

#include <stdlib.h>

int lite_sink_settings_make(lite_sink_settings *settings, bool letters, const gale_args *args, gale_error *error) {
    int rc = lite_settings_make(&settings->sqlite, true, args, error);
    if (rc == 0)
        rc = letters ? lite_table_make_letters(&settings->table, args, error)
                     : lite_table_make(&settings->table, args, error);
    if (rc == 0) rc = lite_copy(&settings->markers, args, "markers", error);
    if (rc == 0 && !letters) rc = lite_copy(&settings->refused, args, "refused", error);
    settings->creates = settings->table.make;
    settings->rows = (size_t)gale_args_whole(args, "batch");
    settings->linger = (int64_t)(gale_args_number(args, "linger") * 1e9);
    settings->finish_wait = (int64_t)(gale_args_number(args, "finishWait") * 1e9);
    settings->memory = (uint64_t)gale_args_whole(args, "memory");
    return rc;
}

void lite_sink_settings_free(void *user) {
    lite_sink_settings *settings = user;
    lite_settings_free(&settings->sqlite);
    lite_table_free(&settings->table);
    free(settings->markers);
    free(settings->refused);
    free(settings);
}
