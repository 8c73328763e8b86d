/* A task without an engine: a collector that writes down what a component does, a context with a hand-moved clock, a
 * seeded random generator and an allocator that counts and can fail, and tuples made from values. Threads: one. Owner:
 * the test; fake_fini checks that all memory came back. */
#ifndef GALE_TEST_FAKE_COLLECTOR_H
#define GALE_TEST_FAKE_COLLECTOR_H

#include "base/buf.h"
#include "base/random.h"
#include "topology/keyed.h"
#include "topology/saver.h"
#include "tuple/row.h"
#include "tuple/schema.h"

#include <gale/component.h>
#include <gale/metric.h>
#include <gale/watch.h>

enum { FAKE_FIELDS_MAX = 8, FAKE_MESSAGES_MAX = 16, FAKE_METRICS_MAX = 8, FAKE_WATCHES_MAX = 8 };

/* What a component noted. */
typedef struct fake_metric {
    gale_metric metric;
    char name[4 * GALE_METRIC_NAME_MAX]; /* with its labels in their order, rows{url=/a} */
    int32_t kind;
    double sum, last;
    uint64_t count;
} fake_metric;

typedef struct fake_collector {
    gale_collector collector;
    gale_context context;
    gale_allocator allocator;
    gale_logger logger;
    gale_manual_clock *clock;
    gale_config *config;
    gx_random random;

    /* What was done. Emissions are lines of JSON, ["a",1]; "~" before it says unanchored, " #7" behind it message id 7.
     */
    gx_buf emitted;
    gx_buf reports; /* lines */
    gx_buf logged;  /* lines */
    uint64_t emissions;
    uint64_t acks;
    uint64_t fails;
    gale_handle last_acked;
    char fail_text[GALE_FAILURE_TEXT]; /* of the last one */
    int32_t fail_reason;               /* the same */
    uint64_t last_message;
    uint64_t messages[FAKE_MESSAGES_MAX]; /* the first that were emitted, of which gale_source_lost asks */
    size_t message_count;
    gx_buf lost;  /* those that were lost, " #7" each */
    bool resumed; /* a spout goes on from an earlier run; may be set before */
    int stop_code;
    char stop_text[GALE_ERROR_TEXT];

    /* What is to happen. */
    int emit_error;        /* when negative, emits fail with it... */
    uint64_t emits_before; /* ...after so many more */
    uint64_t fail_at;      /* the allocation, counted from 1, that fails; 0: none */
    bool fail_on;          /* and all after it */

    /* Keyed state, in memory, or above a store, which is set before the first is opened. */
    const gale_store *store;
    bool by_key; /* the inputs are grouped by fields: as it says in what is restored, too */
    gx_heap heap;
    gx_keyed keyed;
    bool running; /* no state may be opened */

    /* What was saved. */
    gx_buf saved;

    fake_metric metrics[FAKE_METRICS_MAX]; /* in the order in which they were made */
    size_t metric_count;

    gale_watch_options watches[FAKE_WATCHES_MAX]; /* in the order in which they were made; they wait for a time alone */
    size_t watch_count;
    int watch_error; /* when negative, none is made */

    uint64_t room;       /* of gale_room */
    uint64_t part_rows;  /* of a part (gale_part_is_full); 0: no part is ever full */
    uint64_t part_asked; /* how often that was asked since the call began, which is for the test to say */

    bool holds;      /* tuples may be held, under their own handles */
    uint64_t resets; /* timeouts that began anew */
    bool congested;
    uint64_t wishes;  /* for a checkpoint */
    char health[200]; /* its last words; empty: it is well */

    void (*on_emit)(void *user, const gale_value *values, size_t count);
    void *on_emit_user;

    uint64_t allocations;
    uint64_t blocks; /* not given back */

    /* The tuple in hand. */
    gale_tuple tuple;
    gale_head head;
    void *body;
    gale_schema schema;
    gx_schema_component source;
    gx_schema_stream stream;
    const gx_schema_component *components[2];
    char *field_text;
    const char *fields[16][FAKE_FIELDS_MAX]; /* in turn: each source's are others, as in a run */
    unsigned sources;
} fake_collector;

void fake_init(fake_collector *fake);
/* gale.rate, as an engine tells it; and as what is set later. */
void fake_set_rate(fake_collector *fake, double rate);

void fake_fini(fake_collector *fake);

/* Who sends the next tuples: a component and its fields, "obj, count". */
void fake_source(fake_collector *fake, const char *component, const char *fields);

/* A tuple of these values, valid until the next one. */
const gale_tuple *fake_tuple(fake_collector *fake, const gale_value *values, size_t count);
const gale_tuple *fake_tuple_text(fake_collector *fake, const char *text);
const gale_tuple *fake_tick(fake_collector *fake, int64_t seconds);

/* Tells the watches whose time has come; how many there were. */
size_t fake_tell_watches(fake_collector *fake);

/* The lines of what was emitted, reported or logged. fake_forget begins anew. */
const char *fake_text(gx_buf *lines);
void fake_forget(fake_collector *fake);

/* --- What lasts --- */

/* Saves what the instance has, in place of what was saved before. */
int fake_keep(fake_collector *fake, const gale_durable_ops *durable, void *self);

/* Gives it to another instance: as the records of task `part` of `parts`, to the task that the context names. */
int fake_give_back(fake_collector *fake, const gale_durable_ops *durable, void *self, uint32_t part, uint32_t parts);

/* Ends the keyed states: the next instance opens them anew, over what the store has. */
void fake_end_states(fake_collector *fake);

/* prepare or open; cleanup or close, and the definition's user block. */
int fake_prepare(fake_collector *fake, const gale_bolt *bolt, void **ret_self);
void fake_cleanup(const gale_bolt *bolt, void *self);
int fake_open(fake_collector *fake, const gale_spout *spout, void **ret_self);
void fake_close(const gale_spout *spout, void *self);

#endif
