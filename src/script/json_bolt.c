/* Documents of JSON to fields: gale_json_bolt. */
#include "base/nearest.h"
#include "base/utf8.h"
#include "kit/parsed.h"
#include "script/column.h"
#include "script/json_path.h"

#include <gale/state.h>
#include <gale_script.h>
#include <stdio.h>
#include <stdlib.h>

static const char who[] = "json bolt";

enum { DEFAULT_BYTES = 16 << 20, MOST_BYTES = 1 << 30 };

typedef struct settings {
    gx_parsed_settings parsed;
    uint64_t max_bytes;
    gx_json_path paths[GX_PARSED_COLUMNS];
    bool typed[GX_PARSED_COLUMNS];
    bool required[GX_PARSED_COLUMNS];
    char text[]; /* the fields', cut into the names of paths */
} settings;

typedef struct parser {
    gx_parsed parsed;
    gx_arena arena;
    bool no_memory;
} parser;

static const settings *given_to(const parser *bolt) {
    return (const settings *)(const void *)bolt->parsed.given;
}

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)out;
    const settings *given = user;
    parser *bolt = gx_parsed_instance(context, sizeof *bolt, &given->parsed);
    if (!bolt) return GALE_NO_MEMORY;
    bolt->arena.heap = &bolt->parsed.instance.heap;
    *ret_self = bolt;
    return GALE_OK;
}

static void bolt_cleanup(void *self) {
    parser *bolt = self;
    gx_arena_fini(&bolt->arena);
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

/* A value as it is, or what is wrong with it. */
static bool take_value(parser *bolt, const json_t *json, const char *what, gale_str name, gale_value *ret_value) {
    bool deep = false;
    if (gx_json_take(json, &bolt->arena, ret_value, &deep)) return true;
    bolt->no_memory = !deep;
    return problem(bolt, "%s '%.*s' is more than %d deep", what, GX_STR(name), GALE_VALUE_DEPTH);
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

static bool set_column(parser *bolt, const json_t *root, uint32_t column) {
    const settings *given = given_to(bolt);
    gale_str name = gx_parsed_name(&given->parsed, column);
    gale_value *value = &bolt->parsed.columns[column];
    const json_t *found = gx_json_path_find(&given->paths[column], root);
    *value = gale_null();
    if (found && !take_value(bolt, found, "field", name, value)) return false;
    if (given->required[column] && value->type == GALE_TYPE_NULL)
        return problem(bolt, "field '%.*s' is required, and not there", GX_STR(name));
    return !given->typed[column] || convert(bolt, column, value);
}

static bool set_all(parser *bolt, const json_t *root) {
    const gx_parsed_settings *given = bolt->parsed.given;
    gale_value whole;
    if (given->count && !json_is_object(root) && !json_is_array(root))
        return problem(bolt, "it is neither an object nor a list");
    for (uint32_t i = 0; i < given->count; i++)
        if (!set_column(bolt, root, i)) return false;
    if (!given->has_more) return true;
    if (!take_value(bolt, root, "the document", gx_parsed_name(given, given->count), &whole)) return false;
    gx_parsed_set_more(&bolt->parsed, whole);
    return true;
}

static json_t *parse(parser *bolt, gale_str text) {
    json_error_t error;
    const settings *given = given_to(bolt);
    if (text.size > given->max_bytes) {
        problem(bolt, "it has %zu bytes, at most %llu", text.size, (unsigned long long)given->max_bytes);
        return NULL;
    }
    json_t *root = json_loadb(text.data, text.size, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
    if (root) return root;
    bolt->no_memory = json_error_code(&error) == json_error_out_of_memory;
    problem(bolt, "%d:%d: %s", error.line, error.column, error.text);
    return NULL;
}

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    parser *bolt = self;
    gale_str text;
    if (gale_tuple_is_tick(tuple)) return 0;
    int rc = gx_parsed_take(&bolt->parsed, tuple, out, &text);
    if (rc <= 0) return rc;
    bolt->no_memory = false;
    json_t *root = parse(bolt, text);
    bool good = root && set_all(bolt, root);
    rc = good              ? gx_parsed_emit(&bolt->parsed, out)
         : bolt->no_memory ? GALE_NO_MEMORY
                           : gx_parsed_refuse(&bolt->parsed, bolt->parsed.problem, out);
    json_decref(root);
    gx_arena_reset(&bolt->arena);
    return rc;
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

/* "user.name as name int": the path goes to `made`, "name int" to `names`. */
static int read_field(settings *made, char *text, gale_str piece, uint32_t column, gx_buf *names, gale_error *error) {
    gx_column given;
    const char *wrong = gx_column_read(piece, &given);
    if (column == GX_PARSED_COLUMNS)
        return gale_error_set(error, GALE_INVALID, "%s: fields names more than %d", who, GX_PARSED_COLUMNS);
    if (wrong) return wrong_field(piece, wrong, error);
    memcpy(text, given.from.data, given.from.size);
    text[given.from.size] = 0;
    if (!gx_json_path_cut(text, &made->paths[column]))
        return wrong_field(piece, "a path is up to 16 names, none of them empty, with points between them", error);
    const gx_json_step *last = &made->paths[column].steps[made->paths[column].count - 1];
    if (!given.name.size && last->index != SIZE_MAX)
        return wrong_field(piece, "a place in a list needs a name: 'as NAME'", error);
    gale_str name = given.name.size ? given.name : gx_str(last->name);
    made->typed[column] = given.type.size > 0;
    gx_buf_format(names, "%s%.*s%s%.*s", column ? ", " : "", GX_STR(name), given.type.size ? " " : "",
                  GX_STR(given.type));
    return GALE_OK;
}

static int read_fields(settings *made, const char *fields, gx_buf *names, gale_error *error) {
    gale_str rest = gx_str(fields), piece;
    char *text = made->text;
    int rc = GALE_OK;
    for (uint32_t i = 0; rc >= 0 && rest.size && gx_str_next(&rest, ',', &piece); i++) {
        if (!piece.size) return gale_error_set(error, GALE_INVALID, "%s: fields has an empty name", who);
        rc = read_field(made, text, piece, i, names, error);
        text += piece.size + 1;
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
    settings *made = calloc(1, sizeof *made + (given.fields ? strlen(given.fields) : 0) + 1);
    if (!made) return gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", who);
    rc = read_settings(made, &given, error);
    if (rc < 0)
        free(made);
    else
        *ret_bolt = gx_parsed_define(&ops, &made->parsed);
    return rc;
}
