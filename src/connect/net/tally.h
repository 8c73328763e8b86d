/* The sentence at the end of a socket: what has happened, and nothing that has not.
 * Threads: any. Owner: the rows are the caller's. */
#ifndef GX_CONNECT_NET_TALLY_H
#define GX_CONNECT_NET_TALLY_H

#include <stddef.h>
#include <stdint.h>

typedef struct gx_net_tally {
    uint64_t count;
    const char *noun; /* one of them: "record" */
    const char *what; /* was done to them: "cut off" */
} gx_net_tally;

/* "2 records were cut off, 1 connection was reset", as far as there is room: how many bytes; 0 where nothing has happened. */
size_t gx_net_tally_text(const gx_net_tally *list, size_t count, char *to, size_t room);

#endif
