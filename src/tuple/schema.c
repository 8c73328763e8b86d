#include "tuple/schema.h"

/* Storm's names: a tick's one field is "rate_secs". */
const gx_schema_component *gx_schema_system(void) {
    static const char *const fields[] = { "rate_secs" };
    static const gx_schema_stream streams[] = { [GX_STREAM_TICK] = { "__tick", fields, 1 } };
    static const gx_schema_component system = { "__system", streams, 1 };
    return &system;
}
