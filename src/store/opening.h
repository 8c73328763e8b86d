/* From a folder to a store that is open, or to a sentence that says why not.
 * Threads: one at a time. */
#ifndef GX_STORE_OPENING_H
#define GX_STORE_OPENING_H

#include "store/durable.h"

/* `store` has its heap, its folder and its sizes; it is to be closed (gx_opening_undo) also when this fails. */
int gx_opening_open(gx_store *store, const char *topology, bool create, gale_error *error);

/* Closes what is open of it. */
void gx_opening_undo(gx_store *store);

#endif
