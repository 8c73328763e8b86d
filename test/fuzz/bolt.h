/* A bolt without an engine, for fuzz targets: a collector that hands what is emitted to the target, and holds tuples.
 * Threads: one. Owner: the target. */
#ifndef TEST_FUZZ_BOLT_H
#define TEST_FUZZ_BOLT_H

#include "fuzz.h"

#include "tuple/body.h"
#include "tuple/row.h"
#include "tuple/schema.h"

#include <gale/component.h>

enum { FUZZ_HELD = 4096 };

typedef struct fuzz_bolt {
    gale_collector collector;
    gale_context context;
    gale_bolt bolt;
    void *self;
    void (*on_emit)(struct fuzz_bolt *bolt, uint32_t stream, const gale_value *values, size_t count, size_t anchors);
    int64_t now;
    size_t reports;
    /* The tuple in hand, and those that are held. */
    gale_tuple tuple;
    gale_head head;
    gx_schema_stream stream;
    gx_schema_component source;
    const gx_schema_component *components[2];
    gale_schema schema;
    gale_tuple held[FUZZ_HELD];
    size_t held_count, open;
} fuzz_bolt;

static int fuzz_emit_anchored(gale_collector *out, uint32_t stream, const gale_value *values, size_t count,
                              const gale_handle *anchors, size_t anchor_count) {
    fuzz_bolt *bolt = (fuzz_bolt *)out;
    for (size_t i = 0; i < anchor_count; i++) expect(anchors[i] && bolt->held[anchors[i] - 1].body);
    int64_t size = gx_body_measure(values, count);
    expect(size > 0); /* whatever comes in, what goes out is valid */
    bolt->on_emit(bolt, stream, values, count, anchor_count);
    return 1;
}

static int fuzz_emit(gale_collector *out, uint32_t stream, const gale_value *values, size_t count) {
    return fuzz_emit_anchored(out, stream, values, count, NULL, 0);
}

static int fuzz_answer(gale_collector *out, gale_handle handle) {
    fuzz_bolt *bolt = (fuzz_bolt *)out;
    expect(handle && handle <= bolt->held_count && bolt->held[handle - 1].body); /* each is answered once */
    free((void *)(uintptr_t)bolt->held[handle - 1].body);
    bolt->held[handle - 1].body = NULL;
    bolt->open--;
    return 0;
}

static int fuzz_fail(gale_collector *out, gale_handle handle, int32_t reason, const char *text) {
    (void)reason, (void)text;
    return fuzz_answer(out, handle);
}

static void *fuzz_body(const gale_value *values, size_t count) {
    int64_t size = gx_body_measure(values, count);
    expect(size > 0);
    void *body = aligned_alloc(16, ((size_t)size + 15) & ~(size_t)15);
    expect(body != NULL);
    gx_body_encode(values, count, body);
    return body;
}

static int fuzz_hold(gale_collector *out, gale_handle handle, gale_handle *ret_held) {
    fuzz_bolt *bolt = (fuzz_bolt *)out;
    gale_value values[8];
    (void)handle;
    if (bolt->held_count == FUZZ_HELD) return GALE_NO_MEMORY;
    size_t count = gale_tuple_size(&bolt->tuple);
    for (size_t i = 0; i < count; i++) values[i] = gale_tuple_value(&bolt->tuple, i);
    gale_tuple *held = &bolt->held[bolt->held_count++];
    *held = bolt->tuple;
    held->body = fuzz_body(values, count);
    *ret_held = bolt->held_count;
    bolt->open++;
    return 0;
}

static const gale_tuple *fuzz_held(gale_collector *out, gale_handle handle) {
    fuzz_bolt *bolt = (fuzz_bolt *)out;
    bool there = handle && handle <= bolt->held_count && bolt->held[handle - 1].body;
    return there ? &bolt->held[handle - 1] : NULL;
}

static int fuzz_renew(gale_collector *out, gale_handle handle) {
    expect(fuzz_held(out, handle) != NULL);
    return 0;
}

static void fuzz_report(gale_collector *out, const char *text) {
    ((fuzz_bolt *)out)->reports += text[0] != 0;
}

static int64_t fuzz_now(void *user) {
    return ((fuzz_bolt *)user)->now;
}

static uint64_t fuzz_random(const gale_context *context) {
    (void)context;
    return 1;
}

static void fuzz_log(void *user, int32_t level, const char *component, const char *text) {
    (void)user, (void)level, (void)component, (void)text;
}

/* `bolt->bolt` and `on_emit` are set; what comes in has `fields`. */
static inline void fuzz_bolt_begin(fuzz_bolt *bolt, const char *const *fields, uint32_t field_count) {
    static const gale_collector_ops ops = { .size = sizeof ops,
                                            .emit = fuzz_emit,
                                            .emit_anchored = fuzz_emit_anchored,
                                            .ack = fuzz_answer,
                                            .fail = fuzz_fail,
                                            .hold = fuzz_hold,
                                            .held = fuzz_held,
                                            .report = fuzz_report,
                                            .reset_timeout = fuzz_renew };
    static const gale_logger logger = { sizeof(gale_logger), GALE_LOG_ERROR, fuzz_log, NULL };
    bolt->collector.ops = &ops;
    bolt->stream = (gx_schema_stream){ "default", (const char **)(uintptr_t)fields, field_count };
    bolt->source = (gx_schema_component){ "source", &bolt->stream, 1 };
    bolt->components[0] = gx_schema_system();
    bolt->components[1] = &bolt->source;
    bolt->schema = (gale_schema){ bolt->components, 1 };
    bolt->context = (gale_context){ .size = sizeof bolt->context,
                                    .topology = "fuzz",
                                    .component = "bolt",
                                    .task = 2,
                                    .task_count = 1,
                                    .logger = &logger,
                                    .clock = { .now = fuzz_now, .user = bolt },
                                    .random = fuzz_random };
    bolt->held_count = bolt->open = bolt->reports = 0;
    expect(bolt->bolt.ops->prepare(bolt->bolt.user, &bolt->context, &bolt->collector, &bolt->self) == 0);
}

/* Executes a tuple; `task` 0: a tick. What execute returns. */
static inline int fuzz_bolt_take(fuzz_bolt *bolt, uint32_t task, const gale_value *values, size_t count) {
    void *body = fuzz_body(values, count);
    bolt->head = (gale_head){ 0 };
    bolt->tuple = (gale_tuple){ body, &bolt->head, &bolt->schema, bolt->tuple.handle + 1, task, 0 };
    int rc = bolt->bolt.ops->execute(bolt->self, &bolt->tuple, &bolt->collector);
    free(body);
    return rc;
}

static inline void fuzz_bolt_end(fuzz_bolt *bolt) {
    if (bolt->bolt.ops->finish) expect(bolt->bolt.ops->finish(bolt->self, &bolt->collector) == 0);
    expect(bolt->open == 0);
    bolt->bolt.ops->cleanup(bolt->self);
    if (bolt->bolt.free_user) bolt->bolt.free_user(bolt->bolt.user);
}

#endif
