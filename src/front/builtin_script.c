#include "front/builtin.h"
#include "front/passing.h"
#include "front/table.h"

#include "base/str.h"

#if GALE_HAS_SCRIPT
#include <gale_script.h>
#include <stdio.h>
#include <string.h>

#define WORK_ROW                                                                                                       \
    GX_ROW(WHOLE, "work", "3000000", "what the expressions may do for one tuple", GX_RANGE(1, 1000000000000),          \
           .unit = "steps of about 10 ns")
#define MEMORY_ROW                                                                                                     \
    GX_ROW(WHOLE, "memory", "1048576", "what they may take for one tuple", GX_RANGE(4096, 268435456), .unit = "bytes")

static uint64_t work_of(const gx_args *args) {
    return (uint64_t)gx_args_whole(args, "work");
}

static uint64_t memory_of(const gx_args *args) {
    return (uint64_t)gx_args_whole(args, "memory");
}

/* --- Filter --- */

static const gx_param filter_params[] = {
    GX_ROW(TEXT, "where", NULL, "an expression; what it is true of passes", .example = "status >= 500"),
    GX_PASSING_ROW,
    WORK_ROW,
    MEMORY_ROW,
};

static int make_filter(const gx_args *args, gale_bolt *ret, gale_error *error) {
    char room[GX_PASSING_TEXT];
    const char *fields;
    int rc = gx_passing_fields(args, room, &fields, error);
    if (rc < 0) return rc;
    gale_filter_options options = { .size = sizeof options,
                                    .fields = fields,
                                    .where = gx_args_text(args, "where"),
                                    .work = work_of(args),
                                    .memory = memory_of(args) };
    return gale_filter_bolt(&options, ret, error);
}

/* --- Names and their expressions --- */

enum { TEXTS = 65536 };

/* The pairs of a map, as the C functions take them: names, and expressions, which a file may also give as a number or as true. */
typedef struct pairs {
    size_t count;
    const char *names[GALE_SCRIPT_EXPRESSIONS_MAX], *texts[GALE_SCRIPT_EXPRESSIONS_MAX];
    size_t used;
    char room[TEXTS];
} pairs;

static const char *keep(pairs *p, const char *text, size_t size) {
    if (p->used + size + 1 > sizeof p->room) return NULL;
    char *kept = p->room + p->used;
    memcpy(kept, text, size);
    kept[size] = 0;
    p->used += size + 1;
    return kept;
}

static const char *keep_value(pairs *p, const gale_value *value) {
    char number[GALE_NUMBER_TEXT];
    gale_str text;
    if (value->type == GALE_TYPE_NULL) return keep(p, "nil", 3);
    return value->type != GALE_TYPE_BYTES && gale_value_text(value, number, &text) ? keep(p, text.data, text.size)
                                                                                   : NULL;
}

static int take_pairs(const gx_args *args, const char *name, pairs *p, gale_error *error) {
    const gale_value *map = gx_args_value(args, name);
    gale_str key;
    gale_value value;
    p->count = p->used = 0;
    for (size_t i = 0; map->type == GALE_TYPE_MAP && gale_map_at(map, i, &key, &value); i++) {
        if (i == GALE_SCRIPT_EXPRESSIONS_MAX)
            return gale_error_set(error, GALE_TOO_LARGE, "%s: more than %d expressions", name,
                                  GALE_SCRIPT_EXPRESSIONS_MAX);
        p->names[i] = keep(p, key.data, key.size);
        p->texts[i] = keep_value(p, &value);
        if (!p->names[i] || !p->texts[i])
            return gale_error_set(error, GALE_INVALID, "%s: what stands under '%.*s' is no expression, or too long",
                                  name, (int)key.size, key.data);
        p->count++;
    }
    return GALE_OK;
}

/* --- Route --- */

static const gx_param route_params[] = {
    GX_ROW(MAP, "routes", NULL, "streams, and the expression of which what goes there is true",
           .example = "{ errors: status >= 500, slow: ms > 1000 }"),
    GX_PASSING_ROW,
    GX_ROW(BOOL, "all", "false", "to all streams whose expression is true, not to the first alone"),
    WORK_ROW,
    MEMORY_ROW,
};

