#include "script/function.h"
#include "script/library.h"
#include "script/out.h"
#include "script/regex.h"

/* --- What was found --- */

static void push_group(lua_State *lua, gale_str text, gx_group group) {
    if (group.begin == SIZE_MAX)
        lua_pushnil(lua);
    else
        lua_pushlstring(lua, text.data + group.begin, group.end - group.begin);
}

/* The groups, or what was matched when there are none; how many. */
static int push_groups(lua_State *lua, const gx_search *search, const gx_match *match) {
    int count = gx_regex_groups(search->regex);
    luaL_checkstack(lua, count + 8, NULL);
    gx_box_charge(lua, (uint64_t)count);
    for (int i = count ? 1 : 0; i <= count; i++) push_group(lua, search->text, match->groups[i]);
    return count ? count : 1;
}

/* Argument `argument` as a place in the text, counted from 1 or, below 0, from the end. */
static bool take_begin(lua_State *lua, int argument, size_t size, size_t *ret_begin) {
    lua_Integer begin = luaL_optinteger(lua, argument, 1);
    if (begin < 0) begin = begin < -(lua_Integer)size ? 1 : (lua_Integer)size + begin + 1;
    *ret_begin = begin > 0 ? (size_t)begin - 1 : 0;
    return *ret_begin <= size;
}

/* --- find, match, regex --- */

static int push_place(lua_State *lua, size_t begin, size_t end) {
    lua_pushinteger(lua, (lua_Integer)begin + 1);
    lua_pushinteger(lua, (lua_Integer)end);
    return 2;
}

static int find_plain(lua_State *lua, gale_str text, size_t begin) {
    gale_str wanted = gx_function_take(lua, 2);
    const char *at = text.size - begin < wanted.size
                         ? NULL
                         : memmem(text.data + begin, text.size - begin, wanted.data, wanted.size);
    if (!at) {
        lua_pushnil(lua);
        return 1;
    }
    return push_place(lua, (size_t)(at - text.data), (size_t)(at - text.data) + wanted.size);
}

static int find(lua_State *lua) {
    gale_str text = gx_function_take(lua, 1);
    gx_match match;
    size_t begin;
    luaL_checkstring(lua, 2);
    bool there = take_begin(lua, 3, text.size, &begin);
    if (there && lua_toboolean(lua, 4)) return find_plain(lua, text, begin);
    gx_search search = gx_regex_take(lua, text, 2);
    if (!there || !gx_regex_find(lua, &search, begin, false, &match)) {
        lua_pushnil(lua);
        return 1;
    }
    push_place(lua, match.groups[0].begin, match.groups[0].end);
    return gx_regex_groups(search.regex) ? 2 + push_groups(lua, &search, &match) : 2;
}

static int match_text(lua_State *lua) {
    gale_str text = gx_function_take(lua, 1);
    gx_match match;
    size_t begin;
    bool there = take_begin(lua, 3, text.size, &begin);
    gx_search search = gx_regex_take(lua, text, 2);
    if (there && gx_regex_find(lua, &search, begin, false, &match)) return push_groups(lua, &search, &match);
    lua_pushnil(lua);
    return 1;
}

/* regex(text, pattern): a table of the named groups; without names, the list of groups; without groups, of the match. */
static int regex(lua_State *lua) {
    gale_str text = gx_function_take(lua, 1), name;
    gx_match match;
    gx_search search = gx_regex_take(lua, text, 2);
    if (!gx_regex_find(lua, &search, 0, false, &match)) {
        lua_pushnil(lua);
        return 1;
    }
    lua_createtable(lua, 4, 4);
    int table = lua_gettop(lua), group;
    uint32_t n = 0;
    for (; gx_regex_name(search.regex, n, &name, &group); n++) {
        gx_box_charge(lua, 2);
        if (match.groups[group].begin == SIZE_MAX) continue; /* of several with a name, the one that took part */
        push_group(lua, text, match.groups[group]);
        lua_setfield(lua, table, name.data);
    }
    if (n) return 1;
    for (int count = push_groups(lua, &search, &match); count; count--) lua_rawseti(lua, table, count);
    return 1;
}

/* --- gmatch --- */

enum { TEXT = 1, REGEX, FROM, FRESH, IS_UTF8, UPVALUES = IS_UTF8 };

static int next_match(lua_State *lua) {
    gx_search search = { .regex = lua_touserdata(lua, lua_upvalueindex(REGEX)),
                         .is_utf8 = lua_toboolean(lua, lua_upvalueindex(IS_UTF8)) };
    gx_match match;
    search.text.data = lua_tolstring(lua, lua_upvalueindex(TEXT), &search.text.size);
    size_t from = (size_t)lua_tointeger(lua, lua_upvalueindex(FROM));
    bool fresh = lua_toboolean(lua, lua_upvalueindex(FRESH));
    if (from > search.text.size || !gx_regex_find(lua, &search, from, fresh, &match)) {
        lua_pushinteger(lua, LUA_MAXINTEGER);
        lua_replace(lua, lua_upvalueindex(FROM));
        return 0;
    }
    lua_pushinteger(lua, (lua_Integer)match.groups[0].end);
    lua_replace(lua, lua_upvalueindex(FROM));
    lua_pushboolean(lua, true);
    lua_replace(lua, lua_upvalueindex(FRESH));
    int count = push_groups(lua, &search, &match);
    if (lua_isnil(lua, -count)) { /* which would end the loop */
        lua_pushboolean(lua, false);
        lua_replace(lua, -count - 1);
    }
    return count;
}

