#include "script/function.h"

#include "base/number.h"

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
    uint64_t number = lua_type(lua, 1) == LUA_TNUMBER ? GX_FUNCTION_NUMBER : 0;
    gx_box_charge(lua, 1 + number + size / (size_t)lua_tointeger(lua, lua_upvalueindex(2)));
    return gx_function_go_on(lua);
}

static int charge_arguments(lua_State *lua) {
    gx_box_charge(lua, 1 + (uint64_t)lua_gettop(lua) * (uint64_t)lua_tointeger(lua, lua_upvalueindex(2)) / 8);
    return gx_function_go_on(lua);
}

static int charge_numbers(lua_State *lua) {
    uint64_t texts = 0;
    for (int i = lua_gettop(lua); i; i--) texts += lua_type(lua, i) == LUA_TSTRING;
    gx_box_charge(lua, texts * GX_FUNCTION_NUMBER);
    return charge_arguments(lua);
}

/* Puts `before`, which has a number of its own, before one of Lua's functions. */
static void put_before(lua_State *lua, const char *name, const char *function, lua_CFunction before, int number) {
    if (name)
        lua_getfield(lua, -1, name);
    else
        lua_pushvalue(lua, -1);
    lua_getfield(lua, -1, function);
    lua_pushinteger(lua, number);
    lua_pushcclosure(lua, before, 2);
    lua_setfield(lua, -2, function);
    lua_pop(lua, 1);
}

void gx_function_charge_text(lua_State *lua, const char *name, const char *function, int bytes) {
    put_before(lua, name, function, charge_text, bytes);
}

void gx_function_charge_arguments(lua_State *lua, const char *name, const char *function, int eighths) {
    put_before(lua, name, function, charge_arguments, eighths);
}

void gx_function_charge_numbers(lua_State *lua, const char *name, const char *function, int eighths) {
    put_before(lua, name, function, charge_numbers, eighths);
}

uint64_t gx_function_text_work(lua_State *lua, int index) {
    switch (lua_type(lua, index)) {
    case LUA_TNUMBER: return GX_FUNCTION_NUMBER;
    case LUA_TSTRING: return 1 + lua_rawlen(lua, index) / BYTES_A_UNIT;
    default: return 1;
    }
}

void gx_function_number_text(lua_State *lua, int index) {
    char text[GX_NUMBER_TEXT];
    if (lua_type(lua, index) != LUA_TNUMBER) return;
    index = lua_absindex(lua, index);
    size_t size = lua_isinteger(lua, index) ? gx_number_write_whole(text, lua_tointeger(lua, index))
                                            : gx_number_write_float(text, lua_tonumber(lua, index));
    lua_pushlstring(lua, text, size);
    lua_replace(lua, index);
}

gale_str gx_function_take(lua_State *lua, int argument) {
    gale_str text;
    gx_box_charge(lua, gx_function_text_work(lua, argument));
    gx_function_number_text(lua, argument);
    text.data = luaL_checklstring(lua, argument, &text.size);
    return text;
}

void gx_function_set_text(lua_State *lua, int table, const char *field, gale_str text) {
    table = lua_absindex(lua, table);
    lua_pushlstring(lua, text.data, text.size);
    lua_setfield(lua, table, field);
}
