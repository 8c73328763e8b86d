#include "script/regex.h"

#include "base/utf8.h"
#include "script/box.h"
#include "script/steps.h"

#include <lauxlib.h>

static_assert(GX_REGEX_GROUPS == (int)GX_STEPS_GROUPS, "one bound");
enum { COMPILE = 500, COMPILE_BYTE = 20, FIND = 20 };
enum { KEEPER_CONTEXT = 1, KEEPER_COMPILE, KEEPER_BYTES, KEEPER_UTF8, KEEPER_COUNT = KEEPER_UTF8 };

struct gx_regex {
    const pcre2_code *code; /* lies in this one's user value */
    uint32_t groups;
    uint32_t names, name_size;
    PCRE2_SPTR name_table;
    gx_steps_cost cost;
    size_t size; /* of the pattern */
    char pattern[];
};

/* What a box has of PCRE2. Its user values keep what lies in memory of Lua's. */
typedef struct engine {
    lua_State *lua;
    pcre2_general_context *general;
    pcre2_compile_context *compile;
    pcre2_match_context *context;
    pcre2_match_data *data;
    uint32_t kept[KEEPER_COUNT + 1]; /* patterns */
    size_t kept_bytes;
    gx_steps steps; /* of a search */
} engine;

/* --- Memory --- */

/* What is compiled lies in Lua's own blocks, on its stack until it is known what of it stays: nothing is leaked when Lua has no
 * more memory and raises its error, and its collector knows how much there is. */
static void *take_block(size_t size, void *user) {
    lua_State *lua = user;
    luaL_checkstack(lua, 4, NULL);
    return lua_newuserdatauv(lua, size, 0);
}

static void leave_block(void *block, void *user) {
    (void)block;
    (void)user;
}

/* What matching takes comes from the box, without an error: PCRE2 gives it back. */
static void *take_memory(size_t size, void *user) {
    void *box;
    lua_Alloc allocate = lua_getallocf(user, &box);
    return allocate(box, NULL, 0, size);
}

static void give_memory(void *block, void *user) {
    void *box;
    lua_Alloc allocate = lua_getallocf(user, &box);
    if (block) allocate(box, block, 0, 0);
}

/* --- The engine of a box --- */

static const char place = 0; /* in the registry */

static int close_engine(lua_State *lua) {
    engine *e = lua_touserdata(lua, 1);
    pcre2_match_data_free(e->data);
    pcre2_match_context_free(e->context);
    pcre2_general_context_free(e->general);
    *e = (engine){ .lua = NULL };
    return 0;
}

static engine *push_engine(lua_State *lua) {
    lua_rawgetp(lua, LUA_REGISTRYINDEX, &place);
    return lua_touserdata(lua, -1);
}

/* Lets the block on the top live as long as the engine below it. */
static void *keep(lua_State *lua, void *made, int keeper) {
    if (!made) luaL_error(lua, "no memory for patterns");
    lua_setiuservalue(lua, -2, keeper);
    return made;
}

static void empty_cache(lua_State *lua, engine *e, int at) {
    for (int keeper = KEEPER_BYTES; keeper <= KEEPER_UTF8; keeper++) {
        lua_createtable(lua, 0, 8);
        lua_setiuservalue(lua, at, keeper);
        e->kept[keeper] = 0;
    }
    e->kept_bytes = 0;
}

void gx_regex_open(lua_State *lua) {
    engine *e = lua_newuserdatauv(lua, sizeof *e, KEEPER_COUNT);
    *e = (engine){ .lua = lua };
    lua_createtable(lua, 0, 1);
    lua_pushcfunction(lua, close_engine);
    lua_setfield(lua, -2, "__gc");
    lua_setmetatable(lua, -2);
    empty_cache(lua, e, lua_absindex(lua, -1));
    pcre2_general_context *blocks = keep(lua, pcre2_general_context_create(take_block, leave_block, lua),
                                         KEEPER_CONTEXT);
    e->compile = keep(lua, pcre2_compile_context_create(blocks), KEEPER_COMPILE);
    pcre2_set_parens_nest_limit(e->compile, GX_STEPS_NESTED);
    e->general = pcre2_general_context_create(take_memory, give_memory, lua);
    e->context = e->general ? pcre2_match_context_create(e->general) : NULL;
    e->data = e->general ? pcre2_match_data_create(GX_REGEX_GROUPS + 1, e->general) : NULL;
    if (!e->context || !e->data) luaL_error(lua, "no memory for patterns");
    pcre2_set_callout(e->context, gx_steps_count, &e->steps);
    pcre2_set_heap_limit(e->context, (uint32_t)(gx_box_room(gx_box_of(lua)) / 2 / 1024));
    lua_rawsetp(lua, LUA_REGISTRYINDEX, &place);
}

