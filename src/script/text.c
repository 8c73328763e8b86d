#include "base/utf8.h"
#include "script/function.h"
#include "script/library.h"
#include "script/out.h"

/* --- Pieces --- */

static bool is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static gale_str after(gale_str text, size_t size) {
    return (gale_str){ text.data + size, text.size - size };
}

static gale_str trim_front(gale_str text) {
    while (text.size && is_blank(text.data[0])) text = after(text, 1);
    return text;
}

static gale_str trim_end(gale_str text) {
    while (text.size && is_blank(text.data[text.size - 1])) text.size--;
    return text;
}

/* Where `wanted` begins in the text; NULL: nowhere. In linear time. */
static const char *find(gale_str text, gale_str wanted) {
    return text.size < wanted.size ? NULL : memmem(text.data, text.size, wanted.data, wanted.size);
}

static gale_str take_separator(lua_State *lua, int argument) {
    gale_str separator = gx_function_take(lua, argument);
    luaL_argcheck(lua, separator.size, argument, "is empty");
    return separator;
}

/* Makes `text` the n-th item of the list on the top. */
static void append(lua_State *lua, lua_Integer n, const char *text, size_t size) {
    gx_box_charge(lua, 4);
    lua_pushlstring(lua, text, size);
    lua_rawseti(lua, -2, n);
}

static int split_at_blanks(lua_State *lua, gale_str text, lua_Integer limit) {
    lua_Integer n = 0;
    lua_createtable(lua, 4, 0);
    for (text = trim_front(text); text.size && n < limit - 1; text = trim_front(text)) {
        size_t size = 0;
        while (size < text.size && !is_blank(text.data[size])) size++;
        append(lua, ++n, text.data, size);
        text = after(text, size);
    }
    text = trim_end(text);
    if (text.size) append(lua, n + 1, text.data, text.size);
    return 1;
}

/* split(text, separator, limit) */
static int split(lua_State *lua) {
    gale_str text = gx_function_take(lua, 1);
    lua_Integer limit = luaL_optinteger(lua, 3, LUA_MAXINTEGER), n = 0;
    luaL_argcheck(lua, limit > 0, 3, "is below 1");
    if (lua_isnoneornil(lua, 2)) return split_at_blanks(lua, text, limit);
    gale_str separator = take_separator(lua, 2);
    lua_createtable(lua, 4, 0);
    while (n < limit - 1) {
        const char *end = find(text, separator);
        if (!end) break;
        size_t size = (size_t)(end - text.data);
        append(lua, ++n, text.data, size);
        text = after(text, size + separator.size);
    }
    append(lua, n + 1, text.data, text.size);
    return 1;
}

/* lines(text): a line may end with \r\n; the last one need not end. */
static int lines(lua_State *lua) {
    gale_str text = gx_function_take(lua, 1);
    lua_Integer n = 0;
    lua_createtable(lua, 4, 0);
    while (text.size) {
        const char *end = memchr(text.data, '\n', text.size);
        size_t size = end ? (size_t)(end - text.data) : text.size, line = size;
        if (end && line && text.data[line - 1] == '\r') line--;
        append(lua, ++n, text.data, line);
        text = after(text, size + (end != NULL));
    }
    return 1;
}

static int trim(lua_State *lua) {
    gale_str text = trim_end(trim_front(gx_function_take(lua, 1)));
    lua_pushlstring(lua, text.data, text.size);
    return 1;
}

/* --- Questions --- */

static int starts(lua_State *lua) {
    gale_str text = gx_function_take(lua, 1), wanted = gx_function_take(lua, 2);
    lua_pushboolean(lua, text.size >= wanted.size && memcmp(text.data, wanted.data, wanted.size) == 0);
    return 1;
}

static int ends(lua_State *lua) {
    gale_str text = gx_function_take(lua, 1), wanted = gx_function_take(lua, 2);
    lua_pushboolean(lua, text.size >= wanted.size &&
                             memcmp(text.data + text.size - wanted.size, wanted.data, wanted.size) == 0);
    return 1;
}

