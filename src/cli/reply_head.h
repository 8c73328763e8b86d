/* The head of an answer by HTTP/1, read: bytes from a socket, of which nothing is taken on trust.
 *
 * What:    "HTTP/1.1 200 OK", lines "Name: value", an empty line, each ended by CR LF. Of the lines, Content-Length is looked at; an answer in
 *          pieces (Transfer-Encoding) is refused, as who asks by HTTP/1.0 must not be given one.
 * Threads: any. Limits: GX_REPLY_HEAD_MAX bytes.
 */
#ifndef GX_CLI_REPLY_HEAD_H
#define GX_CLI_REPLY_HEAD_H

#include "base/port.h"

#include <gale/base.h>

enum { GX_REPLY_HEAD_MAX = 16384 };

typedef struct gx_reply_head {
    unsigned status; /* 100 to 599 */
    size_t size;     /* of the head: the body is behind it */
    bool has_length;
    uint64_t length; /* of the body */
} gx_reply_head;

/* 1: it is whole. 0: more bytes are needed. GALE_INVALID: it is no head of HTTP/1; GALE_TOO_LARGE. */
int gx_reply_head_read(gale_str bytes, gx_reply_head *ret_head);

#endif
