#include "connect/sqlite/rows.h"

#include <gale/connect.h>
#include <stdlib.h>
#include <string.h>

void lite_rows_clear(lite_rows *rows) {
    for (size_t i = 0; i < rows->count; i++) free(rows->rows[i].why);
    rows->bytes.size = rows->cell_count = rows->count = rows->done = 0;
}

void lite_rows_free(lite_rows *rows) {
    lite_rows_clear(rows);
    sql_text_free(&rows->bytes);
    free(rows->cells);
    free(rows->rows);
    *rows = (lite_rows){ .width = rows->width };
}

static bool grow(void **list, size_t *room, size_t wanted, size_t size) {
    size_t more = *room ? *room : 64;
    while (more < wanted) more *= 2;
    if (more == *room) return true;
    void *grown = realloc(*list, more * size);
    if (!grown) return false;
    *list = grown;
    *room = more;
    return true;
}

static bool have_room(lite_rows *rows) {
    return grow((void **)&rows->cells, &rows->cell_room, rows->cell_count + rows->width, sizeof *rows->cells) &&
           grow((void **)&rows->rows, &rows->room, rows->count + 1, sizeof *rows->rows);
}

static lite_cell cell_of(lite_rows *rows, const gale_value *value) {
    lite_cell cell = { .type = value->type, .size = value->size };
    switch (value->type) {
    case GALE_TYPE_BOOL: cell.as.boolean = value->as.boolean; break;
    case GALE_TYPE_I64: cell.as.i64 = value->as.i64; break;
    case GALE_TYPE_F64: cell.as.f64 = value->as.f64; break;
    case GALE_TYPE_STRING:
    case GALE_TYPE_BYTES:
        cell.as.at = rows->bytes.size;
        sql_text_add(&rows->bytes, value->as.bytes, value->size);
        break;
    default: cell = (lite_cell){ .type = GALE_TYPE_NULL };
    }
    return cell;
}

int lite_rows_add(lite_rows *rows, const gale_value *values, size_t *ret_size) {
    size_t before = rows->bytes.size;
    if (!have_room(rows)) return GALE_NO_MEMORY;
    for (size_t i = 0; i < rows->width; i++) rows->cells[rows->cell_count + i] = cell_of(rows, &values[i]);
    if (rows->bytes.failed) {
        rows->bytes.failed = false;
        rows->bytes.size = before;
        return GALE_NO_MEMORY;
    }
    rows->cell_count += rows->width;
    rows->rows[rows->count++] = (lite_row){ .id = 0 };
    *ret_size = rows->bytes.size - before + rows->width * sizeof *rows->cells + sizeof *rows->rows;
    return 0;
}

/* Its bytes are passed over, and go when all are cleared. */
void lite_rows_drop(lite_rows *rows) {
    rows->count--;
    rows->cell_count -= rows->width;
}

gale_value lite_rows_value(const lite_rows *rows, size_t row, size_t column) {
    const lite_cell *cell = &rows->cells[row * rows->width + column];
    const char *bytes = rows->bytes.data;
    switch (cell->type) {
    case GALE_TYPE_BOOL: return gale_bool(cell->as.boolean);
    case GALE_TYPE_I64: return gale_i64(cell->as.i64);
    case GALE_TYPE_F64: return gale_f64(cell->as.f64);
    case GALE_TYPE_STRING: return gale_string(cell->size ? bytes + cell->as.at : "", cell->size);
    case GALE_TYPE_BYTES: return gale_bytes(cell->size ? bytes + cell->as.at : "", cell->size);
    default: return gale_null();
    }
}

void lite_rows_refuse(lite_rows *rows, size_t row, const char *why) {
    rows->rows[row].state = LITE_ROW_REFUSED;
    rows->rows[row].why = strdup(why);
}

/* --- Values of SQLite's ------------------------------------------------------------------------------------------------ */

int lite_bind(sqlite3_stmt *statement, int index, const gale_value *value) {
    switch (value->type) {
    case GALE_TYPE_BOOL: return sqlite3_bind_int(statement, index, value->as.boolean);
    case GALE_TYPE_I64: return sqlite3_bind_int64(statement, index, value->as.i64);
    case GALE_TYPE_F64: return sqlite3_bind_double(statement, index, value->as.f64);
    case GALE_TYPE_STRING:
        return sqlite3_bind_text64(statement, index, value->size ? value->as.string : "", value->size, SQLITE_STATIC,
                                   SQLITE_UTF8);
    case GALE_TYPE_BYTES:
        return sqlite3_bind_blob64(statement, index, value->size ? value->as.bytes : "", value->size, SQLITE_STATIC);
    default: return sqlite3_bind_null(statement, index);
    }
}

gale_value lite_column_value(sqlite3_stmt *statement, int column) {
    const void *bytes;
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER: return gale_i64(sqlite3_column_int64(statement, column));
    case SQLITE_FLOAT: return gale_f64(sqlite3_column_double(statement, column));
    case SQLITE_TEXT:
        bytes = sqlite3_column_text(statement, column);
        return bytes ? gale_text_or_bytes(bytes, (size_t)sqlite3_column_bytes(statement, column)) : gale_null();
    case SQLITE_BLOB:
        bytes = sqlite3_column_blob(statement, column);
        return gale_bytes(bytes ? bytes : "", (size_t)sqlite3_column_bytes(statement, column));
    default: return gale_null();
    }
}
