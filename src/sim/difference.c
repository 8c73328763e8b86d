#include "sim/difference.h"

#include <gale_test.h>
#include <stdlib.h>

enum { WIDE = 44, MARK = 6, EQUAL_SHOWN = 3, EXTRA_SHOWN = 50, OTHERS_SHOWN = 10 };

#define NONE SIZE_MAX

typedef struct work {
    const gx_comparison *c;
    size_t *of_wanted; /* the found row that fits it, or NONE */
    size_t *of_found;
    size_t *near; /* by wanted row: the found one that is most like it, or NONE */
    bool *taken;  /* by found row: it is near to one */
} work;

static bool fits(const work *w, size_t wanted, size_t found) {
    bool whole;
    gx_wanted_row_fits(&w->c->wanted[wanted], &w->c->found[found], &whole);
    return whole;
}

static void pair(work *w, size_t wanted, size_t found) {
    w->of_wanted[wanted] = found;
    w->of_found[found] = wanted;
}

static bool are_too_many(const gx_comparison *c) {
    return c->wanted_count && c->found_count > GX_DIFFERENCE_PAIRS / c->wanted_count;
}

/* --- Which fits which --------------------------------------------------------------------------------------------- */

static void pair_by_place(work *w) {
    for (size_t i = 0; i < w->c->wanted_count && i < w->c->found_count; i++)
        if (w->of_found[i] == NONE && fits(w, i, i)) pair(w, i, i);
}

/* The longest sequence that both have: `best[i][k]` is its length from wanted row i and found row k on. */
static bool pair_in_order(work *w) {
    size_t n = w->c->wanted_count, m = w->c->found_count, width = m + 1;
    uint32_t *best = calloc((n + 1) * width, sizeof *best);
    if (!best) return false;
    for (size_t i = n; i-- > 0;)
        for (size_t k = m; k-- > 0;) {
            uint32_t with = fits(w, i, k) ? best[(i + 1) * width + k + 1] + 1 : 0;
            uint32_t down = best[(i + 1) * width + k], right = best[i * width + k + 1];
            uint32_t without = down > right ? down : right;
            best[i * width + k] = with > without ? with : without;
        }
    for (size_t i = 0, k = 0; i < n && k < m;) {
        if (fits(w, i, k) && best[i * width + k] == best[(i + 1) * width + k + 1] + 1)
            pair(w, i++, k++);
        else if (best[(i + 1) * width + k] >= best[i * width + k + 1])
            i++;
        else
            k++;
    }
    free(best);
    return true;
}

/* Finds one for the wanted row, from which another wanted row may have to move (Kuhn's way). A stack of its own: there may be
 * as many moves as there are rows. */
typedef struct moves {
    size_t *wanted, *next; /* by depth: who looks, and at which found row it goes on */
    bool *seen;            /* found rows, in this search */
} moves;

static bool find_one(work *w, moves *v, size_t first) {
    size_t depth = 0, m = w->c->found_count;
    v->wanted[0] = first;
    v->next[0] = 0;
    for (;;) {
        size_t k = v->next[depth]++;
        if (k >= m) {
            if (depth-- == 0) return false;
            continue;
        }
        if (v->seen[k] || !fits(w, v->wanted[depth], k)) continue;
        v->seen[k] = true;
        if (w->of_found[k] != NONE) {
            v->wanted[++depth] = w->of_found[k];
            v->next[depth] = 0;
            continue;
        }
        for (size_t d = depth + 1; d-- > 0;) pair(w, v->wanted[d], v->next[d] - 1);
        return true;
    }
}

static bool pair_in_any_order(work *w) {
    size_t n = w->c->wanted_count, m = w->c->found_count;
    moves v = { calloc(n + 1, sizeof *v.wanted), calloc(n + 1, sizeof *v.next), calloc(m + 1, sizeof *v.seen) };
    bool whole = v.wanted && v.next && v.seen;
    for (size_t i = 0; i < n && whole; i++) {
        for (size_t k = 0; k < m; k++) v.seen[k] = false;
        if (w->of_wanted[i] == NONE) (void)find_one(w, &v, i);
    }
    free(v.wanted);
    free(v.next);
    free(v.seen);
    return whole;
}

