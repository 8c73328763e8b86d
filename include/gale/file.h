/* gale/file.h: lines from files and pipes, tuples to files.
 *
 * What:    a spout that reads lines and a bolt that writes them; built on gale/component.h alone.
 * Threads: any thread for the functions here.
 * Owner:   arguments are copied. A definition that is not added must be given back: d.free_user(d.user).
 * Misuse:  every function checks, as in gale/kit.h.
 * Limits:  a line has at most GALE_LINE_MAX bytes, or the options' `longest`; a longer one is cut or dropped, and logged.
 */
#ifndef GALE_FILE_H
#define GALE_FILE_H

#include <gale/component.h>

GALE_BEGIN

#define GALE_LINE_MAX ((size_t)64 << 20)

/* Emits the lines of a file, without their ends ("\n" or "\r\n"), tracked. Output: (line): a string, or bytes when the
 * line is not UTF-8. With `emit`, also where it stands: offset (of its first byte, in bytes), number (from 1), file (the
 * path that was told). They are the same when a line comes again, and after a resume. A line that fails is emitted again, until it has been tried `max_attempts` times; then it is
 * reported and given up. Task i of n takes the lines that begin in the blocks i, i + n, ... of 1 MiB; with `number`
 * each reads the whole file. Obeys `gale.input` (another path) and `gale.rate` (lines a second and task).
 *
 * With `state`, the spout keeps the place of its oldest unanswered line in a small file of that name, and goes on from
 * there when it opens again, after a crash too (and says so, gale_resume): at least once, because everything before
 * that place was acked or given up. The state file is replaced as a whole and synced to the disk, on the spout's
 * thread: when it opens, when it closes, when all is answered, and at most once in `state_interval` seconds while
 * answers move. What was answered after the last write comes again. A run that was killed before the first answer is
 * gone on with too; one that ends in order without any leaves no state file. Task i > 0 keeps `state`.i.
 *
 * A state belongs to one run at a time: beside it stands `state`.lock, locked as long as the task is open, and a second
 * run is refused (GALE_STATE) with the number of the process that has it. A new state is written to `state`.new, which
 * then takes the name. All three are their owner's alone (mode 0600); a symbolic link, a pipe or the like in the place
 * of one of them is refused, neither followed nor waited for.
 *
 * The file may grow between runs, be moved and copied. Errors that say so are: a file that was truncated below the
 * place, another file (its first 4 KiB or the 4 KiB before the place differ), another number of tasks, a damaged state
 * file, and an input that is not a regular file or is the state itself. None of them is passed over, because the
 * place would be lost: who wants to begin anew removes the state file.
 *
 * In a durable run (gale/state.h) the position and the lines that are open are part of each checkpoint, under their message
 * ids, and `state` is not used. A run that goes on from a checkpoint finds the file by its inode, also when it was renamed
 * within its folder (rotated). One that was truncated, replaced or is gone is refused, and so is a pipe of which something
 * was read. Another number of tasks reads each line once, too. What came behind the end is read, but refused by a run that had come to its end.
 *
 * With `follow` the end of a file is no end: the spout waits for more, by notification. A file that is renamed is read to its
 * end, and left when it has a successor and was quiet for `rotate_wait`; one that was cut is read from its beginning; one that
 * is not there yet is waited for. The last part of `path` may be a pattern (glob(3)). Several tasks divide the files
 * among them, by inode; `file` is what a file was called when it was found. Half a line at the end waits for its newline.
 * In a durable run what is followed is gone on with as docs/semantics/durable-files.md says; `state` and `repeat` exclude it. */
