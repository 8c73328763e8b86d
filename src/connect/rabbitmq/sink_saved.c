/* What a sink has in a checkpoint: the names of its messages, and the tuples. A run that goes on publishes them under the same names. */
#include "connect/rabbitmq/sink.h"

#include <stdlib.h>
#include <string.h>

/* One record of all names, in the order of their tuples; then the dispatch's. */
typedef struct saved_name {
    uint64_t tuple, life, number;
} saved_name;

/* --- Saving ----------------------------------------------------------------------------------------------------------- */

static int save(void *self, gale_saver *to) {
    rmq_sink *s = self;
    size_t count = 0;
    saved_name *names = calloc(s->flight.count + 1, sizeof *names);
    if (!names) return GALE_NO_MEMORY;
    for (const rmq_flying *one = s->flight.first; one; one = one->behind) {
        gale_handle tuple = gale_tuple_handle(gale_dispatch_tuple(s->dispatch, one->id));
        names[count++] = (saved_name){ tuple, one->name.life, one->name.number };
    }
    const gale_value bytes = gale_bytes(names, count * sizeof *names);
    int rc = gale_save(to, &bytes, 1);
    free(names);
    rmq_flight_save(&s->flight, gale_save_checkpoint(to));
    s->wished = false;
    return rc < 0 ? rc : gale_dispatch_save(s->dispatch, to);
}

static void committed(void *self, uint64_t checkpoint) {
    rmq_sink *s = self;
    rmq_flight_kept(&s->flight, checkpoint);
    rmq_sink_go_on(s);
}

/* --- Restoring -------------------------------------------------------------------------------------------------------- */

typedef struct recalling {
    rmq_sink *sink;
    const saved_name *names;
    size_t count, next;
} recalling;

static int damaged(rmq_sink *s) {
    gale_report(s->out, "rabbitmq sink: what was saved of its messages is damaged");
    return GALE_DAMAGED;
}

/* A tuple that is none any more has left its name behind. */
static int take_again(void *user, uint64_t id, const gale_tuple *tuple) {
    recalling *w = user;
    rmq_sink *s = w->sink;
    char why[GALE_FAILURE_TEXT];
    rmq_message *m;
    gale_handle handle = gale_tuple_handle(tuple);
    while (w->next < w->count && w->names[w->next].tuple != handle) w->next++;
    if (w->next == w->count) return damaged(s);
    const saved_name *saved = &w->names[w->next++];
    const rmq_name name = { saved->life, saved->number };
    int rc = rmq_message_form(&s->given->fields, tuple, name, &m, why, sizeof why);
    if (rc == GALE_INVALID) return gale_dispatch_fail(s->dispatch, id, GALE_REASON_REJECTED, why);
    if (rc < 0) return rc;
    rmq_flying *one = rmq_flight_add(&s->flight, name, 2 * m->size, false);
    rmq_note_free(&m->note);
    if (!one) return GALE_NO_MEMORY;
    one->id = id;
    return 0;
}

/* What comes from now on has names of a new life: which numbers the old one had given since is not known. */
static int restore(void *self, gale_saved *from, gale_collector *out) {
    rmq_sink *s = self;
    const gale_value *v;
    size_t values;
    (void)out;
    int rc = gale_saved_next(from, &v, &values);
    if (rc < 0) return rc;
    if (rc == 0 || values != 1 || v[0].type != GALE_TYPE_BYTES || v[0].size % sizeof(saved_name)) return damaged(s);
    saved_name *names = malloc(v[0].size + 1);
    if (!names) return GALE_NO_MEMORY;
    if (v[0].size) memcpy(names, v[0].as.bytes, v[0].size);
    recalling w = { .sink = s, .names = names, .count = v[0].size / sizeof *names };
    rc = gale_dispatch_restore(s->dispatch, from, take_again, &w);
    free(names);
    return rc;
}

const gale_durable_ops rmq_sink_durable = {
    .size = sizeof rmq_sink_durable,
    .version = 1,
    .flags = GALE_DURABLE_OUTSIDE,
    .save = save,
    .restore = restore,
    .committed = committed,
};
