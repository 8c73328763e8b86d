#include "script/lookup_table.h"

#include "base/encoding.h"
#include "base/nearest.h"
#include "base/utf8.h"
#include "kit/scalar.h"
#include "script/column.h"
#include "tuple/json_view.h"

#include <stdarg.h>
#include <stdio.h>

/* --- The text --------------------------------------------------------------------------------------------------------- */

int gx_lookup_load_begin(gx_lookup_load *load, const gx_lookup_shape *shape, gx_heap *heap, uint64_t seed,
                         gale_error *error) {
    *load = (gx_lookup_load){
        .shape = shape, .heap = heap, .fd = -1, .scratch = GX_BUF_INIT(heap), .key = GX_BUF_INIT(heap)
    };
    gx_json_reader_init(&load->reader, heap);
    int rc = gx_file_open(shape->path, &load->fd, NULL, error);
    if (rc >= 0) rc = gx_file_about_open(load->fd, shape->path, &load->about, error);
    if (rc < 0) return rc;
    if (!load->about.regular) return gale_error_set(error, GALE_IO, "'%s' is no regular file", shape->path);
    if ((uint64_t)load->about.size > shape->max_bytes)
        return gale_error_set(error, GALE_TOO_LARGE, "'%s' has %lld bytes, at most %llu (max_bytes)", shape->path,
                              (long long)load->about.size, (unsigned long long)shape->max_bytes);
    load->room = (size_t)load->about.size + 1;
    load->text = gx_alloc(heap, GX_TAG_OTHER, load->room);
    bool made = load->text && gx_lookup_rows_init(&load->rows, heap, seed);
    return made ? GALE_OK : gale_error_set(error, GALE_NO_MEMORY, "'%s': out of memory", shape->path);
}

void gx_lookup_load_end(gx_lookup_load *load) {
    if (load->fd >= 0) gx_file_close(load->fd);
    gx_free(load->heap, GX_TAG_OTHER, load->text, load->room);
    gx_lookup_rows_fini(&load->rows);
    gx_buf_fini(&load->scratch);
    gx_buf_fini(&load->key);
    gx_json_reader_fini(&load->reader);
}

static bool is_same(const gx_file_about *a, const gx_file_about *b) {
    return a->inode == b->inode && a->device == b->device && a->size == b->size && a->modified == b->modified;
}

/* All is there: was it the same all the time? */
static int end_text(gx_lookup_load *load, gale_error *error) {
    gx_file_about now;
    int rc = gx_file_about_open(load->fd, load->shape->path, &now, error);
    if (rc < 0) return rc;
    if (load->size != (size_t)load->about.size || !is_same(&now, &load->about))
        return gale_error_set(error, GALE_AGAIN, "'%s' changed while it was read", load->shape->path);
    load->rest = (gale_str){ load->text, load->size };
    load->is_read = true;
    return gx_encoding_read(load->shape->path, &load->rest, error);
}

static int read_piece(gx_lookup_load *load, gale_error *error) {
    size_t room = load->room - load->size;
    if (!room) return end_text(load, error); /* it has grown */
    int64_t size = gx_file_read(load->fd, load->text + load->size, room < GX_LOOKUP_PIECE ? room : GX_LOOKUP_PIECE,
                                load->shape->path, error);
    if (size < 0) return (int)size;
    load->size += (size_t)size;
    return size ? 0 : end_text(load, error);
}

/* --- What is wrong ---------------------------------------------------------------------------------------------------- */

static int wrong(const gx_lookup_load *load, size_t column, gale_error *error, const char *format, ...)
    GALE_PRINTF(4, 5);
