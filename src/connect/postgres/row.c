#include "connect/postgres/row.h"

#include "connect/postgres/value.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OP, SCHEMA, TABLE, ROW, OLD, LSN, TIME, XID };
static const char *const names[] = { "op", "schema", "table", "row", "old", "lsn", "time", "xid", NULL };

/* --- Fields ------------------------------------------------------------------------------------------------------------ */

static void add_name(pg_row *row, const char *name, size_t size) {
    if (row->names.size) sql_text_add(&row->names, ", ", 2);
    sql_text_add(&row->names, name, size);
}

static int add_columns(pg_row *row, const gale_args *args, gale_error *error) {
    gale_value list = gale_args_value(args, "columns");
    if (list.type != GALE_TYPE_LIST) return 0;
    if (list.size > PG_ROW_COLUMNS_MAX)
        return gale_error_set(error, GALE_INVALID, "columns: there are at most %d", PG_ROW_COLUMNS_MAX);
    for (size_t i = 0; i < list.size; i++) {
        gale_value name = gale_list_at(&list, i);
        row->columns[i] = strndup(name.as.string, name.size);
        if (!row->columns[i]) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
        row->column_count++;
        add_name(row, name.as.string, name.size);
    }
    return 0;
}

int pg_row_make(pg_row *row, const gale_args *args, gale_error *error) {
    *row = (pg_row){ .emit = { .count = 0 } };
    int rc = gale_names_read("emit", gale_args_text(args, "emit"), "a change", names, &row->emit, error);
    if (rc < 0) return rc;
    add_name(row, row->emit.text, strlen(row->emit.text));
    rc = add_columns(row, args, error);
    if (rc < 0) return rc;
    return sql_text_string(&row->names) ? 0 : gale_error_set(error, GALE_NO_MEMORY, "out of memory");
}

void pg_row_free(pg_row *row) {
    for (size_t i = 0; i < row->column_count; i++) free(row->columns[i]);
    sql_text_free(&row->names);
}

/* --- Values ------------------------------------------------------------------------------------------------------------ */

/* A map of the columns, whose values are made once. */
static gale_value map_of(const pg_relation *relation, const pg_cell *cells, gale_value *pairs) {
    size_t count = 0;
    if (!cells) return gale_null();
    for (size_t i = 0; i < relation->count; i++) {
        if (cells[i].is_unsent) continue;
        pairs[2 * count] = gale_text(relation->attributes[i].name);
        pairs[2 * count + 1] = cells[i].text ? pg_value_of(relation->attributes[i].type, cells[i].text, cells[i].size)
                                             : gale_null();
        count++;
    }
    return gale_map(pairs, count);
}

static gale_value column_of(const gale_value *map, const char *name) {
    gale_value value;
    gale_str key = { name, strlen(name) };
    return map->type == GALE_TYPE_MAP && gale_map_get(map, key, &value) ? value : gale_null();
}

static gale_value field_value(int32_t field, const pg_event *event, pg_row_values *values, const gale_value *now,
                              const gale_value *before) {
    switch (field) {
    case OP: return gale_text(event->op);
    case SCHEMA: return gale_text(event->relation->schema);
    case TABLE: return gale_text(event->relation->name);
    case ROW: return *now;
    case OLD: return *before;
    case LSN: pg_lsn_write(event->lsn, values->lsn); return event->lsn ? gale_text(values->lsn) : gale_null();
    case TIME: return event->lsn ? gale_i64(event->time) : gale_null();
    default: return event->lsn ? gale_i64(event->xid) : gale_null();
    }
}

void pg_row_fill(const pg_row *row, const pg_event *event, pg_row_values *values) {
    gale_value now = map_of(event->relation, event->now, values->now);
    gale_value before = map_of(event->relation, event->before, values->before);
    for (size_t i = 0; i < row->emit.count; i++)
        values->list[i] = field_value(row->emit.places[i], event, values, &now, &before);
    const gale_value *columns = event->now ? &now : &before;
    for (size_t i = 0; i < row->column_count; i++)
        values->list[row->emit.count + i] = column_of(columns, row->columns[i]);
}

/* --- Places in the log ------------------------------------------------------------------------------------------------- */

void pg_lsn_write(uint64_t lsn, char text[20]) {
    snprintf(text, 20, "%" PRIX32 "/%" PRIX32, (uint32_t)(lsn >> 32), (uint32_t)lsn);
}

bool pg_lsn_read(const char *text, uint64_t *ret_lsn) {
    uint32_t high, low;
    int end = 0;
    if (sscanf(text, "%8" SCNx32 "/%8" SCNx32 "%n", &high, &low, &end) != 2 || text[end]) return false;
    *ret_lsn = (uint64_t)high << 32 | low;
    return true;
}

/* --- Its name --------------------------------------------------------------------------------------------------------- */

size_t pg_row_count(const pg_row *row) {
    return row->emit.count + row->column_count;
}

void pg_row_keep(const pg_row *row, const pg_event *event, pg_row_values *values) {
    gale_value *kept = values->list + pg_row_count(row);
    kept[0] = gale_text(event->op);
    kept[1] = gale_text(event->relation->name);
    kept[2] = gale_i64((int64_t)event->lsn);
}

void pg_row_name(const pg_row *row, const gale_value *values, size_t count, char *to, size_t size) {
    const gale_value *kept = values + pg_row_count(row);
    char lsn[20];
    if (count < pg_row_count(row) + PG_ROW_KEPT) return; /* of a run before, which kept none */
    pg_lsn_write((uint64_t)kept[2].as.i64, lsn);
    snprintf(to, size, "%.*s of %.*s%s%s", (int)kept[0].size, kept[0].as.string,
             kept[1].size < 60 ? (int)kept[1].size : 60, kept[1].as.string, kept[2].as.i64 ? " at " : "",
             kept[2].as.i64 ? lsn : "");
}
