/* Fields to messages: gale.bolt.ProtobufFormat, gale.bolt.AvroFormat. */
#include "connect/formats/bad.h"
#include "connect/formats/bolts.h"
#include "connect/formats/names.h"
#include "connect/formats/nearest.h"

#include <gale/state.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A field of the input, and the message's that it becomes. */
typedef struct written {
    const char *from;
    gale_str name;
} written;

typedef struct settings {
    const fmt_format *format;
    void *schema;
    fmt_names names; /* those that go out */
    written fields[FMT_FIELDS_MAX];
    size_t count;
    gale_output outputs[2];
} settings;

typedef struct writer {
    const settings *given;
    fmt_bad bad;
    fmt_bytes bytes;
    fmt_problem problem;
    gale_value pairs[2 * FMT_FIELDS_MAX];
    gale_value values[FMT_KEEP_MAX + 1];
} writer;

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)out;
    const settings *given = user;
    writer *w = calloc(1, sizeof *w);
    if (!w) return GALE_NO_MEMORY;
    w->given = given;
    w->bad = (fmt_bad){ .what = given->format->what, .context = context };
    *ret_self = w;
    return 0;
}

static void bolt_cleanup(void *self) {
    writer *w = self;
    fmt_bad_tell(&w->bad);
    fmt_bytes_free(&w->bytes);
    free(w);
}

static gale_value row_of(writer *w, const gale_tuple *tuple) {
    for (size_t i = 0; i < w->given->count; i++) {
        gale_str name = w->given->fields[i].name;
        w->pairs[2 * i] = gale_string(name.data, name.size);
        if (!gale_tuple_get(tuple, w->given->fields[i].from, &w->pairs[2 * i + 1])) w->pairs[2 * i + 1] = gale_null();
    }
    return gale_map(w->pairs, w->given->count);
}

static int emit(writer *w, const gale_tuple *tuple, gale_collector *out) {
    const fmt_keep *keep = &w->given->names.keep;
    fmt_keep_values(keep, tuple, w->values);
    w->values[keep->count] = gale_bytes(w->bytes.data ? w->bytes.data : "", w->bytes.size);
    int rc = gale_emit(out, 0, w->values, keep->count + 1);
    return rc < 0 ? rc : 0;
}

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    writer *w = self;
    if (gale_tuple_is_tick(tuple)) return 0;
    gale_value row = row_of(w, tuple);
    w->bytes.size = 0;
    w->bytes.failed = false;
    int rc = w->given->format->write(w->given->schema, &row, &w->bytes, &w->problem);
    if (rc == 0 && w->bytes.failed) return GALE_NO_MEMORY;
    if (rc == GALE_DAMAGED) return fmt_bad_emit(&w->bad, out, &row, w->problem.text);
    return rc < 0 ? rc : emit(w, tuple, out);
}

static const gale_bolt_ops ops = {
    .size = sizeof ops,
    .name = "format writer",
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

static int check_name(const settings *made, gale_str wanted, gale_error *error) {
    fmt_nearest nearest = fmt_nearest_to(wanted);
    const void *below;
    char hint[FMT_HINT];
    gale_str name;
    for (size_t i = 0; made->format->field(made->schema, NULL, i, &name, &below); i++) {
        if (fmt_same(name, wanted)) return 0;
        fmt_nearest_offer(&nearest, name);
    }
    return gale_error_set(error, GALE_INVALID, "fields: the schema has no field '%.*s'%s", FMT_STR(wanted),
                          fmt_nearest_hint(&nearest, hint));
}

/* Of a stream that is known. */
static int check_stream(const gale_input *input, gale_str wanted, gale_error *error) {
    fmt_nearest nearest = fmt_nearest_to(wanted);
    char hint[FMT_HINT];
    for (const char *at = input->fields; at && *at;) {
        size_t size = strcspn(at, ",");
        gale_str name, same;
        fmt_names_cut((gale_str){ at, size }, &name, &same);
        if (fmt_same(name, wanted)) return 0;
        fmt_nearest_offer(&nearest, name);
        at += at[size] ? size + 1 : size;
    }
    return gale_error_set(error, GALE_FIELDS, "fields: '%.*s' does not come in from %s%s", FMT_STR(wanted),
                          input->source, fmt_nearest_hint(&nearest, hint));
}

static int check_input(const gale_args *args, gale_str wanted, gale_error *error) {
    gale_input input = GALE_INPUT_INIT;
    int rc = 0;
    for (size_t i = 0; rc == 0 && gale_args_input(args, i, &input); i++)
        if (input.fields) rc = check_stream(&input, wanted, error);
    return rc;
}

static int add_field(settings *made, const gale_args *args, gale_str text, gale_error *error) {
    gale_str from, name;
    fmt_names_cut(text, &from, &name);
    if (made->count == FMT_FIELDS_MAX)
        return gale_error_set(error, GALE_INVALID, "fields: there are more than %d", FMT_FIELDS_MAX);
    for (size_t i = 0; i < made->count; i++)
        if (fmt_same(made->fields[i].name, name))
            return gale_error_set(error, GALE_INVALID, "fields: '%.*s' is there twice", FMT_STR(name));
    int rc = check_input(args, from, error);
    if (rc == 0) rc = check_name(made, name, error);
    if (rc < 0) return rc;
    written *field = &made->fields[made->count++];
    field->from = fmt_memory_copy(&made->names.memory, from.data, from.size).data;
    field->name = fmt_memory_copy(&made->names.memory, name.data, name.size);
    return field->from && field->name.data ? 0 : gale_error_set(error, GALE_NO_MEMORY, "out of memory");
}

/* All that come in, but for those that are kept. */
static int add_input(settings *made, const gale_args *args, gale_error *error) {
    gale_input input = GALE_INPUT_INIT;
    if (!gale_args_input(args, 0, &input) || !input.fields)
        return gale_error_set(error, GALE_FIELDS, "fields: what comes in is not known: they must be named here");
    const char *at = input.fields;
    for (int rc = 0; rc == 0 && *at;) {
        size_t size = strcspn(at, ",");
        gale_str from, name;
        bool kept = false;
        fmt_names_cut((gale_str){ at, size }, &from, &name);
        for (size_t i = 0; i < made->names.keep.count; i++)
            kept = kept || fmt_same(from, (gale_str){ made->names.keep.names[i], strlen(made->names.keep.names[i]) });
        rc = kept ? 0 : add_field(made, args, from, error);
        at += at[size] ? size + 1 : size;
        if (rc < 0) return rc;
    }
    return 0;
}

static int read_fields(settings *made, const gale_args *args, gale_error *error) {
    gale_value list = gale_args_value(args, "fields");
    if (!list.size) return add_input(made, args, error);
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < list.size; i++) {
        gale_value one = gale_list_at(&list, i);
        rc = add_field(made, args, (gale_str){ one.as.string, one.size }, error);
    }
    return rc;
}

int fmt_make_writer(void *format, const gale_args *args, gale_bolt *ret_bolt, gale_error *error) {
    settings *made = calloc(1, sizeof *made);
    const char *as = gale_args_text(args, "as");
    if (!made) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    made->format = format;
    int rc = made->format->open(args, &made->schema, error);
    if (rc == 0) rc = fmt_names_read_keep(&made->names, args, error);
    if (rc == 0) rc = fmt_names_add(&made->names, "as", (gale_str){ as, strlen(as) }, error);
    if (rc == 0) rc = read_fields(made, args, error);
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
