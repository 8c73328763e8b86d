#include "script/box.h"

#include "base/nearest.h"
#include "base/os/time.h"
#include "base/str.h"
#include "script/budget.h"
#include "script/convert.h"
#include "script/library.h"

#include <lauxlib.h>
#include <lualib.h>

enum { STACK = GX_BOX_RESULTS + 64, STACK_LARGE = 1024 /* slots */ };

struct gx_box {
    gx_heap *heap;
    lua_State *lua;
    gx_arena arena;
    gale_clock clock; /* .now NULL: the machine's */
    gale_collector *collector;
    gx_budget budget;
    size_t memory; /* of a call */
    bool touched;  /* something was called or compiled since gx_box_begin */
    int env;       /* the place of the names in the registry */
    gx_buf names;  /* of the library, between blanks */
};

/* --- Bounds --- */

gx_box *gx_box_of(lua_State *lua) {
    void *budget;
    (void)lua_getallocf(lua, &budget);
    return (gx_box *)(void *)((char *)budget - offsetof(gx_box, budget));
}

void gx_box_charge(lua_State *lua, uint64_t work) {
    if (!gx_budget_charge(&gx_box_of(lua)->budget, work)) luaL_error(lua, "no work is left");
}

static int raise_nothing(lua_State *lua) {
    lua_pushnil(lua);
    return lua_error(lua);
}

/* Lua gives the room of its stack back behind an error that was caught. So one long list of arguments does not make the rest of the
 * call expensive. */
static void shrink_stack(lua_State *lua) {
    lua_pushcfunction(lua, raise_nothing);
    (void)lua_pcall(lua, 0, 0, 0);
    lua_pop(lua, 1);
}

static void hook(lua_State *lua, lua_Debug *activation) {
    gx_budget *budget = &gx_box_of(lua)->budget;
    (void)activation;
    if (!gx_budget_charge_instructions(budget)) luaL_error(lua, "no work is left");
    if (budget->stack > STACK_LARGE) {
        shrink_stack(lua);
        budget->stack_most = budget->stack;
    }
}

void gx_box_charge_walk(lua_State *lua) {
    gx_box_charge(lua, gx_budget_walk(&gx_box_of(lua)->budget));
}

size_t gx_box_room(const gx_box *box) {
    return box->memory;
}

size_t gx_box_bytes(const gx_box *box) {
    return box->budget.used + box->arena.bytes;
}

uint64_t gx_box_left(const gx_box *box) {
    return box->budget.left > 0 ? (uint64_t)box->budget.left : 0;
}

void gx_box_count_alone(gx_box *box) {
    box->budget.count_alone = true;
}

void gx_box_set_clock(gx_box *box, const gale_clock *clock) {
    box->clock = *clock;
}

int64_t gx_box_now(const gx_box *box) {
    return box->clock.now ? box->clock.now(box->clock.user) : gx_os_wall();
}

void gx_box_set_collector(gx_box *box, gale_collector *out) {
    box->collector = out;
}

gale_collector *gx_box_collector(const gx_box *box) {
    return box->collector;
}

/* --- What can be reached --- */

static const char *const base_names[] = { "assert", "error", "ipairs", "select", "tonumber", "type", NULL };
static const char *const string_names[] = { "byte", "char", "format", "len", "lower", "reverse", "sub", "upper", NULL };
static const char *const table_names[] = { "insert", "pack", "remove", "sort", "unpack", NULL };
static const char *const math_names[] = { "abs", "acos",       "asin", "atan", "ceil", "cos", "deg",
                                          "exp", "floor",      "fmod", "huge", "log",  "max", "maxinteger",
                                          "min", "mininteger", "modf", "pi",   "rad",  "sin", "sqrt",
                                          "tan", "tointeger",  "type", "ult",  NULL };
static const char *const utf8_names[] = { "char", "charpattern", "codepoint", "codes", "len", "offset", NULL };

static int refuse_change(lua_State *lua) {
    const char *name = lua_type(lua, 2) == LUA_TSTRING ? lua_tostring(lua, 2) : "?";
    return luaL_error(lua, "'%s' is not local: nothing is kept from one tuple to the next; write local %s = ...", name,
                      name);
}

/* A name that is neither local nor of the library. */
static int refuse_name(lua_State *lua) {
    if (lua_type(lua, 2) != LUA_TSTRING) return 0;
    size_t size;
    gx_nearest nearest = gx_nearest_to(gx_str(lua_tolstring(lua, 2, &size)));
    char hint[100];
    lua_pushnil(lua);
    while (lua_next(lua, 1)) {
        lua_pop(lua, 1);
        if (lua_type(lua, -1) == LUA_TSTRING) gx_nearest_offer(&nearest, gx_str(lua_tostring(lua, -1)));
    }
    return luaL_error(lua, "there is no '%s'%s", lua_tostring(lua, 2), gx_nearest_hint(&nearest, hint, sizeof hint));
}

