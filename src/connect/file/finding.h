/* Which files there are now, of those that are followed: new ones come into the set, those that lost their name part, and
 * known ones are known again by inode and content.
 * Threads: one at a time. */
#ifndef GX_CONNECT_FILE_FINDING_H
#define GX_CONNECT_FILE_FINDING_H

#include "connect/file/tails.h"

/* Looks for names. Before `f->begun` it also takes copies for the files that an earlier run had, and passes over what there is
 * where only what comes is wanted. GALE_IO, GALE_INVALID, GALE_NO_MEMORY. */
int gx_file_finding_look(gx_file_followed *f, gale_error *error);

#endif
