/* Fields from an SQLite file: gale.bolt.SqliteLookup. A tuple whose key was not asked for lately is held until a thread of the task's own has the answer; others with the
 * same key wait for the same answer. */
#include "sql/lookup.h"
#include "connect/sqlite/ending.h"
#include "connect/sqlite/hand.h"
#include "connect/sqlite/questions.h"
#include "connect/sqlite/sqlite.h"
#include "connect/sqlite/text.h"

#include <gale/connect.h>
#include <gale/state.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AT_ONCE = 1000 }; /* questions of a transaction, at the most */

typedef struct lookup {
    lite_hand hand;
    lite_asking asking;           /* the hand's, while it is not free, and so are those that are out */
    lite_question *out;           /* in order */
    bool failed;                  /* not now */
    lite_question *first, **last; /* that wait */
    const lite_lookup_settings *given;
    const gale_context *context;
    gale_collector *to;
    sql_lookup lookup;
    sql_text name, scratch;
    bool unwell;
    gale_backoff backoff;
    int64_t again; /* not before then; 0: at once */
    gale_watch timer;
    lite_ending ending;
    gale_value keys[SQL_KEYS_MAX]; /* of the tuple in execution */
} lookup;

/* --- Answers ---------------------------------------------------------------------------------------------------------- */

static void forget(lookup *l, lite_question *q) {
    (void)gale_rotating_map_remove_bytes(l->lookup.open, q->name, q->name_size, NULL);
    lite_question_free(q);
}

static void answer_all(lookup *l, const lite_question *q) {
    gale_value list = gale_value_owned_view(q->rows);
    sql_rows *kept = sql_found_put(&l->lookup.found, (gale_str){ q->name, q->name_size }, &list);
    if (kept) sql_rows_done(&l->lookup.found, kept); /* what is not remembered is asked for again */
    sql_lookup_answer(&l->lookup, &q->waiting, &list);
}

static void hear_answer(lookup *l, lite_question *q) {
    if (*q->why)
        sql_lookup_fail(&l->lookup, &q->waiting, GALE_REASON_REJECTED, q->why);
    else
        answer_all(l, q);
    forget(l, q);
}

/* --- Questions -------------------------------------------------------------------------------------------------------- */

/* What is out comes before what waits. While it is not well, nothing is asked, too, which says when it is again. */
static void send_next(lookup *l) {
    if (!lite_hand_is_free(&l->hand)) return;
    if (l->again && gale_context_now(l->context) < l->again) {
        (void)gale_watch_set(l->to, l->timer, 0, l->again);
        return;
    }
    l->again = 0;
    if (!l->out && l->first) {
        lite_question **end = &l->first;
        l->out = l->first;
        for (size_t i = 0; *end && i < AT_ONCE; i++) end = &(*end)->next;
        l->first = *end;
        *end = NULL;
        if (!l->first) l->last = &l->first;
    }
    if (l->out || l->unwell) lite_hand_give(&l->hand);
}

static void work(void *user) {
    lookup *l = user;
    l->failed = !lite_ask(&l->asking, l->out);
}

static void be_unwell(lookup *l) {
    char text[GALE_FAILURE_TEXT];
    snprintf(text, sizeof text, "%s: %s", l->given->sqlite.where, l->asking.base.why);
    l->unwell = true;
    l->again = gale_context_now(l->context) + gale_backoff_next(&l->backoff, l->context);
    gale_health(l->to, text);
}

static void be_well(lookup *l) {
    l->backoff = (gale_backoff){ 0 };
    if (!l->unwell) return;
    l->unwell = false;
    gale_health(l->to, NULL);
}

/* Those that have no answer stay out. */
static void be_told(void *user) {
    lookup *l = user;
    lite_question **at = &l->out;
    if (l->failed)
        be_unwell(l);
    else
        be_well(l);
    while (*at) {
        lite_question *q = *at;
        if (!q->rows && !*q->why) {
            at = &q->next;
            continue;
        }
        *at = q->next;
        hear_answer(l, q);
    }
    send_next(l);
}

static const lite_hand_ops hand_ops = { work, be_told };

static int hear_timer(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    (void)out, (void)watch, (void)events;
    send_next(user);
    return 0;
}

/* --- Keys ------------------------------------------------------------------------------------------------------------- */

