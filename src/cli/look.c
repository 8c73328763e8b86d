#include "cli/look.h"

#include "base/str.h"
#include "base/visible.h"
#include "cli/figures.h"
#include "cli/terminal.h"
#include "draw/labels.h"
#include "serve/outcomes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { CELL = 32, NAME_LEAST = 12, NAME_MOST = 40, GAP = 2 };

/* --- Figures ------------------------------------------------------------------------------------------------------- */

/* Nanoseconds between the two answers; 0 where there is one. */
static int64_t between(const gx_look *look) {
    if (!look->before) return 0;
    double seconds = gx_heard_number(look->now, "time", 0) - gx_heard_number(look->before, "time", 0);
    return seconds > 0 && seconds < 1e6 ? (int64_t)(seconds * 1e9) : 1;
}

/* A total, or what was added to it in a second. */
static void count_text(const gx_look *look, const gale_value *now, const gale_value *before, const char *key,
                       char *to) {
    char text[GX_FIGURE_SIZE];
    uint64_t a = look->before ? gx_heard_count(before, key) : 0, b = gx_heard_count(now, key);
    if (look->before)
        gx_figure_rate(b > a ? b - a : 0, between(look), text);
    else
        gx_figure_count(b, text);
    snprintf(to, CELL, "%s", text);
}

static void time_text(const gale_value *from, const char *key, char *to) {
    char text[GX_FIGURE_SIZE];
    double seconds = gx_heard_number(from, key, -1);
    snprintf(to, CELL, "%s", seconds >= 0 ? gx_figure_time(seconds * 1e9, text) : "-");
}

const char *gx_look_duration(double seconds, char *to, size_t room) {
    long long whole = seconds > 0 && seconds < 1e12 ? (long long)seconds : 0;
    if (whole >= 86400)
        snprintf(to, room, "%lld d %02lld h", whole / 86400, whole / 3600 % 24);
    else if (whole >= 3600)
        snprintf(to, room, "%lld h %02lld min", whole / 3600, whole / 60 % 60);
    else if (whole >= 60)
        snprintf(to, room, "%lld min %02lld s", whole / 60, whole % 60);
    else
        snprintf(to, room, "%lld s", whole);
    return to;
}

static void add_marked(const gx_look *look, gx_buf *out, const char *mark, const char *text) {
    if (look->marks && mark) gx_buf_add_text(out, mark);
    gx_buf_add_text(out, text);
    if (look->marks && mark) gx_buf_add_text(out, GX_MARK_END);
}

/* --- Columns ------------------------------------------------------------------------------------------------------- */

typedef struct cell {
    char text[CELL];
    const char *mark; /* NULL: none */
} cell;

typedef struct row {
    const gx_look *look;
    gale_value topology, now, before; /* the component's */
} row;

typedef void column_fn(const row *r, cell *c);

static bool is_spout(const row *r) {
    return gx_str_is(gx_heard_text(&r->topology, "kind"), "spout");
}

static void fill_count(const row *r, const char *key, cell *c) {
    count_text(r->look, &r->now, &r->before, key, c->text);
}

static void fill_tasks(const row *r, cell *c) {
    snprintf(c->text, CELL, "%llu", (unsigned long long)gx_heard_count(&r->topology, "tasks"));
}

static void fill_emitted(const row *r, cell *c) {
    fill_count(r, "emitted", c);
}

static void fill_transferred(const row *r, cell *c) {
    fill_count(r, "transferred", c);
}

static void fill_executed(const row *r, cell *c) {
    if (!is_spout(r)) fill_count(r, "executed", c);
}

static void fill_capacity(const row *r, cell *c) {
    double share = gx_heard_number(&r->now, "capacity", 0);
    if (is_spout(r) || share < 0 || share > 1000) return;
    snprintf(c->text, CELL, "%.0f %%", share * 100);
    c->mark = share >= 0.9 ? GX_MARK_RED : share >= 0.7 ? GX_MARK_YELLOW : NULL;
}

static void fill_execute(const row *r, cell *c) {
    if (!is_spout(r)) time_text(&r->now, "execute.mean", c->text);
}

static void fill_process(const row *r, cell *c) {
    if (!is_spout(r)) time_text(&r->now, "process.mean", c->text);
}

static void fill_acked(const row *r, cell *c) {
    fill_count(r, "acked", c);
}

