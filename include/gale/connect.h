/* gale/connect.h: what sources and sinks of other systems share.
 *
 * What:    what a connector does that is not its protocol, so that it is done once:
 *
 *          - an intake: what a source was given and has no answer to yet. It keeps each row until then, emits it again when it
 *            fails, gives it up when it was tried often enough, keeps gale.rate, and wants no more while it is full.
 *          - positions: of a source that is read in order, what it may be told is done: all before the oldest that is not.
 *          - a dispatch: what a sink was given and nobody has confirmed yet. It holds the tuples, keeps their trees from timing
 *            out, and has those who feed it wait while it has enough.
 *          - epochs: of a durable run, what a sink sends together with a checkpoint, so that it comes once.
 *
 *          A spout is then its system's words, and this around them:
 *
 *              static int next(void *self, gale_collector *out, gale_wait *wait) {
 *                  while (gale_intake_wants(s->intake) && one more is there)
 *                      gale_intake_take(s->intake, values, count, source, place);
 *                  return gale_intake_next(s->intake, wait);
 *              }
 *              ack_batch: gale_intake_ack       fail: gale_intake_fail
 *
 * Threads: the task's. Owner: who makes one frees it, in `close` or `cleanup`.
 * Misuse:  every function checks; NULL is GALE_INVALID, or has nothing.
 */
#ifndef GALE_CONNECT_H
#define GALE_CONNECT_H

#include <gale/component.h>
#include <gale/state.h>

GALE_BEGIN

/* --- What a source was given ---------------------------------------------------------------------------------------- */

typedef struct gale_intake gale_intake;

/* A row has had its last word. In a durable run an ack is told when a checkpoint that has it lasts (gale_intake_committed). Borrowed for the
 * call. */
typedef struct gale_answered {
    size_t size;
    uint32_t source; /* as it was taken */
    int64_t place;
    const gale_failure *failure; /* it is given up, for this; NULL: it was acked */
    const gale_value *values;    /* of one that is given up */
    size_t count;
} gale_answered;

typedef void gale_answered_fn(void *user, const gale_answered *answered);

/* Of a row that would be given up: true when the connector has given it back to its system, which gives it again or has words of its own: it has had its
 * last word then, and is neither reported nor counted nor answered. */
typedef bool gale_give_back_fn(void *user, const gale_answered *answered);

/* Writes how its system calls a row, so that a person finds it there: "entry 1526919030474-55 of orders". */
typedef void gale_row_name_fn(void *user, const gale_answered *answered, char *to, size_t size);

typedef struct gale_intake_options {
    size_t size;
    const char *what;           /* what a report calls a row, kept: "message"; NULL: that */
    uint64_t memory;            /* bytes of rows that it wants at the most; 0: 64 MiB. The last one may be above */
    uint32_t attempts;          /* how often a row is emitted until it is given up; 0: 3 */
    gale_answered_fn *answered; /* may be NULL; may take no rows */
    void *user;
    uint64_t waiting; /* in a durable run: so many acked rows wait for a checkpoint, and it is asked for; 0: 100,000 */
    bool soon;        /* and it is asked for as soon as no row is open any more: somebody waits for each answer */
    size_t
        emits; /* so many of a row's values go out, the first; the others are kept with it for who gives it up; 0: all */
    gale_give_back_fn *give_back; /* may be NULL; may take no rows */
    gale_row_name_fn *name;       /* what a report calls a row of its own; NULL: `what`, and its place */
} gale_intake_options;

#define GALE_INTAKE_OPTIONS_INIT                                                                                       \
    { sizeof(gale_intake_options), NULL, 0, 0, NULL, NULL, 0, false, 0, NULL, NULL }

enum { GALE_INTAKE_VALUES_MAX = 64 };

/* In `open`. GALE_INVALID; GALE_NO_MEMORY; what gale_watch_new says. */
GALE_API int gale_intake_new(const gale_context *context, gale_collector *out, const gale_intake_options *options,
                             gale_intake **ret_intake, gale_error *error);
GALE_API void gale_intake_free(gale_intake *intake);

