/* A bolt asks a hundred servers by watched descriptors, on one executor and without a thread of its own: ten thousand questions are
 * on their way at once, each is answered once, and answers of a key come in the order of its questions. The servers say nothing before
 * they have all ten thousand, so that nobody can be quicker than that. */
#include "system/ask_servers/asker.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { QUESTIONS = 50000 };

static int ends[SERVERS][2]; /* the bolt's, the server's */
static atomic_uint asked, ended;

/* --- The servers: one thread plays them all. A question is a number of four bytes, and so is its answer. --- */

typedef struct server {
    uint32_t *waiting; /* questions that were not answered yet */
    size_t first, count;
} server;

static void take_questions(server *s, int fd) {
    uint32_t numbers[512];
    ssize_t got;
    while ((got = recv(fd, numbers, sizeof numbers, MSG_DONTWAIT)) > 0) { /* of sequenced packets: whole ones */
        size_t count = (size_t)got / sizeof *numbers;
        memcpy(s->waiting + s->count, numbers, count * sizeof *numbers);
        s->count += count;
        atomic_fetch_add(&asked, (unsigned)count);
    }
}

/* Slowly: a few at a time. */
static void answer_some(server *s, int fd) {
    size_t count = s->count - s->first;
    if (count > 7) count = 7;
    if (!count) return;
    ssize_t sent = send(fd, s->waiting + s->first, count * sizeof *s->waiting, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) s->first += (size_t)sent / sizeof *s->waiting;
}

static void *serve(void *user) {
    server *servers = user;
    while (!atomic_load(&ended)) {
        struct pollfd fds[SERVERS];
        bool all = atomic_load(&asked) >= IN_FLIGHT;
        for (int i = 0; i < SERVERS; i++) fds[i] = (struct pollfd){ .fd = ends[i][1], .events = POLLIN };
        poll(fds, SERVERS, all ? 0 : 10);
        for (int i = 0; i < SERVERS; i++) {
            take_questions(&servers[i], ends[i][1]);
            if (all) answer_some(&servers[i], ends[i][1]);
        }
    }
    return NULL;
}

/* --- The wire --- */

static int end_of(const gale_context *context, int number) {
    (void)context;
    return ends[number][0];
}

static ssize_t send_numbers(int fd, const uint32_t *numbers, size_t bytes) {
    return send(fd, numbers, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static ssize_t receive_numbers(int fd, uint32_t *numbers, size_t room) {
    return recv(fd, numbers, room, MSG_DONTWAIT);
}

int main(void) {
    static const asker_wire wire = { end_of, send_numbers, receive_numbers, QUESTIONS };
    static server servers[SERVERS];
    pthread_t thread;
    for (int i = 0; i < SERVERS; i++) {
        asker_must(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends[i]) == 0, "a socket");
        asker_must((servers[i].waiting = calloc(QUESTIONS, sizeof *servers[i].waiting)) != NULL, "memory");
    }
    asker_said.in_order = true;
    gale_topology *topology = asker_topology(&wire);
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    gale_runtime *runtime = NULL;
    gale_error error = GALE_ERROR_INIT;
    options.executors = 1;
    options.until_drained = true;
    asker_must(pthread_create(&thread, NULL, serve, servers) == 0, "a thread");
    if (gale_runtime_new(topology, &options, &runtime, &error) < 0 || gale_runtime_run(runtime, &error) < 0) {
        fprintf(stderr, "ask_servers: %s\n", error.text);
        return 1;
    }
    gale_runtime_free(runtime, -1, NULL);
    gale_topology_free(topology);
    atomic_store(&ended, 1);
    pthread_join(thread, NULL);
    for (int i = 0; i < SERVERS; i++) {
        free(servers[i].waiting);
        close(ends[i][0]);
        close(ends[i][1]);
    }
    printf("%llu questions answered, %llu failed, %llu at once\n", (unsigned long long)asker_said.acked,
           (unsigned long long)asker_said.failed, (unsigned long long)asker_said.most);
    return asker_said.acked != QUESTIONS || asker_said.failed || asker_said.most != IN_FLIGHT || !asker_said.in_order;
}
