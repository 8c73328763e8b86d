/* Tuples to a command's input: gale_exec_sink_bolt. Lines gather while there are tuples to execute, and are written in each flush and when the
 * pipe has room again. A tuple is held until the child has read its line out of the pipe: how much it has not read is asked of the
 * pipe itself, by a timer that runs only while something is in it. */
#include "base/os/pipe.h"
#include "base/os/time.h"
#include "base/str.h"
#include "connect/exec/child.h"
#include "connect/file/lines.h"
#include "kit/losses.h"
#include "kit/outgoing.h"
#include "kit/recall.h"
#include "kit/renewal.h"

#include <errno.h>
#include <gale/file.h>
#include <gale/watch.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

enum { AT_ONCE = 1 << 20, MAX_BYTES = 1 << 20, FINISH_WAIT = 60 };
#define SOON GALE_MILLISECOND
#define SELDOM (100 * GALE_MILLISECOND)
#define LONG (5 * GALE_SECOND) /* who waits for a child's end so long says so */
/* What a child has where the run is cut short, at the most, from the end of its input to SIGTERM, and from that to SIGKILL: `gale run` is
 * gone 2 s after it has given up, and with it the child's group. */
#define LEISURE (500 * GALE_MILLISECOND)
#define CUT_SHORT (1000 * GALE_MILLISECOND)

static const char who[] = "exec sink";

/* A definition's block. */
typedef struct settings {
    gx_exec_settings exec; /* first */
    int32_t format;
    gx_fields fields;
    uint64_t max_bytes;
    int64_t finish_wait;
} settings;

typedef enum phase {
    TAKES,  /* the child runs and has its input open */
    LEAVES, /* it has closed its input, and runs still: at `due` it is told to end */
    WAITS,  /* to be started, at `due` */
    GONE,   /* it has ended well, having read all that there was; nothing more may come */
    BROKEN  /* nothing more is written */
} phase;

typedef struct sink {
    gx_instance instance;
    const settings *given;
    gale_collector *out;
    gx_exec_child child;
    gx_outgoing sent;
    gx_renewal renewal;
    gx_lines lines;
    int fd; /* the child's input; -1: closed */
    phase phase;
    int64_t due;
    gale_watch room;  /* of `fd`, while it is open */
    gale_watch timer; /* of the next look, of `due` */
    int64_t pause;    /* between two looks */
    bool full;        /* as it has told the engine */
    uint64_t read;    /* lines, by this child */
    uint64_t taken;   /* bytes of all lines, by this child at last */
    uint64_t doubted; /* lines that children had read which failed, and were followed by another one */
    int64_t tell_at;  /* at the end, of the machine's clock: the log says that it takes long */
    int64_t until;    /* the same: it has taken too long */
} sink;

/* --- The child ------------------------------------------------------------------------------------------------------- */

static int64_t now(const sink *s) {
    return gale_context_now(s->instance.context);
}

static void set_timer(sink *s, int64_t at) {
    if (s->timer) (void)gale_watch_set(s->out, s->timer, 0, at);
}

/* What is in a pipe that is closed nobody will read. */
static void shut(sink *s) {
    if (s->room) (void)gale_watch_free(s->out, s->room);
    if (s->fd >= 0) close(s->fd);
    s->room = 0;
    s->fd = -1;
}

/* Who feeds it waits while it has enough, and until it has half of that. */
static void hold_back(sink *s) {
    uint64_t waiting = gx_outgoing_waiting(&s->sent), most = s->given->max_bytes;
    bool full = s->full ? waiting > most / 2 : waiting >= most;
    if (full != s->full) (void)gale_congest(s->out, full);
    s->full = full;
}

static void fail_all(sink *s, const char *why) {
    gale_handle tuple;
    while (gx_outgoing_take(&s->sent, UINT64_MAX, &tuple))
        (void)gale_fail(s->out, tuple, GALE_REASON_CHILD_EXITED, why);
    (void)gx_outgoing_rewind(&s->sent, 0);
    hold_back(s);
}

