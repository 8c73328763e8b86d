/* Bytes as a message for gale.bolt.Unpack. Whatever they are: it is answered once, and what comes out is packed and unpacked to the same. */
#include "bolt.h"

#include "front/packing.h"
#include "tuple/json.h"

static fuzz_bolt unpack, pack, again;
static gx_buf first, second;

/* The tuple in hand is answered in its call, and what is emitted is anchored to it: nothing is held. */
static size_t answers;

static int answer(gale_collector *out, gale_handle handle) {
    (void)out, (void)handle;
    answers++;
    return 0;
}

static int fail(gale_collector *out, gale_handle handle, int32_t reason, const char *text) {
    expect(reason == GALE_REASON_REJECTED && *text);
    return answer(out, handle);
}

static int emit(gale_collector *out, uint32_t stream, const gale_value *values, size_t count,
                const gale_handle *anchors, size_t anchor_count) {
    (void)anchors;
    fuzz_bolt *bolt = (fuzz_bolt *)out;
    bolt->on_emit(bolt, stream, values, count, anchor_count);
    return 1;
}

static void begin(fuzz_bolt *bolt, const char *const *fields, uint32_t count) {
    static const gale_collector_ops ops = { .size = sizeof ops, .emit_anchored = emit, .ack = answer, .fail = fail };
    fuzz_bolt_begin(bolt, fields, count);
    bolt->collector.ops = &ops;
}

static void write_row(gx_buf *out, const gale_value *values, size_t count) {
    gx_json json = gx_json_to(out);
    const gale_value list = gale_list(values, count);
    gx_buf_reset(out);
    gx_json_value(&json, &list);
    expect(gx_buf_text(out) != NULL);
}

static void keep(fuzz_bolt *bolt, uint32_t stream, const gale_value *values, size_t count, size_t anchors) {
    (void)bolt;
    expect(stream == 0 && count == 2 && anchors == 1);
    write_row(&second, values, count);
}

static void take_packed(fuzz_bolt *bolt, uint32_t stream, const gale_value *values, size_t count, size_t anchors) {
    (void)bolt;
    expect(stream == 0 && count == 2 && anchors == 0);
    expect(fuzz_bolt_take(&again, 1, &values[1], 1) == 0);
}

static void take_unpacked(fuzz_bolt *bolt, uint32_t stream, const gale_value *values, size_t count, size_t anchors) {
    (void)bolt;
    expect(stream == 0 && count == 2 && anchors == 1);
    write_row(&first, values, count);
    expect(fuzz_bolt_take(&pack, 1, values, count) == 0);
    expect(first.size == second.size && memcmp(first.data, second.data, first.size) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const message[] = { "value" }, *const row[] = { "a", "b" };
    gale_value value = gale_utf8_valid((const char *)data, size) ? gale_string((const char *)data, size)
                                                                 : gale_bytes(data, size);
    first = second = (gx_buf)GX_BUF_INIT(NULL);
    unpack = (fuzz_bolt){ .on_emit = take_unpacked };
    pack = (fuzz_bolt){ .on_emit = take_packed };
    again = (fuzz_bolt){ .on_emit = keep };
    expect(gx_unpacking_bolt("a, b", NULL, &unpack.bolt, NULL) == 0);
    expect(gx_packing_bolt("a, b", "b, a", &pack.bolt, NULL) == 0);
    expect(gx_unpacking_bolt("a, b", NULL, &again.bolt, NULL) == 0);
    begin(&unpack, message, 1);
    fuzz_bolt_begin(&pack, row, 2);
    begin(&again, message, 1);
    answers = 0;
    expect(fuzz_bolt_take(&unpack, 1, &value, 1) == 0 && answers == 1 + (second.size > 0));
    fuzz_bolt_end(&unpack);
    fuzz_bolt_end(&pack);
    fuzz_bolt_end(&again);
    gx_buf_fini(&first);
    gx_buf_fini(&second);
    return 0;
}
