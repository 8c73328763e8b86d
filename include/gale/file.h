/* gale/file.h: lines from files and pipes, tuples to files.
 *
 * What:    a spout that reads lines and a bolt that writes them; built on gale/component.h alone.
 * Threads: any thread for the functions here.
 * Owner:   arguments are copied. A definition that is not added must be given back: d.free_user(d.user).
 * Limits:  a line has at most GALE_LINE_MAX bytes; a longer one stops the run, with its number.
 */
#ifndef GALE_FILE_H
#define GALE_FILE_H

#include <gale/component.h>

GALE_BEGIN

#define GALE_LINE_MAX ((size_t)64 << 20)

/* Emits the lines of a file, without their ends ("\n" or "\r\n"), tracked. Output: (line): a string, or bytes when the
 * line is not UTF-8. A line that fails is emitted again, until it has been tried `max_attempts` times; then it is
 * reported and given up. With several tasks, task i of n takes the lines i, i + n, ... Obeys `gale.input` (another
 * path) and `gale.rate` (lines a second and task). */
typedef struct gale_file_spout_options {
    size_t size;
    const char *path;      /* "-" is the standard input; several tasks cannot share it or a pipe */
    uint32_t max_attempts; /* 0: 3 */
    bool repeat;           /* begin again at the end (files only), without end */
} gale_file_spout_options;
GALE_API GALE_MUST_USE int gale_file_spout(const gale_file_spout_options *options, gale_spout *ret_spout,
                                           gale_error *error);

/* Writes each tuple as a line. Simple: a tuple is acked when its line is in the writer's buffer; the buffer is written
 * out every second, when it is full and at the end. A write that fails stops the run. With several tasks, task i > 0
 * writes to `path`.i. Obeys `gale.output` (another path). */
typedef enum gale_file_format {
    GALE_FILE_TSV, /* values as they are, with tabs between them; a tab, newline or return inside a value becomes \t, \n,
                      \r, null is \N. Who must tell those from a backslash and a letter takes JSON */
    GALE_FILE_JSON /* {"field": value, ...} */
} gale_file_format;
typedef struct gale_file_sink_options {
    size_t size;
    const char *path; /* "-" is the standard output */
    int32_t format;
    bool append; /* default: an existing file is replaced */
} gale_file_sink_options;
GALE_API GALE_MUST_USE int gale_file_sink_bolt(const gale_file_sink_options *options, gale_bolt *ret_bolt,
                                               gale_error *error);

GALE_END

#endif