/* Most rows stand where they are wanted, or nearly: these are paired first, and cost nothing. */
static bool pair_all(work *w) {
    const gx_comparison *c = w->c;
    bool in_order = c->order == GALE_TEST_IN_ORDER;
    size_t right = 0;
    pair_by_place(w);
    for (size_t i = 0; i < c->wanted_count; i++) right += w->of_wanted[i] != NONE;
    if (are_too_many(c) || (right == c->wanted_count && right == c->found_count)) return true;
    if (!in_order) return pair_in_any_order(w);
    for (size_t i = 0; i < c->wanted_count; i++) w->of_wanted[i] = NONE;
    for (size_t k = 0; k < c->found_count; k++) w->of_found[k] = NONE;
    return pair_in_order(w);
}

/* --- What is near ------------------------------------------------------------------------------------------------- */

/* Of the found rows that nobody has, between those of the wanted rows beside it where order counts. */
static void find_near(work *w, size_t wanted, size_t from, size_t to) {
    uint32_t most = 0;
    for (size_t k = from; k < to; k++) {
        bool whole;
        if (w->of_found[k] != NONE || w->taken[k]) continue;
        uint32_t alike = gx_wanted_row_fits(&w->c->wanted[wanted], &w->c->found[k], &whole);
        if (alike <= most || (whole && w->c->order == GALE_TEST_IN_ORDER)) continue;
        most = alike;
        w->near[wanted] = k;
    }
    if (w->near[wanted] != NONE) w->taken[w->near[wanted]] = true;
}

static size_t next_paired(const work *w, size_t wanted) {
    while (wanted < w->c->wanted_count && w->of_wanted[wanted] == NONE) wanted++;
    return wanted < w->c->wanted_count ? w->of_wanted[wanted] : w->c->found_count;
}

/* What stands alone at both is shown in one line, even when nothing of it is alike. */
static void find_all_near(work *w) {
    bool in_order = w->c->order == GALE_TEST_IN_ORDER;
    size_t from = 0;
    for (size_t i = 0; i < w->c->wanted_count; i++) {
        if (w->of_wanted[i] != NONE) {
            from = w->of_wanted[i] + 1;
            continue;
        }
        find_near(w, i, in_order ? from : 0, in_order ? next_paired(w, i) : w->c->found_count);
        if (in_order && w->near[i] != NONE) from = w->near[i] + 1;
    }
    if (w->c->wanted_count != 1 || w->c->found_count != 1 || w->near[0] != NONE || w->of_wanted[0] != NONE) return;
    w->near[0] = 0;
    w->taken[0] = true;
}

/* --- Telling ------------------------------------------------------------------------------------------------------ */

/* One line of the table. */
typedef struct line {
    char mark;
    size_t wanted, found; /* NONE: nothing there */
} line;

typedef struct table {
    const work *w;
    line *lines;
    size_t count;
    gx_buf *out;
    size_t width; /* of the wanted ones, and of the found ones; 0: they stand below each other */
} table;

static void name_of(const work *w, uint32_t field, gx_buf *out) {
    if (field < w->c->name_count)
        gx_buf_add_text(out, w->c->names[field]);
    else
        gx_buf_format(out, "field %u", field);
}

static void tell_fields(const work *w, size_t wanted, size_t found, gx_buf *out) {
    const gx_wanted_row *want = &w->c->wanted[wanted];
    const gx_found_row *have = &w->c->found[found];
    if (want->count != have->count) {
        gx_buf_format(out, "%u value%s, not %u", have->count, have->count == 1 ? "" : "s", want->count);
        return;
    }
    const char *comma = "";
    for (uint32_t i = 0; i < want->count; i++) {
        if (gx_wanted_fits(&want->fields[i], &have->values[i])) continue;
        gx_buf_add_text(out, comma);
        name_of(w, i, out);
        gx_buf_add_text(out, " is ");
        gx_found_show(&have->values[i], out);
        gx_buf_add_text(out, ", not ");
        gx_wanted_show(&want->fields[i], out);
        comma = "; ";
    }
}

