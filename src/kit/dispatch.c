/* Tuples of a sink until somebody has confirmed them: gale_dispatch. Each has a slot; those that are on their way hang in a list, in order. An id
 * is a slot and how often it was used, so that one that was answered names nothing any more. */
#include "kit/losses.h"
#include "kit/recall.h"
#include "kit/renewal.h"

#include <gale/connect.h>
#include <inttypes.h>
#include <stdio.h>

#define NONE UINT32_MAX
enum { MEMORY = 16 << 20, MOST = 100000 };

static const char who[] = "dispatch";

typedef struct slot {
    gale_handle tuple;
    size_t bytes;
    uint32_t uses;         /* odd: it is on its way */
    uint32_t older, newer; /* in the list; of those that are free, `newer` alone */
    uint32_t losses;       /* connections that ended while it was alone on its way */
    bool sent;             /* on the connection that there is */
    bool lost, suspect;    /* was on its way when a connection ended; when two did, or was alone then */
} slot;

struct gale_dispatch {
    gx_instance instance;
    gale_collector *out;
    gale_dispatch_options options;
    gx_renewal renewal;
    slot *slots;
    size_t capacity;
    uint32_t used, free_first, oldest, newest;
    uint64_t count, bytes;
    uint64_t sent, suspects; /* how many are */
    uint32_t losses_most;
    bool full; /* as the engine was told */
};

static bool renew(const void *held, gale_collector *out) {
    const gale_dispatch *dispatch = held;
    for (uint32_t i = dispatch->oldest; i != NONE; i = dispatch->slots[i].newer)
        (void)gale_reset_timeout(out, dispatch->slots[i].tuple);
    return dispatch->count > 0;
}

int gale_dispatch_new(const gale_context *context, gale_collector *out, const gale_dispatch_options *options,
                      gale_dispatch **ret_dispatch, gale_error *error) {
    gale_dispatch_options given;
    if (!context || !out || !ret_dispatch)
        return gale_error_set(error, GALE_INVALID, "%s: NULL for what must be there", who);
    int rc = gx_options_take(&given, sizeof given, options, "dispatch: options", error);
    if (rc < 0) return rc;
    gale_dispatch *dispatch = gx_define_instance(context, sizeof *dispatch);
    if (!dispatch) return gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", who);
    if (!given.memory) given.memory = MEMORY;
    if (!given.most) given.most = MOST;
    dispatch->out = out;
    dispatch->options = given;
    dispatch->losses_most = gx_losses_most(context);
    dispatch->free_first = dispatch->oldest = dispatch->newest = NONE;
    gx_renewal_init(&dispatch->renewal, renew, dispatch, context, out);
    *ret_dispatch = dispatch;
    return 0;
}

void gale_dispatch_free(gale_dispatch *dispatch) {
    if (!dispatch) return;
    gx_renewal_end(&dispatch->renewal);
    gx_free(&dispatch->instance.heap, GX_TAG_OTHER, dispatch->slots, dispatch->capacity * sizeof *dispatch->slots);
    gx_define_instance_free(dispatch);
}

/* --- Slots ---------------------------------------------------------------------------------------------------------- */

static bool have_free(gale_dispatch *dispatch) {
    if (dispatch->free_first != NONE) return true;
    if (dispatch->used == NONE - 1) return false;
    if (!gx_grow(&dispatch->instance.heap, GX_TAG_OTHER, (void **)&dispatch->slots, &dispatch->capacity,
                 (size_t)dispatch->used + 1, sizeof *dispatch->slots))
        return false;
    dispatch->slots[dispatch->used] = (slot){ .newer = NONE };
    dispatch->free_first = dispatch->used++;
    return true;
}

static uint64_t link_newest(gale_dispatch *dispatch, gale_handle tuple, size_t bytes) {
    uint32_t index = dispatch->free_first;
    slot *s = &dispatch->slots[index];
    dispatch->free_first = s->newer;
    *s = (slot){ .tuple = tuple, .bytes = bytes, .uses = s->uses + 1, .older = dispatch->newest, .newer = NONE };
    *(dispatch->newest == NONE ? &dispatch->oldest : &dispatch->slots[dispatch->newest].newer) = index;
    dispatch->newest = index;
    dispatch->count++;
    dispatch->bytes += bytes;
    return (uint64_t)s->uses << 32 | index;
}

