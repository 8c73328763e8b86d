/* What the tuples of a spout of sockets have: parts of the record, in the order that the options name.
 * Threads: any. Owner: a row is a value; the definition's output borrows from it. */
#ifndef GX_CONNECT_NET_ROW_H
#define GX_CONNECT_NET_ROW_H

#include "base/port.h"

#include <gale/error.h>

typedef enum gx_net_part {
    GX_NET_LINE,
    GX_NET_PEER,
    GX_NET_NUMBER,
    GX_NET_RECEIVED,
    GX_NET_FACILITY,
    GX_NET_FACILITY_NAME,
    GX_NET_SEVERITY,
    GX_NET_SEVERITY_NAME,
    GX_NET_TIME,
    GX_NET_HOST,
    GX_NET_APP,
    GX_NET_PROCID,
    GX_NET_MSGID,
    GX_NET_DATA,
    GX_NET_STRUCTURED,
    GX_NET_MESSAGE,
    GX_NET_PARTS
} gx_net_part;

typedef struct gx_net_row {
    uint32_t count;
    bool syslog;
    uint8_t parts[GX_NET_PARTS];
    char fields[200]; /* "line, peer" */
} gx_net_row;

/* `text` has names, each once; NULL or "": "line", or what a syslog message says. GALE_INVALID. */
int gx_net_row_parse(const char *text, bool syslog, gx_net_row *ret_row, gale_error *error);

#endif