/* It has ended, or could not begin, and is not started again. */
static void stop_run(sink *s) {
    gale_error error = GALE_ERROR_INIT;
    (void)gx_exec_child_words(&s->child, GALE_COMPONENT, &error);
    s->phase = BROKEN;
    fail_all(s, error.text);
    gale_error_add(&error, "%s: what is to be written to it was not over", who);
    gale_stop(s->out, error.code, error.text);
}

/* What it had read was acked; whether it was done, it alone knew. The run goes on, and ends in this error. */
static void doubt(sink *s) {
    gale_error how = GALE_ERROR_INIT, error = GALE_ERROR_INIT;
    if (gx_exec_child_succeeded(&s->child) || !s->read) return;
    s->doubted += s->read;
    (void)gx_exec_child_words(&s->child, GALE_COMPONENT, &how);
    gale_error_set(&error, how.code, "%s; it had read %" PRIu64 " line%s since it was started", how.text, s->read,
                   gx_plural(s->read));
    gale_report(s->out, error.text);
}

/* For the next one. A line in which so many have ended is not given to it. */
static void begin_anew(sink *s) {
    char text[GALE_FAILURE_TEXT];
    gale_error how = GALE_ERROR_INIT;
    gale_handle tuple;
    uint32_t losses = gx_outgoing_rewind(&s->sent, s->taken);
    if (losses < gx_losses_most(s->instance.context)) return;
    (void)gx_exec_child_words(&s->child, GALE_COMPONENT, &how);
    gx_losses_text(text, losses, "command", how.text);
    if (gx_outgoing_drop(&s->sent, &tuple)) (void)gale_fail(s->out, tuple, GALE_REASON_REJECTED, text);
    (void)gx_outgoing_rewind(&s->sent, 0);
    hold_back(s);
}

/* Sees to it that there is another one, or none. */
static void replace(sink *s) {
    shut(s);
    if (gx_exec_child_again(&s->child, &s->due)) {
        s->phase = WAITS;
        doubt(s);
        begin_anew(s);
        set_timer(s, s->due);
        return;
    }
    if (gx_exec_child_succeeded(&s->child) && !s->sent.count)
        s->phase = GONE;
    else
        stop_run(s);
}

static int told_of_room(void *user, gale_collector *out, gale_watch watch, int32_t events);

static int watch_room(sink *s) {
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    options.fd = s->fd;
    options.call = told_of_room;
    options.user = s;
    return gale_watch_new(s->out, &options, &s->room);
}

static int begin_child(sink *s) {
    gx_process_fd pipe = { .at = 0, .kind = GX_PROCESS_READS, .fd = -1 };
    int rc = gx_exec_child_begin(&s->child, &pipe);
    s->fd = pipe.fd;
    s->read = s->taken = 0;
    if (rc == 0) {
        rc = watch_room(s);
        if (rc < 0) (void)gx_exec_child_abandon(&s->child, rc);
    }
    if (rc < 0) {
        shut(s);
        return rc;
    }
    s->phase = TAKES;
    s->pause = SOON;
    return 0;
}

/* --- Writing --------------------------------------------------------------------------------------------------------- */

/* False: nobody reads any more. */
static bool write_some(sink *s) {
    size_t before = 0;
    for (gale_str rest = gx_outgoing_unwritten(&s->sent); rest.size && before < AT_ONCE;
         rest = gx_outgoing_unwritten(&s->sent)) {
        int64_t took = gx_pipe_write(s->fd, rest.data, rest.size < AT_ONCE ? rest.size : AT_ONCE);
        if (took < 0) return errno == EAGAIN;
        s->sent.written += (uint64_t)took;
        before += (size_t)took;
    }
    return true;
}

/* Answers for what was read. How many bytes lie in the pipe still. */
static uint64_t answer(sink *s) {
    int64_t unread = gx_pipe_unread(s->fd);
    uint64_t in_pipe = unread > 0 ? (uint64_t)unread : 0;
    gale_handle tuple;
    bool some = false;
    s->taken = s->sent.written - in_pipe;
    while (gx_outgoing_take(&s->sent, s->taken, &tuple)) {
        (void)gale_ack(s->out, tuple);
        s->read++;
        some = true;
    }
    if (some) {
        s->pause = SOON;
        gx_exec_child_works(&s->child);
    }
    hold_back(s);
    return in_pipe;
}

