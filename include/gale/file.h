/* gale/file.h: lines from files and pipes, tuples to files.
 *
 * What:    a spout that reads lines and a bolt that writes them; built on gale/component.h alone.
 * Threads: any thread for the functions here.
 * Owner:   arguments are copied. A definition that is not added must be given back: d.free_user(d.user).
 * Misuse:  every function checks, as in gale/kit.h.
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
 * path) and `gale.rate` (lines a second and task).
 *
 * With `state`, the spout keeps the place of its oldest unanswered line in a small file of that name, and goes on from
 * there when it opens again, after a crash too (and says so, gale_resume): at least once, because everything before
 * that place was acked or given up. The state file is replaced as a whole and synced to the disk, on the spout's
 * thread: when it opens, when it closes, when all is answered, and at most once in `state_interval` seconds while
 * answers move. What was answered after the last write comes again. Task i > 0 keeps `state`.i.
 *
 * A state belongs to one run at a time: beside it stands `state`.lock, locked as long as the task is open, and a second
 * run is refused (GALE_STATE) with the number of the process that has it. A new state is written to `state`.new, which
 * then takes the name. All three are their owner's alone (mode 0600); a symbolic link, a pipe or the like in the place
 * of one of them is refused, neither followed nor waited for.
 *
 * The file may grow between runs, be moved and copied. Errors that say so are: a file that was truncated below the
 * place, another file (its first 4 KiB or the 4 KiB before the place differ), another number of tasks, a damaged state
 * file, and an input that is not a regular file or is the state itself. None of them is passed over, because the
 * place would be lost: who wants to begin anew removes the state file. */
typedef struct gale_file_spout_options {
    size_t size;
    const char *path;      /* "-" is the standard input; several tasks cannot share it or a pipe */
    uint32_t max_attempts; /* 0: 3 */
    bool repeat;           /* begin again at the end (files only), without end */
    const char *state;     /* path of the state file; NULL: none, the file is read from its beginning */
    double state_interval; /* seconds; 0: 1 */
} gale_file_spout_options;
GALE_API GALE_MUST_USE int gale_file_spout(const gale_file_spout_options *options, gale_spout *ret_spout,
                                           gale_error *error);

/* Writes each tuple as a line. A tuple is acked once its line was handed to the operating system: lines gather while
 * there are more tuples to execute, are written in one go, and then their tuples are acked (`flush` of gale/component.h).
 * What was acked survives the process, kill -9 included; with `sync` the disk is waited for as well, and it survives the
 * machine. A write that fails stops the run, names the file and acks nothing: what the file took of those lines is cut
 * off again, and the spouts hear `stopped`.
 *
 * An existing file is replaced when the run begins anew, and gone on with when it is the rest of an earlier one: when a
 * file spout goes on from its state, or another spout says so (gale_resume). Half a line that a killed run left at the
 * end is cut then; its tuple was not acked, and comes again. With `append` the file is always gone on with; half a line
 * at the end is given its newline, unless the run is the rest of an earlier one. All this happens with the first line, or
 * at the end of the input: a run that cannot start leaves the file as it is.
 *
 * A regular file belongs to one sink of one run at a time: it is locked while that lasts, and another is refused
 * (GALE_STATE).
 * With several tasks, task i > 0 writes to `path`.i. The state of a file spout is not written to. Obeys `gale.output`
 * (another path). */
typedef enum gale_file_format {
    GALE_FILE_TSV, /* values as they are, with tabs between them; a tab, newline or return inside a value becomes
                      \t, \n, \r, null is \N. Who must tell those from a backslash and a letter takes JSON */
    GALE_FILE_JSON /* {"field": value, ...} */
} gale_file_format;
typedef struct gale_file_sink_options {
    size_t size;
    const char *path; /* "-" is the standard output */
    int32_t format;
    bool append; /* what the file holds stays, also when the run begins anew */
    bool sync;   /* wait for the disk before tuples are acked */
} gale_file_sink_options;
GALE_API GALE_MUST_USE int gale_file_sink_bolt(const gale_file_sink_options *options, gale_bolt *ret_bolt,
                                               gale_error *error);

GALE_END

#endif
