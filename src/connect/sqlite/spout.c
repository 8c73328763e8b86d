/* Rows of an SQLite table or query, in the order of a column, to tuples: gale.spout.SqliteRows.
 *
 *      in the file --a thread reads--> read --taken--> open --answered--> to be marked or deleted --a thread--> done
 *
 * In a durable run the place up to which rows were taken, and those that are open, are in the checkpoints, and a row is answered when one has that. */
#include "connect/sqlite/hand.h"
#include "connect/sqlite/places.h"
#include "connect/sqlite/reading.h"
#include "connect/sqlite/sqlite.h"

#include <gale/state.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ANSWERS_MAX = 1000 }; /* rows are done with together when so many are answered, or nothing else is to be done */

typedef struct spout {
    const lite_rows_settings *given;
    const gale_context *context;
    gale_collector *out;
    gale_intake *intake;
    lite_hand hand;
    lite_reading reading; /* the hand's, while it is not free */
    bool failed;          /* the hand's, and what it tells: not now */
    size_t next;          /* of the rows that were read: the next to be taken */
    bool at_end;          /* there were no more when it was looked last */
    int64_t place;        /* of the row that was taken last */
    int64_t floor;        /* of those that were given up and are not deleted: the last */
    lite_places taken;    /* those that are to be marked or deleted, and are not */
    lite_answered_list answered;
    bool idle; /* another task reads */
    bool unwell;
    gale_backoff backoff;
    int64_t again; /* not before then; 0: at once */
    int64_t look;  /* for new rows, not before then */
    gale_watch timer;
} spout;

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

