#include "connect/nats/spent.h"

void nats_spent_free(nats_spent *spent) {
    for (size_t i = 0; i < spent->count; i++) natsMsg_Destroy(spent->list[i]);
    spent->count = spent->bytes = 0;
}

void nats_spent_add(nats_spent *spent, natsMsg *msg) {
    spent->list[spent->count++] = msg;
    spent->bytes += (size_t)natsMsg_GetDataLength(msg);
    if (spent->count == NATS_SPENT_MAX || spent->bytes >= NATS_SPENT_BYTES) nats_spent_free(spent);
}