static void unlink_slot(gale_dispatch *dispatch, slot *s) {
    *(s->older == NONE ? &dispatch->oldest : &dispatch->slots[s->older].newer) = s->newer;
    *(s->newer == NONE ? &dispatch->newest : &dispatch->slots[s->newer].older) = s->older;
    dispatch->count--;
    dispatch->bytes -= s->bytes;
    dispatch->sent -= s->sent;
    dispatch->suspects -= s->suspect;
    s->uses++;
    s->newer = dispatch->free_first;
    dispatch->free_first = (uint32_t)(s - dispatch->slots);
}

static slot *slot_of(const gale_dispatch *dispatch, uint64_t id) {
    uint32_t index = (uint32_t)id, uses = (uint32_t)(id >> 32);
    bool is = dispatch && index < dispatch->used && (uses & 1) && dispatch->slots[index].uses == uses;
    return is ? &dispatch->slots[index] : NULL;
}

/* Who feeds it waits while it has enough, and until it has half of that. */
static void hold_back(gale_dispatch *dispatch) {
    uint64_t share = dispatch->full ? 2 : 1;
    bool full = dispatch->bytes >= dispatch->options.memory / share ||
                dispatch->count >= dispatch->options.most / share;
    if (full == dispatch->full) return;
    dispatch->full = full;
    (void)gale_congest(dispatch->out, full);
}

/* --- On their way --------------------------------------------------------------------------------------------------- */

int gale_dispatch_hold(gale_dispatch *dispatch, const gale_tuple *tuple, size_t bytes, uint64_t *ret_id) {
    gale_handle held;
    if (!dispatch || !tuple || !ret_id) return GALE_INVALID;
    if (!have_free(dispatch)) return GALE_NO_MEMORY;
    int rc = gx_renewal_note(&dispatch->renewal);
    if (rc == 0) rc = gale_tuple_hold(dispatch->out, gale_tuple_handle(tuple), &held);
    if (rc < 0) return rc;
    *ret_id = link_newest(dispatch, held, bytes);
    hold_back(dispatch);
    return 0;
}

const gale_tuple *gale_dispatch_tuple(const gale_dispatch *dispatch, uint64_t id) {
    const slot *s = slot_of(dispatch, id);
    return s ? gale_held(dispatch->out, s->tuple) : NULL;
}

int gale_dispatch_ack(gale_dispatch *dispatch, uint64_t id) {
    slot *s = slot_of(dispatch, id);
    if (!s) return GALE_NOT_FOUND;
    gale_handle tuple = s->tuple;
    unlink_slot(dispatch, s);
    hold_back(dispatch);
    return gale_ack(dispatch->out, tuple);
}

int gale_dispatch_fail(gale_dispatch *dispatch, uint64_t id, int32_t reason, const char *text) {
    slot *s = slot_of(dispatch, id);
    if (!s) return GALE_NOT_FOUND;
    gale_handle tuple = s->tuple;
    unlink_slot(dispatch, s);
    hold_back(dispatch);
    return gale_fail(dispatch->out, tuple, reason, text);
}

uint64_t gale_dispatch_count(const gale_dispatch *dispatch) {
    return dispatch ? dispatch->count : 0;
}

/* --- Connections that end ------------------------------------------------------------------------------------------- */

bool gale_dispatch_may_send(const gale_dispatch *dispatch) {
    return dispatch && (!dispatch->suspects || !dispatch->sent);
}

void gale_dispatch_sent(gale_dispatch *dispatch, uint64_t id) {
    slot *s = slot_of(dispatch, id);
    if (!s || s->sent) return;
    s->sent = true;
    dispatch->sent++;
}

/* Its id, when that was the last that it may have; else 0. A server that was started again ends the connection of many once. */
static uint64_t count_loss(gale_dispatch *dispatch, slot *s, bool alone) {
    uint64_t id = (uint64_t)s->uses << 32 | (uint32_t)(s - dispatch->slots);
    bool is_suspect = alone || s->lost;
    dispatch->suspects += is_suspect && !s->suspect;
    s->suspect = s->suspect || is_suspect;
    s->lost = true;
    s->losses += alone;
    return s->losses >= dispatch->losses_most ? id : 0;
}

