#include "script/function.h"
#include "script/library.h"

enum { CONVERSION_WORK = GX_FUNCTION_NUMBER, LONG_WORK = 800 }; /* of a number's digits */

/* Lua's own would tell the addresses of tables and functions. */
static const char *nameless(lua_State *lua, int index) {
    switch (lua_type(lua, index)) {
    case LUA_TLIGHTUSERDATA: return "null";
    case LUA_TTABLE: return "table";
    case LUA_TFUNCTION: return "function";
    case LUA_TUSERDATA: return "userdata";
    default: return NULL;
    }
}

static int to_string(lua_State *lua) {
    luaL_checkany(lua, 1);
    gx_box_charge(lua, lua_type(lua, 1) == LUA_TNUMBER ? CONVERSION_WORK : 1);
    const char *name = nameless(lua, 1);
    gx_function_number_text(lua, 1);
    if (name)
        lua_pushstring(lua, name);
    else
        luaL_tolstring(lua, 1, NULL);
    return 1;
}

enum { PENDING = 1, ENVIRONMENT }; /* upvalues */

/* `a .. b` is compiled as `a .. _ENV .. b`, since Lua's own operator writes 14 digits of a number. From the right to the left:
 * `_ENV .. b` keeps the text of b, and `a .. _ENV` puts that of a before it. Nothing runs in between. */
static int join_two(lua_State *lua) {
    bool is_last = lua_rawequal(lua, 2, lua_upvalueindex(ENVIRONMENT));
    int operand = is_last ? 1 : 2;
    if (!lua_isstring(lua, operand))
        return luaL_error(lua, "attempt to concatenate a %s value", luaL_typename(lua, operand));
    gx_box_charge(lua, gx_function_text_work(lua, operand));
    gx_function_number_text(lua, operand);
    lua_settop(lua, operand);
    if (!is_last) {
        lua_replace(lua, lua_upvalueindex(PENDING));
        lua_pushvalue(lua, lua_upvalueindex(ENVIRONMENT));
        return 1;
    }
    lua_pushvalue(lua, lua_upvalueindex(PENDING));
    lua_concat(lua, 2);
    lua_pushnil(lua);
    lua_replace(lua, lua_upvalueindex(PENDING));
    return 1;
}

void gx_library_concatenation(lua_State *lua) {
    lua_getmetatable(lua, -1);
    lua_pushnil(lua);
    lua_pushvalue(lua, -3);
    lua_pushcclosure(lua, join_two, 2);
    lua_setfield(lua, -2, "__concat");
    lua_pop(lua, 1);
}

/* Makes an argument ready for a conversion. "%f" of a large number, or with many digits, is long arithmetic. "%q" writes each control
 * character as a number. */
static void prepare(lua_State *lua, int argument, char conversion) {
    gx_box_charge(lua, conversion && strchr("aAeEfFgG", conversion) ? LONG_WORK : CONVERSION_WORK);
    if (conversion == 'p') luaL_error(lua, "invalid conversion '%%p' to 'format'");
    if (lua_type(lua, argument) == LUA_TSTRING)
        gx_box_charge(lua, lua_rawlen(lua, argument) / (conversion == 'q' ? 1 : 16));
    const char *name = conversion == 's' ? nameless(lua, argument) : NULL;
    if (conversion == 's') gx_function_number_text(lua, argument);
    if (!name) return;
    lua_pushstring(lua, name);
    lua_replace(lua, argument);
}

static int format(lua_State *lua) {
    gale_str text = gx_function_take(lua, 1);
    int argument = 1;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] != '%') continue;
        if (++i < text.size && text.data[i] == '%') continue;
        while (i < text.size && text.data[i] && strchr("-+ #0123456789.", text.data[i])) i++;
        if (++argument <= lua_gettop(lua) && i < text.size) prepare(lua, argument, text.data[i]);
    }
    return gx_function_go_on(lua);
}

void gx_library_format(lua_State *lua) {
    lua_pushcfunction(lua, to_string);
    lua_setfield(lua, -2, "tostring");
    gx_function_put_before(lua, "string", "format", format);
}
