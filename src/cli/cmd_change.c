/* gale reload, restart TOPOLOGY */
#include "cli/command.h"
#include "cli/figures.h"
#include "cli/heard.h"
#include "cli/keys.h"
#include "cli/running.h"
#include "cli/session.h"

#include "base/json.h"
#include "base/str.h"

#include <stddef.h>

typedef struct choices {
    gx_words assignments, sets, adopt;
    bool forget;
} choices;

#define AT(field) offsetof(choices, field)

static const gx_option options[] = {
    { 0, "set", "ID.NAME=VALUE", GX_OPTION_WORDS, AT(sets), 0, 0,
      "set a spout's or bolt's parallelism, numTasks, property or own key; may be repeated" },
    { 'c', "config", "KEY=VALUE", GX_OPTION_WORDS, AT(assignments), 0, 0,
      "set a key of the topology's configuration; may be repeated" },
    { 0, "state-adopt", "[OLD=NEW]", GX_OPTION_PAIRS, AT(adopt), 0, 0,
      "go on from a state that the file no longer fits, as with gale run" },
    { 0, "forget", NULL, GX_OPTION_FLAG, AT(forget), 0, 0,
      "first forget what earlier changes have set: the file, and the options that the run was begun with, hold again" },
};

enum { OPTION_COUNT = sizeof options / sizeof options[0] };

#define RELOAD GX_HEARD_API "/reload"

/* --- Asking --------------------------------------------------------------------------------------------------------- */

static void add_words(gx_json *json, const char *name, const gx_words *words) {
    gx_json_key(json, gx_str(name));
    gx_json_open(json, '[');
    for (size_t i = 0; i < words->count; i++) gx_json_string(json, gx_str(words->items[i]));
    gx_json_close(json, ']');
}

/* Its number goes to `ret_number`. */
static int ask(const gx_running *one, const choices *c, uint64_t *ret_number, gale_error *error) {
    gx_buf body = GX_BUF_INIT(NULL);
    gx_json json = gx_json_to(&body);
    gx_heard heard;
    gx_json_open(&json, '{');
    add_words(&json, "set", &c->sets);
    add_words(&json, "config", &c->assignments);
    add_words(&json, "adopt", &c->adopt);
    gx_json_key(&json, gx_str("forget"));
    gx_json_bool(&json, c->forget);
    gx_json_close(&json, '}');
    const char *text = gx_buf_text(&body);
    int rc = text ? gx_heard_ask(one->path, "POST", RELOAD, text, &heard, error)
                  : gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    if (text) *ret_number = gx_heard_count(&heard.all, "number");
    if (text) gx_heard_fini(&heard);
    gx_buf_fini(&body);
    return rc;
}

/* --- Waiting -------------------------------------------------------------------------------------------------------- */

static int tell_done(const gx_heard *heard, gx_terminal *errors) {
    char still[GX_FIGURE_SIZE];
    gx_buf out = GX_BUF_INIT(NULL);
    gx_figure_time(gx_heard_number(&heard->all, "stood_still", 0) * 1e9, still);
    gx_buf_format(&out, "changed; spouts stood still for %s\n", still);
    if (gx_str_is(gx_heard_text(&heard->all, "begun"), "anew"))
        gx_buf_add_text(&out, "without --state bolts began with nothing, and so did sources that keep no place\n");
    if (!gx_heard_is(&heard->all, "active")) gx_buf_add_text(&out, "its spouts pause, as before: gale activate\n");
    return gx_session_print(errors, &out);
}

/* What has become of what ran before. */
static const char *kept_words(gale_str begun) {
    if (gx_str_is(begun, "checkpoint"))
        return "it was stopped, and goes on as it was, from a checkpoint: nothing is lost";
    if (gx_str_is(begun, "anew"))
        return "it was stopped, and was begun again as it was; without --state bolts began with nothing, and so did\n"
               "sources that keep no place";
    return "nothing is changed";
}

static int tell_refused(const gx_heard *heard, gx_terminal *errors) {
    gale_error error = GALE_ERROR_INIT;
    gale_str why = gx_heard_text(&heard->all, "text");
    gale_error_set(&error, GALE_INVALID, "%.*s\n%s", GX_STR(why), kept_words(gx_heard_text(&heard->all, "begun")));
    return gx_session_refuse(errors, &error, GX_EXIT_USAGE);
}