/* --- Compiling --- */

static void refuse(lua_State *lua, gale_str pattern, int code, size_t at) {
    PCRE2_UCHAR said[120];
    if (pcre2_get_error_message(code, said, sizeof said) < 0) said[0] = 0;
    if (pattern.size <= 80)
        luaL_error(lua, "the pattern '%s' is wrong at byte %d: %s", pattern.data, (int)at, (const char *)said);
    else
        luaL_error(lua, "the pattern is wrong at byte %d: %s", (int)at, (const char *)said);
}

/* The same pattern with fewer callouts, where their places are known; else NULL. */
static const pcre2_code *place_callouts(lua_State *lua, const engine *e, gale_str pattern, uint32_t options) {
    size_t room = gx_callouts_room(pattern.size) + 1, at;
    gx_buf placed = { .data = take_block(room, lua), .capacity = room };
    int code;
    if (!gx_callouts_place(pattern, &placed) || placed.failed) return NULL;
    gx_box_charge(lua, COMPILE + COMPILE_BYTE * placed.size);
    return pcre2_compile((PCRE2_SPTR)placed.data, placed.size, options, &code, &at, e->compile);
}

/* Compiles into the user value of the regex on the top. */
static void compile(lua_State *lua, const engine *e, gx_regex *regex, bool is_utf8) {
    uint32_t options = is_utf8 ? PCRE2_UTF | PCRE2_NO_UTF_CHECK : PCRE2_NEVER_UTF;
    gale_str pattern = { regex->pattern, regex->size };
    int top = lua_gettop(lua), code;
    size_t at;
    const pcre2_code *made = pcre2_compile((PCRE2_SPTR)pattern.data, pattern.size, GX_STEPS_OPTIONS | options, &code,
                                           &at, e->compile);
    if (!made) refuse(lua, pattern, code, at);
    const pcre2_code *fewer = place_callouts(lua, e, pattern, GX_STEPS_OPTIONS_PLACED | options);
    if (fewer) made = fewer;
    int found = lua_gettop(lua);
    while (lua_touserdata(lua, found) != made) found--;
    lua_pushvalue(lua, found);
    lua_setiuservalue(lua, top, 1);
    lua_settop(lua, top);
    regex->code = made;
}

static void read_facts(lua_State *lua, gx_regex *regex, bool is_utf8) {
    pcre2_pattern_info(regex->code, PCRE2_INFO_CAPTURECOUNT, &regex->groups);
    pcre2_pattern_info(regex->code, PCRE2_INFO_NAMECOUNT, &regex->names);
    pcre2_pattern_info(regex->code, PCRE2_INFO_NAMEENTRYSIZE, &regex->name_size);
    pcre2_pattern_info(regex->code, PCRE2_INFO_NAMETABLE, &regex->name_table);
    if (regex->groups > GX_REGEX_GROUPS) luaL_error(lua, "the pattern has more than %d groups", GX_REGEX_GROUPS);
    regex->cost = gx_steps_cost_of(regex->code, (gale_str){ regex->pattern, regex->size }, is_utf8);
}

/* Pushes it. */
static gx_regex *make(lua_State *lua, const engine *e, gale_str pattern, bool is_utf8) {
    gx_box_charge(lua, COMPILE + COMPILE_BYTE * pattern.size);
    if (pattern.size > GX_STEPS_PATTERN)
        luaL_error(lua, "the pattern has %d bytes, at most %d", (int)pattern.size, GX_STEPS_PATTERN);
    gx_regex *regex = lua_newuserdatauv(lua, sizeof *regex + pattern.size + 1, 1);
    *regex = (gx_regex){ .size = pattern.size };
    memcpy(regex->pattern, pattern.data, pattern.size);
    regex->pattern[pattern.size] = 0;
    compile(lua, e, regex, is_utf8);
    read_facts(lua, regex, is_utf8);
    return regex;
}

/* Puts the regex on the top under its pattern; the engine lies at `at`. */
static void keep_regex(lua_State *lua, engine *e, int at, int pattern, int keeper) {
    const gx_regex *regex = lua_touserdata(lua, -1);
    size_t size = 0;
    pcre2_pattern_info(regex->code, PCRE2_INFO_SIZE, &size);
    bool full = e->kept[keeper] == GX_REGEX_KEPT || e->kept_bytes + size > gx_box_room(gx_box_of(lua)) / 2;
    if (full) empty_cache(lua, e, at);
    lua_getiuservalue(lua, at, keeper);
    lua_pushvalue(lua, pattern);
    lua_pushvalue(lua, -3);
    lua_rawset(lua, -3);
    lua_pop(lua, 1);
    e->kept[keeper]++;
    e->kept_bytes += size;
}

