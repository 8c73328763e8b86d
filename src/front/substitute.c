#include "front/substitute.h"

#include "base/nearest.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct reader {
    const char *name;
    gale_str text;
    const gx_variables *variables;
    size_t most;
    gx_problems *problems;
    gx_buf *out;
    gx_edits *edits;
    gale_error *error;
    gx_spot was, now;
    char quote; /* inside which a # is no comment, or 0 */
    bool comment;
} reader;

static gx_spot behind(gx_spot spot, gale_str text) {
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '\n')
            spot = (gx_spot){ spot.line + 1, 0 };
        else if (((unsigned char)text.data[i] & 0xc0) != 0x80)
            spot.column++;
    }
    return spot;
}

static int no_memory(const reader *r) {
    return gale_error_set(r->error, GALE_NO_MEMORY, "%s: out of memory", r->name);
}

/* Reported at `at` bytes of the text, which is where the reader is. */
static int refuse(const reader *r, int code, const char *what) {
    return gale_error_set(r->error, code, "%s:%u:%u: %s", r->name, r->was.line + 1, r->was.column + 1, what);
}

/* --- Values ------------------------------------------------------------------------------------------------------- */

/* "list[2]" as "list" and 2. */
static bool split_index(gale_str name, gale_str *ret_list, uint64_t *ret_index) {
    if (name.size < 4 || name.data[name.size - 1] != ']') return false;
    const char *open = memchr(name.data, '[', name.size);
    if (!open || open == name.data) return false;
    gale_str digits = { open + 1, name.size - (size_t)(open + 1 - name.data) - 1 };
    *ret_list = (gale_str){ name.data, (size_t)(open - name.data) };
    return gx_str_number(digits, 10, UINT32_MAX, ret_index);
}

static gale_str without_quotes(gale_str text) {
    bool first = text.size && (text.data[0] == '"' || text.data[0] == '\'');
    if (first) text.data++, text.size--;
    bool last = text.size && (text.data[text.size - 1] == '"' || text.data[text.size - 1] == '\'');
    if (last) text.size--;
    return text;
}

/* The element of "[a, 'b']". */
static bool element(gale_str list, uint64_t index, gale_str *ret_value) {
    list = gx_str_trim(list);
    if (list.size < 2 || list.data[0] != '[' || list.data[list.size - 1] != ']') return false;
    gale_str rest = { list.data + 1, list.size - 2 }, piece;
    for (uint64_t i = 0; rest.size && gx_str_next(&rest, ',', &piece); i++)
        if (i == index) return *ret_value = without_quotes(piece), true;
    return false;
}

static int unknown(const reader *r, gale_str name) {
    const gx_properties *all = r->variables ? r->variables->properties : NULL;
    char text[400], hint[100] = "";
    gx_nearest nearest = gx_nearest_to(name);
    for (size_t i = 0; all && i < all->count; i++) gx_nearest_offer(&nearest, all->list[i].name);
    if (name.size > 100) name.size = 100;
    const char *help = all ? gx_nearest_hint(&nearest, hint, sizeof hint)
                           : "; --filter FILE names a file of properties";
    snprintf(text, sizeof text, "unknown variable '${%.*s}'%s%s", GX_STR(name), help,
             all && *help ? "" : ", and $${ stands for a ${ that is none");
    return refuse(r, GALE_NOT_FOUND, text);
}

static int from_environment(const reader *r, gale_str name, gale_str *ret_value) {
    char text[300], copy[128];
    if (name.size >= sizeof copy) return unknown(r, name);
    memcpy(copy, name.data, name.size);
    copy[name.size] = 0;
    if (!r->variables || !r->variables->environment)
        snprintf(text, sizeof text, "'${ENV-%s}' is of the environment, which is read with -e (--env-filter)", copy);
    else if ((*ret_value = gx_str(getenv(copy))).data)
        return 0;
    else
        snprintf(text, sizeof text, "the environment has no '%s'", copy);
    return refuse(r, GALE_NOT_FOUND, text);
}

static int look_up(const reader *r, gale_str name, gale_str *ret_value, bool *ret_secret) {
    const gx_properties *all = r->variables ? r->variables->properties : NULL;
    const gale_str *whole = all ? gx_properties_get(all, name) : NULL;
    gale_str list;
    uint64_t index;
    if ((*ret_secret = name.size > 4 && memcmp(name.data, "ENV-", 4) == 0))
        return from_environment(r, (gale_str){ name.data + 4, name.size - 4 }, ret_value);
    if (whole) return *ret_value = *whole, 0;
    if (!all || !split_index(name, &list, &index) || !(whole = gx_properties_get(all, list))) return unknown(r, name);
    if (element(*whole, index, ret_value)) return 0;
    char text[300];
    if (name.size > 100) name.size = 100;
    snprintf(text, sizeof text, "'${%.*s}': the property is no list [a, b, ...] of so many", GX_STR(name));
    return refuse(r, GALE_NOT_FOUND, text);
}

/* --- The text ----------------------------------------------------------------------------------------------------- */

/* YAML's comments begin where a # stands first or behind white space, outside quotes. A guess, line by line: it only
 * decides whether what is unknown may stay. */
static void look(reader *r, char c, char before) {
    if (c == '\n')
        r->quote = 0, r->comment = false;
    else if (r->comment)
        return;
    else if (r->quote)
        r->quote = c == r->quote ? 0 : r->quote;
    else if ((c == '"' || c == '\'') && (before == 0 || strchr(" \t\n[{,:", before)))
        r->quote = c;
    else if (c == '#' && (before == 0 || strchr(" \t\n", before)))
        r->comment = true;
}

