/* Bytes, read as a schema of protobuf (behind its length, two bytes) and a message of each of its first types, as the connector formats does. What is read is a value that a tuple may
 * have, and what is written of it is read as the same. */
#include "fuzz.h"

#include "connect/formats/protobuf.h"

enum { TYPES = 4 };

static void write_again(const pb_message *message, const gale_value *value) {
    fmt_memory memory = { .first = NULL };
    fmt_bytes bytes = { .data = NULL };
    fmt_problem problem;
    gale_value again;
    if (pb_write(message, value, &bytes, &problem) == 0 && !bytes.failed) {
        int rc = pb_read(message, (gale_str){ bytes.data ? bytes.data : "", bytes.size }, &memory, &again, &problem);
        expect(rc == GALE_TOO_LARGE || rc == GALE_NO_MEMORY || (rc == 0 && gale_value_equal(value, &again)));
    }
    fmt_bytes_free(&bytes);
    fmt_memory_free(&memory);
}

static void read_message(const pb_message *message, gale_str bytes) {
    fmt_memory memory = { .first = NULL };
    fmt_problem problem = { "" };
    gale_value value;
    int rc = pb_read(message, bytes, &memory, &value, &problem);
    expect(rc != GALE_DAMAGED || problem.text[0]);
    if (rc == 0) {
        gale_value_owned *copy = gale_value_copy(&value);
        gale_value view = gale_value_owned_view(copy);
        if (copy) write_again(message, &view); /* the message itself is one deeper than what goes out */
        gale_value_owned_free(copy);
    }
    fmt_memory_free(&memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    gale_error error = GALE_ERROR_INIT;
    pb_schema schema = { .root = NULL };
    if (size < 2) return 0;
    size_t length = (size_t)data[0] << 8 | data[1];
    data += 2;
    size -= 2;
    if (length > size) length = size;
    int rc = pb_schema_read(&schema, (gale_str){ (const char *)data, length }, &error);
    expect(rc == 0 || error.length);
    for (size_t i = 0; rc == 0 && i < schema.message_count && i < TYPES; i++)
        read_message(schema.messages[i], (gale_str){ (const char *)data + length, size - length });
    fmt_memory_free(&schema.memory);
    return 0;
}