static void reject(gale_dispatch *dispatch, uint64_t id, const char *why) {
    char text[GALE_FAILURE_TEXT];
    gx_losses_text(text, slot_of(dispatch, id)->losses, "connection", why);
    (void)gale_dispatch_fail(dispatch, id, GALE_REASON_REJECTED, text);
}

uint64_t gale_dispatch_lost(gale_dispatch *dispatch, bool counts, const char *why) {
    uint64_t culprit = 0;
    if (!dispatch) return 0;
    bool alone = dispatch->sent == 1;
    for (uint32_t i = dispatch->sent ? dispatch->oldest : NONE; i != NONE; i = dispatch->slots[i].newer) {
        slot *s = &dispatch->slots[i];
        if (!s->sent) continue;
        s->sent = false;
        if (counts) culprit = count_loss(dispatch, s, alone);
    }
    dispatch->sent = 0;
    if (culprit) reject(dispatch, culprit, why);
    return culprit;
}

bool gale_dispatch_blame(gale_dispatch *dispatch, uint64_t id, const char *why) {
    slot *s = slot_of(dispatch, id);
    if (!s || ++s->losses < dispatch->losses_most) return false;
    reject(dispatch, id, why);
    return true;
}

int gale_dispatch_finish(gale_dispatch *dispatch, int64_t patience, const char *name, const char *what,
                         gale_dispatch_drive_fn *drive, void *user) {
    if (!dispatch) return 0;
    if (!name || !what || !drive) return GALE_INVALID;
    const gale_context *context = dispatch->instance.context;
    int64_t moved = gale_context_now(context);
    uint64_t left = dispatch->count;
    while (dispatch->count && gale_context_now(context) - moved < patience) {
        drive(user);
        if (dispatch->count < left) moved = gale_context_now(context);
        left = dispatch->count;
    }
    if (!left) return 0;
    char text[GALE_FAILURE_TEXT];
    snprintf(text, sizeof text, "%s: %" PRIu64 " tuple%s not %s within %g s (finishWait)", name, left,
             left == 1 ? " was" : "s were", what, (double)patience / 1e9);
    gale_report(dispatch->out, text);
    return GALE_IO;
}

/* --- What lasts ----------------------------------------------------------------------------------------------------- */

int gale_dispatch_save(const gale_dispatch *dispatch, gale_saver *to) {
    int rc = dispatch && to ? 0 : GALE_INVALID;
    for (uint32_t i = rc == 0 ? dispatch->oldest : NONE; rc == 0 && i != NONE; i = dispatch->slots[i].newer) {
        const slot *s = &dispatch->slots[i];
        const gale_value row[] = { gale_i64((int64_t)s->tuple), gale_i64((int64_t)s->bytes) };
        rc = gale_save(to, row, 2);
    }
    return rc;
}

/* Of a tuple that is held; one that was answered since is none of ours. */
static int take_back(gale_dispatch *dispatch, gale_handle held, size_t bytes, gale_dispatch_send_fn *send, void *user) {
    const gale_tuple *tuple = gale_held(dispatch->out, held);
    if (!tuple) return 0;
    if (!have_free(dispatch)) return GALE_NO_MEMORY;
    int rc = gx_renewal_note(&dispatch->renewal);
    if (rc < 0) return rc;
    uint64_t id = link_newest(dispatch, held, bytes);
    hold_back(dispatch);
    return send(user, id, tuple);
}

int gale_dispatch_restore(gale_dispatch *dispatch, gale_saved *from, gale_dispatch_send_fn *send, void *user) {
    const gale_value *v;
    int rc;
    if (!dispatch || !from || !send) return GALE_INVALID;
    gx_recall recall = { from, dispatch->out, who, dispatch->instance.context, 0 };
    while ((rc = gx_recall_next(&recall, "in", &v)) > 0) {
        rc = take_back(dispatch, (gale_handle)v[0].as.i64, (size_t)v[1].as.i64, send, user);
        if (rc < 0) return rc;
    }
    return rc;
}
