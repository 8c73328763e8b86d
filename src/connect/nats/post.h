/* What is to be published, and waits for it.
 * Threads: whose has it. Owner: who made it, until it is given away. */
#ifndef GALE_CONNECT_NATS_POST_H
#define GALE_CONNECT_NATS_POST_H

#include <nats/nats.h>
#include <stddef.h>
#include <stdint.h>

enum { NATS_BODY_MAX = 48 };

/* What is published: a message, or a short body to a subject. One block of malloc's. */
typedef struct nats_post {
    struct nats_post *next;
    natsMsg *msg;     /* NULL: there is none, but a body; else it is the post's */
    uint64_t id;      /* of a message */
    const char *data; /* in the block: the payload of a message without headers; NULL: the body is it */
    size_t size;
    char body[NATS_BODY_MAX];
    char *reply;     /* in the block; NULL: nobody answers */
    char subject[1]; /* as long as it is */
} nats_post;

/* NULL: memory is out. */
nats_post *nats_post_new(const char *subject, const char *reply);
nats_post *nats_post_message(natsMsg *msg, uint64_t id);
nats_post *nats_post_plain(const char *subject, const char *reply, const void *data, size_t size, uint64_t id);
void nats_post_free(nats_post *post);

/* In order. Zero is empty. */
typedef struct nats_posts {
    nats_post *first, *last;
} nats_posts;

/* All of `from` go behind those of `to`. */
void nats_posts_append(nats_posts *to, nats_posts *from);

/* All there are, of which none is left there. */
nats_post *nats_posts_take(nats_posts *posts);

/* It, and all that follow. */
void nats_posts_free(nats_post *first);

#endif
