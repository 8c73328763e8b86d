/* What a sink sends with a checkpoint: gale_epochs. Rows of an epoch are records in one buffer (topology/saver.h). The open epoch is the task's;
 * a cut makes a pledge of it, and again of all that are not committed yet, as the system may be slow, or away (GALE_PLEDGE_LATE):
 *
 *      open --save--> waits --its turn--> tried --commit--> done
 *                       '--save--> taken back: its rows go out with those that came since
 *      restored: tried, as nobody knows what the run before came to; of a run that had come to its end it is committed at once
 *
 * Each run has a number of its own, which its epochs keep: where one goes on from a state that is older than what the system has, its epochs are new
 * to the system whatever their checkpoints' numbers are.
 *
 * An epoch that was tried is never changed, as the system may have it, and its marker. Those behind it are one: so there are two, and those that were
 * restored, however long the system is away.
 *
 * Rows that end the system's connections, or that it refuses without saying which, are looked for by halves (kit/halves.h): the epoch is then several
 * transactions, and the marker says how many of its rows are in.
 *
 * What all of them need lies in a keeper that the last of them frees, as a pledge may outlive its task. An epoch is held by its task and by
 * pledges. */
#include "base/base64.h"
#include "base/os/entropy.h"
#include "base/os/thread.h"
#include "base/utf8.h"
#include "kit/halves.h"
#include "kit/losses.h"
#include "kit/recall.h"
#include "topology/saver.h"

#include <gale/connect.h>
#include <gale/watch.h>
#include <inttypes.h>

enum { MEMORY = 16 << 20, PIECE = 32 << 10, PAST = 8, ATTEMPTS = 1000 };
#define LOOK (250 * GALE_MILLISECOND) /* so often the words of the committer are looked for */
#define SEARCH (5 * GALE_SECOND)      /* a commit that looks for a culprit takes no longer: the next one goes on */

static const char who[] = "epochs";

typedef struct keeper {
    gx_heap heap;
    gx_atomic32 holders;
    gale_epoch_commit_fn *commit;
    int (*look)(void *user, gale_error *error); /* NULL: nobody looks */
    gx_atomic32 seen;                           /* the system was there, in this run */
    const gale_logger *logger;                  /* outlives all commits, as the clock does */
    gale_clock clock;
    uint32_t losses_most;
    char component[GALE_FAILURE_TEXT];
    uint64_t refused; /* rows, so far; the committer's */
    void (*drop)(void *user);
    void *user;
    gx_monitor monitor;
    char words[GALE_FAILURE_TEXT]; /* why nothing is committed now; empty: all is well. Under the monitor's lock */
} keeper;

typedef enum epoch_state { WAITS, TRIED, DONE, TAKEN_BACK } epoch_state;

struct gale_epoch {
    keeper *keeper;
    gx_atomic32 holders;
    epoch_state state; /* under the monitor's lock, from the pledge on */
    gx_buf records;    /* the task's until then; nobody changes them behind it */
    uint64_t run, number, count;
    uint64_t forgets; /* a run; 0: none */
    gx_halves halves; /* the rows that are sent in one transaction; the committer's, as all below */
    bool again;       /* the last attempt has said why, and the next one need not wait */
    bool encodes;     /* the culprit ended connections: its note has base64 */
    gx_buf note;
    char why[GALE_FAILURE_TEXT]; /* of the culprit */
    gale_str left;               /* records that were not read yet */
    uint64_t row;                /* that the next of these is */
    bool reading;
    gale_value *values; /* of the last that was */
    size_t capacity;
    gale_epoch *next;
};

struct gale_epochs {
    gx_instance instance;
    gale_collector *out;
    uint64_t memory;
    keeper *keeper;
    uint64_t run;        /* drawn with the first epoch that it closes; 0: none was */
    uint64_t past[PAST]; /* those before it that closed one, and whose markers may be asked for, the oldest first */
    uint32_t past_count;
    gale_epoch *open;
    gale_epoch *owed;    /* not seen to be done, in order */
    uint64_t owed_bytes; /* of all of them */
    gale_watch tick;
    int64_t look_at; /* not before */
    gale_backoff pauses;
    bool full, wished, unwell;
};

/* --- The keeper ------------------------------------------------------------------------------------------------------- */