/* Has it room for a row, and none that is to go out first? */
GALE_API bool gale_intake_wants(const gale_intake *intake);

/* Keeps a copy of a row for stream 0. `source` and `place` are the connector's own: where it came from. GALE_NO_MEMORY, GALE_INVALID, GALE_TOO_LARGE:
 * nothing was taken. */
GALE_API int gale_intake_take(gale_intake *intake, const gale_value *values, size_t count, uint32_t source,
                              int64_t place);

/* Emits what is to go out first, and returns what the spout's `next` does: GALE_NEXT_EMITTED, or GALE_NEXT_UNTIL for the rate,
 * GALE_NEXT_NOTHING when no more trees can be open, GALE_NEXT_WATCHED when there is none: it is told by a watch when it
 * wants rows again. */
GALE_API int gale_intake_next(gale_intake *intake, gale_wait *wait);

/* The spout's callbacks. What fails is emitted again, before new rows, unless that was its last attempt, it was rejected, or the
 * engine has spoken its last word: that is reported, and answered. */
GALE_API void gale_intake_ack(gale_intake *intake, const uint64_t *message_ids, size_t count);
GALE_API void gale_intake_fail(gale_intake *intake, uint64_t message_id, const gale_failure *failure);

/* What a source gave is somebody else's now: rows that wait to be emitted leave without an answer, and the trees of those that are out fail as
 * `source lost` (gale_source_lost), which they leave with. */
GALE_API void gale_intake_drop(gale_intake *intake, uint32_t source);

/* In a durable run's `save`, `restore` and `committed` (gale/state.h): its rows, those that are out under the message ids that they have. `each` (may
 * be NULL) is told of each that is there again, in the order in which they were taken. What gale_save says; GALE_DAMAGED with a report. */
typedef void gale_intake_each_fn(void *user, uint32_t source, int64_t place);
GALE_API int gale_intake_save(gale_intake *intake, gale_saver *to);
GALE_API int gale_intake_restore(gale_intake *intake, gale_saved *from, gale_intake_each_fn *each, void *user);
GALE_API void gale_intake_committed(gale_intake *intake, uint64_t checkpoint);

/* How many rows it keeps, and how many of them it has given up so far. */
GALE_API uint64_t gale_intake_count(const gale_intake *intake);
GALE_API uint64_t gale_intake_given_up(const gale_intake *intake);

/* --- What it may be told is done -------------------------------------------------------------------------------------- */

typedef struct gale_positions gale_positions;

/* NULL when memory is out. */
GALE_API gale_positions *gale_positions_new(const gale_context *context);
GALE_API void gale_positions_free(gale_positions *positions);

/* All below `place` is done, since before anything was begun. GALE_STATE: something was. */
GALE_API int gale_positions_start(gale_positions *positions, int64_t place);

/* Something at `place`, which is above all before it, was begun. GALE_EXISTS: it is not above them, and came a second time; GALE_NO_MEMORY. */
GALE_API int gale_positions_begin(gale_positions *positions, int64_t place);

/* It is done. GALE_NOT_FOUND: it was not begun, or is done already. */
GALE_API int gale_positions_done(gale_positions *positions, int64_t place);

/* How many were begun and are not done. */
GALE_API uint64_t gale_positions_count(const gale_positions *positions);

/* All up to `*ret_place` are done, and nothing behind it may be called so. GALE_NOT_FOUND: of nothing that can be said. */
GALE_API int gale_positions_safe(const gale_positions *positions, int64_t *ret_place);

/* --- What a sink was given -------------------------------------------------------------------------------------------- */

typedef struct gale_dispatch gale_dispatch;

typedef struct gale_dispatch_options {
    size_t size;
    uint64_t memory; /* bytes on their way from which on those who feed it wait; 0: 16 MiB */
    uint64_t most;   /* tuples, the same; 0: 100,000 */
} gale_dispatch_options;

#define GALE_DISPATCH_OPTIONS_INIT                                                                                     \
    { sizeof(gale_dispatch_options), 0, 0 }

