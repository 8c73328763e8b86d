#include "script/function.h"
#include "script/library.h"
#include "script/out.h"

static gale_str after(gale_str text, size_t size) {
    return (gale_str){ text.data + size, text.size - size };
}

static gale_str before(gale_str text, const char *end) {
    return (gale_str){ text.data, (size_t)(end - text.data) };
}

static const char *find(gale_str text, char c) {
    return text.size ? memchr(text.data, c, text.size) : NULL;
}

/* --- Percent signs --- */

static bool is_letter_or_digit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* What is no %xx stays as it is: logs are full of them. */
static void push_decoded(lua_State *lua, gale_str text, bool plus_is_blank) {
    gx_out out;
    gx_box_charge(lua, 1 + text.size / 16);
    gx_out_begin(&out, lua);
    char *to = gx_out_room(&out, text.size);
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        bool three = c == '%' && text.size - i > 2 && digit_of(text.data[i + 1]) >= 0 &&
                     digit_of(text.data[i + 2]) >= 0;
        if (three) {
            c = (char)(digit_of(text.data[i + 1]) << 4 | digit_of(text.data[i + 2]));
            i += 2;
        } else if (c == '+' && plus_is_blank) {
            c = ' ';
        }
        to[out.size++] = c;
    }
    gx_out_push(&out);
    lua_remove(lua, out.place);
}

static int decode(lua_State *lua) {
    push_decoded(lua, gx_function_take(lua, 1), false);
    return 1;
}

/* All but letters, digits and "-._~" (RFC 3986, 2.3). */
static int encode(lua_State *lua) {
    static const char digits[] = "0123456789ABCDEF";
    gale_str text = gx_function_take(lua, 1);
    gx_out out;
    gx_box_charge(lua, text.size / 16);
    gx_out_begin(&out, lua);
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        if (is_letter_or_digit(c) || (c && strchr("-._~", c))) {
            gx_out_byte(&out, c);
            continue;
        }
        char three[3] = { '%', digits[(unsigned char)c >> 4], digits[(unsigned char)c & 15] };
        gx_out_add(&out, (gale_str){ three, 3 });
    }
    gx_out_push(&out);
    return 1;
}

/* --- Parts --- */

/* Cuts what follows `sign` off the text's end into a field. */
static gale_str cut_end(lua_State *lua, gale_str text, char sign, const char *field) {
    const char *at = find(text, sign);
    if (!at) return text;
    gx_function_set_text(lua, -1, field, after(text, (size_t)(at - text.data) + 1));
    return before(text, at);
}

static bool is_scheme(gale_str text) {
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        bool sign = c && strchr("+-.", c);
        if (!is_letter_or_digit(c) && (!sign || !i)) return false;
    }
    return text.size && !(text.data[0] >= '0' && text.data[0] <= '9');
}

/* "user@host:8080", "[::1]:80". A port that is no number stays with the host. */
static void set_host(lua_State *lua, gale_str text) {
    uint64_t port;
    const char *at = text.size ? memrchr(text.data, '@', text.size) : NULL;
    if (at) {
        gx_function_set_text(lua, -1, "user", before(text, at));
        text = after(text, (size_t)(at - text.data) + 1);
    }
    const char *end = text.size && text.data[0] == '[' ? find(text, ']') : NULL;
    gale_str rest = end ? after(text, (size_t)(end - text.data)) : text;
    const char *colon = find(rest, ':');
    if (colon && gx_str_number(after(rest, (size_t)(colon - rest.data) + 1), 10, 65535, &port)) {
        lua_pushinteger(lua, (lua_Integer)port);
        lua_setfield(lua, -2, "port");
        text = before(text, colon);
    }
    gx_function_set_text(lua, -1, "host", text);
}

/* RFC 3986, appendix B: every text has parts, "/path?query" as well as a whole URL. */
static int parse(lua_State *lua) {
    gale_str text = gx_function_take(lua, 1);
    lua_createtable(lua, 0, 8);
    text = cut_end(lua, text, '#', "fragment");
    text = cut_end(lua, text, '?', "query");
    const char *colon = find(text, ':');
    if (colon && is_scheme(before(text, colon))) {
        gx_function_set_text(lua, -1, "scheme", before(text, colon));
        text = after(text, (size_t)(colon - text.data) + 1);
    }
    if (text.size >= 2 && text.data[0] == '/' && text.data[1] == '/') {
        text = after(text, 2);
        const char *slash = find(text, '/');
        set_host(lua, slash ? before(text, slash) : text);
        text = slash ? after(text, (size_t)(slash - text.data)) : gx_str("");
    }
    gx_function_set_text(lua, -1, "path", text);
    return 1;
}

/* query(text): the names and values of "a=1&b=2"; of what a URL has behind its '?', if there is one. */
static int query(lua_State *lua) {
    gale_str text = gx_function_take(lua, 1);
    const char *begin = find(text, '?');
    if (begin) text = after(text, (size_t)(begin - text.data) + 1);
    const char *fragment = find(text, '#');
    if (fragment) text = before(text, fragment);
    lua_createtable(lua, 0, 8);
    while (text.size) {
        const char *end = find(text, '&');
        gale_str pair = end ? before(text, end) : text;
        const char *equal = find(pair, '=');
        text = after(text, pair.size + (end != NULL));
        gx_box_charge(lua, 4);
        if (!pair.size) continue;
        push_decoded(lua, equal ? before(pair, equal) : pair, true);
        push_decoded(lua, equal ? after(pair, (size_t)(equal - pair.data) + 1) : gx_str(""), true);
        lua_rawset(lua, -3);
    }
    return 1;
}

void gx_library_url(lua_State *lua) {
    static const luaL_Reg functions[] = {
        { "encode", encode }, { "decode", decode }, { "parse", parse }, { "query", query }, { NULL, NULL }
    };
    gx_function_add(lua, "url", functions);
}
