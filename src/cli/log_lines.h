/* Log lines: their form, a file of their own, and lines that come again.
 *
 *     text                "12:03:04.123 WARN count: text"; in a file "2026-11-23T12:03:04.123Z WARN count: text"
 *     JSON                {"time":"2026-11-23T12:03:04.123Z","level":"warn","component":"count","message":"text"}
 *
 * What:    a line that comes again within a second, whatever came between, is only counted; before it is shown anew, and when asked, it
 *          is repeated once with how often it came: "(3 times more)" behind it, or "repeated":3. So many different ones are known:
 *          GX_LOG_LINES_RECENT. Of warnings that differ in numbers and names alone a few of a second are shown, and the last of the others with
 *          how many there were: "(and 960 more like it)", or "alike":960 (cli/log_alike.h). What is secret is not said (base/secret.h), and what could steer a terminal is written out (base/visible.h),
 *          in JSON so that it still means what it replaces. A file that takes no more lines (a full disk) does not stop who logs:
 *          they are counted, and when it takes lines again, the first one says how many are lacking. One that somebody has removed is made
 *          anew, and says so; it is looked at once a second.
 * Threads: one at a time. Owner: the path is borrowed.
 */
#ifndef GX_CLI_LOG_LINES_H
#define GX_CLI_LOG_LINES_H

#include "base/buf.h"
#include "cli/log_alike.h"

#include <gale/error.h>
#include <gale/log.h>

enum { GX_LOG_LINES_RECENT = 8 };

typedef struct gx_log_recent {
    gx_buf body;      /* a line without its time and its end; empty: none */
    int64_t time;     /* when it was shown */
    uint64_t repeats; /* how often it came again since */
} gx_log_recent;

typedef struct gx_log_lines {
    bool json;
    const char *path; /* NULL: there is no file, and who asks for lines writes them */
    int fd;
    gx_log_recent recent[GX_LOG_LINES_RECENT];
    gx_log_alike alike;
    int64_t looked; /* when it was seen last that the file has its name still */
    uint64_t lost;  /* lines that the file did not take, since the last one that it did */
} gx_log_lines;

#define GX_LOG_LINES_INIT                                                                                              \
    { .fd = -1 }

/* From now on lines go to this file, behind what it holds. GALE_IO: they go where they went. */
int gx_log_lines_open(gx_log_lines *lines, const char *path, gale_error *error);

/* Opens it again by its name: another file may have that by now. GALE_IO: lines go on to the one that is open. */
int gx_log_lines_reopen(gx_log_lines *lines, gale_error *error);

/* Logs a line; what is to be written for it goes to `out`, or to the file. `text` may have several lines: as text, those behind the
 * first are indented. */
void gx_log_lines_add(gx_log_lines *lines, int64_t now, int32_t level, const char *component, const char *text,
                      gx_buf *out);

/* Lines that came again, with how often. */
void gx_log_lines_repeat(gx_log_lines *lines, int64_t now, gx_buf *out);

/* Frees, and closes the file. */
void gx_log_lines_fini(gx_log_lines *lines);

#endif
