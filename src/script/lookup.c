/* Fields from a table in a file: gale_lookup_bolt. The table is looked at now and then, and read again when it changed, a piece with
 * each tuple or tick; until the new one is whole, the old one serves. */
#include "script/lookup_table.h"

#include "kit/fields.h"
#include "kit/scalar.h"
#include "script/column.h"

#include <gale/state.h>
#include <gale_script.h>
#include <stdio.h>
#include <stdlib.h>

static const char who[] = "lookup";

enum { STREAM_FOUND, STREAM_MISSING };

typedef struct settings {
    gx_fields fields, key;
    gx_lookup_shape shape;
    int32_t missing;
    int64_t refresh;
    gale_output outputs[2];
    gale_setting tick;
    char fields_out[2 * GX_FIELDS_TEXT + 4];
    char path[GX_FILE_PATH_MAX + 1];
    char by_text[GX_FIELDS_TEXT], add_text[GX_FIELDS_TEXT];
} settings;

typedef struct bolt_lookup {
    gx_instance instance;
    const settings *given;
    gx_lookup_rows rows;
    gx_file_about about; /* of the file that was read, or tried, last */
    bool is_gone;        /* it could not be looked at, and that was said */
    int64_t look;        /* when it is to be looked at again */
    gx_lookup_load *load;
    gx_field_places places, key_places;
    gx_buf key;
} bolt_lookup;

/* --- The table -------------------------------------------------------------------------------------------------------- */

static void end_load(bolt_lookup *bolt) {
    if (!bolt->load) return;
    gx_lookup_load_end(bolt->load);
    gx_free(&bolt->instance.heap, GX_TAG_OTHER, bolt->load, sizeof *bolt->load);
    bolt->load = NULL;
}

static int begin_load(bolt_lookup *bolt, gale_error *error) {
    gx_heap *heap = &bolt->instance.heap;
    bolt->load = gx_alloc(heap, GX_TAG_OTHER, sizeof *bolt->load);
    if (!bolt->load) return gale_error_set(error, GALE_NO_MEMORY, "'%s': out of memory", bolt->given->path);
    return gx_lookup_load_begin(bolt->load, &bolt->given->shape, heap, gale_context_random(bolt->instance.context),
                                error);
}

static void take_rows(bolt_lookup *bolt) {
    gx_lookup_rows_fini(&bolt->rows);
    bolt->rows = bolt->load->rows;
    bolt->load->rows = (gx_lookup_rows){ .keys = NULL };
    bolt->about = bolt->load->about;
    end_load(bolt);
}

/* The first table must be there, and whole. */
static int load_all(bolt_lookup *bolt, gale_error *error) {
    int rc = begin_load(bolt, error);
    while (rc == 0) rc = gx_lookup_load_step(bolt->load, error);
    if (rc > 0)
        take_rows(bolt);
    else
        end_load(bolt);
    return rc < 0 ? rc : GALE_OK;
}

static void tell_kept(const bolt_lookup *bolt, const gale_error *error) {
    const gale_context *context = bolt->instance.context;
    gale_log(context->logger, GALE_LOG_WARN, context->component, "%s; the table of before stays: %zu rows", error->text,
             gx_lookup_rows_count(&bolt->rows));
}

/* What was tried and failed is not tried again until it changes; what changed meanwhile, and what memory was lacking for, is. */
static void give_up(bolt_lookup *bolt, int rc, const gx_file_about *tried, const gale_error *error) {
    if (rc != GALE_AGAIN && rc != GALE_NO_MEMORY) bolt->about = *tried;
    if (rc != GALE_AGAIN) tell_kept(bolt, error);
    end_load(bolt);
}

static void go_on(bolt_lookup *bolt) {
    gale_error error = GALE_ERROR_INIT;
    const gale_context *context = bolt->instance.context;
    uint64_t left = (uint64_t)bolt->load->about.size <= GX_LOOKUP_PIECE ? UINT64_MAX
                                                                        : 1; /* what is small is read at once */
    int rc = 0;
    while (rc == 0 && left--) rc = gx_lookup_load_step(bolt->load, &error);
    if (rc > 0) {
        take_rows(bolt);
        gale_log(context->logger, GALE_LOG_INFO, context->component, "'%s' has changed, and was read again: %zu rows",
                 bolt->given->path, gx_lookup_rows_count(&bolt->rows));
    } else if (rc < 0) {
        give_up(bolt, rc, &bolt->load->about, &error);
    }
}

