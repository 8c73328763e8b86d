/* What a class of SQLite's was given in a file: checked, and what all of them have.
 * Threads: frozen once made. Owner: who makes them frees them. */
#ifndef GALE_CONNECT_SQLITE_SETTINGS_H
#define GALE_CONNECT_SQLITE_SETTINGS_H

#include <gale/plugin.h>

typedef struct lite_settings {
    char *path;
    const char *journal; /* a statement; NULL: as the file has it */
    const char *sync;    /* a statement */
    int64_t timeout;     /* ns: so long another's lock is waited for */
    char where[64];      /* "sqlite shop.db": what reports begin with */
} lite_settings;

/* Of the parameters that all classes have; `writes`: and of `journal` and `sync`, which sinks have. GALE_INVALID with a sentence that begins with the parameter; GALE_NO_MEMORY. What was made is freed by
 * lite_settings_free, also then. */
int lite_settings_make(lite_settings *settings, bool writes, const gale_args *args, gale_error *error);
void lite_settings_free(lite_settings *settings);

/* A copy of a parameter's text; NULL where there is none. GALE_NO_MEMORY. */
int lite_copy(char **to, const gale_args *args, const char *parameter, gale_error *error);

/* The next of names with commas between them: `*at` goes behind it. False: there is none. */
bool lite_next_name(const char **at, gale_str *ret_name);

#endif
