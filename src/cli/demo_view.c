#include "cli/demo_view.h"

#include "base/visible.h"
#include "cli/figures.h"
#include "serve/outcomes.h"

#include <stdio.h>
#include <string.h>

enum { WORD = 20 }; /* columns */

bool gx_demo_view_init(gx_demo_view *view, const char *title, gx_terminal *terminal, gx_demo_source *source) {
    memset(view, 0, sizeof *view);
    view->title = title;
    view->terminal = terminal;
    view->source = source;
    view->before.size = sizeof view->before;
    pthread_mutex_init(&view->mutex, NULL);
    gx_heap_init(&view->heap, gale_allocator_default());
    return gx_rankings_new(&view->heap, GX_DEMO_ROWS, gx_str_compare, &view->totals, NULL) == 0;
}

void gx_demo_view_fini(gx_demo_view *view) {
    if (view->totals) gx_rankings_free(view->totals);
    pthread_mutex_destroy(&view->mutex);
}

/* --- What comes in ------------------------------------------------------------------------------------------------ */

/* As much of a word as there is room for. What cannot be shown is a question mark, so that the columns stay. */
static void set_row(gx_demo_row *row, gale_str word, int64_t count) {
    size_t used = 0;
    for (size_t at = 0, step; at < word.size; at += step) {
        bool shows;
        step = gx_visible_step(word.data + at, word.size - at, &shows);
        size_t size = shows ? step : 1;
        if (used + size >= GX_DEMO_WORD) break;
        memcpy(row->word + used, shows ? word.data + at : "?", size);
        used += size;
    }
    row->word[used] = 0;
    row->count = count;
}

static gale_str text_of(const gale_value *value) {
    bool is_text = value->type == GALE_TYPE_STRING || value->type == GALE_TYPE_BYTES;
    return is_text ? (gale_str){ value->as.string, value->size } : (gale_str){ "?", 1 };
}

int gx_demo_on_rankings(void *user, const gale_tuple *tuple) {
    gx_demo_view *view = user;
    gale_value rankings = gale_tuple_value(tuple, 0);
    if (rankings.type != GALE_TYPE_LIST) return GALE_TYPE;
    pthread_mutex_lock(&view->mutex);
    view->row_count = 0;
    for (size_t i = 0; i < rankings.size && i < GX_DEMO_ROWS; i++) {
        gale_value entry = gale_list_at(&rankings, i), word = gale_list_at(&entry, 0), count = gale_list_at(&entry, 1);
        set_row(&view->rows[view->row_count++], text_of(&word), count.as.i64);
    }
    pthread_mutex_unlock(&view->mutex);
    return 0;
}

int gx_demo_on_count(void *user, const gale_tuple *tuple) {
    gx_demo_view *view = user;
    gale_value word = gale_tuple_value(tuple, 0), count = gale_tuple_value(tuple, 1);
    pthread_mutex_lock(&view->mutex);
    int rc = gx_rankings_update(view->totals, text_of(&word), count.as.i64, (gale_str){ "", 0 });
    pthread_mutex_unlock(&view->mutex);
    return rc;
}

/* The place of a window among the rows, the latest first; of those that end together, the longer first. */
static size_t window_place(const gx_demo_view *view, int64_t end, int64_t length) {
    size_t place = 0;
    while (place < view->row_count &&
           (view->rows[place].end > end || (view->rows[place].end == end && view->rows[place].length > length)))
        place++;
    return place;
}

/* Makes room for a row at `place`; the last one falls off when all are taken. */
static void open_row(gx_demo_view *view, size_t place) {
    size_t kept = view->row_count < GX_DEMO_ROWS ? view->row_count++ : GX_DEMO_ROWS - 1;
    memmove(&view->rows[place + 1], &view->rows[place], (kept - place) * sizeof view->rows[0]);
}

static void set_window(gx_demo_view *view, int64_t end, int64_t length, int64_t count) {
    size_t place = window_place(view, end, length);
    if (place == GX_DEMO_ROWS) return;
    gx_demo_row *row = &view->rows[place];
    if (place == view->row_count || row->end != end || row->length != length) open_row(view, place);
    *row = (gx_demo_row){ .count = count, .end = end, .length = length };
    int64_t second = ((end - length) % 86400 + 86400) % 86400;
    snprintf(row->word, sizeof row->word, "%02d:%02d UTC, %lld min", (int)(second / 3600), (int)(second / 60 % 60),
             (long long)(length / 60));
}

int gx_demo_on_window(void *user, const gale_tuple *tuple) {
    gx_demo_view *view = user;
    int64_t length = gale_tuple_value(tuple, 0).as.i64, start = gale_tuple_value(tuple, 1).as.i64;
    pthread_mutex_lock(&view->mutex);
    set_window(view, start + length, length, gale_tuple_value(tuple, 2).as.i64);
    pthread_mutex_unlock(&view->mutex);
    return 0;
}