static keeper *keeper_new(const gale_context *context, const gale_epochs_options *given) {
    gx_heap heap;
    gx_heap_init(&heap, context->allocator);
    keeper *k = gx_alloc(&heap, GX_TAG_OTHER, sizeof *k);
    if (!k) return NULL;
    k->heap = heap;
    k->commit = given->commit;
    k->look = given->look;
    k->logger = context->logger;
    k->clock = context->clock;
    k->losses_most = gx_losses_most(context);
    gx_utf8_copy(k->component, sizeof k->component, context->component);
    k->refused = 0;
    gx_store_relaxed(&k->seen, given->look == NULL);
    k->user = given->user;
    gx_store_relaxed(&k->holders, 1);
    if (gx_monitor_init(&k->monitor)) return k;
    gx_free(&heap, GX_TAG_OTHER, k, sizeof *k);
    return NULL;
}

static void keeper_let_go(keeper *k) {
    if (gx_sub_acq_rel(&k->holders, 1) != 1) return;
    if (k->drop) k->drop(k->user);
    gx_monitor_fini(&k->monitor);
    gx_heap heap = k->heap;
    gx_free(&heap, GX_TAG_OTHER, k, sizeof *k);
}

static void say(keeper *k, const char *words) {
    gx_monitor_lock(&k->monitor);
    gx_utf8_copy(k->words, sizeof k->words, words);
    gx_monitor_unlock(&k->monitor);
}

static bool hear(keeper *k, char words[GALE_FAILURE_TEXT]) {
    gx_monitor_lock(&k->monitor);
    memcpy(words, k->words, GALE_FAILURE_TEXT);
    gx_monitor_unlock(&k->monitor);
    return *words != '\0';
}

/* --- An epoch --------------------------------------------------------------------------------------------------------- */

static gale_epoch *epoch_new(keeper *k) {
    gale_epoch *epoch = gx_alloc(&k->heap, GX_TAG_OTHER, sizeof *epoch);
    if (!epoch) return NULL;
    gx_add_relaxed(&k->holders, 1);
    gx_store_relaxed(&epoch->holders, 1);
    epoch->keeper = k;
    epoch->records = epoch->note = (gx_buf)GX_BUF_INIT(&k->heap);
    return epoch;
}

static void epoch_let_go(gale_epoch *epoch) {
    if (!epoch || gx_sub_acq_rel(&epoch->holders, 1) != 1) return;
    keeper *k = epoch->keeper;
    gx_buf_fini(&epoch->records);
    gx_buf_fini(&epoch->note);
    gx_free(&k->heap, GX_TAG_OTHER, epoch->values, epoch->capacity * sizeof *epoch->values);
    gx_free(&k->heap, GX_TAG_OTHER, epoch, sizeof *epoch);
    keeper_let_go(k);
}

uint64_t gale_epoch_run(const gale_epoch *epoch) {
    return epoch ? epoch->run : 0;
}

uint64_t gale_epoch_number(const gale_epoch *epoch) {
    return epoch ? epoch->number : 0;
}

uint64_t gale_epoch_forgets(const gale_epoch *epoch) {
    return epoch ? epoch->forgets : 0;
}

uint64_t gale_epoch_count(const gale_epoch *epoch) {
    return epoch ? epoch->count : 0;
}

void gale_epoch_refused(gale_epoch *epoch, uint64_t count, const char *place, const char *why) {
    if (!epoch || !count) return;
    keeper *k = epoch->keeper;
    k->refused += count;
    gale_log(k->logger, GALE_LOG_WARN, k->component, "%" PRIu64 " row%s refused, %" PRIu64 " so far, and in %s: %s",
             count, count == 1 ? " is" : "s are", k->refused, place, why);
}

/* To the first row of the part. */
static void begin_reading(gale_epoch *epoch) {
    const gale_body *body;
    epoch->left = (gale_str){ epoch->records.data, epoch->records.size };
    for (epoch->row = 0; epoch->row < epoch->halves.next && gx_records_next(&epoch->left, &body);) epoch->row++;
    epoch->reading = true;
}

int gale_epoch_next(gale_epoch *epoch, const gale_value **ret_values, size_t *ret_count) {
    const gale_body *body;
    if (!epoch || !ret_values || !ret_count) return GALE_INVALID;
    if (!epoch->reading) begin_reading(epoch);
    epoch->reading = epoch->row < gale_epoch_rows(epoch) && gx_records_next(&epoch->left, &body);
    if (!epoch->reading) return 0;
    epoch->row++;
    size_t count = gale_body_count(body);
    if (!gx_grow(&epoch->keeper->heap, GX_TAG_OTHER, &epoch->values, &epoch->capacity, count + 1,
                 sizeof *epoch->values))
        return GALE_NO_MEMORY;
    for (size_t i = 0; i < count; i++) epoch->values[i] = gale_body_value(body, i);
    *ret_values = epoch->values;
    *ret_count = count;
    return 1;
}

