/* Values as JSON, such that each is read back as it was (gx_json_to_exact), and people can read and write them:
 *
 *     null, true, "text", [ ... ]    as they are
 *     12                             an i64 of at most 2^53 - 1, which every reader of JSON has exactly;
 *     {"i64": "9007199254740993"}    any
 *     1.0, 2e300                     an f64: with a point or an exponent
 *     {"f64": "nan"}                 nan, inf, -inf, or 16 hexadecimal digits of its bits
 *     {"base64": "AAE="}             bytes, as in dead letters
 *     {"string": "/w=="}             a string that is not UTF-8, its bytes as base64
 *     { ... }                        a map
 *     {"map": [[key, value], ...]}   a map whose only key is one of these, or with a key that is no text for JSON (a NUL)
 *
 * Threads: any. */
#ifndef GX_FRONT_EXACT_JSON_H
#define GX_FRONT_EXACT_JSON_H

#include "base/json.h"

#include <gale/value.h>

void gx_exact_json(gx_json *json, const gale_value *value);

#endif