/* Since the start, always: one an hour matters, too. */
static void fill_outcome(const row *r, size_t outcome, cell *c) {
    const char *key = gx_outcomes[outcome].key;
    uint64_t count = gx_heard_count(&r->now, key);
    uint64_t before = r->look->before ? gx_heard_count(&r->before, key) : count;
    char text[GX_FIGURE_SIZE];
    snprintf(c->text, CELL, "%s", gx_figure_count(count, text));
    c->mark = count > before ? GX_MARK_RED : count ? GX_MARK_YELLOW : NULL;
}

static void fill_queue(const row *r, cell *c) {
    char text[GX_FIGURE_SIZE];
    if (!is_spout(r)) snprintf(c->text, CELL, "%s", gx_figure_bytes(gx_heard_count(&r->now, "queued_bytes"), text));
}

typedef struct column {
    const char *total, *rate; /* its head */
    int importance;           /* the least is the first to go */
    column_fn *fill;          /* NULL: an outcome's */
} column;

static const column columns[] = {
    { "TASKS", "TASKS", 5, fill_tasks },
    { "EMITTED", "EMITTED/s", 8, fill_emitted },
    { "TRANSFERRED", "TRANSFERRED/s", 1, fill_transferred },
    { "EXECUTED", "EXECUTED/s", 9, fill_executed },
    { "CAPACITY", "CAPACITY", 10, fill_capacity },
    { "EXECUTE", "EXECUTE", 6, fill_execute },
    { "PROCESS", "PROCESS", 4, fill_process },
    { "ACKED", "ACKED/s", 2, fill_acked },
    { "QUEUE", "QUEUE", 3, fill_queue },
};

/* Outcomes stand before the last column. */
enum { COLUMNS = sizeof columns / sizeof *columns + GX_OUTCOMES, OUTCOME = COLUMNS - GX_OUTCOMES - 1 };

static bool is_outcome(size_t k) {
    return k >= OUTCOME && k < OUTCOME + GX_OUTCOMES;
}

static column column_at(size_t k) {
    if (is_outcome(k)) return (column){ gx_outcomes[k - OUTCOME].head, gx_outcomes[k - OUTCOME].head, 7, NULL };
    return columns[k < OUTCOME ? k : k - GX_OUTCOMES];
}

static void fill(const row *r, size_t k, cell *c) {
    if (is_outcome(k))
        fill_outcome(r, k - OUTCOME, c);
    else
        column_at(k).fill(r, c);
    if (!*c->text) snprintf(c->text, CELL, "-");
}

/* --- The table ----------------------------------------------------------------------------------------------------- */

typedef struct table {
    const gx_look *look;
    cell (*cells)[COLUMNS];
    size_t count;
    size_t name; /* columns of a terminal */
    size_t widths[COLUMNS];
    bool shown[COLUMNS];
} table;

static row row_of(const gx_look *look, size_t index) {
    row r = { look, gx_heard_item(look->topology, "components", index), gx_heard_item(look->now, "components", index),
              gale_null() };
    if (look->before) r.before = gx_heard_item(look->before, "components", index);
    return r;
}

static void measure(table *t) {
    t->name = strlen("COMPONENT");
    for (size_t k = 0; k < COLUMNS; k++) {
        t->widths[k] = strlen(t->look->before ? column_at(k).rate : column_at(k).total);
        t->shown[k] = !is_outcome(k) || k == OUTCOME; /* the others once they count something */
    }
    for (size_t i = 0; i < t->count; i++) {
        row r = row_of(t->look, i);
        size_t name = gx_label_columns(gx_heard_text(&r.topology, "name"));
        if (name > t->name) t->name = name < NAME_MOST ? name : NAME_MOST;
        for (size_t k = 0; k < COLUMNS; k++) {
            cell *c = &t->cells[i][k];
            fill(&r, k, c);
            t->shown[k] |= is_outcome(k) && strcmp(c->text, "0") != 0;
            if (strlen(c->text) > t->widths[k]) t->widths[k] = strlen(c->text);
        }
    }
}

static size_t width_of(const table *t) {
    size_t width = t->name;
    for (size_t k = 0; k < COLUMNS; k++) width += t->shown[k] ? GAP + t->widths[k] : 0;
    return width;
}

/* Cuts the names a little, then leaves out columns. */
static void fit(table *t) {
    size_t room = t->look->columns;
    while (room && width_of(t) > room) {
        size_t least = COLUMNS, over = width_of(t) - room;
        if (t->name > NAME_LEAST && over <= t->name - NAME_LEAST) {
            t->name -= over;
            return;
        }
        for (size_t k = 0; k < COLUMNS; k++)
            if (t->shown[k] && (least == COLUMNS || column_at(k).importance < column_at(least).importance)) least = k;
        if (least == COLUMNS) return;
        t->shown[least] = false;
    }
}

