#include "cli/progress.h"

#include "base/str.h"

#include <inttypes.h>

static const char head[] = "gale simulate record 1";

void gx_progress_begin(gx_buf *out, uint64_t what) {
    gx_buf_format(out, "%s\nwhat %016" PRIx64 "\n", head, what);
}

void gx_progress_done(gx_buf *out, uint64_t from, uint64_t to, uint64_t failures) {
    gx_buf_format(out, "done %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", from, to, failures);
}

void gx_progress_failed(gx_buf *out, uint64_t seed, const char *text) {
    gx_buf_format(out, "failed %" PRIu64 " %.*s\n", seed, (int)strcspn(text, "\n"), text);
}

static bool next_number(gale_str *rest, uint64_t *ret_number) {
    gale_str word;
    return gx_str_next(rest, ' ', &word) && gx_str_number(word, 10, UINT64_MAX, ret_number);
}

/* What follows "done ": seeds up to UINT64_MAX leave none to go on with. */
static bool take_done(gale_str rest, uint64_t *next) {
    uint64_t from, to, failures;
    if (!next_number(&rest, &from) || !next_number(&rest, &to) || !next_number(&rest, &failures) || rest.data)
        return false;
    if (from > to || (failures && failures - 1 > to - from)) return false;
    if (to >= *next && to < UINT64_MAX) *next = to + 1;
    return true;
}

/* What follows "failed ": a seed, and perhaps why. */
static bool take_failed(gale_str rest) {
    uint64_t seed;
    return next_number(&rest, &seed);
}

/* The line without `word` and the blank behind it. */
static bool begins(gale_str *line, const char *word) {
    size_t size = strlen(word);
    if (line->size <= size || memcmp(line->data, word, size) != 0 || line->data[size] != ' ') return false;
    *line = (gale_str){ line->data + size + 1, line->size - size - 1 };
    return true;
}

static bool take_line(gale_str line, uint64_t *next) {
    return begins(&line, "done") ? take_done(line, next) : begins(&line, "failed") && take_failed(line);
}

/* Lines end with "\n"; what is behind the last one is a line, too, unless it is empty. */
static bool next_line(gale_str *rest, gale_str *ret_line) {
    if (!rest->size) return false;
    const char *end = memchr(rest->data, '\n', rest->size);
    size_t size = end ? (size_t)(end - rest->data) : rest->size;
    *ret_line = (gale_str){ rest->data, size };
    size += end != NULL;
    *rest = (gale_str){ rest->data + size, rest->size - size };
    return true;
}

static bool is_of(gale_str line, uint64_t what) {
    uint64_t its;
    return begins(&line, "what") && line.size == 16 && gx_str_number(line, 16, UINT64_MAX, &its) && its == what;
}

int gx_progress_parse(const char *path, gale_str text, uint64_t what, uint64_t *next, gale_error *error) {
    gale_str rest = text, line;
    uint64_t reached = *next;
    if (!next_line(&rest, &line) || !gx_str_is(line, head))
        return gale_error_set(error, GALE_INVALID, "%s: line 1: this is not a record of gale simulate", path);
    if (!next_line(&rest, &line) || !is_of(line, what))
        return gale_error_set(error, GALE_INVALID,
                              "%s: line 2: this is the record of another topology or other options; name another file",
                              path);
    for (uint64_t number = 3; next_line(&rest, &line); number++)
        if (!take_line(line, &reached))
            return gale_error_set(error, GALE_INVALID,
                                  "%s: line %" PRIu64 " is neither 'done FROM TO FAILURES' nor 'failed SEED'", path,
                                  number);
    *next = reached;
    return GALE_OK;
}
