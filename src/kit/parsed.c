#include "kit/parsed.h"

#include "base/encoding.h"
#include "base/nearest.h"
#include "base/utf8.h"

#include <stdio.h>

/* --- Settings --- */

static bool has_name(const gx_parsed_settings *settings, gale_str name) {
    for (uint32_t i = 0; i < settings->keep.count; i++)
        if (gx_str_equal(gx_fields_name(&settings->keep, i), name)) return true;
    for (uint32_t i = 0; i < settings->count; i++)
        if (gx_str_equal(gx_parsed_name(settings, i), name)) return true;
    return false;
}

/* Appends a name to those that go out; where it stands, -1 when there is no room. */
static int32_t add_text(gx_parsed_settings *settings, gale_str name) {
    const char *comma = settings->text_size ? ", " : "";
    uint32_t at = settings->text_size + (uint32_t)strlen(comma);
    if (at + name.size + 1 > sizeof settings->text) return -1;
    snprintf(settings->text + settings->text_size, sizeof settings->text - settings->text_size, "%s%.*s", comma,
             GX_STR(name));
    settings->text_size = at + (uint32_t)name.size;
    return (int32_t)at;
}

static int add_name(gx_parsed_settings *settings, const char *what, gale_str name, int32_t type, gale_error *error) {
    if (has_name(settings, name))
        return gale_error_set(error, GALE_INVALID, "%s: %s: '%.*s' goes out already", settings->who, what,
                              GX_STR(name));
    int32_t at = add_text(settings, name);
    if (at < 0)
        return gale_error_set(error, GALE_INVALID, "%s: the names of its fields have more than %d bytes", settings->who,
                              GX_PARSED_TEXT);
    settings->columns[settings->count] = (gx_parsed_column){ (uint16_t)at, (uint16_t)name.size, type };
    return GALE_OK;
}

static int no_type(const gx_parsed_settings *settings, gale_str word, gale_str piece, gale_error *error) {
    gx_nearest nearest = gx_nearest_to(word);
    char hint[100];
    for (int32_t i = 0; i < GX_SCALAR_COUNT; i++) gx_nearest_offer(&nearest, gx_str(gx_scalar_name(i)));
    return gale_error_set(error, GALE_INVALID,
                          "%s: fields: '%.*s' is no type of '%.*s' (string, int, float, bool, auto)%s", settings->who,
                          GX_STR(word), GX_STR(piece), gx_nearest_hint(&nearest, hint, sizeof hint));
}

static gale_str next_word(gale_str *rest) {
    gale_str word = gx_str_trim(*rest);
    size_t end = 0;
    while (end < word.size && word.data[end] != ' ' && word.data[end] != '\t') end++;
    *rest = (gale_str){ word.data + end, word.size - end };
    return (gale_str){ word.data, end };
}

/* What is written elsewhere: "old as new", "n:int". Who has a name like "n:int" gives it a type. */
static int check_words(const gx_parsed_settings *settings, gale_str piece, gale_error *error) {
    gale_str rest = piece, name = next_word(&rest), second = next_word(&rest), third = next_word(&rest);
    if ((gx_str_is(second, "as") && third.size) || gx_str_is(third, "as"))
        return gale_error_set(error, GALE_INVALID,
                              "%s: fields: '%.*s': it has no 'as' to rename with; gale.bolt.Map renames", settings->who,
                              GX_STR(piece));
    if (third.size)
        return gale_error_set(error, GALE_INVALID, "%s: fields: '%.*s' is neither 'name' nor 'name type'",
                              settings->who, GX_STR(piece));
    const char *colon = memchr(name.data, ':', name.size);
    if (!colon) return GALE_OK;
    gale_str before = { name.data, (size_t)(colon - name.data) };
    gale_str type = colon + 1 < name.data + name.size ? (gale_str){ colon + 1, name.size - before.size - 1 } : second;
    if (gx_scalar_type_of(type) == GX_SCALAR_COUNT || (type.data != second.data && second.size)) return GALE_OK;
    return gale_error_set(error, GALE_INVALID, "%s: fields: '%.*s': a type stands behind a blank: '%.*s %.*s'",
                          settings->who, GX_STR(piece), GX_STR(before), GX_STR(type));
}