static void add_name(const table *t, gale_str name, gx_buf *out) {
    gx_buf visible = GX_BUF_INIT(NULL), cut = GX_BUF_INIT(NULL);
    gx_visible_add(&visible, name, "");
    gx_label_cut((gale_str){ visible.data, visible.size }, (uint32_t)t->name, false, &cut);
    gx_buf_add(out, cut.data, cut.size);
    size_t used = gx_label_columns((gale_str){ cut.data, cut.size });
    for (; used < t->name; used++) gx_buf_add_byte(out, ' ');
    gx_buf_fini(&visible);
    gx_buf_fini(&cut);
}

static void add_head(const table *t, gx_buf *out) {
    if (t->look->marks) gx_buf_add_text(out, GX_MARK_BOLD);
    gx_buf_format(out, "%-*s", (int)t->name, "COMPONENT");
    for (size_t k = 0; k < COLUMNS; k++)
        if (t->shown[k])
            gx_buf_format(out, "%*s", (int)t->widths[k] + GAP,
                          t->look->before ? column_at(k).rate : column_at(k).total);
    gx_buf_add_text(out, t->look->marks ? GX_MARK_END "\n" : "\n");
}

static void add_row(const table *t, size_t i, gx_buf *out) {
    row r = row_of(t->look, i);
    add_name(t, gx_heard_text(&r.topology, "name"), out);
    for (size_t k = 0; k < COLUMNS; k++) {
        if (!t->shown[k]) continue;
        const cell *c = &t->cells[i][k];
        gx_buf_format(out, "%*s", (int)(t->widths[k] - strlen(c->text)) + GAP, "");
        add_marked(t->look, out, c->mark, c->text);
    }
    gx_buf_add_byte(out, '\n');
}

void gx_look_table(const gx_look *look, gx_buf *out) {
    table t = { .look = look, .count = gx_heard_length(look->topology, "components") };
    size_t rows = look->rows ? look->rows - 1 : t.count;
    t.cells = calloc(t.count + 1, sizeof *t.cells);
    if (!t.cells) {
        out->failed = true;
        return;
    }
    measure(&t);
    fit(&t);
    add_head(&t, out);
    for (size_t i = look->skip; i < t.count && i - look->skip < rows; i++) add_row(&t, i, out);
    free(t.cells);
}

/* --- What stands above it ------------------------------------------------------------------------------------------ */

static void add_text(gx_buf *out, const gale_value *from, const char *key) {
    gx_visible_add(out, gx_heard_text(from, key), "");
}

static void add_state(const gx_look *look, gx_buf *out) {
    bool running = gx_str_is(gx_heard_text(look->now, "phase"), "running");
    bool paused = running && !gx_heard_is(look->now, "active");
    if (look->marks) gx_buf_add_text(out, paused || !running ? GX_MARK_YELLOW : GX_MARK_GREEN);
    if (paused)
        gx_buf_add_text(out, "paused");
    else
        add_text(out, look->now, "phase");
    if (look->marks) gx_buf_add_text(out, GX_MARK_END);
}

/* What most runs have none of; since the start or the last change, always. */
static void add_losses(const gale_value *trees, gx_buf *out) {
    static const struct {
        const char *key, *one, *many;
    } losses[] = { { "replayed", "replayed", "replayed" },
                   { "given_up", "given up", "given up" },
                   { "dead_letters", "dead letter", "dead letters" } };
    char text[GX_FIGURE_SIZE];
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++) {
        uint64_t count = gx_heard_count(trees, losses[i].key);
        if (count)
            gx_buf_format(out, ", %s %s", gx_figure_count(count, text), count == 1 ? losses[i].one : losses[i].many);
    }
}

/* `failed` always, the others once they count something. */
static void add_outcomes(const gx_look *look, const gale_value *now, const gale_value *before, gx_buf *out) {
    char count[CELL], text[CELL + 32];
    for (size_t i = 0; i < GX_OUTCOMES; i++) {
        count_text(look, now, before, gx_outcomes[i].key, count);
        if (i > 0 && gx_heard_count(now, gx_outcomes[i].key) == 0) continue;
        snprintf(text, sizeof text, "%s %s%s", count, gx_outcomes[i].title, look->before ? " a second" : "");
        gx_buf_add_text(out, ", ");
        add_marked(look, out, strcmp(count, "0") != 0 ? GX_MARK_RED : NULL, text);
    }
}

