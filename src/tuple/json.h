/* Values and tuples as JSON. Bytes become {"base64": "..."}; NaN and infinities become null; maps keep their key
 * order. */
#ifndef GX_TUPLE_JSON_H
#define GX_TUPLE_JSON_H

#include "base/json.h"

#include <gale/tuple.h>

void gx_json_value(gx_json *json, const gale_value *value);

/* {"field": value, ...} by the stream's fields; a value without a field is named by its index. */
void gx_json_tuple_values(gx_json *json, const gale_tuple *tuple);

#endif
