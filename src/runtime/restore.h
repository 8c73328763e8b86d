/* A runtime begins where the last checkpoint in its store was cut.
 *
 *     gx_restore_begin   the head is read and compared with the plan; what was left of the work is brought back into the
 *                        executors, which are made and not started; what tasks saved is read
 *     gx_restore_task    a task that was opened is given what it saved; on its own thread
 *     gx_restore_end     when all are open, or none will be
 *
 * Threads: one; gx_restore_task those of the tasks, at the same time. */
#ifndef GX_RUNTIME_RESTORE_H
#define GX_RUNTIME_RESTORE_H

#include "runtime/adopt.h"

/* What one earlier task saved. */
typedef struct gx_restore_part {
    struct gx_restore_part *next;
    uint32_t component; /* of then */
    uint32_t index;
    uint32_t chunks;
    gx_buf records;
} gx_restore_part;

typedef struct gx_restore {
    gx_shared *shared;
    const gale_store *store;
    gx_image_head head;
    bool found;             /* there is a checkpoint */
    gx_restore_part *parts; /* in the order of the keys */
    gx_restore_part *last;
    gx_adopted adopted;
    gx_changes stale; /* removes of what it has, which the next one may have no more */
    uint64_t dropped, again;
    gx_buf letters; /* the dead letters' part */
    gx_buf piece;   /* one value, at a multiple of 8 */
    gx_rest_back back;
    gale_error *error;
} gx_restore;

/* When `restore->found`, the run goes on from it. As gx_image_read and gx_adopt, GALE_IO and GALE_DAMAGED of the store. To be
 * ended in any case. */
int gx_restore_begin(gx_restore *restore, gx_shared *shared, const gale_store *store, gx_adopt_words words,
                     gale_error *error);
void gx_restore_end(gx_restore *restore);

/* What lasts longer: `stale` and `adopted`. */
void gx_restore_fini(gx_restore *restore);

/* GALE_OK when there is nothing for it. */
int gx_restore_task(const gx_restore *restore, gx_task *task, gale_error *error);

#endif