/* In `prepare`, of a bolt that answers by itself (GALE_BOLT_MANUAL). GALE_INVALID, GALE_NO_MEMORY. */
GALE_API int gale_dispatch_new(const gale_context *context, gale_collector *out, const gale_dispatch_options *options,
                               gale_dispatch **ret_dispatch, gale_error *error);
GALE_API void gale_dispatch_free(gale_dispatch *dispatch);

/* Holds the tuple in execution, which takes so many bytes of its way; `*ret_id` names it, never 0. GALE_NO_MEMORY, and what
 * gale_tuple_hold and gale_watch_new say: it is not held. */
GALE_API int gale_dispatch_hold(gale_dispatch *dispatch, const gale_tuple *tuple, size_t bytes, uint64_t *ret_id);

/* The tuple, until it is answered; NULL when it was. */
GALE_API const gale_tuple *gale_dispatch_tuple(const gale_dispatch *dispatch, uint64_t id);

/* The system has it; or does not take it: as gale_ack and gale_fail. GALE_NOT_FOUND when it was answered. */
GALE_API int gale_dispatch_ack(gale_dispatch *dispatch, uint64_t id);
GALE_API int gale_dispatch_fail(gale_dispatch *dispatch, uint64_t id, int32_t reason, const char *text);

/* How many are on their way. */
GALE_API uint64_t gale_dispatch_count(const gale_dispatch *dispatch);

/* A tuple that ends the connection each time it is sent is told apart from a system that is away, and is rejected:
 *
 *      several were sent when the connection ended, --> they are suspects: from now on tuples are sent one at a time, until each of these has its
 *      for the second time                              answer
 *      one was sent, alone                          --> its loss; the loss number `gale.sink.losses` (a key of the configuration; 3) rejects it
 *
 * A connector reports a loss only where the system had accepted the connection (its handshake was complete) and ended it. A system that refuses, does
 * not answer, or says that it shuts down is away: it is tried again without a limit.
 *
 * may_send: may the next one be sent now? False: not before one that was sent has its answer. sent: it is on its way, on the connection that there is.
 * lost: that connection ended, for `why`; with `counts` false the system is away, and no tuple is suspected. Returns the tuple that was rejected for it, whose id
 * is none any more; 0: none was. */
enum { GALE_SINK_LOSSES = 3 };
GALE_API bool gale_dispatch_may_send(const gale_dispatch *dispatch);
GALE_API void gale_dispatch_sent(gale_dispatch *dispatch, uint64_t id);
GALE_API uint64_t gale_dispatch_lost(gale_dispatch *dispatch, bool counts, const char *why);

/* For a connector that has a connection for each tuple: the one of this tuple ended behind it. True: it was rejected for that. */
GALE_API bool gale_dispatch_blame(gale_dispatch *dispatch, uint64_t id, const char *why);

/* In a sink's `finish`: calls `drive`, which lets what is on its way go on and waits a little for it, until nothing is held any more. Once `patience` (ns)
 * has passed without an answer the rest is reported: "NAME: 3 tuples were not WHAT within 60 s (finishWait)", GALE_IO. Of NULL nothing is held. */
typedef void gale_dispatch_drive_fn(void *user);
GALE_API int gale_dispatch_finish(gale_dispatch *dispatch, int64_t patience, const char *name, const char *what,
                                  gale_dispatch_drive_fn *drive, void *user);

/* In a durable run's `save` and `restore` (gale/state.h): what is on its way, in order. `send` is called for each, and has it sent
 * again; a negative code of it ends the restoring. What gale_save says; GALE_DAMAGED with a report. */
typedef int gale_dispatch_send_fn(void *user, uint64_t id, const gale_tuple *tuple);
GALE_API int gale_dispatch_save(const gale_dispatch *dispatch, gale_saver *to);
GALE_API int gale_dispatch_restore(gale_dispatch *dispatch, gale_saved *from, gale_dispatch_send_fn *send, void *user);

/* --- What a sink sends with a checkpoint ------------------------------------------------------------------------------ */

