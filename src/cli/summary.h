/* What a run did, gathered from its runtime and printed as a table or as one JSON object.
 *
 * Threads: one at a time; gathering while the run goes on is allowed.
 * Owner:   names belong to the runtime, which is read once more for the JSON.
 */
#ifndef GX_CLI_SUMMARY_H
#define GX_CLI_SUMMARY_H

#include "base/buf.h"
#include "serve/noted.h"
#include "serve/outcomes.h"

#include <gale/runtime.h>

/* The sum over a component's tasks. */
typedef struct gx_summary_row {
    const char *component;
    bool spout;
    uint32_t tasks;
    uint64_t executed, emitted, transferred, acked, errors;
    uint64_t outcomes[GX_OUTCOMES];
    uint64_t execute_samples, execute_nanoseconds;
    uint64_t expired;            /* over their deadline, not executed */
    uint64_t shed;               /* of no tree, lost at a full queue */
    uint64_t held, pending_time; /* ns, of a spout's tasks together: by flow control, by max spout pending */
    uint64_t pending_limit;
    uint32_t held_by;       /* the task that held one of them longest; 0: none */
    uint64_t held_by_time;  /* ns */
    uint64_t held_by_queue; /* bytes, the most that waited for it */
    const char *held_by_component;
    uint32_t held_by_index; /* within its component */
} gx_summary_row;

/* What a component dropped of one of its inputs. */
typedef struct gx_summary_drop {
    const char *from, *stream, *to, *policy;
    uint64_t count;
} gx_summary_drop;

/* The run's figures, and what they do not hold. */
typedef struct gx_reading {
    gale_run_stats run;
    uint64_t emitted; /* by the spouts, tracked or not */
    bool done;        /* every spout has said that it has nothing more */
    const char *held; /* a spout that flow control holds now, or NULL */
    const char *held_by;
    uint32_t held_by_index; /* within its component */
    const char *unwell;     /* the component of the first task that is not well, or NULL */
    uint32_t unwell_count;  /* such tasks */
    bool durable;
    gale_checkpoint_stats checkpoint; /* of a durable run */
} gx_reading;

/* What a session's runtimes have done before the one that is told of: it was changed while it ran. */
typedef struct gx_carried {
    uint64_t changes;
    uint64_t outcomes[GX_OUTCOMES];
    uint64_t acked, replayed, given_up, dead_letters, dead_letters_lost;
    bool lost; /* one of them, by gale_runtime_lost */
} gx_carried;

typedef struct gx_summary {
    gx_reading total;
    const gx_carried *carried; /* borrowed, or NULL */
    const char *topology;
    gx_summary_row *rows;
    size_t row_count;
    gx_summary_drop *drops; /* inputs that may drop */
    size_t drop_count;
    const gale_runtime *runtime;
    gx_noted noted;
} gx_summary;

void gx_summary_read(gale_runtime *runtime, gx_reading *ret_reading);

/* False when memory is out. */
bool gx_summary_gather(const gale_topology *topology, gale_runtime *runtime, gx_summary *ret_summary);
void gx_summary_fini(gx_summary *summary);

void gx_summary_text(const gx_summary *summary, gx_buf *out);
void gx_summary_json(const gx_summary *summary, int exit_code, gx_buf *out);

/* Adds one runtime that is gone on from. */
void gx_summary_carry(const gx_summary *summary, gx_carried *carried);

/* One line: seconds, trees (or tuples of spouts, when nothing is tracked), rates since `before`, open, failed. */
void gx_summary_line(const gx_reading *now, const gx_reading *before, gx_buf *out);

#endif
