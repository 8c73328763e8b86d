/* Blocks of a file that several tasks share: a line belongs to the block in which it begins, and block b to task b modulo the
 * number of tasks.
 *
 * What:    the next line of a task. It passes over the blocks of others with a seek, unless lines are to be counted. A task's
 *          place (gx_file_reader_next_at) in one of its blocks is the beginning of a line; all lines of its own before its place
 *          were handed out. Every task reads the first line, so that all refuse what is not text.
 *          A line begins behind a newline or a hole of NULs; so a seek goes GX_FILE_HOLE bytes before a block, and what is read
 *          from there is a line's end, or a line, of another block.
 *          Lines that begin behind the size that the file had when it was opened belong to nobody: a file that grows would have
 *          gaps where tasks had come to its end before. One task reads on to the end that it finds.
 *          What is not a regular file is the first task's.
 * Threads: one at a time. Owner: a value; the reader is its caller's. */
#ifndef GX_CONNECT_FILE_BLOCKS_H
#define GX_CONNECT_FILE_BLOCKS_H

#include "connect/file/reader.h"

enum { GX_FILE_BLOCK = 1 << 20 };

typedef struct gx_file_blocks {
    int64_t size;     /* of a block, in bytes */
    int64_t from, to; /* the block of this task that is read, or is next */
    uint32_t task, tasks;
    bool counts; /* the numbers of lines are needed: nothing is passed over with a seek */
} gx_file_blocks;

GX_INLINE gx_file_blocks gx_file_blocks_of(int64_t size, uint32_t task, uint32_t tasks, bool counts) {
    return (gx_file_blocks){ size, 0, 0, task, tasks, counts || tasks == 1 };
}

/* The task whose line begins at `place`, of `tasks`. */
GX_INLINE uint32_t gx_file_blocks_owner(int64_t size, int64_t place, uint32_t tasks) {
    return (uint32_t)(place / size % tasks);
}

/* As gx_file_reader_next, for lines of this task. GALE_AGAIN also when there is much to pass by. */
int gx_file_blocks_next(gx_file_blocks *blocks, gx_file_reader *reader, gale_str *ret_line, gale_error *error);

#endif
