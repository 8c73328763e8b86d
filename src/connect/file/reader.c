#include "connect/file/reader.h"

#include "base/encoding.h"
#include "base/os/file.h"
#include "base/os/wake.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NUMBER = 40, FIRST_SIZE = 64 << 10, CHEAP_MOVE = 4 << 10, AT_ONCE = 16 << 20 /* that are passed by */ };

int gx_file_reader_open(gx_file_reader *reader, gx_heap *heap, const char *path, const gx_file_rule *rule,
                        gale_error *error) {
    int fd;
    bool regular;
    int rc = gx_file_open(path, &fd, &regular, error);
    if (rc < 0) return rc;
    *reader = (gx_file_reader){ .heap = heap, .path = path, .rule = rule, .fd = fd, .regular = regular };
    reader->guard = GX_FILE_GUARD_NONE;
    /* The standard input may have been read from before. */
    if (strcmp(path, "-") == 0) reader->regular = false;
    gx_file_about about = { .size = 0 };
    if (reader->regular) rc = gx_file_about_open(fd, path, &about, error);
    reader->seen = about.size;
    if (rc < 0) gx_file_reader_close(reader);
    return rc;
}

void gx_file_reader_close(gx_file_reader *reader) {
    if (!reader->path) return;
    gx_file_close(reader->fd);
    gx_free(reader->heap, GX_TAG_OTHER, reader->data, reader->capacity);
    *reader = (gx_file_reader){ .fd = -1 };
}

static bool grow(gx_file_reader *reader, size_t capacity) {
    char *data = gx_alloc(reader->heap, GX_TAG_OTHER, capacity);
    if (!data) return false;
    if (reader->end) memcpy(data, reader->data, reader->end);
    gx_free(reader->heap, GX_TAG_OTHER, reader->data, reader->capacity);
    reader->data = data;
    reader->capacity = capacity;
    return true;
}

/* --- The buffer --------------------------------------------------------------------------------------------------- */

/* A line of the greatest length with the longest end. */
static size_t longest(const gx_file_reader *reader) {
    return reader->rule->longest + 2;
}

static size_t behind(size_t at, size_t begin) {
    return at > begin ? at - begin : 0;
}

/* What is left goes to the front. */
static void move(gx_file_reader *reader) {
    size_t begin = reader->begin, left = reader->end - begin;
    memmove(reader->data, reader->data + begin, left);
    reader->checked = behind(reader->checked, begin);
    reader->nuls = behind(reader->nuls, begin);
    if (reader->gap_at <= begin) reader->gap = 0;
    reader->gap_at = behind(reader->gap_at, begin);
    reader->begin = 0;
    reader->end = left;
}

/* Moves what is left to the front when that is cheap (so that a buffer that once grew is not walked through) or needed,
 * and makes the buffer larger when it is full; its last size holds the longest line and a little more. */
static bool have_room(gx_file_reader *reader) {
    size_t left = reader->end - reader->begin, most = longest(reader) + FIRST_SIZE;
    if (reader->begin && (reader->end == reader->capacity || left <= CHEAP_MOVE)) move(reader);
    if (reader->end < reader->capacity) return true;
    size_t doubled = reader->capacity * 2;
    return grow(reader, !doubled ? FIRST_SIZE : doubled < most ? doubled : most);
}

/* As much at once as keeps the cache warm; more only for a line that is already longer than that. */
static size_t read_size(const gx_file_reader *reader) {
    size_t room = reader->capacity - reader->end, left = reader->end - reader->begin;
    size_t wanted = left > FIRST_SIZE ? left : FIRST_SIZE;
    return room < wanted ? room : wanted;
}

static const char *name(const gx_file_reader *reader) {
    return strcmp(reader->path, "-") == 0 ? "standard input" : reader->path;
}

