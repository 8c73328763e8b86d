#include "connect/file/sent.h"

#include "kit/record.h"

#include <inttypes.h>
#include <stdio.h>

void gx_file_sent_name(uint64_t number, int64_t place, char name[GX_FILE_SENT_NAME]) {
    if (number)
        snprintf(name, GX_FILE_SENT_NAME, "line %" PRIu64, number);
    else
        snprintf(name, GX_FILE_SENT_NAME, "the line at byte %" PRId64, place);
}

static void name_line(void *user, const gx_retry_slot *slot, char *to, size_t size) {
    char name[GX_FILE_SENT_NAME];
    (void)user;
    gx_file_sent_name(slot->number, slot->place, name);
    snprintf(to, size, "%s", name);
}

void gx_file_sent_init(gx_file_sent *sent, gx_heap *heap, gale_collector *out, uint32_t max_attempts) {
    sent->inherited = NULL;
    sent->memory_tries = 0;
    gx_retry_init(&sent->own, heap, out, max_attempts);
    sent->own.name_call = name_line;
}

void gx_file_sent_fini(gx_file_sent *sent) {
    while (sent->inherited) {
        gx_file_inherited *old = sent->inherited;
        sent->inherited = old->next;
        gx_retry_fini(&old->retry);
        gx_free(sent->own.heap, GX_TAG_OTHER, old, sizeof *old);
    }
    gx_retry_fini(&sent->own);
}

gx_retry *gx_file_sent_waiting(gx_file_sent *sent) {
    for (gx_file_inherited *old = sent->inherited; GX_UNLIKELY(old != NULL); old = old->next)
        if (gx_retry_waiting(&old->retry)) return &old->retry;
    return gx_retry_waiting(&sent->own) ? &sent->own : NULL;
}

void gx_file_sent_ack(gx_file_sent *sent, uint64_t message_id) {
    gx_retry_ack(&sent->own, message_id);
    for (gx_file_inherited *old = sent->inherited; GX_UNLIKELY(old != NULL); old = old->next)
        gx_retry_ack(&old->retry, message_id);
}

void gx_file_sent_fail(gx_file_sent *sent, uint64_t message_id, const gale_failure *failure) {
    gx_retry_fail(&sent->own, message_id, failure);
    for (gx_file_inherited *old = sent->inherited; old; old = old->next)
        gx_retry_fail(&old->retry, message_id, failure);
}

bool gx_file_sent_may_wait(gx_file_sent *sent) {
    enum { TRIES = 12 }; /* the engine backs off between them */
    sent->memory_tries = gx_retry_oldest(&sent->own) ? 0 : sent->memory_tries + 1;
    return sent->memory_tries < TRIES;
}

int gx_file_sent_inherit(gx_file_sent *sent, uint32_t tag, gale_saved *from, gx_retry **ret_retry) {
    gx_file_inherited *old = gx_alloc(sent->own.heap, GX_TAG_OTHER, sizeof *old);
    if (!old) return GALE_NO_MEMORY;
    gx_retry_init(&old->retry, sent->own.heap, sent->own.out, sent->own.max_attempts);
    old->retry.tag = (uint64_t)tag << 32;
    old->retry.name_call = name_line;
    old->next = sent->inherited;
    sent->inherited = old;
    if (ret_retry) *ret_retry = &old->retry;
    return gx_retry_restore(&old->retry, from);
}

/* How many have lines; each: its tag, and they. */
static const char inherited_shape[] = "n", tag_shape[] = "n";

int gx_file_sent_save_inherited(const gx_file_sent *sent, gale_saver *to, gx_file_sent_save_fn *each, void *user) {
    int64_t count = 0;
    for (const gx_file_inherited *old = sent->inherited; old; old = old->next)
        count += gx_retry_oldest(&old->retry) != NULL;
    const gale_value head = gale_i64(count);
    int rc = gale_save(to, &head, 1);
    for (const gx_file_inherited *old = sent->inherited; rc == 0 && old; old = old->next) {
        const gale_value tag = gale_i64(gx_file_sent_tag(&old->retry));
        if (!gx_retry_oldest(&old->retry)) continue;
        rc = gale_save(to, &tag, 1);
        if (rc == 0) rc = gx_retry_save(&old->retry, to);
        if (rc == 0 && each) rc = each(user, &old->retry, to);
    }
    return rc;
}

int gx_file_sent_take_inherited(gx_file_sent *sent, gale_saved *from, gx_file_sent_take_fn *each, void *user) {
    const gale_value *v;
    gx_retry *old;
    int rc = gx_record_need(from, inherited_shape, &v);
    for (int64_t count = rc == 0 ? v->as.i64 : 0; rc == 0 && count > 0; count--) {
        rc = gx_record_need(from, tag_shape, &v);
        if (rc == 0) rc = gx_file_sent_inherit(sent, (uint32_t)v->as.i64, from, &old);
        if (rc == 0 && each) rc = each(user, old, from);
    }
    return rc;
}