int gx_demo_on_late(void *user, const gale_tuple *tuple) {
    gx_demo_view *view = user;
    pthread_mutex_lock(&view->mutex);
    view->late = gale_tuple_value(tuple, gale_tuple_size(tuple) - 1).as.i64;
    pthread_mutex_unlock(&view->mutex);
    return 0;
}

int gx_demo_on_bad(void *user, const gale_tuple *tuple) {
    gx_demo_view *view = user;
    (void)tuple;
    pthread_mutex_lock(&view->mutex);
    view->bad++;
    pthread_mutex_unlock(&view->mutex);
    return 0;
}

/* --- What is shown ------------------------------------------------------------------------------------------------ */

typedef struct shown {
    gx_demo_row rows[GX_DEMO_ROWS];
    size_t count;
    int64_t late, bad;
} shown;

static void take(gx_demo_view *view, shown *ret) {
    pthread_mutex_lock(&view->mutex);
    ret->count = view->row_count;
    ret->late = view->late;
    ret->bad = view->bad;
    memcpy(ret->rows, view->rows, sizeof view->rows);
    if (ret->count == 0)
        for (; ret->count < gx_rankings_size(view->totals); ret->count++) {
            gale_str word, payload;
            int64_t n = gx_rankings_at(view->totals, ret->count, &word, &payload);
            set_row(&ret->rows[ret->count], word, n);
        }
    pthread_mutex_unlock(&view->mutex);
}

/* Since the last line; of the whole run at its end, because the last line may be microseconds old. */
static const char *rate_of(uint64_t now, uint64_t before, int64_t elapsed, char out[GX_FIGURE_SIZE]) {
    if (elapsed < GALE_MILLISECOND) return strcpy(out, "-");
    return gx_figure_rate(now - before, elapsed, out);
}

/* What is drawn in place is painted; what stays, and what goes elsewhere, is not. */
typedef struct paper {
    gx_buf *out;
    bool marks;
} paper;

static void mark(const paper *to, const char *with) {
    if (to->marks) gx_buf_add_text(to->out, with);
}

static void figures(const gx_demo_view *view, const gale_run_stats *now, const shown *what, gx_buf *out) {
    char lines[GX_FIGURE_SIZE], rate[GX_FIGURE_SIZE], tuples[GX_FIGURE_SIZE], open[GX_FIGURE_SIZE];
    static const gale_run_stats nothing = { .size = sizeof nothing };
    const gale_run_stats *before = now->phase >= GALE_PHASE_CLOSING ? &nothing : &view->before;
    int64_t elapsed = now->elapsed - before->elapsed;
    gx_buf_format(out, "%3lld s  %s lines  %s lines/s  %s tuples/s  %s open",
                  (long long)((now->elapsed + 50 * GALE_MILLISECOND) / GALE_SECOND), gx_figure_count(now->trees, lines),
                  rate_of(now->trees, before->trees, elapsed, rate),
                  rate_of(now->executed, before->executed, elapsed, tuples), gx_figure_count(now->open, open));
    uint64_t outcomes[GX_OUTCOMES];
    gx_outcomes_of_run(now, outcomes);
    if (gx_outcomes_sum(outcomes)) gx_buf_format(out, "  %s failed", gx_figure_count(gx_outcomes_sum(outcomes), lines));
    if (what->late) gx_buf_format(out, "  %s late", gx_figure_count((uint64_t)what->late, lines));
    if (what->bad) gx_buf_format(out, "  %s bad", gx_figure_count((uint64_t)what->bad, lines));
}

static const char *document_of(const gx_demo_view *view) {
    if (view->source->documents->count == 0) return "a log that gale makes up";
    size_t index = (size_t)gx_load_relaxed(&view->source->document);
    const char *path = index < view->source->documents->count ? view->source->documents->paths[index] : "";
    return *path ? path : "(the text that gale carries with it)";
}

/* Its name is somebody's: it is made visible, since marks are not. */
static void add_document(const gx_demo_view *view, const paper *to) {
    const char *path = document_of(view);
    if (to->marks)
        gx_visible_add(to->out, (gale_str){ path, strlen(path) }, "");
    else
        gx_buf_add_text(to->out, path);
}

static void bar(const gx_demo_view *view, int64_t count, int64_t most, const paper *to) {
    int64_t length = most > 0 ? (30 * count + most - 1) / most : 0;
    mark(to, GX_MARK_GREEN);
    for (int64_t i = 0; i < length; i++) gx_buf_add_text(to->out, view->terminal->utf8 ? "\xe2\x96\x88" : "#");
    mark(to, GX_MARK_END);
}

