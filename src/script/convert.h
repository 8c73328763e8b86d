/* Values into Lua and back: null is nil, i64 an integer, f64 a float, strings and bytes are strings, lists and maps tables.
 * Back: text that is no UTF-8 is bytes; a table whose keys are 1 to n is a list, one whose keys are strings a map, an
 * empty one a list. Null inside of lists and maps is gx_convert_null, `json.null` of the library, since nil is no item.
 * Threads: as the Lua state. Owner: what comes back borrows its text from the state, and its lists from the arena. */
#ifndef GX_SCRIPT_CONVERT_H
#define GX_SCRIPT_CONVERT_H

#include "tuple/arena.h"

#include <gale/value.h>
#include <lua.h>

/* Pushes a value. May raise Lua's errors: memory, and a depth of more than GALE_VALUE_DEPTH. */
void gx_convert_push(lua_State *lua, const gale_value *value);

/* The null that stands in tables: pushes it. */
void gx_convert_push_null(lua_State *lua);

/* What gx_convert_take says when it has no room. */
extern const char gx_convert_no_room[];

/* Bounds of one value. The same table or text may be in it many times. */
typedef struct gx_convert_bounds {
    size_t bytes;  /* of the arena */
    uint64_t work; /* one unit for an item, and for 64 bytes of text... */
    uint64_t walk; /* ...and so many for a table, whatever is in it */
} gx_convert_bounds;

/* The value at `index`, which must stay on the stack as long as it is used. Raises nothing. NULL, or what is wrong with it as
 * the end of a sentence that begins with "it returned ". A map's keys come in the order of their bytes: Lua's own order is
 * another one in each process. */
const char *gx_convert_take(lua_State *lua, int index, gx_arena *arena, gx_convert_bounds bounds,
                            gale_value *ret_value);

#endif
