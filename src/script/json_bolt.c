/* Documents of JSON to fields: gale_json_bolt. */
#include "base/nearest.h"
#include "base/utf8.h"
#include "kit/parsed.h"
#include "script/column.h"

#include <gale/state.h>
#include <gale_script.h>
#include <stdio.h>
#include <stdlib.h>

static const char who[] = "json bolt";

enum { DEFAULT_BYTES = 16 << 20, MOST_BYTES = 1 << 30 };

typedef struct settings {
    gx_parsed_settings parsed;
    uint64_t max_bytes;
    gx_json_paths paths;
    bool typed[GX_PARSED_COLUMNS];
    bool required[GX_PARSED_COLUMNS];
    gx_json_node nodes[]; /* of the paths, and behind them the text of the fields, in which their names are */
} settings;

typedef struct parser {
    gx_parsed parsed;
    gx_json_reader reader;
} parser;

static const settings *given_to(const parser *bolt) {
    return (const settings *)(const void *)bolt->parsed.given;
}

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)out;
    const settings *given = user;
    parser *bolt = gx_parsed_instance(context, sizeof *bolt, &given->parsed);
    if (!bolt) return GALE_NO_MEMORY;
    gx_json_reader_init(&bolt->reader, &bolt->parsed.instance.heap);
    *ret_self = bolt;
    return GALE_OK;
}

static void bolt_cleanup(void *self) {
    parser *bolt = self;
    gx_json_reader_fini(&bolt->reader);
    gx_parsed_instance_free(bolt);
}

/* --- A document --- */

static bool problem(parser *bolt, const char *format, ...) GALE_PRINTF(2, 3);
static bool problem(parser *bolt, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(bolt->parsed.problem, sizeof bolt->parsed.problem, format, arguments);
    va_end(arguments);
    bolt->parsed.problem[gx_utf8_prefix(bolt->parsed.problem, strlen(bolt->parsed.problem))] = 0;
    return false;
}

/* Makes a value of the column's type of it. */
static bool convert(parser *bolt, uint32_t column, gale_value *value) {
    int32_t type = bolt->parsed.given->columns[column].type;
    gale_str name = gx_parsed_name(bolt->parsed.given, column);
    gale_value was = *value;
    if (gx_column_convert(type, value)) return true;
    if (was.type == GALE_TYPE_STRING)
        return gx_parsed_set(&bolt->parsed, column, gx_value_str(&was)); /* says why not */
    return problem(bolt, "field '%.*s': %s is no %s", GX_STR(name), gale_type_name(was.type), gx_scalar_name(type));
}

static bool finish_column(parser *bolt, uint32_t column) {
    const settings *given = given_to(bolt);
    gale_value *value = &bolt->parsed.columns[column];
    if (given->required[column] && value->type == GALE_TYPE_NULL)
        return problem(bolt, "field '%.*s' is required, and not there", GX_STR(gx_parsed_name(&given->parsed, column)));
    return !given->typed[column] || convert(bolt, column, value);
}

static bool is_utf8(parser *bolt, gale_str text) {
    size_t line, column, valid = bolt->parsed.is_text ? text.size : gx_utf8_prefix(text.data, text.size);
    if (valid == text.size) return true;
    gx_json_scan_where(text, text.data + valid, &line, &column);
    return problem(bolt, "%zu:%zu: the bytes are not UTF-8", line, column);
}

/* The first character that is no blank begins an object or a list. */
static bool has_members(gale_str text) {
    gx_json_scan scan = gx_json_scan_of(text);
    gx_json_scan_blanks(&scan);
    return scan.at < scan.end && (*scan.at == '{' || *scan.at == '[');
}

/* Sets all columns. 0: what is wrong is said. */
static int read_all(parser *bolt, gale_str text) {
    const settings *given = given_to(bolt);
    if (text.size > given->max_bytes)
        return problem(bolt, "it has %zu bytes, at most %llu", text.size, (unsigned long long)given->max_bytes);
    if (!is_utf8(bolt, text)) return 0;
    int rc = gx_json_read(&bolt->reader, text, &given->paths, bolt->parsed.columns);
    if (rc == GALE_INVALID)
        return problem(bolt, "%zu:%zu: %s", bolt->reader.line, bolt->reader.column, bolt->reader.wrong);
    if (rc < 0) return rc;
    if (given->parsed.count && !has_members(text)) return problem(bolt, "it is neither an object nor a list");
    for (uint32_t i = 0; i < given->parsed.count; i++)
        if (!finish_column(bolt, i)) return 0;
    return 1;
}

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    parser *bolt = self;
    gale_str text;
    if (gale_tuple_is_tick(tuple)) return 0;
    int rc = gx_parsed_take(&bolt->parsed, tuple, out, &text);
    if (rc <= 0) return rc;
    rc = read_all(bolt, text);
    if (rc < 0) return rc;
    return rc ? gx_parsed_emit(&bolt->parsed, out) : gx_parsed_refuse(&bolt->parsed, bolt->parsed.problem, out);
}

static const gale_bolt_ops ops = {
    .size = sizeof(gale_bolt_ops),
    .name = "json bolt",
    .kind = GALE_BOLT_SIMPLE,
    .prepare = bolt_prepare,
    .execute = bolt_execute,
    .cleanup = bolt_cleanup,
    .durable = &gale_stateless,
};

/* --- The definition --- */

static int wrong_field(gale_str piece, const char *what, gale_error *error) {
    return gale_error_set(error, GALE_INVALID, "%s: fields: '%.*s': %s", who, GX_STR(piece), what);
}

