/* A stream, cut into records in every framing: those of a plain walk over the whole of it, wherever its pieces begin and end, in
 * no more memory than the bound allows. */
#include "fuzz.h"

#include "base/encoding.h"
#include "kit/frames.h"

typedef struct walk {
    gx_frames_rule rule;
    gale_str rest;
    gx_frames_ending ending;
    bool damaged;
    uint64_t too_long, cut_off;
} walk;

/* A record of `bytes`; false: nothing of it goes out. */
static bool bound(walk *w, gale_str bytes, bool is_long, gx_frame *ret_frame) {
    w->too_long += is_long;
    if (is_long && w->rule.drops) return false;
    if (bytes.size > w->rule.max) bytes.size = w->rule.max;
    *ret_frame = (gx_frame){ bytes, !is_long };
    return true;
}

static bool cut_off(walk *w) {
    w->cut_off++;
    return false;
}

static size_t digits(gale_str text) {
    size_t n = 0;
    while (n < text.size && n < GX_FRAMES_DIGITS && text.data[n] >= (n ? '0' : '1') && text.data[n] <= '9') n++;
    return n;
}

/* It is known to be too long before its end has come: neither its return nor what may be a size is the last of it. */
static bool is_known_long(const walk *w, gale_str text) {
    size_t n = digits(text), max = w->rule.max;
    bool lines = w->rule.kind != GX_FRAMES_NUL;
    if (text.size <= max || (text.size == max + 1 && lines && text.data[max] == '\r')) return false;
    return w->rule.kind != GX_FRAMES_SYSLOG || !n || n + (n < text.size && text.data[n] == ' ') < text.size;
}

static bool walk_text(walk *w, gx_frame *ret_frame) {
    bool lines = w->rule.kind != GX_FRAMES_NUL;
    const char *end = memchr(w->rest.data, lines ? '\n' : 0, w->rest.size);
    gale_str text = { w->rest.data, end ? (size_t)(end - w->rest.data) : w->rest.size };
    size_t all = text.size + (end != NULL);
    w->rest = (gale_str){ w->rest.data + all, w->rest.size - all };
    if (lines && end && text.size && text.data[text.size - 1] == '\r') text.size--;
    if (!text.size && w->rule.kind == GX_FRAMES_SYSLOG) return false;
    if (!end && !is_known_long(w, text) && w->ending < (lines ? GX_FRAMES_CLOSED : GX_FRAMES_WHOLE)) return cut_off(w);
    bool is_halved = lines && !end && !is_known_long(w, text) && text.size && text.data[text.size - 1] == '\r';
    if (is_halved) text.size--; /* half of a line's end, at the end */
    return bound(w, text, text.size > w->rule.max, ret_frame);
}

/* The size of what announces a body; 0: nothing does. */
static size_t announced(gale_str text, uint64_t *ret_size) {
    size_t n = digits(text);
    *ret_size = 0;
    for (size_t i = 0; i < n; i++) *ret_size = *ret_size * 10 + (uint64_t)(text.data[i] - '0');
    return n && n < text.size && text.data[n] == ' ' ? n + 1 : 0;
}

static bool walk_counted(walk *w, gx_frame *ret_frame) {
    uint64_t size;
    size_t head = announced(w->rest, &size);
    if (w->rule.kind == GX_FRAMES_SYSLOG && (!head || head == w->rest.size || w->rest.data[head] != '<'))
        return walk_text(w, ret_frame);
    if (!head) { /* digits at the very end may be the beginning of a size */
        w->damaged = digits(w->rest) < w->rest.size;
        w->rest.size = 0;
        return w->damaged ? false : cut_off(w);
    }
    gale_str body = { w->rest.data + head, w->rest.size - head };
    bool broken = body.size < size;
    if (!broken) body.size = (size_t)size;
    w->rest = (gale_str){ body.data + body.size, w->rest.size - head - body.size };
    bool is_long = size > w->rule.max,
         is_cut_off = broken && (is_long ? !w->rule.drops && body.size < w->rule.max : true);
    if (is_cut_off) w->too_long += is_long;
    return is_cut_off ? cut_off(w) : bound(w, body, is_long, ret_frame);
}

static bool walk_next(walk *w, gx_frame *ret_frame) {
    while (w->rest.size)
        if (w->rule.kind <= GX_FRAMES_NUL ? walk_text(w, ret_frame) : walk_counted(w, ret_frame)) return true;
    return false;
}

static void expect_same(walk *w, gx_frame frame) {
    gx_frame wanted;
    expect(walk_next(w, &wanted));
    expect(frame.whole == wanted.whole && gx_str_equal(frame.bytes, wanted.bytes));
}

/* The kind, the bound, how many choices there are, they, and the stream. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input in = { data, size };
    uint8_t kind = fuzz_byte(&in);
    gx_frames_rule rule = { .kind = kind & 3, .drops = kind & 4, .max = 1u + fuzz_byte(&in) };
    size_t count = fuzz_byte(&in);
    fuzz_input choices = { in.data, count < in.size ? count : in.size };
    gale_str stream = { (const char *)in.data + choices.size, in.size - choices.size };
    walk w = { .rule = rule, .rest = stream, .ending = (kind >> 3) % 3 };
    gx_frames frames;
    gx_frame frame;
    gx_heap heap;
    int rc = 0;
    walk first = w;
    if (walk_next(&first, &frame) && frame.bytes.size && !gx_encoding_is_plain(*frame.bytes.data)) return 0;
    gx_heap_init(&heap, NULL);
    gx_frames_init(&frames, &heap, &rule);
    while (stream.size && rc == 0) {
        size_t step = 1u + fuzz_byte(&choices);
        gale_str piece = { stream.data, step < stream.size ? step : stream.size };
        stream = (gale_str){ stream.data + piece.size, stream.size - piece.size };
        while ((rc = gx_frames_next(&frames, &piece, &frame)) > 0) expect_same(&w, frame);
        expect(gx_frames_held(&frames) <= 2 * (rule.max + 64));
    }
    if (rc == 0 && gx_frames_end(&frames, w.ending, &frame)) expect_same(&w, frame);
    expect(!walk_next(&w, &frame) && w.damaged == (rc == GALE_DAMAGED));
    expect(w.too_long == frames.too_long && w.cut_off == frames.cut_off);
    gx_frames_fini(&frames);
    expect(gx_heap_reserved(&heap) == 0);
    return 0;
}
