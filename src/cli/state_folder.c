#include "cli/state_folder.h"

#include "base/nearest.h"
#include "base/os/folder.h"
#include "base/os/time.h"
#include "base/str.h"
#include "cli/figures.h"
#include "front/saved_pair.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#if GALE_HAS_STORE
#include <gale_store.h>
#endif

const char *gx_state_folder_of(const gale_topology *topology) {
    gale_str folder = { "", 0 };
    folder = gale_config_text(gale_topology_config((gale_topology *)topology), "topology.state.dir", folder);
    return folder.size ? folder.data : NULL;
}

#if GALE_HAS_STORE

static int open_store(const char *folder, const char *topology, bool create, bool read_only, gale_store *ret_store,
                      gale_error *error) {
    gale_store_options options = GALE_STORE_OPTIONS_INIT;
    options.folder = folder;
    options.topology = topology;
    options.create = create;
    options.read_only = read_only;
    return gale_store_open(&options, ret_store, error);
}

int gx_state_folder_copy(const char *from, const char *to, gale_error *error) {
    return gale_store_copy(from, to, error);
}

int gx_state_folder_keep(const char *from, const char *to, bool (*waits)(void *user), void *user, gale_error *error) {
    return gale_store_keep(from, to, waits, user, error);
}

int gx_state_folder_remove(const char *folder, gale_error *error) {
    return gale_store_remove(folder, error);
}

#else

static int no_store(const char *folder, gale_error *error) {
    return gale_error_set(error, GALE_UNSUPPORTED,
                          "'%s': this gale was built without SQLite, and has no store for the state of a run", folder);
}

static int open_store(const char *folder, const char *topology, bool create, bool read_only, gale_store *ret_store,
                      gale_error *error) {
    (void)topology, (void)create, (void)read_only, (void)ret_store;
    return no_store(folder, error);
}

int gx_state_folder_copy(const char *from, const char *to, gale_error *error) {
    (void)to;
    return no_store(from, error);
}

int gx_state_folder_keep(const char *from, const char *to, bool (*waits)(void *user), void *user, gale_error *error) {
    (void)to, (void)waits, (void)user;
    return no_store(from, error);
}

int gx_state_folder_remove(const char *folder, gale_error *error) {
    return no_store(folder, error);
}

#endif

int gx_state_folder_open(const gale_topology *topology, gale_store *ret_store, gale_error *error) {
    return open_store(gx_state_folder_of(topology), gale_topology_name(topology), true, false, ret_store, error);
}

int gx_state_folder_make(const char *folder, const char *topology, gale_store *ret_store, gale_error *error) {
    return open_store(folder, topology, true, false, ret_store, error);
}

int gx_state_folder_look(const char *folder, bool read_only, gale_store *ret_store, gale_error *error) {
    int rc = open_store(folder, NULL, false, read_only, ret_store, error);
    if (rc == GALE_NOT_FOUND) return gale_error_set(error, rc, "there is no state of a run in '%s'", folder);
    if (rc == GALE_STATE && read_only)
        gale_error_add(error, "gale checkpoint NAME --state %s has it keep a copy, which can be looked at", folder);
    else if (rc == GALE_STATE)
        gale_error_add(error, "SIGTERM ends it with a checkpoint");
    return rc;
}

/* --- Checkpoints that are kept ------------------------------------------------------------------------------------ */

/* It becomes a part of a file's name, and what is being made is called .part. */
static bool is_name(const char *name) {
    size_t size = strlen(name);
    bool part = size >= 5 && strcmp(name + size - 5, ".part") == 0;
    return *name && *name != '.' && size <= 100 && !strchr(name, '/') && !strchr(name, '\n') && !part;
}

int gx_state_folder_kept(const char *folder, const char *name, char ret_path[GX_FILE_NAME_SIZE], gale_error *error) {
    size_t size = strlen(folder);
    while (size > 1 && folder[size - 1] == '/') size--;
    if (!is_name(name))
        return gale_error_set(error, GALE_INVALID,
                              "'%.100s' is no name of a checkpoint: it must not be empty, begin with a dot, end with "
                              "'.part' or hold a slash, and has at most 100 bytes",
                              name);
    if (size + strlen(name) + 64 > GX_FILE_PATH_MAX)
        return gale_error_set(error, GALE_TOO_LARGE, "--state: the path is too long");
    snprintf(ret_path, GX_FILE_NAME_SIZE, "%.*s.%s", (int)size, folder, name);
    return GALE_OK;
}