static int make_route(const gx_args *args, gale_bolt *ret, gale_error *error) {
    char room[GX_PASSING_TEXT];
    const char *fields;
    pairs p;
    gale_route routes[GALE_SCRIPT_EXPRESSIONS_MAX];
    int rc = take_pairs(args, "routes", &p, error);
    if (rc >= 0) rc = gx_passing_fields(args, room, &fields, error);
    if (rc < 0) return rc;
    for (size_t i = 0; i < p.count; i++) routes[i] = (gale_route){ p.names[i], p.texts[i] };
    gale_route_options options = { .size = sizeof options,
                                   .fields = fields,
                                   .routes = routes,
                                   .route_count = p.count,
                                   .all = gx_args_flag(args, "all"),
                                   .work = work_of(args),
                                   .memory = memory_of(args) };
    return gale_route_bolt(&options, ret, error);
}

/* --- Map --- */

static const gx_param map_params[] = {
    GX_ROW(MAP, "set", "",
           "names of fields, new or not, and the expressions that they become; a later one may use earlier ones",
           .example = "{ kb: bytes / 1024, class: status // 100 }"),
    GX_PASSING_ROW,
    GX_ROW(FIELDS, "keep", "", "input fields that go out, beside those of `set`; none: all",
           .example = "[path, bytes]"),
    GX_ROW(FIELDS, "drop", "", "fields that do not go out", .roles = GX_PARAM_INPUT, .example = "[agent]"),
    GX_ROW(TEXT, "rename", "", "fields that go out under another name", .example = "'path as page, bytes as size'"),
    WORK_ROW,
    MEMORY_ROW,
};

/* The input's fields, as far as expressions may use them; how many. */
static size_t input_types(const gx_args *args, gale_typed_name *names) {
    gale_str rest = gx_str(args->input_count ? args->inputs[0].fields : NULL), name;
    size_t count = 0;
    while (count < GALE_SCRIPT_FIELDS_MAX && rest.size && gx_str_next(&rest, ',', &name)) {
        gx_typed_field field = { .name = name };
        gx_args_take_types(args, name, &field);
        names[count++] = (gale_typed_name){ name, field.types };
    }
    return count;
}

/* Of what is set, and of what goes out under another name. */
static bool map_gives(const gx_args *args, gale_str *field, uint32_t *ret_types) {
    enum { NAMES = GALE_SCRIPT_FIELDS_MAX + GALE_SCRIPT_EXPRESSIONS_MAX };
    gale_typed_name names[NAMES];
    pairs p;
    size_t count = input_types(args, names);
    if (take_pairs(args, "set", &p, NULL) < 0) p.count = 0;
    for (size_t i = 0; i < p.count; i++) {
        uint32_t types = gale_expression_types(p.texts[i], names, count);
        names[count++] = (gale_typed_name){ gx_str(p.names[i]), types };
        if (!gx_str_is(*field, p.names[i])) continue;
        *ret_types = types;
        return true;
    }
    gale_str rest = gx_str(gx_args_text(args, "rename")), piece;
    while (rest.size && gx_str_next(&rest, ',', &piece))
        for (size_t i = 1; i + 4 < piece.size; i++)
            if (memcmp(piece.data + i, " as ", 4) == 0 &&
                gx_str_equal(gx_str_trim((gale_str){ piece.data + i + 4, piece.size - i - 4 }), *field)) {
                *field = gx_str_trim((gale_str){ piece.data, i });
                return false;
            }
    return false;
}

static int make_map(const gx_args *args, gale_bolt *ret, gale_error *error) {
    char room[GX_PASSING_TEXT];
    const char *fields;
    pairs p;
    gale_assignment set[GALE_SCRIPT_EXPRESSIONS_MAX];
    int rc = take_pairs(args, "set", &p, error);
    if (rc >= 0) rc = gx_passing_fields(args, room, &fields, error);
    if (rc < 0) return rc;
    for (size_t i = 0; i < p.count; i++) set[i] = (gale_assignment){ p.names[i], p.texts[i] };
    gale_map_options options = { .size = sizeof options,
                                 .fields = fields,
                                 .set = set,
                                 .set_count = p.count,
                                 .keep = gx_args_text(args, "keep"),
                                 .drop = gx_args_text(args, "drop"),
                                 .rename = gx_args_text(args, "rename"),
                                 .work = work_of(args),
                                 .memory = memory_of(args) };
    return gale_map_bolt(&options, ret, error);
}