/* What is answered is done with, if that is possible now; otherwise the next run has the rows again. */
static void finish_answers(spout *s) {
    int64_t until = now(s) + s->given->sqlite.timeout;
    s->at_end = true; /* nothing is read any more */
    s->look = INT64_MAX;
    s->next = lite_hand_is_free(&s->hand) ? s->reading.rows.count : s->next;
    while (has_answers(s) && now(s) < until) {
        s->again = s->failed ? s->again : 0;
        s->next = lite_hand_is_free(&s->hand) ? s->reading.rows.count : s->next;
        look(s);
        lite_hand_drive(&s->hand, 20);
    }
    size_t left = s->answered.count + s->reading.answered.count;
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

/* --- Checkpoints: one record of the place and the rows that are not done with, and one of what was given up --------------- */

static int save_taken(const spout *s, gale_saver *to) {
    int64_t *places = malloc((s->taken.count + 1) * sizeof *places);
    size_t count = 0;
    if (!places) return GALE_NO_MEMORY;
    for (size_t i = s->taken.first; i < s->taken.end; i++)
        if (!s->taken.list[i].done) places[count++] = s->taken.list[i].place;
    const gale_value values[] = { gale_i64((int64_t)s->given->origin), gale_i64(s->place), gale_i64(s->floor),
                                  gale_bytes(places, count * sizeof *places) };
    int rc = gale_save(to, values, sizeof values / sizeof *values);
    free(places);
    return rc;
}

static size_t add_given_up(const lite_answered_list *from, gale_value *values, size_t count) {
    for (size_t i = 0; i < from->count; i++) {
        if (!from->list[i].words) continue;
        values[count++] = gale_i64(from->list[i].place);
        values[count++] = gale_text(from->list[i].words);
    }
    return count;
}

static int save_given_up(const spout *s, gale_saver *to) {
    gale_value *values = calloc(2 * (s->answered.count + s->reading.answered.count) + 1, sizeof *values);
    if (!values) return GALE_NO_MEMORY;
    size_t count = add_given_up(&s->reading.answered, values, add_given_up(&s->answered, values, 0));
    gale_value list = gale_list(values, count);
    int rc = gale_save(to, &list, 1);
    free(values);
    return rc;
}

static int spout_save(void *self, gale_saver *to) {
    spout *s = self;
    if (s->idle) return 0;
    int rc = save_taken(s, to);
    if (rc == 0) rc = save_given_up(s, to);
    return rc < 0 ? rc : gale_intake_save(s->intake, to);
}

static int restore_taken(spout *s, gale_saved *from) {
    const gale_value *v;
    size_t count;
    int rc = gale_saved_next(from, &v, &count);
    if (rc < 0) return rc;
    if (!rc || count != 4 || v[0].type != GALE_TYPE_I64 || v[1].type != GALE_TYPE_I64 || v[2].type != GALE_TYPE_I64 ||
        v[3].type != GALE_TYPE_BYTES || v[3].size % sizeof(int64_t))
        return GALE_DAMAGED;
    if ((uint64_t)v[0].as.i64 != s->given->origin) return GALE_INVALID;
    s->place = v[1].as.i64;
    s->floor = v[2].as.i64;
    for (size_t at = 0; at < v[3].size; at += sizeof(int64_t)) {
        int64_t place;
        memcpy(&place, (const char *)v[3].as.bytes + at, sizeof place);
        rc = lite_places_add(&s->taken, place);
        if (rc < 0) return rc;
    }
    return 0;
}

/* Rows that need no answer any more, or not yet: they are out, or were given up and wait to be marked. All others that were taken are answered, and nobody has done
 * anything with them, perhaps. */
typedef struct others {
    lite_places places;
    bool failed;
} others;

static void note_open(void *user, uint32_t source, int64_t place) {
    others *o = user;
    (void)source;
    if (lite_places_add(&o->places, place) < 0) o->failed = true;
}

static int restore_given_up(spout *s, gale_saved *from, others *o) {
    const gale_value *v;
    size_t count;
    int rc = gale_saved_next(from, &v, &count);
    if (rc < 0) return rc;
    if (!rc || count != 1 || v->type != GALE_TYPE_LIST || v->size % 2) return GALE_DAMAGED;
    rc = 0;
    for (size_t i = 0; rc == 0 && i < v->size; i += 2) {
        gale_value place = gale_list_at(v, i), words = gale_list_at(v, i + 1);
        if (place.type != GALE_TYPE_I64 || words.type != GALE_TYPE_STRING) return GALE_DAMAGED;
        note_open(o, 0, place.as.i64);
        rc = lite_answered_add(&s->answered, place.as.i64, words.as.string);
    }
    return rc;
}

static int by_place(const void *a, const void *b) {
    int64_t left = ((const lite_place *)a)->place, right = ((const lite_place *)b)->place;
    return (left > right) - (left < right);
}

static int answer_rest(spout *s, others *o) {
    int rc = o->failed ? GALE_NO_MEMORY : 0;
    if (o->places.count) qsort(o->places.list, o->places.end, sizeof *o->places.list, by_place);
    for (size_t i = s->taken.first; rc == 0 && i < s->taken.end; i++) {
        int64_t place = s->taken.list[i].place;
        if (!lite_places_done(&o->places, place)) rc = lite_answered_add(&s->answered, place, NULL);
    }
    return rc;
}

/* A run that had finished executes nothing any more: rows that came since would be missed. This once the task waits itself: it is not yet a run. */
static int check_end(spout *s) {
    char text[GALE_FAILURE_TEXT];
    s->reading.behind = s->place;
    s->reading.wants = true;
    bool well = lite_read(&s->reading), grown = s->reading.rows.count;
    snprintf(text, sizeof text, "%s: %s", s->given->sqlite.where,
             well ? "it has rows behind the end of a run that had finished: begin anew (gale state reset), or follow it"
                  : s->reading.base.why);
    lite_rows_clear(&s->reading.rows);
    if (well && !grown) return 0;
    gale_report(s->out, text);
    return well ? GALE_STATE : GALE_IO;
}

static int restore_all(spout *s, gale_saved *from, others *o) {
    int rc = restore_taken(s, from);
    if (rc == 0) rc = restore_given_up(s, from, o);
    if (rc == 0) rc = gale_intake_restore(s->intake, from, note_open, o);
    if (rc == 0) rc = answer_rest(s, o);
    return rc == 0 && gale_saved_is_end(from) && !s->given->follows ? check_end(s) : rc;
}

static int spout_restore(void *self, gale_saved *from, gale_collector *out) {
    spout *s = self;
    others o = { .failed = false };
    if (s->idle) return 0;
    int rc = restore_all(s, from, &o);
    lite_places_free(&o.places);
    if (rc == GALE_DAMAGED) gale_report(out, "sqlite: what was saved of the spout is no place in a table");
    if (rc == GALE_INVALID)
        gale_report(
            out, "sqlite: what was saved of the spout is a place in another table or query, or by another column: it "
                 "goes on when `table`, `query` and `by` are as they were");
    return rc;
}

static void spout_committed(void *self, uint64_t checkpoint) {
    spout *s = self;
    gale_intake_committed(s->intake, checkpoint);
    look(s);
}

static const gale_durable_ops durable = {
    .size = sizeof durable,
    .version = 1,
    .save = spout_save,
    .restore = spout_restore,
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