/* What of the block there is room for: at the end, all of it. */
typedef struct frame {
    size_t rows;
    bool reading, hint;
} frame;

enum { TITLE = 1, READING = 2, HINT = 2, ROWS_MIN = 3 }; /* lines, with the empty ones */

static frame frame_in(size_t room, bool at_end) {
    frame all = { GX_DEMO_ROWS, true, !at_end };
    if (at_end || room >= TITLE + READING + GX_DEMO_ROWS + HINT) return all;
    frame fit = { .reading = room >= TITLE + READING + ROWS_MIN, .hint = room >= TITLE + READING + ROWS_MIN + HINT };
    size_t others = TITLE + (fit.reading ? READING : 0) + (fit.hint ? HINT : 0);
    fit.rows = room > others ? room - others : 0;
    return fit;
}

static void draw_row(const gx_demo_view *view, size_t place, const gx_demo_row *row, int64_t most, const paper *to) {
    char figure[GX_FIGURE_SIZE];
    size_t columns = 0;
    for (size_t at = 0, step, size = strlen(row->word); at < size; at += step) {
        bool shows;
        step = gx_visible_step(row->word + at, size - at, &shows);
        columns += gx_visible_columns(row->word + at, size - at);
    }
    mark(to, GX_MARK_DIM);
    gx_buf_format(to->out, "%3zu", place);
    mark(to, GX_MARK_END);
    gx_buf_format(to->out, "  %s%*s %9s  ", row->word, columns < WORD ? (int)(WORD - columns) : 0, "",
                  gx_figure_count((uint64_t)row->count, figure));
    bar(view, row->count, most, to);
}

/* A block of lines, for a terminal. */
static void draw_block(const gx_demo_view *view, const gale_run_stats *now, const shown *what, gx_buf *out) {
    const paper to = { out, now->phase < GALE_PHASE_CLOSING };
    frame fit = frame_in(gx_terminal_room(view->terminal), now->phase >= GALE_PHASE_CLOSING);
    int64_t most = 0;
    for (size_t i = 0; i < what->count; i++) most = what->rows[i].count > most ? what->rows[i].count : most;
    mark(&to, GX_MARK_BOLD);
    gx_buf_format(out, "%s:", view->title);
    mark(&to, GX_MARK_END);
    gx_buf_add_text(out, " ");
    figures(view, now, what, out);
    gx_buf_add_text(out, "\n");
    if (fit.reading) {
        gx_buf_add_text(out, "reading ");
        add_document(view, &to);
        gx_buf_add_text(out, "\n\n");
    }
    for (size_t i = 0; i < fit.rows; i++) {
        if (i < what->count) draw_row(view, i + 1, &what->rows[i], most, &to);
        gx_buf_add_text(out, "\n");
    }
    if (!fit.hint) return;
    mark(&to, GX_MARK_DIM);
    gx_buf_add_text(out, "\nCtrl-C ends it");
    mark(&to, GX_MARK_END);
    gx_buf_add_text(out, "\n");
}

/* One line, for a pipe or a file. */
static void draw_line(const gx_demo_view *view, const gale_run_stats *now, const shown *what, gx_buf *out) {
    figures(view, now, what, out);
    gx_buf_add_text(out, "  |");
    for (size_t i = 0; i < what->count; i++)
        gx_buf_format(out, "%s %s %lld", i ? "," : "", what->rows[i].word, (long long)what->rows[i].count);
    gx_buf_format(out, "%s\n", what->count ? "" : " (no ranking yet)");
}

static void show(gx_demo_view *view, const gale_run_stats *now, gx_buf *out) {
    shown what;
    take(view, &what);
    bool at_end = now->phase >= GALE_PHASE_CLOSING;
    if (view->terminal->is_tty)
        draw_block(view, now, &what, out);
    else
        draw_line(view, now, &what, out);
    const char *text = gx_buf_text(out);
    if (!text) return;
    if (view->terminal->is_tty && !at_end)
        gx_terminal_live_marked(view->terminal, text);
    else if (at_end)
        gx_terminal_live(view->terminal, "");
    if ((!view->terminal->is_tty || at_end) && !gx_terminal_print(view->terminal, text)) view->broken = true;
}

void gx_demo_on_tick(void *user, gale_runtime *runtime) {
    gx_demo_view *view = user;
    gale_run_stats now = { .size = sizeof now };
    gx_buf out = GX_BUF_INIT(NULL);
    gale_runtime_stats(runtime, &now);
    show(view, &now, &out);
    gx_buf_fini(&out);
    view->before = now;
    if (view->broken) gale_runtime_stop(runtime);
}