static bool has_changed(const bolt_lookup *bolt, const gx_file_about *now) {
    const gx_file_about *was = &bolt->about;
    return was->inode != now->inode || was->device != now->device || was->size != now->size ||
           was->modified != now->modified;
}

static void look(bolt_lookup *bolt) {
    gale_error error = GALE_ERROR_INIT;
    gx_file_about now;
    int rc = gx_file_about_path(bolt->given->path, &now, &error);
    if (rc == GALE_NOT_FOUND) gale_error_set(&error, rc, "'%s' is not there any more", bolt->given->path);
    if (rc < 0 && !bolt->is_gone) tell_kept(bolt, &error);
    bolt->is_gone = rc < 0;
    if (rc < 0 || !has_changed(bolt, &now)) return;
    rc = begin_load(bolt, &error);
    if (rc < 0) give_up(bolt, rc, &now, &error);
}

static void refresh(bolt_lookup *bolt) {
    int64_t now = gale_context_now(bolt->instance.context);
    if (!bolt->load && now >= bolt->look) {
        bolt->look = now + bolt->given->refresh;
        look(bolt);
    }
    if (bolt->load) go_on(bolt);
}

/* --- The task --------------------------------------------------------------------------------------------------------- */

static void bolt_cleanup(void *self) {
    bolt_lookup *bolt = self;
    end_load(bolt);
    gx_lookup_rows_fini(&bolt->rows);
    gx_buf_fini(&bolt->key);
    gx_define_instance_free(bolt);
}

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    gale_error error = GALE_ERROR_INIT;
    bolt_lookup *bolt = gx_define_instance(context, sizeof *bolt);
    if (!bolt) return GALE_NO_MEMORY;
    bolt->given = user;
    bolt->key = (gx_buf)GX_BUF_INIT(&bolt->instance.heap);
    bolt->look = gale_context_now(context) + bolt->given->refresh;
    int rc = load_all(bolt, &error);
    if (rc < 0) {
        gx_define_report(out, "%s: %s", who, error.text);
        bolt_cleanup(bolt);
        return rc;
    }
    *ret_self = bolt;
    return GALE_OK;
}

/* --- A tuple ---------------------------------------------------------------------------------------------------------- */

static int emit_missing(bolt_lookup *bolt, const gale_tuple *tuple, gale_value *values, gale_collector *out) {
    const settings *given = bolt->given;
    uint32_t count = given->fields.count;
    int rc = GALE_OK;
    switch (given->missing) {
    case GALE_LOOKUP_DROP: return GALE_OK;
    case GALE_LOOKUP_STREAM: rc = gale_emit(out, STREAM_MISSING, values, count); break;
    case GALE_LOOKUP_FAIL:
        gx_define_report(out, "%s: '%s' has no row for this tuple of component '%s'", who, given->path,
                         gale_tuple_component(tuple));
        return GALE_NOT_FOUND;
    default:
        for (uint32_t i = 0; i < given->shape.add_count; i++) values[count + i] = gale_null();
        rc = gale_emit(out, STREAM_FOUND, values, count + given->shape.add_count);
    }
    return rc < 0 ? rc : GALE_OK;
}

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    bolt_lookup *bolt = self;
    const settings *given = bolt->given;
    gale_value values[GX_FIELDS_MAX + GX_LOOKUP_COLUMNS], keys[GX_FIELDS_MAX], row;
    refresh(bolt);
    if (gale_tuple_is_tick(tuple)) return GALE_OK;
    int rc = gx_fields_take(&given->fields, &bolt->places, who, tuple, out, values);
    if (rc >= 0) rc = gx_fields_take(&given->key, &bolt->key_places, who, tuple, out, keys);
    if (rc < 0) return rc;
    rc = gx_lookup_key(keys, given->key.count, &bolt->key);
    if (rc == GALE_NO_MEMORY) return rc;
    bool found = rc >= 0 && gx_lookup_rows_find(&bolt->rows, (gale_str){ bolt->key.data, bolt->key.size }, &row);
    if (!found) return emit_missing(bolt, tuple, values, out);
    for (uint32_t i = 0; i < given->shape.add_count; i++) values[given->fields.count + i] = gale_list_at(&row, i);
    rc = gale_emit(out, STREAM_FOUND, values, given->fields.count + given->shape.add_count);
    return rc < 0 ? rc : GALE_OK;
}

