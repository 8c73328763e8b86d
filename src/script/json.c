#include "base/json.h"

#include "base/utf8.h"
#include "script/convert.h"
#include "script/function.h"
#include "script/library.h"
#include "script/out.h"

#include <math.h>
#include <stdlib.h>

/* --- Reading ---
 *
 * Straight into the box's tables, so that whatever the text says takes the box's memory and no other. */

enum { NUMBER_SIZE = 320 };

typedef struct reader {
    lua_State *lua;
    const char *at, *end;
    const char *wrong; /* what is */
} reader;

static bool wrong(reader *r, const char *what) {
    r->wrong = what;
    return false;
}

static void skip_blanks(reader *r) {
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r')) r->at++;
}

static bool skip(reader *r, char c) {
    skip_blanks(r);
    if (r->at == r->end || *r->at != c) return false;
    r->at++;
    return true;
}

static bool read_hex(reader *r, uint32_t *ret_number) {
    uint32_t number = 0;
    if (r->end - r->at < 4) return wrong(r, "\\u needs four digits");
    for (int i = 0; i < 4; i++) {
        char c = *r->at, low = (char)(c | 0x20);
        if (!(c >= '0' && c <= '9') && !(low >= 'a' && low <= 'f')) return wrong(r, "\\u needs four digits");
        number = number << 4 | (uint32_t)(c <= '9' ? c - '0' : low - 'a' + 10);
        r->at++;
    }
    *ret_number = number;
    return true;
}

