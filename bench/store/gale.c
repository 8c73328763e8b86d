/* gale's own store, as a runtime would use it. */
#include "backend.h"

#include <gale_store.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int refuse(const gale_error *error, char *why) {
    snprintf(why, BACKEND_WHY, "%.250s", error->text);
    return -1;
}

static int open_store(const char *folder, size_t cache, void **ret_store, char *why) {
    gale_error error = GALE_ERROR_INIT;
    gale_store_options options = GALE_STORE_OPTIONS_INIT;
    gale_store *made = calloc(1, sizeof *made);
    options.folder = folder;
    options.topology = "bench";
    options.create = true;
    options.cache_bytes = cache;
    if (gale_store_open(&options, made, &error) < 0) return refuse(&error, why);
    *ret_store = made;
    return 0;
}

static int commit(void *of, const backend_pair *pairs, size_t count, size_t value_size, uint64_t number, char *why) {
    gale_error error = GALE_ERROR_INIT;
    gale_store *here = of;
    int rc = 0;
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = here->put(here->self, pairs[i].key, BACKEND_KEY, pairs[i].value, value_size, &error);
    if (rc == 0) rc = here->put(here->self, "\xff", 1, &number, sizeof number, &error);
    if (rc == 0) rc = here->commit(here->self, GALE_STORE_SYNC, NULL, &error);
    return rc < 0 ? refuse(&error, why) : 0;
}

static int get(void *of, const void *key, size_t key_size, void *value, size_t room, char *why) {
    gale_error error = GALE_ERROR_INIT;
    gale_store *here = of;
    size_t size = 0;
    int rc = here->get(here->self, key, key_size, value, room, &size, &error);
    if (rc == GALE_NOT_FOUND) return 0;
    return rc < 0 ? refuse(&error, why) : (int)size;
}

typedef struct scan_user {
    void (*each)(void *, const void *, size_t, const void *, size_t);
    void *user;
    int64_t count;
} scan_user;

static int one(void *user, const void *key, size_t key_size, const void *value, size_t size) {
    scan_user *to = user;
    to->each(to->user, key, key_size, value, size);
    to->count++;
    return 0;
}

static int64_t scan(void *of, const void *prefix, size_t prefix_size,
                    void (*each)(void *, const void *, size_t, const void *, size_t), void *user, char *why) {
    gale_error error = GALE_ERROR_INIT;
    gale_store *here = of;
    scan_user to = { each, user, 0 };
    int rc = here->iterate(here->self, prefix, prefix_size, NULL, 0, one, &to, &error);
    return rc < 0 ? refuse(&error, why) : to.count;
}

static void close_store(void *of) {
    gale_store *here = of;
    here->close(here->self);
    free(here);
}

static int tidy(void *of, char *why) {
    gale_error error = GALE_ERROR_INIT;
    gale_store *here = of;
    return here->tidy(here->self, &error) < 0 ? refuse(&error, why) : 0;
}

const backend backend_gale = { "gale", open_store, commit, get, scan, close_store, tidy };