/* An end goes before a change. */
static int tell_ended(const gx_running *one, gx_terminal *errors) {
    gale_error error = GALE_ERROR_INIT;
    gale_error_set(&error, GALE_STOPPED, "%s has ended, before it was changed or just after", one->name);
    return gx_session_refuse(errors, &error, GX_EXIT_FAILED);
}

/* Of the change with this number, or of one that came since: GX_EXIT_SIGNAL while it is on its way. */
static int look(const gx_running *one, uint64_t number, gx_terminal *errors) {
    gale_error error = GALE_ERROR_INIT;
    gx_heard heard;
    int rc = gx_heard_ask(one->path, "GET", RELOAD, NULL, &heard, &error), exit_code = GX_EXIT_SIGNAL;
    gale_str state = gx_heard_text(&heard.all, "state");
    if (rc == GALE_NOT_FOUND)
        exit_code = tell_ended(one, errors);
    else if (rc < 0)
        exit_code = gx_session_refuse(errors, &error, gx_heard_exit(rc));
    else if (gx_heard_count(&heard.all, "number") != number)
        exit_code = GX_EXIT_OK; /* somebody else asked, when it was over */
    else if (gx_str_is(state, "done"))
        exit_code = tell_done(&heard, errors);
    else if (gx_str_is(state, "refused"))
        exit_code = tell_refused(&heard, errors);
    gx_heard_fini(&heard);
    return exit_code;
}

static int wait_for_it(const gx_running *one, uint64_t number, gx_terminal *errors) {
    int signal = 0;
    for (;;) {
        int exit_code = look(one, number, errors);
        if (exit_code != GX_EXIT_SIGNAL) return exit_code;
        (void)gx_keys_wait(20 * GALE_MILLISECOND, &signal);
        if (signal) return GX_EXIT_SIGNAL + signal;
    }
}

static int change(const gx_command *command, int argc, char **argv, gx_terminal *errors) {
    gale_error error = GALE_ERROR_INIT;
    choices c = { .sets = { .count = 0 } };
    gx_words words = { .count = 0 };
    gx_running one;
    uint64_t number = 0;
    int rc = gx_options_read(options, OPTION_COUNT, argc, argv, &c, &words, &error);
    if (rc == 0 && words.count != 1)
        rc = gale_error_set(&error, GALE_INVALID, "%s wants one topology that runs: gale %s", command->name,
                            command->usage);
    if (rc == 0) rc = gx_running_find(words.items[0], &one, &error);
    if (rc >= 0) rc = ask(&one, &c, &number, &error);
    return rc < 0 ? gx_session_refuse(errors, &error, gx_heard_exit(rc)) : wait_for_it(&one, number, errors);
}

static int run_reload(int argc, char **argv, gx_terminal *errors) {
    return change(&gx_cmd_reload, argc, argv, errors);
}

static int run_restart(int argc, char **argv, gx_terminal *errors) {
    return change(&gx_cmd_restart, argc, argv, errors);
}

#define MORE                                                                                                           \
    "The file is read and checked first: when it is wrong, what runs goes on, and the words are told (exit code 2).\n" \
    "With --state all goes on from a checkpoint, and nothing is lost or counted twice; without one, sources that\n"    \
    "keep no place by themselves begin anew. What is set here stays set for later changes, until --forget.\n"          \
    "TOPOLOGY is the name of one that you run, or its process's number, or both (word-count.4711); gale ps lists "     \
    "them.\n"

const gx_command gx_cmd_reload = {
    .name = "reload",
    .usage = "reload TOPOLOGY [options]",
    .text = "let a running topology go on with its file as it is by now",
    .more = MORE,
    .options = options,
    .option_count = OPTION_COUNT,
    .run = run_reload,
};

const gx_command gx_cmd_restart = {
    .name = "restart",
    .usage = "restart TOPOLOGY [--set count.parallelism=8] [options]",
    .text = "let a running topology go on with other numbers of tasks, or another configuration",
    .more = MORE,
    .options = options,
    .option_count = OPTION_COUNT,
    .run = run_restart,
};
