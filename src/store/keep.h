/* Copies of a store that a process has open, made by that process: between two commits nobody writes the files.
 *
 *     gale-store.keep.N       "keep\n" and the folder that is to be made, by whoever asks, who holds
 *     gale-store.keep.N.lock  as long as he waits: what a killed one has asked for is not done, and goes
 *
 * What:    the process that has the store looks for such files when it tidies up; a copy that is there is told by removing
 *          the file, one that could not be made by "failed CODE\n" and why, in its place.
 * Threads: the committer's; gx_keep_is_asked any. */
#ifndef GX_STORE_KEEP_H
#define GX_STORE_KEEP_H

#include "store/durable.h"

/* Does somebody ask? */
bool gx_keep_is_asked(const gx_store *store);

/* Does what is asked for. Between commits, with nothing given to SQLite. */
void gx_keep_serve(const gx_store *store);

#endif
