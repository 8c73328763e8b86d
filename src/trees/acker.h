/* An acker task: the XORs of trees on a rotating map (Storm's org.apache.storm.daemon.Acker), for topologies that ask for
 * `topology.acker.executors: n`. Without them each spout's ledger does this work itself (trees/ledger.h).
 *
 * What:    a tree's acker task is chosen by its root; the spout's ledger keeps the pending entry and hears the outcome.
 *          Messages come in any order: an ack may overtake the init of its tree.
 *
 *                         no record          record, before init      record, after init
 *              init(v)    record, xor = v    xor ^= v, zero: done      xor ^= v, zero: done
 *                                            failed: forgotten
 *              ack(v)     record, xor = v    xor ^= v                  xor ^= v, zero: done
 *              fail       record, failed     failed                    forgotten
 *              reset      record             renewed                   renewed, and the ledger is told
 *
 *          A failure goes on to the ledger at once, where Storm's acker keeps it until the init is there. "Done" forgets
 *          the record. Only what renews (fail, reset) changes a record's age: acks do not, as in Storm.
 * Expiry:  a rotation every timeout T, of three buckets: what is touched no more is forgotten after an age in (2 T, 3 T],
 *          when the ledger has answered it long since. Where trees have no timeout, a rotation every 30 s forgets only
 *          records without an init: late acks of failed trees. In progress mode an ack renews, and the ledger is told.
 * Threads: its executor's. */
#ifndef GX_TREES_ACKER_H
#define GX_TREES_ACKER_H

#include "ds/rotating_map.h"

typedef struct gx_acker {
    gx_rotating_map *map;
    int64_t period; /* ns between rotations */
    int64_t due;
    bool keeps;    /* trees have no timeout: records with an init stay */
    bool progress; /* an ack begins its tree's timeout anew */
} gx_acker;

typedef enum gx_acker_verdict {
    GX_ACKER_WAITS,
    GX_ACKER_DONE,  /* every edge was created and consumed */
    GX_ACKER_RENEWS /* the ledger is to begin its timeout again */
} gx_acker_verdict;

/* `timeout` in ns; 0: never. GALE_NO_MEMORY. */
int gx_acker_init(gx_acker *acker, gx_heap *heap, int64_t timeout, uint64_t seed);
void gx_acker_fini(gx_acker *acker);

/* Messages; each returns a verdict, or GALE_NO_MEMORY: the message is lost, and its tree must be failed. */
int gx_acker_begin(gx_acker *acker, uint64_t root, uint64_t edges);
int gx_acker_ack(gx_acker *acker, uint64_t root, uint64_t edges);
int gx_acker_fail(gx_acker *acker, uint64_t root);
int gx_acker_reset(gx_acker *acker, uint64_t root);

/* Rotates when it is time. Returns whether it did. */
bool gx_acker_tick(gx_acker *acker, int64_t now);

/* Calls `each` for every record; and makes one again, of another run, where there is none yet. GALE_NO_MEMORY. */
void gx_acker_each(const gx_acker *acker,
                   void (*each)(void *user, uint64_t root, uint64_t edges, bool begun, bool failed), void *user);
int gx_acker_restore(gx_acker *acker, uint64_t root, uint64_t edges, bool begun, bool failed);

/* Trees that it knows of. */
size_t gx_acker_size(const gx_acker *acker);

#endif
