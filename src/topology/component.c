#include "topology/component.h"

#include "base/str.h"

const char *gale_reason_name(int32_t reason) {
    static const char *const names[] = { "failed",  "rejected",  "timeout",      "deadline",   "overflow",
                                         "stopped", "no memory", "child exited", "source lost" };
    static_assert(sizeof names / sizeof names[0] == GALE_REASON_COUNT, "a name for every reason");
    if (reason >= GALE_REASON_USER) return "user";
    return reason >= 0 && reason < GALE_REASON_COUNT ? names[reason] : "unknown";
}

static int field_of(const gx_schema_stream *stream, const char *field) {
    for (uint32_t i = 0; i < stream->field_count; i++)
        if (strcmp(stream->fields[i], field) == 0) return (int)i;
    return -1;
}

int gale_context_field(const gale_context *context, const char *component, const char *stream, const char *field) {
    const struct gale_inputs *inputs = context ? context->inputs : NULL;
    if (!inputs || !component || !field) return -1;
    const char *wanted = stream ? stream : "default";
    for (uint32_t i = 0; i < inputs->count; i++) {
        const gx_input *input = &inputs->inputs[i];
        if (strcmp(input->component, component) != 0 || strcmp(input->stream->name, wanted) != 0) continue;
        return field_of(input->stream, field);
    }
    return -1;
}

/* --- Many tuples in one call --- */

#define HAS(ops, function)                                                                                             \
    ((ops)->size >= offsetof(gale_collector_ops, function) + sizeof(ops)->function && (ops)->function)

static const gale_value *row_of(const gale_value *values, size_t count, size_t row) {
    return count ? values + row * count : values;
}

static int told(int rc, size_t done, size_t *emitted) {
    if (emitted) *emitted = done;
    return rc < 0 ? rc : GALE_OK;
}

int gale_emit_many(gale_collector *out, uint32_t stream, const gale_value *values, size_t count, size_t rows,
                   size_t *emitted) {
    size_t done = 0;
    int rc = GALE_OK;
    if (!out || (!values && count && rows)) return told(GALE_INVALID, 0, emitted);
    if (!rows) return told(rc, 0, emitted);
    if (HAS(out->ops, emit_many)) {
        rc = out->ops->emit_many(out, stream, values, count, rows, &done);
        return told(rc, done, emitted);
    }
    while (done < rows && (rc = out->ops->emit(out, stream, row_of(values, count, done), count)) >= 0) done++;
    return told(rc, done, emitted);
}

int gale_emit_many_tracked(gale_collector *out, uint32_t stream, const gale_value *values, size_t count, size_t rows,
                           const uint64_t *message_ids, size_t *emitted) {
    size_t done = 0;
    int rc = GALE_OK;
    if (!out || (rows && ((!values && count) || !message_ids))) return told(GALE_INVALID, 0, emitted);
    if (!rows) return told(rc, 0, emitted);
    if (HAS(out->ops, emit_many_tracked)) {
        rc = out->ops->emit_many_tracked(out, stream, values, count, rows, message_ids, &done);
        return told(rc, done, emitted);
    }
    while (done < rows && rc >= 0) {
        rc = out->ops->emit_tracked(out, stream, row_of(values, count, done), count, message_ids[done]);
        if (rc >= 0) done++;
    }
    return told(rc, done, emitted);
}
