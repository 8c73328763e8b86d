/* What tests of commands share: whole runs on one executor's thread, with a source of numbers, a bolt that keeps what it is given,
 * and another pair of them that has to go on whatever a child does. What is asked of a run is asked from the test's thread. */
#ifndef TEST_CONNECT_EXEC_RUN_H
#define TEST_CONNECT_EXEC_RUN_H

#include "base/buf.h"
#include "harness/cm.h"
#include "harness/counting_allocator.h"

#include <dirent.h>
#include <errno.h>
#include <gale/exec.h>
#include <gale/gale.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_SECONDS = 120 }; /* nothing that is waited for takes so long */

typedef struct numbers {
    int64_t to_emit, emitted;
    atomic_llong acks, fails;
    int32_t reason; /* of the last failure */
    char text[GALE_FAILURE_TEXT + 1];
} numbers;

typedef struct run {
    gale_topology *topology;
    gale_runtime *runtime;
    gale_error error;
    numbers source, other;
    gx_buf kept; /* "line\n" or "line 7\n" */
    atomic_llong kept_count;
    int64_t fails_first; /* so many tuples fail */
    int32_t kept_type;   /* of the last one */
    bool holds;          /* and answers nothing */
    pthread_mutex_t lock;
    gx_buf logged; /* lines */
    gale_logger logger;
    const gale_allocator *allocator;
    const gale_store *store; /* the run is durable */
    char folder[60];
    size_t fds;
} run;

/* --- A source of numbers --- */

static inline int numbers_next(void *self, gale_collector *out, gale_wait *wait) {
    numbers *n = self;
    (void)wait;
    if (n->emitted == n->to_emit) return GALE_NEXT_DONE;
    gale_value number = gale_i64(n->emitted);
    int rc = gale_emit_tracked(out, 0, &number, 1, (uint64_t)n->emitted);
    if (rc < 0) return rc;
    n->emitted++;
    return GALE_NEXT_EMITTED;
}

static inline void numbers_ack(void *self, uint64_t id) {
    (void)id;
    atomic_fetch_add(&((numbers *)self)->acks, 1);
}

static inline void numbers_fail(void *self, uint64_t id, const gale_failure *failure) {
    numbers *n = self;
    (void)id;
    if (failure->reason != GALE_REASON_STOPPED) {
        n->reason = failure->reason;
        snprintf(n->text, sizeof n->text, "%s", failure->text);
    }
    atomic_fetch_add(&n->fails, 1);
}

static inline gale_spout numbers_of(numbers *n) {
    static const gale_spout_ops ops = {
        .size = sizeof ops, .name = "numbers", .next = numbers_next, .ack = numbers_ack, .fail = numbers_fail
    };
    static const gale_output output = { NULL, "number" };
    return (gale_spout){ .size = sizeof(gale_spout), .ops = &ops, .user = n, .outputs = &output, .output_count = 1 };
}

/* --- A bolt that keeps --- */

static inline int keeper_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    run *r = self;
    gale_value line = gale_tuple_value(tuple, 0);
    gale_handle held;
    r->kept_type = line.type;
    if (r->fails_first && r->fails_first--) return GALE_COMPONENT;
    gx_buf_add(&r->kept, line.as.string, line.size);
    if (gale_tuple_size(tuple) > 1) gx_buf_format(&r->kept, " %lld", (long long)gale_tuple_value(tuple, 1).as.i64);
    gx_buf_add_byte(&r->kept, '\n');
    int rc = r->holds ? gale_tuple_hold(out, gale_tuple_handle(tuple), &held) : gale_ack(out, gale_tuple_handle(tuple));
    atomic_fetch_add(&r->kept_count, 1);
    return rc;
}

static inline gale_bolt keeper_of(run *r) {
    static const gale_bolt_ops ops = {
        .size = sizeof ops, .name = "keeper", .kind = GALE_BOLT_MANUAL, .execute = keeper_execute
    };
    return (gale_bolt){ .size = sizeof(gale_bolt), .ops = &ops, .user = r };
}

/* --- A run --- */

static inline void run_log(void *user, int32_t level, const char *component, const char *text) {
    run *r = user;
    (void)level;
    pthread_mutex_lock(&r->lock);
    gx_buf_format(&r->logged, "%s: %s\n", component ? component : "-", text);
    pthread_mutex_unlock(&r->lock);
}

static inline size_t open_fds(void) {
    DIR *folder = opendir("/proc/self/fd");
    size_t count = 0;
    assert_non_null(folder);
    while (readdir(folder)) count++;
    closedir(folder);
    return count;
}

static inline void run_init(run *r) {
    memset(r, 0, sizeof *r);
    r->fds = open_fds();
    r->error = (gale_error)GALE_ERROR_INIT;
    pthread_mutex_init(&r->lock, NULL);
    r->logger = (gale_logger){ sizeof r->logger, GALE_LOG_INFO, run_log, r };
    snprintf(r->folder, sizeof r->folder, "/tmp/gale-exec-XXXXXX");
    assert_non_null(mkdtemp(r->folder));
    assert_int_equal(setenv("GALE_TEST", r->folder, 1), 0); /* commands find it so */
    r->topology = gale_topology_new("exec");
    gale_topology_set(r->topology, NULL, "topology.message.timeout.secs", gale_i64(3600));
}

