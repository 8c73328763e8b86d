/* Messages to fields: gale.bolt.Protobuf, gale.bolt.Avro. */
#include "connect/formats/bad.h"
#include "connect/formats/bolts.h"
#include "connect/formats/names.h"

#include <gale/state.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct settings {
    const fmt_format *format;
    void *schema;
    fmt_names names;
    uint64_t max_bytes;
    gale_output outputs[2];
} settings;

typedef struct reader {
    const settings *given;
    fmt_bad bad;
    fmt_memory memory;
    fmt_problem problem;
    gale_value values[FMT_KEEP_MAX + FMT_FIELDS_MAX];
} reader;

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)out;
    const settings *given = user;
    reader *r = calloc(1, sizeof *r);
    if (!r) return GALE_NO_MEMORY;
    r->given = given;
    r->bad = (fmt_bad){ .what = given->format->what, .context = context };
    *ret_self = r;
    return 0;
}

static void bolt_cleanup(void *self) {
    reader *r = self;
    fmt_bad_tell(&r->bad);
    fmt_memory_free(&r->memory);
    free(r);
}

/* --- A tuple ---------------------------------------------------------------------------------------------------------- */

static int take_message(const reader *r, const gale_tuple *tuple, gale_collector *out, gale_value *ret_line) {
    const char *field = r->given->names.field;
    char text[300];
    bool is_there = field ? gale_tuple_get(tuple, field, ret_line) : gale_tuple_size(tuple) > 0;
    if (is_there && !field) *ret_line = gale_tuple_value(tuple, 0);
    if (!field) field = is_there ? gale_tuple_field(tuple, 0) : "the first";
    if (is_there && (ret_line->type == GALE_TYPE_BYTES || ret_line->type == GALE_TYPE_STRING)) return 0;
    snprintf(text, sizeof text, "%s: field %.100s from %.100s is %s, not bytes or string", r->given->format->who, field,
             gale_tuple_component(tuple), is_there ? gale_type_name(ret_line->type) : "not there");
    gale_report(out, text);
    return is_there ? GALE_TYPE : GALE_FIELDS;
}

static int parse(reader *r, const gale_value *line, gale_value *ret_value) {
    const settings *given = r->given;
    gale_str bytes = { line->as.string, line->size };
    if (bytes.size > given->max_bytes)
        return fmt_wrong(&r->problem, "it has %zu bytes, at most %llu", bytes.size,
                         (unsigned long long)given->max_bytes);
    int rc = given->format->read(given->schema, bytes, &r->memory, ret_value, &r->problem);
    if (rc == GALE_TOO_LARGE) return fmt_wrong(&r->problem, "its values need more than %d MiB", FMT_MEMORY_MAX >> 20);
    return rc;
}

static int emit(reader *r, const gale_tuple *tuple, const gale_value *message, gale_collector *out) {
    const fmt_names *names = &r->given->names;
    gale_value *values = r->values;
    fmt_keep_values(&names->keep, tuple, values);
    for (size_t i = 0; i < names->count; i++) values[names->keep.count + i] = fmt_path_find(&names->paths[i], message);
    int rc = gale_emit(out, 0, values, names->keep.count + names->count);
    return rc < 0 ? rc : 0;
}

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    reader *r = self;
    gale_value line, message;
    if (gale_tuple_is_tick(tuple)) return 0;
    int rc = take_message(r, tuple, out, &line);
    if (rc < 0) return rc;
    rc = parse(r, &line, &message);
    if (rc == GALE_DAMAGED)
        rc = fmt_bad_emit(&r->bad, out, &line, r->problem.text);
    else if (rc == 0)
        rc = emit(r, tuple, &message, out);
    fmt_memory_reset(&r->memory);
    return rc;
}

static const gale_bolt_ops ops = {
    .size = sizeof ops,
    .name = "format reader",
    .kind = GALE_BOLT_SIMPLE,
    .prepare = bolt_prepare,
    .execute = bolt_execute,
    .cleanup = bolt_cleanup,
    .durable = &gale_stateless,
};

/* --- It --------------------------------------------------------------------------------------------------------------- */

static void free_settings(void *user) {
    settings *made = user;
    if (made->schema) made->format->close(made->schema);
    fmt_memory_free(&made->names.memory);
    free(made);
}

static int read_field(fmt_names *names, const gale_args *args, gale_error *error) {
    const char *field = gale_args_text(args, "field");
    if (!field) return 0;
    names->field = fmt_memory_copy(&names->memory, field, strlen(field)).data;
    return names->field ? 0 : gale_error_set(error, GALE_NO_MEMORY, "out of memory");
}

int fmt_make_reader(void *format, const gale_args *args, gale_bolt *ret_bolt, gale_error *error) {
    settings *made = calloc(1, sizeof *made);
    if (!made) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    made->format = format;
    made->max_bytes = (uint64_t)gale_args_whole(args, "maxBytes");
    int rc = made->format->open(args, &made->schema, error);
    if (rc == 0) rc = read_field(&made->names, args, error);
    if (rc == 0) rc = fmt_names_read(&made->names, args, made->format, made->schema, error);
    if (rc < 0) {
        free_settings(made);
        return rc;
    }
    made->outputs[0] = (gale_output){ NULL, made->names.outputs };
    made->outputs[1] = (gale_output){ FMT_BAD_STREAM, FMT_BAD_FIELDS };
    *ret_bolt = (gale_bolt){ .size = sizeof *ret_bolt,
                             .ops = &ops,
                             .user = made,
                             .free_user = free_settings,
                             .outputs = made->outputs,
                             .output_count = 2 };
    return 0;
}
