/* The format Avro, as the bolts have it. */
#include "connect/formats/avro.h"

#include "connect/formats/bolts.h"

#include <stdlib.h>
#include <string.h>

/* Before the message: a byte 0, and the schema's number, four bytes. */
enum { FRAME = 5 };

typedef struct avro {
    av_schema schema;
    bool framed;
    uint32_t id;
} avro;

static void close_schema(void *schema) {
    avro *made = schema;
    fmt_memory_free(&made->schema.memory);
    free(made);
}

static int open_schema(const gale_args *args, void **ret_schema, gale_error *error) {
    fmt_memory file = { .first = NULL };
    avro *made = calloc(1, sizeof *made);
    gale_str text;
    if (!made) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    made->framed = strcmp(gale_args_text(args, "framing"), "confluent") == 0;
    int rc = fmt_schema_load(gale_args_text(args, "schema"), &file, &text, error);
    if (rc == 0) rc = av_schema_read(&made->schema, text, error);
    fmt_memory_free(&file);
    if (rc < 0)
        close_schema(made);
    else
        *ret_schema = made;
    return rc;
}

/* With a number to write. */
static int open_written(const gale_args *args, void **ret_schema, gale_error *error) {
    int rc = open_schema(args, ret_schema, error);
    if (rc < 0) return rc;
    avro *made = *ret_schema;
    made->id = (uint32_t)gale_args_whole(args, "schemaId");
    if (made->framed == gale_args_given(args, "schemaId")) return 0;
    close_schema(made);
    *ret_schema = NULL;
    return gale_error_set(error, GALE_INVALID, "schemaId: it is given with 'framing: confluent', and only then");
}

static bool next_field(const void *schema, const void *node, size_t index, gale_str *ret_name, const void **ret_below) {
    const av_node *record = node ? node : ((const avro *)schema)->schema.root;
    if (index >= record->count) return false;
    *ret_name = record->fields[index].name;
    *ret_below = av_node_record(record->fields[index].node);
    return true;
}

static int read(const void *schema, gale_str bytes, fmt_memory *memory, gale_value *ret_value, fmt_problem *problem) {
    const avro *made = schema;
    if (!made->framed) return av_read(made->schema.root, bytes, memory, ret_value, problem);
    if (bytes.size < FRAME || bytes.data[0] != 0)
        return fmt_wrong(problem, "it does not begin with a byte 0 and a schema's number (framing: confluent)");
    bytes = (gale_str){ bytes.data + FRAME, bytes.size - FRAME };
    return av_read(made->schema.root, bytes, memory, ret_value, problem);
}

static int write(const void *schema, const gale_value *value, fmt_bytes *to, fmt_problem *problem) {
    const avro *made = schema;
    const char frame[FRAME] = { 0, (char)(made->id >> 24), (char)(made->id >> 16), (char)(made->id >> 8),
                                (char)made->id };
    if (made->framed) fmt_bytes_add(to, frame, sizeof frame);
    return av_write(made->schema.root, value, to, problem);
}

const fmt_format fmt_avro = {
    .who = "avro bolt",
    .what = "Avro message",
    .open = open_schema,
    .close = close_schema,
    .field = next_field,
    .read = read,
    .write = write,
};

const fmt_format fmt_avro_written = {
    .who = "avro bolt",
    .what = "Avro message",
    .open = open_written,
    .close = close_schema,
    .field = next_field,
    .read = read,
    .write = write,
};
