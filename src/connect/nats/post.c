#include "connect/nats/post.h"

#include <stdlib.h>
#include <string.h>

/* With so many bytes behind its subjects. */
static nats_post *make(const char *subject, const char *reply, size_t room) {
    size_t size = strlen(subject) + 1, more = reply ? strlen(reply) + 1 : 0;
    nats_post *post = malloc(sizeof *post + size + more + room);
    if (!post) return NULL;
    post->next = NULL;
    post->msg = NULL;
    post->id = 0;
    post->data = NULL;
    post->size = 0;
    *post->body = '\0';
    memcpy(post->subject, subject, size);
    post->reply = reply ? post->subject + size : NULL;
    if (reply) memcpy(post->reply, reply, more);
    return post;
}

nats_post *nats_post_new(const char *subject, const char *reply) {
    return make(subject, reply, 0);
}

nats_post *nats_post_plain(const char *subject, const char *reply, const void *data, size_t size, uint64_t id) {
    nats_post *post = make(subject, reply, size);
    if (!post) return NULL;
    char *to = post->reply + strlen(reply) + 1;
    if (size) memcpy(to, data, size);
    post->data = to;
    post->size = size;
    post->id = id;
    return post;
}

nats_post *nats_post_message(natsMsg *msg, uint64_t id) {
    nats_post *post = nats_post_new("", NULL);
    if (!post) return NULL;
    post->msg = msg;
    post->id = id;
    return post;
}

void nats_post_free(nats_post *post) {
    if (post) natsMsg_Destroy(post->msg);
    free(post);
}

void nats_posts_free(nats_post *post) {
    while (post) {
        nats_post *next = post->next;
        nats_post_free(post);
        post = next;
    }
}

nats_post *nats_posts_take(nats_posts *posts) {
    nats_post *list = posts->first;
    *posts = (nats_posts){ .first = NULL };
    return list;
}

void nats_posts_append(nats_posts *to, nats_posts *from) {
    if (!from->first) return;
    *(to->first ? &to->last->next : &to->first) = from->first;
    to->last = from->last;
    *from = (nats_posts){ .first = NULL };
}
