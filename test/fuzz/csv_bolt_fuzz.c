/* Limits, a NUL, and lines of CSV that come one by one: each is answered once, is in a record or bad, and none waits
 * behind the end. */
#include "bolt.h"

#include <gale/kit.h>

static size_t lines_out;

static size_t count_lines(const gale_value *value) {
    size_t count = 1;
    for (uint32_t i = 0; i < value->size; i++) count += value->as.string[i] == '\n';
    return count;
}

/* A record has one column, which is all of it: its newlines are its lines'. */
static void on_emit(fuzz_bolt *bolt, uint32_t stream, const gale_value *values, size_t count, size_t anchors) {
    (void)bolt;
    expect(count == (stream == 0 ? 1 : 2));
    if (stream == 1) expect(count_lines(&values[0]) == (anchors ? anchors : 1));
    lines_out += anchors ? anchors : 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static fuzz_bolt bolt;
    static const char *const fields[] = { "line" };
    fuzz_input in = { data, size < 2048 ? size : 2048 };
    gale_csv_options options = { .size = sizeof options, .fields = "a", .ragged = true };
    options.max_lines = 1 + fuzz_byte(&in) % 20;
    options.max_bytes = 1 + fuzz_byte(&in);
    gale_error error = GALE_ERROR_INIT;
    expect(gale_csv_bolt(&options, &bolt.bolt, &error) == 0);
    bolt.on_emit = on_emit;
    lines_out = 0;
    fuzz_bolt_begin(&bolt, fields, 1);
    size_t lines_in = 0;
    for (gale_str rest = { (const char *)in.data, in.size }; rest.size; lines_in++) {
        const char *end = memchr(rest.data, '\n', rest.size);
        size_t length = end ? (size_t)(end - rest.data) : rest.size;
        gale_value line = gale_bytes(rest.data, length);
        expect(fuzz_bolt_take(&bolt, 1, &line, 1) == 0);
        expect(lines_out + bolt.open == lines_in + 1 && bolt.open <= options.max_lines);
        length += end != NULL;
        rest = (gale_str){ rest.data + length, rest.size - length };
    }
    expect(bolt.bolt.ops->finish(bolt.self, &bolt.collector) == 0);
    expect(bolt.open == 0 && lines_out == lines_in);
    fuzz_bolt_end(&bolt);
    return 0;
}
