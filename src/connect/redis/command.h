/* Which command a sink writes, and what of it each tuple makes. Threads: frozen once made; what is written with belongs to a task. Owner:
 * redis_command_free. */
#ifndef GALE_CONNECT_REDIS_COMMAND_H
#define GALE_CONNECT_REDIS_COMMAND_H

#include "connect/redis/template.h"

enum { REDIS_FIELDS_MAX = 512 };

typedef struct redis_form redis_form;

typedef struct redis_command {
    const redis_form *form;
    redis_template key, member, value;
    char *fields[REDIS_FIELDS_MAX]; /* of XADD, of HSET without a member */
    size_t field_count;
    int64_t longest; /* of XADD: MAXLEN; 0: none */
    bool exactly;    /* no '~' */
    int64_t expires; /* of SET, ms; 0: never */
} redis_command;

/* The words that `command` may be, separated by blanks. */
#define REDIS_COMMANDS "XADD HSET HINCRBY HINCRBYFLOAT ZADD ZINCRBY SADD SET INCRBY INCRBYFLOAT RPUSH LPUSH PUBLISH"

/* GALE_INVALID with a sentence that begins with the parameter; GALE_FIELDS, GALE_NO_MEMORY. What was made is freed by redis_command_free, also then. */
int redis_command_make(redis_command *command, const gale_args *args, gale_error *error);
void redis_command_free(redis_command *command);

/* Appends the command that a tuple is; `scratch` is for its words. GALE_INVALID with a sentence in `why`, GALE_NO_MEMORY: nothing is appended. */
int redis_command_write(const redis_command *command, const gale_tuple *tuple, redis_text *scratch, redis_text *to,
                        char *why, size_t size);

#endif
