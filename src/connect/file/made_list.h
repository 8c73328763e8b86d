/* The list of the files that a sink has made or written to first, beside them: what a run that goes back to a checkpoint needs to know
 * of files that the checkpoint does not know.
 *
 *      gale-made 1 1f0c4a6b9d2e7780
 *      - 0 0 17 out/a/2026-11.log 8c1d2f60a4b39e57      it was not there
 *      420 91 7 11 out/old.log 03b6de4c5a1f8892         inode 91 had 420 bytes, and 7 was the next number of a full one
 *
 * What:    a line is on the disk before its file is touched, and ends with a hash of itself and of where it stands. A checkpoint has
 *          the list's end, as any sink's file: what stands behind it was made since, is undone, and is cut off. So it
 *          has a line for each file, and no more. A last line that does not hold is one that a killed run was writing: its file was not
 *          touched. One that does not hold with others behind it is damage.
 * Threads: one, but for the pledge of a save. Owner: memory comes from a heap.
 */
#ifndef GX_CONNECT_FILE_MADE_LIST_H
#define GX_CONNECT_FILE_MADE_LIST_H

#include "base/buf.h"
#include "base/str.h"
#include "topology/file_end.h"

typedef struct gx_made_line {
    gale_str path;
    int64_t size;   /* that it had; -1: it was not there */
    uint64_t inode; /* if it was */
    uint64_t next;  /* the number that it gets first when it is full; 0: it is not rotated */
} gx_made_line;

/* Appends a line that is to stand `at` bytes behind the beginning of the list. */
void gx_made_line_write(gx_buf *to, const gx_made_line *line, int64_t at);

/* The line that `text`, from `at` on in the list, begins with; `*ret_size`: its bytes. False: it does not hold. */
bool gx_made_line_read(gale_str text, int64_t at, gx_made_line *ret_line, size_t *ret_size);

typedef struct gx_made_list {
    gx_file_end *end; /* NULL: it is not begun */
    int64_t size;
    gx_buf text;
} gx_made_list;

void gx_made_list_init(gx_made_list *list, gx_heap *heap);

/* A new list, in place of one that an earlier run has left; `id` tells them apart. The folder is made. GALE_EXISTS: something
 * else is at `path`; GALE_STATE: another run has it; GALE_IO, GALE_NO_MEMORY. */
int gx_made_list_begin(gx_made_list *list, const char *path, uint64_t id, gale_error *error);

/* Appends a line, and waits until the disk has it. GALE_IO, GALE_NO_MEMORY. */
int gx_made_list_add(gx_made_list *list, const gx_made_line *line, gale_error *error);

int gx_made_list_save(gx_made_list *list, gale_saver *to, gale_error *error);

/* Finds the list that a record of a checkpoint is of, and reads what stands behind that: `ret_lines` holds whole lines then, as far
 * as they hold. What gx_file_end_restore says, and GALE_DAMAGED. */
int gx_made_list_find(gx_made_list *list, const char *path, gale_saved *from, gale_error *error);

/* Calls `each` for the lines that were found, the last one first, and cuts them off when all of that went well. */
typedef int gx_made_list_each_fn(void *user, const gx_made_line *line, gale_error *error);
int gx_made_list_undo(gx_made_list *list, gx_made_list_each_fn *each, void *user, gale_error *error);

/* Closes it. */
void gx_made_list_fini(gx_made_list *list);

#endif
