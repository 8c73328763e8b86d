/* gale ps */
#include "cli/command.h"
#include "cli/heard.h"
#include "cli/look.h"
#include "cli/running.h"
#include "cli/session.h"
#include "cli/signals.h"

#include "base/json.h"
#include "base/str.h"
#include "base/visible.h"
#include "cli/figures.h"
#include "serve/outcomes.h"

#include <stddef.h>
#include <stdlib.h>

typedef struct choices {
    bool json;
} choices;

static const gx_option options[] = {
    { 0, "json", NULL, GX_OPTION_FLAG, offsetof(choices, json), 0, 0, "as one JSON object, for programs" },
};

/* --- For people ---------------------------------------------------------------------------------------------------- */

static void add_state(const gale_value *now, gx_buf *out) {
    gale_str phase = gx_heard_text(now, "phase");
    bool paused = gx_str_is(phase, "running") && !gx_heard_is(now, "active");
    gx_buf visible = GX_BUF_INIT(NULL);
    gx_visible_add(&visible, paused ? gx_str("paused") : phase, "");
    const char *text = gx_buf_text(&visible);
    gx_buf_format(out, "  %-8s", text ? text : "");
    gx_buf_fini(&visible);
}

/* What hurts most, or what its socket says instead of an answer. */
static void add_row(const gx_running *one, const gale_value *now, const char *error, gx_buf *out) {
    char up[64], count[GX_FIGURE_SIZE];
    gale_value trees = gx_heard_at(now, "trees");
    gx_buf_format(out, "%10llu  ", (unsigned long long)one->pid);
    gx_visible_add(out, gx_str(one->name), "");
    for (size_t used = strlen(one->name); used < 20; used++) gx_buf_add_byte(out, ' ');
    if (error) {
        gx_buf_add_text(out, "  ");
        gx_visible_add(out, gx_str(error), "");
        gx_buf_add_byte(out, '\n');
        return;
    }
    gx_buf_format(out, "  %12s", gx_look_duration(gx_heard_number(now, "uptime", 0), up, sizeof up));
    add_state(now, out);
    gx_buf_format(out, "  %14s", gx_figure_count(gx_heard_count(&trees, "acked"), count));
    for (size_t i = 0; i < GX_OUTCOMES; i++)
        gx_buf_format(out, "  %10s", gx_figure_count(gx_heard_count(&trees, gx_outcomes[i].key), count));
    gale_value hurt = gx_heard_item(now, "hurts", 0);
    gale_str text = gx_heard_text(&hurt, "text");
    if (text.size) gx_buf_add_text(out, "  ");
    gx_visible_add(out, text, "");
    gx_buf_add_byte(out, '\n');
}

/* --- For programs --------------------------------------------------------------------------------------------------- */

static void add_object(const gx_running *one, const gale_value *now, const char *error, gx_json *json) {
    gx_json_open(json, '{');
    gx_json_key(json, gx_str("name"));
    gx_json_string(json, gx_str(one->name));
    gx_json_key(json, gx_str("pid"));
    gx_json_u64(json, one->pid);
    gx_json_key(json, gx_str("socket"));
    gx_json_string(json, gx_str(one->path));
    if (error) {
        gx_json_key(json, gx_str("error"));
        gx_json_string(json, gx_str(error));
    } else {
        gx_json_key(json, gx_str("phase"));
        gx_json_string(json, gx_heard_text(now, "phase"));
        gx_json_key(json, gx_str("active"));
        gx_json_bool(json, gx_heard_is(now, "active"));
        gx_json_key(json, gx_str("uptime"));
        gx_json_f64(json, gx_heard_number(now, "uptime", 0));
        gale_value trees = gx_heard_at(now, "trees");
        gx_figure_count_member(json, "acked", gx_heard_count(&trees, "acked"));
        for (size_t i = 0; i < GX_OUTCOMES; i++)
            gx_figure_count_member(json, gx_outcomes[i].key, gx_heard_count(&trees, gx_outcomes[i].key));
    }
    gx_json_close(json, '}');
}

/* --- All ------------------------------------------------------------------------------------------------------------ */

static void tell_one(const choices *c, const gx_running *one, gx_json *json, gx_buf *out) {
    gale_error error = GALE_ERROR_INIT;
    gx_heard now;
    int rc = gx_heard_ask(one->path, "GET", GX_HEARD_API "/now", NULL, &now, &error);
    if (rc == GALE_NOT_FOUND) { /* it has ended meanwhile */
        gx_heard_fini(&now);
        return;
    }
    if (c->json)
        add_object(one, &now.all, rc < 0 ? error.text : NULL, json);
    else
        add_row(one, &now.all, rc < 0 ? error.text : NULL, out);
    gx_heard_fini(&now);
}

static void tell_all(const choices *c, const gx_runnings *all, gx_buf *out) {
    gx_json json = gx_json_to(out);
    if (c->json) {
        gx_json_open(&json, '{');
        gx_json_key(&json, gx_str("running"));
        gx_json_open(&json, '[');
    } else if (all->count) {
        gx_buf_format(out, "%10s  %-20s  %12s  %-8s  %14s", "PID", "NAME", "UP", "STATE", "ACKED");
        for (size_t i = 0; i < GX_OUTCOMES; i++) gx_buf_format(out, "  %10s", gx_outcomes[i].head);
        gx_buf_add_text(out, "  PROBLEM\n");
    } else {
        gx_buf_add_text(out, "you run no topology that can be reached\n");
    }
    for (size_t i = 0; i < all->count && !gx_signals_ending(); i++) tell_one(c, &all->list[i], &json, out);
    if (all->more && !c->json) gx_buf_format(out, "and more than these %d\n", GX_RUNNING_MAX);
    if (!c->json) return;
    gx_json_close(&json, ']');
    gx_json_close(&json, '}');
    gx_buf_add_byte(out, '\n');
}

static int run(int argc, char **argv, gx_terminal *errors) {
    gale_error error = GALE_ERROR_INIT;
    choices c = { .json = false };
    gx_words words = { .count = 0 };
    gx_buf out = GX_BUF_INIT(NULL);
    gx_runnings *all = malloc(sizeof *all);
    int rc = all ? gx_options_read(options, 1, argc, argv, &c, &words, &error)
                 : gale_error_set(&error, GALE_NO_MEMORY, "out of memory");
    if (rc == 0 && words.count)
        rc = gale_error_set(&error, GALE_INVALID, "ps takes no words: gale %s", gx_cmd_ps.usage);
    if (rc == 0) rc = gx_running_list(all, &error);
    if (rc == 0) tell_all(&c, all, &out);
    free(all);
    if (gx_signals_ending()) gx_buf_fini(&out);
    if (gx_signals_ending()) return GX_EXIT_SIGNAL + gx_signals_ending(); /* half a list would pass for all */
    return rc < 0 ? gx_session_refuse(errors, &error, gx_heard_exit(rc)) : gx_session_print(errors, &out);
}

const gx_command gx_cmd_ps = {
    .name = "ps",
    .usage = "ps [options]",
    .text = "list the topologies that you run",
    .more = "UP is how long the process runs. ACKED, FAILED, TIMED OUT, REJECTED and STOPPED count trees since it "
            "began, or\n"
            "since it was last changed (gale reload, restart). PROBLEM is the worst one; gale stats has all.\n"
            "Those that were started with --no-control cannot be reached, and are not listed.\n",
    .options = options,
    .option_count = 1,
    .run = run,
};