/* For a sink of a durable run whose system has transactions: its rows are part of the checkpoint, and go out when that lasts, all of one epoch in one
 * transaction with a marker that says which. What a crash keeps from going out the next run sends, unless the system has the
 * marker:
 *
 *      take* --save--> epoch n --checkpoint n lasts--> commit: rows and marker (run, n) at once --> forgotten
 *                                        |--- not now: checkpoints go on, and have it; what comes behind it is one epoch of the newest number
 *                                        '--- the process dies --> restore --> commit: nothing, if the marker is there
 *
 * A tuple may be acked when its row was taken: that reaches the outside with the same checkpoint. */
typedef struct gale_epochs gale_epochs;
typedef struct gale_epoch gale_epoch;

/* The number of the run that made the epoch, which is drawn for each that has rows to send, also where it goes on from another: so what a run makes that
 * goes on from an older state (a copy, a checkpoint with a name) is never taken for what the system has. And that of the checkpoint; in a run these
 * go up. How many rows, never 0. */
GALE_API uint64_t gale_epoch_run(const gale_epoch *epoch);
GALE_API uint64_t gale_epoch_number(const gale_epoch *epoch);
GALE_API uint64_t gale_epoch_count(const gale_epoch *epoch);

/* A run before this one, whose marker nobody will ask for any more: it may go, in the same transaction. 0: there is none. */
GALE_API uint64_t gale_epoch_forgets(const gale_epoch *epoch);

/* The next row of those to be sent: 1, with its values, good until the next call; 0 when there are no more, and the first is the next one again;
 * GALE_NO_MEMORY. */
GALE_API int gale_epoch_next(gale_epoch *epoch, const gale_value **ret_values, size_t *ret_count);

/* In `commit`, once the epoch lasts: so many of its rows were refused, and are in `place` ("the table gale_refused"); `why` is the first one's. Logs it,
 * with how many there have been in this run. */
GALE_API void gale_epoch_refused(gale_epoch *epoch, uint64_t count, const char *place, const char *why);

/* Rows that the system cannot take, without saying which they are, are looked for by halves. A connector whose transactions can be divided calls, in
 * `commit`:
 *
 *      begin      with what the marker of the run says: (0, 0) where there is none. False: the system has all. True: gale_epoch_next gives the rows that
 *                 are to be sent in this transaction, which are all that are left until some of them fail
 *      rows       what the marker is to say beside the number: so many of the epoch's rows are in, once this transaction is
 *      culprit    why the only row of this transaction must not be sent: the transaction has a note about it, and the marker. NULL: it is to be sent
 *      note       what the note may have of the culprit's bytes: "base64:...", as it ended connections; all of them, where it was refused in words. A NUL is
 *                 behind it. Good until the next call; NULL: no memory
 *      lost       the system had accepted the connection, rows of this transaction were on their way, and it ended the connection without a reason of its
 *                 own. All rows are lost twice before they are divided; one row is the culprit after `gale.sink.losses`
 *      declined   the system refuses the transaction for what its rows are: they are divided at once
 *
 * The last two are true where `commit` then returns GALE_AGAIN: it is called again at once. False: not even the note about a culprit is taken, and it
 * returns an error that ends the run. `why` may be NULL. */
GALE_API bool gale_epoch_begin(gale_epoch *epoch, uint64_t number, uint64_t rows);
GALE_API uint64_t gale_epoch_rows(const gale_epoch *epoch);
GALE_API const char *gale_epoch_culprit(const gale_epoch *epoch);
GALE_API gale_str gale_epoch_note(gale_epoch *epoch, const void *bytes, size_t size);
GALE_API bool gale_epoch_lost(gale_epoch *epoch, const char *why);
GALE_API bool gale_epoch_declined(gale_epoch *epoch, const char *why);

/* Sends the rows of an epoch and its marker in one transaction; nothing, where the system's marker of the same run has this number or a higher one.
 * On a thread of the engine's, never two of a sink at once, and in order. GALE_AGAIN with words: not now, it is called again after a pause, until the run is to stop; any other
 * error stops it. Must end by itself, within seconds. */
typedef int gale_epoch_commit_fn(void *user, gale_epoch *epoch, gale_error *error);

