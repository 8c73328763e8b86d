#include "cli/service.h"

#include "base/os/time.h"
#include "cli/figures.h"
#include "cli/signals.h"
#include "cli/watching.h"

#include <string.h>
#include <unistd.h>

/* Topologies after one another. */
typedef struct line {
    const gx_session *session;
    gale_logger logger;
    gx_server *server;
    gx_change change;     /* what is asked of it */
    gx_carried carried;   /* what was done before `now` */
    gale_topology *first; /* the caller's */
    gale_topology *now;
    gale_topology *before; /* while `now` has not run yet, and is to take its place */
    gx_words adopt;        /* what `now` takes that has changed */
    int64_t still_since;   /* spouts stand still; 0: they do not */
    bool drains;           /* the first signal begins an end in order */
    bool left_behind; /* a component of `before`, or a thread of the server, is still in a call, and uses what it has */
    bool at_once;     /* it was ended so */
} line;

static void drop(const line *l, gale_topology *topology) {
    if (topology != l->first && !l->left_behind) gale_topology_free(topology);
}

/* Not an exit code: there is another one. */
enum { GOES_ON = -1 };

/* --- The start ---------------------------------------------------------------------------------------------------- */

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
                 "checkpoint %llu in '%s', %s old, is of the end of a run: all is done; nothing is run again, and "
                 "sinks send what they had not sent",
                 number, session->state, age);
    else
        gale_log(logger, GALE_LOG_INFO, NULL, "resumes from checkpoint %llu in '%s', %s old", number, session->state,
                 age);
}

static int make_runtime(const line *l, gale_runtime **ret_runtime, gale_error *error) {
    const gx_session *session = l->session;
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.logger = &l->logger;
    options.seed = session->seed;
    options.executors = session->executors;
    options.until_drained = !session->keep_running;
    options.store = session->store;
    options.adopt = l->adopt.items;
    options.adopt_count = (uint32_t)l->adopt.count;
    int rc = gale_runtime_new(l->now, &options, ret_runtime, error);
    if (rc < 0 || !session->events) return rc;
    rc = gx_event_log_attach(session->events, l->now, *ret_runtime, error);
    if (rc < 0) gale_runtime_free(*ret_runtime, -1, NULL);
    return rc;
}

/* With the token for who looks at this end, and without it for a log that is kept. */
static void tell_address(gx_terminal *terminal, const gale_logger *logger, const char *url) {
    if (gx_terminal_log_is_apart(terminal))
        gale_log(logger, GALE_LOG_INFO, NULL, "serves at %.*s", (int)strcspn(url, "?"), url);
    if (!gx_terminal_is_for_people(terminal)) return;
    gx_buf out = GX_BUF_INIT(NULL);
    gx_buf_format(&out, "gale: %s\n", url);
    const char *text = gx_buf_text(&out);
    if (text) gx_terminal_print(terminal, text);
    gx_buf_fini(&out);
}

static int ask_for_change(void *user, const gx_wish *wish, gale_error *error) {
    return gx_change_ask(user, wish, error);
}

static void look_at_change(void *user, gx_changing *ret_now) {
    gx_change_look(user, ret_now);
}

static void ask_for_end(void *change, bool now) {
    gx_change_end(change, now ? GX_ENDING_NOW : GX_ENDING_IN_ORDER);
}

/* The doors are opened once. */
static int serve(line *l, gale_runtime *runtime, gale_error *error) {
    const gx_session *session = l->session;
    if (l->server) return gx_server_resume(l->server, runtime, l->now, error);
    gx_server_options options = session->serve;
    options.deeds.ending = options.deeds.user = &l->change;
    options.deeds.end = ask_for_end;
    options.deeds.change = session->reloader.load ? ask_for_change : NULL;
    options.deeds.changing = look_at_change;
    int rc = gx_server_start(&options, runtime, l->now, &l->logger, &l->server, error);
    if (rc == 0 && session->serve.listen) tell_address(session->terminal, &l->logger, gx_server_url(l->server));
    return rc;
}

/* --- Changes ------------------------------------------------------------------------------------------------------ */

/* Where there are no checkpoints, sinks go on behind what the run has written. */
static void begin_behind(const line *l) {
    if (!l->session->store) (void)gale_topology_set(l->now, NULL, "gale.append", gale_bool(true));
}

/* What it was until now goes on, if there is one: a change that cannot begin is refused. */
static int fall_back(line *l, int rc, const gale_error *error) {
    const gx_session *session = l->session;
    if (!l->before) return gx_session_refuse(session->terminal, error, gx_session_exit(rc));
    gx_change_tell(&l->change, GX_CHANGING_REFUSED, error->text, 0);
    gx_terminal_say(session->terminal, GALE_LOG_ERROR, error->text);
    drop(l, l->now);
    l->now = l->before;
    l->before = NULL;
    l->adopt = session->adopt;
    begin_behind(l);
    return GOES_ON;
}

/* It runs. */
static void settle(line *l) {
    const gx_session *session = l->session;
    char passed[GX_FIGURE_SIZE];
    int64_t still = gx_os_monotonic() - l->still_since;
    if (!l->still_since) return;
    l->still_since = 0;
    gale_log(&l->logger, GALE_LOG_INFO, NULL, "%s; spouts stood still for %s",
             l->before ? "goes on as it was changed" : "goes on as it was", gx_figure_time((double)still, passed));
    if (!l->before) return;
    session->reloader.settle(session->reloader.user, &l->change, &l->logger);
    gx_change_tell(&l->change, GX_CHANGING_DONE, NULL, still);
    drop(l, l->before);
    l->before = NULL;
}

