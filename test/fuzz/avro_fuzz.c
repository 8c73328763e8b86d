/* Bytes, read as a schema of Avro (behind its length, two bytes) and a message of it, as the connector formats does. What is read is a value that a tuple may have, and what is written of
 * it is read. */
#include "fuzz.h"

#include "connect/formats/avro.h"

static void write_again(const av_node *record, const gale_value *value) {
    fmt_memory memory = { .first = NULL };
    fmt_bytes bytes = { .data = NULL };
    fmt_problem problem;
    gale_value again;
    if (av_write(record, value, &bytes, &problem) == 0 && !bytes.failed)
        (void)av_read(record, (gale_str){ bytes.data ? bytes.data : "", bytes.size }, &memory, &again, &problem);
    fmt_bytes_free(&bytes);
    fmt_memory_free(&memory);
}

static void read_message(const av_node *record, gale_str bytes) {
    fmt_memory memory = { .first = NULL };
    fmt_problem problem = { "" };
    gale_value value;
    int rc = av_read(record, bytes, &memory, &value, &problem);
    expect(rc != GALE_DAMAGED || problem.text[0]);
    if (rc == 0) {
        gale_value_owned *copy = gale_value_copy(&value);
        gale_value view = gale_value_owned_view(copy);
        if (copy) write_again(record, &view); /* the record itself is one deeper than what goes out */
        gale_value_owned_free(copy);
    }
    fmt_memory_free(&memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    gale_error error = GALE_ERROR_INIT;
    av_schema *schema = calloc(1, sizeof *schema);
    size_t length = size < 2 ? 0 : (size_t)data[0] << 8 | data[1];
    if (size < 2 || !schema) {
        free(schema);
        return 0;
    }
    data += 2;
    size -= 2;
    if (length > size) length = size;
    int rc = av_schema_read(schema, (gale_str){ (const char *)data, length }, &error);
    expect(rc == 0 || error.length);
    if (rc == 0) read_message(schema->root, (gale_str){ (const char *)data + length, size - length });
    fmt_memory_free(&schema->memory);
    free(schema);
    return 0;
}
