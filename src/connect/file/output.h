/* A file that lines are written to, in batches that a file takes whole or not at all.
 *
 * What:    opened when a task is prepared, and begun when its first line is there or the input has ended: until then what
 *          the file holds stays as it is, also when the run cannot start.
 * Threads: one at a time. Owner: the path is borrowed. */
#ifndef GX_CONNECT_FILE_OUTPUT_H
#define GX_CONNECT_FILE_OUTPUT_H

#include "base/buf.h"
#include "base/os/gathered.h"
#include "base/str.h"
#include "topology/file_end.h"
#include "topology/file_swap.h"

#include <gale/file.h>

typedef struct gx_file_output {
    const char *path;
    int fd;               /* -1: not open */
    bool regular;         /* a file with a path: not the standard output */
    gx_gathered gathered; /* lines for the standard output, which others write to as well */
    bool begun;
    int64_t size;                 /* of a regular file, with what was written */
    int64_t modified;             /* when it was written to last, before it was opened; nanoseconds since 1970 */
    const gale_file_codec *codec; /* NULL: lines are written as they are */
    void *packer;                 /* with the codec, once something was written */
    gx_buf packed;                /* of a write */
    bool failed;                  /* what was packed or has gathered has not all arrived */
    int64_t plain;                /* with a codec: what it unpacks to; else as `size` */
    gx_file_end *end;             /* in a durable run, from the first checkpoint on: has the descriptor */
} gx_file_output;

typedef enum gx_file_begin {
    GX_FILE_EMPTY,  /* it must hold nothing: GALE_EXISTS */
    GX_FILE_ANEW,   /* what it holds goes */
    GX_FILE_BEHIND, /* behind what it holds; a last line without an end is given one */
    GX_FILE_AGAIN,  /* the same, of a file that was closed in order */
    GX_FILE_GO_ON, /* the same, but where whole lines stand before such a line it is cut: an earlier run was killed while
                       it wrote it */
} gx_file_begin;

/* A last line without an end that was found: its bytes (0: there was none), and what became of it. */
typedef struct gx_file_torn {
    int64_t size;
    bool cut; /* else it was ended */
} gx_file_torn;

/* One with a codec gets that after it was opened or awaited, and before it is begun or restored. */

/* Makes the file if there is none, and locks it until it is closed. GALE_STATE when another has it; GALE_INVALID for the
 * state of a file spout; GALE_IO. */
int gx_file_output_open(gx_file_output *output, const char *path, gale_error *error);

/* The standard output, whose lines gather until gx_file_output_flush: it stays where it is in memory until it is closed.
 * GALE_NO_MEMORY; GALE_IO. */
int gx_file_output_open_standard(gx_file_output *output, gx_heap *heap, gale_error *error);

/* The same later: with gx_file_output_restore, or when it is begun. */
void gx_file_output_await(gx_file_output *output, const char *path);

/* Opens it again, if it is a file: another may have its name by now. What is shorter than its `size` was (GX_FILE_AGAIN) was cut by somebody. As
 * above. */
int gx_file_output_begin(gx_file_output *output, gx_file_begin how, gx_file_torn *ret_torn, gale_error *error);

/* Lines with their ends. GALE_CLOSED_PIPE, GALE_IO: a regular file has none of them, as far as it can be cut. */
int gx_file_output_write(gx_file_output *output, gale_str lines, gale_error *error);

/* Writes what has gathered for the standard output. The same errors. */
int gx_file_output_flush(gx_file_output *output, gale_error *error);

/* Waits until the disk has them. */
int gx_file_output_sync(gx_file_output *output, gale_error *error);

/* The member that was begun ends (with a codec). What gx_file_output_write says. */
int gx_file_output_end(gx_file_output *output, gale_error *error);

/* What its lines take, before they are packed. */
GX_INLINE int64_t gx_file_output_plain(const gx_file_output *output) {
    return output->codec ? output->plain : output->size;
}

/* What a checkpoint has beside its end of a file that is rotated (connect/file/rotation.h), or packed. */
typedef struct gx_file_turns {
    uint64_t next; /* the number that the file gets; 0: it is not rotated */
    int64_t period;
    int64_t plain;     /* -1: it is not packed */
    gx_file_swap swap; /* what is announced of the file that has its path by now */
} gx_file_turns;

/* The one value of the first record of a sink with as many files as its tuples name (connect/file/made.h); one with one file has
 * another. */
#define GX_FILE_OUTPUTS "files"

GX_INLINE bool gx_file_output_is_many(const gale_value *values, size_t count) {
    return count == 1 && values[0].type == GALE_TYPE_STRING &&
           gx_str_is((gale_str){ values[0].as.string, values[0].size }, GX_FILE_OUTPUTS);
}

/* In a durable run, once it is begun: saves what is written, and pledges that the disk has it. What is no regular file
 * cannot be cut back: that it is one is all that is saved. */
int gx_file_output_save(gx_file_output *output, gx_file_turns turns, gale_saver *to, gale_error *error);

/* For who keeps it otherwise: what a checkpoint has of a regular file's end, when all that is written belongs to it. Borrowed until it is closed.
 * `end` is there from then on. */
int gx_file_output_values(gx_file_output *output, gale_value values[GX_FILE_END_VALUES], gale_error *error);

/* Takes the first of the records that it saved: was it a file with an end, which then comes next? GALE_DAMAGED. */
int gx_file_output_saved(gale_saved *from, const char *path, bool *ret_is_file, gx_file_turns *ret_turns,
                         gale_error *error);

/* If it was. Instead of beginning it, and of gx_file_output_open: goes on with the file behind what was saved (`*ret_found` says
 * how it was found). What gx_file_end_restore says. */
int gx_file_output_restore(gx_file_output *output, gale_saved *from, gx_file_end_found *ret_found, gale_error *error);

/* Closes it, if it is open. GALE_IO: not all that was written has arrived. */
int gx_file_output_close(gx_file_output *output, gale_error *error);

#endif
