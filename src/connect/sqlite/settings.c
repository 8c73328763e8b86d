#include "connect/sqlite/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int lite_copy(char **to, const gale_args *args, const char *parameter, gale_error *error) {
    const char *text = gale_args_text(args, parameter);
    if (!text) return 0;
    *to = strdup(text);
    return *to ? 0 : gale_error_set(error, GALE_NO_MEMORY, "out of memory");
}

bool lite_next_name(const char **at, gale_str *ret_name) {
    const char *from = *at + strspn(*at, ", ");
    size_t size = strcspn(from, ",");
    *at = from + size;
    while (size && from[size - 1] == ' ') size--;
    *ret_name = (gale_str){ from, size };
    return size > 0;
}

/* Words of the parameters, and what they are in SQL. */
static const char *journal_of(const char *word) {
    if (word && strcmp(word, "wal") == 0) return "PRAGMA journal_mode = wal";
    return word && strcmp(word, "delete") == 0 ? "PRAGMA journal_mode = delete" : NULL;
}

static const char *sync_of(const char *word) {
    if (word && strcmp(word, "off") == 0) return "PRAGMA synchronous = off";
    return word && strcmp(word, "normal") == 0 ? "PRAGMA synchronous = normal" : "PRAGMA synchronous = full";
}

/* The end of a long path says more than its beginning. */
static void name_place(lite_settings *settings) {
    enum { SHOWN = 50 };
    size_t size = strlen(settings->path);
    const char *shown = size > SHOWN ? settings->path + size - SHOWN : settings->path;
    snprintf(settings->where, sizeof settings->where, "sqlite %s%s", size > SHOWN ? "..." : "", shown);
}

int lite_settings_make(lite_settings *settings, bool writes, const gale_args *args, gale_error *error) {
    *settings = (lite_settings){ .journal = writes ? journal_of(gale_args_text(args, "journal")) : NULL,
                                 .sync = sync_of(writes ? gale_args_text(args, "sync") : NULL),
                                 .timeout = (int64_t)(gale_args_number(args, "timeout") * 1e9) };
    int rc = lite_copy(&settings->path, args, "path", error);
    if (rc < 0) return rc;
    if (!*settings->path || strcmp(settings->path, ":memory:") == 0)
        return gale_error_set(error, GALE_INVALID,
                              "path: '%s' is no file, which a database of its own in memory is not", settings->path);
    name_place(settings);
    return 0;
}

void lite_settings_free(lite_settings *settings) {
    free(settings->path);
}
