#include "connect/nats/news.h"

#include <stdlib.h>
#include <string.h>

void nats_words_set(char to[NATS_WORDS], const char *words) {
    const char *behind = *words == '(' ? strstr(words, "): ") : NULL;
    if (behind) words = behind + 3;
    size_t size = strnlen(words, NATS_WORDS - 1);
    memcpy(to, words, size);
    to[size] = '\0';
}

static bool grow(void **list, size_t *capacity, size_t size) {
    size_t wider = *capacity ? 2 * *capacity : 256;
    void *made = realloc(*list, wider * size);
    if (!made) return false;
    *list = made;
    *capacity = wider;
    return true;
}

static bool keep(nats_news *news, natsMsg *msg) {
    size_t size = (size_t)natsMsg_GetDataLength(msg);
    if (news->count >= NATS_NEWS_MAX || news->bytes + size > NATS_NEWS_BYTES) return false;
    if (news->count == news->capacity && !grow((void **)&news->messages, &news->capacity, sizeof(natsMsg *)))
        return false;
    news->messages[news->count++] = msg;
    news->bytes += size;
    return true;
}

void nats_news_message(nats_news *news, natsMsg *msg) {
    if (keep(news, msg)) return;
    news->dropped++;
    natsMsg_Destroy(msg);
}

void nats_news_refusal(nats_news *news, uint64_t id, natsStatus status) {
    if (news->refusal_count == news->refusal_capacity &&
        !grow((void **)&news->refusals, &news->refusal_capacity, sizeof(nats_refusal)))
        return;
    news->refusals[news->refusal_count++] = (nats_refusal){ id, status };
}

void nats_news_move(nats_news *news, nats_news *to) {
    nats_news empty = { .messages = to->messages,
                        .capacity = to->capacity,
                        .refusals = to->refusals,
                        .refusal_capacity = to->refusal_capacity };
    *to = *news;
    *news = empty;
}

void nats_news_fini(nats_news *news) {
    for (size_t i = 0; i < news->count; i++) natsMsg_Destroy(news->messages[i]);
    free(news->messages);
    free(news->refusals);
    *news = (nats_news){ .messages = NULL };
}
