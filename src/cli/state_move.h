/* What is behind `gale state export`, `import` and `reset`.
 * Threads: one at a time. */
#ifndef GX_CLI_STATE_MOVE_H
#define GX_CLI_STATE_MOVE_H

#include "front/saved_pair.h"

/* Writes all of a store as JSON lines to a file; "-" is the standard output. GALE_NOT_FOUND: it has no checkpoint. */
int gx_state_export(const gale_store *store, const char *folder, const char *path, gale_error *error);

/* The lines of at most `limit` keys of a component's keyed state (0: all), as in an export, or as text: state, key, value. 1:
 * there are more. */
int gx_state_keys(const gale_store *store, const char *component, uint64_t limit, bool json, gx_buf *out,
                  gale_error *error);

/* Makes a folder of an export; "-" is the standard input. It comes whole or not at all. GALE_EXISTS: the folder is not empty. What
 * is wrong with a line: GALE_SYNTAX, GALE_TYPE, GALE_NOT_FOUND, GALE_UNSUPPORTED. */
int gx_state_import(const char *folder, const char *path, uint64_t *ret_checkpoint, gale_error *error);

/* Forgets what components have saved, in one commit; the next run is told that they begin anew. */
int gx_state_forget(const gale_store *store, const gx_saved_head *head, const char *const *components, size_t count,
                    gale_error *error);

#endif
