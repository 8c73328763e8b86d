/* The fields that `emit` names, of those that there are.
 * Threads: any. Owner: nothing is kept. */
#ifndef GALE_CONNECT_HTTP_NAMES_H
#define GALE_CONNECT_HTTP_NAMES_H

#include <gale/error.h>

enum { HTTP_NAMES_MAX = 8 };

typedef struct http_names {
    int32_t fields[HTTP_NAMES_MAX]; /* places in the table */
    size_t count;
    char names[80]; /* "body, path" */
} http_names;

/* Of names with commas between them; `known` ends with NULL, `what` is what has them: "a request". GALE_INVALID with a sentence. */
int http_names_parse(const char *text, const char *what, const char *const *known, http_names *names,
                     gale_error *error);

#endif