/* It had `size` bytes at least. The standard input may be a file, too. */
static int refuse_changed(const gx_file_reader *reader, int64_t size, gale_error *error) {
    gx_file_about about;
    int rc = gx_file_about_open(reader->fd, reader->path, &about, error);
    if (rc < 0) return rc;
    char behind[NUMBER];
    if (reader->uncounted)
        snprintf(behind, sizeof behind, "byte %" PRId64, gx_file_reader_next_at(reader));
    else
        snprintf(behind, sizeof behind, "line %" PRIu64, reader->number);
    if (about.size < size)
        return gale_error_set(error, GALE_DAMAGED,
                              "%s: was cut to %" PRId64 " bytes while it was read, of %" PRId64
                              " at least; what it held behind %s was not read",
                              name(reader), about.size, size, behind);
    return gale_error_set(error, GALE_DAMAGED,
                          "%s: was changed before byte %" PRId64
                          " while it was read; what it held behind %s was not read",
                          name(reader), size, behind);
}

/* What was read before these bytes must be what the file holds still. */
static int check(gx_file_reader *reader, const char *bytes, size_t size, gale_error *error) {
    if (reader->guard.at < 0) {
        int rc = gx_file_guard_set(&reader->guard, reader->fd, reader->offset, reader->path, error);
        if (rc < 0) return rc;
    }
    int rc = gx_file_guard_move(&reader->guard, reader->fd, bytes, size, reader->path, error);
    if (rc < 0) return rc;
    bool is_short = size == 0 && bytes && !reader->growing && reader->offset < reader->seen;
    if (rc > 0 && !is_short) return 0;
    return refuse_changed(reader, rc > 0 ? reader->seen : reader->offset, error);
}

/* A file that is read as a pipe is, and whose end came too early. */
static int check_end(const gx_file_reader *reader, gale_error *error) {
    gx_file_about about;
    if (gx_file_about_open(reader->fd, reader->path, &about, NULL) < 0 || !about.regular) return 0;
    int64_t at = gx_file_offset(reader->fd);
    return at > about.size ? refuse_changed(reader, at, error) : 0;
}

static void note_nuls(gx_file_reader *reader, const char *bytes, size_t size) {
    const char *last = size ? memrchr(bytes, 0, size) : NULL;
    if (GX_UNLIKELY(last != NULL)) reader->nuls = (size_t)(last + 1 - reader->data);
}

/* Reads on behind `end`. 1, 0 at the end, or what gx_file_reader_next says. */
static int fill(gx_file_reader *reader, gale_error *error) {
    if (!have_room(reader)) return gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", reader->path);
    if (!reader->regular && !gx_os_readable(reader->fd)) return GALE_AGAIN;
    char *at = reader->data + reader->end;
    size_t room = read_size(reader);
    int64_t got = reader->regular ? gx_file_read_at(reader->fd, at, room, reader->offset, reader->path, error)
                                  : gx_file_read(reader->fd, at, room, reader->path, error);
    if (got < 0) return (int)got;
    int rc = reader->regular ? check(reader, at, (size_t)got, error) : got == 0 ? check_end(reader, error) : 0;
    if (rc < 0) return rc;
    note_nuls(reader, at, (size_t)got);
    reader->end += (size_t)got;
    reader->offset += got;
    reader->at_end = got == 0;
    return got > 0;
}

int gx_file_reader_check(gx_file_reader *reader, gale_error *error) {
    return reader->guard.at >= 0 ? check(reader, NULL, 0, error) : 0;
}

/* --- Holes -------------------------------------------------------------------------------------------------------- */

static void tell(const gx_file_reader *reader, gx_file_odd what, uint64_t number, int64_t at, int64_t bytes) {
    if (reader->rule->tell) reader->rule->tell(reader->rule->user, reader, what, number, at, bytes);
}

static size_t count_nuls(const char *text, size_t size) {
    size_t count = 0;
    while (count < size && !text[count]) count++;
    return count;
}

/* Where the last hole ends that begins in these bytes, or 0. `in_hole`: NULs that they begin with are one. */
static size_t find_hole(const char *text, size_t size, bool in_hole) {
    size_t end = in_hole ? count_nuls(text, size) : 0;
    for (size_t at = end; at < size;) {
        const char *nul = memchr(text + at, 0, size - at);
        if (!nul) break;
        size_t from = (size_t)(nul - text), run = count_nuls(nul, size - from);
        at = from + run;
        if (run >= GX_FILE_HOLE) end = at;
    }
    return end;
}

