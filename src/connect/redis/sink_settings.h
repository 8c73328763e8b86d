/* What a RedisSink was given in a file. Threads: frozen once made. Owner: who makes them frees them. */
#ifndef GALE_CONNECT_REDIS_SINK_SETTINGS_H
#define GALE_CONNECT_REDIS_SINK_SETTINGS_H

#include "connect/redis/command.h"
#include "connect/redis/settings.h"

typedef struct redis_sink_settings {
    redis_settings redis;
    redis_command command;
    char *markers, *refused; /* what a marker's key begins with; a stream, or NULL */
    size_t window;           /* commands on their way */
    uint64_t memory;
    int64_t finish_wait; /* ns */
} redis_sink_settings;

/* GALE_INVALID with a sentence that begins with the parameter; GALE_FIELDS, GALE_NO_MEMORY. What was made is freed by redis_sink_settings_free, also then. */
int redis_sink_settings_make(redis_sink_settings *settings, const gale_args *args, gale_error *error);
void redis_sink_settings_free(void *settings);

#endif
