/* What Storm's REST tells of a running topology: one cluster of one machine, with one worker, this process, in which every task has an executor of its
 * own. All of it is read at one moment, and in Storm's windows.
 *
 * Threads: any; a view is one request's. Owner: who opened it closes it.
 */
#ifndef GX_SERVE_STORM_VIEW_H
#define GX_SERVE_STORM_VIEW_H

#include "serve/history.h"
#include "serve/served.h"

enum { GX_STORM_WINDOWS = GX_HISTORY_ALL + 1, GX_STORM_ID = 300, GX_STORM_HOST = 256 };

typedef struct gx_storm_view {
    gx_served *served;
    gx_snapshot *now;
    gx_snapshot *begin[GX_STORM_WINDOWS]; /* what each window begins with */
    uint32_t window;                      /* the one that was asked for */
    bool sys;                             /* what begins with "__", too */
    int64_t uptime;                       /* seconds */
    char id[GX_STORM_ID];                 /* "NAME-1-STARTED" */
    char host[GX_STORM_HOST];
} gx_storm_view;

/* Milliseconds, as Storm has them. */
typedef struct gx_storm_mean {
    double count, sum;
} gx_storm_mean;

typedef struct gx_storm_figures {
    uint64_t emitted, transferred, executed, acked, failed;
    gx_storm_mean complete, execute, process;
} gx_storm_figures;

/* Of a call whose path may name a topology (`names[0]`, by its id or its name) and whose query a window. False, with a refusal. To be
 * closed when true. */
bool gx_storm_open(const gx_call *call, bool named, gx_http_reply *reply, gx_storm_view *ret_view);
void gx_storm_close(gx_storm_view *view);

/* Is the component, or the stream, to be told? */
bool gx_storm_shows(const gx_storm_view *view, const char *name);

/* A component's in a window; one task's; one input's. */
gx_storm_figures gx_storm_component(const gx_storm_view *view, const gx_part *part, uint32_t window);
gx_storm_figures gx_storm_task(const gx_storm_view *view, const gx_part *part, uint32_t task);
gx_storm_figures gx_storm_input(const gx_storm_view *view, uint32_t edge);

/* Emitted and transferred of the component's stream. */
gx_snapshot_stream gx_storm_stream(const gx_storm_view *view, const gx_part *part, uint32_t stream);

/* Of the last ten minutes. */
double gx_storm_capacity(const gx_storm_view *view, const gx_part *part);
double gx_storm_task_capacity(const gx_storm_view *view, uint32_t task);

double gx_storm_mean_of(gx_storm_mean mean);

/* "ACTIVE", "INACTIVE" or "KILLED". */
const char *gx_storm_status(const gx_storm_view *view);

/* {"status": "success", ...} is what a deed answers; this refuses as Storm does: {"error": "...", "errorMessage": "..."}. */
void gx_storm_refuse(gx_http_reply *reply, unsigned status, const char *error, const char *message);

#endif
