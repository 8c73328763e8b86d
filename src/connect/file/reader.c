#include "connect/file/reader.h"

#include "base/encoding.h"
#include "base/os/file.h"
#include "base/os/wake.h"
#include "base/utf8.h"

#include <string.h>

enum { FIRST_SIZE = 64 << 10, CHEAP_MOVE = 4 << 10 };

/* A line of GALE_LINE_MAX bytes with the longest end. */
static const size_t longest = GALE_LINE_MAX + 2;

int gx_file_reader_open(gx_file_reader *reader, gx_heap *heap, const char *path, gale_error *error) {
    int fd;
    bool regular;
    int rc = gx_file_open(path, &fd, &regular, error);
    if (rc < 0) return rc;
    *reader = (gx_file_reader){ .heap = heap, .path = path, .fd = fd, .regular = regular };
    /* The standard input may have been read from before. */
    if (strcmp(path, "-") == 0) reader->regular = false;
    return 0;
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

/* Moves what is left to the front when that is cheap (so that a buffer that once grew is not walked through) or needed,
 * and makes the buffer larger when it is full; its last size holds the longest line and no more. */
static bool have_room(gx_file_reader *reader) {
    size_t left = reader->end - reader->begin;
    if (reader->begin && (reader->end == reader->capacity || left <= CHEAP_MOVE)) {
        memmove(reader->data, reader->data + reader->begin, left);
        reader->checked = reader->checked > reader->begin ? reader->checked - reader->begin : 0;
        reader->begin = 0;
        reader->end = left;
    }
    if (reader->end < reader->capacity) return true;
    size_t doubled = reader->capacity * 2;
    return grow(reader, !doubled ? FIRST_SIZE : doubled < GALE_LINE_MAX ? doubled : longest);
}

/* As much at once as keeps the cache warm; more only for a line that is already longer than that. */
static size_t read_size(const gx_file_reader *reader) {
    size_t room = reader->capacity - reader->end, left = reader->end - reader->begin;
    size_t wanted = left > FIRST_SIZE ? left : FIRST_SIZE;
    return room < wanted ? room : wanted;
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
    reader->end += (size_t)got;
    reader->offset += got;
    reader->at_end = got == 0;
    return got > 0;
}

static const char *name(const gx_file_reader *reader) {
    return strcmp(reader->path, "-") == 0 ? "standard input" : reader->path;
}

static int too_long(const gx_file_reader *reader, gale_error *error) {
    return gale_error_set(error, GALE_TOO_LARGE, "%s:%llu: line is longer than %zu MiB", name(reader),
                          (unsigned long long)reader->number + 1, GALE_LINE_MAX >> 20);
}

/* Hands out `size` bytes and steps over the line's end behind them. */
static int hand_out(gx_file_reader *reader, size_t size, size_t end_size, gale_str *ret_line, gale_error *error) {
    if (size > GALE_LINE_MAX) return too_long(reader, error);
    *ret_line = (gale_str){ reader->data + reader->begin, size };
    reader->last = reader->begin;
    reader->last_end = reader->begin + size;
    reader->begin += size + end_size;
    reader->number++;
    return 1;
}

/* What ends with the file may have half of a line's end behind it. */
static int hand_out_last(gx_file_reader *reader, size_t left, gale_str *ret_line, gale_error *error) {
    size_t size = gx_encoding_line((gale_str){ reader->data + reader->begin, left }).size;
    return hand_out(reader, size, left - size, ret_line, error);
}

/* At the beginning, with a whole line there or as much as there is: skips a byte order mark. GALE_UNSUPPORTED for
 * what is not text. */
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

int gx_file_reader_next(gx_file_reader *reader, gale_str *ret_line, gale_error *error) {
    for (size_t searched = 0;;) {
        if (GX_UNLIKELY(is_at_beginning(reader))) {
            if (begin_text(reader, error) < 0) return GALE_UNSUPPORTED;
            searched = 0;
        }
        size_t left = reader->end - reader->begin;
        const char *begin = left ? reader->data + reader->begin : NULL;
        const char *newline = left > searched ? memchr(begin + searched, '\n', left - searched) : NULL;
        if (newline) {
            size_t size = (size_t)(newline - begin), is_crlf = size > 0 && newline[-1] == '\r';
            return hand_out(reader, size - is_crlf, 1 + is_crlf, ret_line, error);
        }
        if (left >= longest) return too_long(reader, error);
        if (reader->at_end && reader->growing) return reader->at_end = false;
        if (reader->at_end) return left ? hand_out_last(reader, left, ret_line, error) : 0;
        searched = left;
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
    reader->begin = reader->end = reader->checked = reader->last = reader->last_end = 0;
    reader->number = number;
    reader->offset = offset;
    reader->at_end = false;
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
