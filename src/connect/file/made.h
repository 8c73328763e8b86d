/* The files of a durable run's sink whose path varies: what the run goes on with, and undoes, when it goes back to a checkpoint.
 *
 * What:    the checkpoint knows every file that was written before: keyed state, by path, with its end, so that it only has what
 *          changed since the one before. Files that were touched first since then are in a list beside them (connect/file/made_list.h).
 *
 *              a path's first line --> known? --no--> listed --> made, or gone on with
 *              checkpoint: what changed goes into the state, and is synced by the pledge
 *              going back: listed since --> removed, or cut to what they had; known --> cut to their end
 *
 * Threads: one, but for the pledges. Owner: memory comes from a heap; gx_made_fini gives it back.
 * Limits:  paths of GX_MADE_PATH_MAX bytes.
 */
#ifndef GX_CONNECT_FILE_MADE_H
#define GX_CONNECT_FILE_MADE_H

#include "connect/file/made_due.h"
#include "connect/file/made_known.h"
#include "connect/file/made_list.h"
#include "connect/file/rotation.h"

#include <gale/component.h>

enum { GX_MADE_PATH_MAX = 2000 };

typedef struct gx_made {
    const gale_context *context;
    const gx_rotation *rotation;
    gx_heap *heap;
    gale_state *state; /* path to what was saved of the file */
    gx_made_list list;
    gx_bytes_map *due; /* path to what the next checkpoint is to do for it */
    uint64_t seed;     /* of that, and the list's own number */
    gx_buf list_path;
} gx_made;

/* Of a sink whose path is `path`, of which the first `fixed` bytes do not vary; what else its files' names depend on is `more`. In `prepare`. What
 * gale_state_open says. */
int gx_made_open(gx_made *made, gale_collector *out, gale_str path, size_t fixed, const char *more, gale_error *error);
void gx_made_fini(gx_made *made);

/* Begins a file: goes on with it where the state knows it (`file->again` says so then), and lists it first where it does not, `how` being
 * for that. What gx_file_output_begin says, and GALE_DAMAGED; what the disk and the store say. */
int gx_made_begin(gx_made *made, gx_outputs_file *file, gx_file_begin how, gx_file_torn *ret_torn, gale_error *error);

/* Before a file is closed whose lines are written: as gx_outputs_closing_fn. */
int gx_made_closing(void *made, gx_outputs_file *file, gale_error *error);

/* All lines are written. */
int gx_made_save(gx_made *made, const gx_outputs *outputs, gale_saver *to, gale_error *error);

/* Undoes what was written since. A file that is gone, or was renamed, is told, and begins anew if it gets lines again.
 * GALE_INVALID, with a sentence: one was changed, or is another one; GALE_DAMAGED; GALE_STATE: another run has one; GALE_IO. */
int gx_made_restore(gx_made *made, gale_saved *from, gale_error *error);

#endif
