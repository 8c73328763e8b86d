#include "script/function.h"
#include "script/library.h"
#include "script/out.h"

enum { MOST = 1 << 20 }; /* more than there can be on Lua's stack */

/* --- Before Lua's own --- */

static uint64_t length_of(lua_State *lua, int argument) {
    return lua_type(lua, argument) == LUA_TTABLE ? lua_rawlen(lua, argument) : 0;
}

/* insert(list, place, value), remove(list, place): what lies behind the place is moved. */
static int move_rest(lua_State *lua, int arguments) {
    uint64_t length = length_of(lua, 1);
    int64_t place = lua_gettop(lua) == arguments ? lua_tointeger(lua, 2) : 0;
    gx_box_charge(lua, 1 + (place > 0 && (uint64_t)place < length ? 2 * (length - (uint64_t)place) : 0));
    return gx_function_go_on(lua);
}

static int insert(lua_State *lua) {
    return move_rest(lua, 3);
}

static int take_out(lua_State *lua) {
    return move_rest(lua, 2);
}

/* From the item that argument `first` says to that of the next one; without them, all. */
static uint64_t charge_range(lua_State *lua, int first) {
    int64_t from = luaL_optinteger(lua, first, 1), to = luaL_optinteger(lua, first + 1, (int64_t)length_of(lua, 1));
    uint64_t count = from <= to ? (uint64_t)to - (uint64_t)from : 0;
    count = count < MOST ? count + 1 : MOST;
    gx_box_charge(lua, 1 + count);
    return count;
}

static int unpack(lua_State *lua) {
    (void)charge_range(lua, 2);
    return gx_function_go_on(lua);
}

/* --- Sorting --- */

enum { LIST = 1, ORDER, FROM, TO }; /* places on the stack */

enum { COMPARED_UNIT = 256 /* bytes */ };

/* Of the two values on the top by `<`, which looks at as many bytes as the shorter text has. */
static uint64_t compare_work(lua_State *lua) {
    size_t one = lua_type(lua, -2) == LUA_TSTRING ? lua_rawlen(lua, -2) : 0;
    size_t other = lua_type(lua, -1) == LUA_TSTRING ? lua_rawlen(lua, -1) : 0;
    return (one < other ? one : other) / COMPARED_UNIT;
}

static bool is_less(lua_State *lua, lua_Integer a, lua_Integer b) {
    bool ordered = lua_isfunction(lua, ORDER);
    if (ordered) lua_pushvalue(lua, ORDER);
    lua_rawgeti(lua, FROM, a);
    lua_rawgeti(lua, FROM, b);
    gx_box_charge(lua, ordered ? 4 : 4 + compare_work(lua));
    if (ordered) lua_call(lua, 2, 1);
    bool is = ordered ? lua_toboolean(lua, -1) : lua_compare(lua, -2, -1, LUA_OPLT);
    lua_pop(lua, ordered ? 1 : 2);
    return is;
}

static void merge(lua_State *lua, lua_Integer begin, lua_Integer middle, lua_Integer end) {
    lua_Integer left = begin, right = middle;
    for (lua_Integer to = begin; to < end; to++) {
        bool is_right = left == middle || (right < end && is_less(lua, right, left));
        lua_rawgeti(lua, FROM, is_right ? right++ : left++);
        lua_rawseti(lua, TO, to);
    }
}

static void copy(lua_State *lua, int from, int to, lua_Integer count) {
    gx_box_charge(lua, (uint64_t)count);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(lua, from, i);
        lua_rawseti(lua, to, i);
    }
}

/* A merge sort: it keeps the order of what is equal, it never takes more than n log n comparisons, and whatever the order
 * answers, it ends. Lua's own chooses by the clock once it is slow. */
int gx_function_sort(lua_State *lua) {
    luaL_checktype(lua, LIST, LUA_TTABLE);
    if (!lua_isnoneornil(lua, ORDER)) luaL_checktype(lua, ORDER, LUA_TFUNCTION);
    lua_settop(lua, ORDER);
    lua_Integer count = (lua_Integer)lua_rawlen(lua, LIST);
    lua_createtable(lua, (int)count, 0);
    lua_createtable(lua, (int)count, 0);
    copy(lua, LIST, FROM, count);
    for (lua_Integer width = 1; width < count; width *= 2) {
        for (lua_Integer at = 1; at <= count; at += 2 * width) {
            lua_Integer middle = at + width <= count ? at + width : count + 1;
            merge(lua, at, middle, middle + width <= count ? middle + width : count + 1);
        }
        lua_rotate(lua, FROM, 1);
    }
    copy(lua, FROM, LIST, count);
    return 0;
}

/* --- join(list, separator), table.concat(list, separator, from, to) --- */

static int join_items(lua_State *lua, lua_Integer from, lua_Integer to) {
    luaL_checktype(lua, 1, LUA_TTABLE);
    gale_str separator = lua_isnoneornil(lua, 2) ? gx_str("") : gx_function_take(lua, 2);
    gx_out out;
    gx_out_begin(&out, lua);
    for (lua_Integer i = from; from <= to; i++) {
        size_t size;
        gx_box_charge(lua, 4 + separator.size / 64);
        int type = lua_rawgeti(lua, 1, i);
        gx_box_charge(lua, gx_function_text_work(lua, -1));
        if (type != LUA_TSTRING && type != LUA_TNUMBER && type != LUA_TBOOLEAN)
            return luaL_error(lua, "item %I is a %s, which cannot be joined", i, luaL_typename(lua, -1));
        gx_function_number_text(lua, -1);
        const char *text = luaL_tolstring(lua, -1, &size);
        if (i > from) gx_out_add(&out, separator);
        gx_out_add(&out, (gale_str){ text, size });
        lua_pop(lua, 2);
        if (i == to) break;
    }
    gx_out_push(&out);
    return 1;
}

static int join(lua_State *lua) {
    return join_items(lua, 1, (lua_Integer)length_of(lua, 1));
}

static int concat(lua_State *lua) {
    return join_items(lua, luaL_optinteger(lua, 3, 1), luaL_optinteger(lua, 4, (lua_Integer)length_of(lua, 1)));
}

void gx_library_list(lua_State *lua) {
    static const luaL_Reg functions[] = { { "join", join }, { NULL, NULL } };
    static const luaL_Reg of_table[] = { { "sort", gx_function_sort }, { "concat", concat }, { NULL, NULL } };
    gx_function_add(lua, NULL, functions);
    gx_function_add(lua, "table", of_table);
    gx_function_charge_arguments(lua, "table", "pack", 4);
    gx_function_charge_arguments(lua, NULL, "select", 1);
    gx_function_charge_arguments(lua, NULL, "assert", 1);
    gx_function_charge_numbers(lua, "math", "max", 2);
    gx_function_charge_numbers(lua, "math", "min", 2);
    gx_function_put_before(lua, "table", "insert", insert);
    gx_function_put_before(lua, "table", "remove", take_out);
    gx_function_put_before(lua, "table", "unpack", unpack);
}
