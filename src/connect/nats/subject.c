#include "connect/nats/subject.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- Pieces ----------------------------------------------------------------------------------------------------------------- */

typedef struct piece {
    gale_str text; /* as it is, or the name of a field */
    bool field, levels;
} piece;

/* 1: a piece; 0: there are no more; GALE_INVALID: a brace has no other one. */
static int next_piece(const char **at, piece *ret) {
    size_t plain = strcspn(*at, "{}");
    *ret = (piece){ .text = { *at, plain } };
    *at += plain;
    if (plain) return 1;
    if (!**at) return 0;
    const char *end = **at == '{' ? strchr(*at, '}') : NULL;
    if (!end) return GALE_INVALID;
    ret->field = true;
    ret->levels = (*at)[1] == '+';
    const char *name = *at + 1 + ret->levels;
    ret->text = (gale_str){ name, (size_t)(end - name) };
    *at = end + 1;
    return ret->text.size && ret->text.size < 128 && !memchr(name, '{', ret->text.size) ? 1 : GALE_INVALID;
}

/* --- What may be a subject ------------------------------------------------------------------------------------------------------ */

static bool is_letter(char c) {
    return (unsigned char)c > ' ' && c != 0x7f && c != '*' && c != '>';
}

/* U+0080 to U+009F, which clients that divide lines by Unicode's rules take for an end of a line or a blank. */
static bool is_c1_control(unsigned char first, unsigned char second) {
    return first == 0xc2 && second >= 0x80 && second <= 0x9f;
}

bool nats_subject_valid(const char *subject, size_t size) {
    bool is = size > 0 && size < NATS_SUBJECT_MAX && subject[0] != '.' && subject[size - 1] != '.';
    for (size_t i = 0; is && i < size; i++)
        is = is_letter(subject[i]) && !(i && subject[i] == '.' && subject[i - 1] == '.') &&
             !(i && is_c1_control((unsigned char)subject[i - 1], (unsigned char)subject[i]));
    return is;
}

/* With a letter for each field. */
int nats_subject_check(const char *template, gale_error *error) {
    char text[NATS_SUBJECT_MAX] = "";
    const char *at = template;
    size_t size = 0;
    piece p;
    int rc;
    while ((rc = next_piece(&at, &p)) > 0) {
        int length = p.field ? 1 : (int)p.text.size;
        if (size + (size_t)length >= sizeof text)
            return gale_error_set(error, GALE_INVALID, "subject: it has more than %d letters", NATS_SUBJECT_MAX - 1);
        size += (size_t)snprintf(text + size, sizeof text - size, "%.*s", length, p.field ? "x" : p.text.data);
    }
    if (rc < 0) return gale_error_set(error, rc, "subject: a field stands in braces: {name}");
    if (text[0] == '$')
        return gale_error_set(error, GALE_INVALID, "subject: those that begin with $ are the server's own");
    return nats_subject_valid(text, size)
               ? 0
               : gale_error_set(error, GALE_INVALID,
                                "subject: levels with points between them, without a wildcard and a blank");
}

/* --- Writing ---------------------------------------------------------------------------------------------------------------------- */

static int refuse(const piece *p, const char *what, char *why, size_t size) {
    snprintf(why, size, "subject: field %.*s %s", (int)p->text.size, p->text.data, what);
    return GALE_INVALID;
}

static bool is_level(const piece *p, const char *text, size_t size) {
    return nats_subject_valid(text, size) && (p->levels || !memchr(text, '.', size));
}

static int write_field(const piece *p, const gale_tuple *tuple, char *to, size_t room, char *why, size_t size) {
    char name[128], number[32];
    gale_value value;
    snprintf(name, sizeof name, "%.*s", (int)p->text.size, p->text.data);
    if (!gale_tuple_get(tuple, name, &value)) return refuse(p, "is not there", why, size);
    const char *text = value.as.string;
    size_t bytes = value.size;
    if (value.type == GALE_TYPE_I64) {
        bytes = (size_t)snprintf(number, sizeof number, "%" PRId64, value.as.i64);
        text = number;
    } else if (value.type != GALE_TYPE_STRING) {
        return refuse(p, "is no text and no whole number", why, size);
    }
    if (!is_level(p, text, bytes))
        return refuse(p,
                      "cannot stand there: it is empty, or has a blank, a wildcard, or a point ({+name} may have it)",
                      why, size);
    if (bytes >= room) return refuse(p, "makes it too long", why, size);
    memcpy(to, text, bytes);
    return (int)bytes;
}

int nats_subject_write(const char *template, const gale_tuple *tuple, char to[NATS_SUBJECT_MAX], char *why,
                       size_t size) {
    size_t used = 0;
    piece p;
    while (next_piece(&template, &p) > 0) {
        size_t room = NATS_SUBJECT_MAX - used;
        int length = p.field ? write_field(&p, tuple, to + used, room, why, size) : (int)p.text.size;
        if (length < 0) return length;
        if ((size_t)length >= room) return refuse(&p, "makes it too long", why, size);
        if (!p.field) memcpy(to + used, p.text.data, p.text.size);
        used += (size_t)length;
    }
    to[used] = '\0';
    if (to[0] != '$') return 0;
    snprintf(why, size, "subject: those that begin with $ are the server's own");
    return GALE_INVALID;
}
