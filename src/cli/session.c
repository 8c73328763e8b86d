#include "cli/session.h"

#include "base/nearest.h"
#include "base/os/thread.h"
#include "base/os/time.h"
#include "base/str.h"
#include "cli/figures.h"
#include "cli/open_trees.h"
#include "cli/signals.h"
#include "cli/summary.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

static const int64_t slice = 20 * GALE_MILLISECOND;
static const int64_t free_bound = 2 * GALE_SECOND;

int gx_session_logger(const gx_session *session, gale_logger *ret_logger, gale_error *error) {
    static const char *const names[] = { "trace", "debug", "info", "warn", "error", "off" };
    gale_str wanted = gx_str(session->log_level ? session->log_level : "info");
    gx_nearest nearest = gx_nearest_to(wanted);
    char hint[100];
    for (int32_t level = GALE_LOG_TRACE; level <= GALE_LOG_OFF; level++) {
        gx_nearest_offer(&nearest, gx_str(names[level]));
        if (!gx_str_is(wanted, names[level])) continue;
        *ret_logger = gx_terminal_logger(session->terminal, level);
        return 0;
    }
    return gale_error_set(error, GALE_INVALID,
                          "--log-level must be trace, debug, info, warn, error or off, not '%.*s'%s", GX_STR(wanted),
                          gx_nearest_hint(&nearest, hint, sizeof hint));
}

int gx_session_refuse(gx_terminal *terminal, const gale_error *error, int exit_code) {
    gx_terminal_say(terminal, GALE_LOG_ERROR, error->length ? error->text : gale_error_text(error->code));
    return exit_code;
}

int gx_session_unwritten(gx_terminal *errors, int why) {
    gale_error error = GALE_ERROR_INIT;
    gale_error_set(&error, GALE_IO, "cannot write to standard output: %s",
                   why == EPIPE ? "its reader has gone" : strerror(why));
    return gx_session_refuse(errors, &error, GX_EXIT_IO);
}

int gx_session_print(gx_terminal *errors, gx_buf *out) {
    gale_error error = GALE_ERROR_INIT;
    gx_terminal standard;
    gx_terminal_init(&standard, STDOUT_FILENO);
    const char *text = gx_buf_text(out);
    bool whole = text && gx_terminal_print(&standard, text);
    int why = standard.broken;
    gx_terminal_fini(&standard);
    gx_buf_fini(out);
    if (why) return gx_session_unwritten(errors, why);
    if (whole) return GX_EXIT_OK;
    gale_error_set(&error, GALE_NO_MEMORY, "out of memory");
    return gx_session_refuse(errors, &error, GX_EXIT_FAILED);
}

static bool is_io(int code) {
    return code == GALE_IO || code == GALE_CLOSED_PIPE || code == GALE_TOO_LARGE || code == GALE_DAMAGED;
}

int gx_session_exit(int code) {
    if (is_io(code)) return GX_EXIT_IO;
    return code == GALE_NO_MEMORY || code == GALE_COMPONENT ? GX_EXIT_FAILED : GX_EXIT_USAGE;
}

/* --- Waiting ------------------------------------------------------------------------------------------------------ */

typedef struct watch {
    const gx_session *session;
    gale_runtime *runtime;
    gale_logger logger;
    gx_reading before; /* at the last status line */
    gx_reading logged; /* at the last line of figures in the log */
    int64_t started;
    int64_t next_tick;
    int64_t next_figures;
    int64_t stop_at;      /* the drain's bound; INT64_MAX while there is no drain */
    int signal;           /* the first one, or 0 */
    bool complete;        /* the input had ended when it came */
    bool cut;             /* what was open when the drain began was not all finished */
    bool drained;         /* drain_after has been seen to */
    bool told;            /* that the input has ended */
    int64_t next_request; /* when to look whether somebody asks for a checkpoint */
} watch;

static void status_line(watch *w, const gx_reading *now) {
    gx_buf line = GX_BUF_INIT(NULL);
    gx_summary_line(now, &w->before, &line);
    const char *text = gx_buf_text(&line);
    if (text) gx_terminal_live(w->session->terminal, text);
    gx_buf_fini(&line);
    w->before = *now;
}

