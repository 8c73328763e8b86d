/* Values from JSON: the way back from tuple/json.h and front/exact_json.h. {"base64": "..."} becomes bytes; a number is an i64
 * when it is written without point and exponent and fits.
 * Threads: any. Owner: what is made is the caller's. */
#ifndef GX_FRONT_JSON_VALUE_H
#define GX_FRONT_JSON_VALUE_H

#include "tuple/json_read.h"

/* GALE_TOO_LARGE (too deep), GALE_INVALID (no JSON, base64 that is none), GALE_NO_MEMORY. */
int gx_json_to_value(gale_str json, gale_value_owned **ret_value);

/* The way back from front/exact_json.h. As above; GALE_INVALID for what it says of a value in other ways than that. */
int gx_json_to_exact(gale_str json, gale_value_owned **ret_value);

/* A reader whose values gx_json_make_exact takes: tags in them nest deeper than a value does, and no name comes twice. */
void gx_json_exact_reader(gx_json_reader *reader, gx_heap *heap);

/* Makes the exact value of one that this reader has read, in place. As gx_json_to_exact. */
int gx_json_make_exact(gx_json_reader *reader, gale_value *value);

/* Does the only key of an object say that it is no map? */
bool gx_json_is_tag(gale_str key);

#endif
