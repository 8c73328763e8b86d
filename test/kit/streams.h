/* The fake collector for components with several outputs: what goes to stream n > 0 is written down as "n:[...]". */
#ifndef TEST_KIT_STREAMS_H
#define TEST_KIT_STREAMS_H

#include "harness/fake_collector.h"

static const gale_collector_ops *streams_base;
static uint32_t streams_unheard; /* a bit for each stream that nobody subscribes to */

static int streams_emit_anchored(gale_collector *out, uint32_t stream, const gale_value *values, size_t count,
                                 const gale_handle *anchors, size_t anchor_count) {
    fake_collector *fake = (fake_collector *)out;
    size_t before = fake->emitted.size;
    bool unheard = (streams_unheard >> stream) & 1;
    if (stream) gx_buf_format(&fake->emitted, "%u:", stream);
    int rc = anchors ? streams_base->emit(out, 0, values, count)
                     : streams_base->emit_anchored(out, 0, values, count, NULL, anchor_count);
    if (rc < 0 || unheard) fake->emitted.size = before;
    return rc > 0 && unheard ? 0 : rc;
}

static int streams_emit(gale_collector *out, uint32_t stream, const gale_value *values, size_t count) {
    return streams_emit_anchored(out, stream, values, count, &(gale_handle){ 0 }, 1);
}

/* After fake_init. */
static inline void streams_use(fake_collector *fake) {
    static gale_collector_ops ops;
    streams_base = streams_base ? streams_base : fake->collector.ops;
    ops = *streams_base;
    ops.emit = streams_emit;
    ops.emit_anchored = streams_emit_anchored;
    fake->collector.ops = &ops;
    streams_unheard = 0;
}

#endif
