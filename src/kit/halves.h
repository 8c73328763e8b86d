/* Search for the row that a system cannot take among rows that go out in order: all that are left are sent, and fewer while some of them fail.
 *
 *      all --lost twice, or declined--> the first half --> ... --> one row --lost gale.sink.losses times, or declined--> it is the culprit
 *       ^                                    '--taken--> what comes next, twice as many --------------------------------'
 *
 * What:    a loss is a connection that ended behind these rows; rows are declined when the system refuses them in words that do not say which. All of them
 *          are lost twice before they are divided, because a server that restarts ends a connection once. A culprit is not sent any more: the note about
 *          it is, and that is given up after as many losses.
 * Bounds:  n rows with c culprits take at most 2 + c (log2 n + 1 + losses) losses. Threads: one. */
#ifndef GX_KIT_HALVES_H
#define GX_KIT_HALVES_H

#include "base/port.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct gx_halves {
    uint64_t next, part, count; /* rows [next, next + part) of `count` are to be sent; part 0: all were taken */
    uint32_t losses;            /* of these rows */
    bool divided;
    bool culprit; /* the part is one row, which must not be sent */
} gx_halves;

typedef enum gx_halves_step {
    GX_HALVES_AGAIN,   /* the part is sent again, or a part of it */
    GX_HALVES_CULPRIT, /* its only row has just become the culprit */
    GX_HALVES_SPENT,   /* not even the note about the culprit is taken */
} gx_halves_step;

void gx_halves_begin(gx_halves *halves, uint64_t count);

/* The system has the first `rows` rows, whatever became known of them before. */
void gx_halves_reach(gx_halves *halves, uint64_t rows);

/* The part was taken: the next one is twice as large. */
void gx_halves_taken(gx_halves *halves);

/* A connection ended behind the part; one row may have `most` of these. */
gx_halves_step gx_halves_lost(gx_halves *halves, uint32_t most);

/* The system declines the part. */
gx_halves_step gx_halves_declined(gx_halves *halves);

#endif
