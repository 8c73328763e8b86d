/* A keyed state's keys and values as a store has them.
 *
 *     key:    'k' NAME 0 STATE 0 be32 scope, the key (tuple/key.h)
 *     value:  i64 when it expires (ns of the runtime's clock; 0: never), the body of one value
 *
 * The name is the component's, as the checkpoint's head has it (runtime/image.h): one that was renamed keeps the name that
 * its keys have, so that they need not be written anew. The scope is 0 where the key says whose it is: its component's inputs are grouped by fields, and the fields of the key
 * lead to the task that keeps it. Any other key is its task's alone, in scope task index + 1.
 *
 * Threads: one at a time. Owner: what is read lies in the caller's buffers. */
#ifndef GX_TOPOLOGY_KEYED_STORE_H
#define GX_TOPOLOGY_KEYED_STORE_H

#include "ds/changes.h"
#include "topology/keyed_cell.h"

#include <gale/store.h>

typedef struct gx_keyed_names {
    const gale_store *store;
    const char *component; /* for who reads reports */
    const char *kept;      /* the name in keys */
    const char *state;
    uint32_t task_index, task_count;
    uint32_t route; /* first values of a key that are the grouping's; 0: all */
    bool by_key;    /* fields grouping on every input */
    gx_buf key;     /* the last one that was made */
    gx_buf value;   /* the last one that was read */
} gx_keyed_names;

/* The longest that a key in the store may become, or more. */
size_t gx_keyed_key_max(const char *kept, const char *state);

uint32_t gx_keyed_scope(const gx_keyed_names *names, gale_str key);

/* The key in the store, in `names->key`. Its data is NULL when memory is out. */
gale_str gx_keyed_store_key(gx_keyed_names *names, uint32_t scope, gale_str key);

/* What a value in the store says; `bytes` at a multiple of 8. False: it is none. */
bool gx_keyed_value_read(gale_str bytes, gx_packed *ret_packed, int64_t *ret_expiry);

/* Appends a put of such a value. */
void gx_keyed_value_put(gx_changes *to, gale_str key, const gx_packed *packed, int64_t expiry);

/* GALE_NOT_FOUND, GALE_NO_MEMORY, GALE_DAMAGED, what the store says; lies in `names->value`. */
int gx_keyed_load(gx_keyed_names *names, gale_str key, gx_packed *ret_packed, int64_t *ret_expiry, gale_error *error);

enum { GX_KEYED_PIECE = 64 };

/* Up to so many pairs of a scope behind `after` (NULL: from the first on), as changes whose keys are the store's. 1: there
 * may be more; 0; an error. */
int gx_keyed_read_piece(gx_keyed_names *names, uint32_t scope, const gx_buf *after, gx_changes *piece,
                        gale_error *error);

/* Does some keyed state of the component have keys that are one task's alone? Then it cannot be divided otherwise. 1, 0, or
 * what the store says. */
int gx_keyed_is_by_task(gx_heap *heap, const gale_store *store, const char *kept, gale_error *error);

/* Is there any? As above. */
int gx_keyed_is_any(gx_heap *heap, const gale_store *store, const char *kept, gale_error *error);

/* Removes all keys of the name with the store's next commit, a piece at a time. The committer's. */
int gx_keyed_remove_all(gx_heap *heap, const gale_store *store, const char *kept, gale_error *error);

/* What of a key in the store is the state's. Borrowed; not aligned. */
gale_str gx_keyed_key_behind(const gx_keyed_names *names, gale_str store_key);

#endif
