/* gale dead-letters show FILE */
#include "cli/command.h"
#include "cli/figures.h"
#include "cli/session.h"

#include "base/json.h"
#include "base/nearest.h"
#include "base/str.h"
#include "base/visible.h"
#include "front/letters.h"
#include "tuple/json.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef struct choices {
    const char *reason;
    bool json;
} choices;

static const gx_option options[] = {
    { 0, "reason", "R", GX_OPTION_TEXT, offsetof(choices, reason), 0, 0,
      "only those that failed for this reason: failed, rejected, timeout..." },
    { 0, "json", NULL, GX_OPTION_FLAG, offsetof(choices, json), 0, 0,
      "the lines as they are in the file, for another file" },
};

enum { OPTION_COUNT = sizeof options / sizeof options[0] };

/* --- The table --- */

enum { SPOUT, STREAM, MESSAGE, ATTEMPTS, REASON, PLACE, TEXT, TUPLE, COLUMNS, TEXT_MAX = 60 };

static const char *const headers[COLUMNS] = {
    "spout", "stream", "message", "attempts", "reason", "place", "text", "tuple",
};

/* At most TEXT_MAX bytes of it, in one line. What a terminal would obey is a space, so that the columns stay. */
static void add_short(gx_buf *out, gale_str text) {
    size_t at = 0;
    for (size_t step; at < text.size; at += step) {
        bool shows;
        step = gx_visible_step(text.data + at, text.size - at, &shows);
        if (at + step > TEXT_MAX) break;
        gx_buf_add(out, shows ? text.data + at : " ", shows ? step : 1);
    }
    if (at < text.size) gx_buf_add_text(out, "...");
}

static void add_tuple(gx_buf *out, const gx_letter *letter) {
    gale_value tuple = gale_value_owned_view(letter->tuple);
    gx_buf whole = GX_BUF_INIT(NULL);
    gx_json json = gx_json_to(&whole);
    gx_json_value(&json, &tuple);
    if (!whole.failed) add_short(out, (gale_str){ whole.data, whole.size });
    out->failed |= whole.failed;
    gx_buf_fini(&whole);
}

static void add_cell(gx_buf *out, const gx_letter *letter, int column) {
    switch (column) {
    case SPOUT: add_short(out, letter->component); break;
    case STREAM: add_short(out, letter->stream); break;
    case MESSAGE: gx_buf_format(out, "%lld", (long long)letter->message_id); break;
    case ATTEMPTS: gx_buf_format(out, "%lld", (long long)letter->attempts); break;
    case REASON: add_short(out, letter->reason); break;
    case PLACE:
        add_short(out, letter->place.data ? letter->place : gx_str("-"));
        if (letter->place.data) gx_buf_format(out, " (task %lld)", (long long)letter->task);
        break;
    case TEXT: add_short(out, letter->text); break;
    default: add_tuple(out, letter); break;
    }
}

static bool is_wanted(const gx_letter *letter, const choices *c) {
    return !c->reason || gx_str_is(letter->reason, c->reason);
}

/* What a cell takes on the screen, but for characters that are wider or narrower than one. */
static int width_of(gx_buf *cell) {
    int width = 0;
    for (size_t i = 0; i < cell->size; i++) width += ((unsigned char)cell->data[i] & 0xc0) != 0x80;
    return width;
}

static void measure(const gx_letters *letters, const choices *c, int widths[COLUMNS]) {
    gx_buf cell = GX_BUF_INIT(NULL);
    for (int k = 0; k < COLUMNS; k++) widths[k] = (int)strlen(headers[k]);
    for (size_t i = 0; i < letters->count; i++)
        for (int k = 0; k < COLUMNS && is_wanted(&letters->items[i], c); k++) {
            gx_buf_reset(&cell);
            add_cell(&cell, &letters->items[i], k);
            if (width_of(&cell) > widths[k]) widths[k] = width_of(&cell);
        }
    gx_buf_fini(&cell);
}

static void add_row(const gx_letter *letter, const int widths[COLUMNS], gx_buf *out) {
    gx_buf cell = GX_BUF_INIT(NULL);
    for (int k = 0; k < COLUMNS; k++) {
        gx_buf_reset(&cell);
        add_cell(&cell, letter, k);
        gx_buf_add(out, cell.data ? cell.data : "", cell.size);
        if (k + 1 < COLUMNS) gx_buf_format(out, "%*s", widths[k] - width_of(&cell) + 2, "");
        out->failed |= cell.failed;
    }
    gx_buf_add_text(out, "\n");
    gx_buf_fini(&cell);
}

/* "3 dead letters: 2 failed, 1 rejected" */
static void add_counts(const gx_letters *letters, const choices *c, gx_buf *out) {
    size_t total = 0;
    for (size_t i = 0; i < letters->count; i++) total += is_wanted(&letters->items[i], c);
    gx_buf_format(out, "%s dead letter%s", gx_figure_count(total, (char[GX_FIGURE_SIZE]){ 0 }), gx_plural(total));
    const char *before = ": ";
    for (size_t i = 0; i < letters->count; i++) {
        size_t same = 0, first = i;
        for (size_t k = 0; k < i && first == i; k++)
            if (gx_str_equal(letters->items[k].reason, letters->items[i].reason)) first = k;
        if (first != i || !is_wanted(&letters->items[i], c)) continue;
        for (size_t k = i; k < letters->count; k++)
            same += gx_str_equal(letters->items[k].reason, letters->items[i].reason);
        gx_buf_format(out, "%s%s ", before, gx_figure_count(same, (char[GX_FIGURE_SIZE]){ 0 }));
        add_short(out, letters->items[i].reason);
        before = ", ";
    }
    gx_buf_add_text(out, "\n");
}

