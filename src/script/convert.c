#include "script/convert.h"

#include "base/str.h"
#include "base/utf8.h"

#include <lauxlib.h>
#include <stdlib.h>

/* --- Into Lua --- */

void gx_convert_push_null(lua_State *lua) {
    lua_pushlightuserdata(lua, NULL);
}

static void push(lua_State *lua, const gale_value *value, int depth);

static void push_item(lua_State *lua, const gale_value *value, int depth) {
    if (value->type == GALE_TYPE_NULL)
        gx_convert_push_null(lua);
    else
        push(lua, value, depth);
}

static void push_list(lua_State *lua, const gale_value *list, int depth) {
    lua_createtable(lua, list->size < INT32_MAX ? (int)list->size : INT32_MAX, 0);
    for (uint32_t i = 0; i < list->size; i++) {
        gale_value item = gale_list_at(list, i);
        push_item(lua, &item, depth + 1);
        lua_rawseti(lua, -2, (lua_Integer)i + 1);
    }
}

static void push_map(lua_State *lua, const gale_value *map, int depth) {
    gale_str key;
    gale_value item;
    lua_createtable(lua, 0, map->size < INT32_MAX ? (int)map->size : INT32_MAX);
    for (uint32_t i = 0; gale_map_at(map, i, &key, &item); i++) {
        lua_pushlstring(lua, key.data, key.size);
        push_item(lua, &item, depth + 1);
        lua_rawset(lua, -3);
    }
}

static void push(lua_State *lua, const gale_value *value, int depth) {
    switch (value->type) {
    case GALE_TYPE_BOOL: lua_pushboolean(lua, value->as.boolean); return;
    case GALE_TYPE_I64: lua_pushinteger(lua, value->as.i64); return;
    case GALE_TYPE_F64: lua_pushnumber(lua, value->as.f64); return;
    case GALE_TYPE_STRING:
    case GALE_TYPE_BYTES: lua_pushlstring(lua, value->as.string ? value->as.string : "", value->size); return;
    case GALE_TYPE_LIST:
    case GALE_TYPE_MAP:
        if (depth > GALE_VALUE_DEPTH) luaL_error(lua, "a value is too deep");
        luaL_checkstack(lua, 4, NULL);
        if (value->type == GALE_TYPE_LIST)
            push_list(lua, value, depth);
        else
            push_map(lua, value, depth);
        return;
    default: lua_pushnil(lua);
    }
}

void gx_convert_push(lua_State *lua, const gale_value *value) {
    push(lua, value, 0);
}

/* --- Back --- */

typedef struct taking {
    lua_State *lua;
    gx_arena *arena;
    gx_convert_bounds bounds;
} taking;

const char gx_convert_no_room[] = "more than there is room for";
static const char neither[] = "a table that is neither a list (1 to n) nor a map (strings)";

static const char *take(taking *t, int index, int depth, gale_value *ret_value);

static bool may_look(taking *t, uint64_t work) {
    bool may = work <= t->bounds.work;
    t->bounds.work = may ? t->bounds.work - work : 0;
    return may;
}

static gale_value take_text(lua_State *lua, int index) {
    size_t size;
    const char *text = lua_tolstring(lua, index, &size); /* it is a string: nothing is changed */
    return gx_utf8_valid(text, size) ? gale_string(text, size) : gale_bytes(text, size);
}

static const char *take_list(taking *t, int index, size_t count, int depth, gale_value *ret_value) {
    gale_value *items = gx_arena_take(t->arena, count, t->bounds.bytes);
    if (!items) return gx_convert_no_room;
    *ret_value = gale_list(items, count);
    for (size_t i = 0; i < count; i++) {
        lua_rawgeti(t->lua, index, (lua_Integer)i + 1);
        const char *wrong = lua_isnil(t->lua, -1) ? neither : take(t, lua_gettop(t->lua), depth + 1, &items[i]);
        lua_pop(t->lua, 1); /* the table keeps it */
        if (wrong) return wrong;
    }
    return NULL;
}

static int by_key(const void *a, const void *b) {
    const gale_value *one = a, *other = b;
    return gx_str_compare((gale_str){ one->as.string, one->size }, (gale_str){ other->as.string, other->size });
}

static const char *take_map(taking *t, int index, size_t count, int depth, gale_value *ret_value) {
    gale_value *pairs = gx_arena_take(t->arena, 2 * count, t->bounds.bytes);
    if (!pairs) return gx_convert_no_room;
    *ret_value = gale_map(pairs, count);
    lua_pushnil(t->lua);
    while (lua_next(t->lua, index)) {
        pairs[0] = take_text(t->lua, -2);
        const char *wrong = pairs[0].type == GALE_TYPE_STRING ? take(t, lua_gettop(t->lua), depth + 1, &pairs[1])
                                                              : "a table with a key that is no UTF-8";
        lua_pop(t->lua, wrong ? 2 : 1);
        if (wrong) return wrong;
        pairs += 2;
    }
    qsort((void *)(uintptr_t)ret_value->as.items, count, 2 * sizeof *pairs, by_key);
    return NULL;
}

/* How many entries a table has, and whether all keys are strings, or all are 1 to n. */
static const char *take_table(taking *t, int index, int depth, gale_value *ret_value) {
    size_t count = 0, texts = 0;
    if (depth >= GALE_VALUE_DEPTH) return "a table that is too deep";
    if (!lua_checkstack(t->lua, 6) || !may_look(t, t->bounds.walk)) return gx_convert_no_room;
    lua_pushnil(t->lua);
    while (lua_next(t->lua, index)) {
        lua_pop(t->lua, 1);
        count++;
        texts += lua_type(t->lua, -1) == LUA_TSTRING;
    }
    if (!may_look(t, count)) return gx_convert_no_room;
    if (texts == count && count) return take_map(t, index, count, depth, ret_value);
    if (!texts && lua_rawlen(t->lua, index) == count) return take_list(t, index, count, depth, ret_value);
    return neither;
}

static const char *take(taking *t, int index, int depth, gale_value *ret_value) {
    *ret_value = gale_null();
    switch (lua_type(t->lua, index)) {
    case LUA_TNONE:
    case LUA_TNIL: return NULL;
    case LUA_TBOOLEAN: *ret_value = gale_bool(lua_toboolean(t->lua, index)); return NULL;
    case LUA_TNUMBER:
        *ret_value = lua_isinteger(t->lua, index) ? gale_i64(lua_tointeger(t->lua, index))
                                                  : gale_f64(lua_tonumber(t->lua, index));
        return NULL;
    case LUA_TSTRING:
        if (!may_look(t, lua_rawlen(t->lua, index) / 64)) return gx_convert_no_room;
        *ret_value = take_text(t->lua, index);
        return NULL;
    case LUA_TTABLE: return take_table(t, index, depth, ret_value);
    case LUA_TLIGHTUSERDATA: return NULL; /* json.null */
    default: return "a function, which is no value";
    }
}

const char *gx_convert_take(lua_State *lua, int index, gx_arena *arena, gx_convert_bounds bounds,
                            gale_value *ret_value) {
    taking t = { lua, arena, bounds };
    return take(&t, lua_absindex(lua, index), 0, ret_value);
}