/* --- Its parts ---------------------------------------------------------------------------------------------------------- */

bool gale_epoch_begin(gale_epoch *epoch, uint64_t number, uint64_t rows) {
    if (!epoch) return false;
    uint64_t there = number > epoch->number ? epoch->count : number == epoch->number ? rows : 0;
    gx_halves_reach(&epoch->halves, there < epoch->count ? there : epoch->count);
    return epoch->halves.part > 0;
}

uint64_t gale_epoch_rows(const gale_epoch *epoch) {
    return epoch ? epoch->halves.next + epoch->halves.part : 0;
}

const char *gale_epoch_culprit(const gale_epoch *epoch) {
    return epoch && epoch->halves.culprit ? epoch->why : NULL;
}

gale_str gale_epoch_note(gale_epoch *epoch, const void *bytes, size_t size) {
    static const char prefix[] = "base64:";
    gale_str none = { NULL, 0 };
    if (!epoch || (size && !bytes)) return none;
    gx_buf *note = &epoch->note;
    gx_buf_reset(note);
    if (epoch->halves.culprit && epoch->encodes) {
        gx_buf_add(note, prefix, sizeof prefix - 1);
        if (gx_buf_reserve(note, gx_base64_size(size)))
            note->size += gx_base64_encode(bytes, size, note->data + note->size);
    } else {
        gx_buf_add(note, bytes, size);
    }
    const char *text = gx_buf_text(note);
    bool failed = note->failed;
    note->failed = false;
    return failed ? none : (gale_str){ text, note->size };
}

/* Said once an epoch: from then on its rows do not come all at once. */
static void say_divided(const gale_epoch *epoch, bool was_divided, const char *why) {
    if (was_divided || !epoch->halves.divided) return;
    gale_log(epoch->keeper->logger, GALE_LOG_WARN, epoch->keeper->component,
             "the %" PRIu64 " rows of checkpoint %" PRIu64 " go out in parts, to find which is not taken: %s",
             epoch->count, epoch->number, why);
}

/* True: there is another attempt. */
static bool take_step(gale_epoch *epoch, gx_halves_step step, bool was_divided, const char *why) {
    if (step == GX_HALVES_SPENT) return false;
    say_divided(epoch, was_divided, why);
    epoch->again = true;
    return true;
}

bool gale_epoch_lost(gale_epoch *epoch, const char *why) {
    if (!epoch) return false;
    uint32_t most = epoch->keeper->losses_most;
    bool was_divided = epoch->halves.divided;
    gx_halves_step step = gx_halves_lost(&epoch->halves, most);
    if (step == GX_HALVES_CULPRIT) gx_losses_text(epoch->why, most, "connection", why);
    if (step == GX_HALVES_CULPRIT) epoch->encodes = true;
    return take_step(epoch, step, was_divided, why ? why : "its connection ended");
}

bool gale_epoch_declined(gale_epoch *epoch, const char *why) {
    if (!epoch) return false;
    bool was_divided = epoch->halves.divided;
    gx_halves_step step = gx_halves_declined(&epoch->halves);
    if (!why) why = "it is refused";
    if (step == GX_HALVES_CULPRIT) gx_utf8_copy(epoch->why, sizeof epoch->why, why);
    if (step == GX_HALVES_CULPRIT) epoch->encodes = false;
    return take_step(epoch, step, was_divided, why);
}

/* --- Pledges ---------------------------------------------------------------------------------------------------------- */

/* From `from` on to `to`, if it is that. Returns what it was. */
static epoch_state move(gale_epoch *epoch, epoch_state from, epoch_state to) {
    gx_monitor_lock(&epoch->keeper->monitor);
    epoch_state was = epoch->state;
    if (was == from) epoch->state = to;
    gx_monitor_unlock(&epoch->keeper->monitor);
    return was;
}

