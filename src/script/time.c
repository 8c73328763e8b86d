#include "kit/moment.h"
#include "script/function.h"
#include "script/library.h"
#include "script/out.h"

#include <math.h>

/* --- Seconds and moments --- */

static gx_moment take_moment(lua_State *lua, int argument) {
    gx_moment moment = { .second = 0 };
    gx_box_charge(lua, 20);
    if (lua_isinteger(lua, argument)) {
        moment.second = lua_tointeger(lua, argument);
    } else {
        double micros = luaL_checknumber(lua, argument) * 1e6;
        bool fits = micros >= (double)GX_MOMENT_FIRST * 1e6 && micros < (double)(GX_MOMENT_LAST + 1) * 1e6;
        luaL_argcheck(lua, fits, argument, "is outside of the years 0 to 9999");
        int64_t whole = llround(micros), rest = (whole % 1000000 + 1000000) % 1000000;
        moment.second = (whole - rest) / 1000000;
        moment.nano = (int32_t)rest * 1000;
    }
    luaL_argcheck(lua, moment.second >= GX_MOMENT_FIRST && moment.second <= GX_MOMENT_LAST, argument,
                  "is outside of the years 0 to 9999");
    return moment;
}

static gale_str take_format(lua_State *lua, int argument) {
    gale_str format = gx_function_take(lua, argument);
    int flaw = gx_moment_flaw(format);
    gx_box_charge(lua, format.size);
    if (flaw < 0) luaL_error(lua, "the format ends with '%%'");
    if (flaw) {
        char c = (char)flaw;
        luaL_error(lua, "the format has '%%%c', which is none of %s", c,
                   "%Y %y %m %d %e %j %H %I %p %M %S %f %L %b %B %a "
                   "%A %z %Z %s %F %T %%");
    }
    return format;
}

static int now(lua_State *lua) {
    lua_pushnumber(lua, (double)gx_box_now(gx_box_of(lua)) / 1e9);
    return 1;
}

/* parse(text, format): nil, if it is none */
static int parse(lua_State *lua) {
    gale_str text = gx_function_take(lua, 1);
    gx_moment moment;
    gx_box_charge(lua, 20);
    bool read = lua_isnoneornil(lua, 2) ? gx_moment_read(text, &gx_moment_1970, &moment)
                                        : gx_moment_parse(text, take_format(lua, 2), &gx_moment_1970, &moment);
    int64_t micro = read ? moment.nano / 1000 : 0; /* a double has no more digits than that */
    if (!read)
        lua_pushnil(lua);
    else if (moment.is_fraction)
        lua_pushnumber(lua, (double)moment.second + (double)micro / 1e6);
    else
        lua_pushinteger(lua, moment.second);
    return 1;
}

static void add(gx_out *out, const gx_moment *moment, char c) {
    gx_box_charge(out->lua, 20);
    out->size += gx_moment_write(moment, c, gx_out_room(out, GX_MOMENT_TEXT));
}

/* RFC 3339, with as much of a fraction as there is. */
static void add_default(gx_out *out, const gx_moment *moment) {
    add(out, moment, 'F');
    gx_out_byte(out, 'T');
    add(out, moment, 'T');
    if (moment->nano) {
        gx_out_byte(out, '.');
        add(out, moment, 'f');
        while (out->data[out->size - 1] == '0') out->size--;
    }
    gx_out_byte(out, 'Z');
}

static int format(lua_State *lua) {
    gx_moment moment = take_moment(lua, 1);
    gale_str how = lua_isnoneornil(lua, 2) ? (gale_str){ NULL, 0 } : take_format(lua, 2);
    gx_out out;
    gx_out_begin(&out, lua);
    if (!how.data) add_default(&out, &moment);
    for (size_t i = 0; i < how.size; i++) {
        if (how.data[i] == '%')
            add(&out, &moment, how.data[++i]);
        else
            gx_out_byte(&out, how.data[i]);
    }
    gx_out_push(&out);
    return 1;
}

static void set_number(lua_State *lua, const char *field, int64_t number) {
    lua_pushinteger(lua, number);
    lua_setfield(lua, -2, field);
}

static int date(lua_State *lua) {
    gx_moment moment = take_moment(lua, 1);
    gx_civil day = gx_moment_date(&moment);
    int32_t of_day = gx_moment_of_day(&moment);
    lua_createtable(lua, 0, 8);
    set_number(lua, "year", day.year);
    set_number(lua, "month", day.month);
    set_number(lua, "day", day.day);
    set_number(lua, "hour", of_day / 3600);
    set_number(lua, "min", of_day / 60 % 60);
    set_number(lua, "sec", of_day % 60);
    set_number(lua, "wday", gx_moment_weekday(&moment));
    set_number(lua, "yday", gx_moment_year_day(&moment));
    return 1;
}

/* floor(seconds, step): the last multiple of the step that is not behind them */
static int floor_to(lua_State *lua) {
    luaL_argcheck(lua, luaL_checknumber(lua, 2) > 0, 2, "is not above 0");
    if (lua_isinteger(lua, 1) && lua_isinteger(lua, 2)) {
        lua_Integer seconds = lua_tointeger(lua, 1), step = lua_tointeger(lua, 2), rest = seconds % step;
        if (rest < 0) rest += step;
        luaL_argcheck(lua, seconds >= LUA_MININTEGER + rest, 1, "is too small");
        lua_pushinteger(lua, seconds - rest);
        return 1;
    }
    lua_Number step = lua_tonumber(lua, 2);
    lua_pushnumber(lua, floor(luaL_checknumber(lua, 1) / step) * step);
    return 1;
}

void gx_library_time(lua_State *lua) {
    static const luaL_Reg functions[] = { { "now", now }, { NULL, NULL } };
    static const luaL_Reg of_time[] = {
        { "parse", parse }, { "format", format }, { "date", date }, { "floor", floor_to }, { NULL, NULL }
    };
    gx_function_add(lua, NULL, functions);
    gx_function_add(lua, "time", of_time);
}