typedef struct gale_file_spout_options {
    size_t size;
    const char *path;      /* "-" is the standard input; the first task reads it, as it does a pipe */
    uint32_t max_attempts; /* 0: 3 */
    bool repeat;           /* begin again at the end (files only), without end */
    const char *state;     /* path of the state file; NULL: none, the file is read from its beginning */
    double state_interval; /* seconds; 0: 1 */
    const char *emit;      /* the output's fields: "line, offset, number, file", or some of them; NULL: "line" */
    bool follow;           /* wait for more at the end; the last part of `path` may be a pattern */
    bool from_end;         /* follow: what is there when the first run begins is not read */
    double rotate_wait;    /* follow, seconds: how long a renamed file must be quiet until it is left; 0: 5 */
    uint32_t max_open;     /* follow: files that a task has open at once; 0: 128 */
    uint64_t longest;      /* bytes of a line without its end, at most GALE_LINE_MAX; 0: that many */
    bool drop_long; /* drops a line that is longer; otherwise it is cut to `longest`. Each is logged with its number */
} gale_file_spout_options;
GALE_API GALE_MUST_USE int gale_file_spout(const gale_file_spout_options *options, gale_spout *ret_spout,
                                           gale_error *error);

/* What packs the lines of a sink. A file is a sequence of members that can each be unpacked. All that was given to a member can be
 * read from what it has put so far, also when nothing more comes; what a killed run has left is read so.
 *
 * `open` begins a packer, or returns NULL when memory is out. `pack` packs `bytes` into its member, which begins with the first
 * of them, and with `ends` ends it; it puts what comes of that, and returns what `put` returned below 0, or GALE_NO_MEMORY: then the
 * packer is of no use any more. `mend` reads what a file holds and says how it is made whole. GALE_INVALID: it is nothing of
 * this codec's; or what `get` returned below 0; GALE_NO_MEMORY.
 * Threads: a packer belongs to one at a time. Owner: a codec lives as long as the program. */
typedef int gale_file_put_fn(void *user, const void *bytes, size_t size);
typedef int64_t gale_file_get_fn(void *user, void *bytes, size_t size); /* the next ones; 0 at the end */
enum { GALE_FILE_TAIL = 32 };
typedef struct gale_file_mended {
    int64_t size;       /* what can be unpacked, up to the end of a line; the rest is to be cut off */
    size_t tail_size;   /* and this is to stand behind it */
    int64_t plain_size; /* what all of it unpacks to */
    unsigned char tail[GALE_FILE_TAIL];
} gale_file_mended;
typedef struct gale_file_codec {
    size_t size;
    const char *ending; /* of its files' names: ".gz" */
    void *(*open)(void);
    int (*pack)(void *packer, const void *bytes, size_t size, bool ends, gale_file_put_fn *put, void *user);
    void (*close)(void *packer);
    int (*mend)(gale_file_get_fn *get, void *user, gale_file_mended *ret_mended);
} gale_file_codec;

