/* Rows of a source until their answers: gale_intake. A row lies in a slot of kit/retry, as the body of a tuple. */
#include "kit/define.h"
#include "kit/pace.h"
#include "kit/recall.h"
#include "kit/retry.h"
#include "tuple/body.h"

#include <gale/connect.h>
#include <gale/watch.h>

enum { MEMORY = 64 << 20, LARGEST = 256 << 20, WAITING = 100000 };

static const char who[] = "intake";

typedef struct gx_wait_row {
    uint32_t source;
    int64_t place;
} gx_wait_row;

/* In a durable run: what was acked and waits for a checkpoint, in order. There is room for all that is kept, so that an ack needs no memory. */
typedef struct gx_waiting {
    gx_wait_row *rows;
    size_t capacity, count;
    size_t cut; /* so many of them, the first, are in `checkpoint` */
    uint64_t checkpoint;
    bool wished; /* for one */
} gx_waiting;

struct gale_intake {
    gx_instance instance;
    gale_collector *out;
    gale_intake_options options;
    gx_retry retry;
    gx_pace pace;
    gx_buf body;
    bool full;       /* it has said that it wants nothing */
    gale_watch wake; /* for when that is over */
    gx_waiting waiting;
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

static gale_answered answer_of(const gx_retry_slot *slot) {
    return (gale_answered){ .size = sizeof(gale_answered), .source = slot->source, .place = slot->place };
}

/* One that failed, of which `values` has room for all. */
static gale_answered failure_of(const gx_retry_slot *slot, const gale_failure *failure, gale_value *values) {
    gale_answered answered = answer_of(slot);
    answered.failure = failure;
    answered.count = values_of(slot, values);
    answered.values = values;
    return answered;
}

static void answer(const gale_intake *intake, const gale_answered *answered) {
    if (intake->options.answered) intake->options.answered(intake->options.user, answered);
}

static void given_up(void *user, const gx_retry_slot *slot, const gale_failure *failure) {
    gale_value values[GALE_INTAKE_VALUES_MAX];
    gale_answered answered = failure_of(slot, failure, values);
    answer(user, &answered);
}

static bool give_back(void *user, const gx_retry_slot *slot, const gale_failure *failure) {
    const gale_intake *intake = user;
    gale_value values[GALE_INTAKE_VALUES_MAX];
    if (!intake->options.give_back) return false;
    gale_answered answered = failure_of(slot, failure, values);
    return intake->options.give_back(intake->options.user, &answered);
}

static void name_row(void *user, const gx_retry_slot *slot, char *to, size_t size) {
    const gale_intake *intake = user;
    gale_value values[GALE_INTAKE_VALUES_MAX];
    gale_answered answered = failure_of(slot, NULL, values);
    intake->options.name(intake->options.user, &answered, to, size);
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
    if (!given.waiting) given.waiting = WAITING;
    intake->out = out;
    intake->options = given;
    intake->body = (gx_buf)GX_BUF_INIT(&intake->instance.heap);
    gx_pace_init(&intake->pace, context);
    gx_retry_init(&intake->retry, &intake->instance.heap, out, given.attempts);
    intake->retry.what = given.what ? given.what : "message";
    intake->retry.given_up_call = given_up;
    intake->retry.give_back_call = give_back;
    intake->retry.name_call = given.name ? name_row : NULL;
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
    gx_free(&intake->instance.heap, GX_TAG_OTHER, intake->waiting.rows,
            intake->waiting.capacity * sizeof *intake->waiting.rows);
    gx_define_instance_free(intake);
}

/* What waits for a checkpoint is small; four times what asks for one is much of it. */
static bool has_space(const gale_intake *intake) {
    return intake->retry.bytes < intake->options.memory && intake->waiting.count / 4 < intake->options.waiting;
}

bool gale_intake_wants(const gale_intake *intake) {
    return intake && !gx_retry_waiting(&intake->retry) && has_space(intake);
}

/* --- What waits for a checkpoint ------------------------------------------------------------------------------------ */

static bool is_durable(const gale_intake *intake) {
    return intake->instance.context->durable;
}

/* For one more row than there are. */
static bool have_wait_room(gale_intake *intake) {
    gx_waiting *w = &intake->waiting;
    return !is_durable(intake) || gx_grow(&intake->instance.heap, GX_TAG_OTHER, &w->rows, &w->capacity,
                                          w->count + intake->retry.lines + 1, sizeof *w->rows);
}

static void wish(gale_intake *intake) {
    gx_waiting *w = &intake->waiting;
    bool enough = w->count >= intake->options.waiting || (intake->options.soon && !intake->retry.lines);
    if (w->wished || w->count == w->cut || !enough) return;
    w->wished = true;
    gale_wish_checkpoint(intake->out);
}

static void acked(gale_intake *intake, const gx_retry_slot *slot) {
    gx_waiting *w = &intake->waiting;
    const gale_answered answered = answer_of(slot);
    if (is_durable(intake))
        w->rows[w->count++] = (gx_wait_row){ slot->source, slot->place };
    else
        answer(intake, &answered);
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
    int rc = have_wait_room(intake) ? write_body(&intake->body, values, count) : GALE_NO_MEMORY;
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
    if (intake->options.emits && count > intake->options.emits) count = intake->options.emits;
    int rc = gx_retry_emit_row(&intake->retry, intake->out, id, values, count);
    if (rc == GALE_NEXT_EMITTED) gx_pace_step(&intake->pace);
    return rc;
}

static void look_for_room(gale_intake *intake) {
    if (!intake->full || !has_space(intake)) return;
    intake->full = false;
    (void)gale_watch_set(intake->out, intake->wake, 0, gale_context_now(intake->instance.context));
}

void gale_intake_ack(gale_intake *intake, const uint64_t *message_ids, size_t count) {
    if (!intake || !message_ids) return;
    for (size_t i = 0; i < count; i++) {
        const gx_retry_slot *slot = gx_retry_open_slot(&intake->retry, message_ids[i]);
        if (!slot) continue;
        acked(intake, slot);
        gx_retry_ack(&intake->retry, message_ids[i]);
    }
    wish(intake);
    look_for_room(intake);
}

void gale_intake_fail(gale_intake *intake, uint64_t message_id, const gale_failure *failure) {
    if (!intake || !failure) return;
    gx_retry_fail(&intake->retry, message_id, failure);
    wish(intake);
    look_for_room(intake);
}

static bool is_dropped(void *user, uint64_t message_id) {
    const gale_intake *intake = user;
    const gx_retry_slot *slot = gx_retry_open_slot(&intake->retry, message_id);
    return slot && slot->dropped;
}

void gale_intake_drop(gale_intake *intake, uint32_t source) {
    if (!intake) return;
    if (gx_retry_drop(&intake->retry, source)) (void)gale_source_lost(intake->out, is_dropped, intake);
    look_for_room(intake);
}

/* --- Beyond the process --------------------------------------------------------------------------------------------- */

/* Behind the rows, in their order: the sources of all of them, four bytes each. */
static const char sources_shape[] = "y";

static int save_sources(gale_intake *intake, gale_saver *to) {
    gx_buf *bytes = &intake->body;
    gx_buf_reset(bytes);
    for (uint32_t id = intake->retry.oldest; id != UINT32_MAX; id = intake->retry.slots[id].newer)
        gx_buf_add(bytes, &intake->retry.slots[id].source, sizeof(uint32_t));
    gale_value sources = gale_bytes(bytes->data, bytes->size);
    return bytes->failed ? GALE_NO_MEMORY : gale_save(to, &sources, 1);
}

int gale_intake_save(gale_intake *intake, gale_saver *to) {
    if (!intake || !to) return GALE_INVALID;
    int rc = gx_retry_save(&intake->retry, to);
    if (rc == 0) rc = save_sources(intake, to);
    intake->waiting.cut = intake->waiting.count;
    intake->waiting.checkpoint = gale_save_checkpoint(to);
    intake->waiting.wished = false;
    return rc;
}

static int restore_sources(gale_intake *intake, gx_recall *recall, gale_intake_each_fn *each, void *user) {
    const gale_value *v;
    int rc = gx_recall_one(recall, sources_shape, &v);
    if (rc < 0) return rc;
    if (v[0].size != intake->retry.lines * sizeof(uint32_t)) return gx_recall_refuse(recall, "is not of all rows");
    const char *at = v[0].as.bytes;
    for (uint32_t id = intake->retry.oldest; id != UINT32_MAX; id = intake->retry.slots[id].newer) {
        gx_retry_slot *slot = &intake->retry.slots[id];
        memcpy(&slot->source, at, sizeof slot->source);
        at += sizeof slot->source;
        if (!gx_body_fits(slot->data, slot->size) || gale_body_count((gale_body *)slot->data) > GALE_INTAKE_VALUES_MAX)
            return gx_recall_refuse(recall, "is of a row that was not written so");
        if (each) each(user, slot->source, slot->place);
    }
    return 0;
}

int gale_intake_restore(gale_intake *intake, gale_saved *from, gale_intake_each_fn *each, void *user) {
    if (!intake || !from) return GALE_INVALID;
    gx_recall recall = { from, intake->out, who, intake->instance.context, 0 };
    int rc = gx_retry_recall(&intake->retry, &recall);
    if (rc == 0) rc = restore_sources(intake, &recall, each, user);
    return rc == 0 && !have_wait_room(intake) ? GALE_NO_MEMORY : rc;
}

void gale_intake_committed(gale_intake *intake, uint64_t checkpoint) {
    if (!intake || checkpoint < intake->waiting.checkpoint) return;
    gx_waiting *w = &intake->waiting;
    for (size_t i = 0; i < w->cut; i++) {
        const gale_answered answered = { .size = sizeof answered,
                                         .source = w->rows[i].source,
                                         .place = w->rows[i].place };
        answer(intake, &answered);
    }
    w->count -= w->cut;
    if (w->count) memmove(w->rows, w->rows + w->cut, w->count * sizeof *w->rows);
    w->cut = 0;
    wish(intake);
    look_for_room(intake);
}

uint64_t gale_intake_count(const gale_intake *intake) {
    return intake ? intake->retry.lines : 0;
}

uint64_t gale_intake_given_up(const gale_intake *intake) {
    return intake ? intake->retry.given_up : 0;
}
