/* What a demonstration shows: a ranking, live figures, the document that is being read. On a terminal it is redrawn in
 * place, with bars; elsewhere it is one line a second.
 *
 * Threads: the gx_demo_on_* functions are called by the tasks that show; the tick by the main thread.
 */
#ifndef GX_CLI_DEMO_VIEW_H
#define GX_CLI_DEMO_VIEW_H

#include "cli/demo_spout.h"
#include "cli/terminal.h"
#include "ds/rankings.h"

#include <gale/runtime.h>

enum { GX_DEMO_ROWS = 10, GX_DEMO_WORD = 40 };

typedef struct gx_demo_row {
    char word[GX_DEMO_WORD];
    int64_t count;
    int64_t end, length; /* of a window, in seconds */
} gx_demo_row;

typedef struct gx_demo_view {
    const char *title;
    gx_terminal *terminal;
    gx_demo_source *source;
    bool broken; /* nobody reads any more */
    pthread_mutex_t mutex;
    gx_demo_row rows[GX_DEMO_ROWS]; /* under the mutex */
    size_t row_count;
    int64_t late, bad;
    gx_heap heap;
    gx_rankings *totals; /* for the word count */
    gale_run_stats before;
} gx_demo_view;

/* False when memory is out. */
bool gx_demo_view_init(gx_demo_view *view, const char *title, gx_terminal *terminal, gx_demo_source *source);
void gx_demo_view_fini(gx_demo_view *view);

/* For gale_callback_bolt; `user` is the view. A ranking as the total rankings bolt emits it; a word and its count; a
 * window and its count as the unique total bolt emits them; what is late, as the event time bolt does; what is no line of a
 * log, as the access log bolt does. */
int gx_demo_on_rankings(void *user, const gale_tuple *tuple);
int gx_demo_on_count(void *user, const gale_tuple *tuple);
int gx_demo_on_window(void *user, const gale_tuple *tuple);
int gx_demo_on_late(void *user, const gale_tuple *tuple);
int gx_demo_on_bad(void *user, const gale_tuple *tuple);

/* For the session. */
void gx_demo_on_tick(void *user, gale_runtime *runtime);

#endif