/* Writes each tuple as a line. A tuple is acked once its line was handed to the operating system: lines gather while
 * there are more tuples to execute, are written in one go, and then their tuples are acked (`flush` of gale/component.h).
 * What was acked survives the process, kill -9 included; with `sync` the disk is waited for as well, and it survives the
 * machine. A write that fails stops the run, names the file and acks nothing: what the file took of those lines is cut
 * off again, and the spouts hear `stopped`.
 *
 * A file that holds something is replaced with `overwrite` alone: otherwise a run that begins anew stops (GALE_EXISTS). It
 * is gone on with when the run is the rest of an earlier one: when a file spout goes on from its state, or another spout
 * says so (gale_resume). Half a line that a killed run left at the end is cut then; its tuple was not acked, and comes
 * again. With `append` the file is always gone on with; half a line at the end is given its newline, unless the run is the
 * rest of an earlier one. All this happens with the first line, or at the end of the input: a run that cannot start leaves
 * the file as it is.
 *
 * In a durable run (gale/state.h) a checkpoint has the file's end, and what it has written is synced before the checkpoint
 * lasts. A run that goes on from one cuts the file back to that end, whatever the options say; a file that is shorter,
 * another one or gone is refused, one that was renamed within its folder is gone on with under its new name. Any other
 * file that holds something is refused as above: another state may know it. A durable run writes nothing before its first
 * checkpoint, so it never finds a beginning of its own there. What is no regular file cannot be cut back: lines since the last checkpoint come again then.
 *
 * A regular file belongs to one sink of one run at a time: it is locked while that lasts, and another is refused
 * (GALE_STATE).
 * With several tasks, task i > 0 writes to `path`.i, unless the path has {task}. The state of a file spout is not written to. Obeys
 * `gale.output` (another path) and `gale.overwrite`.
 *
 * The path may have places in it for what a tuple says, and then each tuple goes to the file that it names:
 *
 *     out/{host}/{time:%Y-%m-%d}.log
 *
 * {name} is the value of a field, {name:%Y-%m-%d} a field that has seconds since 1970 as a date in UTC, {now:%Y-%m-%d} the wall
 * clock, {task} the number of the task from 0; {{ and }} are braces. The formats of dates are those of strftime, without a locale:
 * %Y %y %m %d %e %j %H %I %p %M %S %f %L %b %B %a %A %z %Z %s %F %T %%. A value never leads elsewhere: in it '/', '%', control
 * characters and a dot at its beginning become %2F and so on, an empty one is %empty, null is %null, and one that is too long for
 * a name (100 bytes; less where several share a name) is cut, with %~ and a hash at its end. Folders are made. A tuple that lacks
 * such a field, or has no time in it, fails. Files are opened with their first tuple, and all that is said above of the file holds for each: one
 * that holds something stops the run unless it may be replaced, or gone on with. At most `max_open` are open; others are
 * closed, and opened again when a tuple names them. In a durable run each task keeps a hidden list of the
 * files that it has made, `.gale-COMPONENT-TASK-...` in the folder of the part of the path that does not vary; a run that goes on removes those that
 * were begun since the checkpoint, cuts the others back, and warns of those that were taken away. There a path has at most 2,000 bytes:
 * longer ones fail their tuples.
 *
 * With `rotate_bytes` a file that would become larger, and with `rotate_every` one whose lines are of an earlier hour or day, gets a
 * number, `path`.000001 and so on, and another one begins under the path. Numbers only grow: such a name is of one file for
 * ever. Lines stay whole; one that is longer than `rotate_bytes` has a file alone. In a durable run this is exact: a run that
 * goes on removes what was begun since the checkpoint, and files that are not kept go when a checkpoint lasts. A file with a
 * number that a checkpoint with a name needs must not be gone when a run goes on from that. */
typedef enum gale_file_format {
    GALE_FILE_TSV, /* values with tabs between them; a tab, newline, return or backslash inside a value becomes \t, \n, \r or
                       \\, null is \N: PostgreSQL's COPY reads it so. Types are not written: 5 and "5" are the same field */
    GALE_FILE_JSON, /* {"field": value, ...} */
    GALE_FILE_CSV, /* RFC 4180: a value that holds a comma, a quotation mark or an end of line stands between quotation marks;
                       null is nothing, an empty text "". Lines end with a newline alone */
    GALE_FILE_TEXT /* one value as it is: of the field in `fields`, or the first. Null is an empty line. What holds an end of
                       line makes several */
} gale_file_format;
typedef struct gale_file_sink_options {
    size_t size;
    const char *path; /* "-" is the standard output */
    int32_t format;
    bool append;    /* what the file holds stays, also when the run begins anew */
    bool sync;      /* wait for the disk before tuples are acked */
    bool overwrite; /* what the file holds goes when the run begins anew; without it, that is refused */
    const char
        *fields; /* what is written, in this order: "path, count"; NULL or "": all. A tuple that lacks one fails */
    uint32_t max_open; /* files that a task has open at once, at most 10000; 0: 64 */
    const gale_clock
        *clock; /* what {now} and rotate_every go by, nanoseconds since 1970, copied; NULL: the machine's wall clock */
    uint64_t rotate_bytes; /* a file that would have more gets a number; 0: never */
    double rotate_every;   /* seconds; so does one with lines of an earlier multiple of it since 1970; 0: never */
    uint32_t keep;         /* so many files with numbers stay; 0: all */
    const gale_file_codec
        *codec; /* packs the files, whose names end with its ending, which is added where it lacks; borrowed for ever.
                                     `rotate_bytes` are before it. NULL: none */
    bool
        header; /* the first line of each file names its columns, of formats csv and tsv: the fields that are written. Without `fields`, all
                    inputs must have the same. A file that holds something is given none */
} gale_file_sink_options;
GALE_API GALE_MUST_USE int gale_file_sink_bolt(const gale_file_sink_options *options, gale_bolt *ret_bolt,
                                               gale_error *error);

GALE_END

#endif
