#include "connect/nats/pulls.h"

int64_t nats_pulls_left(const nats_pulls *pulls) {
    int64_t left = 0;
    for (size_t i = 0; i < NATS_PULLS; i++) left += pulls->list[i].left;
    return left;
}

int64_t nats_pulls_bytes(const nats_pulls *pulls) {
    int64_t bytes = 0;
    for (size_t i = 0; i < NATS_PULLS; i++) bytes += pulls->list[i].bytes;
    return bytes;
}

nats_pull *nats_pulls_begin(nats_pulls *pulls, int64_t count, int64_t bytes, int64_t until) {
    nats_pull *pull = nats_pulls_find(pulls, 0);
    if (!pull) return NULL;
    *pull = (nats_pull){ ++pulls->numbers, count, count, bytes, until };
    return pull;
}

nats_pull *nats_pulls_find(nats_pulls *pulls, uint64_t number) {
    for (size_t i = 0; i < NATS_PULLS; i++)
        if (pulls->list[i].number == number) return &pulls->list[i];
    return NULL;
}

void nats_pulls_take(nats_pulls *pulls) {
    nats_pull *oldest = NULL;
    for (size_t i = 0; i < NATS_PULLS; i++) {
        nats_pull *pull = &pulls->list[i];
        if (pull->number && (!oldest || pull->number < oldest->number)) oldest = pull;
    }
    if (oldest && --oldest->left <= 0) nats_pull_end(oldest);
}

void nats_pull_end(nats_pull *pull) {
    *pull = (nats_pull){ .number = 0 };
}

void nats_pulls_expire(nats_pulls *pulls, int64_t now) {
    for (size_t i = 0; i < NATS_PULLS; i++)
        if (pulls->list[i].number && now >= pulls->list[i].until) nats_pull_end(&pulls->list[i]);
}

void nats_pulls_clear(nats_pulls *pulls) {
    for (size_t i = 0; i < NATS_PULLS; i++) nats_pull_end(&pulls->list[i]);
}
