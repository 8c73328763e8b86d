/* Lines of a file or pipe. The buffer grows to the longest line and no further than GALE_LINE_MAX; a line ends with
 * "\n" or
 * "\r\n", the last one also with the file, or with "\r" and the file; every other byte is part of it, NUL too. A
 * UTF-8 byte order mark at the beginning is skipped; what is packed, or of another
 * encoding (base/encoding.h), has no lines.
 * Threads: one at a time. Owner: memory comes from a gx_heap; the path is borrowed. */
#ifndef GX_CONNECT_FILE_READER_H
#define GX_CONNECT_FILE_READER_H

#include "base/alloc.h"

#include <gale/error.h>
#include <gale/file.h>

typedef struct gx_file_reader {
    gx_heap *heap;
    const char *path;
    char *data;
    size_t capacity;
    size_t begin; /* of what has not been handed out */
    size_t end;
    size_t checked;  /* what lies before it, from the line that is looked at, is UTF-8 */
    size_t last;     /* begin of the line that was handed out last */
    size_t last_end; /* and its end */
    uint64_t number; /* of that line, from 1 */
    int64_t offset;  /* of the next read, in a regular file */
    int fd;
    bool regular;
    bool at_end;
    bool growing; /* what has no newline at the end waits for it: whoever opened it says so */
} gx_file_reader;

/* GALE_IO with a report that names the path. */
int gx_file_reader_open(gx_file_reader *reader, gx_heap *heap, const char *path, gale_error *error);
void gx_file_reader_close(gx_file_reader *reader);

/* 1 and the next line, borrowed until the next call; 0 at the end (of a growing one: ask again when it has grown); GALE_AGAIN when a pipe has nothing to read now;
 * GALE_UNSUPPORTED for what is not text, with "PATH: this is gzip data: unpack it first"; GALE_TOO_LARGE for a line
 * above the limit, with "PATH:17: line is longer than 64 MiB"; GALE_IO; GALE_NO_MEMORY
 * (nothing was consumed). */
int gx_file_reader_next(gx_file_reader *reader, gale_str *ret_line, gale_error *error);

/* Is the line that was handed out last UTF-8? All that has been read is looked at together, and once; what is cut off at
 * its end when more has come. */
bool gx_file_reader_is_text(gx_file_reader *reader);

/* Gives back the line that was handed out last. Once, and before anything else. */
void gx_file_reader_unread(gx_file_reader *reader);

/* Begins again with the first line; for regular files. */
void gx_file_reader_rewind(gx_file_reader *reader);

/* Goes to a line that begins at `offset`, with `number` lines before it; for regular files. */
void gx_file_reader_seek(gx_file_reader *reader, int64_t offset, uint64_t number);

/* For a place behind the last line of what the file was: that line may have been handed out before its end was written.
 * Moves `*offset` behind an end that came later, which is no line. GALE_IO. */
int gx_file_reader_behind_end(const gx_file_reader *reader, int64_t *offset, gale_error *error);

/* Where in a regular file the next line begins, and the one that was handed out last (until it is given back). */
GX_INLINE int64_t gx_file_reader_next_at(const gx_file_reader *reader) {
    return reader->offset - (int64_t)(reader->end - reader->begin);
}

GX_INLINE int64_t gx_file_reader_last_at(const gx_file_reader *reader) {
    return reader->offset - (int64_t)(reader->end - reader->last);
}

#endif
