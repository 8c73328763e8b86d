/* Values from parsed JSON: the way back from tuple/json.h. {"base64": "..."} becomes bytes; a number is an i64 when it
 * is written without point and exponent.
 * Threads: any. Owner: what is made is the caller's. */
#ifndef GX_FRONT_JSON_VALUE_H
#define GX_FRONT_JSON_VALUE_H

#include "base/port.h"

#include <gale/value.h>
#include <jansson.h>

/* GALE_TOO_LARGE (too deep), GALE_INVALID (base64 that is none), GALE_NO_MEMORY. */
int gx_json_to_value(json_t *json, gale_value_owned **ret_value);

/* The way back from front/exact_json.h. As above; GALE_INVALID for what it says of a value in other ways than that. */
int gx_json_to_exact(json_t *json, gale_value_owned **ret_value);

/* Does the only key of an object say that it is no map? */
bool gx_json_is_tag(gale_str key);

#endif