static const gale_bolt_ops ops = {
    .size = sizeof(gale_bolt_ops),
    .name = "lookup bolt",
    .kind = GALE_BOLT_SIMPLE,
    .prepare = bolt_prepare,
    .execute = bolt_execute,
    .cleanup = bolt_cleanup,
    .durable = &gale_stateless,
};

/* --- The definition --------------------------------------------------------------------------------------------------- */

static int read_type(gx_lookup_column *column, gale_str word, const char *what, gale_error *error) {
    column->typed = word.size > 0;
    column->type = word.size ? gx_scalar_type_of(word) : GX_SCALAR_STRING;
    if (column->type != GX_SCALAR_COUNT) return GALE_OK;
    return gale_error_set(error, GALE_INVALID, "%s: %s: '%.*s' is no type (string, int, float, bool, auto)", who, what,
                          GX_STR(word));
}

static bool is_in(const char *fields, gale_str name) {
    gale_str rest = gx_str(fields), field;
    while (gx_str_next(&rest, ',', &field))
        if (gx_str_equal(field, name)) return true;
    return false;
}

/* The field that a column becomes goes out. */
static int add_output(settings *made, gale_str name, gale_error *error) {
    size_t size = strlen(made->fields_out);
    if (is_in(made->fields_out, name))
        return gale_error_set(error, GALE_INVALID, "%s: add: '%.*s' goes out already; give it another name with 'as'",
                              who, GX_STR(name));
    snprintf(made->fields_out + size, sizeof made->fields_out - size, ", %.*s", GX_STR(name));
    return GALE_OK;
}

/* One column of `by` or `add`. A key is compared as text, and so keeps its digits. */
static int read_column(settings *made, gale_str piece, bool is_by, uint32_t index, gale_error *error) {
    gx_lookup_column *column = is_by ? &made->shape.by[index] : &made->shape.add[index];
    gx_column given;
    const char *what = is_by ? "by" : "add", *wrong = gx_column_read(piece, &given);
    if (!wrong && !given.from.size) wrong = "is empty";
    if (!wrong && is_by && (given.name.size || given.type.size)) wrong = "is no column's name";
    if (wrong) return gale_error_set(error, GALE_INVALID, "%s: %s: '%.*s': %s", who, what, GX_STR(piece), wrong);
    column->from = given.from;
    uint32_t place = is_by ? index : GX_LOOKUP_COLUMNS + index;
    gx_json_numbers numbers = is_by ? GX_JSON_DIGITS : gx_column_numbers(given.type);
    if (made->shape.format != GX_LOOKUP_CSV && !gx_json_paths_add(&made->shape.paths, given.from, place, numbers))
        return gale_error_set(error, GALE_INVALID, "%s: %s: '%.*s' is no path", who, what, GX_STR(given.from));
    int rc = read_type(column, given.type, what, error);
    return rc < 0 || is_by ? rc : add_output(made, given.name.size ? given.name : given.from, error);
}

static int read_columns(settings *made, const char *given, bool is_by, gale_error *error) {
    uint32_t *count = is_by ? &made->shape.by_count : &made->shape.add_count;
    char *kept = is_by ? made->by_text : made->add_text;
    const char *what = is_by ? "by" : "add";
    if (!given || !*given) return gale_error_set(error, GALE_INVALID, "%s: %s names no column", who, what);
    if (strlen(given) >= GX_FIELDS_TEXT)
        return gale_error_set(error, GALE_INVALID, "%s: %s has %zu bytes, at most %d", who, what, strlen(given),
                              GX_FIELDS_TEXT - 1);
    memcpy(kept, given, strlen(given));
    gale_str rest = gx_str(kept), piece;
    int rc = GALE_OK;
    while (rc >= 0 && gx_str_next(&rest, ',', &piece)) {
        if (*count == GX_LOOKUP_COLUMNS)
            return gale_error_set(error, GALE_INVALID, "%s: %s names more than %d columns", who, what,
                                  GX_LOOKUP_COLUMNS);
        rc = read_column(made, piece, is_by, (*count)++, error);
    }
    return rc;
}

static bool ends(const char *path, const char *ending) {
    size_t size = strlen(path), more = strlen(ending);
    return size >= more && strcmp(path + size - more, ending) == 0;
}