static int wrong(const gx_lookup_load *load, size_t column, gale_error *error, const char *format, ...) {
    char text[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    text[gx_utf8_prefix(text, strlen(text))] = 0;
    if (load->shape->format == GX_LOOKUP_JSON)
        return gale_error_set(error, GALE_SYNTAX, "%s: member %llu: %s", load->shape->path,
                              (unsigned long long)load->line, text);
    return gale_error_set(error, GALE_SYNTAX, "%s:%llu:%zu: %s", load->shape->path, (unsigned long long)load->line,
                          column, text);
}

static gale_str shown(gale_str text) {
    return (gale_str){ text.data, gx_utf8_prefix(text.data, text.size < 60 ? text.size : 60) };
}

/* --- Rows ------------------------------------------------------------------------------------------------------------- */

static int add_row(gx_lookup_load *load, const gale_value *by, const gale_value *values, gale_error *error) {
    const gx_lookup_shape *shape = load->shape;
    uint64_t before = 0;
    if (gx_lookup_rows_count(&load->rows) >= shape->max_rows)
        return gale_error_set(error, GALE_TOO_LARGE, "'%s' has more than %llu rows (max_rows)", shape->path,
                              (unsigned long long)shape->max_rows);
    int rc = gx_lookup_key(by, shape->by_count, &load->key);
    if (rc == GALE_TYPE)
        return wrong(load, 1, error, "a key must be text, a whole number or a truth value, and be there");
    gale_str key = { load->key.data, load->key.size };
    if (rc >= 0) rc = gx_lookup_rows_add(&load->rows, key, values, shape->add_count, load->line, &before);
    if (rc == GALE_EXISTS) {
        gale_str text = shown(shape->by_count == 1 ? (gale_str){ key.data, key.size - 1 } : (gale_str){ "", 0 });
        return wrong(load, 1, error, "the key%s%.*s has a row already, %s %llu", text.size ? " " : "", GX_STR(text),
                     shape->format == GX_LOOKUP_JSON ? "member" : "in line", (unsigned long long)before);
    }
    return rc == GALE_NO_MEMORY ? gale_error_set(error, rc, "'%s': out of memory", shape->path)
           : rc < 0             ? wrong(load, 1, error, "a value is none: %s", gale_error_text(rc))
                                : GALE_OK;
}

/* --- CSV -------------------------------------------------------------------------------------------------------------- */

static size_t place_of(gale_str record, const char *at) {
    return at >= record.data && at <= record.data + record.size ? (size_t)(at - record.data) + 1 : 1;
}

static int cut_record(gx_lookup_load *load, gale_str record, gale_error *error) {
    gx_csv csv = gx_csv_begin(load->shape->csv, record, &load->scratch);
    gale_str cell;
    load->cell_count = 0;
    while (gx_csv_next(&csv, &cell)) {
        if (load->cell_count == GX_LOOKUP_CELLS)
            return wrong(load, place_of(record, cell.data), error, "there are more than %d columns", GX_LOOKUP_CELLS);
        load->cells[load->cell_count++] = cell;
    }
    if (load->scratch.failed) return gale_error_set(error, GALE_NO_MEMORY, "'%s': out of memory", load->shape->path);
    return csv.problem ? wrong(load, place_of(record, csv.rest.data), error, "%s", csv.problem) : GALE_OK;
}

static int find_cell(gx_lookup_load *load, gale_str name, uint16_t *ret_at, gale_error *error) {
    gx_nearest nearest = gx_nearest_to(name);
    char hint[100];
    for (uint32_t i = 0; i < load->cell_count; i++) {
        *ret_at = (uint16_t)i;
        if (gx_str_equal(load->cells[i], name)) return GALE_OK;
        gx_nearest_offer(&nearest, load->cells[i]);
    }
    return wrong(load, 1, error, "there is no column '%.*s'%s", GX_STR(name),
                 gx_nearest_hint(&nearest, hint, sizeof hint));
}

static int read_names(gx_lookup_load *load, gale_error *error) {
    const gx_lookup_shape *shape = load->shape;
    int rc = GALE_OK;
    for (uint32_t i = 0; i < shape->by_count && rc >= 0; i++)
        rc = find_cell(load, shape->by[i].from, &load->by_at[i], error);
    for (uint32_t i = 0; i < shape->add_count && rc >= 0; i++)
        rc = find_cell(load, shape->add[i].from, &load->add_at[i], error);
    load->has_names = true;
    load->columns = load->cell_count;
    return rc;
}

static int read_cells(gx_lookup_load *load, gale_str record, gale_error *error) {
    const gx_lookup_shape *shape = load->shape;
    gale_value by[GX_LOOKUP_COLUMNS], values[GX_LOOKUP_COLUMNS];
    for (uint32_t i = 0; i < shape->by_count; i++) by[i] = gx_scalar_text(load->cells[load->by_at[i]], false);
    for (uint32_t i = 0; i < shape->add_count; i++) {
        gale_str cell = load->cells[load->add_at[i]], text = shown(cell);
        if (!gx_scalar_read(cell, false, shape->add[i].type, &values[i]))
            return wrong(load, place_of(record, cell.data), error, "column '%.*s': '%.*s' is no %s",
                         GX_STR(shape->add[i].from), GX_STR(text), gx_scalar_name(shape->add[i].type));
    }
    return add_row(load, by, values, error);
}

static uint64_t lines_in(gale_str record) {
    uint64_t count = 1;
    for (size_t i = 0; i < record.size; i++) count += record.data[i] == '\n';
    return count;
}

static int read_record(gx_lookup_load *load, gale_error *error) {
    gale_str record;
    if (!gx_csv_record(load->shape->csv, &load->rest, &record))
        return load->has_names ? 1 : wrong(load, 1, error, "there is no line of names");
    if (!record.size) {
        load->line++;
        return 0;
    }
    int rc = cut_record(load, record, error);
    if (rc >= 0 && !load->has_names) {
        rc = read_names(load, error);
    } else if (rc >= 0 && load->cell_count != load->columns) {
        rc = wrong(load, 1, error, "there are %u columns, and %u names", load->cell_count, load->columns);
    } else if (rc >= 0) {
        rc = read_cells(load, record, error);
    }
    load->line += lines_in(record);
    return rc;
}

/* --- JSON ------------------------------------------------------------------------------------------------------------- */

static int convert(gx_lookup_load *load, const gx_lookup_column *column, gale_value *value, gale_error *error) {
    gale_value was = *value;
    if (!column->typed || gx_column_convert(column->type, value)) return GALE_OK;
    return wrong(load, 1, error, "'%.*s': %s is no %s", GX_STR(column->from), gale_type_name(was.type),
                 gx_scalar_name(column->type));
}

/* `key` is the member's name, where it is the key; else NULL. */
static int read_object(gx_lookup_load *load, gale_str row, const gale_value *key, gale_error *error) {
    const gx_lookup_shape *shape = load->shape;
    gale_value columns[2 * GX_LOOKUP_COLUMNS], *by = columns, *values = columns + GX_LOOKUP_COLUMNS;
    int rc = gx_json_read(&load->reader, row, &shape->paths, columns);
    if (rc == GALE_INVALID) return wrong(load, load->reader.column, error, "%s", load->reader.wrong);
    if (rc < 0) return gale_error_set(error, rc, "'%s': out of memory", shape->path);
    if (gale_json_kind_of(row) != GALE_JSON_OBJECT) return wrong(load, 1, error, "a row must be an object");
    if (key) by[0] = *key;
    for (uint32_t i = 0; i < shape->add_count && rc >= 0; i++) rc = convert(load, &shape->add[i], &values[i], error);
    return rc < 0 ? rc : add_row(load, by, values, error);
}

static int refuse_json(const gx_lookup_load *load, const gx_json_problem *why, gale_error *error) {
    return gale_error_set(error, GALE_SYNTAX, "%s:%llu:%zu: %s", load->shape->path,
                          (unsigned long long)(load->line + why->line - 1), why->column, why->what);
}

static int read_line(gx_lookup_load *load, gale_error *error) {
    gx_json_problem why;
    gale_str line, row;
    if (!load->rest.size) return 1;
    const char *end = memchr(load->rest.data, '\n', load->rest.size);
    line = (gale_str){ load->rest.data, end ? (size_t)(end - load->rest.data) : load->rest.size };
    size_t used = line.size + (end != NULL);
    load->rest = (gale_str){ load->rest.data + used, load->rest.size - used };
    line = gx_encoding_line(line);
    int rc = GALE_OK;
    if (gx_str_trim(line).size)
        rc = gx_json_check(line, &row, &why) ? read_object(load, row, NULL, error) : refuse_json(load, &why, error);
    load->line++;
    return rc;
}

static int read_document(gx_lookup_load *load, gale_error *error) {
    gx_json_problem why;
    gale_str root;
    load->line = 1;
    if (!gx_json_check(load->rest, &root, &why)) return refuse_json(load, &why, error);
    if (gale_json_kind_of(root) == GALE_JSON_OBJECT && load->shape->by_count > 1)
        return gale_error_set(error, GALE_SYNTAX, "%s: an object has one name for a row, and the key has %u",
                              load->shape->path, load->shape->by_count);
    load->member = (gale_json_item)GALE_JSON_FIRST(root);
    load->is_open = true;
    return 0;
}

/* The name of a member, as text. */
static int read_name(gx_lookup_load *load, gale_value *ret_key, gale_error *error) {
    gale_str name = load->member.name;
    gx_buf_reset(&load->scratch);
    if (!gx_buf_reserve(&load->scratch, name.size))
        return gale_error_set(error, GALE_NO_MEMORY, "'%s': out of memory", load->shape->path);
    int64_t size = gale_json_text(name, load->scratch.data, name.size + 1);
    if (size < 0) return wrong(load, 1, error, "half of a surrogate pair stands alone in its name");
    *ret_key = gale_string(load->scratch.data, (size_t)size);
    return GALE_OK;
}

static int read_member(gx_lookup_load *load, gale_error *error) {
    gale_value key;
    if (!load->is_open) return read_document(load, error);
    if (!gale_json_next(&load->member)) return 1;
    bool named = load->member.name.size > 0;
    int rc = named ? read_name(load, &key, error) : GALE_OK;
    if (rc >= 0) rc = read_object(load, load->member.value, named ? &key : NULL, error);
    load->line++;
    return rc;
}

/* --- A step ----------------------------------------------------------------------------------------------------------- */

static int read_row(gx_lookup_load *load, gale_error *error) {
    switch (load->shape->format) {
    case GX_LOOKUP_CSV: return read_record(load, error);
    case GX_LOOKUP_JSONL: return read_line(load, error);
    default: return read_member(load, error);
    }
}

int gx_lookup_load_step(gx_lookup_load *load, gale_error *error) {
    if (!load->is_read) return read_piece(load, error);
    if (!load->line) load->line = 1;
    int rc = 0;
    for (uint32_t i = 0; i < GX_LOOKUP_ROWS && rc == 0; i++) rc = read_row(load, error);
    return rc;
}
