/* gale top, gale stats [TOPOLOGY] */
#include "cli/command.h"
#include "cli/heard.h"
#include "cli/keys.h"
#include "cli/look.h"
#include "cli/running.h"
#include "cli/session.h"

#include "base/os/time.h"
#include "base/str.h"

#include <stddef.h>

typedef struct choices {
    double every; /* seconds; 0: one */
    uint64_t times;
    bool json;
} choices;

#define AT(field) offsetof(choices, field)

static const gx_option top_options[] = {
    { 0, "every", "SECONDS", GX_OPTION_RATE, AT(every), 0, 0, "how often it is drawn anew (default: 1)" },
    { 0, "times", "N", GX_OPTION_WHOLE, AT(times), 1, UINT32_MAX, "so often, and no more" },
};

static const gx_option stats_options[] = {
    { 0, "json", NULL, GX_OPTION_FLAG, AT(json), 0, 0, "what the topology answers to /api/gale/v1/now, for programs" },
};

/* What was heard of a run. */
typedef struct hearing {
    gx_running one;
    gx_heard topology, now, before;
    bool has_before;
} hearing;

static int begin(hearing *h, const gx_option *options, size_t count, int argc, char **argv, choices *c,
                 const gx_command *command, gale_error *error) {
    gx_words words = { .count = 0 };
    *h = (hearing){ .has_before = false };
    int rc = gx_options_read(options, count, argc, argv, c, &words, error);
    if (rc == 0 && words.count > 1)
        rc = gale_error_set(error, GALE_INVALID, "%s takes one topology, not %zu: gale %s", command->name, words.count,
                            command->usage);
    if (rc == 0) rc = gx_running_find(words.count ? words.items[0] : NULL, &h->one, error);
    if (rc == 0) rc = gx_heard_ask(h->one.path, "GET", GX_HEARD_API "/topology", NULL, &h->topology, error);
    if (rc == 0) rc = gx_heard_ask(h->one.path, "GET", GX_HEARD_API "/now", NULL, &h->now, error);
    return rc;
}

static void end(hearing *h) {
    gx_heard_fini(&h->topology);
    gx_heard_fini(&h->now);
    gx_heard_fini(&h->before);
}

static int hear_again(hearing *h, gale_error *error) {
    gx_heard_fini(&h->before);
    h->before = h->now;
    h->has_before = true;
    return gx_heard_ask(h->one.path, "GET", GX_HEARD_API "/now", NULL, &h->now, error);
}

static gx_look look_of(const hearing *h) {
    return (
        gx_look){ .now = &h->now.all, .before = h->has_before ? &h->before.all : NULL, .topology = &h->topology.all };
}

/* --- stats ---------------------------------------------------------------------------------------------------------- */

static int run_stats(int argc, char **argv, gx_terminal *errors) {
    gale_error error = GALE_ERROR_INIT;
    choices c = { .json = false };
    hearing h;
    gx_terminal terminal;
    gx_buf out = GX_BUF_INIT(NULL);
    int rc = begin(&h, stats_options, 1, argc, argv, &c, &gx_cmd_stats, &error);
    gx_look look = look_of(&h);
    gx_terminal_init(&terminal, 1);
    if (terminal.is_tty) look.columns = gx_terminal_columns(&terminal);
    gx_terminal_fini(&terminal);
    if (rc == 0 && c.json) {
        gx_buf_add(&out, h.now.reply.body.data, h.now.reply.body.size);
        if (!out.size || out.data[out.size - 1] != '\n') gx_buf_add_byte(&out, '\n');
    } else if (rc == 0) {
        gx_look_head(&look, &out);
        (void)gx_look_hurts(&look, SIZE_MAX, &out);
        gx_buf_add_byte(&out, '\n');
        gx_look_table(&look, &out);
    }
    end(&h);
    return rc < 0 ? gx_session_refuse(errors, &error, gx_heard_exit(rc)) : gx_session_print(errors, &out);
}

/* --- top ------------------------------------------------------------------------------------------------------------ */

typedef struct watching {
    hearing h;
    gx_terminal terminal;
    uint64_t shown, times; /* 0: for ever */
    int64_t period;
    size_t skip;
    int signal;
} watching;