/* A run that ended meanwhile by a signal, or by what went wrong, is not changed any more. */
static void forget_next(line *l, gx_watching *r) {
    if (!r->next) return;
    gx_change_tell(&l->change, GX_CHANGING_REFUSED, "the run has ended meanwhile", 0);
    gale_topology_free(r->next);
    r->next = NULL;
}

/* What it has done is told at the end. */
static void carry(line *l, gale_runtime *runtime) {
    gx_summary summary;
    if (!gx_summary_gather(l->now, runtime, &summary)) {
        l->carried.changes++;
        l->carried.lost = true; /* nobody knows */
        return;
    }
    gx_summary_carry(&summary, &l->carried);
    gx_summary_fini(&summary);
}

static int go_on(line *l, const gx_watching *r) {
    gx_change_begun(&l->change, l->session->store ? GX_BEGUN_SAVED : GX_BEGUN_WITH_NONE);
    gx_change_tell(&l->change, GX_CHANGING_STARTING, NULL, 0);
    carry(l, r->runtime);
    l->before = l->now;
    l->now = r->next;
    l->adopt = r->adopt;
    begin_behind(l);
    l->still_since = r->still_since;
    return GOES_ON;
}

/* --- One runtime -------------------------------------------------------------------------------------------------- */

/* A thread that is stuck still uses the topology and the session's logger: then the process ends as it is. */
static void let_go(line *l, gx_watching *r, bool stuck, int exit_code) {
    gx_server_pause(l->server);
    if (gx_watching_let_go(r, stuck)) return;
    l->left_behind = true;
    if (exit_code == GOES_ON && !l->session->store) return; /* what it does when it comes back is of the old run */
    if (exit_code == GOES_ON) exit_code = GX_EXIT_FAILED;   /* its writes and those of the next run would mix */
    gx_server_ended(l->server, exit_code, GX_SERVER_LAST_WORDS);
    _exit(exit_code);
}

/* The state has all: who sends a signal meanwhile has suspended it. */
static void let_go_on(line *l, gx_watching *r) {
    gx_server_pause(l->server);
    if (gx_watching_let_go_on(r) != GALE_TIMED_OUT) return;
    int exit_code = l->session->exit_by_signal ? GX_EXIT_SIGNAL + r->signal : GX_EXIT_OK;
    gx_server_ended(l->server, exit_code, GX_SERVER_LAST_WORDS);
    _exit(exit_code);
}

/* Until it has ended, or is to be changed. */
static int wait(line *l, gx_watching *r) {
    gale_error error = GALE_ERROR_INIT;
    settle(l);
    if (l->session->manager) gx_manager_ready(l->session->manager, "all is open");
    int rc = gx_watching_wait(r, &error);
    l->at_once = r->at_once;
    if (r->signal || (rc < 0 && rc != GALE_TIMED_OUT)) forget_next(l, r);
    int exit_code = r->next ? go_on(l, r) : gx_watching_conclude(r, l->now, rc, &error);
    if (exit_code == GOES_ON && rc >= 0)
        let_go_on(l, r);
    else
        let_go(l, r, rc == GALE_TIMED_OUT, exit_code);
    return exit_code;
}

/* What ran before it has ended in order, and nothing is open. */
static int end_while_opening(const line *l, gx_watching *r) {
    gale_error none = GALE_ERROR_INIT;
    return l->before ? gx_watching_conclude(r, l->now, 0, &none) : GX_EXIT_SIGNAL + r->signal;
}

/* What is read before the first runtime begins may not come back (a named pipe as a file of the door's): until then a signal ends
 * the command at once. */
static void begin_to_drain(line *l) {
    if (!l->drains) gx_signals_drain(gx_watching_end_bound(l->session));
    l->drains = true;
}

static int run(line *l) {
    gale_error error = GALE_ERROR_INIT;
    gale_runtime *runtime;
    int rc = make_runtime(l, &runtime, &error);
    if (rc < 0) return fall_back(l, rc, &error);
    tell_resumed(l->session, &l->logger, runtime);
    gx_watching r = gx_watching_of(l->session, &l->logger, &l->change, &l->carried, runtime);
    rc = serve(l, runtime, &error);
    r.server = l->server;
    begin_to_drain(l);
    if (rc == 0) rc = gx_watching_start(&r, &error);
    if (rc == 0) return wait(l, &r);
    int exit_code = r.signal ? end_while_opening(l, &r) : fall_back(l, rc, &error);
    let_go(l, &r, false, exit_code);
    return exit_code;
}

int gx_service_run(const gx_session *session, gale_topology *topology) {
    gale_error error = GALE_ERROR_INIT;
    line l = { .session = session, .first = topology, .now = topology, .adopt = session->adopt };
    if (gx_session_logger(session, &l.logger, &error) < 0)
        return gx_session_refuse(session->terminal, &error, GX_EXIT_USAGE);
    int exit_code;
    gx_change_init(&l.change);
    do exit_code = run(&l);
    while (exit_code == GOES_ON);
    gx_signals_drained();
    gx_server_ended(l.server, exit_code, 0);
    if (!gx_server_stop(l.server, l.at_once ? GX_SERVER_LAST_WORDS : GX_SERVER_FAREWELL)) l.left_behind = true;
    if (l.left_behind) _exit(exit_code); /* a thread uses what would be freed */
    gx_change_fini(&l.change);
    if (l.before) drop(&l, l.before);
    drop(&l, l.now);
    return exit_code;
}
