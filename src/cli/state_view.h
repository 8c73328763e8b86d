/* What a folder of a durable run has, gathered and printed: `gale state show`.
 * Threads: one at a time. Owner: memory is malloc's. */
#ifndef GX_CLI_STATE_VIEW_H
#define GX_CLI_STATE_VIEW_H

#include "base/buf.h"
#include "front/saved_pair.h"

/* What one task saved. */
typedef struct gx_view_part {
    uint64_t records, bytes;
    gx_buf words;  /* the first record, for people */
    gx_buf values; /* the first records, as JSON: up to the view's limit */
} gx_view_part;

typedef struct gx_view_state {
    struct gx_view_state *next;
    char name[101];
    uint64_t keys, bytes;
} gx_view_state;

typedef struct gx_view_component {
    const gx_saved_component *about;
    gx_view_part *parts; /* a task's each */
    gx_view_state *states;
    bool anew; /* it begins anew with the next run */
} gx_view_component;

typedef struct gx_view {
    const char *folder;
    gale_store_about store;
    gx_saved_head head;
    gx_view_component *components; /* in the head's order */
    gx_view_component *last;       /* whose a key was */
    uint64_t limit;
    uint64_t rows, held, open, waiting, commands;
    int64_t oldest; /* start of the oldest open tree; INT64_MAX: there is none */
    uint64_t other; /* pairs of a later version */
} gx_view;

/* GALE_NOT_FOUND: there is no checkpoint in it; what the store says. To be ended when it went well. The store is not needed any
 * more then. */
int gx_view_gather(const gale_store *store, const char *folder, uint64_t limit, gx_view *ret_view, gale_error *error);
void gx_view_fini(gx_view *view);

void gx_view_text(const gx_view *view, gx_buf *out);
void gx_view_json(const gx_view *view, gx_buf *out);

#endif