typedef struct names {
    gx_nearest nearest;
    size_t skip;
    char best[256];
} names;

static int offer(void *user, const char *name) {
    names *all = user;
    gx_nearest before = all->nearest;
    if (!is_name(name + all->skip)) return 0;
    gx_nearest_offer(&all->nearest, gx_str(name + all->skip));
    if (all->nearest.best.data == before.best.data && all->nearest.distance == before.distance) return 0;
    snprintf(all->best, sizeof all->best, "%s", name + all->skip); /* the name itself goes */
    all->nearest.best = gx_str(all->best);
    return 0;
}

static int refuse_unknown(const char *folder, const char *kept, const char *name, gale_error *error) {
    char parent[GX_FILE_NAME_SIZE], hint[300];
    const char *slash = strrchr(kept, '/'), *own = slash ? slash + 1 : kept;
    size_t in = slash ? (size_t)(slash - kept) : 0, prefix = strlen(own) - strlen(name);
    snprintf(parent, sizeof parent, "%.*s", slash ? (int)(in ? in : 1) : 1, slash ? kept : ".");
    names all = { gx_nearest_to(gx_str(name)), prefix, "" };
    char begin[GX_FILE_NAME_SIZE];
    snprintf(begin, sizeof begin, "%.*s", (int)prefix, own);
    (void)gx_folder_each(parent, begin, offer, &all, NULL);
    return gale_error_set(error, GALE_NOT_FOUND, "no checkpoint '%s' of '%s' is kept: there is no '%s'%s", name, folder,
                          kept, gx_nearest_hint(&all.nearest, hint, sizeof hint));
}

typedef struct known {
    uint64_t number;
    int64_t wall;
} known;

/* GALE_NOT_FOUND: there is no store; a store without a checkpoint has number 0. */
static int read_known(const char *folder, const char *topology, known *ret_known, gale_error *error) {
    gale_store store;
    gx_saved_head head;
    int rc = open_store(folder, topology, false, true, &store, error);
    if (rc < 0) return rc;
    rc = gx_saved_head_read(&store, &head, error);
    *ret_known = (known){ 0, 0 };
    if (rc == GALE_OK) {
        *ret_known = (known){ head.checkpoint, head.wall };
        gx_saved_head_fini(&head);
    }
    store.close(store.self);
    return rc == GALE_NOT_FOUND ? GALE_OK : rc;
}

static int refuse_own(const char *folder, const known *own, const char *name, gale_error *error) {
    char age[GX_FIGURE_SIZE], what[80] = "a state of its own, without a checkpoint yet";
    int64_t passed = gx_os_wall() - own->wall;
    if (own->number)
        snprintf(what, sizeof what, "checkpoint %" PRIu64 " of its own, %s old", own->number,
                 gx_figure_time((double)(passed > 0 ? passed : 0), age));
    return gale_error_set(
        error, GALE_EXISTS,
        "'%s' has %s; without --from, the run goes on from there; to begin from '%s', forget it first: "
        "gale state reset %s",
        folder, what, name, folder);
}

int gx_state_folder_begin_from(const gale_topology *topology, const char *name, const gale_logger *logger,
                               gale_error *error) {
    const char *folder = gx_state_folder_of(topology);
    char kept[GX_FILE_NAME_SIZE];
    known then = { 0, 0 }, own;
    int rc = gx_state_folder_kept(folder, name, kept, error);
    if (rc == GALE_OK) rc = gx_folder_look(kept, error);
    if (rc == GALE_NOT_FOUND) return refuse_unknown(folder, kept, name, error);
    if (rc == GALE_OK) rc = read_known(kept, gale_topology_name(topology), &then, error);
    if (rc < 0) return rc;
    rc = read_known(folder, NULL, &own, error);
    if (rc == GALE_OK && own.number == then.number && own.wall == then.wall) return GALE_OK;
    if (rc == GALE_OK) return refuse_own(folder, &own, name, error);
    if (rc != GALE_NOT_FOUND) return rc;
    if (error) *error = (gale_error)GALE_ERROR_INIT;
    rc = gx_state_folder_copy(kept, folder, error);
    if (rc == GALE_OK)
        gale_log(logger, GALE_LOG_INFO, NULL, "begins from checkpoint %" PRIu64 ", which is kept as '%s' in '%s'",
                 then.number, name, kept);
    return rc;
}