/* Replaces the table on the top by one that reads as it does and cannot be changed. */
static void freeze(lua_State *lua, bool names_are_known) {
    if (names_are_known) {
        lua_createtable(lua, 0, 1);
        lua_pushcfunction(lua, refuse_name);
        lua_setfield(lua, -2, "__index");
        lua_setmetatable(lua, -2);
    }
    lua_createtable(lua, 0, 0);
    lua_createtable(lua, 0, 2);
    lua_pushvalue(lua, -3);
    lua_setfield(lua, -2, "__index");
    lua_pushcfunction(lua, refuse_change);
    lua_setfield(lua, -2, "__newindex");
    lua_setmetatable(lua, -2);
    lua_remove(lua, -2);
}

/* Copies fields of the table on the top into the one below it, and pops it. */
static void choose(lua_State *lua, const char *const *names) {
    for (; *names; names++) {
        lua_getfield(lua, -1, *names);
        lua_setfield(lua, -3, *names);
    }
    lua_pop(lua, 1);
}

/* A table of chosen fields under `name`, of what a library of Lua's opens. */
static void add_library(lua_State *lua, const char *name, lua_CFunction open, const char *const *names) {
    lua_createtable(lua, 0, 16);
    lua_pushcfunction(lua, open);
    lua_call(lua, 0, 1);
    choose(lua, names);
    lua_setfield(lua, -2, name);
}

static void freeze_field(lua_State *lua, const char *name) {
    lua_getfield(lua, -1, name);
    freeze(lua, true);
    lua_setfield(lua, -2, name);
}

/* Text's own methods are those of the table; that text that says a number counts as one stays as it is. */
static void set_text_methods(lua_State *lua) {
    lua_pushliteral(lua, "");
    lua_getmetatable(lua, -1);
    lua_getfield(lua, -3, "string");
    lua_setfield(lua, -2, "__index");
    lua_pop(lua, 2);
}

static void freeze_all(lua_State *lua) {
    static const char *const names[] = { "string", "table", "math", "utf8", "json",
                                         "base64", "url",   "hash", "time", "metric" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        lua_getfield(lua, -1, names[i]);
        bool there = lua_istable(lua, -1);
        lua_pop(lua, 1);
        if (there) freeze_field(lua, names[i]);
    }
}

/* The names in the table on the top, and, behind theirs, those in tables there. */
static void list_names(lua_State *lua, gx_box *box, const char *table) {
    lua_pushnil(lua);
    while (lua_next(lua, -2)) {
        const char *name = lua_tostring(lua, -2);
        gx_buf_format(&box->names, "%s%s%s ", table, *table ? "." : "", name);
        if (lua_istable(lua, -1)) list_names(lua, box, name);
        lua_pop(lua, 1);
    }
    if (box->names.failed) luaL_error(lua, "out of memory");
}

gale_str gx_box_names(const gx_box *box) {
    return (gale_str){ box->names.data, box->names.size };
}

bool gx_box_knows(const gx_box *box, gale_str name) {
    gale_str rest = gx_box_names(box), known;
    while (gx_str_next(&rest, ' ', &known))
        if (known.size && gx_str_equal(known, name)) return true;
    return false;
}

bool gx_box_is_table(const gx_box *box, gale_str name) {
    gale_str rest = gx_box_names(box), known;
    while (gx_str_next(&rest, ' ', &known))
        if (known.size > name.size && known.data[name.size] == '.' && memcmp(known.data, name.data, name.size) == 0)
            return true;
    return false;
}

static int furnish(lua_State *lua) {
    gx_box *box = gx_box_of(lua);
    lua_createtable(lua, 0, 32);
    lua_pushcfunction(lua, luaopen_base);
    lua_call(lua, 0, 1);
    choose(lua, base_names);
    add_library(lua, "string", luaopen_string, string_names);
    add_library(lua, "table", luaopen_table, table_names);
    add_library(lua, "math", luaopen_math, math_names);
    add_library(lua, "utf8", luaopen_utf8, utf8_names);
    gx_library_text(lua);
    gx_library_format(lua);
    gx_library_list(lua);
    gx_library_pairs(lua);
    gx_library_pattern(lua);
    gx_library_data(lua);
    gx_library_json(lua);
    gx_library_url(lua);
    gx_library_time(lua);
    gx_library_metric(lua);
    list_names(lua, box, "");
    freeze_all(lua);
    set_text_methods(lua);
    freeze(lua, true);
    gx_library_concatenation(lua);
    box->env = luaL_ref(lua, LUA_REGISTRYINDEX);
    return 0;
}

