/* What a request asks for: the path, cut at its slashes, and the pairs behind the question mark, decoded (RFC 3986).
 *
 * What:    "/api/v1/topology/word%20count?window=600" is four segments, the last of which is "word count", and one pair. What is no
 *          UTF-8 when it is decoded, has control characters, or a segment of dots is refused, so that nobody behind this
 *          must ask. In the query a '+' is a space, as forms write it.
 * Threads: any. Owner: the texts lie in the structure.
 * Limits:  GX_TARGET_SIZE bytes, GX_TARGET_SEGMENTS, GX_TARGET_PAIRS: more is refused.
 */
#ifndef GX_SERVE_TARGET_H
#define GX_SERVE_TARGET_H

#include "base/str.h"

enum { GX_TARGET_SIZE = 2048, GX_TARGET_SEGMENTS = 12, GX_TARGET_PAIRS = 16 };

typedef struct gx_target_pair {
    gale_str name, value;
} gx_target_pair;

typedef struct gx_target {
    gale_str segments[GX_TARGET_SEGMENTS];
    gx_target_pair pairs[GX_TARGET_PAIRS];
    uint32_t segment_count, pair_count;
    size_t size; /* of `bytes` in use */
    char bytes[GX_TARGET_SIZE];
} gx_target;

/* False: `ret_why` says why, in half a sentence ("has ..."). */
bool gx_target_read(gale_str text, gx_target *ret_target, const char **ret_why);

/* The value of the first pair of this name, or an empty text without data. */
gale_str gx_target_query(const gx_target *target, const char *name);

#endif