/* Whatever remains of it, in one transaction or several, for as long as the next attempt need not wait. */
static int send_parts(gale_epoch *epoch, gale_error *error) {
    keeper *k = epoch->keeper;
    int64_t until = k->clock.now(k->clock.user) + SEARCH;
    int rc = GALE_OK;
    for (int i = 0; epoch->halves.part && i < ATTEMPTS && (i == 0 || k->clock.now(k->clock.user) < until); i++) {
        epoch->reading = epoch->again = false;
        *error = (gale_error)GALE_ERROR_INIT;
        rc = k->commit(k->user, epoch, error);
        if (rc >= 0) gx_halves_taken(&epoch->halves);
        if (rc < 0 && !epoch->again) return rc;
    }
    if (rc < 0 || !epoch->halves.part) return rc < 0 ? rc : GALE_OK;
    epoch->again = true;
    return gale_error_set(error, GALE_AGAIN, "%" PRIu64 " rows of a checkpoint go out in parts, and are not all in",
                          epoch->count - epoch->halves.next);
}

static int commit(void *pledge, gale_error *error) {
    gale_epoch *epoch = pledge;
    keeper *k = epoch->keeper;
    gale_error why = GALE_ERROR_INIT;
    epoch_state was = move(epoch, WAITS, TRIED);
    if (was == DONE || was == TAKEN_BACK) return 0;
    if (!epoch->halves.count) gx_halves_begin(&epoch->halves, epoch->count);
    int rc = send_parts(epoch, &why);
    if (rc >= 0) {
        say(k, "");
        gx_store_relaxed(&k->seen, 1);
        (void)move(epoch, TRIED, DONE);
        return 0;
    }
    const char *words = *why.text ? why.text : gale_error_text(rc);
    say(k, words);
    return gale_error_set(error, rc, "%s", words);
}

static void drop(void *pledge) {
    epoch_let_go(pledge);
}

static const gale_pledge_ops pledge_ops = {
    .size = sizeof pledge_ops, .commit = commit, .drop = drop, .flags = GALE_PLEDGE_LATE
};

/* --- Is it there? ----------------------------------------------------------------------------------------------------- */

/* Of a run that has nothing to send yet: who gave a wrong address is to hear of it before. Nothing is owed by that, so that nobody waits for it. */
static int commit_look(void *pledge, gale_error *error) {
    keeper *k = pledge;
    gale_error why = GALE_ERROR_INIT;
    (void)error;
    if (gx_load_relaxed(&k->seen)) return 0;
    int rc = k->look(k->user, &why);
    if (rc >= 0) gx_store_relaxed(&k->seen, 1);
    say(k, rc >= 0 ? "" : *why.text ? why.text : gale_error_text(rc));
    return 0;
}

static void drop_look(void *pledge) {
    keeper_let_go(pledge);
}

static const gale_pledge_ops look_ops = {
    .size = sizeof look_ops, .commit = commit_look, .drop = drop_look, .flags = GALE_PLEDGE_LATE
};

/* --- What is owed ----------------------------------------------------------------------------------------------------- */

static void forget_done(gale_epochs *epochs) {
    while (epochs->owed && move(epochs->owed, DONE, DONE) == DONE) {
        gale_epoch *epoch = epochs->owed;
        epochs->owed = epoch->next;
        epochs->owed_bytes -= epoch->records.size;
        epoch_let_go(epoch);
    }
}

static void owe(gale_epochs *epochs, gale_epoch *epoch) {
    gale_epoch **end = &epochs->owed;
    while (*end) end = &(*end)->next;
    *end = epoch;
    epochs->owed_bytes += epoch->records.size;
}

/* What nobody was asked to send yet goes out with what came since. */
static int take_back_last(gale_epochs *epochs) {
    gale_epoch **at = &epochs->owed, *open = epochs->open;
    while (*at && (*at)->next) at = &(*at)->next;
    gale_epoch *last = *at;
    if (!last || move(last, WAITS, TAKEN_BACK) != WAITS) return 0;
    uint64_t before = last->records.size;
    gx_buf_add(&last->records, open->records.data, open->records.size);
    if (last->records.failed) {
        last->records.failed = false;
        (void)move(last, TAKEN_BACK, WAITS);
        return GALE_NO_MEMORY;
    }
    gx_buf both = last->records;
    last->records = open->records;
    open->records = both;
    open->count += last->count;
    open->forgets = last->forgets;
    epochs->owed_bytes -= before;
    *at = NULL;
    epoch_let_go(last);
    return 0;
}

/* --- Life ------------------------------------------------------------------------------------------------------------- */