static gx_regex *find_kept(lua_State *lua, int at, int pattern, int keeper) {
    lua_getiuservalue(lua, at, keeper);
    lua_pushvalue(lua, pattern);
    lua_rawget(lua, -2);
    lua_remove(lua, -2);
    gx_regex *regex = lua_touserdata(lua, -1);
    if (!regex) lua_pop(lua, 1);
    return regex;
}

gx_search gx_regex_take(lua_State *lua, gale_str text, int pattern) {
    gale_str p;
    p.data = luaL_checklstring(lua, pattern, &p.size);
    luaL_checkstack(lua, 12, NULL);
    gx_box_charge(lua, 4 + text.size / 64);
    gx_search search = { .text = text, .is_utf8 = gx_utf8_valid(text.data, text.size) };
    engine *e = push_engine(lua);
    int at = lua_gettop(lua);
    search.regex = search.is_utf8 ? find_kept(lua, at, pattern, KEEPER_UTF8) : NULL;
    if (!search.regex) {
        gx_box_charge(lua, p.size / 16);
        search.is_utf8 = search.is_utf8 && gx_utf8_valid(p.data, p.size);
        if (!search.is_utf8) search.regex = find_kept(lua, at, pattern, KEEPER_BYTES);
    }
    if (!search.regex) {
        search.regex = make(lua, e, p, search.is_utf8);
        keep_regex(lua, e, at, pattern, search.is_utf8 ? KEEPER_UTF8 : KEEPER_BYTES);
    }
    lua_remove(lua, at);
    return search;
}

/* --- Matching --- */

static void raise(lua_State *lua, int code) {
    PCRE2_UCHAR said[120];
    switch (code) {
    case PCRE2_ERROR_MATCHLIMIT: luaL_error(lua, "the pattern took too many steps"); return;
    case PCRE2_ERROR_HEAPLIMIT:
    case PCRE2_ERROR_DEPTHLIMIT:
    case PCRE2_ERROR_NOMEMORY: luaL_error(lua, "the pattern took too much memory"); return;
    default:
        if (pcre2_get_error_message(code, said, sizeof said) < 0) said[0] = 0;
        luaL_error(lua, "the pattern failed: %s", (const char *)said);
    }
}

static void read_groups(const engine *e, const gx_search *search, gx_match *match) {
    const size_t *found = pcre2_get_ovector_pointer(e->data);
    for (uint32_t i = 0; i <= search->regex->groups; i++) {
        gx_group group = { found[2 * i], found[2 * i + 1] };
        if (group.end < group.begin) group.end = group.begin;
        match->groups[i] = group;
    }
}

bool gx_regex_find(lua_State *lua, const gx_search *search, size_t from, bool fresh, gx_match *ret_match) {
    engine *e = push_engine(lua);
    lua_pop(lua, 1); /* the registry has it */
    while (search->is_utf8 && from < search->text.size && ((unsigned char)search->text.data[from] & 0xc0) == 0x80)
        from++;
    gx_box_charge(lua, FIND);
    gx_steps_begin(&e->steps, &search->regex->cost, from);
    uint32_t options = (search->is_utf8 ? PCRE2_NO_UTF_CHECK : 0) | (fresh ? PCRE2_NOTEMPTY_ATSTART : 0);
    int rc = pcre2_match(search->regex->code, (PCRE2_SPTR)search->text.data, search->text.size, from, options, e->data,
                         e->context);
    gx_box_charge(lua, gx_steps_end(&e->steps, rc, search->text.size));
    if (rc < 0 && rc != PCRE2_ERROR_NOMATCH) raise(lua, rc);
    if (rc > 0) read_groups(e, search, ret_match);
    return rc > 0;
}

int gx_regex_groups(const gx_regex *regex) {
    return (int)regex->groups;
}

bool gx_regex_name(const gx_regex *regex, uint32_t n, gale_str *ret_name, int *ret_group) {
    if (n >= regex->names) return false;
    PCRE2_SPTR entry = regex->name_table + (size_t)n * regex->name_size;
    *ret_group = entry[0] << 8 | entry[1];
    *ret_name = gx_str((const char *)entry + 2);
    return true;
}