/* A value, so that no other has the same bytes; lists and maps are JSON, as they are asked for. */
static void name_value(lookup *l, gale_value *value) {
    char head[1 + sizeof(uint32_t)];
    if (value->type == GALE_TYPE_LIST || value->type == GALE_TYPE_MAP) {
        size_t from = l->scratch.size;
        lite_text_json(&l->scratch, value);
        if (l->scratch.failed) return;
        *value = gale_string(l->scratch.data + from, l->scratch.size - from);
    }
    bool sized = value->type == GALE_TYPE_STRING || value->type == GALE_TYPE_BYTES;
    uint32_t size = sized ? value->size : (uint32_t)sizeof value->as.i64;
    int64_t number = value->type == GALE_TYPE_BOOL ? value->as.boolean : value->as.i64;
    head[0] = (char)value->type;
    memcpy(head + 1, &size, sizeof size);
    sql_text_add(&l->name, head, sizeof head);
    sql_text_add(&l->name, sized ? value->as.bytes : (const void *)&number, size);
}

/* The names of lists and maps are made one after the other in `scratch`, which may move: there is room for one alone. */
static int take_keys(lookup *l, const gale_tuple *tuple, char *why, size_t size) {
    size_t nested = 0;
    for (size_t i = 0; i < l->given->lookup.key_count; i++) {
        if (!gale_tuple_get(tuple, l->given->lookup.keys[i], &l->keys[i])) {
            snprintf(why, size, "field %s is not there", l->given->lookup.keys[i]);
            return GALE_INVALID;
        }
        if (l->keys[i].type == GALE_TYPE_NULL) return 1;
        nested += l->keys[i].type == GALE_TYPE_LIST || l->keys[i].type == GALE_TYPE_MAP;
    }
    if (nested < 2) return 0;
    snprintf(why, size, "more than one field of its key is a list or a map");
    return GALE_INVALID;
}

/* 0, with `name` and `keys`; 1: a part of it is null, and no row has it; GALE_INVALID with a sentence; GALE_NO_MEMORY. */
static int write_key(lookup *l, const gale_tuple *tuple, char *why, size_t size) {
    int rc = take_keys(l, tuple, why, size);
    if (rc) return rc;
    l->name.size = l->scratch.size = 0;
    for (size_t i = 0; i < l->given->lookup.key_count; i++) name_value(l, &l->keys[i]);
    bool failed = l->name.failed || l->scratch.failed;
    l->name.failed = l->scratch.failed = false;
    if (failed) return GALE_NO_MEMORY;
    if (l->name.size <= GALE_ROTATING_MAP_KEY_MAX) return 0;
    snprintf(why, size, "its key is too long");
    return GALE_INVALID;
}

static lite_question *new_question(lookup *l) {
    lite_question *q = calloc(1, sizeof *q + l->name.size);
    gale_value key = gale_list(l->keys, l->given->lookup.key_count);
    if (!q) return NULL;
    q->name_size = l->name.size;
    memcpy(q->name, l->name.data, l->name.size);
    q->key = gale_value_copy(&key);
    if (q->key && gale_rotating_map_put_bytes(l->lookup.open, q->name, q->name_size, &q, NULL) >= 0) return q;
    lite_question_free(q);
    return NULL;
}

/* Of the key that was written last. */
static int ask(lookup *l, uint64_t id) {
    lite_question **open = gale_rotating_map_get_bytes(l->lookup.open, l->name.data, l->name.size);
    if (open)
        return sql_waiting_add(&(*open)->waiting, id)
                   ? 0
                   : gale_dispatch_fail(l->lookup.dispatch, id, GALE_REASON_FAILED, "out of memory");
    lite_question *q = new_question(l);
    if (q && sql_waiting_add(&q->waiting, id)) {
        *l->last = q;
        l->last = &q->next;
        send_next(l);
        return 0;
    }
    if (q) forget(l, q);
    return gale_dispatch_fail(l->lookup.dispatch, id, GALE_REASON_FAILED, "out of memory");
}

/* --- A task ------------------------------------------------------------------------------------------------------------ */

static void free_questions(lite_question *q) {
    while (q) {
        lite_question *next = q->next;
        lite_question_free(q);
        q = next;
    }
}

static void bolt_cleanup(void *self) {
    lookup *l = self;
    lite_hand_close(&l->hand);
    lite_asking_end(&l->asking);
    free_questions(l->out);
    free_questions(l->first);
    sql_lookup_close(&l->lookup);
    sql_text_free(&l->name);
    sql_text_free(&l->scratch);
    free(l);
}

static int make_timer(lookup *l, gale_error *error) {
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    options.call = hear_timer;
    options.user = l;
    int rc = gale_watch_new(l->to, &options, &l->timer);
    return rc < 0 ? gale_error_set(error, rc, "%s: no timer: %s", l->given->sqlite.where, gale_error_text(rc)) : 0;
}

/* Nothing is heard while the task may not run, as who hears emits. At once nothing is asked: what is wrong with the file or the query is told before a
 * tuple waits for it. */