typedef struct gale_epochs_options {
    size_t size;
    uint64_t memory; /* bytes of rows from which on a checkpoint is asked for, and those who feed it wait; 0: 16 MiB */
    gale_epoch_commit_fn *commit;
    void (*drop)(
        void *user); /* the last of its task and its pledges is gone: frees `user`; on any thread; may be NULL */
    void *user;
    /* Is the system there, before there is anything to send? On the same thread as `commit`, until it says 0, or a row goes out; an error's words are
     * why the task is not well. Must end by itself, within seconds. May be NULL. */
    int (*look)(void *user, gale_error *error);
} gale_epochs_options;

#define GALE_EPOCHS_OPTIONS_INIT                                                                                       \
    { sizeof(gale_epochs_options), 0, NULL, NULL, NULL, NULL }

/* In `prepare`. GALE_INVALID, GALE_NO_MEMORY: `drop` is not called. */
GALE_API int gale_epochs_new(const gale_context *context, gale_collector *out, const gale_epochs_options *options,
                             gale_epochs **ret_epochs, gale_error *error);

/* What was not committed goes out with the next run. */
GALE_API void gale_epochs_free(gale_epochs *epochs);

/* Keeps a copy of a row. What gale_save says: it is not kept. */
GALE_API int gale_epochs_take(gale_epochs *epochs, const gale_value *values, size_t count);

/* In `save`, `restore` and `committed`. What gale_save says; GALE_DAMAGED with a report. */
GALE_API int gale_epochs_save(gale_epochs *epochs, gale_saver *to);
GALE_API int gale_epochs_restore(gale_epochs *epochs, gale_saved *from);
GALE_API void gale_epochs_committed(gale_epochs *epochs, uint64_t checkpoint);

/* --- Small things --------------------------------------------------------------------------------------------------- */

/* Pauses between attempts: 0.1 s that doubles up to 30 s, a quarter more or less. Zero begins. */
typedef struct gale_backoff {
    uint32_t tries;
} gale_backoff;

/* The next pause, in nanoseconds. */
GALE_API int64_t gale_backoff_next(gale_backoff *backoff, const gale_context *context);

/* What a file has, without the ends of lines behind it: a password, a key. At most GALE_SECRET_MAX bytes; no NUL. Freed by gale_secret_free, which overwrites
 * it. NULL with a sentence that begins with `parameter` and never has the secret. */
enum { GALE_SECRET_MAX = 64 << 10 };
GALE_API char *gale_secret_read(const char *parameter, const char *path, gale_error *error);
GALE_API void gale_secret_free(char *secret);

/* Fields of a row that a file asks for (`emit`): their places in a table of those that there are, in the file's order. */
enum { GALE_NAMES_MAX = 16, GALE_NAMES_TEXT = 200 };
typedef struct gale_names {
    int32_t places[GALE_NAMES_MAX];
    uint32_t count;
    char text[GALE_NAMES_TEXT]; /* "key, value": the fields of an output */
} gale_names;

/* Reads names with commas or blanks between them; `known` ends with NULL, and has at most GALE_NAMES_MAX; `what` is what has them: "a message". GALE_INVALID with
 * a sentence that begins with `parameter`: one that is unknown or stands twice, or none. */
GALE_API int gale_names_read(const char *parameter, const char *text, const char *what, const char *const *known,
                             gale_names *ret_names, gale_error *error);

/* A text of `size` bytes, or bytes where they are not UTF-8; null of NULL. Copies nothing. */
GALE_API gale_value gale_text_or_bytes(const void *bytes, size_t size);

/* The name of the encoding that the bytes begin with, if they must not be taken for text: "gzip data", "UTF-16 text".
 * NULL: they are text, or bytes of no encoding that is known. Static storage. */
GALE_API const char *gale_foreign_encoding(const void *bytes, size_t size);

/* The size of the UTF-8 byte order mark that the bytes begin with, which a reader of text skips: 3, or 0. */
GALE_API size_t gale_byte_order_mark(const void *bytes, size_t size);

GALE_END

#endif