static int contains(lua_State *lua) {
    gale_str text = gx_function_take(lua, 1), wanted = gx_function_take(lua, 2);
    lua_pushboolean(lua, find(text, wanted) != NULL);
    return 1;
}

/* --- New text --- */

/* replace(text, old, new): all of them */
static int replace(lua_State *lua) {
    gale_str text = gx_function_take(lua, 1), old = take_separator(lua, 2), new = gx_function_take(lua, 3);
    gx_out out;
    gx_out_begin(&out, lua);
    for (;;) {
        const char *at = find(text, old);
        if (!at) break;
        size_t size = (size_t)(at - text.data);
        gx_box_charge(lua, 1 + new.size / 64);
        gx_out_add(&out, (gale_str){ text.data, size });
        gx_out_add(&out, new);
        text = after(text, size + old.size);
    }
    gx_out_add(&out, text);
    gx_out_push(&out);
    return 1;
}

/* Characters; bytes in what is no UTF-8. */
static size_t width_of(gale_str text) {
    size_t width = 0;
    if (!gx_utf8_valid(text.data, text.size)) return text.size;
    for (size_t i = 0; i < text.size; i++) width += ((unsigned char)text.data[i] & 0xc0) != 0x80;
    return width;
}

/* pad(text, width, left) */
static int pad(lua_State *lua) {
    gale_str text = gx_function_take(lua, 1);
    lua_Integer wanted = luaL_checkinteger(lua, 2);
    size_t width = width_of(text), missing = wanted > 0 && (size_t)wanted > width ? (size_t)wanted - width : 0;
    gx_out out;
    gx_box_charge(lua, missing / 64);
    gx_out_begin(&out, lua);
    if (!lua_toboolean(lua, 3)) gx_out_add(&out, text);
    memset(gx_out_room(&out, missing), ' ', missing);
    out.size += missing;
    if (lua_toboolean(lua, 3)) gx_out_add(&out, text);
    gx_out_push(&out);
    return 1;
}

/* string.rep(text, n, separator). Lua's own goes round n times even where nothing is to be repeated. */
static int rep(lua_State *lua) {
    gale_str text = gx_function_take(lua, 1);
    lua_Integer n = luaL_checkinteger(lua, 2);
    gale_str separator = lua_isnoneornil(lua, 3) ? gx_str("") : gx_function_take(lua, 3);
    size_t piece = text.size + separator.size;
    gx_out out;
    gx_out_begin(&out, lua);
    if (n > 0 && piece) {
        if ((uint64_t)n > SIZE_MAX / 8 / piece) return luaL_error(lua, "resulting string too large");
        gx_box_charge(lua, (uint64_t)n + (uint64_t)n * piece / 64);
        gx_out_room(&out, (size_t)n * piece);
        for (; n > 1; n--) {
            gx_out_add(&out, text);
            gx_out_add(&out, separator);
        }
        gx_out_add(&out, text);
    }
    gx_out_push(&out);
    return 1;
}

void gx_library_text(lua_State *lua) {
    static const luaL_Reg functions[] = { { "split", split },     { "lines", lines }, { "trim", trim },
                                          { "starts", starts },   { "ends", ends },   { "contains", contains },
                                          { "replace", replace }, { "pad", pad },     { NULL, NULL } };
    static const luaL_Reg of_string[] = { { "rep", rep }, { NULL, NULL } };
    static const char *const scanning[] = { "byte", "lower", "upper", "reverse" };
    gx_function_add(lua, NULL, functions);
    gx_function_add(lua, "string", of_string);
    for (size_t i = 0; i < sizeof scanning / sizeof *scanning; i++)
        gx_function_charge_text(lua, "string", scanning[i], 16);
    gx_function_charge_text(lua, "utf8", "len", 16);
    gx_function_charge_text(lua, "utf8", "codepoint", 8);
    gx_function_charge_numbers(lua, "utf8", "char", 80);
    gx_function_charge_numbers(lua, "string", "char", 4);
    gx_function_charge_text(lua, "utf8", "offset", 16);
    gx_function_charge_text(lua, NULL, "tonumber", 16);
}
