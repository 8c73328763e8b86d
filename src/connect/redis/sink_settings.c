#include "connect/redis/sink_settings.h"

#include <stdlib.h>

int redis_sink_settings_make(redis_sink_settings *settings, const gale_args *args, gale_error *error) {
    int rc = redis_settings_make(&settings->redis, args, error);
    if (rc == 0) rc = redis_command_make(&settings->command, args, error);
    if (rc == 0) rc = redis_copy(&settings->markers, args, "markers", error);
    if (rc == 0) rc = redis_copy(&settings->refused, args, "refused", error);
    if (rc == 0 && !settings->markers) rc = gale_error_set(error, GALE_INVALID, "markers: it is empty");
    settings->window = (size_t)gale_args_whole(args, "inFlight");
    settings->memory = (uint64_t)gale_args_whole(args, "memory");
    settings->finish_wait = (int64_t)(gale_args_number(args, "finishWait") * 1e9);
    return rc;
}

void redis_sink_settings_free(void *user) {
    redis_sink_settings *settings = user;
    redis_settings_free(&settings->redis);
    redis_command_free(&settings->command);
    free(settings->markers);
    free(settings->refused);
    free(settings);
}