/* Who keeps a run going beyond its input sees nothing move any more. */
static void look_at_input(watch *w, const gx_reading *now) {
    if (w->told || !w->session->keep_running || !now->done || now->run.open) return;
    w->told = true;
    if (now->run.phase == GALE_PHASE_RUNNING)
        gale_log(&w->logger, GALE_LOG_INFO, NULL,
                 "the input has ended; Ctrl-C ends the run (without --keep-running it does so by itself)");
}

/* The line of figures, as one of the log: `what` stands before it. */
static void log_figures(const watch *w, const char *what, const gx_reading *now, const gx_reading *before) {
    gx_buf line = GX_BUF_INIT(NULL);
    gx_summary_line(now, before, &line);
    const char *text = gx_buf_text(&line);
    if (text) gale_log(&w->logger, GALE_LOG_INFO, NULL, "%s%s", what, text + strspn(text, " "));
    gx_buf_fini(&line);
}

static void look_at_log(watch *w, const gx_reading *now, int64_t time) {
    int64_t every = w->session->figures_every;
    if (!every || time < w->next_figures) return;
    w->next_figures += every;
    if (w->next_figures < time) w->next_figures = time + every;
    log_figures(w, "", now, &w->logged);
    w->logged = *now;
}

static void look_at_figures(watch *w, int64_t time) {
    gx_reading now;
    gx_summary_read(w->runtime, &now);
    look_at_input(w, &now);
    if (!w->session->quiet && !w->session->no_live) status_line(w, &now);
    look_at_log(w, &now, time);
}

/* False when the event log could not be written, now or before. */
static bool write_events(const gx_session *session) {
    gale_error error = GALE_ERROR_INIT;
    bool news = false;
    if (!session->events || gx_event_log_flush(session->events, &news, &error) == 0) return true;
    if (news) gx_session_refuse(session->terminal, &error, 0);
    return false;
}

static void tick(watch *w, int64_t now) {
    const gx_session *session = w->session;
    if (now < w->next_tick) return;
    w->next_tick += session->period;
    if (w->next_tick < now) w->next_tick = now + session->period;
    if (session->on_tick)
        session->on_tick(session->user, w->runtime);
    else
        look_at_figures(w, now);
    write_events(session);
    gx_terminal_flush(session->terminal);
}

/* So long after the first signal all is to be over. */
static int64_t end_bound(const gx_session *session) {
    return (session->end_within ? (int64_t)session->end_within : 10) * GALE_SECOND;
}

/* The drain did not come to its end: says what it waits for. */
static void give_up(watch *w) {
    gx_buf text = GX_BUF_INIT(NULL);
    gale_run_stats stats = { .size = sizeof stats };
    gale_runtime_stats(w->runtime, &stats);
    w->cut = true;
    if (stats.open && stats.phase < GALE_PHASE_CLOSING) gx_open_trees_text(w->runtime, &text);
    if (!w->session->quiet && text.size && gx_buf_text(&text))
        gx_terminal_tell(w->session->terminal, GALE_LOG_WARN, gx_buf_text(&text));
    gx_buf_fini(&text);
    gale_runtime_stop(w->runtime);
}

static bool is_open(const watch *w) {
    gale_run_stats stats = { .size = sizeof stats };
    gale_runtime_stats(w->runtime, &stats);
    return stats.phase >= GALE_PHASE_RUNNING;
}

/* What is in flight is part of the checkpoint. */
static void suspend(watch *w) {
    bool makes_one = is_open(w);
    gale_runtime_suspend(w->runtime);
    if (!makes_one) return;
    gale_log(&w->logger, GALE_LOG_INFO, NULL, "makes a checkpoint, and stops; Ctrl-C again ends now");
}

static void drain(watch *w) {
    gale_runtime_drain(w->runtime);
    gale_run_stats stats = { .size = sizeof stats };
    gale_runtime_stats(w->runtime, &stats);
    if (stats.open)
        gale_log(&w->logger, GALE_LOG_INFO, NULL,
                 "%llu open: finishing them, for %.0f s at the most; Ctrl-C again ends now",
                 (unsigned long long)stats.open, (double)end_bound(w->session) / 1e9);
}

