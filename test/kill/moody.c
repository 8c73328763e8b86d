#include "job.h"

#include <gale/state.h>
#include <stdlib.h>
#include <string.h>

/* What it never answers; of so many the oldest, at last. */
enum { HELD = 16 };

typedef struct moody {
    const gale_context *context;
    gale_handle held[HELD];
    uint64_t count;
} moody;

static int moody_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    moody *made = calloc(1, sizeof *made);
    (void)user, (void)out;
    if (!made) return GALE_NO_MEMORY;
    made->context = context;
    *ret_self = made;
    return 0;
}

static int keep_waiting(moody *m, gale_handle tuple, gale_collector *out) {
    gale_handle *place = &m->held[m->count++ % HELD];
    if (m->count > HELD)
        (void)gale_fail(out, *place, GALE_REASON_FAILED, "never answered"); /* its tree is over long since */
    return gale_tuple_hold(out, tuple, place);
}

/* What nobody answers would be waited for. */
static int moody_finish(void *self, gale_collector *out) {
    const moody *m = self;
    for (uint64_t i = 0; i < m->count && i < HELD; i++)
        (void)gale_fail(out, m->held[i], GALE_REASON_FAILED, "never answered");
    return 0;
}

static int emit_words(char *rest, int64_t number, gale_collector *out) {
    gale_value value = gale_i64(number);
    int rc = gale_emit_unanchored(out, 0, &value, 1);
    for (char *word; rc >= 0 && (word = strsep(&rest, " ")) != NULL;) {
        value = gale_string(word, strlen(word));
        rc = gale_emit_unanchored(out, 1, &value, 1);
    }
    return rc;
}

/* Before it emits anything: what an attempt did that failed stays. */
static int moody_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    moody *m = self;
    gale_handle handle = gale_tuple_handle(tuple);
    gale_value line = gale_tuple_value(tuple, 0);
    char text[2000], *rest = text;
    if (gale_tuple_is_tick(tuple)) return 0;
    if (line.type != GALE_TYPE_STRING || line.size >= sizeof text) return GALE_TYPE;
    memcpy(text, line.as.string, line.size);
    text[line.size] = 0;
    int64_t number = strtoll(strsep(&rest, " "), NULL, 10);
    uint64_t mood = gale_context_random(m->context) % 4;
    if (number % 50 == 7) return gale_reject(out, handle, "never");
    if (number % 211 == 9 || (number % 20 == 3 && mood == 0))
        return gale_fail(out, handle, GALE_REASON_FAILED, "not now");
    if (number % 97 == 5 && mood < 2) return keep_waiting(m, handle, out);
    int rc = emit_words(rest, number, out);
    return rc < 0 ? rc : gale_ack(out, handle);
}

gale_bolt job_moody(void) {
    static const gale_output outputs[] = { { NULL, "number" }, { "words", "word" } };
    static const gale_bolt_ops ops = { .size = sizeof ops,
                                       .name = "moody",
                                       .kind = GALE_BOLT_MANUAL,
                                       .prepare = moody_prepare,
                                       .execute = moody_execute,
                                       .finish = moody_finish,
                                       .cleanup = free,
                                       .durable = &gale_stateless };
    return (gale_bolt){ .size = sizeof(gale_bolt), .ops = &ops, .outputs = outputs, .output_count = 2 };
}