/* Beside the rest, on the same executor: so many tuples go from one to the other. */
static inline void run_add_other(run *r, int64_t count) {
    gale_bolt null;
    r->other.to_emit = count;
    assert_int_equal(gale_null_bolt(&null, NULL), 0);
    gale_topology_add_spout(r->topology, "other", numbers_of(&r->other), 1);
    gale_topology_add_bolt(r->topology, "null", null, 1);
    gale_topology_subscribe(r->topology, "null", "other", NULL, gale_shuffle());
}

static inline void run_add_command(run *r, gale_spout spout) {
    gale_topology_add_spout(r->topology, "command", spout, 1);
    gale_topology_add_bolt(r->topology, "keeper", keeper_of(r), 1);
    gale_topology_subscribe(r->topology, "keeper", "command", NULL, gale_shuffle());
}

static inline void run_add_sink(run *r, gale_bolt sink, int64_t count) {
    r->source.to_emit = count;
    gale_topology_add_spout(r->topology, "numbers", numbers_of(&r->source), 1);
    gale_topology_add_bolt(r->topology, "command", sink, 1);
    gale_topology_subscribe(r->topology, "command", "numbers", NULL, gale_shuffle());
}

static inline int run_start(run *r, bool until_drained) {
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.executors = 1;
    options.logger = &r->logger;
    options.until_drained = until_drained;
    options.allocator = r->allocator;
    options.store = r->store;
    int rc = gale_runtime_new(r->topology, &options, &r->runtime, &r->error);
    return rc < 0 ? rc : gale_runtime_start(r->runtime, &r->error);
}

/* What gale_runtime_wait says. */
static inline int run_wait(run *r) {
    r->error = (gale_error)GALE_ERROR_INIT;
    return gale_runtime_wait(r->runtime, PATIENCE_SECONDS * GALE_SECOND, &r->error);
}

static inline int run_all(run *r) {
    int rc = run_start(r, true);
    return rc < 0 ? rc : run_wait(r);
}

static inline void run_stop(run *r) {
    gale_runtime_stop(r->runtime);
    assert_int_equal(run_wait(r), 0);
}

/* Until so many were counted. */
static inline void await_count(atomic_llong *count, long long wanted) {
    for (int i = 0; atomic_load(count) < wanted; i++) {
        assert_true(i < PATIENCE_SECONDS * 1000);
        usleep(1000);
    }
}

static inline void await_file(const run *r, const char *name) {
    char path[200];
    snprintf(path, sizeof path, "%s/%s", r->folder, name);
    for (int i = 0; access(path, F_OK) != 0; i++) {
        assert_true(i < PATIENCE_SECONDS * 1000);
        usleep(1000);
    }
}

static inline void make_file(const run *r, const char *name) {
    char path[200];
    snprintf(path, sizeof path, "%s/%s", r->folder, name);
    fclose(fopen(path, "w"));
}

static inline void must_log(run *r, const char *text) {
    const char *logged = gx_buf_text(&r->logged);
    if (!strstr(logged, text)) print_error("'%s' is not logged:\n%s", text, logged);
    assert_non_null(strstr(logged, text));
}

/* Until it is logged. */
static inline void await_log(run *r, const char *text) {
    for (int i = 0;; i++) {
        pthread_mutex_lock(&r->lock);
        const char *logged = gx_buf_text(&r->logged);
        bool there = logged && strstr(logged, text);
        pthread_mutex_unlock(&r->lock);
        if (there) return;
        assert_true(i < PATIENCE_SECONDS * 1000);
        usleep(1000);
    }
}

static inline void must_say(const char *said, const char *text) {
    if (!strstr(said, text)) print_error("'%s' lacks '%s'\n", said, text);
    assert_non_null(strstr(said, text));
}

/* The file of the run's folder, whole. */
static inline const char *file_text(const run *r, const char *name) {
    static char text[1 << 20];
    char path[200];
    snprintf(path, sizeof path, "%s/%s", r->folder, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t size = fread(text, 1, sizeof text - 1, file);
    text[size] = 0;
    fclose(file);
    return text;
}

/* So many numbers from `first` on, a line each, and nothing else. */
static inline void must_be_numbers(const char *text, int first, int count) {
    gx_buf wanted = GX_BUF_INIT(NULL);
    for (int i = first; i < first + count; i++) {
        gx_buf_add_i64(&wanted, i);
        gx_buf_add_byte(&wanted, '\n');
    }
    assert_true(strcmp(text, gx_buf_text(&wanted)) == 0);
    gx_buf_fini(&wanted);
}

/* Nothing is left: no child, not even a zombie, and no descriptor. */
static inline void run_fini(run *r) {
    char command[100];
    assert_int_equal(gale_runtime_free(r->runtime, -1, NULL), 0);
    gale_topology_free(r->topology);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    assert_int_equal(open_fds(), r->fds);
    snprintf(command, sizeof command, "rm -r %s", r->folder);
    assert_int_equal(system(command), 0);
    gx_buf_fini(&r->kept);
    gx_buf_fini(&r->logged);
    pthread_mutex_destroy(&r->lock);
}

#endif