/* Of the line that is `size` bytes long so far. True: a hole was passed by, and the line begins behind it. */
static GX_COLD bool pass_hole(gx_file_reader *reader, size_t size) {
    if (reader->gap && reader->gap_at > reader->begin) return false; /* a line that is too long */
    size_t passed = find_hole(reader->data + reader->begin, size, reader->in_hole);
    reader->in_hole = passed == size;
    if (!passed) return false;
    tell(reader, GX_FILE_HOLED, reader->number + 1, gx_file_reader_next_at(reader), (int64_t)passed);
    reader->begin += passed;
    return true;
}

/* --- Lines -------------------------------------------------------------------------------------------------------- */

/* The size of what is handed out of a line that is too long: a character of a text is not cut through. */
static size_t cut_size(const char *text, size_t size) {
    size_t valid = gx_utf8_prefix(text, size), at = valid + 1;
    if (size - valid > 3 || valid == size) return size;
    if ((unsigned char)text[valid] < 0xc2 || (unsigned char)text[valid] > 0xf4) return size;
    while (at < size && ((unsigned char)text[at] & 0xc0) == 0x80) at++;
    return at == size ? valid : size;
}

/* What is too long, and ends at `end`, which its end of `end_size` bytes follows. 1: it is handed out. */
static GX_COLD int end_long(gx_file_reader *reader, size_t end, size_t end_size, gale_str *ret_line) {
    reader->last = reader->begin;
    reader->begin = end + end_size;
    reader->number++;
    tell(reader, GX_FILE_LONG, reader->number, gx_file_reader_last_at(reader), 0);
    if (reader->rule->drops) return 0;
    *ret_line = (gale_str){ reader->data + reader->last, cut_size(reader->data + reader->last, reader->rule->longest) };
    reader->last_end = reader->last + ret_line->size;
    return 1;
}

/* Hands out `size` bytes and steps over the line's end behind them. 0: it was passed by. */
GX_INLINE int hand_out(gx_file_reader *reader, size_t size, size_t end_size, gale_str *ret_line) {
    if (GX_UNLIKELY(size > reader->rule->longest)) return end_long(reader, reader->begin + size, end_size, ret_line);
    *ret_line = (gale_str){ reader->data + reader->begin, size };
    reader->last = reader->begin;
    reader->last_end = reader->begin + size;
    reader->begin += size + end_size;
    reader->number++;
    return 1;
}

/* At the beginning, with a whole line there or as much as there is: skips a byte order mark. GALE_UNSUPPORTED for what is not text. */
static int begin_text(gx_file_reader *reader, gale_error *error) {
    gale_str begin = { reader->data + reader->begin, reader->end - reader->begin };
    const char *foreign = gx_encoding_foreign(begin);
    if (foreign)
        return gale_error_set(error, GALE_UNSUPPORTED, "%s: this is %s: %s", name(reader), foreign,
                              gx_encoding_advice(foreign));
    reader->begin += begin.size - gx_encoding_text(begin).size;
    return 0;
}

static bool is_at_beginning(const gx_file_reader *reader) {
    return reader->begin < reader->end && gx_file_reader_next_at(reader) == 0;
}

/* Of a line that is too long, and whose end has not come, no more is kept than its beginning. */
static GX_COLD size_t leave_out(gx_file_reader *reader) {
    size_t at = reader->begin + longest(reader);
    if (reader->gap_at != at) reader->gap = 0;
    reader->gap_at = at;
    reader->gap += (int64_t)(reader->end - at);
    reader->end = at;
    if (reader->nuls > at) reader->nuls = at;
    return longest(reader);
}

