/* What a store of durable runs has, pair by pair, read without the topology that it is of: for who shows, exports and
 * imports it. The keys are described in engine/cut.h.
 *
 * Threads: one at a time. Owner: what a pair leads to lies in the reader until the next pair. */
#ifndef GX_FRONT_SAVED_PAIR_H
#define GX_FRONT_SAVED_PAIR_H

#include "base/buf.h"

#include <gale/store.h>
#include <gale/tuple.h>

typedef enum gx_saved_kind {
    GX_SAVED_HEAD,    /* records */
    GX_SAVED_RECORDS, /* component, index: the task; piece; records */
    GX_SAVED_REST,    /* index: the executor; piece; records */
    GX_SAVED_KEYED,   /* component (the name that its keyed state has), state, scope, key, value, expiry */
    GX_SAVED_LETTERS, /* records */
    GX_SAVED_ANEW,    /* component */
    GX_SAVED_OTHER    /* of a later version */
} gx_saved_kind;

typedef struct gx_saved_pair {
    gx_saved_kind kind;
    gale_str raw_key, raw_value;
    const char *component, *state; /* end with NUL */
    uint32_t index, piece;
    uint32_t scope;   /* of a key: 0, or its task's index + 1 */
    gale_str records; /* whole */
    gale_value key, value;
    int64_t expiry;
} gx_saved_pair;

typedef struct gx_saved_reader {
    gx_buf key, value, inner;
} gx_saved_reader;

#define GX_SAVED_READER_INIT                                                                                           \
    { GX_BUF_INIT(NULL), GX_BUF_INIT(NULL), GX_BUF_INIT(NULL) }

void gx_saved_reader_fini(gx_saved_reader *reader);

/* GALE_DAMAGED: no run has written it; GALE_NO_MEMORY. */
int gx_saved_pair_read(gx_saved_reader *reader, gale_str key, gale_str value, gx_saved_pair *ret_pair,
                       gale_error *error);

/* Every pair of the store, in the order of keys; what `each` returns, if it is not 0, ends it and is returned. */
typedef int gx_saved_each_fn(void *user, const gx_saved_pair *pair, gale_error *error);
int gx_saved_each(const gale_store *store, gale_str prefix, gx_saved_each_fn *each, void *user, gale_error *error);

/* --- The head ------------------------------------------------------------------------------------------------------ */

/* The types of its records' values (runtime/image.h): of the first, and of each component's. i: a number from 0 on, t: a
 * time, b: a boolean, s: text without NUL, l: a list. There may be more behind them. */
#define GX_SAVED_HEAD_TYPES "iisitbi"
#define GX_SAVED_COMPONENT_TYPES "sbibills"

typedef struct gx_saved_component {
    const char *name;
    const char *kept; /* the name that its keyed state has in the store: the one that it had before it was renamed */
    uint32_t tasks, version;
    bool spout, by_key;
} gx_saved_component;

typedef struct gx_saved_head {
    gx_buf records; /* what the texts are borrowed from */
    const char *topology;
    uint64_t checkpoint;
    int64_t time, wall; /* ns of the runtime's clock, and since 1970 */
    uint32_t format, executors;
    bool complete;
    gx_saved_component *components;
    size_t count;
} gx_saved_head;

/* GALE_NOT_FOUND, with no report: there is no checkpoint; GALE_DAMAGED, GALE_UNSUPPORTED (of another format), what the store
 * says. To be ended when it went well. */
int gx_saved_head_read(const gale_store *store, gx_saved_head *ret_head, gale_error *error);
int gx_saved_head_parse(gale_str value, gx_saved_head *ret_head, gale_error *error);
void gx_saved_head_fini(gx_saved_head *head);

/* NULL: there is no such component; then the report names it and the nearest one. */
const gx_saved_component *gx_saved_head_find(const gx_saved_head *head, const char *name, gale_error *error);

/* The same by the name that keyed state has. */
const gx_saved_component *gx_saved_head_keeper(const gx_saved_head *head, const char *kept, gale_error *error);

#endif
