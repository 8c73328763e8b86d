/* For SOCK_CLOEXEC and eventfd. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "wire/finding.h"

#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/un.h>
#include <unistd.h>

/* The looking thread writes `found` and `rc`, then `done` (release), which who waits reads first (acquire). The last of both frees it. */
struct wire_finding {
    char *host;
    char port[WIRE_PORT_MAX];
    int fd;
    atomic_int users;
    atomic_bool done;
    wire_addresses found;
    int rc;
};

/* --- Addresses -------------------------------------------------------------------------------------------------------- */

static void take_list(wire_addresses *to, const struct addrinfo *list) {
    to->count = 0;
    for (; list && to->count < WIRE_ADDRESSES; list = list->ai_next) {
        wire_address *one = &to->list[to->count];
        if (list->ai_addrlen > sizeof one->bytes) continue;
        one->size = list->ai_addrlen;
        memcpy(&one->bytes, list->ai_addr, list->ai_addrlen);
        to->count++;
    }
}

/* 0, or a code of getaddrinfo's. */
static int look(const char *host, const char *port, int flags, wire_addresses *to) {
    struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV | flags };
    struct addrinfo *list = NULL;
    int rc = getaddrinfo(host, port, &hints, &list);
    /* RFC 6761: this machine, also where no /etc/hosts says so, as in a small container. No host is the loopback's addresses. */
    if (rc != 0 && !(flags & AI_NUMERICHOST) && strcmp(host, "localhost") == 0)
        rc = getaddrinfo(NULL, port, &hints, &list);
    if (rc != 0) return rc;
    take_list(to, list);
    freeaddrinfo(list);
    return to->count ? 0 : EAI_NONAME;
}

static void take_path(wire_addresses *to, const char *path) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    to->count = 1;
    to->list[0].size = sizeof address;
    memcpy(&to->list[0].bytes, &address, sizeof address);
}

/* --- The thread ------------------------------------------------------------------------------------------------------- */

static void leave(wire_finding *finding) {
    if (atomic_fetch_sub_explicit(&finding->users, 1, memory_order_acq_rel) > 1) return;
    if (finding->fd >= 0) close(finding->fd);
    free(finding->host);
    free(finding);
}

static void *find_by_name(void *user) {
    wire_finding *finding = user;
    const uint64_t one = 1;
    finding->rc = look(finding->host, finding->port, AI_ADDRCONFIG, &finding->found);
    atomic_store_explicit(&finding->done, true, memory_order_release);
    if (write(finding->fd, &one, sizeof one) != sizeof one) abort(); /* a counter that is 0 takes a 1 */
    leave(finding);
    return NULL;
}

/* Signals are for the program's own threads. */
static bool start(wire_finding *finding) {
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all, before;
    if (pthread_attr_init(&attributes) != 0) return false;
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&thread, &attributes, find_by_name, finding);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attributes);
    return rc == 0;
}

static int begin(const wire_settings *settings, wire_finding **ret_finding, char why[WIRE_WHY_MAX]) {
    wire_finding *finding = calloc(1, sizeof *finding);
    if (finding) {
        atomic_init(&finding->users, 1);
        finding->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        finding->host = strdup(settings->host);
        memcpy(finding->port, settings->port, sizeof finding->port);
    }
    if (finding && finding->fd >= 0 && finding->host) {
        atomic_store_explicit(&finding->users, 2, memory_order_relaxed);
        if (start(finding)) {
            *ret_finding = finding;
            return GALE_AGAIN;
        }
        atomic_store_explicit(&finding->users, 1, memory_order_relaxed);
    }
    if (finding) leave(finding);
    snprintf(why, WIRE_WHY_MAX, "there is no thread or no descriptor to look up '%s'", settings->host);
    return GALE_IO;
}

/* --- Finding ---------------------------------------------------------------------------------------------------------- */

int wire_find(const wire_settings *settings, wire_addresses *to, wire_finding **ret_finding, char why[WIRE_WHY_MAX]) {
    if (settings->path) {
        take_path(to, settings->path);
        return 0;
    }
    if (look(settings->host, settings->port, AI_NUMERICHOST, to) == 0) return 0;
    return begin(settings, ret_finding, why);
}

int wire_finding_fd(const wire_finding *finding) {
    return finding->fd;
}

int wire_finding_take(wire_finding *finding, wire_addresses *to, char why[WIRE_WHY_MAX]) {
    if (!atomic_load_explicit(&finding->done, memory_order_acquire)) return GALE_AGAIN;
    if (finding->rc == 0) {
        *to = finding->found;
        return 0;
    }
    snprintf(why, WIRE_WHY_MAX, "the host '%s' is not found: %s", finding->host, gai_strerror(finding->rc));
    return GALE_IO;
}

void wire_finding_leave(wire_finding *finding) {
    if (finding) leave(finding);
}
