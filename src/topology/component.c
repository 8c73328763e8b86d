#include "topology/component.h"

#include "base/str.h"

const char *gale_reason_name(int32_t reason) {
    static const char *const names[] = { "failed",   "rejected", "timeout",   "deadline",
                                         "overflow", "stopped",  "no memory", "child exited" };
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
