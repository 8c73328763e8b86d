#include "head/head.h"

#include <string.h>
#include <strings.h>

enum { SPACE_MAX = 256 }; /* between a name and its value */

bool head_is_read_in_place(const char *version) {
    return version && strcmp(version, "0.9.75") == 0;
}

static void refuse(head_check *check, const char *why) {
    if (!check->why) check->why = why;
}

static void refuse_size(head_check *check, const char *why) {
    check->too_large |= !check->why;
    refuse(check, why);
}

/* --- Names and values --------------------------------------------------------------------------------------------- */

/* RFC 9110 5.6.2 */
static bool is_token(const char *name) {
    static const char others[] = "!#$%&'*+-.^_`|~";
    const char *c = name;
    for (; *c; c++) {
        bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');
        if (!letter && !strchr(others, *c)) return false;
    }
    return c != name;
}

static bool has_controls(const char *value) {
    for (; *value; value++)
        if ((*value > 0 && *value < 0x20 && *value != '\t') || *value == 0x7f) return true;
    return false;
}

static void look_at_value(head_check *check, const char *name, const char *value) {
    if (strcasecmp(name, "Host") == 0 && check->hosts++) refuse(check, "has two Hosts");
    if (strcasecmp(name, "Content-Length") == 0 && check->lengths++) refuse(check, "has two lengths");
    if (strcasecmp(name, "Transfer-Encoding") != 0) return;
    if (check->codings++) refuse(check, "has two codings");
    if (strcasecmp(value, "chunked") != 0) refuse(check, "has a coding that is not chunked");
    if (check->old) refuse(check, "has a coding, in HTTP/1.0");
}

/* --- Where they lie ----------------------------------------------------------------------------------------------- */

/* How far `to` is behind `from`; a very large number where it is before it. */
static size_t distance(const char *from, const char *to) {
    return (uintptr_t)to - (uintptr_t)from;
}

/* Behind the name's end are a colon, which is a NUL now, and spaces. A value that was put together of several lines
 * lies elsewhere. */
static bool follows(const char *name, const char *value) {
    const char *end = name + strlen(name);
    size_t gap = distance(end, value);
    if (gap < 1 || gap > SPACE_MAX) return false;
    for (size_t i = 1; i < gap; i++)
        if (end[i] != ' ' && end[i] != '\t') return false;
    return true;
}

static void look_at_place(head_check *check, const char *name, const char *value) {
    if (distance(check->end, name) == 1)
        refuse(check, "has a line that ends without a return");
    else if (distance(check->end, name) != 2)
        refuse(check, "has a line that goes on in the next one, or a NUL");
    else if (!follows(name, value))
        refuse(check, "has a value that goes on in the next line, or too many spaces");
    check->end = value + strlen(value);
}

/* --- A head ------------------------------------------------------------------------------------------------------- */

void head_begin(head_check *check, const char *method, const char *target, const char *protocol, bool in_place) {
    *check = (head_check){ .start = method,
                           .end = protocol + strlen(protocol),
                           .in_place = in_place,
                           .old = strcmp(protocol, "HTTP/1.0") == 0 };
    if (!is_token(method)) refuse(check, "has a method that is not a word");
    if (*target != '/') refuse(check, "asks for something that is not a path");
}

void head_line(head_check *check, const char *name, const char *value) {
    if (!value) value = name + strlen(name);
    if (++check->lines > HEAD_LINES_MAX) refuse_size(check, "has more than 128 lines in its head");
    if (!is_token(name))
        refuse(check, "has a name that is not a word");
    else if (has_controls(value))
        refuse(check, "has control characters");
    else
        look_at_value(check, name, value);
    if (check->in_place && !check->why) look_at_place(check, name, value);
}

const char *head_end(head_check *check, size_t size) {
    if (check->lengths && check->codings) refuse(check, "has a length and a coding");
    if (size > HEAD_MAX) refuse_size(check, "has a head of more than 16 KiB");
    bool whole = !check->in_place || !size || size == distance(check->start, check->end) + 4;
    if (!whole) refuse(check, "has a line that ends without a return, or a NUL");
    return check->why;
}
