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
    if (name)
        lua_pushstring(lua, name);
    else
        luaL_tolstring(lua, 1, NULL);
    return 1;
}

/* Makes an argument ready for a conversion. "%f" of a large number, or with many digits, is long arithmetic. "%q" writes each control
 * character as a number. */
static void prepare(lua_State *lua, int argument, char conversion) {
    gx_box_charge(lua, conversion && strchr("aAeEfFgG", conversion) ? LONG_WORK : CONVERSION_WORK);
    if (conversion == 'p') luaL_error(lua, "invalid conversion '%%p' to 'format'");
    if (lua_type(lua, argument) == LUA_TSTRING)
        gx_box_charge(lua, lua_rawlen(lua, argument) / (conversion == 'q' ? 1 : 16));
    const char *name = conversion == 's' ? nameless(lua, argument) : NULL;
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
