#include "base/str.h"
#include "script/function.h"
#include "script/library.h"

/* pairs(table) in an order: numbers, then texts by their bytes, then the rest. Lua's own order is another one in each
 * process, and what an expression answers must be the same when its tuple comes again. */

static int rank_of(int type) {
    return type == LUA_TNUMBER ? 0 : type == LUA_TSTRING ? 1 : type == LUA_TBOOLEAN ? 2 : 3;
}

static int is_less(lua_State *lua) {
    gale_str a, b;
    int one = rank_of(lua_type(lua, 1)), other = rank_of(lua_type(lua, 2));
    bool is = one < other;
    if (one == other && one == 0) is = lua_compare(lua, 1, 2, LUA_OPLT);
    if (one == other && one == 1) {
        a.data = lua_tolstring(lua, 1, &a.size);
        b.data = lua_tolstring(lua, 2, &b.size);
        gx_box_charge(lua, (a.size < b.size ? a.size : b.size) / 64);
        is = gx_str_compare(a, b) < 0;
    }
    if (one == other && one == 2) is = !lua_toboolean(lua, 1) && lua_toboolean(lua, 2);
    lua_pushboolean(lua, is);
    return 1;
}

enum { TABLE = 1, KEYS, AT }; /* upvalues; without KEYS they are 1 to n */

static int next_pair(lua_State *lua) {
    lua_Integer at = lua_tointeger(lua, lua_upvalueindex(AT));
    bool listed = !lua_isnil(lua, lua_upvalueindex(KEYS));
    do { /* what was taken out meanwhile does not come any more */
        gx_box_charge(lua, 2);
        lua_settop(lua, 0);
        at++;
        if (listed)
            lua_rawgeti(lua, lua_upvalueindex(KEYS), at);
        else
            lua_pushinteger(lua, at);
        if (lua_isnil(lua, 1)) return 1;
        lua_pushvalue(lua, 1);
    } while (lua_rawget(lua, lua_upvalueindex(TABLE)) == LUA_TNIL && listed);
    lua_pushinteger(lua, at);
    lua_replace(lua, lua_upvalueindex(AT));
    if (lua_isnil(lua, 2)) lua_settop(lua, 0), lua_pushnil(lua);
    return lua_gettop(lua);
}

static lua_Integer count(lua_State *lua) {
    lua_Integer n = 0;
    gx_box_charge_walk(lua);
    for (lua_pushnil(lua); lua_next(lua, 1); n++) lua_pop(lua, 1);
    gx_box_charge(lua, (uint64_t)n);
    return n;
}

static void push_keys(lua_State *lua, lua_Integer n) {
    lua_pushcfunction(lua, gx_function_sort);
    lua_createtable(lua, (int)n, 0);
    lua_pushvalue(lua, -1);
    lua_insert(lua, -3);
    lua_Integer i = 0;
    for (lua_pushnil(lua); lua_next(lua, 1);) {
        lua_pop(lua, 1);
        lua_pushvalue(lua, -1);
        lua_rawseti(lua, -3, ++i);
    }
    lua_pushcfunction(lua, is_less);
    lua_call(lua, 2, 0);
}

static int pairs(lua_State *lua) {
    luaL_checktype(lua, 1, LUA_TTABLE);
    lua_settop(lua, 1);
    lua_Integer n = count(lua);
    lua_pushvalue(lua, 1);
    if ((lua_Integer)lua_rawlen(lua, 1) == n)
        lua_pushnil(lua);
    else
        push_keys(lua, n);
    lua_pushinteger(lua, 0);
    lua_pushcclosure(lua, next_pair, AT);
    return 1;
}

void gx_library_pairs(lua_State *lua) {
    static const luaL_Reg functions[] = { { "pairs", pairs }, { NULL, NULL } };
    gx_function_add(lua, NULL, functions);
}
