#include "cases/mock.h"

#include <gale/component.h>
#include <stdlib.h>
#include <string.h>

/* What every task of it needs. */
typedef struct shared {
    const gx_mock *mock;
    gale_setting ticks; /* of one that answers later */
} shared;

typedef struct later {
    gale_handle tuple;
    int64_t due;
    const gx_mock_answer *answer;
} later;

typedef struct instance {
    const gx_mock *mock;
    const gale_context *context;
    later *list; /* in the order in which they came */
    size_t count, room;
} instance;

static int prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)out;
    instance *self = calloc(1, sizeof *self);
    if (!self) return GALE_NO_MEMORY;
    self->mock = ((const shared *)user)->mock;
    self->context = context;
    *ret_self = self;
    return GALE_OK;
}

static void cleanup(void *user) {
    instance *self = user;
    free(self->list);
    free(self);
}

/* --- Which answer ------------------------------------------------------------------------------------------------- */

static bool fits(const gx_mock_answer *answer, const gale_tuple *tuple) {
    if (answer->any) return true;
    if (!answer->names && gale_tuple_size(tuple) != answer->when.count) return false;
    for (uint32_t i = 0; i < answer->when.count; i++) {
        gale_value value;
        if (!answer->names)
            value = gale_tuple_value(tuple, i);
        else if (!gale_tuple_get(tuple, answer->names[i], &value))
            return false;
        if (!gx_wanted_fits(&answer->when.fields[i], &value)) return false;
    }
    return true;
}

static const gx_mock_answer *find(const gx_mock *mock, const gale_tuple *tuple) {
    for (size_t i = 0; i < mock->count; i++)
        if (fits(&mock->answers[i], tuple)) return &mock->answers[i];
    return NULL;
}

/* --- Answering ---------------------------------------------------------------------------------------------------- */

static int refuse(const gale_tuple *tuple, gale_collector *out) {
    gx_buf text = GX_BUF_INIT(NULL);
    gx_buf_add_text(&text, "no answer of the mock fits [");
    for (size_t i = 0; i < gale_tuple_size(tuple); i++) {
        gale_value value = gale_tuple_value(tuple, i);
        if (i) gx_buf_add_byte(&text, ',');
        gx_found_show(&value, &text);
    }
    gx_buf_add_byte(&text, ']');
    const char *said = gx_buf_text(&text);
    if (said) gale_report(out, said);
    int rc = gale_fail(out, gale_tuple_handle(tuple), GALE_REASON_FAILED, said);
    gx_buf_fini(&text);
    return rc;
}

static int give(const gx_mock_answer *answer, gale_handle tuple, gale_collector *out) {
    const gx_rows *rows = &answer->emits;
    for (size_t i = 0; i < rows->count; i++) {
        int rc = gale_emit_anchored(out, answer->stream, rows->values + i * rows->width, rows->width, &tuple, 1);
        if (rc < 0) return rc;
    }
    if (answer->reject) return gale_reject(out, tuple, answer->reject);
    return answer->fail ? gale_fail(out, tuple, GALE_REASON_FAILED, answer->fail) : gale_ack(out, tuple);
}

static int hold(instance *self, const gx_mock_answer *answer, const gale_tuple *tuple, gale_collector *out) {
    if (self->count == self->room) {
        size_t room = self->room ? 2 * self->room : 16;
        later *list = realloc(self->list, room * sizeof *list);
        if (!list) return GALE_NO_MEMORY;
        self->list = list;
        self->room = room;
    }
    later *l = &self->list[self->count];
    *l = (later){ 0, gale_context_now(self->context) + answer->after, answer };
    int rc = gale_tuple_hold(out, gale_tuple_handle(tuple), &l->tuple);
    self->count += rc >= 0;
    return rc;
}

/* What is due by this tick. */
static int release(instance *self, gale_collector *out) {
    int64_t now = gale_context_now(self->context);
    size_t kept = 0;
    int rc = GALE_OK;
    for (size_t i = 0; i < self->count; i++) {
        later l = self->list[i];
        if (l.due > now)
            self->list[kept++] = l;
        else if (rc >= 0)
            rc = give(l.answer, l.tuple, out);
    }
    self->count = kept;
    return rc < 0 ? rc : GALE_OK;
}

static int execute(void *user, const gale_tuple *tuple, gale_collector *out) {
    instance *self = user;
    if (gale_tuple_is_tick(tuple)) return release(self, out);
    const gx_mock_answer *answer = find(self->mock, tuple);
    if (!answer) return refuse(tuple, out);
    return answer->after ? hold(self, answer, tuple, out) : give(answer, gale_tuple_handle(tuple), out);
}

/* --- Making ------------------------------------------------------------------------------------------------------- */

/* So often that each answer is given when it is due, where tuples come at multiples of the same. */
static int64_t tick_period(const gx_mock *mock) {
    int64_t period = 0;
    for (size_t i = 0; i < mock->count; i++)
        for (int64_t a = mock->answers[i].after / GALE_MILLISECOND, b = period; a > 0;) {
            period = a;
            a = b % a;
            b = period;
        }
    for (size_t i = 0; i < mock->count && !period; i++) period = mock->answers[i].after > 0;
    return period * GALE_MILLISECOND;
}

int gx_mock_bolt(const gx_mock *mock, gale_bolt *ret_bolt, gale_error *error) {
    static const gale_bolt_ops ops = { .size = sizeof ops,
                                       .name = "mock",
                                       .kind = GALE_BOLT_MANUAL,
                                       .prepare = prepare,
                                       .execute = execute,
                                       .cleanup = cleanup };
    shared *user = calloc(1, sizeof *user);
    if (!user) return gale_error_set(error, GALE_NO_MEMORY, "no memory for a mock");
    int64_t period = tick_period(mock);
    user->mock = mock;
    user->ticks = (gale_setting){ "topology.tick.tuple.freq.secs", gale_f64((double)period / 1e9) };
    *ret_bolt = (gale_bolt){ .size = sizeof *ret_bolt,
                             .ops = &ops,
                             .user = user,
                             .free_user = free,
                             .settings = period ? &user->ticks : NULL,
                             .setting_count = period > 0 };
    return GALE_OK;
}
