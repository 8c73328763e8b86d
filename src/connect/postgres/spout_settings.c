#include "connect/postgres/spout_settings.h"

#include <stdlib.h>
#include <string.h>

/* As PostgreSQL has it, with room for "_snapshot" behind it. */
enum { SLOT_MAX = 54 };

static int check_slot(const char *slot, gale_error *error) {
    size_t size = strspn(slot, "abcdefghijklmnopqrstuvwxyz0123456789_");
    if (size && !slot[size] && size <= SLOT_MAX) return 0;
    return gale_error_set(error, GALE_INVALID, "slot: %s is none: small letters, digits and _, at most %d", slot,
                          SLOT_MAX);
}

static int read_tables(pg_spout_settings *made, const gale_args *args, gale_error *error) {
    gale_value list = gale_args_value(args, "tables");
    for (size_t i = 0; list.type == GALE_TYPE_LIST && i < list.size; i++) {
        gale_value name = gale_list_at(&list, i);
        if (i) sql_text_add(&made->tables, ", ", 2);
        pg_text_name(&made->tables, (gale_str){ name.as.string, name.size });
    }
    return sql_text_string(&made->tables) ? 0 : gale_error_set(error, GALE_NO_MEMORY, "out of memory");
}

int pg_spout_settings_make(pg_spout_settings *made, const gale_args *args, gale_error *error) {
    int rc = pg_settings_make(&made->postgres, args, error);
    if (rc == 0) rc = pg_row_make(&made->row, args, error);
    if (rc == 0) rc = pg_copy(&made->slot, args, "slot", error);
    if (rc == 0) rc = check_slot(made->slot, error);
    if (rc == 0)
        rc = pg_copy(&made->publication, args, gale_args_text(args, "publication") ? "publication" : "slot", error);
    if (rc == 0) rc = read_tables(made, args, error);
    made->output = (gale_output){ NULL, made->row.names.data };
    made->snapshot = gale_args_flag(args, "snapshot");
    made->confirm_every = (int64_t)(gale_args_number(args, "confirmEvery") * 1e9);
    made->memory = (uint64_t)gale_args_whole(args, "memory");
    made->attempts = (uint32_t)gale_args_whole(args, "maxAttempts");
    return rc;
}

void pg_spout_settings_free(void *settings) {
    pg_spout_settings *made = settings;
    pg_settings_free(&made->postgres);
    pg_row_free(&made->row);
    free(made->slot);
    free(made->publication);
    sql_text_free(&made->tables);
    free(made);
}
