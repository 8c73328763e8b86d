#include "cli/watching.h"

#include "base/os/thread.h"
#include "base/os/time.h"
#include "base/str.h"
#include "cli/figures.h"
#include "cli/open_trees.h"
#include "cli/pulse.h"
#include "cli/signals.h"
#include "serve/hurts.h"

#include <signal.h>
#include <unistd.h>

static const int64_t slice = 20 * GALE_MILLISECOND;
/* So long a component that does not come back is waited for: one that may have begun to end; one whose call began before it was to end
 * (what it waits for, as a child that is killed, may need a moment); and where the end is to be at once. */
static const int64_t free_bound = 2 * GALE_SECOND, hung_bound = 900 * GALE_MILLISECOND,
                     short_bound = 400 * GALE_MILLISECOND;

gx_watching gx_watching_of(const gx_session *session, const gale_logger *logger, gx_change *change,
                           const gx_carried *carried, gale_runtime *runtime) {
    int64_t now = gx_os_monotonic();
    return (gx_watching){ .session = session,
                          .change = change,
                          .carried = carried,
                          .runtime = runtime,
                          .logger = *logger,
                          .started = now,
                          .next_tick = now,
                          .next_figures = now + session->figures_every,
                          .stop_at = INT64_MAX };
}

/* --- Waiting ------------------------------------------------------------------------------------------------------ */

static void show_line(const gx_watching *r, const gx_reading *now) {
    gx_buf line = GX_BUF_INIT(NULL);
    gx_summary_line(now, &r->before, &line);
    const char *text = gx_buf_text(&line);
    if (text) gx_terminal_live(r->session->terminal, text);
    gx_buf_fini(&line);
}

/* Who keeps a run going beyond its input sees nothing move any more. */
static void look_at_input(gx_watching *r, const gx_reading *now) {
    if (r->told || !r->session->keep_running || !now->done || now->run.open) return;
    r->told = true;
    if (now->run.phase == GALE_PHASE_RUNNING)
        gale_log(&r->logger, GALE_LOG_INFO, NULL,
                 "the input has ended; Ctrl-C ends the run (without --keep-running it does so by itself)");
}

/* The line of figures, as one of the log: `what` stands before it. */
static void log_figures(const gx_watching *r, const char *what, const gx_reading *now, const gx_reading *before) {
    gx_buf line = GX_BUF_INIT(NULL);
    gx_summary_line(now, before, &line);
    const char *text = gx_buf_text(&line);
    if (text) gale_log(&r->logger, GALE_LOG_INFO, NULL, "%s%s", what, text + strspn(text, " "));
    gx_buf_fini(&line);
}

/* What hurts most stands first: a manager shows the beginning of a line that is too long for it. */
static void tell_status(const gx_watching *r, const gx_reading *now, const gx_reading *before) {
    gx_buf figures = GX_BUF_INIT(NULL), line = GX_BUF_INIT(NULL);
    char hurt[GX_HURT_SIZE];
    gx_server_hurt(r->server, hurt, sizeof hurt);
    gx_summary_line(now, before, &figures);
    const char *text = gx_buf_text(&figures);
    if (text) text += strspn(text, " ");
    if (text) gx_buf_format(&line, "%s%s%.*s", hurt, *hurt ? "; " : "", (int)strcspn(text, "\n"), text);
    if (text && gx_buf_text(&line)) gx_manager_status(r->session->manager, line.data);
    gx_buf_fini(&figures);
    gx_buf_fini(&line);
}

static void look_at_log(gx_watching *r, const gx_reading *now, int64_t time) {
    int64_t every = r->session->figures_every;
    if (!every || time < r->next_figures) return;
    r->next_figures += every;
    if (r->next_figures < time) r->next_figures = time + every;
    log_figures(r, "", now, &r->logged);
    r->logged = *now;
}

/* In order, within its bound. One that is to go on with something else does not stop. */
static void tell_stopping(const gx_watching *r, int64_t now) {
    gale_run_stats stats = { .size = sizeof stats };
    gale_runtime_stats(r->runtime, &stats);
    if ((r->next && !r->change_asked) || (!r->signal && stats.phase < GALE_PHASE_DRAINING)) return;
    gx_manager_stopping(r->session->manager, now, r->stop_at == INT64_MAX ? INT64_MAX : r->stop_at + free_bound);
}

