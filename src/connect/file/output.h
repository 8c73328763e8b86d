/* A file that lines are written to, in batches that a file takes whole or not at all.
 *
 * What:    opened when a task is prepared, and begun when its first line is there or the input has ended: until then what
 *          the file holds stays as it is, also when the run cannot start.
 * Threads: one at a time. Owner: the path is borrowed. */
#ifndef GX_CONNECT_FILE_OUTPUT_H
#define GX_CONNECT_FILE_OUTPUT_H

#include "base/str.h"

#include <gale/error.h>

typedef struct gx_file_output {
    const char *path;
    int fd;       /* -1: not open */
    bool pieces;  /* others write to it, too: whole lines at once, a pipe's worth at the most */
    bool regular; /* a file with a path: not the standard output */
    bool begun;
    int64_t size; /* when it was opened or begun */
} gx_file_output;

typedef enum gx_file_begin {
    GX_FILE_ANEW,   /* what it holds goes */
    GX_FILE_BEHIND, /* behind what it holds; a last line without an end is given one */
    GX_FILE_GO_ON, /* the same, but where whole lines stand before such a line it is cut: an earlier run was killed while
                       it wrote it */
} gx_file_begin;

/* A last line without an end that was found: its bytes (0: there was none), and what became of it. */
typedef struct gx_file_torn {
    int64_t size;
    bool cut; /* else it was ended */
} gx_file_torn;

/* Makes the file if there is none, and locks it until it is closed. GALE_STATE when another has it; GALE_INVALID for the
 * state of a file spout; GALE_IO. */
int gx_file_output_open(gx_file_output *output, const char *path, bool pieces, gale_error *error);

/* Opens it again, if it is a file: another may have its name by now. As above. */
int gx_file_output_begin(gx_file_output *output, gx_file_begin how, gx_file_torn *ret_torn, gale_error *error);

/* Lines with their ends. GALE_CLOSED_PIPE, GALE_IO: a regular file has none of them, as far as it can be cut. */
int gx_file_output_write(gx_file_output *output, gale_str lines, gale_error *error);

/* Waits until the disk has them. */
int gx_file_output_sync(gx_file_output *output, gale_error *error);

/* Closes it, if it is open. GALE_IO: not all that was written has arrived. */
int gx_file_output_close(gx_file_output *output, gale_error *error);

#endif
