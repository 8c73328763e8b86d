/* A file that somebody has renamed (log rotation), and whose path is to be opened anew: what was written stays in the one, what
 * comes goes to the other.
 *
 * What:    in a durable run this takes two checkpoints, so that a run which goes back to one of them neither loses nor doubles a line.
 *          In the save of the first one the path is opened, and the checkpoint is told which file that is, and how many bytes it has:
 *          whatever stands behind these is the run's, and is cut off by who goes back there. With the second one it is written to.
 *
 *              asked --save, the path is another's--> opened, announced --the next save: that checkpoint lasts--> written to
 *                                                         |
 *              asked <--going back to a checkpoint that was told: cut, whatever its name is by now--+
 *
 * Threads: one at a time. */
#ifndef GX_TOPOLOGY_FILE_SWAP_H
#define GX_TOPOLOGY_FILE_SWAP_H

#include "base/port.h"

#include <gale/error.h>

typedef struct gx_file_swap {
    bool asked;
    bool announced;
    int64_t size; /* of the next file, before the run writes to it */
    int64_t inode;
    int64_t born; /* with its inode, which is used again, that is no other's; 0: the file system does not say */
} gx_file_swap;

#define GX_FILE_SWAP_INIT                                                                                              \
    { false, false, 0, 0, 0 }

/* Has the path another file than the open one by now, or none? 1, 0 (also for one that nobody can rename); GALE_IO. */
int gx_file_swap_is_due(int fd, const char *path, gale_error *error);

/* What the checkpoint that is saved now is told of the next file. GALE_IO. */
int gx_file_swap_announce(gx_file_swap *swap, int fd, const char *path, gale_error *error);

/* Going back to a checkpoint that was told so: cuts that file, at the path or beside it. 1; 0: it is not there any more, and what it was given
 * since comes again. `*ret_cut` says how much was cut off. GALE_STATE: another run has that file; GALE_IO. */
int gx_file_swap_undo(const gx_file_swap *announced, const char *path, int64_t *ret_cut, gale_error *error);

#endif
