/* What every class of Redis's was given in a file: checked. Threads: frozen once made. Owner: who makes them frees them. */
#ifndef GALE_CONNECT_REDIS_SETTINGS_H
#define GALE_CONNECT_REDIS_SETTINGS_H

#include "wire/settings.h"

typedef struct redis_settings {
    wire_settings wire;
    char *user, *password_from; /* NULL: none */
    int64_t database;
    size_t most; /* bytes of a reply */
} redis_settings;

/* Of the parameters that all classes have. GALE_INVALID with a sentence that begins with the parameter; GALE_NO_MEMORY. What was made is freed by
 * redis_settings_free, also then. */
int redis_settings_make(redis_settings *settings, const gale_args *args, gale_error *error);
void redis_settings_free(redis_settings *settings);

/* A copy of a parameter's text; NULL where there is none. GALE_NO_MEMORY. */
int redis_copy(char **to, const gale_args *args, const char *parameter, gale_error *error);

/* Texts of a list, each with a NUL. GALE_INVALID: it is empty, or one of them is; GALE_NO_MEMORY. What was made is freed by redis_texts_free, also then. */
typedef struct redis_texts {
    char **texts;
    size_t count;
} redis_texts;
int redis_texts_make(redis_texts *list, const gale_args *args, const char *parameter, size_t most, gale_error *error);
void redis_texts_free(redis_texts *list);

#endif
