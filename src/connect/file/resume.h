/* A task's place in a file, kept in a state file: read when the task opens, written while answers move.
 *
 * The file is known by its content: the first bytes and those right before the place. Device and inode say only whether
 * it was moved or copied, which is told and allowed: device numbers change when a machine starts again.
 * Threads: one at a time. Owner: memory comes from a gx_heap; the reader is borrowed. */
#ifndef GX_CONNECT_FILE_RESUME_H
#define GX_CONNECT_FILE_RESUME_H

#include "base/os/lock.h"
#include "connect/file/reader.h"
#include "connect/file/state.h"

#include <gale/component.h>

typedef struct gx_file_resume {
    gx_heap *heap;
    const gx_file_reader *reader;
    char *path; /* NULL: nothing is kept */
    size_t path_size;
    bool found;          /* an earlier run had begun: it may have left results, even if no place of it was kept */
    gx_lock lock;        /* on `path`, from open to fini */
    gx_file_state state; /* as the state file has it */
    int64_t interval;    /* between two writes, in nanoseconds */
    int64_t due;         /* of the next one */
} gx_file_resume;

/* Takes the place from the state file of this task (`path`, with .i behind it for task i > 0), if there is one, moves
 * the open reader there, and writes the state file, so that a folder that cannot be written is known at once.
 * GALE_INVALID: not a regular file, or the state is another file's, another number of tasks', or lies behind the end, or
 * is the input itself; GALE_STATE: another run has it; what gx_file_state_parse says; GALE_IO; GALE_NO_MEMORY. `resume`
 * is untouched then. */
int gx_file_resume_open(gx_file_resume *resume, gx_heap *heap, const char *path, int64_t interval,
                        const gale_context *context, gx_file_reader *reader, gale_error *error);
void gx_file_resume_fini(gx_file_resume *resume);

/* Before fini, at an orderly end: a run that nobody began before and of which nothing was answered has not been, so its
 * state file goes. One that was killed leaves it. */
void gx_file_resume_end(gx_file_resume *resume);

/* Writes the state file, if the place is another than it says. */
int gx_file_resume_write(gx_file_resume *resume, int64_t offset, uint64_t lines, gale_error *error);

#endif
