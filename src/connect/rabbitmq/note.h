/* What a task and the thread that has its connection tell each other: orders to the thread, news from it. A note that has more than this begins with it.
 * Threads: one at a time, who has it. Owner: the chain that it hangs in, or who has taken it; rmq_note_free. */
#ifndef GALE_CONNECT_RABBITMQ_NOTE_H
#define GALE_CONNECT_RABBITMQ_NOTE_H

#include "connect/rabbitmq/arena.h"

typedef enum rmq_kind {
    /* Orders. */
    RMQ_CONNECT, /* text: the password */
    RMQ_ACK,     /* tag, multiple */
    RMQ_REJECT,  /* tag, requeue */
    RMQ_LOOK,    /* how many messages the queue has */
    RMQ_PUBLISH, /* a message: message.h */
    /* News. */
    RMQ_UP,
    RMQ_DOWN,     /* text: why; also where it did not come up */
    RMQ_BLOCKED,  /* text: why the broker takes nothing */
    RMQ_DELIVERY, /* a message: delivery.h */
    RMQ_DEPTH,    /* tag: how many messages the queue has */
    RMQ_CONFIRM,  /* tag, multiple, refused */
    RMQ_RETURN    /* a message that no queue takes: delivery.h; text: why */
} rmq_kind;

typedef struct rmq_note {
    struct rmq_note *next;
    rmq_arena arena; /* what it has beside */
    rmq_kind kind;
    uint32_t session; /* of this alone; a tag means nothing in another one */
    uint64_t tag;
    const char *text;
    bool multiple, requeue, refused;
    bool away; /* of RMQ_DOWN: no message is why */
} rmq_note;

typedef struct rmq_chain {
    rmq_note *first, *last;
} rmq_chain;

/* Of so many bytes, which are zero behind the note; its arena may have `most`. NULL: memory is out. */
rmq_note *rmq_note_new(rmq_kind kind, uint32_t session, size_t size, size_t most);

/* What is secret in it is overwritten. */
void rmq_note_free(rmq_note *note);

/* One with a text. NULL: memory is out. */
rmq_note *rmq_note_say(rmq_kind kind, uint32_t session, const char *text);

void rmq_chain_add(rmq_chain *chain, rmq_note *note);
rmq_note *rmq_chain_take(rmq_chain *chain); /* NULL: it is empty */
void rmq_chain_move(rmq_chain *from, rmq_chain *to);
void rmq_chain_free(rmq_chain *chain);

#endif