static void look_at_figures(gx_watching *r, int64_t time) {
    gx_reading now;
    gx_summary_read(r->runtime, &now);
    look_at_input(r, &now);
    if (r->session->manager) tell_status(r, &now, &r->before);
    if (!r->session->quiet && !r->session->no_live) show_line(r, &now);
    look_at_log(r, &now, time);
    r->before = now;
}

/* False when the event log could not be written, now or before. */
static bool write_events(const gx_session *session) {
    gale_error error = GALE_ERROR_INIT;
    bool news = false;
    if (!session->events || gx_event_log_flush(session->events, &news, &error) == 0) return true;
    if (news) gx_session_refuse(session->terminal, &error, 0);
    return false;
}

static void tick(gx_watching *r, int64_t now) {
    const gx_session *session = r->session;
    if (now < r->next_tick) return;
    r->next_tick += session->period;
    if (r->next_tick < now) r->next_tick = now + session->period;
    if (session->on_tick)
        session->on_tick(session->user, r->runtime);
    else
        look_at_figures(r, now);
    write_events(session);
    if (session->manager) tell_stopping(r, now);
    gx_terminal_flush(session->terminal);
}

int64_t gx_watching_end_bound(const gx_session *session) {
    return (session->end_within ? (int64_t)session->end_within : 10) * GALE_SECOND;
}

/* The drain did not come to its end: says what it waits for. */
static void give_up(gx_watching *r) {
    gx_buf text = GX_BUF_INIT(NULL);
    gale_run_stats stats = { .size = sizeof stats };
    gale_runtime_stats(r->runtime, &stats);
    r->cut = true;
    r->cut_at = gx_os_monotonic();
    if (stats.open && stats.phase < GALE_PHASE_CLOSING) gx_open_trees_text(r->runtime, &text);
    if (!r->session->quiet && text.size && gx_buf_text(&text))
        gx_terminal_tell(r->session->terminal, GALE_LOG_WARN, gx_buf_text(&text));
    gx_buf_fini(&text);
    gale_runtime_stop(r->runtime);
}

/* What has something to end in order has no more time for it. */
static void end_at_once(gx_watching *r) {
    r->at_once = true;
    r->stop_at = INT64_MAX;
    give_up(r);
}

static bool is_open(const gx_watching *r) {
    gale_run_stats stats = { .size = sizeof stats };
    gale_runtime_stats(r->runtime, &stats);
    return stats.phase >= GALE_PHASE_RUNNING;
}

/* What is in flight is part of the checkpoint. */
static void suspend(gx_watching *r) {
    bool makes_one = is_open(r);
    gale_runtime_suspend(r->runtime);
    if (!makes_one) return;
    gale_log(&r->logger, GALE_LOG_INFO, NULL, "makes a checkpoint, and stops; Ctrl-C again ends now");
}

/* Said once, as soon as something is open: who is asked to drain while a spout emits may see that a moment later. */
static void tell_open(gx_watching *r) {
    gale_run_stats stats = { .size = sizeof stats };
    gale_runtime_stats(r->runtime, &stats);
    if (!stats.open) return;
    r->tells_open = false;
    gale_log(&r->logger, GALE_LOG_INFO, NULL,
             "%llu open: finishing them, for %.0f s at the most; Ctrl-C again ends now", (unsigned long long)stats.open,
             (double)gx_watching_end_bound(r->session) / 1e9);
}

static void drain(gx_watching *r) {
    gale_runtime_drain(r->runtime);
    r->tells_open = true;
}

/* Within the bound, which a change that is on its way may have begun. */
static void end_in_order(gx_watching *r, int64_t now) {
    if (r->stop_at == INT64_MAX) r->stop_at = now + gx_watching_end_bound(r->session);
    (r->session->store ? suspend : drain)(r);
}