/* The file has ended. 1, 0, or -1: there is something to read still. */
static GX_NOINLINE int end(gx_file_reader *reader, gale_str *ret_line) {
    size_t left = reader->end - reader->begin;
    if (reader->growing) return reader->at_end = false;
    if (!left) return 0;
    size_t size =
        gx_encoding_line((gale_str){ reader->data + reader->begin, left }).size; /* half of a line's end, perhaps */
    return hand_out(reader, size, left - size, ret_line) ? 1 : -1;
}

int gx_file_reader_next(gx_file_reader *reader, gale_str *ret_line, gale_error *error) {
    int64_t begun = reader->offset;
    for (size_t searched = 0;;) {
        if (GX_UNLIKELY(is_at_beginning(reader))) {
            if (begin_text(reader, error) < 0) return GALE_UNSUPPORTED;
            searched = 0;
        }
        size_t left = reader->end - reader->begin;
        const char *begin = left ? reader->data + reader->begin : NULL;
        const char *newline = left > searched ? memchr(begin + searched, '\n', left - searched) : NULL;
        size_t size = newline ? (size_t)(newline - begin) : left;
        if (GX_UNLIKELY(reader->begin < reader->nuls) && pass_hole(reader, size)) {
            searched = 0;
            continue;
        }
        if (newline) {
            size_t is_crlf = size > 0 && newline[-1] == '\r';
            reader->in_hole = false;
            if (hand_out(reader, size - is_crlf, 1 + is_crlf, ret_line)) return 1;
            searched = 0;
            continue;
        }
        if (reader->at_end) {
            int ended = end(reader, ret_line);
            if (ended >= 0) return ended;
            searched = 0;
            continue;
        }
        searched = left < longest(reader) ? left : leave_out(reader);
        if (reader->offset - begun > AT_ONCE + (int64_t)longest(reader)) return GALE_AGAIN;
        int rc = fill(reader, error);
        if (rc < 0) return rc;
    }
}

/* Lines are not cut inside of a character, since no part of one is a newline: a line is UTF-8 exactly when the first
 * byte that is not lies behind it. After a line that is none, the next one begins anew. */
bool gx_file_reader_is_text(gx_file_reader *reader) {
    if (reader->checked < reader->last) reader->checked = reader->last;
    if (reader->checked < reader->last_end)
        reader->checked += gx_utf8_prefix(reader->data + reader->checked, reader->end - reader->checked);
    return reader->checked >= reader->last_end;
}

void gx_file_reader_unread(gx_file_reader *reader) {
    reader->begin = reader->last;
    reader->number--;
}

void gx_file_reader_seek(gx_file_reader *reader, int64_t offset, uint64_t number) {
    reader->begin = reader->end = reader->checked = reader->last = reader->last_end = reader->nuls = reader->gap_at = 0;
    reader->gap = 0;
    reader->in_hole = false;
    reader->guard = GX_FILE_GUARD_NONE;
    reader->number = number;
    reader->uncounted = false;
    reader->offset = offset;
    reader->at_end = false;
}

int gx_file_reader_skip(gx_file_reader *reader, int64_t offset, gale_error *error) {
    gx_file_about about;
    int rc = gx_file_reader_check(reader, error);
    if (rc == 0) rc = gx_file_about_open(reader->fd, reader->path, &about, error);
    if (rc == 0 && about.size < reader->seen) rc = refuse_changed(reader, reader->seen, error);
    if (rc < 0) return rc;
    gx_file_reader_seek(reader, offset, 0);
    reader->uncounted = true;
    return 0;
}

void gx_file_reader_rewind(gx_file_reader *reader) {
    gx_file_reader_seek(reader, 0, 0);
}

int gx_file_reader_behind_end(const gx_file_reader *reader, int64_t *offset, gale_error *error) {
    char near[3];
    if (*offset == 0) return 0;
    int64_t got = gx_file_read_at(reader->fd, near, sizeof near, *offset - 1, reader->path, error);
    if (got < 0) return (int)got;
    if (got < 2 || near[0] == '\n') return 0;
    if (near[1] == '\n') *offset += 1;
    if (got == 3 && near[1] == '\r' && near[2] == '\n') *offset += 2;
    return 0;
}
