#include "base/base64.h"
#include "base/hash.h"
#include "script/function.h"
#include "script/library.h"
#include "script/out.h"

static int encode(lua_State *lua) {
    gale_str bytes = gx_function_take(lua, 1);
    gx_out out;
    gx_box_charge(lua, bytes.size / 16);
    gx_out_begin(&out, lua);
    out.size = gx_base64_encode(bytes.data, bytes.size, gx_out_room(&out, gx_base64_size(bytes.size)));
    gx_out_push(&out);
    return 1;
}

/* nil: that is none */
static int decode(lua_State *lua) {
    gale_str text = gx_function_take(lua, 1);
    gx_out out;
    gx_box_charge(lua, text.size / 16);
    gx_out_begin(&out, lua);
    int64_t size = gx_base64_decode(text, (unsigned char *)gx_out_room(&out, text.size / 4 * 3));
    if (size < 0) {
        lua_pushnil(lua);
        return 1;
    }
    out.size = (size_t)size;
    gx_out_push(&out);
    return 1;
}

static int hex(lua_State *lua) {
    static const char digits[] = "0123456789abcdef";
    gale_str bytes = gx_function_take(lua, 1);
    gx_out out;
    gx_box_charge(lua, bytes.size / 16);
    gx_out_begin(&out, lua);
    char *to = gx_out_room(&out, 2 * bytes.size);
    for (size_t i = 0; i < bytes.size; i++) {
        *to++ = digits[(unsigned char)bytes.data[i] >> 4];
        *to++ = digits[(unsigned char)bytes.data[i] & 15];
    }
    out.size = 2 * bytes.size;
    gx_out_push(&out);
    return 1;
}

/* XXH3 with 64 bits: the same in every release and on every machine. */
static int hash(lua_State *lua) {
    gale_str bytes = gx_function_take(lua, 1);
    lua_pushinteger(lua, (lua_Integer)gx_hash_bytes(bytes.data, bytes.size, 0));
    return 1;
}

void gx_library_data(lua_State *lua) {
    static const luaL_Reg functions[] = { { "hash", hash }, { "hex", hex }, { NULL, NULL } };
    static const luaL_Reg of_base64[] = { { "encode", encode }, { "decode", decode }, { NULL, NULL } };
    gx_function_add(lua, NULL, functions);
    gx_function_add(lua, "base64", of_base64);
}
