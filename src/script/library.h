/* What expressions can call beside what is left of Lua's own library (box.h): text, lists, patterns, JSON, time, URLs,
 * metrics.
 *
 * Each function charges the box for what it is about to look at, before it does (about one unit for 64 bytes, or for one item), and
 * takes memory from the box alone; so no call of it goes on for longer than the call's bounds allow.
 * Threads: as the box. Owner: everything belongs to the Lua state. */
#ifndef GX_SCRIPT_LIBRARY_H
#define GX_SCRIPT_LIBRARY_H

#include <lua.h>

/* Each adds functions to the table on the top of the stack, which is that of the global names, or to a table in it. May raise
 * Lua's errors: called inside a protected call. */
void gx_library_text(lua_State *lua);          /* split, trim, ...; string.rep */
void gx_library_format(lua_State *lua);        /* tostring, string.format */
void gx_library_concatenation(lua_State *lua); /* `..` in what is compiled; the table is frozen */
void gx_library_list(lua_State *lua);          /* table.sort, table.insert, ...; join */
void gx_library_pairs(lua_State *lua);
void gx_library_pattern(lua_State *lua); /* string.find, match, gmatch, gsub, regex: PCRE2 */
void gx_library_data(lua_State *lua);    /* base64, hex, hash */
void gx_library_json(lua_State *lua);
void gx_library_url(lua_State *lua);
void gx_library_time(lua_State *lua);   /* now, time */
void gx_library_metric(lua_State *lua); /* metric.count, .gauge, .observe */

#endif