/* From now on it ends, and is not changed any more. */
static void mark(gx_watching *r, int number) {
    gx_reading reading;
    gx_summary_read(r->runtime, &reading);
    r->complete = reading.done;
    r->signal = number;
    gx_change_end(r->change, GX_ENDING_IN_ORDER);
}

/* While nothing runs yet that could drain. */
static void end_opening(gx_watching *r, int64_t now) {
    r->at_once = true;
    r->stop_at = now + short_bound;
    gale_runtime_stop(r->runtime);
}

static void on_signal(gx_watching *r, int number, int64_t now) {
    if (r->signal) {
        if (number != SIGHUP) end_at_once(r);
        return;
    }
    bool opens = !is_open(r);
    mark(r, number);
    end_in_order(r, now);
    if (opens) end_opening(r, now);
    if (r->session->manager) tell_stopping(r, now);
}

/* After log rotation. What cannot be opened goes on where it was. */
static void reopen(const gx_watching *r) {
    gale_error error = GALE_ERROR_INIT;
    if (r->session->manager) gx_manager_reloading(r->session->manager);
    if (gx_terminal_log_reopen(r->session->terminal, &error) < 0) gx_session_refuse(r->session->terminal, &error, 0);
    if (r->session->events && gx_event_log_reopen(r->session->events, &error) < 0)
        gx_session_refuse(r->session->terminal, &error, 0);
    gale_runtime_reopen(r->runtime);
    gale_log(&r->logger, GALE_LOG_INFO, NULL, "SIGHUP: opens its files again");
    if (r->session->manager) gx_manager_ready(r->session->manager, NULL);
}

static void look_at_signals(gx_watching *r, int64_t now) {
    bool asks_to_reopen = false;
    int number = r->session->reopens ? gx_signals_asked_of_service(&asks_to_reopen) : gx_signals_asked();
    if (asks_to_reopen) reopen(r);
    if (number) on_signal(r, number, now);
}

/* Asked for at a door: as SIGTERM, and as a second one that does not tell what it leaves. */
static void look_at_ending(gx_watching *r, int64_t now) {
    gx_ending asked = gx_change_ending(r->change);
    if (asked == GX_ENDING_IN_ORDER && !r->signal) on_signal(r, SIGTERM, now);
    if (asked != GX_ENDING_NOW || r->cut) return;
    if (!r->signal) mark(r, SIGTERM);
    r->cut = r->at_once = true;
    r->stop_at = INT64_MAX;
    gale_runtime_stop(r->runtime);
}

static void look_at_bounds(gx_watching *r, int64_t now) {
    if (r->session->drain_after && !r->drained && now - r->started >= r->session->drain_after) {
        r->drained = true;
        if (r->stop_at == INT64_MAX) r->stop_at = now + gx_watching_end_bound(r->session);
        gale_runtime_drain(r->runtime);
    }
    if (now < r->stop_at) return;
    r->stop_at = INT64_MAX;
    give_up(r);
}

/* Who wants to keep a checkpoint does not wait for the interval. */
static void look_at_requests(gx_watching *r, int64_t now) {
    const gale_store *store = r->session->store;
    gale_store_about about = { .size = sizeof about };
    if (!store || now < r->next_request) return;
    r->next_request = now + 5 * slice;
    if (store->about(store->self, &about, NULL) == GALE_OK && about.asked)
        (void)gale_runtime_checkpoint(r->runtime, 0, NULL);
}

/* --- Changes -------------------------------------------------------------------------------------------------------- */

static void refuse_change(const gx_watching *r, const gale_error *error) {
    gx_change_tell(r->change, GX_CHANGING_REFUSED, error->text, 0);
    gx_terminal_flush(r->session->terminal);
    gale_log(&r->logger, GALE_LOG_ERROR, NULL, "what runs goes on: %s", error->text);
}

/* The file is read, and checked whole, before anything is stopped for it. */
static void read_change(gx_watching *r, int64_t now) {
    const gx_session *session = r->session;
    gale_error error = GALE_ERROR_INIT;
    if (!session->reloader.load || r->next || r->signal || !gx_change_take(r->change)) return;
    gx_terminal_flush(session->terminal);
    int rc = session->reloader.load(session->reloader.user, r->change, &r->next, &r->adopt, &error);
    r->change_asked = now;
    if (rc >= 0) return;
    r->next = NULL;
    refuse_change(r, &error);
}

