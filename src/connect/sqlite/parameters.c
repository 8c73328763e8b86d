#include "connect/sqlite/parameters.h"

#include <string.h>

/* Letters of names, as SQLite has them: all that is not ASCII is one. */
static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
           (unsigned char)c >= 0x80;
}

static const char *behind_letters(const char *at) {
    while (is_letter(*at)) at++;
    return at;
}

/* A name may have `::` in it and end with `(...)`, as Tcl has it. */
static const char *behind_name(const char *at) {
    bool some = false;
    for (;;) {
        if (is_letter(*at)) {
            some = true;
            at++;
        } else if (at[0] == ':' && at[1] == ':') {
            at += 2;
        } else {
            break;
        }
    }
    if (*at != '(' || !some) return at;
    at += strcspn(at, ") \t\n\f\r\v");
    return *at == ')' ? at + 1 : at;
}

static bool begins_name(const char *at) {
    return is_letter(at[0]) || (at[0] == ':' && at[1] == ':');
}

/* Behind the end of what `end` closes; twice it is the sign itself. */
static const char *behind_quotes(const char *at, char end) {
    for (at++; *at; at++) {
        if (*at != end) continue;
        if (end == ']' || at[1] != end) return at + 1;
        at++;
    }
    return at;
}

static const char *behind_comment(const char *at) {
    const char *end = *at == '-' ? strchr(at, '\n') : strstr(at + 2, "*/");
    if (!end) return at + strlen(at);
    return *at == '-' ? end + 1 : end + 2;
}

/* Behind what is no parameter. */
static const char *pass(const char *at) {
    bool comment = (at[0] == '-' && at[1] == '-') || (at[0] == '/' && at[1] == '*');
    if (comment) return behind_comment(at);
    if (*at == '\'' || *at == '"' || *at == '`') return behind_quotes(at, *at);
    if (*at == '[') return behind_quotes(at, ']');
    return is_letter(*at) ? behind_letters(at) : at + 1;
}

bool lite_parameter_next(const char **at, gale_str *ret_parameter) {
    const char *from = *at;
    while (*from) {
        bool named = strchr(":@$#", *from) && begins_name(from + 1);
        if (!named && *from != '?') {
            from = pass(from);
            continue;
        }
        const char *end = named ? behind_name(from + 1) : from + 1 + strspn(from + 1, "0123456789");
        *ret_parameter = (gale_str){ from, (size_t)(end - from) };
        *at = end;
        return true;
    }
    *at = from;
    return false;
}

gale_str lite_parameter_name(gale_str parameter) {
    if (*parameter.data == '?') return (gale_str){ parameter.data, 0 };
    return (gale_str){ parameter.data + 1, parameter.size - 1 };
}
