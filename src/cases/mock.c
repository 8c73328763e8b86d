#include "cases/mock.h"

#include <gale/watch.h>
#include <stdlib.h>
#include <string.h>

typedef struct later {
    gale_handle tuple;
    int64_t due;
    const gx_mock_answer *answer;
} later;

typedef struct instance {
    const gx_mock *mock;
    const gale_context *context;
    gale_watch watch; /* of the next that is due */
    later *list;      /* in the order in which they came */
    size_t count, room;
} instance;

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

static int wait_for_next(const instance *self, gale_collector *out) {
    int64_t due = 0;
    for (size_t i = 0; i < self->count; i++)
        if (!due || self->list[i].due < due) due = self->list[i].due;
    return gale_watch_set(out, self->watch, 0, due);
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
    return rc < 0 ? rc : wait_for_next(self, out);
}

/* What is due; and from now on the next of the others is waited for. */
static int release(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    instance *self = user;
    int64_t now = gale_context_now(self->context);
    size_t kept = 0;
    int rc = GALE_OK;
    (void)watch, (void)events;
    for (size_t i = 0; i < self->count; i++) {
        later l = self->list[i];
        if (l.due > now)
            self->list[kept++] = l;
        else if (rc >= 0)
            rc = give(l.answer, l.tuple, out);
    }
    self->count = kept;
    int set = wait_for_next(self, out);
    return rc < 0 ? rc : set;
}

static int execute(void *user, const gale_tuple *tuple, gale_collector *out) {
    instance *self = user;
    const gx_mock_answer *answer = find(self->mock, tuple);
    if (!answer) return refuse(tuple, out);
    return answer->after ? hold(self, answer, tuple, out) : give(answer, gale_tuple_handle(tuple), out);
}

/* --- Making ------------------------------------------------------------------------------------------------------- */

static int prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    instance *self = calloc(1, sizeof *self);
    if (!self) return GALE_NO_MEMORY;
    self->mock = user;
    self->context = context;
    const gale_watch_options options = { .size = sizeof options, .fd = -1, .call = release, .user = self };
    int rc = gale_watch_new(out, &options, &self->watch);
    if (rc < 0)
        free(self);
    else
        *ret_self = self;
    return rc;
}

gale_bolt gx_mock_bolt(const gx_mock *mock) {
    static const gale_bolt_ops ops = { .size = sizeof ops,
                                       .name = "mock",
                                       .kind = GALE_BOLT_MANUAL,
                                       .prepare = prepare,
                                       .execute = execute,
                                       .cleanup = cleanup };
    return (gale_bolt){ .size = sizeof(gale_bolt), .ops = &ops, .user = (void *)mock };
}