/* For a commit, or for the system to be seen. */
static bool waits(const gale_epochs *epochs) {
    return epochs->owed || !gx_load_relaxed(&epochs->keeper->seen);
}

/* A task that waits for its committer says so, and takes it back. */
static void tell(gale_epochs *epochs) {
    char words[GALE_FAILURE_TEXT];
    bool unwell = hear(epochs->keeper, words) && waits(epochs);
    if (unwell || epochs->unwell) gale_health(epochs->out, unwell ? words : NULL);
    epochs->unwell = unwell;
}

static void look_again(gale_epochs *epochs) {
    (void)gale_watch_set(epochs->out, epochs->tick, 0, gale_context_now(epochs->instance.context) + LOOK);
}

static void hold_back(gale_epochs *epochs);

static void look_after(gale_epochs *epochs) {
    forget_done(epochs);
    tell(epochs);
    hold_back(epochs);
}

static int look(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    gale_epochs *epochs = user;
    (void)out, (void)watch, (void)events;
    look_after(epochs);
    if (waits(epochs)) look_again(epochs);
    return 0;
}

static int begin(gale_epochs *epochs, const gale_epochs_options *given, gale_error *error) {
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    options.call = look;
    options.user = epochs;
    options.always = true;
    epochs->keeper = keeper_new(epochs->instance.context, given);
    if (!epochs->keeper) return gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", who);
    epochs->open = epoch_new(epochs->keeper);
    if (!epochs->open) return gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", who);
    int rc = gale_watch_new(epochs->out, &options, &epochs->tick);
    return rc < 0 ? gale_error_set(error, rc, "%s: it waits by watches: %s", who, gale_error_text(rc)) : 0;
}

int gale_epochs_new(const gale_context *context, gale_collector *out, const gale_epochs_options *options,
                    gale_epochs **ret_epochs, gale_error *error) {
    gale_epochs_options given;
    if (!context || !out || !ret_epochs)
        return gale_error_set(error, GALE_INVALID, "%s: NULL for what must be there", who);
    int rc = gx_options_take(&given, sizeof given, options, "epochs: options", error);
    if (rc < 0) return rc;
    if (!given.commit) return gale_error_set(error, GALE_INVALID, "epochs: options: `commit` is missing");
    gale_epochs *epochs = gx_define_instance(context, sizeof *epochs);
    if (!epochs) return gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", who);
    epochs->out = out;
    epochs->memory = given.memory ? given.memory : MEMORY;
    rc = begin(epochs, &given, error);
    if (rc < 0) {
        gale_epochs_free(epochs);
        return rc;
    }
    epochs->keeper->drop = given.drop;
    *ret_epochs = epochs;
    return 0;
}

void gale_epochs_free(gale_epochs *epochs) {
    if (!epochs) return;
    if (epochs->tick) (void)gale_watch_free(epochs->out, epochs->tick);
    while (epochs->owed) {
        gale_epoch *epoch = epochs->owed;
        epochs->owed = epoch->next;
        epoch_let_go(epoch);
    }
    epoch_let_go(epochs->open);
    if (epochs->keeper) keeper_let_go(epochs->keeper);
    gx_define_instance_free(epochs);
}

/* --- In --------------------------------------------------------------------------------------------------------------- */

/* From the half of it on a checkpoint is asked for, once each; who feeds it waits while it is full. */
static void hold_back(gale_epochs *epochs) {
    uint64_t bytes = epochs->open->records.size;
    bool full = bytes + epochs->owed_bytes >= epochs->memory;
    if (!epochs->wished && bytes >= epochs->memory / 2) {
        epochs->wished = true;
        gale_wish_checkpoint(epochs->out);
    }
    if (full == epochs->full) return;
    epochs->full = full;
    (void)gale_congest(epochs->out, full);
}

int gale_epochs_take(gale_epochs *epochs, const gale_value *values, size_t count) {
    if (!epochs || (count && !values)) return GALE_INVALID;
    gale_epoch *open = epochs->open;
    int rc = gx_record_add(&open->records, values, count);
    open->records.failed = false; /* it holds what it held */
    if (rc < 0) return rc;
    open->count++;
    hold_back(epochs);
    return 0;
}

/* --- What lasts ------------------------------------------------------------------------------------------------------- */

/* How many runs have markers, and how many epochs there are; the runs; of each epoch its number, rows, bytes, run and what it forgets, and the bytes in
 * pieces. */
static const char head_shape[] = "nn", run_shape[] = "n", epoch_shape[] = "nnnnn", piece_shape[] = "y";

