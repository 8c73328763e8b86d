/* Rows of a source until their answers: gale_intake. A row lies in a slot of kit/retry, as the body of a tuple. */
#include "kit/define.h"
#include "kit/pace.h"
#include "kit/retry.h"
#include "tuple/body.h"

#include <gale/connect.h>
#include <gale/watch.h>

enum { MEMORY = 64 << 20, LARGEST = 256 << 20 };

static const char who[] = "intake";

struct gale_intake {
    gx_instance instance;
    gale_collector *out;
    gale_intake_options options;
    gx_retry retry;
    gx_pace pace;
    gx_buf body;
    bool full;       /* it has said that it wants nothing */
    gale_watch wake; /* for when that is over */
};

/* `next` is asked behind it. */
static int woken(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    (void)user, (void)out, (void)watch, (void)events;
    return 0;
}

static int begin(gale_intake *intake, gale_error *error) {
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    options.call = woken;
    int rc = gale_watch_new(intake->out, &options, &intake->wake);
    return rc < 0 ? gale_error_set(error, rc, "%s: it waits by watches: %s", who, gale_error_text(rc)) : 0;
}

static size_t values_of(const gx_retry_slot *slot, gale_value *values) {
    const gale_body *row = (const gale_body *)slot->data;
    size_t count = gale_body_count(row);
    for (size_t i = 0; i < count; i++) values[i] = gale_body_value(row, i);
    return count;
}

static void answer(gale_intake *intake, const gx_retry_slot *slot, const gale_failure *failure) {
    gale_value values[GALE_INTAKE_VALUES_MAX];
    gale_answered answered = {
        .size = sizeof answered, .source = slot->source, .place = slot->place, .failure = failure
    };
    if (!intake->options.answered) return;
    if (failure) {
        answered.count = values_of(slot, values);
        answered.values = values;
    }
    intake->options.answered(intake->options.user, &answered);
}

static void given_up(void *user, const gx_retry_slot *slot, const gale_failure *failure) {
    answer(user, slot, failure);
}

int gale_intake_new(const gale_context *context, gale_collector *out, const gale_intake_options *options,
                    gale_intake **ret_intake, gale_error *error) {
    gale_intake_options given;
    if (!context || !out || !ret_intake)
        return gale_error_set(error, GALE_INVALID, "%s: NULL for what must be there", who);
    int rc = gx_options_take(&given, sizeof given, options, "intake: options", error);
    if (rc < 0) return rc;
    gale_intake *intake = gx_define_instance(context, sizeof *intake);
    if (!intake) return gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", who);
    if (!given.memory) given.memory = MEMORY;
    intake->out = out;
    intake->options = given;
    intake->body = (gx_buf)GX_BUF_INIT(&intake->instance.heap);
    gx_pace_init(&intake->pace, context);
    gx_retry_init(&intake->retry, &intake->instance.heap, out, given.attempts);
    intake->retry.what = given.what ? given.what : "message";
    intake->retry.given_up_call = given_up;
    intake->retry.user = intake;
    rc = begin(intake, error);
    if (rc < 0) {
        gale_intake_free(intake);
        return rc;
    }
    *ret_intake = intake;
    return 0;
}

void gale_intake_free(gale_intake *intake) {
    if (!intake) return;
    if (intake->wake) (void)gale_watch_free(intake->out, intake->wake);
    gx_retry_fini(&intake->retry);
    gx_buf_fini(&intake->body);
    gx_define_instance_free(intake);
}

bool gale_intake_wants(const gale_intake *intake) {
    return intake && !gx_retry_waiting(&intake->retry) && intake->retry.bytes < intake->options.memory;
}

/* --- In ------------------------------------------------------------------------------------------------------------- */

static int write_body(gx_buf *body, const gale_value *values, size_t count) {
    int64_t size = gx_body_measure(values, count);
    if (size < 0) return (int)size;
    if (size > LARGEST) return GALE_TOO_LARGE;
    body->size = 0;
    body->failed = false;
    if (!gx_buf_reserve(body, (size_t)size)) return GALE_NO_MEMORY;
    gx_body_encode(values, count, body->data);
    body->size = (size_t)size;
    return 0;
}

int gale_intake_take(gale_intake *intake, const gale_value *values, size_t count, uint32_t source, int64_t place) {
    uint32_t id;
    if (!intake || (count && !values) || count > GALE_INTAKE_VALUES_MAX) return GALE_INVALID;
    int rc = write_body(&intake->body, values, count);
    gale_str bytes = { intake->body.data, intake->body.size };
    if (rc == 0) rc = gx_retry_add(&intake->retry, bytes, false, (uint64_t)place, &id);
    if (rc < 0) return rc;
    gx_retry_slot *slot = &intake->retry.slots[id];
    slot->source = source;
    slot->place = place;
    gx_retry_queue(&intake->retry, id);
    return 0;
}

/* --- Out ------------------------------------------------------------------------------------------------------------ */

int gale_intake_next(gale_intake *intake, gale_wait *wait) {
    gale_value values[GALE_INTAKE_VALUES_MAX];
    uint32_t id;
    if (!intake || !wait) return GALE_INVALID;
    if (!gx_retry_waiting(&intake->retry)) {
        intake->full = !gale_intake_wants(intake);
        return GALE_NEXT_WATCHED;
    }
    if (!gx_pace_ready(&intake->pace, &wait->until)) return GALE_NEXT_UNTIL;
    (void)gx_retry_take(&intake->retry, &id);
    size_t count = values_of(&intake->retry.slots[id], values);
    int rc = gx_retry_emit_row(&intake->retry, intake->out, id, values, count);
    if (rc == GALE_NEXT_EMITTED) gx_pace_step(&intake->pace);
    return rc;
}

static void look_for_room(gale_intake *intake) {
    if (!intake->full || intake->retry.bytes >= intake->options.memory) return;
    intake->full = false;
    (void)gale_watch_set(intake->out, intake->wake, 0, gale_context_now(intake->instance.context));
}

void gale_intake_ack(gale_intake *intake, const uint64_t *message_ids, size_t count) {
    if (!intake || !message_ids) return;
    for (size_t i = 0; i < count; i++) {
        const gx_retry_slot *slot = gx_retry_open_slot(&intake->retry, message_ids[i]);
        if (!slot) continue;
        answer(intake, slot, NULL);
        gx_retry_ack(&intake->retry, message_ids[i]);
    }
    look_for_room(intake);
}

void gale_intake_fail(gale_intake *intake, uint64_t message_id, const gale_failure *failure) {
    if (!intake || !failure) return;
    gx_retry_fail(&intake->retry, message_id, failure);
    look_for_room(intake);
}

void gale_intake_drop(gale_intake *intake, uint32_t source) {
    if (!intake) return;
    gx_retry_drop(&intake->retry, source);
    look_for_room(intake);
}

uint64_t gale_intake_count(const gale_intake *intake) {
    return intake ? intake->retry.lines : 0;
}

uint64_t gale_intake_given_up(const gale_intake *intake) {
    return intake ? intake->retry.given_up : 0;
}