static void on_signal(watch *w, int number, int64_t now) {
    gx_reading reading;
    if (w->signal) {
        if (number != SIGHUP) give_up(w);
        return;
    }
    gx_summary_read(w->runtime, &reading);
    w->complete = reading.done;
    w->signal = number;
    w->stop_at = now + end_bound(w->session);
    (w->session->store ? suspend : drain)(w);
}

/* After log rotation. What cannot be opened goes on where it was. */
static void reopen(const watch *w) {
    gale_error error = GALE_ERROR_INIT;
    if (gx_terminal_log_reopen(w->session->terminal, &error) < 0) gx_session_refuse(w->session->terminal, &error, 0);
    if (w->session->events && gx_event_log_reopen(w->session->events, &error) < 0)
        gx_session_refuse(w->session->terminal, &error, 0);
    gale_runtime_reopen(w->runtime);
    gale_log(&w->logger, GALE_LOG_INFO, NULL, "SIGHUP: opens its files again");
}

static void look_at_signals(watch *w, int64_t now) {
    bool asks_to_reopen = false;
    int number = w->session->reopens ? gx_signals_asked_of_service(&asks_to_reopen) : gx_signals_asked();
    if (asks_to_reopen) reopen(w);
    if (number) on_signal(w, number, now);
}

static void look_at_bounds(watch *w, int64_t now) {
    if (w->session->drain_after && !w->drained && now - w->started >= w->session->drain_after) {
        w->drained = true;
        if (w->stop_at == INT64_MAX) w->stop_at = now + end_bound(w->session);
        gale_runtime_drain(w->runtime);
    }
    if (now < w->stop_at) return;
    w->stop_at = INT64_MAX;
    give_up(w);
}

/* Who wants to keep a checkpoint does not wait for the interval. */
static void look_at_requests(watch *w, int64_t now) {
    const gale_store *store = w->session->store;
    gale_store_about about = { .size = sizeof about };
    if (!store || now < w->next_request) return;
    w->next_request = now + 5 * slice;
    if (store->about(store->self, &about, NULL) == GALE_OK && about.asked)
        (void)gale_runtime_checkpoint(w->runtime, 0, NULL);
}

static bool is_closed(const gale_runtime *runtime) {
    gale_run_stats stats = { .size = sizeof stats };
    gale_runtime_stats(runtime, &stats);
    return stats.phase == GALE_PHASE_CLOSED;
}

/* Until closed; or until a stop has been ignored for a while by a component that is stuck. One that has something to end in order (a
 * child that finishes its work) has as long as the whole end after a signal. */
static int wait_for_end(watch *w, gale_error *error) {
    int64_t stopped_at = 0;
    for (;;) {
        int64_t now = gx_os_monotonic();
        tick(w, now);
        look_at_signals(w, now);
        look_at_bounds(w, now);
        look_at_requests(w, now);
        int rc = gale_runtime_wait(w->runtime, slice, error);
        if (rc != GALE_TIMED_OUT) return rc;
        if (is_closed(w->runtime)) return gale_runtime_wait(w->runtime, 0, error); /* it has, since then */
        gale_run_stats stats = { .size = sizeof stats };
        gale_runtime_stats(w->runtime, &stats);
        if (stats.phase != GALE_PHASE_CLOSING)
            stopped_at = 0;
        else if (!stopped_at)
            stopped_at = now;
        else if (now - stopped_at > free_bound && (w->stop_at == INT64_MAX || now >= w->stop_at))
            return GALE_TIMED_OUT;
    }
}

/* --- The end ------------------------------------------------------------------------------------------------------ */

static int print_json(const gx_session *session, const gx_summary *summary, int exit_code) {
    gx_buf out = GX_BUF_INIT(NULL);
    gx_summary_json(summary, exit_code, &out);
    if (session->json_fd == STDOUT_FILENO) {
        int printed = gx_session_print(session->terminal, &out);
        return printed == GX_EXIT_OK ? exit_code : printed;
    }
    const char *text = gx_buf_text(&out);
    if (!text || !gx_terminal_print(session->terminal, text)) exit_code = GX_EXIT_IO;
    gx_buf_fini(&out);
    return exit_code;
}