static bool is_left(const sink *s) {
    struct pollfd one = { .fd = s->fd, .events = 0 };
    return poll(&one, 1, 0) > 0 && (one.revents & POLLERR);
}

/* The child has closed its input, and may have read more before it did than we knew. It has time to end by itself: its last words say
 * why. */
static void see_it_leave(sink *s) {
    (void)answer(s);
    shut(s);
    s->phase = LEAVES;
    s->due = now(s) + s->given->exec.stop_wait;
    set_timer(s, s->due);
}

/* While nothing moves it looks less and less often. */
static void wait_on(sink *s, uint64_t in_pipe) {
    bool more = gx_outgoing_unwritten(&s->sent).size > 0;
    (void)gale_watch_set(s->out, s->room, more ? GALE_WATCH_WRITE : 0, 0);
    set_timer(s, in_pipe ? now(s) + s->pause : 0);
    if (in_pipe && s->pause < SELDOM) s->pause *= 2;
}

/* Writes what can be written, and answers what was read. */
static void pump(sink *s) {
    if (s->phase != TAKES || !s->child.runs) return;
    bool reads = write_some(s);
    uint64_t in_pipe = answer(s);
    if (!reads || (in_pipe && is_left(s)))
        see_it_leave(s);
    else
        wait_on(s, in_pipe);
}

/* --- What it is told ------------------------------------------------------------------------------------------------- */

static int told_of_room(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    (void)out, (void)watch, (void)events;
    pump(user);
    return 0;
}

/* What it has read of the pipe is known still. */
static void child_ended(void *user) {
    sink *s = user;
    if (s->fd >= 0) (void)answer(s);
    replace(s);
}

static void start_again(sink *s) {
    if (begin_child(s) < 0)
        replace(s);
    else
        pump(s);
}

static void urge(sink *s) {
    const gale_context *context = s->instance.context;
    if (!s->child.process.told)
        gale_log(context->logger, GALE_LOG_WARN, context->component,
                 "command '%s' has closed its input and does not end: it is told to", s->given->exec.name);
    set_timer(s, gx_exec_child_urge(&s->child));
}

static int told_of_time(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    sink *s = user;
    (void)out, (void)watch, (void)events;
    switch (s->phase) {
    case TAKES: pump(s); break;
    case LEAVES: urge(s); break;
    case WAITS: start_again(s); break;
    default: break;
    }
    return 0;
}

static int watch_time(sink *s) {
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    options.always = true;
    options.call = told_of_time;
    options.user = s;
    return gale_watch_new(s->out, &options, &s->timer);
}

/* --- Tuples ---------------------------------------------------------------------------------------------------------- */

/* Forms the line of a tuple that is held under the handle. */
static int form(sink *s, const gale_tuple *tuple) {
    if (!gx_outgoing_reserve(&s->sent)) return GALE_NO_MEMORY;
    return gx_lines_add(&s->lines, tuple, s->out, &s->sent.bytes);
}

static int refuse_broken(sink *s, gale_handle tuple) {
    gale_error error = GALE_ERROR_INIT;
    (void)gx_exec_child_words(&s->child, GALE_COMPONENT, &error);
    return gale_fail(s->out, tuple, GALE_REASON_CHILD_EXITED, error.text);
}

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    sink *s = self;
    gale_handle handle = gale_tuple_handle(tuple), held;
    size_t before = s->sent.bytes.size;
    if (gale_tuple_is_tick(tuple)) return gale_ack(out, handle);
    if (s->phase == GONE) stop_run(s);
    if (s->phase == BROKEN) return refuse_broken(s, handle);
    int rc = form(s, tuple);
    if (rc == 0) rc = gx_renewal_note(&s->renewal);
    if (rc == 0) rc = gale_tuple_hold(out, handle, &held);
    if (rc < 0) {
        s->sent.bytes.size = before;
        return rc;
    }
    gx_outgoing_add(&s->sent, held);
    hold_back(s);
    return 0;
}