static int read_format(settings *made, const gale_lookup_options *given, gale_error *error) {
    const char *format = given->format && *given->format                                 ? given->format
                         : ends(given->table, ".json")                                   ? "json"
                         : ends(given->table, ".jsonl") || ends(given->table, ".ndjson") ? "jsonl"
                                                                                         : "csv";
    const char *separator = given->separator ? given->separator : ends(given->table, ".tsv") ? "\t" : ",";
    if (strcmp(format, "csv") != 0 && strcmp(format, "json") != 0 && strcmp(format, "jsonl") != 0)
        return gale_error_set(error, GALE_INVALID, "%s: format '%s' is none of csv, json and jsonl", who, format);
    made->shape.format = strcmp(format, "csv") == 0    ? GX_LOOKUP_CSV
                         : strcmp(format, "json") == 0 ? GX_LOOKUP_JSON
                                                       : GX_LOOKUP_JSONL;
    made->shape.csv = (gx_csv_format){ strlen(separator) == 1 ? separator[0] : '\n', '"' };
    return gx_csv_check(made->shape.csv, who, error);
}

static int read_limits(settings *made, const gale_lookup_options *given, gale_error *error) {
    double seconds = given->refresh != 0 ? given->refresh : 1;
    if (!(seconds >= 0.01 && seconds <= 1e6))
        return gale_error_set(error, GALE_INVALID, "%s: refresh is %g seconds, must be 0.01 to 1e+06", who, seconds);
    if (given->missing < GALE_LOOKUP_NULL || given->missing > GALE_LOOKUP_STREAM)
        return gale_error_set(error, GALE_INVALID, "%s: missing is %d, which is no gale_lookup_missing", who,
                              given->missing);
    made->missing = given->missing;
    made->refresh = (int64_t)(seconds * 1e9);
    made->tick = gx_define_tick(1);
    made->tick.value = gale_f64(seconds);
    made->shape.max_rows = given->max_rows ? given->max_rows : 1000000;
    made->shape.max_bytes = given->max_bytes ? given->max_bytes : 64 << 20;
    return GALE_OK;
}

static int read_settings(settings *made, const gale_lookup_options *given, gale_error *error) {
    if (!given->table || !*given->table) return gale_error_set(error, GALE_INVALID, "%s: table is not given", who);
    if (strlen(given->table) > GX_FILE_PATH_MAX)
        return gale_error_set(error, GALE_INVALID, "%s: table: the path is longer than %d bytes", who,
                              GX_FILE_PATH_MAX);
    memcpy(made->path, given->table, strlen(given->table));
    made->shape.path = made->path;
    int rc = gx_fields_parse(given->fields, "lookup: fields", &made->fields, error);
    if (rc >= 0) rc = gx_fields_parse(given->key, "lookup: key", &made->key, error);
    if (rc >= 0) rc = read_format(made, given, error);
    if (rc >= 0) rc = read_limits(made, given, error);
    if (rc < 0) return rc;
    memcpy(made->fields_out, made->fields.text, strlen(made->fields.text));
    gx_json_paths_init(&made->shape.paths, made->shape.nodes);
    rc = read_columns(made, given->by && *given->by ? given->by : given->key, true, error);
    if (rc >= 0) rc = read_columns(made, given->add, false, error);
    if (rc >= 0 && made->shape.by_count != made->key.count)
        rc = gale_error_set(error, GALE_INVALID, "%s: by names %u columns, and key %u fields", who,
                            made->shape.by_count, made->key.count);
    return rc;
}

int gale_lookup_bolt(const gale_lookup_options *options, gale_bolt *ret_bolt, gale_error *error) {
    gale_lookup_options given;
    if (!ret_bolt) return gx_define_nowhere(who, error);
    int rc = gx_options_take(&given, sizeof given, options, "lookup: options", error);
    if (rc < 0) return rc;
    settings *made = calloc(1, sizeof *made);
    if (!made) return gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", who);
    rc = read_settings(made, &given, error);
    if (rc < 0) {
        free(made);
        return rc;
    }
    made->outputs[STREAM_FOUND] = (gale_output){ NULL, made->fields_out };
    made->outputs[STREAM_MISSING] = (gale_output){ "missing", made->fields.text };
    *ret_bolt = gx_define_bolt(&ops, made, made->outputs, made->missing == GALE_LOOKUP_STREAM ? 2 : 1);
    ret_bolt->settings = &made->tick;
    ret_bolt->setting_count = 1;
    return GALE_OK;
}