/* --- Flat map --- */

static const gx_param flat_map_params[] = {
    GX_ROW(TEXT, "each", NULL, "an expression that returns a list; each item becomes a tuple",
           .example = "\"split(tags, ',')\""),
    GX_ROW(FIELDS, "as", NULL, "the fields of an item", .roles = GX_PARAM_OUTPUT, .gives = "any", .example = "[tag]"),
    GX_PASSING_ROW,
    GX_ROW(FIELDS, "keep", "", "fields that go out before it", .roles = GX_PARAM_INPUT | GX_PARAM_PASSES,
           .example = "[path]"),
    WORK_ROW,
    MEMORY_ROW,
};

static int make_flat_map(const gx_args *args, gale_bolt *ret, gale_error *error) {
    char room[GX_PASSING_TEXT];
    const char *fields;
    int rc = gx_passing_fields(args, room, &fields, error);
    if (rc < 0) return rc;
    gale_flat_map_options options = { .size = sizeof options,
                                      .fields = fields,
                                      .each = gx_args_text(args, "each"),
                                      .as = gx_args_text(args, "as"),
                                      .keep = gx_args_text(args, "keep"),
                                      .work = work_of(args),
                                      .memory = memory_of(args) };
    return gale_flat_map_bolt(&options, ret, error);
}

/* --- Join lines --- */

static const gx_param join_lines_params[] = {
    GX_ROW(TEXT, "start", "", "a pattern; a line that it is found in begins an event", .example = "'^\\d{4}-'"),
    GX_ROW(TEXT, "continue", "", "or: one that it is found in belongs to the line before", .example = "'^\\s'"),
    GX_ROW(TEXT, "end", "", "or: one that it is found in is the last of its event", .example = "';$'"),
    GX_ROW(FIELD, "field", "", "the field that has the lines; none: the first", .roles = GX_PARAM_INPUT,
           .takes = GX_TEXT, .nth = 1, .example = "line"),
    GX_ROW(FIELDS, "key", "", "lines of which these differ do not mix; none: all are of one", .roles = GX_PARAM_INPUT,
           .example = "[file]"),
    GX_ROW(FIELDS, "fields", "", "the fields that come in and go out; none: all that every input has",
           .roles = GX_PARAM_INPUT | GX_PARAM_PASSES, .example = "[file, line]"),
    GX_ROW(TEXT, "separator", "", "what stands between two lines of an event; by default a newline", .example = "' '"),
    GX_ROW(SECONDS, "timeout", "1", "an event that gets no more for so long is emitted", .roles = GX_PARAM_ABOVE,
           GX_RANGE(0, 1000000), .example = "5s"),
    GX_ROW(WHOLE, "maxLines", "500", "an event with so many is cut", GX_RANGE(1, UINT32_MAX), .unit = "lines"),
    GX_ROW(WHOLE, "maxBytes", "1048576", "an event that would be larger is cut", GX_RANGE(1, INT64_MAX),
           .unit = "bytes"),
    GX_ROW(WHOLE, "maxKeys", "1000",
           "events of so many keys are open in a task; for another one, that which has waited longest is emitted",
           GX_RANGE(1, INT64_MAX)),
};

static bool joins_lines(const gx_args *args) {
    (void)args;
    return true;
}

static int make_join_lines(const gx_args *args, gale_bolt *ret, gale_error *error) {
    char room[GX_PASSING_TEXT];
    const char *fields;
    int rc = gx_passing_fields(args, room, &fields, error);
    if (rc < 0) return rc;
    gale_join_lines_options options = { .size = sizeof options,
                                        .fields = fields,
                                        .field = gx_args_text(args, "field"),
                                        .key = gx_args_text(args, "key"),
                                        .start = gx_args_text(args, "start"),
                                        .go_on = gx_args_text(args, "continue"),
                                        .end = gx_args_text(args, "end"),
                                        .separator = gx_args_text(args, "separator"),
                                        .timeout = gx_args_number(args, "timeout"),
                                        .max_lines = (uint32_t)gx_args_whole(args, "maxLines"),
                                        .max_bytes = (uint64_t)gx_args_whole(args, "maxBytes"),
                                        .max_keys = (uint64_t)gx_args_whole(args, "maxKeys") };
    return gale_join_lines_bolt(&options, ret, error);
}

