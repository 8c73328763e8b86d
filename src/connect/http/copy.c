#include "connect/http/copy.h"

#include <string.h>

int http_copy_text(char **to, const gale_args *args, const char *parameter, gale_error *error) {
    const char *text = gale_args_text(args, parameter);
    *to = text && *text ? strdup(text) : NULL;
    return text && *text && !*to ? gale_error_set(error, GALE_NO_MEMORY, "out of memory") : 0;
}
