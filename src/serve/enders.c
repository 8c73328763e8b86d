#include "serve/enders.h"

#include "base/os/thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gx_enders {
    gx_monitor monitor; /* of all */
    gx_outflow *list[GX_ENDERS_MAX];
    uint32_t count;
    bool over;
    int64_t wrote; /* monotonic */
};

gx_enders *gx_enders_new(void) {
    gx_enders *enders = calloc(1, sizeof *enders);
    if (enders && gx_monitor_init(&enders->monitor)) return enders;
    free(enders);
    return NULL;
}

static void write_text(gx_outflow *flow, const char *text) {
    (void)gx_outflow_write(flow, (gale_str){ text, strlen(text) });
}

/* With the lock held. */
static void end_all(gx_enders *enders, const char *last) {
    for (uint32_t i = 0; i < enders->count; i++) {
        write_text(enders->list[i], last);
        gx_outflow_end(enders->list[i]);
    }
    enders->count = 0;
    enders->over = true;
}

void gx_enders_end(gx_enders *enders, int exit_code) {
    char last[64];
    snprintf(last, sizeof last, "{\"ended\":true,\"exit_code\":%d}\n", exit_code);
    gx_monitor_lock(&enders->monitor);
    end_all(enders, last);
    gx_monitor_unlock(&enders->monitor);
}

void gx_enders_free(gx_enders *enders) {
    if (!enders) return;
    gx_monitor_lock(&enders->monitor);
    end_all(enders, "");
    gx_monitor_unlock(&enders->monitor);
    gx_monitor_fini(&enders->monitor);
    free(enders);
}

/* With the lock held. */
static void drop_left(gx_enders *enders) {
    for (uint32_t i = enders->count; i-- > 0;) {
        if (!gx_outflow_is_left(enders->list[i])) continue;
        gx_outflow_end(enders->list[i]);
        enders->list[i] = enders->list[--enders->count];
    }
}

/* With the lock held. */
static int add(gx_enders *enders, gx_outflow *flow, gale_error *error) {
    drop_left(enders);
    if (enders->over) return gale_error_set(error, GALE_AGAIN, "the run ends");
    if (enders->count == GX_ENDERS_MAX)
        return gale_error_set(error, GALE_AGAIN, "%d clients wait for the end, which is the most: ask again later",
                              GX_ENDERS_MAX);
    enders->list[enders->count++] = flow;
    write_text(flow, "{\"ended\":false}\n");
    return GALE_OK;
}

int gx_enders_begin(gx_enders *enders, gx_outflow **ret_flow, gale_error *error) {
    gx_outflow *flow = gx_outflow_new();
    if (!flow) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    gx_monitor_lock(&enders->monitor);
    int rc = add(enders, flow, error);
    gx_monitor_unlock(&enders->monitor);
    if (rc >= 0) return *ret_flow = flow, rc;
    gx_outflow_leave(flow);
    gx_outflow_end(flow);
    return rc;
}

void gx_enders_look(gx_enders *enders, int64_t now) {
    gx_monitor_lock(&enders->monitor);
    drop_left(enders);
    bool silent = now - enders->wrote >= GX_ENDERS_SILENCE;
    if (silent) enders->wrote = now;
    for (uint32_t i = 0; silent && i < enders->count; i++)
        if (!gx_outflow_waiting(enders->list[i])) write_text(enders->list[i], "\n");
    gx_monitor_unlock(&enders->monitor);
}
