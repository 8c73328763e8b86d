/* A task of gale.spout.SqliteRows, and what of it is in checkpoints. */
#ifndef GALE_CONNECT_SQLITE_SPOUT_H
#define GALE_CONNECT_SQLITE_SPOUT_H

#include "connect/sqlite/hand.h"
#include "connect/sqlite/places.h"
#include "connect/sqlite/reading.h"

#include <gale/state.h>

typedef struct lite_spout {
    const lite_rows_settings *given;
    const gale_context *context;
    gale_collector *out;
    gale_intake *intake;
    lite_hand hand;
    lite_reading reading; /* the hand's, while it is not free */
    bool failed;          /* the hand's, and what it tells: not now */
    size_t gave;          /* answered rows that the hand has, while it is not free */
    size_t next;          /* of the rows that were read: the next to be taken */
    bool at_end;          /* there were no more when it was looked last */
    int64_t place;        /* of the row that was taken last */
    int64_t floor;        /* of those that were given up and are not deleted: the last */
    lite_places taken;    /* those that are to be marked or deleted, and are not */
    lite_answered_list answered;
    bool idle; /* another task reads */
    bool unwell;
    gale_backoff backoff;
    int64_t again; /* not before then; 0: at once */
    int64_t look;  /* for new rows, not before then */
    gale_watch timer;
} lite_spout;

/* Its `save` and `restore`. */
int lite_spout_save(void *self, gale_saver *to);
int lite_spout_restore(void *self, gale_saved *from, gale_collector *out);

#endif
