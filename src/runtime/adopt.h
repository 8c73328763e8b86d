/* Whether a checkpoint fits the plan of now, and what becomes of what does not (docs/semantics/durable.md has the table).
 *
 * What:    gx_adopt finds out what each component of the checkpoint is now, and each of its streams and inputs; what has
 *          changed is refused, with what would take it, unless the words of gale_runtime_options.adopt do: "OLD=NEW" for a
 *          component that was renamed, "*" for everything else.
 *          Keyed state stays under the keys that it has: a component that was renamed keeps the name in them.
 * Threads: one; no executor runs. */
#ifndef GX_RUNTIME_ADOPT_H
#define GX_RUNTIME_ADOPT_H

#include "runtime/image.h"

typedef struct gx_adopted {
    gx_heap *heap;
    uint32_t count;    /* of the plan's components; 0: there was no checkpoint */
    const char **kept; /* by component: the name of its keyed state, for gx_image_write */
    gx_buf texts;      /* those names; and the names of keyed state that nobody has any more, each with its end */
    size_t gone;       /* where the latter begin */
    bool all;          /* whatever else has changed is taken as well as can be */
} gx_adopted;

typedef struct gx_adopt_words {
    const char *const *list;
    uint32_t count;
} gx_adopt_words;

/* Fills in what the head's components are now. GALE_STATE: it does not fit, the report says what has changed; GALE_INVALID: a
 * word names nothing, or the same twice; GALE_UNSUPPORTED: what was saved is newer than its component; GALE_NO_MEMORY, and
 * what the store says. `made` and the head are to be ended in any case. */
int gx_adopt(gx_adopted *made, gx_image_head *head, const gx_shared *shared, const gale_store *store,
             gx_adopt_words words, gale_error *error);

/* The arrays of the head's components that were made for it. Before gx_image_end. */
void gx_adopt_head_end(gx_image_head *head);

void gx_adopted_fini(gx_adopted *made);

/* Removes keyed state that nobody has any more, with the store's next commit. The committer's. */
int gx_adopted_forget(const gx_adopted *made, const gale_store *store, gale_error *error);

#endif