static int bolt_flush(void *self, gale_collector *out) {
    (void)out;
    pump(self);
    return 0;
}

/* --- The end --------------------------------------------------------------------------------------------------------- */

/* From now on nothing may stand still for longer than `finish_wait`. */
static void begin_end(sink *s) {
    s->tell_at = gx_os_monotonic() + LONG;
    s->until = gx_os_monotonic() + s->given->finish_wait;
}

/* gx_exec_child_await; once, when all of it takes long, the log says so. */
static bool await_child(sink *s, int64_t until) {
    const gale_context *context = s->instance.context;
    if (until <= s->tell_at) return gx_exec_child_await(&s->child, until);
    if (gx_exec_child_await(&s->child, s->tell_at)) return true;
    s->tell_at = INT64_MAX;
    gale_log(context->logger, GALE_LOG_WARN, context->component,
             "waits for the command '%s' to end: it has %.6g s (finishWait) from the last line that it has read",
             s->given->exec.name, (double)s->given->finish_wait / (double)GALE_SECOND);
    return gx_exec_child_await(&s->child, until);
}

/* Until the child has read all, or nothing has moved for too long. What comes at the end alone (the tuples of a finish before it) is
 * not much. */
static void write_rest(sink *s) {
    int64_t pause = SOON;
    while (s->child.runs && s->sent.count && gx_os_monotonic() < s->until) {
        uint64_t before = s->sent.begin + s->sent.written;
        bool reads = write_some(s);
        uint64_t in_pipe = answer(s);
        if (!reads || (in_pipe && is_left(s))) break;
        if (s->sent.begin + s->sent.written != before) {
            s->until = gx_os_monotonic() + s->given->finish_wait;
            pause = SOON;
        } else {
            if (await_child(s, gx_os_monotonic() + pause)) (void)answer(s);
            if (pause < SELDOM) pause *= 2;
        }
    }
    if (s->fd >= 0) (void)answer(s);
}

/* Its input ends, and so is it to do. */
static void end_child(sink *s) {
    shut(s);
    set_timer(s, 0);
    if (!await_child(s, s->until)) (void)gx_exec_child_end(&s->child, s->given->exec.stop_wait);
}

/* One that is to be started again is, for what waits. */
static bool has_child(sink *s) {
    if (s->phase == TAKES) return s->child.runs;
    return s->phase == WAITS && begin_child(s) == 0;
}

/* "command 'x' was killed by signal 15 (Terminated); it had not ended by itself within 60 s (finishWait); 3 lines it did not read" */
static int explain_end(const sink *s, size_t left, gale_error *error) {
    gale_error how = GALE_ERROR_INIT;
    char late[80] = "", rest[60] = "";
    (void)gx_exec_child_words(&s->child, GALE_COMPONENT, &how);
    if (s->child.process.told)
        snprintf(late, sizeof late, "; it had not ended by itself within %.6g s (finishWait)",
                 (double)s->given->finish_wait / (double)GALE_SECOND);
    if (left) snprintf(rest, sizeof rest, "; %zu line%s it did not read", left, gx_plural(left));
    return gale_error_set(error, how.code, "%s%s%s", how.text, late, rest);
}

static int tell_end(sink *s) {
    gale_error error = GALE_ERROR_INIT;
    if (!s->sent.count && gx_exec_child_succeeded(&s->child)) return 0;
    (void)explain_end(s, s->sent.count, &error);
    s->phase = BROKEN;
    fail_all(s, error.text);
    gale_report(s->out, error.text);
    return error.code;
}

/* Others have ended well since: what those had read that did not is the run's error still. */
static int tell_doubt(sink *s) {
    gale_error error = GALE_ERROR_INIT;
    if (!s->doubted) return 0;
    gale_error_set(&error, GALE_COMPONENT,
                   "command '%s' failed, and was started again, after it had read %" PRIu64
                   " line%s: how much of that it did is not known",
                   s->given->exec.name, s->doubted, gx_plural(s->doubted));
    gale_report(s->out, error.text);
    return error.code;
}

