#include "base/json.h"

#include "base/json_scan.h"
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

typedef struct reader {
    gx_json_scan scan;
    lua_State *lua;
} reader;

static bool wrong(reader *r, const char *what) {
    return gx_json_scan_wrong(&r->scan, r->scan.at, what);
}

/* Behind the quotation mark. Pushes it. */
static bool read_string(reader *r) {
    gale_str raw;
    bool escaped;
    if (!gx_json_scan_string(&r->scan, &raw, &escaped)) return false;
    if (!escaped) return lua_pushlstring(r->lua, raw.data, raw.size), true;
    gx_out out;
    gx_out_begin(&out, r->lua);
    int64_t size = gx_json_scan_unescape(&r->scan, raw, gx_out_room(&out, raw.size));
    if (size < 0) return false;
    out.size += (size_t)size;
    gx_out_push(&out);
    lua_replace(r->lua, out.place);
    return true;
}

/* Whole numbers that fit 64 bits are integers, all others floats. */
static bool read_number(reader *r) {
    gx_json_number number;
    int64_t whole;
    const char *place = r->scan.at;
    if (!gx_json_scan_number(&r->scan, &number)) return false;
    if (gx_json_number_whole(&number, &whole)) return lua_pushinteger(r->lua, whole), true;
    double value = gx_json_number_value(&number);
    lua_pushnumber(r->lua, value);
    return isfinite(value) || gx_json_scan_wrong(&r->scan, place, "the number is larger than any float");
}

static bool read_value(reader *r, int depth);

static bool read_list(reader *r, int depth) {
    lua_createtable(r->lua, 0, 0);
    if (gx_json_scan_take(&r->scan, ']')) return true;
    for (lua_Integer n = 1;; n++) {
        if (!read_value(r, depth + 1)) return false;
        lua_rawseti(r->lua, -2, n);
        if (gx_json_scan_take(&r->scan, ']')) return true;
        if (!gx_json_scan_take(&r->scan, ',')) return wrong(r, gx_json_wrong_list);
    }
}

static bool read_map(reader *r, int depth) {
    lua_createtable(r->lua, 0, 0);
    if (gx_json_scan_take(&r->scan, '}')) return true;
    for (;;) {
        if (!gx_json_scan_take(&r->scan, '"')) return wrong(r, gx_json_wrong_name);
        if (!read_string(r)) return false;
        if (!gx_json_scan_take(&r->scan, ':')) return wrong(r, gx_json_wrong_colon);
        if (!read_value(r, depth + 1)) return false;
        lua_rawset(r->lua, -3);
        if (gx_json_scan_take(&r->scan, '}')) return true;
        if (!gx_json_scan_take(&r->scan, ',')) return wrong(r, gx_json_wrong_map);
    }
}

/* Pushes it. */
static bool read_value(reader *r, int depth) {
    gx_json_scan *scan = &r->scan;
    gx_box_charge(r->lua, 4);
    luaL_checkstack(r->lua, 8, NULL);
    gx_json_scan_blanks(scan);
    switch (scan->at < scan->end ? *scan->at : 0) {
    case '{':
    case '[':
        if (depth >= GALE_VALUE_DEPTH) return wrong(r, "more than 32 lists and objects inside each other are no value");
        return *scan->at++ == '{' ? read_map(r, depth) : read_list(r, depth);
    case '"': scan->at++; return read_string(r);
    case 't': lua_pushboolean(r->lua, true); return gx_json_scan_word(scan, "true", 4);
    case 'f': lua_pushboolean(r->lua, false); return gx_json_scan_word(scan, "false", 5);
    case 'n': gx_convert_push_null(r->lua); return gx_json_scan_word(scan, "null", 4);
    default: return read_number(r);
    }
}

/* decode(text): nil and what is wrong, if it is no JSON */
static int decode(lua_State *lua) {
    gale_str text = gx_function_take(lua, 1);
    reader r = { gx_json_scan_of(text), lua };
    size_t valid = gx_utf8_valid(text.data, text.size) ? text.size : gx_utf8_prefix(text.data, text.size), line, column;
    gx_box_charge(lua, text.size / 8);
    bool good = valid == text.size || gx_json_scan_wrong(&r.scan, text.data + valid, "the bytes are not UTF-8");
    if (good && read_value(&r, 0) && gx_json_scan_ended(&r.scan)) return 1;
    gx_json_scan_where(text, r.scan.place, &line, &column);
    lua_pushnil(lua);
    lua_pushfstring(lua, "no JSON: %I:%I: %s", (lua_Integer)line, (lua_Integer)column, r.scan.wrong);
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
