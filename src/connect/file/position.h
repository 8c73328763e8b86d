/* A task's position in a file, in the checkpoints of a durable run: the next line to read, and of what file.
 *
 * The file is known by its inode, under the name that it has now if it was renamed (rotated) within its folder; and by its
 * content, as in connect/file/resume.h. What a pipe has given cannot be read again: going on behind it is refused.
 * Threads: one at a time. Owner: memory comes from the reader's heap. */
#ifndef GX_CONNECT_FILE_POSITION_H
#define GX_CONNECT_FILE_POSITION_H

#include "base/buf.h"
#include "base/os/file.h"
#include "connect/file/reader.h"

#include <gale/component.h>
#include <gale/state.h>

typedef struct gx_file_position {
    bool at_end;       /* all was read; nothing came behind it since */
    bool found;        /* the spout's own */
    const char *asked; /* to save: the path that the run was told, whatever the file is called now */
    /* Of gx_file_position_restore: */
    int64_t grown;                /* bytes behind the end that it had been read to */
    bool elsewhere;               /* it has another name in its folder now, which is `name` */
    bool copied;                  /* it is another file with the same content */
    char name[GX_FILE_NAME_SIZE]; /* of the file that is read now */
} gx_file_position;

enum { GX_FILE_ASKED_SHOWN = 200 };

/* What was saved of a position; of the path that was told then, what reports show. */
typedef struct gx_file_saved {
    uint64_t checkpoint, inode, content, lines;
    bool renamed; /* the run is told another path than then: the file that it names is meant, and no other */
    char asked[GX_FILE_ASKED_SHOWN];
    int64_t offset;
    uint32_t task, tasks, tag;
    bool regular, at_end, found, is_end;
} gx_file_saved;

/* Saves one record, with the tag of the task's message ids; between calls of gx_file_reader_next. GALE_IO, and what gale_save says. */
int gx_file_position_save(const gx_file_position *position, const gx_file_reader *reader, const gale_context *context,
                          uint32_t tag, gale_saver *to, gale_error *error);

/* Such a record in words: "in.txt, line 12, byte 345". False: it is none. */
bool gx_file_position_tell(const gale_value *values, size_t count, gx_buf *out);

/* The first record that a file spout has saved: of one that follows its files (path, tag, task, tasks, files), or of
 * another (a position). GALE_STATE, with a sentence: `follow` was another then; GALE_DAMAGED: it is neither;
 * GALE_NO_MEMORY. */
int gx_file_first_record(gale_saved *from, bool follows, const char *path, const gale_value **ret_values,
                         gale_error *error);

/* Takes that record. What gx_file_first_record says. */
int gx_file_position_take(gale_saved *from, const char *path, gx_file_saved *ret_saved, gale_error *error);

/* Is the reader's file one that has what that position stood behind? As gx_file_position_restore. */
int gx_file_position_check(const gx_file_saved *saved, const gx_file_reader *reader, gale_error *error);

/* Moves the reader to a position that was taken; one that is not open (no file of that name was there) is opened. A reader
 * of another file that has the name of the old one is closed, and opened with `ret_position->name`, which it borrows.
 * GALE_INVALID, with a sentence: the file was truncated, replaced, changed or is gone, it is a pipe, or it has grown behind
 * the end of a run that had come to its end; GALE_IO. */
int gx_file_position_restore(gx_file_reader *reader, gx_heap *heap, const char *path, const gx_file_rule *rule,
                             const gx_file_saved *saved, gx_file_position *ret_position, gale_error *error);

#endif
