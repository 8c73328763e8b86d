/* What a bolt can ask about its inputs: the streams that it subscribed to, by component and stream. Made by the plan.
 * */
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

#endif