/* Another one each time, whatever the run's seed is: it is compared, and changes nothing else. */
static uint64_t draw(void) {
    uint64_t drawn = 0;
    while (!drawn) drawn = gx_os_entropy() & INT64_MAX;
    return drawn;
}

static int save_epoch(const gale_epoch *epoch, gale_saver *to) {
    const gale_value head[] = { gale_i64((int64_t)epoch->number), gale_i64((int64_t)epoch->count),
                                gale_i64((int64_t)epoch->records.size), gale_i64((int64_t)epoch->run),
                                gale_i64((int64_t)epoch->forgets) };
    int rc = gale_save(to, head, 5);
    for (size_t at = 0; rc == 0 && at < epoch->records.size; at += PIECE) {
        size_t left = epoch->records.size - at;
        gale_value piece = gale_bytes(epoch->records.data + at, left < PIECE ? left : PIECE);
        rc = gale_save(to, &piece, 1);
    }
    return rc;
}

static int save_run(uint64_t run, gale_saver *to) {
    gale_value value = gale_i64((int64_t)run);
    return gale_save(to, &value, 1);
}

static int save_runs(const gale_epochs *epochs, gale_saver *to) {
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < epochs->past_count; i++) rc = save_run(epochs->past[i], to);
    return rc == 0 && epochs->run ? save_run(epochs->run, to) : rc;
}

static int save_all(gale_epochs *epochs, gale_saver *to) {
    int64_t count = 0;
    for (const gale_epoch *epoch = epochs->owed; epoch; epoch = epoch->next) count++;
    const gale_value head[] = { gale_i64(epochs->past_count + (epochs->run != 0)), gale_i64(count) };
    int rc = gale_save(to, head, 2);
    if (rc == 0) rc = save_runs(epochs, to);
    for (const gale_epoch *epoch = epochs->owed; rc == 0 && epoch; epoch = epoch->next) rc = save_epoch(epoch, to);
    return rc;
}

static int pledge_all(gale_epochs *epochs, gale_saver *to) {
    int rc = 0;
    for (gale_epoch *epoch = epochs->owed; rc == 0 && epoch; epoch = epoch->next) {
        gx_add_relaxed(&epoch->holders, 1);
        rc = gale_save_pledge(to, &pledge_ops, epoch);
    }
    return rc;
}

static uint64_t take_oldest(gale_epochs *epochs) {
    uint64_t run = epochs->past[0];
    memmove(epochs->past, epochs->past + 1, --epochs->past_count * sizeof *epochs->past);
    return run;
}

/* Is nothing owed of a run before this one? */
static bool is_past(const gale_epochs *epochs) {
    const gale_epoch *epoch = epochs->owed;
    while (epoch && epoch->run == epochs->run) epoch = epoch->next;
    return !epoch;
}

static void sign(gale_epochs *epochs, uint64_t checkpoint) {
    gale_epoch *open = epochs->open;
    if (!epochs->run) epochs->run = draw();
    open->run = epochs->run;
    open->number = checkpoint;
    if (open->forgets || !epochs->past_count || !is_past(epochs)) return;
    open->forgets = take_oldest(epochs);
}

/* The open one is of this checkpoint. */
static int close_open(gale_epochs *epochs, uint64_t checkpoint) {
    if (!epochs->open->count) return 0;
    gale_epoch *fresh = epoch_new(epochs->keeper);
    if (!fresh) return GALE_NO_MEMORY;
    int rc = take_back_last(epochs);
    if (rc < 0) {
        epoch_let_go(fresh);
        return rc;
    }
    sign(epochs, checkpoint);
    owe(epochs, epochs->open);
    epochs->open = fresh;
    return 0;
}

/* At the start, and after pauses that grow, with the next checkpoint. */
static bool is_to_look(gale_epochs *epochs) {
    int64_t now = gale_context_now(epochs->instance.context);
    bool is = !epochs->owed && !gx_load_relaxed(&epochs->keeper->seen) && now >= epochs->look_at;
    if (is) epochs->look_at = now + gale_backoff_next(&epochs->pauses, epochs->instance.context);
    return is;
}

static int pledge_look(gale_epochs *epochs, gale_saver *to) {
    gx_add_relaxed(&epochs->keeper->holders, 1);
    return gale_save_pledge(to, &look_ops, epochs->keeper);
}