/* --- Regex --- */

#define TEXT_ROW(what)                                                                                                 \
    GX_ROW(FIELD, "field", "", "the field that has " what "; none: the first", .roles = GX_PARAM_INPUT,                \
           .takes = GX_TEXT, .nth = 1, .example = "line")
#define KEEP_ROW                                                                                                       \
    GX_ROW(FIELDS, "keep", "", "fields of the input that go out before them",                                          \
           .roles = GX_PARAM_INPUT | GX_PARAM_PASSES, .example = "[offset]")

static const gx_param regex_params[] = {
    GX_ROW(TEXT, "pattern", NULL, "a regular expression of PCRE2 with named groups",
           .example = "'^(?<host>\\S+) (?<status>\\d+)'"),
    GX_ROW(
        FIELDS, "fields", "",
        "groups that go out; none: all that have a name; each perhaps with its type: string (the default), int, float, "
        "bool, auto",
        .roles = GX_PARAM_COLUMNS, .gives = GX_TEXT, .example = "[host, status int]"),
    TEXT_ROW("the text"),
    KEEP_ROW,
};

static int make_regex(const gx_args *args, gale_bolt *ret, gale_error *error) {
    gale_regex_options options = { .size = sizeof options,
                                   .field = gx_args_text(args, "field"),
                                   .pattern = gx_args_text(args, "pattern"),
                                   .fields = gx_args_text(args, "fields"),
                                   .keep = gx_args_text(args, "keep") };
    return gale_regex_bolt(&options, ret, error);
}

/* --- Json --- */

static const gx_param json_params[] = {
    GX_ROW(FIELDS, "fields", "", "paths in the document; none: all of it; each perhaps with `as NAME` and a type",
           .roles = GX_PARAM_COLUMNS, .example = "[user.name as name, status int, tags.0 as first]"),
    GX_ROW(FIELD, "document", "", "a field for the whole document; by default `doc` where there are no `fields`",
           .also = "as", .roles = GX_PARAM_OUTPUT, .gives = "any", .example = "doc"),
    GX_ROW(FIELDS, "required", "", "of `fields`, those without which a document is bad", .example = "[name]"),
    TEXT_ROW("the text"),
    KEEP_ROW,
    GX_ROW(WHOLE, "maxBytes", "16777216", "a larger document is bad", GX_RANGE(1, 1073741824), .unit = "bytes"),
};

static int make_json(const gx_args *args, gale_bolt *ret, gale_error *error) {
    gale_json_options options = { .size = sizeof options,
                                  .field = gx_args_text(args, "field"),
                                  .fields = gx_args_text(args, "fields"),
                                  .document = gx_args_text(args, "document"),
                                  .required = gx_args_text(args, "required"),
                                  .keep = gx_args_text(args, "keep"),
                                  .max_bytes = (uint64_t)gx_args_whole(args, "maxBytes") };
    return gale_json_bolt(&options, ret, error);
}

/* --- Lookup --- */

static const gx_param lookup_params[] = {
    GX_ROW(TEXT, "table", NULL, "a file: CSV with a line of names, JSON, or JSON a line", .roles = GX_PARAM_READS,
           .example = "hosts.csv"),
    GX_ROW(FIELDS, "key", NULL, "fields that say which row", .roles = GX_PARAM_INPUT, .example = "[ip]"),
    GX_ROW(FIELDS, "add", NULL,
           "columns that become fields; each perhaps with `as NAME` and a type: string, int, float, bool, auto",
           .roles = GX_PARAM_COLUMNS, .example = "[city, country as land, asn int]"),
    GX_ROW(FIELDS, "by", "", "the table's columns of the key, in its order; none: they have its names",
           .example = "[address]"),
    GX_PASSING_ROW,
    GX_ROW(WORD, "missing", "null",
           "where there is no row: the columns are null, the tuple is dropped, fails, or goes to the stream `missing`",
           .words = "null drop fail stream"),
    GX_ROW(TEXT, "format", "", "csv, json or jsonl; by default the file's ending says it", .example = "csv"),
    GX_ROW(TEXT, "separator", "", "of CSV, one character; by default a comma, of .tsv a tab", .example = "';'"),
    GX_ROW(SECONDS, "refresh", "1", "how often it is looked whether the file has changed", .roles = GX_PARAM_ABOVE,
           GX_RANGE(0, 1000000), .example = "1m"),
    GX_ROW(WHOLE, "maxRows", "1000000", "a table with more is refused", GX_RANGE(1, INT64_MAX), .unit = "rows"),
    GX_ROW(WHOLE, "maxBytes", "67108864", "a larger file is refused", GX_RANGE(1, INT64_MAX), .unit = "bytes"),
};