static gale_str last_name(gale_str path) {
    const char *point = memrchr(path.data, '.', path.size);
    return point ? (gale_str){ point + 1, path.size - (size_t)(point + 1 - path.data) } : path;
}

/* "$.user.name", "items[0]": as JSONPath and JavaScript have it. Nothing would be found there. */
static bool is_json_path(gale_str path) {
    const char *open = memchr(path.data, '[', path.size);
    bool rooted = path.size && path.data[0] == '$' && (path.size == 1 || path.data[1] == '.' || path.data[1] == '[');
    return rooted || (open && memchr(open, ']', path.size - (size_t)(open - path.data)));
}

/* "user.name as name int": the path goes to `made`, "name int" to `names`. */
static int read_field(settings *made, gale_str piece, uint32_t column, gx_buf *names, gale_error *error) {
    gx_column given;
    uint64_t index;
    const char *wrong = gx_column_read(piece, &given);
    if (column == GX_PARSED_COLUMNS)
        return gale_error_set(error, GALE_INVALID, "%s: fields names more than %d", who, GX_PARSED_COLUMNS);
    if (wrong) return wrong_field(piece, wrong, error);
    if (is_json_path(given.from))
        return wrong_field(piece,
                           "a path is names and places with points between them: user.name for $.user.name, "
                           "items.0.id for items[0].id",
                           error);
    if (!gx_json_paths_add(&made->paths, given.from, column, gx_column_numbers(given.type)))
        return wrong_field(piece, "a path is up to 16 names, none of them empty, with points between them", error);
    gale_str name = given.name.size ? given.name : last_name(given.from);
    if (!given.name.size && gx_str_number(name, 10, SIZE_MAX - 1, &index))
        return wrong_field(piece, "a place in a list needs a name: 'as NAME'", error);
    made->typed[column] = given.type.size > 0;
    gx_buf_format(names, "%s%.*s%s%.*s", column ? ", " : "", GX_STR(name), given.type.size ? " " : "",
                  GX_STR(given.type));
    return GALE_OK;
}

static int read_fields(settings *made, const char *fields, gx_buf *names, gale_error *error) {
    gale_str rest = gx_str(fields), piece;
    int rc = GALE_OK;
    for (uint32_t i = 0; rc >= 0 && rest.size && gx_str_next(&rest, ',', &piece); i++) {
        if (!piece.size) return gale_error_set(error, GALE_INVALID, "%s: fields has an empty name", who);
        rc = read_field(made, piece, i, names, error);
    }
    return rc;
}

static int find_required(settings *made, gale_str name, gale_error *error) {
    gx_nearest nearest = gx_nearest_to(name);
    char hint[100];
    for (uint32_t i = 0; i < made->parsed.count; i++) {
        gx_nearest_offer(&nearest, gx_parsed_name(&made->parsed, i));
        if (!gx_str_equal(gx_parsed_name(&made->parsed, i), name)) continue;
        made->required[i] = true;
        return GALE_OK;
    }
    return gale_error_set(error, GALE_INVALID, "%s: required: '%.*s' is none of the fields%s", who, GX_STR(name),
                          gx_nearest_hint(&nearest, hint, sizeof hint));
}

static int read_settings(settings *made, const gale_json_options *given, gale_error *error) {
    gx_buf names = GX_BUF_INIT(NULL);
    bool none = !given->fields || !*given->fields;
    const char *document = given->document && *given->document ? given->document : none ? "doc" : NULL;
    made->parsed.who = who;
    made->parsed.what = "JSON as it is wanted";
    made->max_bytes = given->max_bytes ? given->max_bytes : DEFAULT_BYTES;
    if (made->max_bytes > MOST_BYTES)
        return gale_error_set(error, GALE_INVALID, "%s: max_bytes is %llu, at most %d", who,
                              (unsigned long long)made->max_bytes, MOST_BYTES);
    int rc = none ? GALE_OK : read_fields(made, given->fields, &names, error);
    gx_parsed_options parsed = { .field = given->field,
                                 .fields = gx_buf_text(&names),
                                 .keep = given->keep,
                                 .more = document,
                                 .more_option = "document" };
    if (rc >= 0 && !parsed.fields) rc = gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", who);
    if (rc >= 0) rc = gx_parsed_settings_read(&made->parsed, &parsed, error);
    if (rc >= 0 && made->parsed.has_more) /* the column behind the others */
        gx_json_paths_add(&made->paths, gx_str(""), made->parsed.count, GX_JSON_DIGITS);
    gx_buf_fini(&names);
    gale_str rest = gx_str(given->required), name;
    while (rc >= 0 && rest.size && gx_str_next(&rest, ',', &name)) rc = find_required(made, name, error);
    return rc;
}

int gale_json_bolt(const gale_json_options *options, gale_bolt *ret_bolt, gale_error *error) {
    gale_json_options given;
    if (!ret_bolt) return gx_define_nowhere(who, error);
    int rc = gx_options_take(&given, sizeof given, options, "json bolt: options", error);
    if (rc < 0) return rc;
    gale_str fields = gx_str(given.fields);
    size_t nodes = gx_json_paths_room(fields);
    settings *made = calloc(1, sizeof *made + nodes * sizeof *made->nodes + fields.size + 1);
    if (!made) return gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", who);
    gx_json_paths_init(&made->paths, made->nodes);
    if (fields.size) given.fields = memcpy(&made->nodes[nodes], fields.data, fields.size);
    rc = read_settings(made, &given, error);
    if (rc < 0)
        free(made);
    else
        *ret_bolt = gx_parsed_define(&ops, &made->parsed);
    return rc;
}
