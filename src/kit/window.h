/* The window bolt (gale_window_bolt, kit/window.c), as what lasts of it (kit/window_saved.c) sees it.
 *
 * Time is in nanoseconds, whether tuples carry it (kit/own_time.h) or it is the clock's. The boundary is the multiple
 * of the slide up to which all windows have been told; the window that ends a slide later is the current one.
 *
 *     close    a key is due at the end of the first window that holds something of it and was not told
 *     change   a key that changed is due at GX_WINDOW_CHANGED, another one when a pane of its enters or leaves the current
 *              window
 *
 * Threads: the task's. */
#ifndef GX_KIT_WINDOW_H
#define GX_KIT_WINDOW_H

#include "ds/bytes_map.h"
#include "kit/ahead.h"
#include "kit/calendar.h"
#include "kit/recall.h"
#include "kit/window_key.h"

#include <gale/kit.h>
#include <gale/state.h>

typedef struct gx_window_settings {
    gx_fields key; /* none: all tuples have one */
    gx_fields time;
    gx_window_spec spec;
    gx_window_plan plan;
    gx_window_shape shape;
    bool by_event; /* the tuples' own time */
    bool changes;  /* told as they happen */
    uint64_t keys_max;
    uint64_t bytes_max;
    int (*having)(void *self, const gale_value *row, size_t count, gale_error *error);
    int (*having_open)(void *user, const gale_context *context, void **ret_self, gale_error *error);
    void (*having_close)(void *self);
    void (*having_begin)(void *self, gale_collector *out);
    void *having_user;
    void (*free_having_user)(void *user);
    char text[1024]; /* of the aggregates, as given */
    char fields[GX_WINDOW_FIELDS_TEXT];
    gale_output output;
    gale_setting tick;
    bool ticks;
} gx_window_settings;

typedef struct gx_window_bolt {
    gx_instance instance;
    const gx_window_settings *given;
    gx_window_panes panes;
    gx_bytes_map *keys; /* to pointers to gx_window_key */
    gx_ahead ahead;
    gx_agenda agenda;
    int64_t boundary;       /* INT64_MIN: not known yet */
    int64_t mark;           /* of events: no tuple comes that is older; INT64_MIN: not known yet */
    int64_t newest;         /* the last pane that was made */
    int64_t cut_off;        /* of the clock, when `finish` was first called; INT64_MIN: not yet */
    int64_t phase;          /* of the clock: what is added to it, the same in all lives of the run */
    int64_t shift;          /* what is added to that for a label, a multiple of the slide */
    bool by_calendar;       /* the clock is the machine's: the phase makes times since 1970 of it */
    int64_t pane, pane_end; /* of the last tuple */
    gx_buf key;
    gx_field_places key_places, time_places, places;
    gale_value key_values[GX_FIELDS_MAX];
    gale_value values[GX_FIELDS_MAX];
    gale_value row[GX_FIELDS_MAX + 2 + GX_WINDOW_AGGREGATES];
    void *having; /* what is asked of rows */
    bool having_opened;
    bool restored;
    bool part_is_full;
    bool closing;     /* rows of windows that end behind the boundary are emitted for some keys, and not for all */
    gale_state *kept; /* the panes, in a durable run; else NULL */
} gx_window_bolt;

/* A key by its bytes (kit/window.c); made when it is not there. NULL when memory is out. `ret_made` may be NULL. */
gx_window_key *gx_window_bolt_key(gx_window_bolt *bolt, gale_str bytes, bool *ret_made);

/* Forgets a key that has no panes; it is in no agenda. */
void gx_window_bolt_forget(gx_window_bolt *bolt, gx_window_key *key);

/* The values of a key's fields, borrowed from it. */
void gx_window_bolt_key_values(const gx_window_bolt *bolt, const gx_window_key *key, gale_value *values);

/* When a key is next due that has panes, all windows up to `boundary` being told. */
int64_t gx_window_bolt_due(const gx_window_bolt *bolt, const gx_window_key *key, int64_t boundary);

/* (kit/window_saved.c) Opens the state, in a durable run. */
int gx_window_saved_open(gx_window_bolt *bolt, gale_collector *out);

extern const gale_durable_ops gx_window_durable;

#endif
