#include "connect/file/state.h"

#include "base/hash.h"

#include <inttypes.h>
#include <stdio.h>

static const char mark[] = "gale-file-state";

enum { VERSION = 1 };

bool gx_file_state_begins(gale_str text) {
    static_assert(sizeof mark == GX_FILE_STATE_MARK, "the mark and a blank");
    return text.size >= sizeof mark && memcmp(text.data, mark, sizeof mark - 1) == 0 &&
           text.data[sizeof mark - 1] == ' ';
}

gale_str gx_file_state_format(const gx_file_state *state, char text[GX_FILE_STATE_TEXT]) {
    int size = snprintf(text, GX_FILE_STATE_TEXT,
                        "%s %d %" PRIu64 " %" PRIu64 " %016" PRIx64 " %" PRIu32 " %" PRIu32 " %" PRId64 " %" PRIu64,
                        mark, VERSION, state->device, state->inode, state->content, state->task, state->tasks,
                        state->offset, state->lines);
    uint64_t checksum = gx_hash_bytes(text, (size_t)size, VERSION);
    size += snprintf(text + size, (size_t)(GX_FILE_STATE_TEXT - size), " %016" PRIx64 "\n", checksum);
    return (gale_str){ text, (size_t)size };
}

/* The next word as a number of at most `max`. */
static bool next_number(gale_str *rest, unsigned base, uint64_t max, uint64_t *ret_number) {
    gale_str word;
    return gx_str_next(rest, ' ', &word) && gx_str_number(word, base, max, ret_number);
}

static bool read_fields(gale_str *rest, gx_file_state *state) {
    uint64_t task, tasks, offset;
    if (!next_number(rest, 10, UINT64_MAX, &state->device) || !next_number(rest, 10, UINT64_MAX, &state->inode) ||
        !next_number(rest, 16, UINT64_MAX, &state->content) || !next_number(rest, 10, UINT32_MAX, &task) ||
        !next_number(rest, 10, UINT32_MAX, &tasks) || !next_number(rest, 10, INT64_MAX, &offset) ||
        !next_number(rest, 10, UINT64_MAX, &state->lines)) {
        return false;
    }
    state->task = (uint32_t)task;
    state->tasks = (uint32_t)tasks;
    state->offset = (int64_t)offset;
    return task < tasks && state->lines <= offset; /* a line has a byte at least */
}

static int damaged(const char *path, const char *what, gale_error *error) {
    return gale_error_set(error, GALE_SYNTAX, "state file '%s' is damaged: %s; remove it to read from the beginning",
                          path, what);
}

int gx_file_state_parse(const char *path, gale_str text, gx_file_state *ret_state, gale_error *error) {
    gale_str rest = text, word;
    uint64_t version;
    if (!gx_str_next(&rest, ' ', &word) || !gx_str_is(word, mark)) {
        return damaged(path, "it does not begin with 'gale-file-state'", error);
    }
    if (!next_number(&rest, 10, INT32_MAX, &version)) return damaged(path, "its version is no number", error);
    if (version != VERSION) {
        return gale_error_set(error, GALE_UNSUPPORTED, "state file '%s' is of version %d; gale %s knows version %d",
                              path, (int)version, GALE_VERSION_TEXT, VERSION);
    }
    gx_file_state state;
    if (!read_fields(&rest, &state)) return damaged(path, "a field is missing or out of range", error);
    char again[GX_FILE_STATE_TEXT];
    if (!gx_str_equal(gx_file_state_format(&state, again), text)) {
        return damaged(path, "its checksum does not fit", error);
    }
    *ret_state = state;
    return 0;
}