static int bolt_finish(void *self, gale_collector *out) {
    sink *s = self;
    (void)out;
    if (s->phase == BROKEN) return 0; /* for that the run has been stopped */
    if (s->phase == GONE || (s->phase == WAITS && !s->sent.count)) return tell_doubt(s);
    begin_end(s);
    if (has_child(s)) write_rest(s);
    end_child(s);
    int rc = tell_end(s);
    return rc == 0 ? tell_doubt(s) : rc;
}

static void free_sink(sink *s) {
    shut(s);
    gx_exec_child_fini(&s->child);
    gx_outgoing_fini(&s->sent);
    gx_define_instance_free(s);
}

/* The run goes on later with what it had not read, and without what it had: that is to be done now. */
static void end_suspended(sink *s) {
    gale_error error = GALE_ERROR_INIT;
    bool ran = s->child.runs;
    begin_end(s);
    end_child(s);
    if (!ran || gx_exec_child_succeeded(&s->child)) return;
    (void)explain_end(s, 0, &error);
    gale_report(s->out, error.text);
}

/* Lines, by this child. Nothing can be answered any more. */
static uint64_t count_read(const sink *s) {
    int64_t unread = s->fd >= 0 ? gx_pipe_unread(s->fd) : 0;
    uint64_t taken = s->sent.written - (unread > 0 ? (uint64_t)unread : 0);
    size_t more = 0;
    while (more < s->sent.count && gx_outgoing_at(&s->sent, more)->end <= taken) more++;
    return s->read + more;
}

/* The run is not waited for any more. A command that ends at the end of its input has done what it had read; what another one has not
 * done soon is not done. */
static void end_cut(sink *s) {
    const gale_context *context = s->instance.context;
    int64_t patience = s->given->exec.stop_wait < CUT_SHORT ? s->given->exec.stop_wait : CUT_SHORT;
    gale_error how = GALE_ERROR_INIT;
    char told[80] = "";
    if (!s->child.runs) return;
    uint64_t read = count_read(s);
    shut(s);
    bool ended = gx_exec_child_await(&s->child, gx_os_monotonic() + LEISURE);
    if (ended && gx_exec_child_succeeded(&s->child)) return;
    if (!ended && gx_exec_child_end(&s->child, patience))
        snprintf(told, sizeof told, ", by SIGTERM, and SIGKILL %.6g s later", (double)patience / (double)GALE_SECOND);
    else if (!ended)
        snprintf(told, sizeof told, ", by SIGTERM");
    (void)gx_exec_child_words(&s->child, GALE_COMPONENT, &how);
    gale_log(context->logger, GALE_LOG_WARN, context->component,
             "the run is cut short, and its command with it%s: %s; it had read %" PRIu64
             " line%s since it was started, which may not be done",
             told, how.text, read, gx_plural(read));
}

static void bolt_cleanup(void *self) {
    sink *s = self;
    if (s->instance.context->durable) end_suspended(s);
    end_cut(s);
    free_sink(s);
}

/* --- The beginning --------------------------------------------------------------------------------------------------- */

static void warn_of_kill(const sink *s) {
    const gale_context *context = s->instance.context;
    if (!context->durable || context->task_index > 0) return;
    gale_log(context->logger, GALE_LOG_WARN, context->component,
             "what command '%s' has read and not done when it is killed is lost: the state has what it has not read",
             s->given->exec.name);
}

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    const settings *given = user;
    sink *s = gx_define_instance(context, sizeof *s);
    if (!s) return GALE_NO_MEMORY;
    s->given = given;
    s->out = out;
    s->fd = -1;
    s->lines.who = who;
    s->lines.format = given->format;
    s->lines.fields = given->fields;
    gx_outgoing_init(&s->sent, &s->instance.heap);
    gx_renewal_init(&s->renewal, gx_outgoing_renew, &s->sent, context, out);
    int rc = gx_exec_child_init(&s->child, &given->exec, &s->instance, out, child_ended, s);
    if (rc == 0) rc = begin_child(s);
    if (rc == 0) rc = watch_time(s);
    if (rc < 0) {
        if (s->child.last.length) gale_report(out, s->child.last.text);
        free_sink(s);
        return rc;
    }
    warn_of_kill(s);
    *ret_self = s;
    return 0;
}