/* A component that does not come back from a call cannot be stopped for a change. */
static void refuse_hanging(gx_watching *r, const gx_pulse *pulse) {
    gale_error error = GALE_ERROR_INIT;
    gale_error_set(&error, GALE_TIMED_OUT,
                   "component '%s' (task %u) has been in one call for %.1f s, and cannot be stopped in it",
                   pulse->component, pulse->task, (double)pulse->lasts / 1e9);
    gale_topology_free(r->next);
    r->next = NULL;
    refuse_change(r, &error);
}

static void begin_change(gx_watching *r, int64_t now) {
    const gx_session *session = r->session;
    r->change_asked = 0;
    gx_change_tell(r->change, GX_CHANGING_STOPPING, NULL, 0);
    if (!session->store)
        gale_log(&r->logger, GALE_LOG_WARN, NULL,
                 "is changed, without --state: sources that keep no place by themselves begin anew, and bolts begin "
                 "with nothing");
    r->still_since = gx_os_monotonic();
    end_in_order(r, now);
}

/* Nothing is stopped while a call goes on that has begun before the change was read: it may not come back. */
static void look_at_changes(gx_watching *r, int64_t now) {
    gx_pulse pulse;
    read_change(r, now);
    if (!r->next || !r->change_asked || r->signal) return;
    if (gx_pulse_feel(r->runtime, now - r->change_asked, &pulse))
        begin_change(r, now);
    else if (now - r->change_asked > gx_watching_end_bound(r->session))
        refuse_hanging(r, &pulse);
}

static void look_at_manager(gx_watching *r, int64_t now) {
    gx_manager *manager = r->session->manager;
    if (manager) gx_manager_feed(manager, r->runtime, &r->logger, now);
}

static bool is_closed(const gale_runtime *runtime) {
    gale_run_stats stats = { .size = sizeof stats };
    gale_runtime_stats(runtime, &stats);
    return stats.phase == GALE_PHASE_CLOSED;
}

/* A call that began before the stop had its time already, unless its component is one that blocks. */
static int64_t patience(const gx_watching *r, int64_t now) {
    gx_pulse pulse;
    bool hangs = r->cut_at && !gx_pulse_feel(r->runtime, now - r->cut_at, &pulse);
    return r->at_once ? short_bound : hangs ? hung_bound : free_bound;
}

/* Until closed; or until a stop has been ignored for a while by a component that is stuck. One that has something to end in order (a
 * child that finishes its work) has as long as the whole end after a signal. */
