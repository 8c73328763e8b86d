/* The files that are followed, and the lines on their way, in the checkpoints of a durable run.
 *
 * What:    a head; each file: its names, what it is known by, its place; the lines, and of which file each is; the inherited ones.
 * Threads: one at a time. */
#ifndef GX_CONNECT_FILE_KEPT_H
#define GX_CONNECT_FILE_KEPT_H

#include "base/buf.h"
#include "connect/file/followed.h"
#include "connect/file/sent.h"

#include <gale/state.h>

/* Between calls of gx_file_followed_next. Files that are over and have no lines go. GALE_IO, and what gale_save says. */
int gx_file_kept_save(gx_file_followed *f, const gx_file_sent *sent, gale_saver *to, gale_error *error);

/* Takes it, in a set that has not begun; of another number of tasks what is this task's: the highest tag of them is then in
 * `*ret_tag`, and whether it was another number in `*ret_other`. What gx_file_first_record says. */
int gx_file_kept_restore(gx_file_followed *f, gx_file_sent *sent, gale_saved *from, uint32_t *ret_tag, bool *ret_other,
                         gale_error *error);

/* Forgets files that are over and have no lines. GALE_NO_MEMORY: none is. */
int gx_file_kept_sweep(gx_file_followed *f, const gx_file_sent *sent);

/* Such a record of a file in words: "in.log, line 12, byte 345". False: it is none. */
bool gx_file_kept_tell(const gale_value *values, size_t count, gx_buf *out);

#endif