/* Returns the exit code, which a summary that cannot be written changes. */
static int print_summary(const gx_session *session, const gx_summary *summary, const char *incomplete, int exit_code) {
    if (session->json) return print_json(session, summary, exit_code);
    if (session->quiet) return exit_code;
    gx_buf out = GX_BUF_INIT(NULL);
    gx_summary_text(summary, &out);
    if (incomplete) gx_buf_format(&out, "the %s is incomplete\n", incomplete);
    const char *text = gx_buf_text(&out);
    if (text && gx_terminal_is_for_people(session->terminal)) gx_terminal_print(session->terminal, text);
    gx_buf_fini(&out);
    return exit_code;
}

/* A log that something else reads has no table at its end. */
static void log_end(const watch *w, const gx_reading *total) {
    static const gx_reading none;
    if (gx_terminal_log_is_apart(w->session->terminal)) log_figures(w, "ended: ", total, &none);
}

/* A run that only a signal ends has done all that it was to do when the drain is over, and says so to a service manager.
 * One that was to end with its input has not. */
static bool is_cut_short(const watch *w) {
    if (!w->signal) return false;
    return w->cut || w->session->exit_by_signal || (w->session->until_drained && !w->complete);
}

static int exit_code_of(const watch *w, int code, bool lost) {
    if (is_io(code) || code == GALE_EXISTS) return GX_EXIT_IO;
    if (is_cut_short(w)) return GX_EXIT_SIGNAL + w->signal;
    return code < 0 || lost || w->session->skipped ? GX_EXIT_FAILED : GX_EXIT_OK;
}

/* What a signal suspended has not come to its end, even if all was read. */
static void look_at_checkpoints(watch *w) {
    gale_checkpoint_stats stats = { .size = sizeof stats };
    if (gale_runtime_checkpoint_stats(w->runtime, &stats)) w->complete = stats.complete;
}

static int conclude(watch *w, gale_topology *topology, int code, const gale_error *error) {
    const gx_session *session = w->session;
    gx_summary summary;
    look_at_checkpoints(w);
    if (session->on_tick) session->on_tick(session->user, w->runtime);
    gx_terminal_live(session->terminal, "");
    gx_terminal_flush(session->terminal);
    if (code < 0 && code != GALE_TIMED_OUT) gx_session_refuse(session->terminal, error, 0);
    if (!gx_summary_gather(topology, w->runtime, &summary)) return exit_code_of(w, code, true);
    bool logged = write_events(session);
    int exit_code = logged ? exit_code_of(w, code, gx_summary_lost(&summary)) : GX_EXIT_IO;
    const char *incomplete = is_io(code) ? "output" : logged ? NULL : "event log";
    log_end(w, &summary.total);
    exit_code = print_summary(session, &summary, incomplete, exit_code);
    gx_summary_fini(&summary);
    return exit_code;
}

/* Frees the runtime (which has been waited for already when it is `stuck`), or leaves it to the end of the process when
 * a component does not come back. */
static bool let_go(const gx_session *session, gale_runtime *runtime, bool stuck) {
    gale_error error = GALE_ERROR_INIT;
    if (gale_runtime_free(runtime, stuck ? 0 : free_bound, &error) >= 0) return true;
    gx_session_refuse(session->terminal, &error, 0);
    return false;
}

/* --- The start ---------------------------------------------------------------------------------------------------- */

/* Opening may block (a named pipe that nobody writes to), so it has a thread of its own, and this one hears signals. */
typedef struct starter {
    gale_runtime *runtime;
    gale_error error;
    int code;
} starter;

static void *start_runtime(void *user) {
    starter *s = user;
    s->code = gale_runtime_start(s->runtime, &s->error);
    return NULL;
}

/* While nothing runs yet that could drain, the first signal stops. Who does not come back from opening is left behind. */
static void look_at_signals_while_opening(watch *w, int64_t now) {
    int before = w->signal;
    look_at_signals(w, now);
    if (!before && w->signal && !is_open(w)) {
        w->stop_at = now + free_bound;
        gale_runtime_stop(w->runtime);
    }
    if (now < w->stop_at) return;
    gx_terminal_say(w->session->terminal, GALE_LOG_ERROR, "stopped while a component was still opening");
    _exit(GX_EXIT_SIGNAL + w->signal);
}

