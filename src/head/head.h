/* head/head.h: whether a request can be read in one way only. Both HTTP doors look at each head, chunk and trailer
 * before anything else, since bytes that two servers read in two ways let a client hide a request in another one
 * (request smuggling).
 *
 * What:    refused are: a target that is not a path (absolute form, RFC 9112 3.2.2) or has a fragment, a control
 *          character or a NUL; more than one space in the first line; two headers of a name that has one value (Host,
 *          Content-Length, Authorization, ...); a length with a coding, another coding than chunked, or one in
 *          HTTP/1.0; a name that is not a token, control characters in a value, a value that goes on in the next line
 *          (obs-fold), and a line that ends without a return, also a chunk's.
 *          A head has at most HEAD_MAX bytes and HEAD_LINES_MAX lines behind its first one.
 * Lenient: libmicrohttpd 0.9.75 takes the last three silently. It reads in place, so that names, values and chunks are
 *          as far from each other as they were sent: their distances show it. A chunk's line that comes in a packet
 *          of its own is overwritten before anything is called, and so is the last chunk's. Therefore a connection is
 *          closed behind each request in chunks (head_chunks), and nothing can hide behind it (RFC 9112 6.1).
 *          Newer versions refuse all of it themselves (MHD_OPTION_STRICT_FOR_CLIENT); head_is_read_in_place knows
 *          which version does what.
 * Threads: any. Owner: texts are borrowed, and a check is good until its head is gone.
 * Errors:  half a sentence ("has two lengths"), a literal. */
#ifndef GALE_HEAD_HEAD_H
#define GALE_HEAD_HEAD_H

#include <gale/base.h>

enum { HEAD_MAX = 16 << 10, HEAD_LINES_MAX = 128 };

typedef struct head_check {
    const char *start, *end; /* of what was seen: the method, the last value */
    const char *body;        /* these lines are behind it; NULL: they are the head's */
    uint32_t lines;
    uint32_t seen; /* bits: which of the names that have one value */
    bool in_place;
    bool old;       /* HTTP/1.0 */
    bool too_large; /* that is why */
    const char *why;
} head_check;

/* `version` is libmicrohttpd's: "0.9.75". */
bool head_is_read_in_place(const char *version);

/* A request's target, where it lies. */
typedef struct head_target {
    const char *start, *end;
    const char *why; /* it is refused; NULL: it is not */
} head_target;

/* `target` as it came, before it is taken to pieces; NULL: there is none. */
head_target head_look_at_target(const char *target);

/* `method` and `protocol` end with a NUL. */
void head_begin(head_check *check, const char *method, const head_target *target, const char *protocol, bool in_place);

/* The lines behind a body in chunks that begins at `body`; head_line follows, and `why` is the result. */
void head_begin_trailer(head_check *check, const char *body);

/* In the order in which they came. */
void head_line(head_check *check, const char *name, const char *value);

/* `size`: of the head, with the empty line; 0: not known. NULL: it can be read in one way only. */
const char *head_end(head_check *check, size_t size);

/* Of a head that is taken: where its body begins if that is in chunks whose lines are read leniently; then the
 * connection is closed behind it. NULL: nothing is to be done. */
const char *head_chunks(const head_check *check);

/* `data`: the bytes of a body that begins at `body`, as they come. NULL: the line of their chunk is well formed, or
 * cannot be seen. */
const char *head_chunk(const char *body, const char *data);

#endif
