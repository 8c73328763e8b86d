#include "script/out.h"

#include <lauxlib.h>

void gx_out_begin(gx_out *out, lua_State *lua) {
    luaL_checkstack(lua, 4, NULL);
    lua_pushnil(lua);
    out->lua = lua;
    out->data = out->first;
    out->size = 0;
    out->capacity = sizeof out->first;
    out->place = lua_gettop(lua);
}

static void grow(gx_out *out, size_t more) {
    size_t capacity = 2 * out->capacity;
    if (more > SIZE_MAX / 8 || out->size > SIZE_MAX / 8) luaL_error(out->lua, "the text is too large");
    if (capacity < out->size + more) capacity = out->size + more;
    char *data = lua_newuserdatauv(out->lua, capacity, 0);
    memcpy(data, out->data, out->size);
    lua_replace(out->lua, out->place);
    out->data = data;
    out->capacity = capacity;
}

char *gx_out_room(gx_out *out, size_t more) {
    if (out->capacity - out->size < more) grow(out, more);
    return out->data + out->size;
}

void gx_out_add(gx_out *out, gale_str text) {
    if (!text.size) return;
    memcpy(gx_out_room(out, text.size), text.data, text.size);
    out->size += text.size;
}

void gx_out_byte(gx_out *out, char byte) {
    *gx_out_room(out, 1) = byte;
    out->size++;
}

void gx_out_push(gx_out *out) {
    lua_pushlstring(out->lua, out->data, out->size);
}