/* Where order counts, one that is missing here may have come elsewhere. */
static size_t elsewhere(const work *w, size_t wanted) {
    for (size_t k = 0; k < w->c->found_count && w->c->order == GALE_TEST_IN_ORDER; k++)
        if (w->of_found[k] == NONE && fits(w, wanted, k)) return k;
    return NONE;
}

static void tell_note(const work *w, const line *l, gx_buf *out) {
    if (l->mark == '~') tell_fields(w, l->wanted, l->found, out);
    if (l->mark == '+') gx_buf_add_text(out, "not expected");
    if (l->mark == '.') gx_buf_add_text(out, "there as well");
    if (l->mark != '-') return;
    size_t k = elsewhere(w, l->wanted);
    if (k == NONE)
        gx_buf_add_text(out, "missing");
    else
        gx_buf_format(out, "missing here; it came as number %zu of %zu", k + 1, w->c->found_count);
}

/* Characters, not bytes. */
static size_t width_of(const gx_buf *cell) {
    size_t width = 0;
    for (size_t i = 0; i < cell->size; i++) width += ((unsigned char)cell->data[i] & 0xc0) != 0x80;
    return width;
}

static void add_padded(gx_buf *out, gx_buf *cell, size_t width) {
    gx_buf_add(out, cell->data, cell->size);
    for (size_t i = width_of(cell); i < width; i++) gx_buf_add_byte(out, ' ');
    gx_buf_reset(cell);
}

static void add_mark(gx_buf *out, char mark) {
    gx_buf_format(out, "%*s%c ", MARK, "", mark);
}

static void trim_end(gx_buf *out) {
    while (out->size && out->data[out->size - 1] == ' ') out->size--;
    gx_buf_add_byte(out, '\n');
}

static void print_beside(const table *t, const line *l, gx_buf *cell) {
    const gx_comparison *c = t->w->c;
    add_mark(t->out, l->mark);
    if (l->wanted != NONE) gx_wanted_row_show(&c->wanted[l->wanted], cell);
    add_padded(t->out, cell, t->width + 4);
    if (l->found != NONE) gx_found_row_show(&c->found[l->found], cell);
    add_padded(t->out, cell, t->width + 4);
    tell_note(t->w, l, t->out);
    trim_end(t->out);
}

static void print_below(const table *t, const line *l) {
    const gx_comparison *c = t->w->c;
    add_mark(t->out, l->mark);
    if (l->mark == '~') gx_buf_add_text(t->out, "expected ");
    if (l->wanted != NONE)
        gx_wanted_row_show(&c->wanted[l->wanted], t->out);
    else
        gx_found_row_show(&c->found[l->found], t->out);
    if (l->mark == '~') {
        gx_buf_format(t->out, "\n%*s   found ", MARK + 2, "");
        gx_found_row_show(&c->found[l->found], t->out);
    }
    if (l->mark != ' ') {
        gx_buf_format(t->out, "\n%*s", MARK + 5, "");
        tell_note(t->w, l, t->out);
    }
    gx_buf_add_byte(t->out, '\n');
}

/* How wide a column must be; 0: too wide. */
static size_t measure(const table *t, gx_buf *cell) {
    size_t most = 8; /* "expected" */
    for (size_t i = 0; i < t->count; i++) {
        const line *l = &t->lines[i];
        if (l->wanted != NONE) gx_wanted_row_show(&t->w->c->wanted[l->wanted], cell);
        if (width_of(cell) > most) most = width_of(cell);
        gx_buf_reset(cell);
        if (l->found != NONE) gx_found_row_show(&t->w->c->found[l->found], cell);
        if (width_of(cell) > most) most = width_of(cell);
        gx_buf_reset(cell);
    }
    return most > WIDE ? 0 : most;
}

/* How many lines from `at` on are right. */
static size_t right_from(const table *t, size_t at) {
    size_t count = 0;
    while (at + count < t->count && t->lines[at + count].mark == ' ') count++;
    return count;
}

static size_t skip_right(const table *t, size_t at) {
    size_t count = right_from(t, at);
    bool begins = at == 0 || t->lines[at - 1].mark != ' ';
    if (!begins || count <= 2 * EQUAL_SHOWN + 1) return 0;
    return count - EQUAL_SHOWN;
}

