/* Rows of an SQLite table or query, in the order of a column, to tuples: gale.spout.SqliteRows.
 *
 *      in the file --a thread reads--> read --taken--> open --answered--> to be marked or deleted --a thread--> done
 *
 * In a durable run the place up to which rows were taken, and those that are open, are in the checkpoints, and a row is answered when one has that. */
#include "connect/sqlite/spout.h"

#include "connect/sqlite/sqlite.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define END_WAIT (GALE_SECOND) /* at the end: for another's lock */

enum { ANSWERS_MAX = 1000 }; /* rows are done with together when so many are answered, or nothing else is to be done */

typedef lite_spout spout;

/* --- The thread ---------------------------------------------------------------------------------------------------------- */

static void work(void *user) {
    spout *s = user;
    s->failed = !lite_read(&s->reading);
}

static int64_t now(const spout *s) {
    return gale_context_now(s->context);
}

/* Has the task all rows that were read? */
static bool is_empty(spout *s) {
    return lite_hand_is_free(&s->hand) && s->next == s->reading.rows.count;
}

static bool is_over(const spout *s) {
    return s->at_end && !s->given->follows;
}

/* Places are given out anew by SQLite when the last rows are deleted: with none open, those behind the last that stays are new. */
static void lower_place(spout *s) {
    if (s->given->after == LITE_DELETE && !s->taken.count) s->place = s->floor;
}

static void give(spout *s, bool wants) {
    if (!s->reading.answered.count) { /* else the last attempt failed, and has them still */
        lite_answered_list empty = s->reading.answered;
        s->reading.answered = s->answered;
        s->answered = empty;
    }
    if (wants) lower_place(s);
    s->reading.behind = s->place;
    s->reading.wants = wants;
    s->next = 0;
    lite_rows_clear(&s->reading.rows);
    s->gave = s->reading.answered.count;
    s->failed = true; /* until it has worked */
    lite_hand_give(&s->hand);
}

/* Hands over what there is to do, unless the thread works, or it is not yet time. */
static void look(spout *s) {
    int64_t time = now(s);
    if (s->idle || !is_empty(s)) return;
    if (s->again > time) {
        (void)gale_watch_set(s->out, s->timer, 0, s->again);
        return;
    }
    bool may = gale_intake_wants(s->intake) && !is_over(s);
    bool wants = may && s->look <= time;
    bool answers = s->reading.answered.count || s->answered.count;
    if (wants || answers)
        give(s, wants);
    else if (may)
        (void)gale_watch_set(s->out, s->timer, 0, s->look);
}

static void be_unwell(spout *s) {
    char text[GALE_FAILURE_TEXT];
    snprintf(text, sizeof text, "%s: %s", s->given->sqlite.where, s->reading.base.why);
    s->unwell = true;
    s->again = now(s) + gale_backoff_next(&s->backoff, s->context);
    gale_health(s->out, text);
}

static void be_well(spout *s) {
    s->backoff = (gale_backoff){ 0 };
    s->again = 0;
    if (!s->unwell) return;
    s->unwell = false;
    gale_health(s->out, NULL);
}

/* `next` is asked behind it. */
static void be_told(void *user) {
    spout *s = user;
    if (s->failed) {
        be_unwell(s);
        look(s);
        return;
    }
    be_well(s);
    for (size_t i = 0; i < s->reading.answered.count; i++)
        (void)lite_places_done(&s->taken, s->reading.answered.list[i].place);
    lite_answered_clear(&s->reading.answered);
    if (s->reading.wants) {
        s->at_end = s->reading.at_end;
        s->look = s->at_end ? now(s) + s->given->every : 0;
    }
    look(s);
}

static const lite_hand_ops hand_ops = { work, be_told };

static int hear_timer(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    (void)out, (void)watch, (void)events;
    look(user);
    return 0;
}

/* --- Answers ------------------------------------------------------------------------------------------------------------- */

static void keep_answer(spout *s, int64_t place, const char *words) {
    if (lite_answered_add(&s->answered, place, words) == 0) return;
    char text[GALE_FAILURE_TEXT];
    snprintf(text, sizeof text, "%s: out of memory: row %" PRId64 " is answered, and stays as it is",
             s->given->sqlite.where, place);
    gale_report(s->out, text);
    (void)lite_places_done(&s->taken, place);
}