static int32_t missing_of(const gx_args *args) {
    if (gx_args_is(args, "missing", "drop")) return GALE_LOOKUP_DROP;
    if (gx_args_is(args, "missing", "fail")) return GALE_LOOKUP_FAIL;
    return gx_args_is(args, "missing", "stream") ? GALE_LOOKUP_STREAM : GALE_LOOKUP_NULL;
}

static int make_lookup(const gx_args *args, gale_bolt *ret, gale_error *error) {
    char room[GX_PASSING_TEXT];
    const char *fields;
    int rc = gx_passing_fields(args, room, &fields, error);
    if (rc < 0) return rc;
    gale_lookup_options options = { .size = sizeof options,
                                    .table = gx_args_text(args, "table"),
                                    .fields = fields,
                                    .key = gx_args_text(args, "key"),
                                    .by = gx_args_text(args, "by"),
                                    .add = gx_args_text(args, "add"),
                                    .format = gx_args_text(args, "format"),
                                    .separator = gx_args_text(args, "separator"),
                                    .missing = missing_of(args),
                                    .refresh = gx_args_number(args, "refresh"),
                                    .max_rows = (uint64_t)gx_args_whole(args, "maxRows"),
                                    .max_bytes = (uint64_t)gx_args_whole(args, "maxBytes") };
    return gale_lookup_bolt(&options, ret, error);
}

static const gx_class classes[] = {
    { .name = "gale.bolt.Filter",
      .kind = GX_CLASS_BOLT,
      GX_PARAMS(filter_params),
      .text = "passes on the tuples of which an expression is true",
      .make_bolt = make_filter },
    { .name = "gale.bolt.Route",
      .kind = GX_CLASS_BOLT,
      GX_PARAMS(route_params),
      .text = "sends tuples to streams by conditions; what meets none goes to the default stream",
      .make_bolt = make_route },
    { .name = "gale.bolt.Map",
      .kind = GX_CLASS_BOLT,
      GX_PARAMS(map_params),
      .gives = map_gives,
      .text = "computes fields by expressions; keeps, drops and renames others",
      .make_bolt = make_map },
    { .name = "gale.bolt.FlatMap",
      .kind = GX_CLASS_BOLT,
      GX_PARAMS(flat_map_params),
      .text = "makes many tuples of one",
      .make_bolt = make_flat_map },
    { .name = "gale.bolt.JoinLines",
      .kind = GX_CLASS_BOLT,
      GX_PARAMS(join_lines_params),
      .joins = joins_lines,
      .text = "joins lines that belong together, as a stack trace's, to one tuple; a pattern says which",
      .make_bolt = make_join_lines },
    { .name = "gale.bolt.Regex",
      .kind = GX_CLASS_BOLT,
      GX_PARAMS(regex_params),
      .types = "bad.line string bytes, bad.problem string",
      .text =
          "makes fields of a text by a pattern's named groups; what is none goes to the stream `bad` (line, problem)",
      .make_bolt = make_regex },
    { .name = "gale.bolt.Lookup",
      .kind = GX_CLASS_BOLT,
      GX_PARAMS(lookup_params),
      .text = "adds fields from a table in a file, which is read again when it changes",
      .make_bolt = make_lookup },
    { .name = "gale.bolt.Json",
      .kind = GX_CLASS_BOLT,
      GX_PARAMS(json_params),
      .types = "bad.line string bytes, bad.problem string",
      .text = "makes fields of JSON; what is none goes to the stream `bad` (line, problem)",
      .make_bolt = make_json },
};

const gx_class_table gx_builtin_script = { classes, sizeof classes / sizeof *classes };

#else
const gx_class_table gx_builtin_script = { NULL, 0 };
#endif