/* "status int" */
static int add_column(gx_parsed_settings *settings, gale_str piece, gale_error *error) {
    gale_str rest = piece, name = next_word(&rest), word = next_word(&rest);
    int32_t type = word.size ? gx_scalar_type_of(word) : GX_SCALAR_STRING;
    if (!name.size) return gale_error_set(error, GALE_INVALID, "%s: fields has an empty name", settings->who);
    int rc = check_words(settings, piece, error);
    if (rc < 0) return rc;
    if (type == GX_SCALAR_COUNT) return no_type(settings, word, piece, error);
    if (settings->count == GX_PARSED_COLUMNS)
        return gale_error_set(error, GALE_INVALID, "%s: fields names more than %d", settings->who, GX_PARSED_COLUMNS);
    rc = add_name(settings, "fields", name, type, error);
    if (rc >= 0) settings->count++;
    return rc;
}

static int read_input(gx_parsed_settings *settings, const gx_parsed_options *given, gale_error *error) {
    char what[80];
    snprintf(what, sizeof what, "%s: field", settings->who);
    int rc = gx_fields_parse_one(given->field, what, &settings->field, error);
    snprintf(what, sizeof what, "%s: keep", settings->who);
    if (rc >= 0 && given->keep && *given->keep) rc = gx_fields_parse(given->keep, what, &settings->keep, error);
    for (uint32_t i = 0; rc >= 0 && i < settings->keep.count; i++)
        (void)add_text(settings, gx_fields_name(&settings->keep, i)); /* there is room for GX_FIELDS_TEXT */
    return rc;
}

int gx_parsed_settings_read(gx_parsed_settings *settings, const gx_parsed_options *given, gale_error *error) {
    gale_str rest = gx_str(given->fields), piece;
    int rc = read_input(settings, given, error);
    if (rc >= 0 && !rest.size && !given->more)
        return gale_error_set(error, GALE_INVALID, "%s: fields names no field", settings->who);
    while (rc >= 0 && rest.size && gx_str_next(&rest, ',', &piece)) rc = add_column(settings, piece, error);
    settings->has_more = given->more != NULL;
    const char *option = given->more_option ? given->more_option : "rest";
    if (rc >= 0 && given->more) rc = add_name(settings, option, gx_str(given->more), GX_SCALAR_STRING, error);
    return rc;
}

gale_bolt gx_parsed_define(const gale_bolt_ops *ops, gx_parsed_settings *settings) {
    settings->outputs[GX_PARSED_STREAM] = (gale_output){ NULL, settings->text };
    settings->outputs[GX_PARSED_BAD] = (gale_output){ GX_BAD_STREAM, GX_BAD_FIELDS };
    return gx_define_bolt(ops, settings, settings->outputs, GX_PARSED_STREAMS);
}

/* --- A task's life --- */

void *gx_parsed_instance(const gale_context *context, size_t size, const gx_parsed_settings *settings) {
    gx_parsed *parsed = gx_define_instance(context, size);
    if (!parsed) return NULL;
    parsed->given = settings;
    parsed->bad.what = settings->what;
    parsed->columns = parsed->values + settings->keep.count;
    return parsed;
}

void gx_parsed_instance_free(void *instance) {
    const gx_parsed *parsed = instance;
    gx_bad_tell(&parsed->bad, parsed->instance.context);
    gx_define_instance_free(instance);
}

/* --- A tuple --- */

static int take_line(gx_parsed *parsed, const gale_tuple *tuple, gale_collector *out) {
    const gx_parsed_settings *given = parsed->given;
    if (given->field.count)
        return gx_fields_take(&given->field, &parsed->field_place, given->who, tuple, out, &parsed->line);
    if (gale_tuple_size(tuple) < 1) return gx_define_need(out, given->who, tuple, 1);
    parsed->line = gale_tuple_value(tuple, 0);
    return GALE_OK;
}