static int start(watch *w, gale_error *error) {
    starter s = { .runtime = w->runtime, .error = GALE_ERROR_INIT };
    gx_thread thread = { .started = false };
    if (!gx_thread_start(&thread, "gale-start", start_runtime, &s)) start_runtime(&s);
    while (!gx_thread_join(&thread, slice)) look_at_signals_while_opening(w, gx_os_monotonic());
    *error = s.error;
    return s.code;
}

/* What the run begins with. */
static void tell_resumed(const gx_session *session, const gale_logger *logger, const gale_runtime *runtime) {
    gale_checkpoint_stats stats = { .size = sizeof stats };
    if (!gale_runtime_checkpoint_stats(runtime, &stats)) return;
    unsigned long long number = (unsigned long long)stats.resumed;
    char age[GX_FIGURE_SIZE];
    int64_t passed = gx_os_wall() - stats.wall;
    gx_figure_time((double)(passed > 0 ? passed : 0), age);
    if (!number)
        gale_log(logger, GALE_LOG_INFO, NULL, "begins anew, with its state in '%s'", session->state);
    else if (stats.complete)
        gale_log(logger, GALE_LOG_INFO, NULL,
                 "checkpoint %llu in '%s', %s old, is of the end of a run: all is done, and nothing is run again",
                 number, session->state, age);
    else
        gale_log(logger, GALE_LOG_INFO, NULL, "resumes from checkpoint %llu in '%s', %s old", number, session->state,
                 age);
}

static int run(const gx_session *session, const gale_logger *logger, gale_topology *topology, gale_runtime *runtime,
               bool *ret_stuck) {
    gale_error error = GALE_ERROR_INIT;
    int64_t now = gx_os_monotonic();
    watch w = { .session = session,
                .runtime = runtime,
                .logger = *logger,
                .started = now,
                .next_tick = now,
                .next_figures = now + session->figures_every,
                .stop_at = INT64_MAX };
    tell_resumed(session, logger, runtime);
    int rc = start(&w, &error);
    if (rc < 0 && w.signal) return GX_EXIT_SIGNAL + w.signal;
    if (rc < 0) return gx_session_refuse(session->terminal, &error, gx_session_exit(rc));
    rc = wait_for_end(&w, &error);
    *ret_stuck = rc == GALE_TIMED_OUT;
    w.cut |= *ret_stuck;
    return conclude(&w, topology, rc, &error);
}

/* Runs while it is served. */
static int run_served(const gx_session *session, const gale_logger *logger, gale_topology *topology,
                      gale_runtime *runtime, bool *ret_stuck) {
    gale_error error = GALE_ERROR_INIT;
    gx_server *server;
    int rc = gx_server_start(&session->serve, runtime, topology, logger, &server, &error);
    if (rc < 0) return gx_session_refuse(session->terminal, &error, gx_session_exit(rc));
    if (session->serve.listen) gx_terminal_say(session->terminal, GALE_LOG_INFO, gx_server_url(server));
    int exit_code = run(session, logger, topology, runtime, ret_stuck);
    gx_server_stop(server);
    return exit_code;
}

int gx_session_run(const gx_session *session, gale_topology *topology) {
    gale_error error = GALE_ERROR_INIT;
    gale_logger logger;
    gale_runtime *runtime;
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    if (gx_session_logger(session, &logger, &error) < 0)
        return gx_session_refuse(session->terminal, &error, GX_EXIT_USAGE);
    options.logger = &logger;
    options.seed = session->seed;
    options.executors = session->executors;
    options.until_drained = !session->keep_running;
    options.store = session->store;
    options.adopt = session->adopt;
    options.adopt_count = session->adopt_count;
    int rc = gale_runtime_new(topology, &options, &runtime, &error);
    if (rc < 0) return gx_session_refuse(session->terminal, &error, gx_session_exit(rc));
    if (session->events) rc = gx_event_log_attach(session->events, runtime, &error);
    bool stuck = false;
    int exit_code = rc < 0 ? gx_session_refuse(session->terminal, &error, GX_EXIT_FAILED)
                           : run_served(session, &logger, topology, runtime, &stuck);
    /* A thread that is stuck still uses the topology and this session's logger: then the process ends as it is. */
    if (!let_go(session, runtime, stuck)) _exit(exit_code);
    return exit_code;
}