/* --- A box --- */

enum { LOCATE = 1 }; /* where the function for errors lies on the stack, under all results */

/* Lua's own functions do not say where they were called when they compare or call what cannot be: says it for them. */
static int locate(lua_State *lua) {
    lua_Debug at;
    for (int level = 0; lua_type(lua, 1) == LUA_TSTRING && lua_getstack(lua, level, &at); level++) {
        lua_getinfo(lua, "Sl", &at);
        if (at.currentline <= 0) continue;
        size_t size = strlen(at.short_src);
        const char *said = lua_tostring(lua, 1);
        if (strncmp(said, at.short_src, size) != 0 || said[size] != ':')
            lua_pushfstring(lua, "%s:%d: %s", at.short_src, at.currentline, said);
        break;
    }
    return 1;
}

int gx_box_new(gx_heap *heap, const gx_box_limits *limits, gx_box **ret_box, gale_error *error) {
    if (limits->memory > GX_BOX_MEMORY_MAX)
        return gale_error_set(error, GALE_INVALID, "memory is %llu bytes, at most %d",
                              (unsigned long long)limits->memory, GX_BOX_MEMORY_MAX);
    if (limits->work > INT64_MAX / 4) return gale_error_set(error, GALE_INVALID, "work is out of range");
    gx_box *box = gx_alloc(heap, GX_TAG_OTHER, sizeof *box);
    if (!box) return gale_error_set(error, GALE_NO_MEMORY, "no memory for expressions");
    box->heap = box->arena.heap = box->names.heap = heap;
    box->memory = limits->memory ? (size_t)limits->memory : GX_BOX_MEMORY;
    box->budget = (gx_budget){ .heap = heap, .work = limits->work ? limits->work : GX_BOX_WORK, .most = SIZE_MAX };
    box->lua = lua_newstate(gx_budget_allocate, &box->budget);
    box->budget.finds_stack = true;
    bool room = box->lua && lua_checkstack(box->lua, STACK);
    box->budget.finds_stack = false;
    if (room) lua_pushcfunction(box->lua, furnish);
    if (!room || lua_pcall(box->lua, 0, 0, 0) != LUA_OK) {
        gx_box_free(box);
        return gale_error_set(error, GALE_NO_MEMORY, "no memory for expressions");
    }
    lua_pushcfunction(box->lua, locate);
    lua_sethook(box->lua, hook, LUA_MASKCOUNT, GX_BUDGET_INSTRUCTIONS);
    *ret_box = box;
    box->touched = true;
    gx_box_begin(box);
    return GALE_OK;
}

void gx_box_free(gx_box *box) {
    if (!box) return;
    box->budget.most = SIZE_MAX;
    if (box->lua) lua_close(box->lua);
    gx_arena_fini(&box->arena);
    gx_buf_fini(&box->names);
    gx_free(box->heap, GX_TAG_OTHER, box, sizeof *box);
}

void gx_box_begin(gx_box *box) {
    if (!box->touched) return;
    box->touched = false;
    lua_settop(box->lua, LOCATE);
    gx_arena_reset(&box->arena);
    gx_budget_begin(&box->budget);
}

/* --- Compiling --- */

typedef struct source {
    gx_box *box;
    gx_buf text;
    const char *name;
    bool block;
    int status;
    int function;
    gx_buf *said;
} source;

/* An expression is a block that returns it. Both begin on the line on which the text begins. What a block gave _ENV would be
 * there at its next call. */
static bool write_source(source *s, gale_str text, gale_str names) {
    gx_buf_reset(&s->text);
    gx_buf_add_text(&s->text, "local _ENV <const> = _ENV ");
    if (names.size) gx_buf_format(&s->text, "local %.*s=... ", GX_STR(names));
    if (!s->block) gx_buf_add_text(&s->text, "return ");
    gx_buf_add(&s->text, text.data, text.size);
    return !s->text.failed;
}

static int compile(lua_State *lua) {
    source *s = lua_touserdata(lua, 1);
    s->status = luaL_loadbufferx(lua, s->text.data, s->text.size, s->name, "t");
    if (s->status != LUA_OK) {
        size_t size;
        const char *said = lua_tolstring(lua, -1, &size);
        gx_buf_add(s->said, said, size);
        return 0;
    }
    lua_rawgeti(lua, LUA_REGISTRYINDEX, s->box->env);
    if (!lua_setupvalue(lua, -2, 1)) lua_pop(lua, 1);
    s->function = luaL_ref(lua, LUA_REGISTRYINDEX);
    return 0;
}

