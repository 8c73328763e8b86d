/* What an expression counts: metrics of its task, by name. One that was noted to before is found by the text that Lua
 * has of its name, without a call of the engine's and without memory. */
#include "script/function.h"
#include "script/library.h"

#include <gale/metric.h>
#include <math.h>

/* A function's own values: its metrics by name, and its kind. */
enum { KNOWN = 1, KIND = 2 };

static int32_t kind_of(lua_State *lua) {
    return (int32_t)lua_tointeger(lua, lua_upvalueindex(KIND));
}

static void refuse(lua_State *lua, const char *name, int rc) {
    if (rc == GALE_INVALID) luaL_error(lua, "'%s' can be no metric here: the report before this one says why", name);
    if (rc == GALE_TOO_LARGE)
        luaL_error(lua, "'%s' is one metric too many: a task has at most %d, a topology %d names", name,
                   GALE_METRICS_MAX, GALE_METRIC_NAMES_MAX);
    luaL_error(lua, "there is no metric '%s': %s", name, gale_error_text(rc));
}

/* Text that C ends at its first zero byte. */
static const char *take_text(lua_State *lua, int argument) {
    gale_str text = gx_function_take(lua, argument);
    luaL_argcheck(lua, strlen(text.data) == text.size, argument, "has a zero byte");
    return text.data;
}

enum { LABELS = 3, HELP = 4, LABEL_WORK = 20 }; /* arguments; units */

/* Labels are names and texts, numbers or booleans; they stay on the stack. */
static uint32_t take_labels(lua_State *lua, gale_metric_label *labels) {
    uint32_t count = 0;
    if (lua_isnoneornil(lua, LABELS)) return 0;
    luaL_checktype(lua, LABELS, LUA_TTABLE);
    luaL_checkstack(lua, 2 * GALE_METRIC_LABELS_MAX + 4, NULL);
    gx_box_charge_walk(lua);
    for (lua_pushnil(lua); lua_next(lua, LABELS); lua_insert(lua, -2)) { /* the value is kept under the next key */
        gx_box_charge(lua, LABEL_WORK);
        if (count == GALE_METRIC_LABELS_MAX) luaL_error(lua, "a metric has at most %d labels", GALE_METRIC_LABELS_MAX);
        if (lua_type(lua, -2) != LUA_TSTRING) luaL_error(lua, "a label's name is text");
        int type = lua_type(lua, -1);
        bool is_value = type == LUA_TSTRING || type == LUA_TNUMBER || type == LUA_TBOOLEAN;
        if (!is_value) luaL_error(lua, "label '%s' is a %s", lua_tostring(lua, -2), luaL_typename(lua, -1));
        if (type == LUA_TBOOLEAN) lua_pushstring(lua, lua_toboolean(lua, -1) ? "true" : "false"), lua_replace(lua, -2);
        labels[count++] = (gale_metric_label){ lua_tostring(lua, -2), lua_tostring(lua, -1) };
    }
    return count;
}

/* NULL where nobody reads metrics. */
static gale_metric *make(lua_State *lua, const char *name, const gale_metric_label *labels, uint32_t label_count) {
    gale_collector *out = gx_box_collector(gx_box_of(lua));
    gale_metric_options options = GALE_METRIC_OPTIONS_INIT;
    gale_metric *metric = NULL;
    options.name = name;
    options.kind = kind_of(lua);
    options.help = lua_isnoneornil(lua, HELP) ? NULL : take_text(lua, HELP);
    options.labels = labels;
    options.label_count = label_count;
    int rc = out ? gale_metric_new(out, &options, &metric) : GALE_UNSUPPORTED;
    if (rc == GALE_UNSUPPORTED) return NULL;
    if (rc < 0) refuse(lua, name, rc);
    return metric;
}

/* The metric whose name is the first argument. One without labels is known by its name's text; the engine knows
 * series. */
static gale_metric *find(lua_State *lua) {
    gale_metric_label labels[GALE_METRIC_LABELS_MAX];
    const char *name = take_text(lua, 1);
    lua_settop(lua, HELP); /* labels are pushed behind all arguments */
    uint32_t count = take_labels(lua, labels);
    if (count) return make(lua, name, labels, count);
    lua_pushvalue(lua, 1);
    lua_rawget(lua, lua_upvalueindex(KNOWN));
    gale_metric *metric = lua_touserdata(lua, -1);
    if (metric || !(metric = make(lua, name, NULL, 0))) return metric;
    lua_pushvalue(lua, 1);
    lua_pushlightuserdata(lua, metric);
    lua_rawset(lua, lua_upvalueindex(KNOWN));
    return metric;
}

/* A counter counts one when nothing is said; a nil that is given is a mistake, a field that is not there. */
static double take_value(lua_State *lua) {
    bool counts = kind_of(lua) == GALE_METRIC_COUNTER, is_gauge = kind_of(lua) == GALE_METRIC_GAUGE;
    double value = counts && lua_isnone(lua, 2) ? 1 : luaL_checknumber(lua, 2);
    luaL_argcheck(lua, isfinite(value), 2, "is no finite number");
    luaL_argcheck(lua, is_gauge || value >= 0, 2, "is below 0");
    return value;
}

static int note(lua_State *lua) {
    double value = take_value(lua);
    gale_metric *metric = find(lua);
    int rc = metric ? gale_metric_note(metric, value) : GALE_OK;
    if (rc < 0) luaL_error(lua, "'%s' cannot take this value: %s", lua_tostring(lua, 1), gale_error_text(rc));
    return 0;
}

/* In the table on the top. */
static void add(lua_State *lua, const char *name, gale_metric_kind kind) {
    lua_createtable(lua, 0, 0);
    lua_pushinteger(lua, kind);
    lua_pushcclosure(lua, note, 2);
    lua_setfield(lua, -2, name);
}

void gx_library_metric(lua_State *lua) {
    luaL_getsubtable(lua, -1, "metric");
    add(lua, "count", GALE_METRIC_COUNTER);
    add(lua, "gauge", GALE_METRIC_GAUGE);
    add(lua, "observe", GALE_METRIC_HISTOGRAM);
    lua_pop(lua, 1);
}
