#include "connect/sqlite/writer.h"

#include <stdio.h>
#include <stdlib.h>

/* --- Words ------------------------------------------------------------------------------------------------------------ */

static void be_unwell(lite_writer *w) {
    char text[GALE_FAILURE_TEXT];
    snprintf(text, sizeof text, "%s: %s", w->given->sqlite.where, w->write.base.why);
    w->unwell = true;
    gale_health(w->out_to, text);
}

static void be_well(lite_writer *w) {
    w->backoff = (gale_backoff){ 0 };
    if (!w->unwell) return;
    w->unwell = false;
    gale_health(w->out_to, NULL);
}

/* --- Out -------------------------------------------------------------------------------------------------------------- */

static int64_t now(const lite_writer *w) {
    return gale_context_now(w->context);
}

static void wake_at(lite_writer *w, int64_t at) {
    (void)gale_watch_set(w->out_to, w->timer, 0, at);
}

static bool is_due(const lite_writer *w) {
    return w->drains || w->filling.count >= w->given->rows || !w->given->linger ||
           now(w) >= w->since + w->given->linger;
}

static void swap(lite_writer *w) {
    lite_rows empty = w->out;
    lite_rows_clear(&empty);
    w->out = w->filling;
    w->filling = empty;
}

/* What could not be written goes first. */
static void send_next(lite_writer *w) {
    if (!lite_hand_is_free(&w->hand)) return;
    if (w->again && now(w) < w->again) {
        wake_at(w, w->again);
        return;
    }
    w->again = 0;
    if (!w->out.count) {
        if (!w->filling.count && w->looks) lite_hand_give(&w->hand);
        if (!w->filling.count) return;
        if (!is_due(w)) {
            wake_at(w, w->since + w->given->linger);
            return;
        }
        swap(w);
    }
    lite_hand_give(&w->hand);
}

static void work(void *user) {
    lite_writer *w = user;
    w->failed = w->out.count ? !lite_write_rows(&w->write, &w->out, w->given->rows) : !lite_write_look(&w->write);
}

/* --- What became of it ------------------------------------------------------------------------------------------------ */

/* Those that were not taken have words of their own, or else these. */
static void answer_rows(const lite_writer *w, lite_rows *rows, const char *why) {
    for (size_t i = 0; i < rows->count; i++) {
        const lite_row *row = &rows->rows[i];
        if (row->state == LITE_ROW_TAKEN)
            w->ops->taken(w->user, row->id);
        else
            w->ops->refused(w->user, row->id, row->why ? row->why : why);
    }
    lite_rows_clear(rows);
}

static void be_told(void *user) {
    lite_writer *w = user;
    if (w->failed) {
        be_unwell(w);
        w->again = now(w) + gale_backoff_next(&w->backoff, w->context);
    } else {
        be_well(w);
        w->looks = false;
        answer_rows(w, &w->out, "it is refused");
    }
    send_next(w);
}

static const lite_hand_ops hand_ops = { work, be_told };

static int hear_timer(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    (void)out, (void)watch, (void)events;
    send_next(user);
    return 0;
}

/* --- In --------------------------------------------------------------------------------------------------------------- */

int lite_writer_take(lite_writer *w, const gale_value *values, lite_writer_hold_fn *hold, void *hold_user) {
    lite_rows *rows = &w->filling;
    size_t size;
    uint64_t id;
    int rc = lite_rows_add(rows, values, &size);
    if (rc < 0) return rc;
    rc = hold(hold_user, size, &id);
    if (rc < 0) {
        lite_rows_drop(rows);
        return rc;
    }
    rows->rows[rows->count - 1].id = id;
    if (rows->count == 1) w->since = now(w);
    if (rows->count == 1 || rows->count >= w->given->rows) send_next(w);
    return 0;
}

void lite_writer_hurry(lite_writer *w) {
    w->since = now(w) - w->given->linger;
    send_next(w);
}

void lite_writer_drain(lite_writer *w) {
    w->drains = true;
    send_next(w);
}

void lite_writer_give_up(lite_writer *w, const char *why) {
    lite_hand_close(&w->hand);
    answer_rows(w, &w->out, why);
    answer_rows(w, &w->filling, why);
}

/* --- It --------------------------------------------------------------------------------------------------------------- */

int lite_writer_open(lite_writer *w, const lite_sink_settings *given, const gale_context *context, gale_collector *out,
                     const lite_writer_ops *ops, void *user, gale_error *error) {
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    *w = (lite_writer){ .given = given, .context = context, .out_to = out, .ops = ops, .user = user };
    w->filling.width = w->out.width = given->table.count;
    w->write.table = &given->table;
    w->write.base.given = &given->sqlite;
    w->write.base.creates = given->creates;
    w->write.base.stop = &w->hand.stop;
    options.always = true;
    options.call = hear_timer;
    options.user = w;
    int rc = gale_watch_new(out, &options, &w->timer);
    if (rc < 0) return gale_error_set(error, rc, "%s: no timer: %s", given->sqlite.where, gale_error_text(rc));
    rc = lite_hand_open(&w->hand, true, out, &hand_ops, w, error);
    w->looks = rc == 0 && !given->creates; /* what it makes, its first rows do */
    if (w->looks) lite_hand_give(&w->hand);
    return rc;
}

void lite_writer_close(lite_writer *w) {
    lite_hand_close(&w->hand);
    lite_write_end(&w->write);
    lite_rows_free(&w->filling);
    lite_rows_free(&w->out);
}
