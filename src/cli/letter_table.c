#include "cli/letter_table.h"

#include "base/json.h"
#include "base/str.h"
#include "base/visible.h"
#include "cli/figures.h"
#include "tuple/json.h"

#include <string.h>

enum { SPOUT, STREAM, MESSAGE, ATTEMPTS, REASON, PLACE, TEXT, TUPLE, COLUMNS = GX_LETTER_TABLE_COLUMNS, TEXT_MAX = 60 };

static const char *const headers[COLUMNS] = {
    "spout", "stream", "message", "attempts", "reason", "place", "text", "tuple",
};

void gx_letter_table_init(gx_letter_table *table) {
    *table = (gx_letter_table){ .rows = 0 };
    for (int k = 0; k < COLUMNS; k++) table->widths[k] = (int)strlen(headers[k]);
}

void gx_letter_table_fini(gx_letter_table *table) {
    gx_buf_fini(&table->cells);
    for (int i = 0; i < GX_LETTER_TABLE_REASONS; i++) gx_buf_fini(&table->reasons[i]);
}

/* --- Cells --- */

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

/* What a cell takes on the screen, but for characters that are wider or narrower than one. */
static int width_of(const char *cell) {
    int width = 0;
    for (; *cell; cell++) width += ((unsigned char)*cell & 0xc0) != 0x80;
    return width;
}

/* --- Rows --- */

/* Under the short form of its name. */
static void count_reason(gx_letter_table *table, gale_str reason) {
    gx_buf name = GX_BUF_INIT(NULL);
    int i = 0, last = GX_LETTER_TABLE_REASONS - 1;
    add_short(&name, reason);
    gale_str wanted = { name.data, name.size };
    while (i < last && table->counts[i] &&
           !gx_str_equal((gale_str){ table->reasons[i].data, table->reasons[i].size }, wanted))
        i++;
    if (i == last) {
        gx_buf_reset(&name);
        gx_buf_add_text(&name, "for other reasons");
    }
    if (table->counts[i]++ == 0)
        table->reasons[i] = name;
    else
        gx_buf_fini(&name);
}

bool gx_letter_table_add(gx_letter_table *table, const gx_letter *letter) {
    for (int k = 0; k < COLUMNS; k++) {
        size_t before = table->cells.size;
        add_cell(&table->cells, letter, k);
        gx_buf_add_byte(&table->cells, 0);
        if (table->cells.failed) break;
        int width = width_of(table->cells.data + before);
        if (width > table->widths[k]) table->widths[k] = width;
    }
    count_reason(table, letter->reason);
    table->count++;
    return ++table->rows >= GX_LETTER_TABLE_ROWS;
}

static void add_head(const gx_letter_table *table, gx_buf *out) {
    for (int k = 0; k < COLUMNS; k++)
        gx_buf_format(out, "%-*s%s", k + 1 < COLUMNS ? table->widths[k] : 0, headers[k], k + 1 < COLUMNS ? "  " : "\n");
}

/* Returns what stands behind the row. */
static const char *add_row(const gx_letter_table *table, const char *cell, gx_buf *out) {
    for (int k = 0; k < COLUMNS; k++, cell += strlen(cell) + 1) {
        gx_buf_add_text(out, cell);
        if (k + 1 < COLUMNS) gx_buf_format(out, "%*s", table->widths[k] - width_of(cell) + 2, "");
    }
    gx_buf_add_byte(out, '\n');
    return cell;
}

void gx_letter_table_take(gx_letter_table *table, gx_buf *out) {
    if (table->rows && table->rows == table->count) add_head(table, out);
    out->failed |= table->cells.failed;
    const char *cell = table->cells.data;
    for (size_t i = 0; i < table->rows && !out->failed; i++) cell = add_row(table, cell, out);
    gx_buf_reset(&table->cells);
    table->rows = 0;
}

void gx_letter_table_end(gx_letter_table *table, gx_buf *out) {
    char figure[GX_FIGURE_SIZE];
    gx_letter_table_take(table, out);
    if (table->count) gx_buf_add_text(out, "\n");
    gx_buf_format(out, "%s dead letter%s", gx_figure_count(table->count, figure), gx_plural(table->count));
    for (int i = 0; i < GX_LETTER_TABLE_REASONS && table->counts[i]; i++) {
        gx_buf_format(out, "%s%s ", i ? ", " : ": ", gx_figure_count(table->counts[i], figure));
        gx_buf_add(out, table->reasons[i].data, table->reasons[i].size);
        out->failed |= table->reasons[i].failed;
    }
    gx_buf_add_text(out, "\n");
}