static int add_edit(reader *r, gale_str was, gale_str now, bool secret) {
    gx_edits *edits = r->edits;
    if (edits->count == GX_EDITS_MAX) return refuse(r, GALE_TOO_LARGE, "too many variables");
    if (edits->count == edits->capacity) {
        size_t capacity = edits->capacity ? 2 * edits->capacity : 16;
        gx_edit *grown = realloc(edits->list, capacity * sizeof *grown);
        if (!grown) return no_memory(r);
        edits->list = grown;
        edits->capacity = capacity;
    }
    gx_edit *edit = &edits->list[edits->count++];
    *edit = (gx_edit){ r->now, behind(r->now, now), r->was, behind(r->was, was), secret };
    if (r->out->size + now.size > r->most) return refuse(r, GALE_TOO_LARGE, "this makes the text too large");
    gx_buf_add(r->out, now.data, now.size);
    r->was = edit->was_end;
    r->now = edit->now_end;
    return 0;
}

static void pass(reader *r, gale_str piece) {
    gx_buf_add(r->out, piece.data, piece.size);
    r->was = behind(r->was, piece);
    r->now = behind(r->now, piece);
}

/* At "${". Gives how long the variable is. */
static int variable(reader *r, size_t at, size_t *ret_size) {
    gale_str rest = { r->text.data + at, r->text.size - at }, value;
    const char *end = memchr(rest.data, '}', rest.size), *line = memchr(rest.data, '\n', rest.size);
    bool secret;
    if (!end || (line && line < end)) { /* as in Storm, no variable */
        pass(r, (gale_str){ rest.data, *ret_size = 2 });
        return 0;
    }
    gale_str whole = { rest.data, *ret_size = (size_t)(end - rest.data) + 1 };
    gale_error ignored = GALE_ERROR_INIT, *error = r->error;
    if (r->comment) r->error = &ignored;
    int rc = look_up(r, gx_str_trim((gale_str){ rest.data + 2, whole.size - 3 }), &value, &secret);
    r->error = error;
    if (rc == 0) return add_edit(r, whole, value, secret);
    pass(r, whole);
    return r->comment ? 0 : rc;
}

/* What could not be replaced is kept with the other problems of the file. */
static int keep(const reader *r, int rc) {
    const char *text = r->error ? r->error->text : "";
    gx_position place = { r->name, 0, 0 };
    if (rc >= 0 || !r->problems || rc == GALE_NO_MEMORY || rc == GALE_TOO_LARGE || !r->error) return rc;
    gx_position_read(r->name, r->error->text, &place, &text);
    if (!gx_problems_add(r->problems, false, rc, place, text)) return rc;
    *r->error = (gale_error)GALE_ERROR_INIT;
    return 0;
}

static bool begins(gale_str text, size_t at, const char *word) {
    size_t size = strlen(word);
    return text.size - at >= size && memcmp(text.data + at, word, size) == 0;
}

static int substitute(reader *r) {
    char before = 0;
    for (size_t at = 0, size; at < r->text.size; at += size) {
        gale_str here = { r->text.data + at, size = 1 };
        int rc = 0;
        look(r, *here.data, before);
        if (begins(r->text, at, "$${"))
            rc = add_edit(r, (gale_str){ here.data, size = 3 }, gx_str("${"), false);
        else if (begins(r->text, at, "${"))
            rc = keep(r, variable(r, at, &size));
        else
            pass(r, here);
        if (rc < 0) return rc;
        before = r->text.data[at + size - 1];
    }
    return r->out->failed ? no_memory(r) : 0;
}

int gx_substitute(const char *name, gale_str text, const gx_variables *variables, size_t most, gx_problems *problems,
                  gx_buf *out, gx_edits *edits, gale_error *error) {
    gale_error own = GALE_ERROR_INIT;
    reader r = { .name = name,
                 .text = text,
                 .variables = variables,
                 .most = most,
                 .problems = problems,
                 .out = out,
                 .edits = edits,
                 .error = error ? error : &own };
    return substitute(&r);
}

/* --- Back --------------------------------------------------------------------------------------------------------- */

static int compare(gx_spot a, gx_spot b) {
    if (a.line != b.line) return a.line < b.line ? -1 : 1;
    return (a.column > b.column) - (a.column < b.column);
}

/* How many edits begin at `now` or before. */
static size_t count_before(const gx_edits *edits, gx_spot now) {
    size_t low = 0, high = edits ? edits->count : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(edits->list[middle].now, now) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

gx_spot gx_edits_back(const gx_edits *edits, gx_spot now) {
    size_t count = count_before(edits, now);
    if (!count) return now;
    const gx_edit *edit = &edits->list[count - 1];
    if (compare(now, edit->now_end) < 0) return edit->was;
    if (now.line == edit->now_end.line)
        return (gx_spot){ edit->was_end.line, edit->was_end.column + (now.column - edit->now_end.column) };
    return (gx_spot){ edit->was_end.line + (now.line - edit->now_end.line), now.column };
}

bool gx_edits_secret(const gx_edits *edits, gx_spot from, gx_spot to) {
    for (size_t i = count_before(edits, to); i > 0 && compare(edits->list[i - 1].now_end, from) > 0; i--)
        if (edits->list[i - 1].secret && compare(edits->list[i - 1].now, to) < 0) return true;
    return false;
}

void gx_edits_fini(gx_edits *edits) {
    free(edits->list);
    *edits = (gx_edits){ .count = 0 };
}
