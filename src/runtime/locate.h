/* Locating tuples: where are those of these trees? Asked when trees expire, and by whoever wants to know.
 *
 * What:    the asker lays a list of roots into the mailbox of every executor. Each answers from its own thread, at the
 *          beginning of a step and in one pass: over what it has not read of its rings, its queues and parked lists,
 *          its held tuples, and what its bolts forgot. It merges what it finds into the list, the most telling find
 *          winning, and empties the mailbox. When all have answered, or after min(100 ms, T / 10), the trees are
 *          answered with what was found. Of an executor that did not answer by then it is said in whose call it is
 *          stuck, and since when; its mailbox is left to it, and later queries pass it by until it has answered.
 *
 *              asker:     free --lay--> in n mailboxes --conclude--> concluded --all have answered--> freed
 *              executor:  mailbox full --answer--> empty
 *
 * Threads: gx_locate_run the executor's; gx_locate_open_trees any.
 * Orderings: R1/A1 a query is laid into a mailbox with release and taken with acquire: who sees it sees its roots.
 *            R2/A2 an executor counts itself out with acquire and release: who sees that none is missing sees the finds,
 *            and may free. */
#ifndef GX_RUNTIME_LOCATE_H
#define GX_RUNTIME_LOCATE_H

#include "engine/executor.h"

/* One tree that is asked about. */
typedef struct gx_locate_entry {
    uint64_t root;
    gx_atomic64 found; /* kind 8 bits | task 16 | milliseconds 40; greater tells more */
    uint64_t message_id;
    int64_t start;
    uint32_t spout; /* task */
} gx_locate_entry;

typedef struct gx_locate_query {
    struct gx_locate_query *next;
    gx_atomic32 missing; /* executors that have not answered */
    gx_bell *asker;      /* rung when the last one has; or NULL */
    int64_t due;
    bool lists;     /* asks for the oldest open trees of each ledger, not where trees are */
    uint32_t each;  /* lists: entries an executor */
    uint32_t count; /* sorted by root; lists: room for every executor's */
    gx_locate_entry entries[];
} gx_locate_query;

/* Asks about what expires here, answers what others ask, concludes what is answered. Returns how much was done. */
size_t gx_locate_run(gx_executor *ex);

/* Has another executor, or the application, asked something? */
GX_INLINE bool gx_locate_is_news(const gx_executor *ex) {
    return gx_load_acquire(&ex->shared->query_epoch) != ex->query_seen;
}

/* When it next has something to do by the clock. */
int64_t gx_locate_due(const gx_executor *ex);

/* At the end: frees what was asked. No executor runs. */
void gx_locate_fini(gx_shared *shared);

/* The oldest open trees of all ledgers with their places, oldest first, at most `room`; waits for executors until
 * `until` (machine's monotonic ns), or answers for them, when `steps_by_caller`. Returns how many; GALE_AGAIN when
 * another thread is asking; GALE_NO_MEMORY. */
int gx_locate_open_trees(gx_shared *shared, gale_open_tree *trees, uint32_t room, int64_t until, bool steps_by_caller);

#endif
