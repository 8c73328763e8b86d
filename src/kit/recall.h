/* Reading back what a part of the kit has saved (kit/record.h), with a sentence for what is refused, and whose it is where
 * a component has another number of tasks than it had.
 *
 * Threads: the task's. Owner: who reads; values are good until the next record is read. */
#ifndef GX_KIT_RECALL_H
#define GX_KIT_RECALL_H

#include "kit/define.h"

#include <gale/state.h>

typedef struct gx_recall {
    gale_saved *from;
    gale_collector *out;
    const char *who;
    const gale_context *context;
    uint64_t record; /* the last that was read, from 1 */
} gx_recall;

/* The next record, of a shape as gx_record_take has them: 1; 0 when there are no more; GALE_DAMAGED with a report; GALE_NO_MEMORY. */
int gx_recall_next(gx_recall *recall, const char *shape, const gale_value **ret_values);

/* The same, and there must be one: GALE_OK. */
int gx_recall_one(gx_recall *recall, const char *shape, const gale_value **ret_values);

/* Says what is wrong with the last record. GALE_DAMAGED. */
int gx_recall_refuse(const gx_recall *recall, const char *what);

/* Are there as many tasks as there were, with the same keys? Then all that this one saved is its own. */
bool gx_recall_is_same(const gx_recall *recall);

/* Is what was saved under these values of the grouping's fields this task's? */
bool gx_recall_owns(const gx_recall *recall, const gale_value *key, size_t count);

/* Of what is divided by nothing: does this task go on with what that one had? */
bool gx_recall_inherits(const gx_recall *recall);

#endif
