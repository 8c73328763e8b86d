/* One line of a web server's access log, in the Common Log Format or the Combined one:
 *
 *      host ident user [10/Oct/2000:13:55:36 -0700] "request" status bytes
 *      host ident user [10/Oct/2000:13:55:36 -0700] "request" status bytes "referer" "agent"
 *
 * A user's name may hold blanks. A line with more words before the time (a virtual host, the addresses of
 * X-Forwarded-For)
 * is refused: one of them is then an address or a dash where no name has one. A quotation mark inside quotes has a
 * backslash before it; escapes are left as they stand, because servers differ in
 * them. What follows the agent after a blank is the server's own and is passed over. Threads: any. Owner: pieces borrow
 * from the line. */
#ifndef GX_KIT_LOG_LINE_H
#define GX_KIT_LOG_LINE_H

#include "base/str.h"

typedef struct gx_log_line {
    gale_str host;
    gale_str user; /* data NULL: none, "-" in the log; so are the next three */
    gale_str request;
    gale_str referer;
    gale_str agent;
    gale_str method; /* data NULL: the request is none, "GET /path?query HTTP/1.1"; so are the next three */
    gale_str path;
    gale_str query;    /* without '?'; data NULL: none */
    gale_str protocol; /* data NULL: none, as in HTTP/0.9 */
    int64_t time;      /* seconds since 1970-01-01 00:00:00 UTC; a leap second is the one after it */
    int64_t bytes;     /* "-" is 0, as it is for the server */
    int64_t status;
} gx_log_line;

/* GALE_INVALID for what is no such line: `*ret_problem` (static) says which part is wrong, the line is untouched. */
int gx_log_line_parse(gale_str text, gx_log_line *ret_line, const char **ret_problem);

#endif
