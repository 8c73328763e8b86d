/* wire/finding.h: where a server is: the addresses of its name, without waiting for them.
 *
 * What:    the system's resolver (getaddrinfo) waits: for /etc/hosts and the like not for long, for a name server that is away half a minute. So
 *          a name is looked up by a thread of its own, which ends then; an address in digits and a path need none.
 *
 *              wire_find --digits, a path--> found
 *                  '------a name----------> thread --done--> readable --wire_finding_take--> found, or why not
 *                                              '--nobody waits any more (wire_finding_leave)--> frees itself
 *
 * Threads: one at a time, beside the one that looks. Owner: a finding is left once, taken before or not. */
#ifndef GALE_WIRE_FINDING_H
#define GALE_WIRE_FINDING_H

#include "wire/settings.h"

#include <sys/socket.h>

enum { WIRE_ADDRESSES = 8, WIRE_WHY_MAX = 400 };

typedef struct wire_address {
    socklen_t size;
    struct sockaddr_storage bytes;
} wire_address;

typedef struct wire_addresses {
    wire_address list[WIRE_ADDRESSES]; /* of more the first, in the resolver's order */
    size_t count;
} wire_addresses;

typedef struct wire_finding wire_finding;

/* 0: they are in `to`. GALE_AGAIN: `*ret_finding` has a thread that looks. Else a sentence in `why`. */
int wire_find(const wire_settings *settings, wire_addresses *to, wire_finding **ret_finding, char why[WIRE_WHY_MAX]);

/* Readable when it is done. */
int wire_finding_fd(const wire_finding *finding);

/* What was found. GALE_AGAIN: it is not done; GALE_IO: nothing, for `why`. */
int wire_finding_take(wire_finding *finding, wire_addresses *to, char why[WIRE_WHY_MAX]);

/* Nobody waits for it any more; NULL: nobody did. */
void wire_finding_leave(wire_finding *finding);

#endif
