/* Text that a function of the library makes, piece by piece, in memory of the box. What is short needs none.
 * Threads: as the Lua state. Owner: the Lua state; nothing to free, whatever error is raised in between. */
#ifndef GX_SCRIPT_OUT_H
#define GX_SCRIPT_OUT_H

#include "base/str.h"

#include <lua.h>

typedef struct gx_out {
    lua_State *lua;
    char *data;
    size_t size, capacity;
    int place; /* on the stack, of what holds the memory */
    char first[240];
} gx_out;

/* Pushes a value, which must stay where it is as long as the text is used. All may raise Lua's errors. */
void gx_out_begin(gx_out *out, lua_State *lua);

/* Where `more` bytes may be written behind `size`, which the caller then adds to. */
char *gx_out_room(gx_out *out, size_t more);

void gx_out_add(gx_out *out, gale_str text);
void gx_out_byte(gx_out *out, char byte);

/* Pushes the text. */
void gx_out_push(gx_out *out);

#endif
