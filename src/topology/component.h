/* What a bolt can ask about its inputs (the streams that it subscribed to, by component and stream, made by the plan), and
 * which reasons of a failure there are. */
#ifndef GX_TOPOLOGY_COMPONENT_H
#define GX_TOPOLOGY_COMPONENT_H

#include "base/port.h"
#include "tuple/schema.h"

#include <gale/component.h>

typedef struct gx_input {
    const char *component;
    const gx_schema_stream *stream;
} gx_input;

struct gale_inputs {
    const gx_input *inputs;
    uint32_t count;
};

/* A reason that a bolt may give. */
GX_INLINE bool gx_reason_is_valid(int32_t reason) {
    bool own = reason == GALE_REASON_STOPPED || reason == GALE_REASON_SOURCE_LOST; /* the engine's */
    return (reason >= 0 && reason < GALE_REASON_COUNT && !own) || reason >= GALE_REASON_USER;
}

#endif
