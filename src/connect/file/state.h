/* What a file spout's state file says, as text: one line
 *
 *   gale-file-state 1 DEVICE INODE CONTENT TASK TASKS OFFSET LINES CHECKSUM
 *
 * Decimal numbers with one blank between them; CONTENT and CHECKSUM are 16 hexadecimal digits. The text is never
 * trusted: only what gx_file_state_format would write, byte for byte, is read.
 * Threads: any. Owner: everything is a value. Limits: a text has less than GX_FILE_STATE_TEXT bytes. */
#ifndef GX_CONNECT_FILE_STATE_H
#define GX_CONNECT_FILE_STATE_H

#include "base/str.h"

#include <gale/error.h>

enum { GX_FILE_STATE_TEXT = 240 };

typedef struct gx_file_state {
    uint64_t device;
    uint64_t inode;
    uint64_t content; /* a hash of bytes before `offset`, to notice another file */
    uint32_t task;    /* index; blocks are shared among tasks by their number */
    uint32_t tasks;
    int64_t offset; /* of the oldest line without an answer */
    uint64_t lines; /* before it */
} gx_file_state;

/* The text, ended by a newline and a NUL. */
gale_str gx_file_state_format(const gx_file_state *state, char text[GX_FILE_STATE_TEXT]);

/* Does a file that begins so look like a state? GX_FILE_STATE_MARK bytes are enough. */
enum { GX_FILE_STATE_MARK = 16 };
bool gx_file_state_begins(gale_str text);

/* GALE_SYNTAX, or GALE_UNSUPPORTED for a version of the future; `path` is how the report calls the file. */
int gx_file_state_parse(const char *path, gale_str text, gx_file_state *ret_state, gale_error *error);

#endif
