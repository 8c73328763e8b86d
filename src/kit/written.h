/* Values as text, as sinks and shapers write them. Threads: any. */
#ifndef GX_KIT_WRITTEN_H
#define GX_KIT_WRITTEN_H

#include "kit/fields.h"

/* Strings and bytes as they are, null as nothing, all else as in JSON. */
void gx_written_text(gx_buf *to, const gale_value *value);

/* {"field": value, ...} */
void gx_written_json(gx_buf *to, const gx_fields *fields, const gale_value *values);

#endif
