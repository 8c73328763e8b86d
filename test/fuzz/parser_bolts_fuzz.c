/* Options, a NUL, and a text: whatever they are, gale_regex_bolt and gale_json_bolt emit one tuple of it, which is valid: fields, or
 * the text itself with a problem that is UTF-8. */
#include "bolt.h"

#include "base/utf8.h"

#include <gale_script.h>
#include <stdio.h>

static const gale_value *given;
static size_t emitted;

static void on_emit(fuzz_bolt *bolt, uint32_t stream, const gale_value *values, size_t count, size_t anchors) {
    (void)anchors;
    expect(stream < bolt->bolt.output_count);
    emitted++;
    if (stream == 0) return;
    expect(count == 2 && gale_value_equal(&values[0], given));
    expect(values[1].size > 0 && gx_utf8_valid(values[1].as.string, values[1].size));
}

static void run(int rc, fuzz_bolt *bolt, const gale_error *error, gale_value text) {
    static const char *const fields[] = { "line" };
    if (rc < 0) {
        expect(error->text[0]);
        return;
    }
    bolt->on_emit = on_emit;
    given = &text;
    emitted = 0;
    fuzz_bolt_begin(bolt, fields, 1);
    for (int i = 0; i < 2; i++) {
        int taken = fuzz_bolt_take(bolt, 1, &text, 1);
        expect(taken == 0 && emitted == (size_t)i + 1);
    }
    fuzz_bolt_end(bolt);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static fuzz_bolt bolt;
    fuzz_input in = { data, size < 4096 ? size : 4096 };
    uint8_t how = fuzz_byte(&in);
    char *options = fuzz_text(&in);
    size_t cut = strlen(options) < in.size ? strlen(options) + 1 : in.size;
    const char *text = options + cut;
    bool is_text = gx_utf8_valid(text, in.size - cut);
    gale_value line = is_text ? gale_string(text, in.size - cut) : gale_bytes(text, in.size - cut);
    gale_error error = GALE_ERROR_INIT;
    char *comma = strchr(options, ';');
    if (comma && how & 2) *comma = 0;
    gale_regex_options regex = { .size = sizeof regex,
                                 .pattern = options,
                                 .fields = comma && how & 2 ? comma + 1 : NULL };
    gale_json_options json = { .size = sizeof json,
                               .fields = options,
                               .document = how & 4 ? "whole document" : NULL,
                               .required = comma && how & 2 ? comma + 1 : NULL,
                               .keep = how & 8 ? "line" : NULL };
    if (how & 1)
        run(gale_regex_bolt(&regex, &bolt.bolt, &error), &bolt, &error, line);
    else
        run(gale_json_bolt(&json, &bolt.bolt, &error), &bolt, &error, line);
    free(options);
    return 0;
}