static void add_character(gx_out *out, uint32_t c) {
    char *to = gx_out_room(out, 4);
    if (c < 0x80) {
        to[0] = (char)c;
        out->size++;
        return;
    }
    size_t size = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char first[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    for (size_t i = size - 1; i; i--, c >>= 6) to[i] = (char)(0x80 | (c & 0x3f));
    to[0] = (char)(first[size] | c);
    out->size += size;
}

/* Behind "\u". What lies outside of the first plane comes as two. */
static bool read_unicode(reader *r, gx_out *out) {
    uint32_t high, low;
    if (!read_hex(r, &high)) return false;
    if (high >= 0xd800 && high < 0xe000) {
        bool pair = high < 0xdc00 && r->end - r->at >= 6 && r->at[0] == '\\' && r->at[1] == 'u';
        if (!pair) return wrong(r, "half of a surrogate pair");
        r->at += 2;
        if (!read_hex(r, &low)) return false;
        if (low < 0xdc00 || low >= 0xe000) return wrong(r, "half of a surrogate pair");
        high = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
    }
    add_character(out, high);
    return true;
}

static bool read_escape(reader *r, gx_out *out) {
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    if (r->at == r->end) return wrong(r, "a string does not end");
    char c = *r->at++;
    const char *known = c ? strchr(letters, c) : NULL;
    if (c == 'u') return read_unicode(r, out);
    if (!known) return wrong(r, "no such escape");
    gx_out_byte(out, meant[known - letters]);
    return true;
}

/* Behind the quotation mark: the plain bytes up to its end, to an escape, or to what must not be there. */
static gale_str read_plain(reader *r) {
    const char *from = r->at;
    while (r->at < r->end && *r->at != '"' && *r->at != '\\' && (unsigned char)*r->at >= 0x20) r->at++;
    return (gale_str){ from, (size_t)(r->at - from) };
}

static bool read_string(reader *r) {
    gale_str plain = read_plain(r);
    if (r->at < r->end && *r->at == '"') {
        lua_pushlstring(r->lua, plain.data, plain.size);
        r->at++;
        return true;
    }
    gx_out out;
    gx_out_begin(&out, r->lua);
    for (;; plain = read_plain(r)) {
        gx_out_add(&out, plain);
        if (r->at == r->end) return wrong(r, "a string does not end");
        if (*r->at == '"') break;
        if (*r->at != '\\') return wrong(r, "a control character in a string");
        r->at++;
        if (!read_escape(r, &out)) return false;
    }
    r->at++;
    gx_out_push(&out);
    lua_replace(r->lua, out.place);
    return true;
}

static bool skip_digits(reader *r) {
    const char *from = r->at;
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9') r->at++;
    return r->at > from;
}

static bool skip_number(reader *r) {
    if (*r->at == '-') r->at++;
    bool zero = r->at < r->end && *r->at == '0';
    if (zero)
        r->at++;
    else if (!skip_digits(r))
        return false;
    if (r->at < r->end && *r->at == '.') {
        r->at++;
        if (!skip_digits(r)) return false;
    }
    if (r->at < r->end && (*r->at | 0x20) == 'e') {
        r->at++;
        if (r->at < r->end && (*r->at == '+' || *r->at == '-')) r->at++;
        return skip_digits(r);
    }
    return true;
}

/* Whole numbers that fit 64 bits are integers, all others floats. */
static bool read_number(reader *r) {
    char text[NUMBER_SIZE];
    const char *from = r->at;
    if (!skip_number(r)) return wrong(r, "a number is not whole");
    size_t size = (size_t)(r->at - from);
    if (size >= sizeof text) return wrong(r, "a number is too long");
    memcpy(text, from, size);
    text[size] = 0;
    if (!lua_stringtonumber(r->lua, text)) return wrong(r, "no number");
    return isfinite(lua_tonumber(r->lua, -1)) || wrong(r, "a number is too large");
}

static bool read_word(reader *r, const char *word) {
    size_t size = strlen(word);
    if ((size_t)(r->end - r->at) < size || memcmp(r->at, word, size) != 0) return wrong(r, "a value is expected");
    r->at += size;
    return true;
}

static bool read_value(reader *r, int depth);

static bool read_list(reader *r, int depth) {
    lua_createtable(r->lua, 0, 0);
    if (skip(r, ']')) return true;
    for (lua_Integer n = 1;; n++) {
        if (!read_value(r, depth + 1)) return false;
        lua_rawseti(r->lua, -2, n);
        if (skip(r, ']')) return true;
        if (!skip(r, ',')) return wrong(r, "',' or ']' is expected");
    }
}

static bool read_map(reader *r, int depth) {
    lua_createtable(r->lua, 0, 0);
    if (skip(r, '}')) return true;
    for (;;) {
        if (!skip(r, '"')) return wrong(r, "a name in quotation marks is expected");
        if (!read_string(r)) return false;
        if (!skip(r, ':')) return wrong(r, "':' is expected");
        if (!read_value(r, depth + 1)) return false;
        lua_rawset(r->lua, -3);
        if (skip(r, '}')) return true;
        if (!skip(r, ',')) return wrong(r, "',' or '}' is expected");
    }
}

/* Pushes it. */
static bool read_value(reader *r, int depth) {
    gx_box_charge(r->lua, 4);
    luaL_checkstack(r->lua, 8, NULL);
    skip_blanks(r);
    switch (r->at < r->end ? *r->at : 0) {
    case '{':
    case '[':
        if (depth >= GALE_VALUE_DEPTH) return wrong(r, "too deep");
        return *r->at++ == '{' ? read_map(r, depth) : read_list(r, depth);
    case '"': r->at++; return read_string(r);
    case 't': lua_pushboolean(r->lua, true); return read_word(r, "true");
    case 'f': lua_pushboolean(r->lua, false); return read_word(r, "false");
    case 'n': gx_convert_push_null(r->lua); return read_word(r, "null");
    default:
        if (r->at < r->end && (*r->at == '-' || (*r->at >= '0' && *r->at <= '9'))) return read_number(r);
        return wrong(r, "a value is expected");
    }
}

/* decode(text): nil and what is wrong, if it is no JSON */
static int decode(lua_State *lua) {
    gale_str text = gx_function_take(lua, 1);
    reader r = { .lua = lua, .at = text.data, .end = text.data + text.size };
    gx_box_charge(lua, text.size / 8);
    bool read = gx_utf8_valid(text.data, text.size) ? read_value(&r, 0) : wrong(&r, "no UTF-8");
    if (read) skip_blanks(&r);
    if (read && r.at < r.end) read = wrong(&r, "something follows");
    if (read) return 1;
    lua_pushnil(lua);
    lua_pushfstring(lua, "no JSON at byte %I: %s", (lua_Integer)(r.at - text.data) + 1, r.wrong);
    return 2;
}

/* --- Writing --- */

/* A writer into room that is enough, so that it takes no memory of its own. */
static gx_buf room_for(gx_out *out, size_t most) {
    return (gx_buf){ .data = gx_out_room(out, most + 1), .capacity = most + 1 };
}

static void write_number(gx_out *out, int index) {
    gx_buf buf = room_for(out, 64);
    gx_json json = gx_json_to(&buf);
    gx_box_charge(out->lua, 60);
    if (lua_isinteger(out->lua, index))
        gx_json_i64(&json, lua_tointeger(out->lua, index));
    else
        gx_json_f64(&json, lua_tonumber(out->lua, index));
    out->size += buf.size;
}

static void write_string(gx_out *out, gale_str text) {
    size_t escaped = 0;
    gx_box_charge(out->lua, 1 + text.size / 8);
    if (!gx_utf8_valid(text.data, text.size))
        luaL_error(out->lua, "text that is no UTF-8 cannot be JSON; write base64.encode(...)");
    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.data[i];
        escaped += c < 0x20 || c == '"' || c == '\\' || c == 0x7f || c == 0xc2;
    }
    gx_buf buf = room_for(out, text.size + 5 * escaped + 2);
    gx_json json = gx_json_to(&buf);
    gx_json_string(&json, text);
    out->size += buf.size;
}

