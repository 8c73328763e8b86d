#include "serve/outflow.h"

#include "base/buf.h"
#include "base/os/thread.h"

#include <stdlib.h>
#include <string.h>

struct gx_outflow {
    gx_monitor monitor; /* of all */
    gx_buf bytes;
    size_t taken; /* of them */
    gx_outflow_sleep sleep;
    bool sleeps, ended, left;
};

gx_outflow *gx_outflow_new(void) {
    gx_outflow *flow = calloc(1, sizeof *flow);
    if (flow && gx_monitor_init(&flow->monitor)) return flow;
    free(flow);
    return NULL;
}

static void wake(gx_outflow *flow) {
    if (flow->sleeps) flow->sleep.wake(flow->sleep.user);
    flow->sleeps = false;
}

bool gx_outflow_write(gx_outflow *flow, gale_str bytes) {
    gx_monitor_lock(&flow->monitor);
    size_t before = flow->bytes.size;
    if (!flow->left) gx_buf_add(&flow->bytes, bytes.data, bytes.size);
    bool written = !flow->bytes.failed;
    if (!written) flow->bytes.size = before, flow->bytes.failed = false;
    wake(flow);
    gx_monitor_unlock(&flow->monitor);
    return written;
}

size_t gx_outflow_waiting(gx_outflow *flow) {
    gx_monitor_lock(&flow->monitor);
    size_t waiting = flow->bytes.size - flow->taken;
    gx_monitor_unlock(&flow->monitor);
    return waiting;
}

bool gx_outflow_is_left(gx_outflow *flow) {
    gx_monitor_lock(&flow->monitor);
    bool left = flow->left;
    gx_monitor_unlock(&flow->monitor);
    return left;
}

/* Goes with the second of both. */
static void let_go(gx_outflow *flow, bool last) {
    gx_monitor_unlock(&flow->monitor);
    if (!last) return;
    gx_buf_fini(&flow->bytes);
    gx_monitor_fini(&flow->monitor);
    free(flow);
}

void gx_outflow_end(gx_outflow *flow) {
    gx_monitor_lock(&flow->monitor);
    flow->ended = true;
    wake(flow);
    let_go(flow, flow->left);
}

void gx_outflow_begin(gx_outflow *flow, const gx_outflow_sleep *sleep) {
    gx_monitor_lock(&flow->monitor);
    flow->sleep = *sleep;
    gx_monitor_unlock(&flow->monitor);
}

/* Some of them are there. What is taken is moved out when half of the room is behind. */
static size_t take(gx_outflow *flow, char *to, size_t room) {
    size_t waiting = flow->bytes.size - flow->taken, size = waiting < room ? waiting : room;
    memcpy(to, flow->bytes.data + flow->taken, size);
    flow->taken += size;
    if (flow->taken < flow->bytes.size / 2) return size;
    flow->bytes.size -= flow->taken;
    memmove(flow->bytes.data, flow->bytes.data + flow->taken, flow->bytes.size);
    flow->taken = 0;
    return size;
}

int64_t gx_outflow_take(gx_outflow *flow, char *to, size_t room) {
    gx_monitor_lock(&flow->monitor);
    bool some = flow->bytes.size > flow->taken;
    int64_t size = some ? (int64_t)take(flow, to, room) : flow->ended ? -1 : 0;
    flow->sleeps = size == 0;
    if (flow->sleeps) flow->sleep.sleep(flow->sleep.user);
    gx_monitor_unlock(&flow->monitor);
    return size;
}

void gx_outflow_leave(gx_outflow *flow) {
    if (!flow) return;
    gx_monitor_lock(&flow->monitor);
    flow->left = true;
    flow->sleeps = false;
    let_go(flow, flow->ended);
}
