#include "script/function.h"

enum { BYTES_A_UNIT = 64 };

void gx_function_add(lua_State *lua, const char *name, const luaL_Reg *functions) {
    if (!name) {
        luaL_setfuncs(lua, functions, 0);
        return;
    }
    luaL_getsubtable(lua, -1, name);
    luaL_setfuncs(lua, functions, 0);
    lua_pop(lua, 1);
}

void gx_function_put_before(lua_State *lua, const char *name, const char *field, lua_CFunction function) {
    lua_getfield(lua, -1, name);
    lua_getfield(lua, -1, field);
    lua_pushcclosure(lua, function, 1);
    lua_setfield(lua, -2, field);
    lua_pop(lua, 1);
}

/* Lua's functions that come here have no values of their own, so that they may run in this one's place. */
int gx_function_go_on(lua_State *lua) {
    return lua_tocfunction(lua, lua_upvalueindex(1))(lua);
}

static int charge_text(lua_State *lua) {
    size_t size = lua_type(lua, 1) == LUA_TSTRING ? lua_rawlen(lua, 1) : 0;
    gx_box_charge(lua, 1 + size / (size_t)lua_tointeger(lua, lua_upvalueindex(2)));
    return gx_function_go_on(lua);
}

void gx_function_charge_text(lua_State *lua, const char *name, const char *function, int bytes) {
    if (name)
        lua_getfield(lua, -1, name);
    else
        lua_pushvalue(lua, -1);
    lua_getfield(lua, -1, function);
    lua_pushinteger(lua, bytes);
    lua_pushcclosure(lua, charge_text, 2);
    lua_setfield(lua, -2, function);
    lua_pop(lua, 1);
}

gale_str gx_function_take(lua_State *lua, int argument) {
    gale_str text;
    text.data = luaL_checklstring(lua, argument, &text.size);
    gx_box_charge(lua, 1 + text.size / BYTES_A_UNIT);
    return text;
}

void gx_function_set_text(lua_State *lua, int table, const char *field, gale_str text) {
    table = lua_absindex(lua, table);
    lua_pushlstring(lua, text.data, text.size);
    lua_setfield(lua, table, field);
}
