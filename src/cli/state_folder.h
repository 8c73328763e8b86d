/* The folder that a durable run keeps its state in: topology.state.dir, or what `gale run --state` says.
 * What:    where the program was built without SQLite, all that needs a store is GALE_UNSUPPORTED.
 * Threads: one at a time. Owner: who opened the store closes it, after the runtime that used it is freed. */
#ifndef GX_CLI_STATE_FOLDER_H
#define GX_CLI_STATE_FOLDER_H

#include "base/os/file.h"

#include <gale/log.h>
#include <gale/store.h>
#include <gale/topology.h>

/* The folder that the topology's configuration names, which ends with it; NULL: the run is not durable. */
const char *gx_state_folder_of(const gale_topology *topology);

/* Opens its store, making the folder if it is not there. What gale_store_open says. */
int gx_state_folder_open(const gale_topology *topology, gale_store *ret_store, gale_error *error);

/* Opens what is there, whosever it is; `read_only`: not a byte is changed. GALE_STATE: a run has it, and how to get a copy. */
int gx_state_folder_look(const char *folder, bool read_only, gale_store *ret_store, gale_error *error);

/* Makes one for a topology; the folder is not there or is empty. */
int gx_state_folder_make(const char *folder, const char *topology, gale_store *ret_store, gale_error *error);

/* gale_store_copy, gale_store_keep, gale_store_remove. */
int gx_state_folder_copy(const char *from, const char *to, gale_error *error);
int gx_state_folder_keep(const char *from, const char *to, bool (*waits)(void *user), void *user, gale_error *error);
int gx_state_folder_remove(const char *folder, gale_error *error);

/* Where the checkpoint that is kept as `name` lies: FOLDER.NAME, whatever slashes the folder ends with. GALE_INVALID: that is no name;
 * GALE_TOO_LARGE. */
int gx_state_folder_kept(const char *folder, const char *name, char ret_path[GX_FILE_NAME_SIZE], gale_error *error);

/* The folder becomes a copy of the checkpoint that is kept as `name`, unless it is one already. GALE_NOT_FOUND, with the
 * nearest name; GALE_EXISTS: it has a state of its own. */
int gx_state_folder_begin_from(const gale_topology *topology, const char *name, const gale_logger *logger,
                               gale_error *error);

#endif