/* One that is given up is not deleted: another run has it again. */
static void give_up(spout *s, int64_t place, const gale_failure *failure) {
    char words[GALE_FAILURE_TEXT + 40];
    if (s->given->after == LITE_DELETE) {
        if (place > s->floor) s->floor = place;
        (void)lite_places_done(&s->taken, place);
        return;
    }
    snprintf(words, sizeof words, "%s: %s", gale_reason_name(failure->reason), failure->text);
    keep_answer(s, place, words);
}

static void hear_answer(void *user, const gale_answered *answered) {
    spout *s = user;
    if (s->given->after == LITE_KEEP) return;
    if (answered->failure)
        give_up(s, answered->place, answered->failure);
    else
        keep_answer(s, answered->place, NULL);
}

/* --- A task -------------------------------------------------------------------------------------------------------------- */

static bool has_answers(spout *s) {
    return !lite_hand_is_free(&s->hand) || s->answered.count || s->reading.answered.count;
}

/* Are there rows that are not done with? While it works, it may have some. */
static bool is_owed(spout *s) {
    return s->answered.count || (lite_hand_is_free(&s->hand) ? s->reading.answered.count : s->gave) > 0;
}

/* What is answered is done with, if that is possible now; otherwise the next run has the rows again. */
static void finish_answers(spout *s) {
    int64_t patience = s->given->sqlite.timeout;
    int64_t until = now(s) + (patience < END_WAIT ? patience : END_WAIT);
    s->at_end = true; /* nothing is read any more */
    s->look = INT64_MAX;
    s->next = lite_hand_is_free(&s->hand) ? s->reading.rows.count : s->next;
    while (is_owed(s) && now(s) < until) {
        bool is_free = lite_hand_is_free(&s->hand); /* what it has is the thread's otherwise */
        s->again = is_free && s->failed ? s->again : 0;
        s->next = is_free ? s->reading.rows.count : s->next;
        look(s);
        lite_hand_drive(&s->hand, 20);
    }
    bool untold = !lite_hand_is_free(&s->hand);
    lite_hand_close(&s->hand);
    size_t left = s->answered.count + (untold && !s->failed ? 0 : s->reading.answered.count);
    if (left)
        gale_log(s->context->logger, GALE_LOG_WARN, s->context->component,
                 "%s: %zu rows are answered, and neither marked nor deleted: the next run has them again",
                 s->given->sqlite.where, left);
}

static void spout_close(void *self) {
    spout *s = self;
    if (s->hand.runs && !s->context->durable) finish_answers(s);
    lite_hand_close(&s->hand);
    lite_reading_end(&s->reading);
    lite_places_free(&s->taken);
    lite_answered_free(&s->answered);
    gale_intake_free(s->intake);
    free(s);
}

static int open_intake(spout *s, gale_error *error) {
    gale_intake_options options = GALE_INTAKE_OPTIONS_INIT;
    options.what = "row";
    options.memory = s->given->memory;
    options.attempts = s->given->attempts;
    options.answered = hear_answer;
    options.soon = s->given->after != LITE_KEEP && !s->given->follows; /* its end waits for that */
    options.user = s;
    return gale_intake_new(s->context, s->out, &options, &s->intake, error);
}

/* One task reads; the others have nothing to do. */
static int begin(spout *s, gale_error *error) {
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    s->idle = s->context->task_index != 0;
    s->place = s->floor = INT64_MIN;
    s->reading.given = s->given;
    s->reading.durable = s->context->durable;
    s->reading.rows.width = s->given->count;
    s->reading.base.given = &s->given->sqlite;
    s->reading.base.reads = s->given->after == LITE_KEEP;
    s->reading.base.stop = &s->hand.stop;
    options.call = hear_timer;
    options.user = s;
    int rc = open_intake(s, error);
    if (rc < 0 || s->idle) return rc;
    rc = gale_watch_new(s->out, &options, &s->timer);
    if (rc < 0) return gale_error_set(error, rc, "%s: no timer: %s", s->given->sqlite.where, gale_error_text(rc));
    rc = lite_base_look(&s->reading.base, error);
    if (rc < 0) return rc;
    if (!lite_reading_may(&s->reading))
        return gale_error_set(error, GALE_INVALID, "%s: %s", s->given->sqlite.where, s->reading.base.why);
    return lite_hand_open(&s->hand, true, s->out, &hand_ops, s, error);
}

static int spout_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    gale_error error = GALE_ERROR_INIT;
    spout *s = calloc(1, sizeof *s);
    if (!s) return GALE_NO_MEMORY;
    s->given = user;
    s->context = context;
    s->out = out;
    int rc = begin(s, &error);
    if (rc < 0) {
        gale_report(out, error.text);
        spout_close(s);
        return rc;
    }
    if (s->given->after != LITE_KEEP) gale_remember(out);
    *ret_self = s;
    return 0;
}