/* --- What lasts: which tuples are held, in which order ---------------------------------------------------------------- */

static int bolt_save(void *self, gale_saver *to) {
    const sink *s = self;
    return gx_outgoing_save(&s->sent, to);
}

static int form_again(void *user, const gale_tuple *tuple) {
    return form(user, tuple);
}

static int bolt_restore(void *self, gale_saved *from, gale_collector *out) {
    sink *s = self;
    gx_recall recall = { from, out, who, s->instance.context, 0 };
    int rc = gx_outgoing_restore(&s->sent, &recall, form_again, s);
    if (rc < 0 || !s->sent.count) return rc;
    set_timer(s, now(s));
    return gx_renewal_note(&s->renewal);
}

static const gale_durable_ops durable = {
    .size = sizeof(gale_durable_ops),
    .version = 1,
    .flags = GALE_DURABLE_OUTSIDE,
    .save = bolt_save,
    .restore = bolt_restore,
};

static const gale_bolt_ops ops = {
    .size = sizeof(gale_bolt_ops),
    .name = "exec sink bolt",
    .kind = GALE_BOLT_MANUAL,
    .prepare = bolt_prepare,
    .execute = bolt_execute,
    .flush = bolt_flush,
    .finish = bolt_finish,
    .cleanup = bolt_cleanup,
    .durable = &durable,
};

/* --- Its definition -------------------------------------------------------------------------------------------------- */

static int check(const gale_exec_sink_options *given, gx_fields *ret_fields, gale_error *error) {
    ret_fields->count = 0;
    int rc = gx_exec_settings_check(who, "finish_wait", given->finish_wait, error);
    if (rc < 0) return rc;
    if (given->format < GALE_EXEC_TSV || given->format > GALE_EXEC_TEXT)
        return gale_error_set(error, GALE_INVALID,
                              "%s: format is %d, which is none of TSV (%d), JSON (%d), CSV (%d) and TEXT (%d)", who,
                              given->format, GALE_EXEC_TSV, GALE_EXEC_JSON, GALE_EXEC_CSV, GALE_EXEC_TEXT);
    if (!given->fields || !*given->fields) return 0;
    if (given->format == GALE_EXEC_TEXT)
        return gx_fields_parse_one(given->fields, "exec sink: fields, of which format text writes one,", ret_fields,
                                   error);
    return gx_fields_parse(given->fields, "exec sink: fields", ret_fields, error);
}

int gale_exec_sink_bolt(const gale_exec_sink_options *options, gale_bolt *ret_bolt, gale_error *error) {
    static_assert((int)GALE_EXEC_TSV == (int)GALE_FILE_TSV && (int)GALE_EXEC_JSON == (int)GALE_FILE_JSON &&
                      (int)GALE_EXEC_CSV == (int)GALE_FILE_CSV && (int)GALE_EXEC_TEXT == (int)GALE_FILE_TEXT,
                  "connect/file/lines forms them");
    gale_exec_sink_options given;
    gx_fields fields;
    settings *made;
    if (!ret_bolt) return gx_define_nowhere(who, error);
    int rc = gx_options_take(&given, sizeof given, options, "exec sink: options", error);
    if (rc == 0) rc = check(&given, &fields, error);
    if (rc == 0) rc = gx_exec_settings_make(given.run, who, sizeof *made, &made, error);
    if (rc < 0) return rc;
    made->format = given.format;
    made->fields = fields;
    made->max_bytes = given.max_bytes ? given.max_bytes : MAX_BYTES;
    made->finish_wait = gx_exec_settings_time(given.finish_wait, FINISH_WAIT);
    *ret_bolt = gx_define_bolt(&ops, made, NULL, 0);
    return 0;
}
