/* head/head.h: whether the head of a request can be read in one way only. Both HTTP doors look at each head before
 * anything else, since what two servers read in two ways lets a client hide a request in another one (request
 * smuggling).
 *
 * What:    refused are: a target that is not a path (absolute form, RFC 9112 3.2.2), more than one Host,
 *          Content-Length or Transfer-Encoding, both of the latter, another coding than chunked or one in HTTP/1.0, a name that is not a token, control characters
 *          in a value, a value that goes on in the next line (obs-fold), and a line that ends without a return.
 *          A head has at most HEAD_MAX bytes and HEAD_LINES_MAX lines behind its first one.
 *          What goes on, and lines without a return, are not in the values that libmicrohttpd 0.9.75 hands on, but in
 *          where they lie: it reads a head in place, so that names and values are as far from each other as they were
 *          sent. Newer versions refuse both themselves (MHD_OPTION_STRICT_FOR_CLIENT); head_is_read_in_place knows
 *          which version does what.
 * Threads: any. Owner: texts are borrowed, and a check is good until its head is gone.
 * Errors:  half a sentence ("has two lengths"), a literal. */
#ifndef GALE_HEAD_HEAD_H
#define GALE_HEAD_HEAD_H

#include <gale/base.h>

enum { HEAD_MAX = 16 << 10, HEAD_LINES_MAX = 128 };

typedef struct head_check {
    const char *start, *end; /* of what was seen: the method, the last value */
    uint32_t lines, hosts, lengths, codings;
    bool in_place;
    bool old;       /* HTTP/1.0 */
    bool too_large; /* that is why */
    const char *why;
} head_check;

/* `version` is libmicrohttpd's: "0.9.75". */
bool head_is_read_in_place(const char *version);

/* `target` as it came; `method`, `target` and `protocol` end with a NUL. */
void head_begin(head_check *check, const char *method, const char *target, const char *protocol, bool in_place);

/* In the order in which they came. */
void head_line(head_check *check, const char *name, const char *value);

/* `size`: of the head, with the empty line; 0: not known. NULL: it can be read in one way only. */
const char *head_end(head_check *check, size_t size);

#endif