static void print(table *t) {
    gx_buf cell = GX_BUF_INIT(NULL);
    t->width = measure(t, &cell);
    size_t extras = 0;
    if (t->width) gx_buf_format(t->out, "%*s%-*s%s\n", MARK + 2, "", (int)t->width + 4, "expected", "found");
    for (size_t i = 0; i < t->count; i++) {
        size_t skipped = skip_right(t, i);
        if (skipped) gx_buf_format(t->out, "%*s... %zu as expected ...\n", MARK + 2, "", skipped);
        i += skipped;
        extras += t->lines[i].mark == '+';
        if (t->lines[i].mark == '+' && extras > EXTRA_SHOWN) continue;
        if (t->width)
            print_beside(t, &t->lines[i], &cell);
        else
            print_below(t, &t->lines[i]);
    }
    if (extras > EXTRA_SHOWN) gx_buf_format(t->out, "%*s... and %zu more\n", MARK + 2, "", extras - EXTRA_SHOWN);
    gx_buf_fini(&cell);
}

static void add_line(table *t, char mark, size_t wanted, size_t found) {
    t->lines[t->count++] = (line){ mark, wanted, found };
}

/* Found rows that belong to nobody, up to `to`. */
static void add_extras(table *t, size_t *from, size_t to) {
    for (; *from < to; ++*from)
        if (t->w->of_found[*from] == NONE && !t->w->taken[*from]) add_line(t, '+', NONE, *from);
}

/* Where others may be there, too: the last of them, for who looks what came in the place of what is missing. */
static void add_others(table *t) {
    size_t from = t->w->c->found_count;
    for (size_t shown = 0; from > 0 && shown < OTHERS_SHOWN; from--)
        shown += t->w->of_found[from - 1] == NONE && !t->w->taken[from - 1];
    for (; from < t->w->c->found_count; from++)
        if (t->w->of_found[from] == NONE && !t->w->taken[from]) add_line(t, '.', NONE, from);
}

static void fill(table *t) {
    const work *w = t->w;
    bool in_order = w->c->order == GALE_TEST_IN_ORDER;
    size_t shown = 0;
    for (size_t i = 0; i < w->c->wanted_count; i++) {
        size_t found = w->of_wanted[i] != NONE ? w->of_wanted[i] : w->near[i];
        if (in_order && found != NONE) add_extras(t, &shown, found);
        add_line(t, w->of_wanted[i] != NONE ? ' ' : w->near[i] != NONE ? '~' : '-', i, found);
    }
    if (w->c->order != GALE_TEST_CONTAINS)
        add_extras(t, &shown, w->c->found_count);
    else
        add_others(t);
}

static bool differs(const work *w) {
    bool same = w->c->order == GALE_TEST_CONTAINS || w->c->wanted_count == w->c->found_count;
    for (size_t i = 0; i < w->c->wanted_count && same; i++) same = w->of_wanted[i] != NONE;
    return !same;
}

/* --- The whole ---------------------------------------------------------------------------------------------------- */

static size_t *nones(size_t count) {
    size_t *list = calloc(count + 1, sizeof *list);
    for (size_t i = 0; list && i < count; i++) list[i] = NONE;
    return list;
}

static bool compare(work *w, gx_buf *out) {
    table t = { w, calloc(w->c->wanted_count + w->c->found_count + 1, sizeof *t.lines), 0, out, 0 };
    bool whole = t.lines && pair_all(w), other = whole && differs(w);
    if (other) {
        if (!are_too_many(w->c)) find_all_near(w);
        fill(&t);
        print(&t);
    }
    out->failed |= !whole;
    free(t.lines);
    return other;
}

bool gx_difference(const gx_comparison *c, size_t *ret_pairs, gx_buf *out) {
    work w = { c, nones(c->wanted_count), nones(c->found_count), nones(c->wanted_count),
               calloc(c->found_count + 1, sizeof *w.taken) };
    bool whole = w.of_wanted && w.of_found && w.near && w.taken;
    bool other = whole && compare(&w, out);
    out->failed |= !whole;
    for (size_t i = 0; ret_pairs && i < c->wanted_count; i++) ret_pairs[i] = whole ? w.of_wanted[i] : NONE;
    free(w.of_wanted);
    free(w.of_found);
    free(w.near);
    free(w.taken);
    return other;
}
