/* gale activate, deactivate, drain, kill, log-level TOPOLOGY */
#include "cli/command.h"
#include "cli/heard.h"
#include "cli/keys.h"
#include "cli/running.h"
#include "cli/session.h"
#include "cli/signals.h"

#include "base/json.h"
#include "base/str.h"

#include <gale/json.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>

typedef struct choices {
    bool wait;
} choices;

static const gx_option wait_option[] = {
    { 'w', "wait", NULL, GX_OPTION_FLAG, offsetof(choices, wait), 0, 0,
      "until it has ended; says how, and has its exit code" },
};

/* An answer to `method` of `what`. */
static int ask_running(const gx_running *one, const char *method, const char *what, const char *body,
                       gx_heard *ret_heard, gale_error *error) {
    gx_buf target = GX_BUF_INIT(NULL);
    *ret_heard = (gx_heard){ .owned = NULL, .reply = { .bytes = GX_BUF_INIT(NULL) } };
    gx_buf_format(&target, GX_HEARD_API "/%s", what);
    const char *text = gx_buf_text(&target);
    int rc = text ? gx_heard_ask(one->path, method, text, body, ret_heard, error)
                  : gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    gx_buf_fini(&target);
    return rc;
}

/* The same of the topology that the first word means. */
static int ask(const char *wanted, const char *method, const char *what, const char *body, gx_running *ret_running,
               gx_heard *ret_heard, gale_error *error) {
    *ret_heard = (gx_heard){ .owned = NULL, .reply = { .bytes = GX_BUF_INIT(NULL) } };
    int rc = gx_running_find(wanted, ret_running, error);
    return rc < 0 ? rc : ask_running(ret_running, method, what, body, ret_heard, error);
}

/* --- One word ------------------------------------------------------------------------------------------------------ */

/* What is asked for is asked when the connection stands that the end is reported on. */
typedef struct waiting {
    const char *name;
    const gx_running *one;
    bool asked;
    int rc;
    int64_t exit_code; /* -1: not known yet */
    gale_error *error;
} waiting;

static bool take_line(void *user, gale_str line) {
    waiting *w = user;
    gale_str json, code;
    if (gale_json_check(line, &json, NULL) == 0 && gale_json_get(json, "exit_code", &code))
        (void)gale_json_whole(code, &w->exit_code);
    if (!w->asked) {
        gx_heard heard;
        w->asked = true;
        w->rc = ask_running(w->one, "POST", w->name, "{}", &heard, w->error);
        gx_heard_fini(&heard);
    }
    return w->rc >= 0 && w->exit_code < 0;
}

/* Nobody listens at its socket any more, and all is written. */
static int wait_until_gone(const gx_running *one) {
    for (;;) {
        gale_error error = GALE_ERROR_INIT;
        gx_heard heard;
        int signal = 0, rc = gx_heard_ask(one->path, "GET", GX_HEARD_API "/log-level", NULL, &heard, &error);
        gx_heard_fini(&heard);
        if (rc == GALE_NOT_FOUND) return GALE_OK;
        if (rc != GALE_STOPPED) (void)gx_keys_wait(20 * GALE_MILLISECOND, &signal);
        if (rc == GALE_STOPPED || signal) return GALE_STOPPED;
    }
}

static const char *meaning_of(int exit_code) {
    static const char *const meanings[] = { "all in flight was finished, or is in the state",
                                            "something failed for good", "it could not begin",
                                            "input or output failed" };
    if (exit_code < 0 || exit_code > GX_EXIT_SIGNAL) return "a signal cut it short";
    return exit_code <= GX_EXIT_IO ? meanings[exit_code] : "it failed";
}

static int report_end(const waiting *w, gx_terminal *errors) {
    gx_buf out = GX_BUF_INIT(NULL);
    gx_buf_format(&out, "%s has ended: %s (exit code %d)\n", w->one->name, meaning_of((int)w->exit_code),
                  (int)w->exit_code);
    int printed = gx_session_print(errors, &out);
    bool killed = strcmp(w->name, "kill") == 0 && w->exit_code == GX_EXIT_SIGNAL + SIGTERM;
    return printed != GX_EXIT_OK || killed ? printed : (int)w->exit_code;
}

/* Asks, and waits for the end. Returns the exit code: that of the run, or 0 where a kill has ended it as it was to. */
static int ask_and_wait(const char *name, const gx_running *one, gx_terminal *errors) {
    gale_error error = GALE_ERROR_INIT;
    waiting w = { .name = name, .one = one, .exit_code = -1, .error = &error };
    int rc = gx_heard_follow(one->path, GX_HEARD_API "/end", take_line, &w, &error);
    bool kills = strcmp(name, "kill") == 0;
    bool gone = rc == GALE_NOT_FOUND || (rc == GALE_STOPPED && !gx_signals_ending());
    if (!w.asked && gone && kills) return GX_EXIT_OK; /* it was there, and has ended since */
    if (w.asked)
        rc = w.rc < 0 && w.rc != GALE_NOT_FOUND ? w.rc : rc == GALE_STOPPED && !gone ? rc : wait_until_gone(one);
    if (rc < 0) return gx_session_refuse(errors, &error, gx_heard_exit(rc));
    if (w.exit_code >= 0) return report_end(&w, errors);
    gale_error_set(&error, GALE_STOPPED, "%s has ended, and has not said how: it was killed, or crashed", one->name);
    return gx_session_refuse(errors, &error, GX_EXIT_FAILED);
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
    if (rc == 0) rc = gx_running_find(words.items[0], &one, &error);
    if (rc == 0 && c.wait) return ask_and_wait(command->name, &one, errors);
    if (rc == 0) rc = ask_running(&one, "POST", command->name, "{}", &heard, &error);
    bool silent = rc == GALE_NOT_FOUND && !heard.reply.bytes.size && one.pid;
    gx_heard_fini(&heard);
    if (silent && command == &gx_cmd_kill) return GX_EXIT_OK; /* it was there, and ended before it had answered */
    if (rc < 0) return gx_session_refuse(errors, &error, gx_heard_exit(rc));
    return GX_EXIT_OK;
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
    .options = wait_option,
    .option_count = 1,
    .run = run_drain,
};

const gx_command gx_cmd_kill = {
    .name = "kill",
    .usage = "kill TOPOLOGY [options]",
    .text = "end a running topology at once: what is in flight is not finished",
    .more = WHICH,
    .options = wait_option,
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
