#include "connect/rabbitmq/spout_settings.h"

#include <stdlib.h>
#include <string.h>

void rmq_spout_settings_free(void *user) {
    rmq_spout_settings *made = user;
    rmq_settings_free(&made->broker);
    rmq_declare_free(&made->declare);
    free(made);
}

static int read_queue(rmq_spout_settings *made, const gale_args *args, gale_error *error) {
    const char *queue = gale_args_text(args, "queue");
    if (!queue || !*queue) return gale_error_set(error, GALE_INVALID, "queue: it names none");
    int rc = rmq_settings_check_short("queue", queue, error);
    return rc < 0 ? rc : rmq_declare_read(&made->declare, args, queue, NULL, error);
}

int rmq_spout_settings_make(rmq_spout_settings *made, const gale_args *args, gale_error *error) {
    const char *retry = gale_args_text(args, "retry");
    int rc = rmq_settings_make(&made->broker, args, error);
    if (rc == 0) rc = read_queue(made, args, error);
    if (rc == 0) rc = rmq_row_parse(gale_args_text(args, "emit"), &made->row, error);
    made->output = (gale_output){ NULL, made->row.emit.text };
    made->memory = (uint64_t)gale_args_whole(args, "memory");
    made->largest = (uint64_t)gale_args_whole(args, "maxMessage");
    made->attempts = (uint32_t)gale_args_whole(args, "maxAttempts");
    made->prefetch = (uint16_t)gale_args_whole(args, "prefetch");
    made->retries_at_queue = retry && strcmp(retry, "queue") == 0;
    made->until_empty = gale_args_flag(args, "untilEmpty");
    return rc;
}
