/* Lines of a file or pipe. A line ends with "\n" or "\r\n", the last one also with the file, or with "\r" and the
 * file; every other byte is part of it, NUL too. A UTF-8 byte order mark at the beginning is skipped; what is
 * packed, or of another encoding (base/encoding.h), has no lines. The buffer grows to the longest line that the rule
 * allows and little further.
 *
 *     too long   a line above the rule's bound: its beginning is handed out, or it is passed by. It keeps its number
 *     hole       GX_FILE_HOLE or more NULs in a row, which a file has where nobody has written: they are passed by,
 *                and so is what stands before them in their line, which has lost its end. At the beginning of a
 *                followed file fewer count, too
 *
 * Threads: one at a time. Owner: memory comes from a gx_heap; the path and the rule are borrowed. */
#ifndef GX_CONNECT_FILE_READER_H
#define GX_CONNECT_FILE_READER_H

#include "base/alloc.h"
#include "connect/file/guard.h"

#include <gale/error.h>
#include <gale/file.h>

enum { GX_FILE_HOLE = 512 }; /* NULs in a row that are no text */

typedef enum gx_file_odd { GX_FILE_LONG, GX_FILE_HOLED } gx_file_odd;
typedef struct gx_file_reader gx_file_reader;

/* Is told of a line that was too long (its number, and where it begins), and of a hole (the number of the next line,
 * where what is passed by begins, and how many bytes that are). */
typedef void gx_file_tell_fn(void *user, const gx_file_reader *reader, gx_file_odd what, uint64_t number, int64_t at,
                             int64_t bytes);

/* Of many readers. */
typedef struct gx_file_rule {
    size_t longest; /* bytes of a line, without its end: 1 to GALE_LINE_MAX */
    bool drops;     /* lines that are longer; else they are cut, between characters where they are text */
    gx_file_tell_fn *tell;
    void *user;
} gx_file_rule;

struct gx_file_reader {
    gx_heap *heap;
    const char *path;
    const gx_file_rule *rule;
    char *data;
    size_t capacity;
    size_t begin; /* of what has not been handed out */
    size_t end;
    size_t checked;  /* what lies before it, from the line that is looked at, is UTF-8 */
    size_t last;     /* begin of the line that was handed out last */
    size_t last_end; /* and its end */
    size_t nuls;     /* no NUL lies at or behind it */
    size_t gap_at;   /* where bytes of a line that is too long are left out */
    int64_t gap;     /* how many; 0: none are */
    uint64_t number; /* of that line, from 1 */
    int64_t offset;  /* of the next read, in a regular file */
    int64_t seen;    /* how long that was when it was opened */
    gx_file_guard guard;
    int fd;
    bool regular;
    bool at_end;
    bool growing;   /* what has no newline at the end waits for it: whoever opened it says so */
    bool in_hole;   /* what comes next belongs to a hole as long as it is NULs */
    bool uncounted; /* parts of the file were skipped: `number` is not the line's */
};

/* GALE_IO with a report that names the path. */
int gx_file_reader_open(gx_file_reader *reader, gx_heap *heap, const char *path, const gx_file_rule *rule,
                        gale_error *error);
void gx_file_reader_close(gx_file_reader *reader);

/* 1 and the next line, borrowed until the next call; 0 at the end (of a growing one: ask again when it has grown);
 * GALE_AGAIN when a pipe has nothing to read now, or a regular file has much to pass by: ask again; GALE_UNSUPPORTED
 * for what is not text, with
 * "PATH: this is gzip data: unpack it first"; GALE_DAMAGED: the file was cut, or what was read of it was changed,
 * with a report, and no line that has not been handed out is known any more; GALE_IO; GALE_NO_MEMORY (nothing was
 * consumed). */
int gx_file_reader_next(gx_file_reader *reader, gale_str *ret_line, gale_error *error);

/* Does a regular file hold still what was read of it? GALE_OK; GALE_DAMAGED as above; GALE_IO. */
int gx_file_reader_check(gx_file_reader *reader, gale_error *error);

/* Is the line that was handed out last UTF-8? All that has been read is looked at together, and once; what is cut
 * off at its end when more has come. */
bool gx_file_reader_is_text(gx_file_reader *reader);

/* Gives back the line that was handed out last. Once, and before anything else. */
void gx_file_reader_unread(gx_file_reader *reader);

/* Begins again with the first line; for regular files. */
void gx_file_reader_rewind(gx_file_reader *reader);

/* Goes to a line that begins at `offset`, with `number` lines before it; for regular files. */
void gx_file_reader_seek(gx_file_reader *reader, int64_t offset, uint64_t number);

/* Skips to `offset`, which is behind the next line, and need not be the beginning of one; for regular files. From now on lines have no
 * numbers. What was read so far is looked at as by gx_file_reader_check, and so is the size of the file. */
int gx_file_reader_skip(gx_file_reader *reader, int64_t offset, gale_error *error);

/* The number of the line that was handed out last, from 1; 0: it is not known. */
GX_INLINE uint64_t gx_file_reader_number(const gx_file_reader *reader) {
    return reader->uncounted ? 0 : reader->number;
}

/* For a place behind the last line of what the file was: that line may have been handed out before its end was written.
 * Moves `*offset` behind an end that came later, which is no line. GALE_IO. */
int gx_file_reader_behind_end(const gx_file_reader *reader, int64_t *offset, gale_error *error);

/* Where in a regular file what stands at `at` in the buffer stands. */
GX_INLINE int64_t gx_file_reader_place(const gx_file_reader *reader, size_t at) {
    return reader->offset - (int64_t)(reader->end - at) - (at < reader->gap_at ? reader->gap : 0);
}

/* Where in a regular file the next line begins, and the one that was handed out last (until it is given back). */
GX_INLINE int64_t gx_file_reader_next_at(const gx_file_reader *reader) {
    return gx_file_reader_place(reader, reader->begin);
}

GX_INLINE int64_t gx_file_reader_last_at(const gx_file_reader *reader) {
    return gx_file_reader_place(reader, reader->last);
}

#endif