static void add_table(const gx_letters *letters, const choices *c, gx_buf *out) {
    int widths[COLUMNS];
    bool any = false;
    measure(letters, c, widths);
    for (size_t i = 0; i < letters->count; i++) {
        if (!is_wanted(&letters->items[i], c)) continue;
        for (int k = 0; k < COLUMNS && !any; k++)
            gx_buf_format(out, "%-*s%s", k + 1 < COLUMNS ? widths[k] : 0, headers[k], k + 1 < COLUMNS ? "  " : "\n");
        any = true;
        add_row(&letters->items[i], widths, out);
    }
    if (any) gx_buf_add_text(out, "\n");
    add_counts(letters, c, out);
}

static void add_lines(const gx_letters *letters, const choices *c, gx_buf *out) {
    for (size_t i = 0; i < letters->count; i++) {
        if (!is_wanted(&letters->items[i], c)) continue;
        gx_buf_add(out, letters->items[i].line.data, letters->items[i].line.size);
        gx_buf_add_byte(out, '\n');
    }
}

/* --- The command --- */

static int unknown_reason(const char *reason, const gx_nearest *nearest, gale_error *error) {
    char hint[100];
    gale_error_set(error, GALE_INVALID, "there is no reason '%s'%s", reason,
                   gx_nearest_hint(nearest, hint, sizeof hint));
    if (*hint) return GALE_INVALID;
    gx_buf list = GX_BUF_INIT(NULL);
    for (int32_t i = 0; i < GALE_REASON_COUNT; i++) gx_buf_format(&list, "%s, ", gale_reason_name(i));
    const char *text = gx_buf_text(&list);
    if (text) gale_error_add(error, "the reasons are %s%s", text, gale_reason_name(GALE_REASON_USER));
    gx_buf_fini(&list);
    return GALE_INVALID;
}

static int check_reason(const char *reason, gale_error *error) {
    if (!reason) return 0;
    gx_nearest nearest = gx_nearest_to(gx_str(reason));
    for (int32_t i = 0; i <= GALE_REASON_COUNT; i++) {
        const char *name = gale_reason_name(i < GALE_REASON_COUNT ? i : GALE_REASON_USER);
        if (strcmp(name, reason) == 0) return 0;
        gx_nearest_offer(&nearest, gx_str(name));
    }
    return unknown_reason(reason, &nearest, error);
}

static int show(const char *path, const choices *c, gx_terminal *errors) {
    gale_error error = GALE_ERROR_INIT;
    gx_letters letters;
    int code = check_reason(c->reason, &error);
    if (code < 0) return gx_session_refuse(errors, &error, GX_EXIT_USAGE);
    code = gx_letters_load(path, &letters, &error);
    if (code < 0) return gx_session_refuse(errors, &error, gx_session_exit(code));
    gx_buf out = GX_BUF_INIT(NULL);
    (c->json ? add_lines : add_table)(&letters, c, &out);
    gx_letters_fini(&letters);
    return gx_session_print(errors, &out);
}

static int check(const gx_words *words, gale_error *error) {
    const char *usage = gx_cmd_dead_letters.usage;
    if (words->count && strcmp(words->items[0], "show") != 0) {
        gx_nearest nearest = gx_nearest_to(gx_str(words->items[0]));
        char hint[100];
        gx_nearest_offer(&nearest, gx_str("show"));
        gx_nearest_hint(&nearest, hint, sizeof hint);
        return gale_error_set(error, GALE_INVALID, "dead-letters knows no '%s'%s%s", words->items[0],
                              *hint ? hint : ": gale ", *hint ? "" : usage);
    }
    if (words->count == 2) return 0;
    return gale_error_set(error, GALE_INVALID, "dead-letters wants 'show' and one file: gale %s", usage);
}

static int run(int argc, char **argv, gx_terminal *errors) {
    gale_error error = GALE_ERROR_INIT;
    choices c = { 0 };
    gx_words words = { .count = 0 };
    int code = gx_options_read(options, OPTION_COUNT, argc, argv, &c, &words, &error);
    if (code == 0) code = check(&words, &error);
    if (code < 0) return gx_session_refuse(errors, &error, GX_EXIT_USAGE);
    return show(words.items[1], &c, errors);
}

const gx_command gx_cmd_dead_letters = {
    .name = "dead-letters",
    .usage = "dead-letters show FILE [options]",
    .text = "show what a run has given up",
    .more = "FILE is what topology.dead_letters.file named. gale run FILE.yaml --replay-dead-letters FILE emits them "
            "again.\n"
            "Exit codes: 0 ok, 2 usage or not a dead-letter file, 3 the file cannot be read.\n",
    .options = options,
    .option_count = OPTION_COUNT,
    .run = run,
};
