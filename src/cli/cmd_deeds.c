/* gale activate, deactivate, drain, kill, log-level TOPOLOGY */
#include "cli/command.h"
#include "cli/heard.h"
#include "cli/keys.h"
#include "cli/running.h"
#include "cli/session.h"

#include "base/json.h"
#include "base/str.h"

#include <stddef.h>

typedef struct choices {
    bool wait;
} choices;

static const gx_option waiting[] = {
    { 'w', "wait", NULL, GX_OPTION_FLAG, offsetof(choices, wait), 0, 0, "until it has ended" },
};

/* The topology that the first word means, and an answer to `method` of `what`. */
static int ask(const char *wanted, const char *method, const char *what, const char *body, gx_running *ret_running,
               gx_heard *ret_heard, gale_error *error) {
    gx_buf target = GX_BUF_INIT(NULL);
    *ret_heard = (gx_heard){ .owned = NULL, .reply = { .bytes = GX_BUF_INIT(NULL) } };
    int rc = gx_running_find(wanted, ret_running, error);
    gx_buf_format(&target, GX_HEARD_API "/%s", what);
    const char *text = gx_buf_text(&target);
    if (rc >= 0 && !text) rc = gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    if (rc >= 0) rc = gx_heard_ask(ret_running->path, method, text, body, ret_heard, error);
    gx_buf_fini(&target);
    return rc;
}

/* --- One word ------------------------------------------------------------------------------------------------------ */

/* Until nobody listens at its socket: then all is written, and it ends. Returns an exit code. */
static int wait_for_end(const gx_running *one) {
    int signal = 0;
    for (;;) {
        gale_error error = GALE_ERROR_INIT;
        gx_heard heard;
        int rc = gx_heard_ask(one->path, "GET", GX_HEARD_API "/log-level", NULL, &heard, &error);
        gx_heard_fini(&heard);
        if (rc == GALE_NOT_FOUND) return GX_EXIT_OK;
        (void)gx_keys_wait(100 * GALE_MILLISECOND, &signal);
        if (signal) return GX_EXIT_SIGNAL + signal;
        if (rc == GALE_STOPPED) return GX_EXIT_FAILED;
    }
}

static int tell(const gx_command *command, int argc, char **argv, gx_terminal *errors) {
    gale_error error = GALE_ERROR_INIT;
    choices c = { .wait = false };
    gx_words words = { .count = 0 };
    gx_running one = { .pid = 0 };
    gx_heard heard = { .owned = NULL, .reply = { .bytes = GX_BUF_INIT(NULL) } };
    int rc = gx_options_read(command->options, command->option_count, argc, argv, &c, &words, &error);
    if (rc == 0 && words.count != 1)
        rc = gale_error_set(&error, GALE_INVALID, "%s wants one topology that runs: gale %s", command->name,
                            command->usage);
    if (rc == 0) rc = ask(words.items[0], "POST", command->name, "{}", &one, &heard, &error);
    bool silent = rc == GALE_NOT_FOUND && !heard.reply.bytes.size && one.pid;
    gx_heard_fini(&heard);
    if (silent && command == &gx_cmd_kill) return GX_EXIT_OK; /* it was there, and ended before it had answered */
    if (rc < 0) return gx_session_refuse(errors, &error, gx_heard_exit(rc));
    return c.wait ? wait_for_end(&one) : GX_EXIT_OK;
}

static int run_activate(int argc, char **argv, gx_terminal *errors) {
    return tell(&gx_cmd_activate, argc, argv, errors);
}

static int run_deactivate(int argc, char **argv, gx_terminal *errors) {
    return tell(&gx_cmd_deactivate, argc, argv, errors);
}

static int run_drain(int argc, char **argv, gx_terminal *errors) {
    return tell(&gx_cmd_drain, argc, argv, errors);
}

static int run_kill(int argc, char **argv, gx_terminal *errors) {
    return tell(&gx_cmd_kill, argc, argv, errors);
}

/* --- The log -------------------------------------------------------------------------------------------------------- */

static int set_level(const char *wanted, const char *level, gx_running *one, gx_heard *heard, gale_error *error) {
    gx_buf body = GX_BUF_INIT(NULL);
    gx_json json = gx_json_to(&body);
    gx_json_open(&json, '{');
    gx_json_key(&json, gx_str("level"));
    gx_json_string(&json, gx_str(level));
    gx_json_close(&json, '}');
    const char *text = gx_buf_text(&body);
    int rc = text ? ask(wanted, "POST", "log-level", text, one, heard, error)
                  : gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    gx_buf_fini(&body);
    return rc;
}

static int run_log_level(int argc, char **argv, gx_terminal *errors) {
    gale_error error = GALE_ERROR_INIT;
    gx_words words = { .count = 0 };
    gx_running one;
    gx_heard heard = { .owned = NULL, .reply = { .bytes = GX_BUF_INIT(NULL) } };
    gx_buf out = GX_BUF_INIT(NULL);
    int rc = gx_options_read(NULL, 0, argc, argv, NULL, &words, &error);
    if (rc == 0 && (words.count < 1 || words.count > 2))
        rc = gale_error_set(&error, GALE_INVALID, "log-level wants a topology that runs, and perhaps a level: gale %s",
                            gx_cmd_log_level.usage);
    if (rc == 0 && words.count == 2)
        rc = set_level(words.items[0], words.items[1], &one, &heard, &error);
    else if (rc == 0)
        rc = ask(words.items[0], "GET", "log-level", NULL, &one, &heard, &error);
    gale_str level = gx_heard_text(&heard.all, "level");
    if (rc >= 0 && words.count == 1) gx_buf_format(&out, "%.*s\n", GX_STR(level));
    gx_heard_fini(&heard);
    return rc < 0 ? gx_session_refuse(errors, &error, gx_heard_exit(rc)) : gx_session_print(errors, &out);
}

#define WHICH                                                                                                          \
    "TOPOLOGY is the name of one that you run, or its process's number, or both (word-count.4711); gale ps lists "     \
    "them.\n"

const gx_command gx_cmd_activate = {
    .name = "activate",
    .usage = "activate TOPOLOGY",
    .text = "let the spouts of a topology that pauses go on",
    .more = WHICH,
    .run = run_activate,
};

const gx_command gx_cmd_deactivate = {
    .name = "deactivate",
    .usage = "deactivate TOPOLOGY",
    .text = "let the spouts of a running topology pause",
    .more = "What is in flight is finished. gale activate lets it go on.\n" WHICH,
    .run = run_deactivate,
};

const gx_command gx_cmd_drain = {
    .name = "drain",
    .usage = "drain TOPOLOGY [options]",
    .text = "end a running topology in order, as SIGTERM does",
    .more = WHICH,
    .options = waiting,
    .option_count = 1,
    .run = run_drain,
};

const gx_command gx_cmd_kill = {
    .name = "kill",
    .usage = "kill TOPOLOGY [options]",
    .text = "end a running topology at once: what is in flight is not finished",
    .more = WHICH,
    .options = waiting,
    .option_count = 1,
    .run = run_kill,
};

const gx_command gx_cmd_log_level = {
    .name = "log-level",
    .usage = "log-level TOPOLOGY [LEVEL]",
    .text = "set the level of a running topology's log, or tell it",
    .more = "LEVEL: trace, debug, info, warn, error, off\n" WHICH,
    .run = run_log_level,
};