static bool is_over(const watching *w) {
    return w->terminal.broken || w->signal || (w->times && w->shown >= w->times);
}

static void draw(watching *w) {
    gx_buf out = GX_BUF_INIT(NULL);
    gx_look look = look_of(&w->h);
    look.skip = w->skip;
    look.marks = w->terminal.is_tty;
    look.columns = gx_terminal_columns(&w->terminal) - 1;
    look.rows = gx_terminal_room(&w->terminal);
    if (w->terminal.is_tty)
        gx_look_screen(&look, &out);
    else
        gx_look_line(&look, &out);
    const char *text = gx_buf_text(&out);
    if (text && w->terminal.is_tty)
        gx_terminal_live_marked(&w->terminal, text);
    else if (text)
        (void)gx_terminal_print(&w->terminal, text);
    gx_buf_fini(&out);
}

static void scroll(watching *w, gx_key key) {
    size_t count = gx_heard_length(&w->h.topology.all, "components");
    if (key == GX_KEY_UP && w->skip) w->skip--;
    if (key == GX_KEY_DOWN && w->skip + 1 < count) w->skip++;
}

/* Until the next answer is to be had. False: it was told to quit. */
static bool wait_a_period(watching *w) {
    int64_t until = gx_os_monotonic() + w->period;
    for (int64_t left = w->period; left > 0 && !w->signal; left = until - gx_os_monotonic()) {
        gx_key key = gx_keys_wait(left, &w->signal);
        if (key == GX_KEY_QUIT) return false;
        if (key == GX_KEY_UP || key == GX_KEY_DOWN) {
            scroll(w, key);
            draw(w);
        }
    }
    return !w->signal;
}

/* That the topology has ended is the end of watching it. */
static int watch(watching *w, gale_error *error) {
    int rc = 0;
    while (rc == 0 && !is_over(w)) {
        draw(w);
        w->shown++;
        if (is_over(w) || !wait_a_period(w)) break;
        rc = hear_again(&w->h, error);
    }
    return rc;
}

/* An end that a key or a signal asked for is one in order: there was nothing to finish. */
static int run_top(int argc, char **argv, gx_terminal *errors) {
    gale_error error = GALE_ERROR_INIT;
    choices c = { .times = 0 };
    watching w = { .signal = 0 };
    int rc = begin(&w.h, top_options, sizeof top_options / sizeof *top_options, argc, argv, &c, &gx_cmd_top, &error);
    w.times = c.times;
    w.period = c.every > 0 && c.every < 1e6 ? (int64_t)(c.every * 1e9) : GALE_SECOND;
    bool began = rc == 0;
    gx_terminal_init(&w.terminal, 1);
    if (began && w.terminal.is_tty) gx_keys_begin();
    if (began) rc = watch(&w, &error);
    gx_keys_end();
    gx_terminal_leave(&w.terminal);
    int broken = w.terminal.broken;
    gx_terminal_fini(&w.terminal);
    end(&w.h);
    if (broken) return gx_session_unwritten(errors, broken);
    if (began && rc == GALE_NOT_FOUND) {
        (void)gx_terminal_print(errors, "gale: it has ended\n");
        return GX_EXIT_OK;
    }
    return rc < 0 && rc != GALE_STOPPED ? gx_session_refuse(errors, &error, gx_heard_exit(rc)) : GX_EXIT_OK;
}

#define WHICH                                                                                                          \
    "TOPOLOGY is the name of one that you run, or its process's number, or both (word-count.4711); without it, the "   \
    "only one that you run.\n"

const gx_command gx_cmd_top = {
    .name = "top",
    .usage = "top [TOPOLOGY] [options]",
    .text = "watch a running topology: its problems, and each component's figures a second",
    .more = "q quits, up and down move through components that the window has no room for. Where the output is no "
            "terminal, a line each time.\n" WHICH,
    .options = top_options,
    .option_count = sizeof top_options / sizeof *top_options,
    .run = run_top,
};

const gx_command gx_cmd_stats = {
    .name = "stats",
    .usage = "stats [TOPOLOGY] [options]",
    .text = "tell the figures of a running topology since its start",
    .more = WHICH,
    .options = stats_options,
    .option_count = 1,
    .run = run_stats,
};
