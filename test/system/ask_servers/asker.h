/* A bolt that asks a hundred servers by watched descriptors, and the spout of its questions. A question is a number of four bytes, and
 * so is its answer; a key has one server, which answers in the order in which it is asked. How a question travels is the program's:
 * by sockets (ask_servers.c), or by nothing at all, in the simulator (ask_servers_simulated.c). */
#ifndef TEST_SYSTEM_ASKER_H
#define TEST_SYSTEM_ASKER_H

#include <gale/gale.h>
#include <sys/types.h>

enum { SERVERS = 100, IN_FLIGHT = 10000, KEYS = 1000 };

/* As send(2) and recv(2) do it, without waiting; whole numbers alone. */
typedef struct asker_wire {
    int (*descriptor)(const gale_context *context, int server);
    ssize_t (*send)(int fd, const uint32_t *numbers, size_t bytes);
    ssize_t (*receive)(int fd, uint32_t *numbers, size_t room);
    uint32_t questions;
} asker_wire;

/* What has become of the questions. */
typedef struct asker_result {
    uint64_t acked, failed, most; /* the most that were on their way at once */
    bool in_order;
} asker_result;

extern asker_result asker_said;

void asker_must(bool holds, const char *what);

/* Of "questions" and "asker". The wire lives as long as the topology. */
gale_topology *asker_topology(const asker_wire *wire);

#endif
