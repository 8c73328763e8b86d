/* The format protobuf, as the bolts have it. */
#include "connect/formats/protobuf.h"

#include "connect/formats/bolts.h"
#include "connect/formats/nearest.h"

#include <stdlib.h>
#include <string.h>

static void close_schema(void *schema) {
    pb_schema *made = schema;
    fmt_memory_free(&made->memory);
    free(made);
}

static int find_root(pb_schema *schema, const char *message, gale_error *error) {
    gale_str name = { message, strlen(message) };
    fmt_nearest nearest = fmt_nearest_to(name);
    char hint[FMT_HINT];
    if (name.size && name.data[0] == '.') name = (gale_str){ message + 1, name.size - 1 };
    schema->root = pb_schema_message(schema, name);
    if (schema->root) return 0;
    for (size_t i = 0; i < schema->message_count; i++)
        if (!schema->messages[i]->is_entry) fmt_nearest_offer(&nearest, schema->messages[i]->name);
    return gale_error_set(error, GALE_NOT_FOUND, "message: the schema has no message '%s'%s", message,
                          fmt_nearest_hint(&nearest, hint));
}

static int open_schema(const gale_args *args, void **ret_schema, gale_error *error) {
    fmt_memory file = { .first = NULL };
    pb_schema *schema = calloc(1, sizeof *schema);
    gale_str bytes;
    if (!schema) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    int rc = fmt_schema_load(gale_args_text(args, "schema"), &file, &bytes, error);
    if (rc == 0) rc = pb_schema_read(schema, bytes, error);
    if (rc == 0) rc = find_root(schema, gale_args_text(args, "message"), error);
    fmt_memory_free(&file);
    if (rc < 0)
        close_schema(schema);
    else
        *ret_schema = schema;
    return rc;
}

static bool next_field(const void *schema, const void *node, size_t index, gale_str *ret_name, const void **ret_below) {
    const pb_message *message = node ? node : ((const pb_schema *)schema)->root;
    if (index >= message->count) return false;
    const pb_field *field = &message->fields[index];
    *ret_name = field->name;
    *ret_below = field->repeated ? NULL : field->message;
    return true;
}

static int read(const void *schema, gale_str bytes, fmt_memory *memory, gale_value *ret_value, fmt_problem *problem) {
    return pb_read(((const pb_schema *)schema)->root, bytes, memory, ret_value, problem);
}

static int write(const void *schema, const gale_value *value, fmt_bytes *to, fmt_problem *problem) {
    return pb_write(((const pb_schema *)schema)->root, value, to, problem);
}

const fmt_format fmt_protobuf = {
    .who = "protobuf bolt",
    .what = "protobuf message",
    .open = open_schema,
    .close = close_schema,
    .field = next_field,
    .read = read,
    .write = write,
};
