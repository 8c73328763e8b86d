#include "connect/nats/pump.h"

#include <poll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    IO_BYTES = 128 << 10, /* what is read at once, at the most */
    WAITING_MAX = 1 << 20,
    PING_MS = 2000, /* so long it may be silent until it is pinged, and between pings */
    PINGS_OUT = 2   /* so many may be out */
};

static int64_t now_ms(void) {
    struct timespec at;
    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    return (int64_t)at.tv_sec * 1000 + at.tv_nsec / 1000000;
}

/* --- What cnats asks for ------------------------------------------------------------------------------------------------------ */

static natsStatus attach(void **data, void *loop, natsConnection *nc, natsSock fd) {
    nats_pump *pump = loop;
    (void)nc;
    pump->fd = fd;
    pump->reads = true;
    pump->writes = false;
    *data = pump;
    return NATS_OK;
}

static natsStatus want_read(void *data, bool add) {
    ((nats_pump *)data)->reads = add;
    return NATS_OK;
}

static natsStatus want_write(void *data, bool add) {
    ((nats_pump *)data)->writes = add;
    return NATS_OK;
}

static natsStatus detach(void *data) {
    ((nats_pump *)data)->fd = -1;
    return NATS_OK;
}

static natsStatus set_options(nats_pump *pump, natsOptions *options) {
    natsStatus status = natsOptions_SetEventLoop(options, pump, attach, want_read, want_write, detach);
    if (status == NATS_OK) status = natsOptions_SetSendAsap(options, true);
    if (status == NATS_OK) status = natsOptions_SetPingInterval(options, 0);
    return status == NATS_OK ? natsOptions_SetIOBufSize(options, IO_BYTES) : status;
}

/* --- Life --------------------------------------------------------------------------------------------------------------------- */

natsStatus nats_pump_open(nats_pump *pump, natsOptions *options, const char *subject) {
    *pump = (nats_pump){ .fd = -1, .asked = now_ms() };
    natsStatus status = set_options(pump, options);
    if (status == NATS_OK) status = natsConnection_Connect(&pump->nc, options);
    if (status != NATS_OK) {
        pump->nc = NULL;
        return status;
    }
    status = natsConnection_SubscribeSync(&pump->sub, pump->nc, subject);
    return status == NATS_OK ? natsSubscription_SetPendingLimits(pump->sub, WAITING_MAX, -1) : status;
}

void nats_pump_close(nats_pump *pump) {
    natsSubscription_Destroy(pump->sub);
    natsConnection_Destroy(pump->nc);
    *pump = (nats_pump){ .fd = -1 };
}

/* --- Reading and writing ------------------------------------------------------------------------------------------------------- */

bool nats_pump_is_clogged(const nats_pump *pump) {
    return pump->writes;
}

void nats_pump_write(nats_pump *pump) {
    if (pump->writes) natsConnection_ProcessWriteEvent(pump->nc);
}

static void clear(int wake) {
    uint64_t rung;
    ssize_t got = read(wake, &rung, sizeof rung);
    (void)got;
}

/* Waits, and says what the socket is ready for. */
static int wait_for(nats_pump *pump, int wake, int wait_ms) {
    struct pollfd both[] = {
        { .fd = wake, .events = POLLIN },
        { .fd = pump->reads || pump->writes ? pump->fd : -1,
          .events = (short)((pump->reads ? POLLIN : 0) | (pump->writes ? POLLOUT : 0)) },
    };
    if (poll(both, 2, wait_ms) <= 0) return 0;
    if (both[0].revents) clear(wake);
    return both[1].revents;
}

/* Is it there? It is asked by a ping, whose answer nobody waits for here. */
static bool ask(nats_pump *pump, int64_t at) {
    if (at - pump->asked < PING_MS) return true;
    if (pump->pings == PINGS_OUT) return false;
    pump->pings++;
    pump->asked = at;
    (void)natsConnection_FlushTimeout(pump->nc, 1);
    nats_pump_write(pump);
    return true;
}

bool nats_pump_turn(nats_pump *pump, int wake, int wait_ms) {
    int ready = wait_for(pump, wake, pump->nc && (wait_ms < 0 || wait_ms > PING_MS) ? PING_MS : wait_ms);
    if (!pump->nc) return true;
    if (ready & POLLOUT) nats_pump_write(pump);
    int64_t at = now_ms();
    if (!(ready & ~POLLOUT)) return ask(pump, at);
    pump->asked = at;
    pump->pings = 0;
    natsConnection_ProcessReadEvent(pump->nc);
    return true;
}

int nats_pump_count(const nats_pump *pump) {
    int count = 0, bytes;
    if (!pump->sub || natsSubscription_GetPending(pump->sub, &count, &bytes) != NATS_OK) return 0;
    return count;
}

natsStatus nats_pump_next(nats_pump *pump, natsMsg **ret_msg) {
    return natsSubscription_NextMsg(ret_msg, pump->sub, 0);
}

/* A server reads all before the end of it, and hangs up then. What comes meanwhile is nobody's: read it must be, as a socket that is closed with something unread takes
 * back what it has sent. */
void nats_pump_finish(nats_pump *pump, int wait_ms) {
    int64_t end = now_ms() + wait_ms, left;
    bool said = false;
    while (pump->fd >= 0 && (left = end - now_ms()) > 0) {
        natsMsg *msg = NULL;
        nats_pump_write(pump);
        if (!pump->writes && !said && pump->fd >= 0) said = shutdown(pump->fd, SHUT_WR) == 0;
        if (wait_for(pump, -1, (int)left) & ~POLLOUT) natsConnection_ProcessReadEvent(pump->nc);
        while (nats_pump_count(pump) && nats_pump_next(pump, &msg) == NATS_OK) natsMsg_Destroy(msg);
    }
}
