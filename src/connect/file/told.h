/* Log messages of a file spout about lines that are not emitted as they stand in their file (connect/file/reader.h).
 * Threads: the task's. Owner: a value; the context is borrowed. */
#ifndef GX_CONNECT_FILE_TOLD_H
#define GX_CONNECT_FILE_TOLD_H

#include "connect/file/reader.h"

#include <gale/component.h>

typedef struct gx_file_told {
    const gale_context *context;
    int64_t block;  /* bytes, where tasks share the file: the one that has the line logs it; 0: they do not */
    int64_t before; /* what lies before it was logged by an earlier run */
} gx_file_told;

/* The `tell` of a rule; `user` is a gx_file_told. */
void gx_file_told_tell(void *user, const gx_file_reader *reader, gx_file_odd what, uint64_t number, int64_t at,
                       int64_t bytes);

#endif
