#include "head/head.h"

#include <string.h>
#include <strings.h>

enum { SPACE_MAX = 256 /* between a name and its value */, DIGITS_MAX = 16 /* of a chunk's size */ };

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

static bool is_control(char c) {
    return (c >= 0 && c < 0x20 && c != '\t') || c == 0x7f;
}

static bool has_controls(const char *value) {
    for (; *value; value++)
        if (is_control(*value)) return true;
    return false;
}

/* Names that have one value: of two, one server takes the first and another one the last. */
static const struct {
    const char *name, *twice;
} single[] = {
    { "Content-Length", "has two lengths" },
    { "Transfer-Encoding", "has two codings" },
    { "Host", "has two Hosts" },
    { "Authorization", "has two Authorizations" },
    { "Content-Type", "has two Content-Types" },
    { "Idempotency-Key", "has two Idempotency-Keys" },
    { "Origin", "has two Origins" },
};

enum { LENGTH = 1, CODING = 2, HOST = 4, SINGLES = sizeof single / sizeof *single };

/* The bit of a name, or 0. */
static uint32_t note_single(head_check *check, const char *name) {
    uint32_t i = 0;
    while (i < SINGLES && strcasecmp(name, single[i].name) != 0) i++;
    if (i == SINGLES) return 0;
    if (check->seen & 1U << i) refuse(check, single[i].twice);
    check->seen |= 1U << i;
    return 1U << i;
}

static void look_at_value(head_check *check, const char *name, const char *value) {
    uint32_t bit = note_single(check, name);
    if (check->body && (bit & (LENGTH | CODING | HOST)))
        refuse(check, "has a length, a coding or a Host behind its body");
    if (bit != CODING) return;
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
    if (check->end && distance(check->end, name) == 1)
        refuse(check, "has a line that ends without a return");
    else if (check->end && distance(check->end, name) != 2)
        refuse(check, "has a line that goes on in the next one, or a NUL");
    else if (!follows(name, value))
        refuse(check, "has a value that goes on in the next line, or too many spaces");
    check->end = value + strlen(value);
}

/* --- A target ----------------------------------------------------------------------------------------------------- */

head_target head_look_at_target(const char *target) {
    if (!target) return (head_target){ .why = "asks for nothing" };
    head_target found = { .start = target, .end = target + strlen(target) };
    if (*target != '/') found.why = "asks for something that is not a path";
    for (const char *c = target; c < found.end && !found.why; c++)
        if (is_control(*c) || strchr(" \t#", *c)) found.why = "has a space, a control character or a '#' in its target";
    return found;
}

static void look_at_first_line(head_check *check, const char *method, const head_target *target, const char *protocol) {
    if (distance(method + strlen(method), target->start) != 1)
        refuse(check, "has more than one space in its first line, or a NUL");
    else if (distance(target->end, protocol) != 1)
        refuse(check, "has more than one space in its first line, or a NUL in its target");
}

/* --- A head ------------------------------------------------------------------------------------------------------- */

void head_begin(head_check *check, const char *method, const head_target *target, const char *protocol, bool in_place) {
    *check = (head_check){ .start = method,
                           .end = protocol + strlen(protocol),
                           .in_place = in_place,
                           .old = strcmp(protocol, "HTTP/1.0") == 0 };
    if (!is_token(method)) refuse(check, "has a method that is not a word");
    if (target->why) refuse(check, target->why);
    if (in_place && !check->why) look_at_first_line(check, method, target, protocol);
}

void head_begin_trailer(head_check *check, const char *body) {
    *check = (head_check){ .in_place = true, .body = body };
}

/* Where a trailer's lines come in several packets, libmicrohttpd 0.9.75 repeats the head's last one. */
static bool is_repeated(const head_check *check, const char *name) {
    return check->body && (uintptr_t)name < (uintptr_t)check->body;
}

void head_line(head_check *check, const char *name, const char *value) {
    if (is_repeated(check, name)) return;
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
    if ((check->seen & LENGTH) && (check->seen & CODING)) refuse(check, "has a length and a coding");
    if (size > HEAD_MAX) refuse_size(check, "has a head of more than 16 KiB");
    bool whole = !check->in_place || !size || size == distance(check->start, check->end) + 4;
    if (!whole) refuse(check, "has a line that ends without a return, or a NUL");
    return check->why;
}

/* --- Chunks ------------------------------------------------------------------------------------------------------- */

const char *head_chunks(const head_check *check) {
    return check->in_place && (check->seen & CODING) && !check->why ? check->end + 4 : NULL;
}

static bool is_hex(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* A size and extensions (RFC 9112 7.1), without the line's end. */
static bool is_chunk_line(const char *line, const char *end) {
    const char *c = line;
    while (c < end && is_hex(*c)) c++;
    if (c == line || c - line > DIGITS_MAX || (c < end && *c != ';')) return false;
    for (; c < end; c++)
        if (!*c || is_control(*c)) return false;
    return true;
}

/* libmicrohttpd reads each packet to `body`. Bytes elsewhere are the first ones of a chunk whose line came with them;
 * it begins at `body`, or behind the line that ended the chunk before. */
const char *head_chunk(const char *body, const char *data) {
    if (data <= body) return NULL;
    const char *end = data - 1, *line;
    if (end == body || *end != '\n' || end[-1] != '\r') return "has the line of a chunk that ends without a return";
    for (line = --end; line > body && line[-1] != '\n';) line--;
    if (line > body && (line - body < 2 || line[-2] != '\r'))
        return "has a chunk behind which a line ends without a return";
    return is_chunk_line(line, end) ? NULL : "has a chunk whose line is not a size";
}
