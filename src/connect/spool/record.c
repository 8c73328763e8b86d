#include "connect/spool/record.h"

#include "base/bits.h"
#include "base/hash.h"
#include "tuple/body.h"

#include <string.h>

#define SEED UINT64_C(0x6c6f6f7073656c67)
static const char magic[8] = { 'g', 'a', 'l', 'e', 's', 'p', 'l', '1' };

/* --- Records --------------------------------------------------------------------------------------------------------- */

typedef struct head {
    uint64_t number, sum;
    uint32_t size, check;
} head;

static_assert(sizeof(head) == GX_SPOOL_HEAD, "a head is 24 bytes");

static uint32_t check_of(const head *h) {
    return (uint32_t)gx_hash_bytes(h, offsetof(head, check), SEED);
}

void gx_spool_head_write(void *at, uint64_t number, const void *body, size_t size) {
    head h = { number, gx_hash_bytes(body, size, number), (uint32_t)size, 0 };
    h.check = check_of(&h);
    memcpy(at, &h, sizeof h);
}

static bool is_head(const head *h) {
    return h->check == check_of(h) && h->number && h->size >= GX_SPOOL_BODY_LEAST && h->size <= GX_SPOOL_BODY_MAX &&
           h->size % 8 == 0;
}

gx_spool_found gx_spool_look(const void *bytes, size_t have, gx_spool_record *ret_record) {
    head h;
    *ret_record = (gx_spool_record){ 0 };
    if (have < sizeof h) return GX_SPOOL_SHORT;
    memcpy(&h, bytes, sizeof h);
    if (!is_head(&h)) return GX_SPOOL_NO_HEAD;
    *ret_record = (gx_spool_record){ .number = h.number, .size = h.size };
    if (have - sizeof h < h.size) return GX_SPOOL_SHORT;
    const void *body = (const char *)bytes + sizeof h;
    if (gx_hash_bytes(body, h.size, h.number) != h.sum || !gx_body_fits(body, h.size)) return GX_SPOOL_NO_BODY;
    ret_record->body = body;
    return GX_SPOOL_WHOLE;
}

/* --- Segments -------------------------------------------------------------------------------------------------------- */

typedef struct segment_head {
    char magic[8];
    uint64_t first;
    uint32_t task, tasks;
    uint64_t sum;
} segment_head;

static_assert(sizeof(segment_head) == GX_SPOOL_SEGMENT_HEAD, "a segment's head is 32 bytes");

void gx_spool_segment_head_write(void *at, const gx_spool_segment_head *given) {
    segment_head h = { .first = given->first, .task = given->task, .tasks = given->tasks };
    memcpy(h.magic, magic, sizeof magic);
    h.sum = gx_hash_bytes(&h, offsetof(segment_head, sum), SEED);
    memcpy(at, &h, sizeof h);
}

bool gx_spool_segment_head_read(const void *bytes, size_t have, gx_spool_segment_head *ret_head) {
    segment_head h;
    if (have < sizeof h) return false;
    memcpy(&h, bytes, sizeof h);
    if (memcmp(h.magic, magic, sizeof magic) != 0 || h.sum != gx_hash_bytes(&h, offsetof(segment_head, sum), SEED))
        return false;
    *ret_head = (gx_spool_segment_head){ h.first, h.task, h.tasks };
    return true;
}
