#include "connect/postgres/batch.h"

#include <stdlib.h>

void pg_batch_free(pg_batch *batch) {
    sql_text_free(&batch->text);
    free(batch->rows);
    *batch = (pg_batch){ .rows = NULL };
}

void pg_batch_clear(pg_batch *batch) {
    batch->text.size = batch->count = batch->next = batch->part = 0;
}

static size_t end_of(const pg_batch *batch, size_t count) {
    return count ? batch->rows[count - 1].end : 0;
}

int pg_batch_add(pg_batch *batch, uint64_t id) {
    if (batch->count == batch->room) {
        size_t room = batch->room ? 2 * batch->room : 64;
        pg_batch_row *rows = realloc(batch->rows, room * sizeof *rows);
        if (!rows) {
            batch->text.size = end_of(batch, batch->count);
            return GALE_NO_MEMORY;
        }
        batch->rows = rows;
        batch->room = room;
    }
    batch->rows[batch->count++] = (pg_batch_row){ batch->text.size, id };
    return 0;
}

bool pg_batch_part(const pg_batch *batch, gale_str *ret_text) {
    if (!batch->part) return false;
    size_t from = end_of(batch, batch->next);
    *ret_text = (gale_str){ batch->text.data + from, end_of(batch, batch->next + batch->part) - from };
    return true;
}

static void go_on(pg_batch *batch, size_t passed, size_t part) {
    batch->next += passed;
    size_t left = batch->count - batch->next;
    batch->part = part < left ? part : left;
    if (batch->most && batch->part > batch->most) batch->part = batch->most;
}

void pg_batch_begin(pg_batch *batch, size_t most) {
    batch->next = 0;
    batch->most = most;
    go_on(batch, 0, batch->count);
}

void pg_batch_taken(pg_batch *batch, size_t *ret_first, size_t *ret_count) {
    *ret_first = batch->next;
    *ret_count = batch->part;
    go_on(batch, batch->part, 2 * batch->part);
}

bool pg_batch_refused(pg_batch *batch, size_t *ret_index) {
    if (batch->part > 1) {
        go_on(batch, 0, batch->part / 2);
        return false;
    }
    *ret_index = batch->next;
    go_on(batch, 1, 1);
    return true;
}

gale_str pg_batch_row_text(const pg_batch *batch, size_t index) {
    size_t from = end_of(batch, index);
    return (gale_str){ batch->text.data + from, batch->rows[index].end - from };
}