/* Bytes that are packed, or text of another encoding, are no line of anything. */
static int refuse_foreign(gx_parsed *parsed, const char *foreign, gale_collector *out) {
    snprintf(parsed->problem, sizeof parsed->problem, "it is %s: %s", foreign, gx_encoding_advice(foreign));
    return gx_parsed_refuse(parsed, parsed->problem, out);
}

int gx_parsed_take(gx_parsed *parsed, const gale_tuple *tuple, gale_collector *out, gale_str *ret_text) {
    const gx_parsed_settings *given = parsed->given;
    int rc = take_line(parsed, tuple, out);
    parsed->tuple = tuple;
    if (rc >= 0) rc = gx_fields_take(&given->keep, &parsed->keep_places, given->who, tuple, out, parsed->values);
    if (rc < 0) return rc;
    const gale_value *line = &parsed->line;
    if (line->type != GALE_TYPE_STRING && line->type != GALE_TYPE_BYTES)
        return gx_define_wrong_type(out, given->who, tuple, parsed->field_place.at[0], "string or bytes");
    parsed->is_text = line->type == GALE_TYPE_STRING || gx_utf8_valid(line->as.string, line->size);
    gale_str text = { line->as.string, line->size };
    const char *foreign = gx_encoding_foreign(text);
    if (GX_UNLIKELY(foreign)) return refuse_foreign(parsed, foreign, out);
    *ret_text = gx_encoding_line(gx_encoding_text(text));
    return 1;
}

void gx_parsed_put(gx_parsed *parsed, gale_str text) {
    parsed->tuple = NULL;
    parsed->is_text = gx_utf8_valid(text.data, text.size);
    parsed->line = gx_scalar_text(text, parsed->is_text);
}

/* At most so many bytes of a text, cut between characters. */
static gale_str head_of(gale_str text, size_t most) {
    return (gale_str){ text.data, gx_utf8_prefix(text.data, text.size < most ? text.size : most) };
}

/* "field 'ms': '12x' is no float" */
static void say_type(gx_parsed *parsed, uint32_t column, gale_str piece) {
    gale_str name = head_of(gx_parsed_name(parsed->given, column), 100), shown = head_of(piece, 40);
    snprintf(parsed->problem, sizeof parsed->problem, "field '%.*s': '%.*s'%s is no %s", GX_STR(name), GX_STR(shown),
             shown.size < piece.size ? "..." : "", gx_scalar_name(parsed->given->columns[column].type));
}

bool gx_parsed_set(gx_parsed *parsed, uint32_t column, gale_str piece) {
    int32_t type = parsed->given->columns[column].type;
    if (GX_LIKELY(gx_scalar_read(piece, parsed->is_text, type, &parsed->columns[column]))) return true;
    say_type(parsed, column, piece);
    return false;
}

void gx_parsed_none(gx_parsed *parsed, uint32_t column) {
    for (; column < parsed->given->count; column++) parsed->columns[column] = gale_null();
}

void gx_parsed_set_more(gx_parsed *parsed, gale_value value) {
    parsed->columns[parsed->given->count] = value;
}

int gx_parsed_emit(gx_parsed *parsed, gale_collector *out) {
    const gx_parsed_settings *given = parsed->given;
    size_t width = given->keep.count + given->count + given->has_more;
    int rc = GX_LIKELY(!parsed->anchor_count) ? gale_emit(out, GX_PARSED_STREAM, parsed->values, width)
                                              : gale_emit_anchored(out, GX_PARSED_STREAM, parsed->values, width,
                                                                   parsed->anchors, parsed->anchor_count);
    return rc < 0 ? rc : GALE_OK;
}

int gx_parsed_refuse(gx_parsed *parsed, const char *problem, gale_collector *out) {
    const gale_context *context = parsed->instance.context;
    if (!parsed->anchor_count)
        return gx_bad_emit(&parsed->bad, context, out, GX_PARSED_BAD, parsed->tuple, &parsed->line, problem);
    return gx_bad_emit_anchored(&parsed->bad, context, out, GX_PARSED_BAD, parsed->tuple, &parsed->line, problem,
                                parsed->anchors, parsed->anchor_count);
}
