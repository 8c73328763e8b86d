#include "connect/net/held.h"

#include "kit/losses.h"
#include "kit/recall.h"

#include <stdio.h>

void gx_net_held_init(gx_net_held *held, const gx_net_sink_settings *given, gx_heap *heap, const gale_context *context,
                      gale_collector *out) {
    held->context = context;
    held->out = out;
    held->max_bytes = given->options.max_bytes;
    gx_net_former_init(&held->former, given, heap);
    gx_outgoing_init(&held->records, heap);
    gx_renewal_init(&held->renewal, gx_outgoing_renew, &held->records, context, out);
}

void gx_net_held_fini(gx_net_held *held) {
    gx_net_former_fini(&held->former);
    gx_outgoing_fini(&held->records);
}

/* Who feeds it waits while it has enough, and until it has half of that. */
static void hold_back(gx_net_held *held) {
    uint64_t waiting = gx_outgoing_waiting(&held->records), most = held->max_bytes;
    bool full = held->full ? waiting > most / 2 : waiting >= most;
    if (full != held->full) (void)gale_congest(held->out, full);
    held->full = full;
}

/* Forms the record of a tuple that is held under a handle. */
static int form(gx_net_held *held, const gale_tuple *tuple) {
    if (!gx_outgoing_reserve(&held->records)) return GALE_NO_MEMORY;
    return gx_net_form(&held->former, tuple, held->out, &held->records.bytes);
}

int gx_net_held_add(gx_net_held *held, const gale_tuple *tuple) {
    gale_handle handle = gale_tuple_handle(tuple), own;
    size_t before = held->records.bytes.size;
    if (gale_tuple_is_tick(tuple)) return gale_ack(held->out, handle);
    int rc = form(held, tuple);
    if (rc == GALE_INVALID) return gale_reject(held->out, handle, gx_net_refusal(&held->former));
    if (rc == 0) rc = gx_renewal_note(&held->renewal);
    if (rc == 0) rc = gale_tuple_hold(held->out, handle, &own);
    if (rc < 0) {
        held->records.bytes.size = before;
        return rc;
    }
    gx_outgoing_add(&held->records, own);
    hold_back(held);
    return 0;
}

bool gx_net_held_take(gx_net_held *held, uint64_t taken) {
    gale_handle tuple;
    bool some = false;
    for (; gx_outgoing_take(&held->records, taken, &tuple); some = true) (void)gale_ack(held->out, tuple);
    hold_back(held);
    return some;
}

void gx_net_held_fail_first(gx_net_held *held, int32_t reason, const char *why) {
    gale_handle tuple;
    if (!gx_outgoing_drop(&held->records, &tuple)) return;
    (void)gale_fail(held->out, tuple, reason, why);
    hold_back(held);
}

void gx_net_held_lose(gx_net_held *held, uint64_t taken, const char *why) {
    char text[GALE_FAILURE_TEXT];
    uint32_t losses = gx_outgoing_rewind(&held->records, taken);
    if (losses < gx_losses_most(held->context)) return;
    gx_losses_text(text, losses, "connection", why);
    gx_net_held_fail_first(held, GALE_REASON_REJECTED, text);
    (void)gx_outgoing_rewind(&held->records, 0);
}

void gx_net_held_tell(gx_net_held *held, const char *why) {
    char text[GALE_FAILURE_TEXT];
    if (!why && !held->down) return;
    held->down = why != NULL;
    if (why) snprintf(text, sizeof text, "%s: %s", held->former.given->address, why);
    gale_health(held->out, why ? text : NULL);
}

int gx_net_held_save(const gx_net_held *held, gale_saver *to) {
    return gx_outgoing_save(&held->records, to);
}

/* The run that goes on may have another framing than the one that has held it. */
static int form_again(void *user, const gale_tuple *tuple) {
    gx_net_held *held = user;
    int rc = form(held, tuple);
    if (rc == GALE_INVALID) gale_report(held->out, gx_net_refusal(&held->former));
    return rc;
}

int gx_net_held_restore(gx_net_held *held, gale_saved *from) {
    gx_recall recall = { from, held->out, "net sink", held->context, 0 };
    int rc = gx_outgoing_restore(&held->records, &recall, form_again, held);
    return rc == 0 && held->records.count ? gx_renewal_note(&held->renewal) : rc;
}