static int gmatch(lua_State *lua) {
    gale_str text = gx_function_take(lua, 1);
    size_t begin;
    if (!take_begin(lua, 3, text.size, &begin)) begin = text.size + 1;
    lua_settop(lua, 2);
    lua_pushvalue(lua, 1);
    gx_search search = gx_regex_take(lua, text, 2);
    lua_pushinteger(lua, (lua_Integer)begin);
    lua_pushboolean(lua, false);
    lua_pushboolean(lua, search.is_utf8);
    lua_pushcclosure(lua, next_match, UPVALUES);
    return 1;
}

/* --- gsub --- */

typedef struct replacing {
    lua_State *lua;
    gx_search search;
    gx_match match;
    gx_out out;
} replacing;

static void add_group(replacing *r, int group) {
    gx_group found = r->match.groups[group];
    if (found.begin == SIZE_MAX) return;
    gx_box_charge(r->lua, 1 + (found.end - found.begin) / 64);
    gx_out_add(&r->out, (gale_str){ r->search.text.data + found.begin, found.end - found.begin });
}

/* Of several groups with a name, the one that took part. */
static void add_named(replacing *r, gale_str wanted) {
    gale_str name;
    int group, found = 0;
    gx_box_charge(r->lua, (uint64_t)gx_regex_groups(r->search.regex));
    for (uint32_t n = 0; gx_regex_name(r->search.regex, n, &name, &group); n++)
        if (gx_str_equal(name, wanted) && (!found || r->match.groups[group].begin != SIZE_MAX)) found = group;
    lua_pushlstring(r->lua, wanted.data, wanted.size);
    if (!found) luaL_error(r->lua, "there is no group '%s' in the pattern", lua_tostring(r->lua, -1));
    lua_pop(r->lua, 1);
    add_group(r, found);
}

/* "%0" to "%9": a group, "%%" and "%$": the sign itself. */
static void add_escaped(replacing *r, char c) {
    int count = gx_regex_groups(r->search.regex), group = c - '0';
    if (c == '%' || c == '$') {
        gx_out_byte(&r->out, c);
    } else if (c < '0' || c > '9') {
        luaL_error(r->lua, "invalid use of '%%' in replacement string");
    } else if (group > count && !(group == 1 && count == 0)) {
        luaL_error(r->lua, "invalid capture index %%%d in replacement string", group);
    } else {
        add_group(r, group > count ? 0 : group);
    }
}

static void add_template(replacing *r, gale_str text) {
    gx_box_charge(r->lua, 1 + text.size / 16);
    for (size_t i = 0; i < text.size; i++) {
        const char *at = text.data + i, *end = NULL;
        size_t left = text.size - i;
        if (*at == '$' && left > 2 && at[1] == '{') end = memchr(at, '}', left);
        if (end) {
            add_named(r, (gale_str){ at + 2, (size_t)(end - at) - 2 });
            i += (size_t)(end - at);
        } else if (*at == '%') {
            add_escaped(r, ++i < text.size ? at[1] : 0);
        } else {
            gx_out_byte(&r->out, *at);
        }
    }
}

/* What a table or a function says; false and nil leave what was found. */
static void add_asked(replacing *r) {
    lua_State *lua = r->lua;
    gale_str text;
    lua_pushvalue(lua, 3);
    int count = push_groups(lua, &r->search, &r->match);
    if (lua_type(lua, 3) == LUA_TTABLE) {
        lua_pop(lua, count - 1);
        lua_gettable(lua, -2);
        lua_remove(lua, -2);
    } else {
        lua_call(lua, count, 1);
    }
    if (!lua_toboolean(lua, -1)) {
        add_group(r, 0);
    } else {
        if (!lua_isstring(lua, -1)) luaL_error(lua, "invalid replacement value (a %s)", luaL_typename(lua, -1));
        text.data = lua_tolstring(lua, -1, &text.size);
        gx_box_charge(lua, 1 + text.size / 64);
        gx_out_add(&r->out, text);
    }
    lua_pop(lua, 1);
}

static void add_replacement(replacing *r) {
    gale_str text;
    if (lua_type(r->lua, 3) == LUA_TFUNCTION || lua_type(r->lua, 3) == LUA_TTABLE) {
        add_asked(r);
        return;
    }
    text.data = lua_tolstring(r->lua, 3, &text.size);
    add_template(r, text);
}

static int gsub(lua_State *lua) {
    replacing r = { .lua = lua };
    r.search.text = gx_function_take(lua, 1);
    int type = lua_type(lua, 3);
    luaL_argexpected(lua, type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TFUNCTION || type == LUA_TTABLE, 3,
                     "string/function/table");
    lua_Integer most = luaL_optinteger(lua, 4, LUA_MAXINTEGER), count = 0;
    r.search = gx_regex_take(lua, r.search.text, 2);
    gx_out_begin(&r.out, lua);
    size_t done = 0;
    while (count < most && gx_regex_find(lua, &r.search, done, count > 0, &r.match)) {
        gx_out_add(&r.out, (gale_str){ r.search.text.data + done, r.match.groups[0].begin - done });
        add_replacement(&r);
        done = r.match.groups[0].end;
        count++;
    }
    gx_out_add(&r.out, (gale_str){ r.search.text.data + done, r.search.text.size - done });
    gx_out_push(&r.out);
    lua_pushinteger(lua, count);
    return 2;
}

void gx_library_pattern(lua_State *lua) {
    static const luaL_Reg functions[] = { { "regex", regex }, { NULL, NULL } };
    static const luaL_Reg of_string[] = {
        { "find", find }, { "match", match_text }, { "gmatch", gmatch }, { "gsub", gsub }, { NULL, NULL }
    };
    gx_regex_open(lua);
    gx_function_add(lua, NULL, functions);
    gx_function_add(lua, "string", of_string);
}
