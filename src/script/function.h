/* What functions of the library share: how they are added, and how they take their arguments.
 * Threads: as the box. Owner: everything belongs to the Lua state. All may raise Lua's errors. */
#ifndef GX_SCRIPT_FUNCTION_H
#define GX_SCRIPT_FUNCTION_H

#include "base/str.h"
#include "script/box.h"

#include <lauxlib.h>

enum { GX_FUNCTION_NUMBER = 40 }; /* units of making a number text, or text a number */

/* Adds the functions to the table `name` in the one on the top, which is made if it is missing; NULL: to that itself. */
void gx_function_add(lua_State *lua, const char *name, const luaL_Reg *functions);

/* Puts a function before one of Lua's in table `name` (NULL: that on the top) that charges a unit for `bytes` bytes of its
 * first argument. */
void gx_function_charge_text(lua_State *lua, const char *name, const char *function, int bytes);

/* The same, of all its arguments: `eighths` of a unit for each. */
void gx_function_charge_arguments(lua_State *lua, const char *name, const char *function, int eighths);

/* The same, where each argument is a number: GX_FUNCTION_NUMBER more for each that is text. */
void gx_function_charge_numbers(lua_State *lua, const char *name, const char *function, int eighths);

/* Puts `function` before one of Lua's own in table `name`; it ends with `return gx_function_go_on(lua)`. */
void gx_function_put_before(lua_State *lua, const char *name, const char *field, lua_CFunction function);
int gx_function_go_on(lua_State *lua);

/* table.sort: an order must be a function. */
int gx_function_sort(lua_State *lua);

/* An argument that is text (or a number, which becomes text), charged for. */
gale_str gx_function_take(lua_State *lua, int argument);

/* The work of taking the value at `index` as text. */
uint64_t gx_function_text_work(lua_State *lua, int index);

/* Replaces a number at `index` by its text: the fewest digits that read back the same, and ".0" behind a float that is whole.
 * What is no number stays. */
void gx_function_number_text(lua_State *lua, int index);

/* A table's field that is text. */
void gx_function_set_text(lua_State *lua, int table, const char *field, gale_str text);

#endif
