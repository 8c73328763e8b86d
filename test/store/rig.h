/* What the tests of the store share: a folder of one's own, a store in it, pairs of text, and a model of what must be
 * there after commit N. */
#ifndef TEST_STORE_RIG_H
#define TEST_STORE_RIG_H

#include "harness/cm.h"

#include <gale_store.h>

enum { RIG_PATH = 300, RIG_KEYS = 40, RIG_FILES = 4 };

typedef struct rig {
    char folder[RIG_PATH];
    uint64_t log_bytes, cache_bytes;
    const gale_allocator *allocator;
    gale_store store;
    gale_error error;
} rig;

/* The names of a store's files. */
extern const char *const rig_files[RIG_FILES];

/* A path that nothing is at yet; what is there goes. */
void rig_begin(rig *with, const char *name);
void rig_end(rig *with);

int rig_open(rig *with, const char *topology, bool create);
void rig_open_well(rig *with);
void rig_close(rig *with);

int rig_put(rig *with, const char *key, const char *value);
int rig_remove(rig *with, const char *key);
uint64_t rig_commit(rig *with); /* synced, and must be well */

/* The value as text, "-" when there is none, "?" with the report when it fails. Static storage. */
const char *rig_get(rig *with, const char *key);

/* "a=1 b=2": all pairs below a prefix, behind a key (may be NULL). Static storage. */
const char *rig_pairs(rig *with, const char *prefix, const char *after);

/* --- The model: commit N sets some keys to N, removes one, and always sets "now" --- */

/* Gathers the changes of commit `number`; more of them the more `weight`. */
int rig_model_change(rig *with, uint64_t number, unsigned weight);

/* Does the store have exactly the contents of commit `number`? 0; 1 when something is wrong; a negative code when it
 * says so itself. */
int rig_model_check(rig *with, uint64_t number, unsigned weight);

/* --- Folders in memory --- */

typedef struct rig_image {
    char *bytes[RIG_FILES]; /* NULL: no such file */
    size_t sizes[RIG_FILES];
} rig_image;

void rig_image_take(const rig *with, rig_image *image);
void rig_image_put(const rig *with, const rig_image *image);
void rig_image_free(rig_image *image);

#endif