int gale_epochs_save(gale_epochs *epochs, gale_saver *to) {
    if (!epochs || !to) return GALE_INVALID;
    epochs->wished = false;
    forget_done(epochs);
    int rc = close_open(epochs, gale_save_checkpoint(to));
    if (rc == 0) rc = save_all(epochs, to);
    if (rc == 0) rc = pledge_all(epochs, to);
    if (rc == 0 && is_to_look(epochs)) rc = pledge_look(epochs, to);
    if (waits(epochs)) look_again(epochs);
    return rc;
}

void gale_epochs_committed(gale_epochs *epochs, uint64_t checkpoint) {
    (void)checkpoint; /* what it promised may be owed still */
    if (epochs) look_after(epochs);
}

/* --- Going on --------------------------------------------------------------------------------------------------------- */

static int read_pieces(gx_recall *recall, gale_epoch *epoch, uint64_t size) {
    const gale_value *v;
    while (epoch->records.size < size) {
        int rc = gx_recall_one(recall, piece_shape, &v);
        if (rc < 0) return rc;
        if (!v[0].size || v[0].size > size - epoch->records.size)
            return gx_recall_refuse(recall, "has other bytes than its epoch");
        gx_buf_add(&epoch->records, v[0].as.bytes, v[0].size);
        if (epoch->records.failed) return GALE_NO_MEMORY;
    }
    gale_str left = { epoch->records.data, epoch->records.size };
    if (!gx_records_are_whole(left)) return gx_recall_refuse(recall, "has rows that were not written so");
    const gale_body *body;
    uint64_t rows = 0;
    while (gx_records_next(&left, &body)) rows++;
    return rows == epoch->count ? 0 : gx_recall_refuse(recall, "has other rows than its epoch");
}

static int read_epoch(gale_epochs *epochs, gx_recall *recall) {
    const gale_value *v;
    int rc = gx_recall_one(recall, epoch_shape, &v);
    if (rc < 0) return rc;
    gale_epoch *epoch = epoch_new(epochs->keeper);
    if (!epoch) return GALE_NO_MEMORY;
    epoch->state = TRIED;
    epoch->number = (uint64_t)v[0].as.i64;
    epoch->count = (uint64_t)v[1].as.i64;
    epoch->run = (uint64_t)v[3].as.i64;
    epoch->forgets = (uint64_t)v[4].as.i64;
    rc = !epoch->run    ? gx_recall_refuse(recall, "names no run")
         : epoch->count ? read_pieces(recall, epoch, (uint64_t)v[2].as.i64)
                        : gx_recall_refuse(recall, "has no rows");
    if (rc < 0)
        epoch_let_go(epoch);
    else
        owe(epochs, epoch);
    return rc;
}

/* Of a run that had come to its end: no checkpoint is made any more. */
static int commit_at_once(gale_epochs *epochs) {
    for (gale_epoch *epoch = epochs->owed; epoch; epoch = epoch->next) {
        gale_error why = GALE_ERROR_INIT;
        int rc;
        do rc = commit(epoch, &why);
        while (rc == GALE_AGAIN && epoch->again); /* a search has an end */
        if (rc < 0) {
            gale_report(epochs->out, why.text);
            return rc == GALE_AGAIN ? GALE_IO : rc;
        }
    }
    forget_done(epochs);
    return 0;
}

/* Of more than are kept the marker of the oldest stays. */
static int read_run(gale_epochs *epochs, gx_recall *recall) {
    const gale_value *v;
    int rc = gx_recall_one(recall, run_shape, &v);
    if (rc < 0) return rc;
    if (epochs->past_count == PAST) (void)take_oldest(epochs);
    epochs->past[epochs->past_count++] = (uint64_t)v[0].as.i64;
    return 0;
}

int gale_epochs_restore(gale_epochs *epochs, gale_saved *from) {
    const gale_value *v;
    if (!epochs || !from) return GALE_INVALID;
    gx_recall recall = { from, epochs->out, who, epochs->instance.context, 0 };
    int rc = gx_recall_one(&recall, head_shape, &v);
    if (rc < 0) return rc;
    int64_t runs = v[0].as.i64, left = v[1].as.i64;
    for (; rc == 0 && runs > 0; runs--) rc = read_run(epochs, &recall);
    for (; rc == 0 && left > 0; left--) rc = read_epoch(epochs, &recall);
    return rc == 0 && gale_saved_is_end(from) ? commit_at_once(epochs) : rc;
}