static void add_trees(const gx_look *look, gx_buf *out) {
    char acked[CELL], open[GX_FIGURE_SIZE], mean[CELL], p99[CELL];
    gale_value now = gx_heard_at(look->now, "trees"), before = gale_null();
    if (look->before) before = gx_heard_at(look->before, "trees");
    count_text(look, &now, &before, "acked", acked);
    gx_buf_format(out, "trees: %s acked%s", acked, look->before ? " a second" : "");
    add_outcomes(look, &now, &before, out);
    gx_buf_format(out, ", %s open", gx_figure_count(gx_heard_count(&now, "open"), open));
    add_losses(&now, out);
    if (gx_heard_number(look->now, "complete.mean", -1) < 0) return;
    time_text(look->now, "complete.mean", mean);
    time_text(look->now, "complete.p99", p99);
    gx_buf_format(out, "; complete in %s, 99 %% in %s", mean, p99);
}

void gx_look_head(const gx_look *look, gx_buf *out) {
    char up[CELL];
    if (look->marks) gx_buf_add_text(out, GX_MARK_BOLD);
    add_text(out, look->topology, "name");
    if (look->marks) gx_buf_add_text(out, GX_MARK_END);
    gx_buf_format(out, "  pid %llu, up %s, ", (unsigned long long)gx_heard_count(look->topology, "pid"),
                  gx_look_duration(gx_heard_number(look->now, "uptime", 0), up, sizeof up));
    add_state(look, out);
    gx_buf_add_byte(out, '\n');
    add_trees(look, out);
    gx_buf_add_byte(out, '\n');
}

size_t gx_look_hurts(const gx_look *look, size_t most, gx_buf *out) {
    size_t count = gx_heard_length(look->now, "hurts");
    for (size_t i = 0; i < count && i < most; i++) {
        gale_value one = gx_heard_item(look->now, "hurts", i);
        gale_str level = gx_heard_text(&one, "level");
        const char *mark = gx_str_is(level, "bad")    ? GX_MARK_RED
                           : gx_str_is(level, "warn") ? GX_MARK_YELLOW
                                                      : GX_MARK_DIM;
        if (look->marks) gx_buf_add_text(out, mark);
        add_text(out, &one, "text");
        gx_buf_add_text(out, look->marks ? GX_MARK_END "\n" : "\n");
    }
    return count < most ? count : most;
}

/* --- All ----------------------------------------------------------------------------------------------------------- */

enum { FRAME_ROWS = 5 }; /* two of the head, a blank, the table's head, the last line */

static void add_last(const gx_look *look, size_t rows, gx_buf *out) {
    size_t count = gx_heard_length(look->topology, "components");
    size_t shown = rows > 1 ? rows - 1 : 0, left = count > look->skip + shown ? count - look->skip - shown : 0;
    char text[100];
    snprintf(text, sizeof text, left || look->skip ? "q quits; up and down: %zu more above, %zu below" : "q quits",
             look->skip, left);
    add_marked(look, out, GX_MARK_DIM, text);
    gx_buf_add_byte(out, '\n');
}

void gx_look_screen(const gx_look *look, gx_buf *out) {
    size_t room = look->rows > FRAME_ROWS + 1 ? look->rows - FRAME_ROWS : 1, most = room > 8   ? room / 3
                                                                                    : room > 2 ? 1
                                                                                               : 0;
    gx_look below = *look;
    gx_look_head(look, out);
    room -= gx_look_hurts(look, most, out);
    gx_buf_add_byte(out, '\n');
    below.rows = room + 1;
    gx_look_table(&below, out);
    add_last(look, below.rows, out);
}

void gx_look_line(const gx_look *look, gx_buf *out) {
    add_text(out, look->topology, "name");
    gx_buf_add_text(out, ": ");
    add_state(look, out);
    gx_buf_add_text(out, ", ");
    add_trees(look, out);
    gx_buf hurt = GX_BUF_INIT(NULL);
    if (gx_look_hurts(look, 1, &hurt)) {
        gx_buf_add_text(out, "; ");
        gx_buf_add(out, hurt.data, hurt.size - 1);
    }
    gx_buf_fini(&hurt);
    gx_buf_add_byte(out, '\n');
}
