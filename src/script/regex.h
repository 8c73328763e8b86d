/* Regular expressions of PCRE2 in a box. A pattern is UTF-8 where it and the text are, else bytes. What has been compiled is
 * kept by its text, at most GX_REGEX_KEPT of them. Work is counted exactly (script/steps.h).
 * Threads: as the box. Owner: memory is the Lua state's. */
#ifndef GX_SCRIPT_REGEX_H
#define GX_SCRIPT_REGEX_H

#include "base/str.h"

#include <lua.h>

enum {
    GX_REGEX_KEPT = 256,
    GX_REGEX_GROUPS = 100 /* as GX_STEPS_GROUPS */
};

typedef struct gx_regex gx_regex;

/* A pattern, and where it is looked for. */
typedef struct gx_search {
    const gx_regex *regex;
    gale_str text;
    bool is_utf8;
} gx_search;

typedef struct gx_group {
    size_t begin, end; /* `begin` SIZE_MAX: it took no part */
} gx_group;

typedef struct gx_match {
    gx_group groups[GX_REGEX_GROUPS + 1]; /* the first is the whole */
} gx_match;

/* Prepares patterns for this state. The functions below are called inside of functions of Lua's, and may raise its
 * errors. */
void gx_regex_open(lua_State *lua);

/* Compiles the pattern that is argument `pattern`, or finds it, and pushes what keeps it alive. Errors: no regular
 * expression, more than the bounds. */
gx_search gx_regex_take(lua_State *lua, gale_str text, int pattern);

/* The first match that begins at `from` or behind it; `fresh` alone: it is not an empty one at `from`. */
bool gx_regex_find(lua_State *lua, const gx_search *search, size_t from, bool fresh, gx_match *ret_match);

int gx_regex_groups(const gx_regex *regex);

/* The n-th name, from 0, and its group; false: there are not so many. */
bool gx_regex_name(const gx_regex *regex, uint32_t n, gale_str *ret_name, int *ret_group);

#endif
