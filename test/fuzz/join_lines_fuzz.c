/* A pattern, a NUL, and lines: each goes out once, in its key's order, whatever the pattern, the limits and the time are; and a
 * search ends within its bound. */
#include "bolt.h"

#include "base/str.h"
#include "base/utf8.h"
#include "script/matcher.h"
#include "script/steps.h"

#include <gale_script.h>

enum { KEYS = 3, MOST = 4096 };

typedef struct lines {
    char text[MOST * 2];
    size_t size;
} lines;

static lines came[KEYS], went[KEYS];

static void add(lines *to, const char *text, size_t size) {
    expect(to->size + size + 1 <= sizeof to->text);
    memcpy(to->text + to->size, text, size);
    to->text[to->size + size] = '\n';
    to->size += size + 1;
}

static void on_emit(fuzz_bolt *bolt, uint32_t stream, const gale_value *values, size_t count, size_t anchors) {
    (void)bolt;
    expect(stream == 0 && count == 2 && anchors > 0 && values[0].as.i64 < KEYS);
    expect(values[1].type == (gx_utf8_valid(values[1].as.string, values[1].size) ? GALE_TYPE_STRING : GALE_TYPE_BYTES));
    add(&went[values[0].as.i64], values[1].as.string, values[1].size);
}

static void take(fuzz_bolt *bolt, gale_str line) {
    uint8_t first = line.size ? (uint8_t)*line.data : 0;
    bool text = gx_utf8_valid(line.data, line.size);
    gale_value values[2] = { gale_i64(first % KEYS),
                             text ? gale_string(line.data, line.size) : gale_bytes(line.data, line.size) };
    gale_value tick = gale_i64(1);
    bolt->now += first * INT64_C(10000000);
    if (first % 16 == 7) expect(fuzz_bolt_take(bolt, 0, &tick, 1) == 0);
    if (fuzz_bolt_take(bolt, 1, values, 2) == 0) add(&came[first % KEYS], line.data, line.size);
}

static void search(const char *pattern, gale_str text) {
    gale_error error = GALE_ERROR_INIT;
    gx_pattern *made = NULL;
    gx_heap heap;
    if (gx_pattern_new(pattern, "it", &made, &error) < 0) return;
    gx_heap_init(&heap, NULL);
    gx_matcher *matcher = gx_matcher_new(&heap, made);
    expect(matcher != NULL);
    int rc = gx_matcher_find(matcher, text, gx_utf8_valid(text.data, text.size));
    expect(rc == 0 || rc == 1 || rc == GALE_TOO_LARGE);
    expect(gx_matcher_work(matcher) <= 2 * (uint64_t)GX_STEPS_WORK + text.size + GX_STEPS_PATTERN);
    for (uint32_t i = 0; rc > 0 && i <= gx_pattern_groups(made); i++) {
        gale_str group = gx_matcher_group(matcher, i);
        expect(!group.data || (group.data >= text.data && group.data + group.size <= text.data + text.size));
    }
    gx_matcher_free(matcher);
    gx_pattern_free(made);
    expect(gx_heap_reserved(&heap) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const fields[] = { "key", "line" };
    static fuzz_bolt bolt;
    fuzz_input in = { data, size < MOST ? size : MOST };
    uint8_t how = fuzz_byte(&in), most = fuzz_byte(&in);
    char *text = fuzz_text(&in);
    gale_str rest = { text, in.size }, line;
    size_t pattern = strlen(text);
    const char *mode[3] = { NULL, NULL, NULL };
    mode[how % 3] = text;
    gale_join_lines_options options = { .size = sizeof options,
                                        .fields = "key, line",
                                        .field = "line",
                                        .key = how & 4 ? "key" : NULL,
                                        .start = mode[0],
                                        .go_on = mode[1],
                                        .end = mode[2],
                                        .max_lines = how & 8 ? most : 0,
                                        .max_bytes = how & 16 ? most : 0,
                                        .max_keys = how & 32 ? 2 : 0,
                                        .timeout = how & 64 ? 0.01 : 0 };
    gale_error error = GALE_ERROR_INIT;
    rest = pattern < in.size ? (gale_str){ text + pattern + 1, in.size - pattern - 1 } : (gale_str){ text, 0 };
    search(text, rest);
    memset(came, 0, sizeof came);
    memset(went, 0, sizeof went);
    if (gale_join_lines_bolt(&options, &bolt.bolt, &error) == 0) {
        bolt.on_emit = on_emit;
        fuzz_bolt_begin(&bolt, fields, 2);
        while (gx_str_next(&rest, '\n', &line)) take(&bolt, line);
        fuzz_bolt_end(&bolt);
        for (int i = 0; i < KEYS && how & 4; i++)
            expect(came[i].size == went[i].size && memcmp(came[i].text, went[i].text, came[i].size) == 0);
    } else {
        expect(error.text[0]);
    }
    free(text);
    return 0;
}
