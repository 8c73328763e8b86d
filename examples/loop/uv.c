/* The same in a loop of libuv's: a handle that polls gale's descriptor, and a timer for when it wants to be stepped again.
 *
 *      cat README.md | example_loop_uv
 */
#include "counting.h"

#include <stdio.h>
#include <unistd.h>
#include <uv.h>

typedef struct guest {
    gale_runtime *runtime;
    uv_poll_t news;
    uv_timer_t later, bound;
    uv_signal_t ended;
} guest;

static void on_time(uv_timer_t *timer);

static void end(guest *g) {
    uv_close((uv_handle_t *)&g->news, NULL);
    uv_close((uv_handle_t *)&g->later, NULL);
    uv_close((uv_handle_t *)&g->bound, NULL);
    uv_close((uv_handle_t *)&g->ended, NULL);
}

/* libuv counts in milliseconds; where there is more to do at once, the loop's other guests come first. */
static void step(guest *g) {
    int64_t pause = gale_runtime_step_for(g->runtime, 10 * GALE_MILLISECOND);
    if (pause < 0)
        end(g);
    else if (pause == INT64_MAX)
        uv_timer_stop(&g->later);
    else
        uv_timer_start(&g->later, on_time, (uint64_t)(pause + 999999) / 1000000, 0);
}

static void on_time(uv_timer_t *timer) {
    step(timer->data);
}

static void on_news(uv_poll_t *news, int status, int events) {
    (void)status, (void)events;
    step(news->data);
}

static void on_bound(uv_timer_t *timer) {
    guest *g = timer->data;
    gale_runtime_stop(g->runtime);
    step(g);
}

/* The first signal begins a drain, another one ends it. */
static void on_signal(uv_signal_t *signal, int number) {
    guest *g = signal->data;
    (void)number;
    if (uv_is_active((uv_handle_t *)&g->bound)) gale_runtime_stop(g->runtime);
    gale_runtime_drain(g->runtime);
    uv_timer_start(&g->bound, on_bound, DRAIN_BOUND / GALE_MILLISECOND, 0);
    step(g);
}

static int begin(guest *g, uv_loop_t *loop) {
    int fd = gale_runtime_fd(g->runtime);
    g->news.data = g->later.data = g->bound.data = g->ended.data = g;
    if (fd < 0 || uv_poll_init(loop, &g->news, fd) < 0) return -1;
    uv_timer_init(loop, &g->later);
    uv_timer_init(loop, &g->bound);
    uv_signal_init(loop, &g->ended);
    uv_signal_start(&g->ended, on_signal, SIGTERM);
    uv_poll_start(&g->news, UV_READABLE, on_news);
    step(g);
    return 0;
}

int main(void) {
    static const int input = STDIN_FILENO;
    uv_loop_t loop;
    guest g = { .runtime = counting_new(&input) };
    if (!g.runtime || uv_loop_init(&loop) < 0 || begin(&g, &loop) < 0) return fprintf(stderr, "no loop\n"), 1;
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    gale_error error = GALE_ERROR_INIT;
    int code = gale_runtime_wait(g.runtime, 0, &error);
    if (code < 0) fprintf(stderr, "%s\n", error.text);
    gale_runtime_free(g.runtime, -1, NULL);
    return code < 0;
}
