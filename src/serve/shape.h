/* The shape of an answer, in a shorthand, and as JSON Schema.
 *
 * What:    "{live:b, problems:[{text:s, since:n?}], trees:{*:i}, drawing:?}" is an object with exactly these members. s is text, n a number, i a whole
 *          number, b true or false, ? anything; a ? behind a value: or null. [x] is a list of x, {*:x} an object with any members, each an x. A|B, outermost, is one of both.
 * Threads: any. Misuse: a shape that is none is an assertion: shapes are literals, and a test reads them all.
 */
#ifndef GX_SERVE_SHAPE_H
#define GX_SERVE_SHAPE_H

#include "base/json.h"

/* Writes the schema of a shape. False: it is none. */
bool gx_shape_schema(gx_json *json, const char *shape);

#endif