int gx_watching_wait(gx_watching *r, gale_error *error) {
    int64_t stopped_at = 0;
    for (;;) {
        int64_t now = gx_os_monotonic();
        tick(r, now);
        look_at_signals(r, now);
        look_at_ending(r, now);
        look_at_bounds(r, now);
        if (r->tells_open) tell_open(r);
        look_at_requests(r, now);
        look_at_changes(r, now);
        look_at_manager(r, now);
        int rc = gale_runtime_wait(r->runtime, slice, error);
        if (rc != GALE_TIMED_OUT) return rc;
        if (is_closed(r->runtime)) return gale_runtime_wait(r->runtime, 0, error); /* it has, since then */
        gale_run_stats stats = { .size = sizeof stats };
        gale_runtime_stats(r->runtime, &stats);
        if (stats.phase != GALE_PHASE_CLOSING)
            stopped_at = 0;
        else if (!stopped_at)
            stopped_at = now;
        else if (now - stopped_at > patience(r, now) && (r->stop_at == INT64_MAX || now >= r->stop_at))
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
static void log_end(const gx_watching *r, const gx_reading *total) {
    static const gx_reading none;
    if (gx_terminal_log_is_apart(r->session->terminal)) log_figures(r, "ended: ", total, &none);
}

/* A run that only a signal ends has done all that it was to do when the drain is over, and says so to a service manager.
 * One that was to end with its input has not. */
static bool is_cut_short(const gx_watching *r) {
    if (!r->signal) return false;
    return r->cut || r->session->exit_by_signal || (r->session->until_drained && !r->complete);
}

static int exit_code_of(const gx_watching *r, int code, bool lost) {
    if (gx_session_is_io(code) || code == GALE_EXISTS) return GX_EXIT_IO;
    if (is_cut_short(r)) return GX_EXIT_SIGNAL + r->signal;
    return code < 0 || lost || r->session->skipped ? GX_EXIT_FAILED : GX_EXIT_OK;
}

/* What a signal suspended has not come to its end, even if all was read. */
static void look_at_checkpoints(gx_watching *r) {
    gale_checkpoint_stats stats = { .size = sizeof stats };
    if (gale_runtime_checkpoint_stats(r->runtime, &stats)) r->complete = stats.complete;
}

int gx_watching_conclude(gx_watching *r, const gale_topology *topology, int code, const gale_error *error) {
    r->cut |= code == GALE_TIMED_OUT;
    const gx_session *session = r->session;
    gx_summary summary;
    look_at_checkpoints(r);
    if (session->on_tick) session->on_tick(session->user, r->runtime);
    gx_terminal_live(session->terminal, "");
    gx_terminal_flush(session->terminal);
    if (code < 0 && code != GALE_TIMED_OUT) gx_session_refuse(session->terminal, error, 0);
    if (!gx_summary_gather(topology, r->runtime, &summary)) return exit_code_of(r, code, true);
    summary.carried = r->carried;
    bool logged = write_events(session);
    bool lost = r->carried->lost || gale_runtime_lost(r->runtime);
    int exit_code = logged ? exit_code_of(r, code, lost) : GX_EXIT_IO;
    const char *incomplete = gx_session_is_io(code) ? "output" : logged ? NULL : "event log";
    log_end(r, &summary.total);
    exit_code = print_summary(session, &summary, incomplete, exit_code);
    gx_summary_fini(&summary);
    return exit_code;
}

bool gx_watching_let_go(gx_watching *r, bool stuck) {
    gale_error error = GALE_ERROR_INIT;
    if (gale_runtime_free(r->runtime, stuck ? 0 : r->at_once ? short_bound : free_bound, &error) >= 0) return true;
    if (is_closed(r->runtime)) /* all but a commit, and what that owes is in the state */
        gx_terminal_say(r->session->terminal, GALE_LOG_WARN, error.text);
    else
        gx_session_refuse(r->session->terminal, &error, 0);
    return false;
}

int gx_watching_let_go_on(gx_watching *r) {
    if (gx_watching_let_go(r, false)) return GALE_OK;
    int rc = GALE_TIMED_OUT;
    while (rc == GALE_TIMED_OUT && !r->signal) {
        int64_t now = gx_os_monotonic();
        look_at_signals(r, now);
        look_at_ending(r, now);
        look_at_manager(r, now);
        rc = gale_runtime_free(r->runtime, slice, NULL);
    }
    return rc;
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

/* A component that does not come back from opening is left behind. */
static void look_at_signals_while_opening(gx_watching *r, int64_t now) {
    look_at_signals(r, now);
    look_at_ending(r, now);
    if (now < r->stop_at) return;
    gx_terminal_say(r->session->terminal, GALE_LOG_ERROR, "stopped while a component was still opening");
    gx_server_ended(r->server, GX_EXIT_SIGNAL + r->signal, GX_SERVER_LAST_WORDS);
    _exit(GX_EXIT_SIGNAL + r->signal);
}

int gx_watching_start(gx_watching *r, gale_error *error) {
    starter s = { .runtime = r->runtime, .error = GALE_ERROR_INIT };
    gx_thread thread = { .started = false };
    if (!gx_thread_start(&thread, "gale-start", start_runtime, &s)) start_runtime(&s);
    while (!gx_thread_join(&thread, slice)) look_at_signals_while_opening(r, gx_os_monotonic());
    *error = s.error;
    return s.code;
}