static int begin(lookup *l, gale_error *error) {
    int rc = lite_base_look(&l->asking.base, error);
    if (rc == 0) rc = sql_lookup_open(&l->lookup, &l->given->lookup, l->context, l->to, error);
    if (rc == 0) rc = make_timer(l, error);
    if (rc == 0) rc = lite_hand_open(&l->hand, false, l->to, &hand_ops, l, error);
    if (rc == 0) lite_hand_give(&l->hand);
    return rc;
}

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    gale_error error = GALE_ERROR_INIT;
    lookup *l = calloc(1, sizeof *l);
    if (!l) return GALE_NO_MEMORY;
    l->given = user;
    l->context = context;
    l->to = out;
    l->last = &l->first;
    l->asking.given = user;
    l->asking.base.given = &l->given->sqlite;
    l->asking.base.reads = true;
    l->asking.base.stop = &l->hand.stop;
    int rc = begin(l, &error);
    if (rc < 0) {
        gale_report(out, error.text);
        bolt_cleanup(l);
        return rc;
    }
    *ret_self = l;
    return 0;
}

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    lookup *l = self;
    char why[GALE_FAILURE_TEXT];
    uint64_t id;
    if (gale_tuple_is_tick(tuple)) return gale_ack(out, gale_tuple_handle(tuple));
    int rc = write_key(l, tuple, why, sizeof why);
    if (rc == GALE_INVALID) return gale_reject(out, gale_tuple_handle(tuple), why);
    if (rc < 0) return rc;
    if (rc == 1) return sql_lookup_has_none(&l->lookup, tuple);
    if (sql_lookup_knows(&l->lookup, tuple, (gale_str){ l->name.data, l->name.size }, &rc)) return rc;
    rc = gale_dispatch_hold(l->lookup.dispatch, tuple, l->name.size + sizeof(lite_question), &id);
    return rc < 0 ? rc : ask(l, id);
}

static void fail_questions(lookup *l, lite_question **list, const char *why) {
    while (*list) {
        lite_question *q = *list;
        *list = q->next;
        if (!q->rows && !*q->why) snprintf(q->why, sizeof q->why, "%s", why);
        hear_answer(l, q);
    }
}

static void give_up(void *self, const char *why) {
    lookup *l = self;
    lite_hand_close(&l->hand);
    fail_questions(l, &l->out, why);
    fail_questions(l, &l->first, why);
    l->last = &l->first;
}

static int bolt_finish(void *self, gale_collector *out) {
    lookup *l = self;
    l->ending = (lite_ending){ .context = l->context,
                               .out = out,
                               .dispatch = l->lookup.dispatch,
                               .name = l->given->sqlite.where,
                               .what = "answered",
                               .patience = l->given->lookup.finish_wait,
                               .give_up = give_up,
                               .user = l };
    return lite_ending_begin(&l->ending);
}

/* --- Checkpoints: what has no answer is asked again --------------------------------------------------------------------- */

static int bolt_save(void *self, gale_saver *to) {
    return gale_dispatch_save(((lookup *)self)->lookup.dispatch, to);
}

static int ask_again(void *user, uint64_t id, const gale_tuple *tuple) {
    lookup *l = user;
    char why[GALE_FAILURE_TEXT];
    int rc = write_key(l, tuple, why, sizeof why);
    if (rc == 0) return ask(l, id);
    return sql_lookup_refuse(&l->lookup, id, rc);
}

static int bolt_restore(void *self, gale_saved *from, gale_collector *out) {
    (void)out;
    return gale_dispatch_restore(((lookup *)self)->lookup.dispatch, from, ask_again, self);
}

static const gale_durable_ops durable = {
    .size = sizeof durable,
    .version = 1,
    .flags = GALE_DURABLE_OUTSIDE,
    .save = bolt_save,
    .restore = bolt_restore,
};

static const gale_bolt_ops ops = {
    .size = sizeof ops,
    .name = "sqlite lookup",
    .kind = GALE_BOLT_MANUAL,
    .prepare = bolt_prepare,
    .execute = bolt_execute,
    .finish = bolt_finish,
    .cleanup = bolt_cleanup,
    .durable = &durable,
};

int lite_make_lookup(void *user, const gale_args *args, gale_bolt *ret_bolt, gale_error *error) {
    lite_lookup_settings *made = calloc(1, sizeof *made);
    (void)user;
    if (!made) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    int rc = lite_lookup_settings_make(made, args, error);
    if (rc < 0) {
        lite_lookup_settings_free(made);
        return rc;
    }
    *ret_bolt = (gale_bolt){ .size = sizeof *ret_bolt,
                             .ops = &ops,
                             .user = made,
                             .free_user = lite_lookup_settings_free,
                             .outputs = made->lookup.outputs,
                             .output_count = made->lookup.output_count };
    return 0;
}
