/* Words and signs of other languages in an expression: "!=" of C, "is null" of SQL, "x if y else z" of Python.
 *
 * Only a text that Lua refuses is looked at: each of them is an error in Lua, and the report then has what to write here.
 * Threads: any. Owner: what is found borrows from the text. */
#ifndef GX_SCRIPT_FOREIGN_H
#define GX_SCRIPT_FOREIGN_H

#include "base/str.h"

typedef struct gx_foreign {
    gale_str text;     /* as it stands there, "!=" */
    const char *write; /* what stands for it here */
} gx_foreign;

/* Is the name a field, a function of the library, or the text's own? */
typedef bool gx_foreign_knows_fn(const void *user, gale_str name);

/* The first one in the text; false: there is none. */
bool gx_foreign_find(gale_str text, gx_foreign_knows_fn *knows, const void *user, gx_foreign *ret_found);

#endif