/* A row that can be no tuple: it is told, and done. */
static void refuse(spout *s, int64_t place, int rc) {
    char text[GALE_FAILURE_TEXT];
    const gale_failure failure = { .size = sizeof failure,
                                   .reason = GALE_REASON_REJECTED,
                                   .text = gale_error_text(rc) };
    snprintf(text, sizeof text, "%s: row %" PRId64 " can be no tuple, and is left out: %s", s->given->sqlite.where,
             place, gale_error_text(rc));
    gale_report(s->out, text);
    if (s->given->after != LITE_KEEP) give_up(s, place, &failure);
}

/* The next row that was read. GALE_NO_MEMORY leaves it where it is. */
static int take(spout *s) {
    gale_value values[GALE_INTAKE_VALUES_MAX];
    const lite_rows *rows = &s->reading.rows;
    int64_t place = (int64_t)rows->rows[s->next].id;
    bool noted = s->given->after != LITE_KEEP;
    for (size_t i = 0; i < s->given->count; i++) values[i] = lite_rows_value(rows, s->next, i);
    int rc = noted ? lite_places_add(&s->taken, place) : 0;
    if (rc < 0) return rc;
    rc = gale_intake_take(s->intake, values, s->given->count, 0, place);
    if (rc == GALE_NO_MEMORY) {
        if (noted) (void)lite_places_done(&s->taken, place);
        return rc;
    }
    s->place = place;
    s->next++;
    if (rc < 0) refuse(s, place, rc);
    return 0;
}

static bool has_rows(spout *s) {
    return lite_hand_is_free(&s->hand) && s->next < s->reading.rows.count;
}

/* It has ended when all are answered for good, where something is done with them. */
static bool has_ended(spout *s) {
    if (!is_over(s) || !is_empty(s)) return false;
    return s->given->after == LITE_KEEP || (!s->taken.count && !has_answers(s));
}

static int spout_next(void *self, gale_collector *out, gale_wait *wait) {
    spout *s = self;
    int rc = 0;
    (void)out;
    if (s->idle) return GALE_NEXT_DONE;
    while (rc == 0 && gale_intake_wants(s->intake) && has_rows(s)) rc = take(s);
    if (rc < 0) return rc;
    look(s);
    int next = gale_intake_next(s->intake, wait);
    return next == GALE_NEXT_WATCHED && has_ended(s) ? GALE_NEXT_DONE : next;
}

static void look_when_enough(spout *s) {
    if (s->answered.count >= ANSWERS_MAX || !gale_intake_count(s->intake)) look(s);
}

static void spout_ack_batch(void *self, const uint64_t *message_ids, size_t count) {
    spout *s = self;
    gale_intake_ack(s->intake, message_ids, count);
    look_when_enough(s);
}

static void spout_fail(void *self, uint64_t message_id, const gale_failure *failure) {
    spout *s = self;
    gale_intake_fail(s->intake, message_id, failure);
    look_when_enough(s);
}

/* --- Checkpoints ----------------------------------------------------------------------------------------------------------- */

static void spout_committed(void *self, uint64_t checkpoint) {
    spout *s = self;
    gale_intake_committed(s->intake, checkpoint);
    look(s);
}

static const gale_durable_ops durable = {
    .size = sizeof durable,
    .version = 1,
    .save = lite_spout_save,
    .restore = lite_spout_restore,
    .committed = spout_committed,
};

static const gale_spout_ops ops = {
    .size = sizeof ops,
    .name = "sqlite rows",
    .open = spout_open,
    .next = spout_next,
    .ack_batch = spout_ack_batch,
    .fail = spout_fail,
    .close = spout_close,
    .durable = &durable,
};

int lite_make_rows(void *user, const gale_args *args, gale_spout *ret_spout, gale_error *error) {
    lite_rows_settings *made = calloc(1, sizeof *made);
    (void)user;
    if (!made) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    int rc = lite_rows_settings_make(made, args, error);
    if (rc < 0) {
        lite_rows_settings_free(made);
        return rc;
    }
    *ret_spout = (gale_spout){ .size = sizeof *ret_spout,
                               .ops = &ops,
                               .user = made,
                               .free_user = lite_rows_settings_free,
                               .outputs = &made->output,
                               .output_count = 1 };
    return 0;
}