/* GALE_SYNTAX leaves what Lua says in `said`. */
static int try_compile(source *s) {
    lua_State *lua = s->box->lua;
    gx_box_begin(s->box);
    s->box->touched = true;
    gx_buf_reset(s->said);
    lua_pushcfunction(lua, compile);
    lua_pushlightuserdata(lua, s);
    int status = lua_pcall(lua, 1, 0, 0);
    if (status != LUA_OK || s->status == LUA_ERRMEM || s->said->failed) return GALE_NO_MEMORY;
    return s->status == LUA_OK ? GALE_OK : GALE_SYNTAX;
}

static bool returns_somewhere(gale_str text) {
    static const char word[] = "return";
    for (size_t i = 0; i + sizeof word - 1 <= text.size; i++)
        if (memcmp(text.data + i, word, sizeof word - 1) == 0) return true;
    return false;
}

/* What Lua says of a text begins with its name and line, "what:1: ...". */
int gx_box_compile(gx_box *box, gale_str text, const char *what, gale_str names, int *ret_function, gale_error *error) {
    gx_buf name = GX_BUF_INIT(box->heap), said = GX_BUF_INIT(box->heap), first = GX_BUF_INIT(box->heap);
    source s = { .box = box, .text = GX_BUF_INIT(box->heap), .said = &first };
    if (text.size > box->budget.written) box->budget.written = text.size;
    gx_buf_format(&name, "=%s", what);
    s.name = gx_buf_text(&name);
    int rc = s.name && write_source(&s, text, names) ? try_compile(&s) : GALE_NO_MEMORY;
    if (rc == GALE_SYNTAX) { /* a block, then; what is wrong with it is told only if it may be one */
        s.block = true;
        s.said = &said;
        rc = write_source(&s, text, names) ? try_compile(&s) : GALE_NO_MEMORY;
    }
    if (rc == GALE_SYNTAX) {
        const char *told = gx_buf_text(returns_somewhere(text) ? &said : &first);
        gale_error_set(error, rc, "%s", told ? told : "");
    } else if (rc < 0) {
        gale_error_set(error, rc, "%s: no memory to compile it", what);
    }
    *ret_function = rc == GALE_OK ? s.function : 0;
    gx_buf_fini(&name);
    gx_buf_fini(&said);
    gx_buf_fini(&first);
    gx_buf_fini(&s.text);
    return rc;
}

/* --- Calling --- */

typedef struct call {
    int function;
    const gale_value *values;
    uint32_t count;
} call;

static int run(lua_State *lua) {
    const call *c = lua_touserdata(lua, 1);
    luaL_checkstack(lua, (int)c->count + 8, NULL);
    lua_rawgeti(lua, LUA_REGISTRYINDEX, c->function);
    for (uint32_t i = 0; i < c->count; i++) gx_convert_push(lua, &c->values[i]);
    lua_call(lua, (int)c->count, 1);
    return 1;
}

static int failed(gx_box *box, int status, gale_error *error) {
    size_t size = 0;
    const char *said = lua_type(box->lua, -1) == LUA_TSTRING ? lua_tolstring(box->lua, -1, &size)
                                                             : "an error that is no text";
    if (box->budget.left < 0)
        return gale_error_set(error, GALE_TOO_LARGE, "it took more than %llu units of work",
                              (unsigned long long)box->budget.work);
    if (status == LUA_ERRMEM && box->budget.out) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    if (status == LUA_ERRMEM)
        return gale_error_set(error, GALE_TOO_LARGE, "it took more than %zu bytes of memory", box->memory);
    return gale_error_set(error, GALE_TYPE, "%s", said);
}

int gx_box_call(gx_box *box, int function, const gale_value *values, uint32_t count, gale_value *ret_value,
                gale_error *error) {
    lua_State *lua = box->lua;
    call c = { function, values, count };
    *ret_value = gale_null();
    box->touched = true;
    lua_pushcfunction(lua, run);
    lua_pushlightuserdata(lua, &c);
    box->budget.most = box->budget.used + box->memory;
    int status = lua_pcall(lua, 1, 1, LOCATE);
    box->budget.most = SIZE_MAX;
    if (status != LUA_OK) return failed(box, status, error);
    gx_convert_bounds bounds = { box->memory, gx_box_left(box), gx_budget_walk(&box->budget) };
    const char *wrong = gx_convert_take(lua, -1, &box->arena, bounds, ret_value);
    if (!wrong) return GALE_OK;
    return gale_error_set(error, wrong == gx_convert_no_room ? GALE_TOO_LARGE : GALE_TYPE, "it returned %s", wrong);
}
