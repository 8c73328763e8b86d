/* Texts with fields in them: "user:{id}". A brace of its own stands twice. Threads: frozen once made. Owner: redis_template_free. */
#ifndef GALE_CONNECT_REDIS_TEMPLATE_H
#define GALE_CONNECT_REDIS_TEMPLATE_H

#include "connect/redis/text.h"

#include <gale/plugin.h>

typedef struct redis_piece {
    char *text; /* as it is, or a field's name */
    size_t size;
    bool field;
} redis_piece;

typedef struct redis_template {
    redis_piece *pieces;
    size_t count; /* 0: it is not given */
    const char *parameter;
} redis_template;

/* Of a parameter, perhaps not given, whose fields what comes in must have, where that is known. GALE_INVALID with a sentence that begins with the parameter;
 * GALE_NO_MEMORY. What was made is freed by redis_template_free, also then. */
int redis_template_make(redis_template *made, const gale_args *args, const char *parameter, gale_error *error);
void redis_template_free(redis_template *made);

/* Is it among names with commas or blanks between them? NULL has all. */
bool redis_has_name(const char *names, const char *name);

/* GALE_INVALID with a sentence in `why`: of this tuple none can be made; what was written of it stays in `to`. */
int redis_template_write(const redis_template *made, const gale_tuple *tuple, redis_text *to, char *why, size_t size);

#endif
