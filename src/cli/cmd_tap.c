/* gale tap TOPOLOGY COMPONENT */
#include "cli/command.h"
#include "cli/heard.h"
#include "cli/running.h"
#include "cli/session.h"
#include "cli/signals.h"
#include "cli/tap_line.h"

#include "base/str.h"
#include "base/visible.h"

#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

typedef struct choices {
    const char *stream, *where;
    uint64_t rate; /* 0: as the topology has it */
    bool json;
} choices;

#define AT(field) offsetof(choices, field)

static const gx_option options[] = {
    { 0, "stream", "STREAM", GX_OPTION_TEXT, AT(stream), 0, 0, "of the component (default: all)" },
    { 0, "where", "EXPRESSION", GX_OPTION_TEXT, AT(where), 0, 0,
      "those that it is true of, as gale.bolt.Filter has it" },
    { 0, "rate", "N", GX_OPTION_WHOLE, AT(rate), 1, 10000, "tuples a second at the most (default: 10)" },
    { 0, "json", NULL, GX_OPTION_FLAG, AT(json), 0, 0, "as JSON lines, for programs" },
};

/* --- What is asked --------------------------------------------------------------------------------------------------- */

/* By RFC 3986: all but letters, digits and four signs. */
static void add_pair(gx_buf *target, char sign, const char *name, const char *value) {
    static const char signs[] = "-._~";
    if (!value) return;
    gx_buf_format(target, "%c%s=", sign, name);
    for (const unsigned char *c = (const unsigned char *)value; *c; c++) {
        bool plain = (*c >= '0' && *c <= '9') || ((*c | 0x20) >= 'a' && (*c | 0x20) <= 'z') || strchr(signs, *c);
        gx_buf_format(target, plain ? "%c" : "%%%02X", *c);
    }
}

static void write_target(const choices *c, const char *component, gx_buf *target) {
    char rate[24];
    gx_buf_add_text(target, GX_HEARD_API "/tap");
    add_pair(target, '?', "component", component);
    add_pair(target, '&', "stream", c->stream);
    add_pair(target, '&', "where", c->where);
    snprintf(rate, sizeof rate, "%llu", (unsigned long long)c->rate);
    if (c->rate) add_pair(target, '&', "rate", rate);
}

/* --- What comes ------------------------------------------------------------------------------------------------------ */

typedef struct watching {
    const choices *c;
    gx_terminal out, *errors;
    gx_buf line;
    int rc;
    gale_error *error;
} watching;

static bool take(void *user, gale_str line) {
    watching *w = user;
    gale_error error = GALE_ERROR_INIT;
    gx_buf_reset(&w->line);
    int rc = gx_tap_line_add(line, &w->line, &error);
    if (rc == GALE_COMPONENT) gx_terminal_say(w->errors, GALE_LOG_WARN, error.text);
    if (rc == GALE_INVALID) return *w->error = error, w->rc = rc, false;
    if (rc <= 0) return true;
    if (w->c->json) {
        gx_buf_reset(&w->line);
        gx_visible_add(&w->line, line, "");
        gx_buf_add_byte(&w->line, '\n');
    }
    const char *text = gx_buf_text(&w->line);
    return text ? gx_terminal_print(&w->out, text) : true;
}

/* An end that a signal asked for is one in order. */
static int watch(watching *w, const gx_running *one, const char *component) {
    gx_buf target = GX_BUF_INIT(NULL);
    write_target(w->c, component, &target);
    const char *text = gx_buf_text(&target);
    int rc = text ? gx_heard_follow(one->path, text, take, w, w->error)
                  : gale_error_set(w->error, GALE_NO_MEMORY, "out of memory");
    gx_buf_fini(&target);
    return rc == GALE_STOPPED && gx_signals_ending() ? 0 : rc < 0 ? rc : w->rc;
}

static int run(int argc, char **argv, gx_terminal *errors) {
    gale_error error = GALE_ERROR_INIT;
    choices c = { .rate = 0 };
    gx_words words = { .count = 0 };
    gx_running one;
    watching w = { .c = &c, .errors = errors, .line = GX_BUF_INIT(NULL), .error = &error };
    int rc = gx_options_read(options, sizeof options / sizeof *options, argc, argv, &c, &words, &error);
    if (rc == 0 && words.count != 2)
        rc = gale_error_set(&error, GALE_INVALID, "tap wants a topology that runs, and a component of it: gale %s",
                            gx_cmd_tap.usage);
    if (rc == 0) rc = gx_running_find(words.items[0], &one, &error);
    gx_terminal_init(&w.out, STDOUT_FILENO);
    if (rc == 0) rc = watch(&w, &one, words.items[1]);
    int broken = w.out.broken;
    gx_terminal_fini(&w.out);
    gx_buf_fini(&w.line);
    if (broken) return gx_session_unwritten(errors, broken);
    return rc < 0 ? gx_session_refuse(errors, &error, gx_heard_exit(rc)) : GX_EXIT_OK;
}

const gx_command gx_cmd_tap = {
    .name = "tap",
    .usage = "tap TOPOLOGY COMPONENT [options]",
    .text = "show tuples of a running topology as they pass",
    .more =
        "A line a tuple: what emitted it, its stream, its fields. Nothing is changed by looking. It ends with the run, "
        "or with Ctrl-C.\n"
        "TOPOLOGY is the name of one that you run, or its process's number, or both (word-count.4711); gale ps lists "
        "them.\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run,
};
