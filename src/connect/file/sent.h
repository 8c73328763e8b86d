/* Lines on their way: a spout task's own, and those that earlier tasks had emitted, under the message ids that they have.
 *
 * What:    message ids are slots of kit/retry with a tag above them. No two tasks of a run, and of those that it goes on
 *          from, have the same tag; what is inherited keeps its own. Failed lines that were inherited come first.
 * Threads: one at a time. Owner: memory comes from a gx_heap. */
#ifndef GX_CONNECT_FILE_SENT_H
#define GX_CONNECT_FILE_SENT_H

#include "kit/retry.h"

typedef struct gx_file_inherited {
    struct gx_file_inherited *next;
    gx_retry retry;
} gx_file_inherited;

typedef struct gx_file_sent {
    gx_retry own;
    gx_file_inherited *inherited;
    uint32_t memory_tries;
} gx_file_sent;

/* "line 12", or, where `number` is 0, "the line at byte 345". */
enum { GX_FILE_SENT_NAME = 48 };
void gx_file_sent_name(uint64_t number, int64_t place, char name[GX_FILE_SENT_NAME]);

void gx_file_sent_init(gx_file_sent *sent, gx_heap *heap, gale_collector *out, uint32_t max_attempts);
void gx_file_sent_fini(gx_file_sent *sent);

/* Before the first line. */
GX_INLINE void gx_file_sent_use_tag(gx_file_sent *sent, uint32_t tag) {
    sent->own.tag = (uint64_t)tag << 32;
}

GX_INLINE uint32_t gx_file_sent_tag(const gx_retry *retry) {
    return (uint32_t)(retry->tag >> 32);
}

/* Those that have a line to emit again: what was inherited first. NULL: nobody has. */
gx_retry *gx_file_sent_waiting(gx_file_sent *sent);

void gx_file_sent_ack(gx_file_sent *sent, uint64_t message_id);
void gx_file_sent_fail(gx_file_sent *sent, uint64_t message_id, const gale_failure *failure);

/* Memory is out for the next line: may it be asked for again? The answers of lines that are on their way give memory back, and
 * so may others; when nothing did for some seconds, it may not. Once there was some, `memory_tries` is 0 again. */
bool gx_file_sent_may_wait(gx_file_sent *sent);

/* Takes the lines of an earlier task, which had this tag, from its records: as gx_retry_restore. `ret_retry` (may be NULL) has
 * them then. */
int gx_file_sent_inherit(gx_file_sent *sent, uint32_t tag, gale_saved *from, gx_retry **ret_retry);

/* The inherited lines as records behind those that were saved before, and back. What is told of each of them may stand between:
 * `each` saves or takes it, and may be NULL. */
typedef int gx_file_sent_save_fn(void *user, const gx_retry *retry, gale_saver *to);
typedef int gx_file_sent_take_fn(void *user, gx_retry *retry, gale_saved *from);
int gx_file_sent_save_inherited(const gx_file_sent *sent, gale_saver *to, gx_file_sent_save_fn *each, void *user);
int gx_file_sent_take_inherited(gx_file_sent *sent, gale_saved *from, gx_file_sent_take_fn *each, void *user);

#endif
