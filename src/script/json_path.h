/* Places in a document of JSON: "user.name", "tags.0", and what stands there as a value, whose text borrows from the document.
 * Threads: paths are frozen. Owner: a path borrows its text; values' lists and maps are the arena's. */
#ifndef GX_SCRIPT_JSON_PATH_H
#define GX_SCRIPT_JSON_PATH_H

#include "base/str.h"
#include "script/convert.h"

#include <jansson.h>

enum { GX_JSON_STEPS = 16, GX_JSON_NAME = 256 };

typedef struct gx_json_step {
    const char *name; /* ended by a NUL */
    size_t index;     /* that it is in a list; SIZE_MAX: in none */
} gx_json_step;

typedef struct gx_json_path {
    uint32_t count;
    gx_json_step steps[GX_JSON_STEPS];
} gx_json_path;

/* Cuts a path at its points, in place. False: an empty name, or too many. */
bool gx_json_path_cut(char *text, gx_json_path *ret_path);

/* What stands there, or NULL. */
const json_t *gx_json_path_find(const gx_json_path *path, const json_t *root);

/* The value. False when memory is out, or (`*ret_deep`) when it is deeper than a value may be. */
bool gx_json_take(const json_t *json, gx_arena *arena, gale_value *ret_value, bool *ret_deep);

#endif
