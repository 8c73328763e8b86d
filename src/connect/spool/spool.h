/* One folder of a disk buffer, as the two components that share it have it: who writes (connect/spool/sink.h) and who reads
 * (connect/spool/spout.h).
 *
 *     sink:   adds, writes ----wakes----> thread: syncs, writes down what is answered, removes segments
 *     thread: ----wakes----> sink (acks what is safe; there is room again) and spout (there is more)
 *     spout:  reads, answers
 *
 * What:    both join by path and task, in any order; who comes first opens it, who leaves last closes it. The thread does all that
 *          waits for the disk, so that no executor does: one sync covers what came while the one before lasted, and what comes in
 *          GX_SPOOL_GATHER more, as each costs a system call and a round of both executors. Where fewer than GX_SPOOL_FEW wait, whoever
 *          sends them waits for their acks, and is not made to wait longer. In a durable run nothing is synced here: the sink's pledge does
 *          that (gx_spool_keep, gx_spool_log_sync).
 *          The spout is told of more when it has read all there was (`hungry`): while what it feeds is away, it sleeps.
 *
 *          A spout that has nothing more says so by `asleep`, and is done as far as the engine can know. So that no run ends between a
 *          record that is safe and a spout that has not heard of it, the sink wakes it first, and acks when it is awake:
 *
 *              awake --gx_spool_sleep: all is read, nothing open--> asleep --gx_spool_woken, rung by the sink--> awake
 * Threads: the spool's functions are for the tasks' threads. Owner: by count; gx_spool_leave and gx_spool_drop end it.
 */
#ifndef GX_CONNECT_SPOOL_SPOOL_H
#define GX_CONNECT_SPOOL_SPOOL_H

#include "base/os/wake.h"
#include "connect/spool/log.h"

#include <gale/component.h>

/* Records gather so long before a sync, or until there are GX_SPOOL_BATCH bytes of them. */
#define GX_SPOOL_GATHER (2 * GALE_MILLISECOND)
enum { GX_SPOOL_FEW = 4 };

typedef enum gx_spool_role { GX_SPOOL_SINK, GX_SPOOL_SPOUT, GX_SPOOL_ROLES } gx_spool_role;

typedef struct gx_spool {
    gx_spool_log log;
    gx_heap heap;
    gx_buf path; /* of the task's folder */
    struct gx_spool *next;
    uint32_t uses;
    bool joined[GX_SPOOL_ROLES];
    gx_wake wakes[GX_SPOOL_ROLES];
    gx_thread thread;
    bool ending;
    bool durable;
    bool asleep;    /* guarded by the log's monitor, and so is what follows */
    uint64_t slept; /* it has read all below this one, when it went to sleep last */
    bool hungry;    /* the spout has read all, and is to be told of more */
    bool gathering; /* the thread waits for more before it syncs */
    int failed;     /* what the thread ended with */
    gale_error why;
} gx_spool;

/* `folder` has a folder for each task. GALE_STATE: it is joined in this role already, or as gx_spool_log_open says; and so are the
 * others. GALE_AGAIN: the disk has no room for it now. */
int gx_spool_join(const char *folder, const gale_context *context, gx_spool_role role, gx_spool **ret_spool,
                  gale_error *error);
void gx_spool_leave(gx_spool *spool, gx_spool_role role);

/* Says why a component does not open, or go on from a checkpoint: in the log, too, where that is more than a report holds. */
void gx_spool_report(const gale_context *context, gale_collector *out, const gale_error *why);

/* The same for a folder that is not as a checkpoint has it, with the command by which the two components begin anew. */
void gx_spool_report_apart(const gale_context *context, gale_collector *out, const gale_error *why);

/* One more that has it, and one less. */
void gx_spool_keep(gx_spool *spool);
void gx_spool_drop(gx_spool *spool);

/* Something is to be let go: the thread looks. */
void gx_spool_stir(gx_spool *spool);

/* Records were written: it is seen to that the disk has them, and that the spout hears of them. */
void gx_spool_wrote(gx_spool *spool);
void gx_spool_ring(gx_spool *spool, gx_spool_role role);

/* What the sink is to know: all records below `*ret_safe` may be acked, unless `*ret_asleep`: then the spout is woken first. Below 0:
 * the thread failed, with why. */
int gx_spool_safe(gx_spool *spool, uint64_t *ret_safe, bool *ret_asleep, gale_error *error);

/* The spout has read all there was, looks once more behind this, and is told when there is more. */
void gx_spool_hunger(gx_spool *spool);

/* The spout has read all up to `number`, and nothing is open. True: it may say that it is done. */
bool gx_spool_sleep(gx_spool *spool, uint64_t number);
void gx_spool_woken(gx_spool *spool);

/* All below is answered, and need not be kept. */
void gx_spool_answered(gx_spool *spool, uint64_t position);

#endif