static void write_value(gx_out *out, int index, int depth);

static void write_list(gx_out *out, int table, lua_Integer count, int depth) {
    gx_out_byte(out, '[');
    for (lua_Integer i = 1; i <= count; i++) {
        if (i > 1) gx_out_byte(out, ',');
        lua_rawgeti(out->lua, table, i);
        write_value(out, lua_gettop(out->lua), depth + 1);
        lua_pop(out->lua, 1);
    }
    gx_out_byte(out, ']');
}

static int by_bytes(const void *a, const void *b) {
    return gx_str_compare(*(const gale_str *)a, *(const gale_str *)b);
}

/* Pushes the table's keys, sorted. */
static const gale_str *sort_keys(lua_State *lua, int table, size_t count) {
    gale_str *keys = lua_newuserdatauv(lua, count * sizeof *keys, 0), *key = keys;
    uint64_t bits = 1;
    while (count >> bits) bits++;
    gx_box_charge(lua, 2 * count * bits);
    lua_pushnil(lua);
    while (lua_next(lua, table)) {
        lua_pop(lua, 1);
        key->data = lua_tolstring(lua, -1, &key->size); /* the table keeps it */
        key++;
    }
    qsort(keys, count, sizeof *keys, by_bytes);
    return keys;
}

static void write_map(gx_out *out, int table, size_t count, int depth) {
    const gale_str *keys = sort_keys(out->lua, table, count);
    gx_out_byte(out, '{');
    for (size_t i = 0; i < count; i++) {
        if (i) gx_out_byte(out, ',');
        write_string(out, keys[i]);
        gx_out_byte(out, ':');
        lua_pushlstring(out->lua, keys[i].data, keys[i].size);
        lua_rawget(out->lua, table);
        write_value(out, lua_gettop(out->lua), depth + 1);
        lua_pop(out->lua, 1);
    }
    lua_pop(out->lua, 1);
    gx_out_byte(out, '}');
}

static void write_table(gx_out *out, int table, int depth) {
    size_t count = 0, texts = 0;
    if (depth >= GALE_VALUE_DEPTH) luaL_error(out->lua, "the value is too deep, or contains itself");
    luaL_checkstack(out->lua, 8, NULL);
    gx_box_charge_walk(out->lua);
    lua_pushnil(out->lua);
    while (lua_next(out->lua, table)) {
        gx_box_charge(out->lua, 2);
        lua_pop(out->lua, 1);
        count++;
        texts += lua_type(out->lua, -1) == LUA_TSTRING;
    }
    if (texts == count && count)
        write_map(out, table, count, depth);
    else if (!texts && lua_rawlen(out->lua, table) == count)
        write_list(out, table, (lua_Integer)count, depth);
    else
        luaL_error(out->lua, "a table that is neither a list (1 to n) nor a map (strings) cannot be JSON");
}

static void write_value(gx_out *out, int index, int depth) {
    gale_str text;
    gx_box_charge(out->lua, 4);
    switch (lua_type(out->lua, index)) {
    case LUA_TNIL:
    case LUA_TLIGHTUSERDATA: gx_out_add(out, gx_str("null")); return;
    case LUA_TBOOLEAN: gx_out_add(out, gx_str(lua_toboolean(out->lua, index) ? "true" : "false")); return;
    case LUA_TNUMBER: write_number(out, index); return;
    case LUA_TSTRING:
        text.data = lua_tolstring(out->lua, index, &text.size);
        write_string(out, text);
        return;
    case LUA_TTABLE: write_table(out, index, depth); return;
    default: luaL_error(out->lua, "a function cannot be JSON");
    }
}

static int encode(lua_State *lua) {
    gx_out out;
    luaL_checkany(lua, 1);
    lua_settop(lua, 1);
    gx_out_begin(&out, lua);
    write_value(&out, 1, 0);
    gx_out_push(&out);
    return 1;
}

void gx_library_json(lua_State *lua) {
    static const luaL_Reg functions[] = { { "decode", decode }, { "encode", encode }, { NULL, NULL } };
    gx_function_add(lua, "json", functions);
    lua_getfield(lua, -1, "json");
    gx_convert_push_null(lua);
    lua_setfield(lua, -2, "null");
    lua_pop(lua, 1);
}
