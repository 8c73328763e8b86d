/* What a service manager is told (systemd's protocol of sd_notify): datagrams to the socket that it names.
 *
 * What:    a text of lines "NAME=VALUE". A manager that does not listen any more, or whose queue is full, misses it: nobody waits for it.
 * Threads: one at a time. Owner: the descriptor; closed by gx_notify_close. */
#ifndef GX_BASE_OS_NOTIFY_H
#define GX_BASE_OS_NOTIFY_H

#include "base/port.h"

#include <gale/error.h>

typedef struct gx_notify {
    int fd; /* -1: nobody is told */
} gx_notify;

#define GX_NOTIFY_INIT                                                                                                 \
    { -1 }

/* `address`: a path that begins with '/', or '@' and an abstract name. GALE_INVALID: neither, or too long; GALE_IO. */
int gx_notify_open(gx_notify *notify, const char *address, gale_error *error);

/* False when it did not arrive. Without a socket nothing is done. */
bool gx_notify_send(const gx_notify *notify, const char *lines);

void gx_notify_close(gx_notify *notify);

#endif
