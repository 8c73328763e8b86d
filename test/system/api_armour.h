/* What the generated program of api_armour.py needs: objects to call with, made when they are asked for, and a process for
 * each function, so that a crash has a name.
 *
 * A call may be made by nobody in particular, or from inside a component: its spout's `next`, its bolt's `execute`, its
 * grouping's `choose`. Afterwards the topology must drain as if nothing had been, and everything must come free. */
#ifndef TEST_SYSTEM_API_ARMOUR_H
#define TEST_SYSTEM_API_ARMOUR_H

#include <gale/gale.h>
#include <math.h>
#include <signal.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(GALE_CHECKS) && GALE_CHECKS >= 1
#define CHECKS 1
#else
#define CHECKS 0
#endif

enum { ARGUMENTS_MAX = 9, CALLS_MAX = 4000, ROOM = 4096, SECONDS = 120 };
enum { UNTOUCHED = 0xa5 };

typedef enum role { NOBODY, SPOUT, BOLT, GROUPING, ROLES } role;

typedef struct world world;
typedef void call_fn(world *w, const unsigned *pick);

struct world {
    role role;
    call_fn *call; /* to be made by a component, and made when it is NULL */
    const unsigned *pick;
    gale_config *config, *freed_config;
    gale_topology *topology, *freed_topology;
    gale_runtime *runtime, *freed_runtime;
    gale_manual_clock *clock, *freed_clock;
    gale_rotating_map *numbers, *bytes, *freed_map;
    gale_time_cache_map *cache, *bytes_cache, *freed_cache;
    gale_value_owned *owned, *freed_owned;
    gale_remote *remote, *closed_remote;
    gale_state *state;
    gale_metric *metric;
    gale_intake *intake;
    gale_positions *positions;
    gale_dispatch *dispatch;
    gale_epochs *epochs;
    /* What a component has. */
    gale_collector *out;
    const gale_context *context;
    const gale_tuple *tuple;
    const gale_targets *targets;
    gale_handle held, settled;
    unsigned emitted;
    gale_error error;
    char *text; /* that grows */
    size_t text_size, text_room;
    /* Where outputs go, and what options lie in. */
    alignas(16) unsigned char outputs[ARGUMENTS_MAX][ROOM];
    alignas(16) unsigned char inputs[ARGUMENTS_MAX][ROOM];
};

/* --- Telling ------------------------------------------------------------------------------------------------------ */

typedef struct notice {
    char call[2000];
    unsigned long calls;
    char problem[400];
} notice;

static const gale_metric_label eight_labels[GALE_METRIC_LABELS_MAX] = { { "a", "1" },  { "b", "2" }, { "c", "3" },
                                                                        { "d", "" },   { "e", "5" }, { "f", "6" },
                                                                        { NULL, "7" }, { "h", NULL } };
static const char *const some_names[] = { "value", "key", NULL };

static notice *told; /* shared with the parent */

#define PROBLEM(...) (told->problem[0] ? 0 : snprintf(told->problem, sizeof told->problem, __VA_ARGS__))

static inline void say_call(const char *name, size_t count, const char *const *const *names, const unsigned *pick,
                            role by) {
    static const char *const roles[] = { "", ", called by a spout", ", called by a bolt", ", called by a grouping" };
    size_t at = (size_t)snprintf(told->call, sizeof told->call, "%s(", name);
    for (size_t i = 0; i < count && at < sizeof told->call; i++)
        at += (size_t)snprintf(told->call + at, sizeof told->call - at, "%s%s", i ? ", " : "", names[i][pick[i]]);
    if (at < sizeof told->call) snprintf(told->call + at, sizeof told->call - at, ")%s", roles[by]);
    told->calls++;
}

/* --- Components ---------------------------------------------------------------------------------------------------- */

static inline void call_once(world *w) {
    call_fn *call = w->call;
    w->call = NULL;
    call(w, w->pick);
}

/* With a counter and a text in it. */
static inline void open_state(world *w, const gale_context *context, gale_collector *out) {
    gale_value number = gale_i64(7), text = gale_text("second");
    w->context = context;
    if (gale_state_open(out, NULL, &w->state) < 0) abort();
    if (gale_state_put(w->state, &number, &number) < 0 || gale_state_put(w->state, &text, &text) < 0) abort();
}

static inline void open_metric(world *w, gale_collector *out) {
    gale_metric_options options = GALE_METRIC_OPTIONS_INIT;
    options.name = "own";
    if (gale_metric_new(out, &options, &w->metric) < 0) abort();
}

static inline int on_commit(void *user, gale_epoch *epoch, gale_error *error) {
    (void)user, (void)epoch, (void)error;
    return 0;
}

static inline void on_kept(void *user, uint32_t source, int64_t place) {
    (void)user, (void)source, (void)place;
}

static inline void open_connection(world *w, const gale_context *context, gale_collector *out) {
    w->positions = gale_positions_new(context);
    if (!w->positions || gale_intake_new(context, out, NULL, &w->intake, NULL) < 0) abort();
    if (gale_dispatch_new(context, out, NULL, &w->dispatch, NULL) < 0) abort();
    gale_epochs_options epochs = GALE_EPOCHS_OPTIONS_INIT;
    epochs.commit = on_commit;
    if (gale_epochs_new(context, out, &epochs, &w->epochs, NULL) < 0) abort();
}

static inline void close_connection(world *w, role by) {
    if (w->role != by) return;
    gale_positions_free(w->positions);
    gale_intake_free(w->intake);
    gale_dispatch_free(w->dispatch);
    gale_epochs_free(w->epochs);
}

static inline bool on_lost(void *user, uint64_t message_id) {
    (void)user;
    return message_id % 2;
}

static inline void on_drive(void *user) {
    (void)user;
}

static inline int on_send(void *user, uint64_t id, const gale_tuple *tuple) {
    (void)user, (void)id;
    return tuple ? 0 : -1;
}

static inline int on_watch(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    (void)user, (void)out, (void)watch, (void)events;
    return 0;
}

static inline int on_pair(void *user, const gale_value *key, const gale_value *value) {
    (void)user;
    return key && value ? 0 : -1;
}

static inline int source_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    world *w = user;
    if (w->role == SPOUT) open_state(w, context, out), open_metric(w, out), open_connection(w, context, out);
    *ret_self = w;
    return 0;
}

static inline void source_close(void *self) {
    close_connection(self, SPOUT);
}

static inline void work_cleanup(void *self) {
    close_connection(self, BOLT);
}

static inline int source_next(void *self, gale_collector *out, gale_wait *wait) {
    world *w = self;
    (void)wait;
    if (w->role == SPOUT && w->call) {
        w->out = out;
        call_once(w);
    }
    if (w->emitted == 3) return GALE_NEXT_DONE;
    gale_value values[2] = { gale_i64((int64_t)w->emitted), gale_text("key") };
    int rc = gale_emit_tracked(out, 0, values, 2, w->emitted);
    if (rc >= 0) w->emitted++;
    return rc == GALE_AGAIN ? GALE_NEXT_NOTHING : rc < 0 ? rc : GALE_NEXT_EMITTED;
}

static inline int work_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    world *w = user;
    if (w->role == BOLT) open_state(w, context, out), open_metric(w, out), open_connection(w, context, out);
    *ret_self = w;
    return 0;
}

static inline int work_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    world *w = self;
    gale_handle mine = gale_tuple_handle(tuple);
    if (w->role == BOLT && w->call && w->settled) {
        w->out = out;
        w->tuple = tuple;
        w->held = 0;
        call_once(w);
        if (w->held) (void)gale_ack(out, w->held);
    }
    (void)gale_ack(out, mine);
    w->settled = mine;
    return 0;
}

static inline const gale_tuple *next_none(gale_batch *tuples) {
    (void)tuples;
    return NULL;
}

static size_t emitted_rows;
static const uint64_t message_ids[] = { 0, UINT64_MAX };
static const gale_pledge_ops strange_pledge;
static inline gale_value no_value(const gale_args *args, const char *name) {
    (void)args, (void)name;
    return gale_null();
}

static inline bool not_given(const gale_args *args, const char *name) {
    (void)args, (void)name;
    return false;
}

static inline size_t no_inputs(const gale_args *args) {
    (void)args;
    return 0;
}

static inline bool no_input(const gale_args *args, size_t index, gale_input *ret_input) {
    (void)args, (void)index, (void)ret_input;
    return false;
}

static const gale_args_ops no_args_ops = { sizeof no_args_ops, no_value, not_given, no_inputs, no_input };
static const gale_args no_args = { &no_args_ops }, tableless_args;
static gale_batch no_tuples = { sizeof no_tuples, next_none }; /* as a harness makes them */

static inline int sink_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    (void)self, (void)tuple, (void)out;
    return 0;
}

static inline int choose(void *self, const gale_targets *targets, const gale_value *values, size_t count,
                         uint32_t *ret_indices) {
    world *w = self;
    (void)values, (void)count;
    if (w->role == GROUPING && w->call) {
        w->targets = targets;
        call_once(w);
    }
    ret_indices[0] = 0;
    return 1;
}

static const gale_spout_ops source_ops = {
    .size = sizeof source_ops, .open = source_open, .next = source_next, .close = source_close
};
static const gale_bolt_ops work_ops = { .size = sizeof work_ops,
                                        .kind = GALE_BOLT_MANUAL,
                                        .prepare = work_prepare,
                                        .execute = work_execute,
                                        .cleanup = work_cleanup };
static const gale_bolt_ops sink_ops = { .size = sizeof sink_ops, .execute = sink_execute };
static const gale_custom_ops chooser_ops = { .size = sizeof chooser_ops, .choose = choose };
static const gale_output two_streams[] = { { NULL, "number, key" }, { "named", "number, key" } };

/* Tables and arrays that are not as they should be. */
static const gale_output strange_outputs[] = { { "\xff", "\xff" }, { NULL, NULL }, { "", "a, a" }, { NULL, "\n" } };
static const gale_setting strange_settings[] = { { NULL, { 0 } }, { "\xff", { .type = GALE_TYPE_LIST, .size = 9 } } };
static const gale_spout_ops spouts_ops[] = { { .size = 0 }, { .size = SIZE_MAX }, { .size = sizeof(gale_spout_ops) } };
static const gale_bolt_ops bolts_ops[] = { { .size = 0 },
                                           { .size = SIZE_MAX },
                                           { .size = sizeof(gale_bolt_ops), .kind = 77, .execute = work_execute } };
static const gale_custom_ops strange_custom = { .size = SIZE_MAX };
static const gale_logger loggers[] = { { sizeof(gale_logger), GALE_LOG_INFO, NULL, NULL }, { 0, -5, NULL, NULL } };

static inline gale_error *strange_error(size_t size, uint32_t length) {
    static gale_error error;
    error = (gale_error){ size, -1, length, { 0 } };
    return &error;
}

static inline gale_spout a_spout(world *w) {
    return (gale_spout){
        .size = sizeof(gale_spout), .ops = &source_ops, .user = w, .outputs = two_streams, .output_count = 2
    };
}

static inline gale_bolt a_bolt(world *w) {
    return (
        gale_bolt){ .size = sizeof(gale_bolt), .ops = &work_ops, .user = w, .outputs = two_streams, .output_count = 2 };
}

static inline gale_topology *made_topology(world *w) {
    gale_topology *made = gale_topology_new("armour");
    gale_bolt sink = { .size = sizeof sink, .ops = &sink_ops };
    gale_topology_add_spout(made, "source", a_spout(w), 1);
    gale_topology_add_bolt(made, "work", a_bolt(w), 1);
    gale_topology_add_bolt(made, "sink", sink, 1);
    gale_topology_subscribe(made, "work", "source", NULL, gale_custom(&chooser_ops, w, NULL));
    gale_topology_subscribe(made, "sink", "work", NULL, gale_shuffle());
    gale_topology_subscribe(made, "sink", "work", "named", gale_direct());
    gale_topology_subscribe(made, "sink", "source", "named", gale_direct());
    return made;
}

static inline gale_runtime *made_runtime(world *w, gale_topology *topology) {
    gale_runtime *made = NULL;
    gale_clock clock = gale_manual_clock_handle(w->clock);
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    options.clock = &clock;
    options.seed = 1;
    options.executors = 1;
    options.until_drained = true;
    if (gale_runtime_new(topology, &options, &made, NULL) < 0) abort();
    return made;
}

/* --- Objects, when they are asked for ------------------------------------------------------------------------------ */

static inline gale_config *a_config(world *w) {
    if (w->config) return w->config;
    w->config = gale_config_new();
    if (gale_config_set(w->config, "own.key", gale_text("value"), NULL) < 0) abort();
    return w->config;
}

static inline gale_topology *a_topology(world *w) {
    if (!w->topology) w->topology = made_topology(w);
    return w->topology;
}

static inline gale_runtime *a_runtime(world *w) {
    if (!w->runtime) w->runtime = made_runtime(w, a_topology(w));
    return w->runtime;
}

static inline gale_runtime *a_running_runtime(world *w) {
    for (int i = 0; i < 3; i++) (void)gale_runtime_step(a_runtime(w));
    return w->runtime;
}

static inline gale_runtime *a_closed_runtime(world *w) {
    gale_runtime_stop(a_runtime(w));
    return w->runtime;
}

static inline gale_manual_clock *a_clock(world *w) {
    return w->clock;
}

static inline gale_rotating_map *made_map(gale_key_type type) {
    gale_rotating_map_options options = GALE_ROTATING_MAP_OPTIONS_INIT;
    gale_rotating_map *map = NULL;
    uint64_t value = 7;
    options.key_type = type;
    options.value_size = sizeof value;
    options.seed = 1;
    if (gale_rotating_map_new(&options, &map, NULL) < 0) abort();
    if (type == GALE_KEY_U64 ? gale_rotating_map_put(map, 1, &value, NULL) < 0
                             : gale_rotating_map_put_bytes(map, "key", 3, &value, NULL) < 0)
        abort();
    return map;
}

static inline gale_rotating_map *a_map(world *w) {
    if (!w->numbers) w->numbers = made_map(GALE_KEY_U64);
    return w->numbers;
}

static inline gale_rotating_map *a_bytes_map(world *w) {
    if (!w->bytes) w->bytes = made_map(GALE_KEY_BYTES);
    return w->bytes;
}

static inline gale_time_cache_map *made_cache(gale_key_type type) {
    gale_time_cache_map_options options = GALE_TIME_CACHE_MAP_OPTIONS_INIT;
    gale_time_cache_map *map = NULL;
    options.expiration = GALE_SECOND;
    options.key_type = type;
    options.value_size = sizeof(uint64_t);
    options.shards = 2;
    options.seed = 1;
    if (gale_time_cache_map_new(&options, &map, NULL) < 0) abort();
    return map;
}

static inline gale_time_cache_map *a_cache(world *w) {
    if (!w->cache) w->cache = made_cache(GALE_KEY_U64);
    return w->cache;
}

static inline gale_time_cache_map *a_bytes_cache(world *w) {
    if (!w->bytes_cache) w->bytes_cache = made_cache(GALE_KEY_BYTES);
    return w->bytes_cache;
}

static inline gale_value_owned *an_owned(world *w) {
    gale_value value = gale_text("owned");
    if (!w->owned) w->owned = gale_value_copy(&value);
    return w->owned;
}

static inline gale_remote *a_remote(world *w) {
    if (!w->remote && w->out && gale_remote_open(w->out, &w->remote) < 0) abort();
    return w->remote;
}

/* Asked for only with GALE_CHECKS: without it, what was freed is not known. */
static inline gale_config *freed_config(world *w) {
    if (!w->freed_config) gale_config_free(w->freed_config = gale_config_new());
    return w->freed_config;
}

static inline gale_topology *freed_topology(world *w) {
    if (!w->freed_topology) gale_topology_free(w->freed_topology = gale_topology_new("freed"));
    return w->freed_topology;
}

static inline gale_runtime *freed_runtime(world *w) {
    if (w->freed_runtime) return w->freed_runtime;
    gale_topology *topology = made_topology(w);
    if (gale_runtime_free(w->freed_runtime = made_runtime(w, topology), -1, NULL) < 0) abort();
    gale_topology_free(topology);
    return w->freed_runtime;
}

static inline gale_manual_clock *freed_clock(world *w) {
    if (!w->freed_clock) gale_manual_clock_free(w->freed_clock = gale_manual_clock_new(0));
    return w->freed_clock;
}

static inline gale_rotating_map *freed_map(world *w) {
    if (!w->freed_map) gale_rotating_map_free(w->freed_map = made_map(GALE_KEY_U64));
    return w->freed_map;
}

static inline gale_time_cache_map *freed_cache(world *w) {
    if (!w->freed_cache) gale_time_cache_map_free(w->freed_cache = made_cache(GALE_KEY_U64));
    return w->freed_cache;
}

static inline gale_value_owned *freed_owned(world *w) {
    gale_value value = gale_null();
    if (!w->freed_owned) gale_value_owned_free(w->freed_owned = gale_value_copy(&value));
    return w->freed_owned;
}

static inline gale_remote *closed_remote(world *w) {
    if (!w->closed_remote && gale_remote_open(w->out, &w->closed_remote) == 0) gale_remote_close(w->closed_remote);
    return w->closed_remote;
}

/* An object of any other kind: this one is nearest to hand. */
static inline void *another(world *w, const void *right) {
    return right == w->clock ? (void *)a_config(w) : (void *)w->clock;
}

static inline void *an_output(world *w, unsigned argument) {
    return w->outputs[argument];
}

/* --- What is no value ---------------------------------------------------------------------------------------------- */

static inline gale_value strange_value(uint8_t type, uint8_t encoded, uint32_t size, const void *place) {
    gale_value v = { type, encoded, 0, size, { 0 } };
    v.as.bytes = place;
    return v;
}

static inline gale_value deep_value(unsigned depth) {
    static gale_value levels[64];
    levels[0] = gale_null();
    for (unsigned i = 1; i <= depth; i++) levels[i] = gale_list(&levels[i - 1], 1);
    return levels[depth];
}

static inline gale_value bad_map(unsigned which) {
    static gale_value pairs[4];
    pairs[0] = which == 0 ? gale_i64(1) : which == 1 ? strange_value(GALE_TYPE_STRING, 0, 9, NULL) : gale_text("k");
    pairs[1] = gale_null();
    pairs[2] = gale_text("k");
    pairs[3] = gale_null();
    return gale_map(pairs, 2);
}

static inline const gale_value *two_values(world *w, gale_value second) {
    gale_value *values = (gale_value *)(void *)w->inputs[ARGUMENTS_MAX - 1];
    values[0] = gale_i64(1);
    values[1] = second;
    return values;
}

static inline const char *long_text(void) {
    static char text[100001];
    if (!text[0]) memset(text, 'x', sizeof text - 1);
    return text;
}

static inline const gale_handle *handles(world *w, gale_handle a, gale_handle b) {
    static gale_handle two[2];
    (void)w;
    two[0] = a;
    two[1] = b;
    return two;
}

static inline gale_handle current(const world *w) {
    return w->tuple ? gale_tuple_handle(w->tuple) : 0;
}

/* --- Functions that are handed over -------------------------------------------------------------------------------- */

static inline void on_dead(void *user, const gale_rotating_map_entry *dead) {
    (void)user, (void)dead;
}

static inline int on_tuple(void *user, const gale_tuple *tuple) {
    (void)user, (void)tuple;
    return 0;
}

static inline void on_event(void *user, const gale_event *event) {
    (void)user, (void)event;
}

static inline void count_free(void *user) {
    ++*(unsigned *)user;
}

static unsigned freed_users; /* how often count_free was called, where that is its user */

/* --- What must hold after a call ------------------------------------------------------------------------------------ */

/* A code that is none of the table's is no answer. */
static inline void look_at_code(int64_t rc) {
    if (rc < 0 && strcmp(gale_error_name((int)rc), "UNKNOWN") == 0) PROBLEM("returned %lld", (long long)rc);
}

static inline void look_at_error(const world *w, int64_t rc, const gale_error *error) {
    if (rc >= 0 || error != &w->error) return;
    if (error->code != rc || error->length == 0 || error->length != strlen(error->text))
        PROBLEM("returned %s and reported %d, '%.100s'", gale_error_name((int)rc), error->code, error->text);
}

static inline void look_at_output(const world *w, unsigned argument, bool failed) {
    for (size_t i = 0; failed && i < ROOM; i++)
        if (w->outputs[argument][i] != UNTOUCHED) {
            PROBLEM("failed, and wrote to argument %u", argument + 1);
            return;
        }
}

/* --- A world, and its end ------------------------------------------------------------------------------------------- */

static inline void world_begin(world *w) {
    memset(w, 0, offsetof(world, outputs));
    memset(w->outputs, UNTOUCHED, sizeof w->outputs);
    w->error = (gale_error)GALE_ERROR_INIT;
    w->clock = gale_manual_clock_new(0);
}

/* Whatever was called, the topology comes to its end. */
static inline void run_to_the_end(world *w) {
    int64_t rc = 0;
    gale_runtime_activate(w->runtime);
    for (int i = 0; i < 3000 && rc != GALE_STOPPED && rc != GALE_STATE; i++) {
        rc = gale_runtime_step(w->runtime);
        if (rc == 0) gale_manual_clock_advance(w->clock, GALE_SECOND);
    }
    if (rc != GALE_STOPPED && rc != GALE_STATE) PROBLEM("the topology does not drain any more");
}

static inline void world_end(world *w) {
    gale_error error = GALE_ERROR_INIT;
    if (w->runtime) run_to_the_end(w);
    if (gale_runtime_free(w->runtime, 20 * GALE_SECOND, &error) < 0) PROBLEM("cannot be freed: %.100s", error.text);
    gale_remote_close(w->remote);
    gale_topology_free(w->topology);
    gale_config_free(w->config);
    gale_rotating_map_free(w->numbers);
    gale_rotating_map_free(w->bytes);
    gale_time_cache_map_free(w->cache);
    gale_time_cache_map_free(w->bytes_cache);
    free(w->text);
    gale_value_owned_free(w->owned);
    gale_manual_clock_free(w->clock);
}

static inline void make_call(world *w, role by, call_fn *call, const unsigned *pick) {
    world_begin(w);
    w->role = by;
    w->pick = pick;
    if (by == NOBODY) {
        call(w, pick);
    } else {
        w->call = call;
        (void)a_runtime(w);
        for (int i = 0; i < 20 && w->call; i++) (void)gale_runtime_step(w->runtime);
        if (w->call) PROBLEM("was never called");
    }
    world_end(w);
}

/* --- A function: its candidates, and the calls that are made of them ------------------------------------------------- */

typedef struct function {
    const char *name;
    call_fn *call;
    unsigned roles; /* bits */
    size_t slots;
    const unsigned *counts;          /* of candidates; number 0 is a good one */
    const char *const *const *names; /* of candidates */
    const unsigned *asserted;        /* bits of candidates that only debug builds notice, by slot */
    const unsigned *for_checks;      /* bits of candidates that only they can have */
} function;

static inline bool is_out(unsigned bits, unsigned candidate) {
    return candidate < 32 && (bits >> candidate & 1);
}

static inline bool may_call(const function *f, const unsigned *pick) {
    for (size_t i = 0; i < f->slots; i++)
        if (is_out(f->asserted[i], pick[i]) || (!CHECKS && is_out(f->for_checks[i], pick[i]))) return false;
    return true;
}

static inline void try_call(world *w, const function *f, role by, const unsigned *pick) {
    if (told->problem[0] || !may_call(f, pick)) return;
    say_call(f->name, f->slots, f->names, pick, by);
    make_call(w, by, f->call, pick);
}

/* Every combination where they are few; else every pair of candidates, the others being good. */
static inline void try_all(world *w, const function *f, role by) {
    unsigned pick[ARGUMENTS_MAX] = { 0 };
    double all = 1;
    for (size_t i = 0; i < f->slots; i++) all *= f->counts[i];
    for (size_t at = 0; all <= CALLS_MAX && at < f->slots;) {
        try_call(w, f, by, pick);
        for (at = 0; at < f->slots && ++pick[at] == f->counts[at]; at++) pick[at] = 0;
    }
    if (f->slots == 0) try_call(w, f, by, pick);
    for (size_t a = 0; all > CALLS_MAX && a < f->slots; a++)
        for (size_t b = a + 1; b < f->slots; b++)
            for (unsigned i = 0; i < f->counts[a] * f->counts[b]; i++) {
                unsigned two[ARGUMENTS_MAX] = { 0 };
                two[a] = i % f->counts[a];
                two[b] = i / f->counts[a];
                try_call(w, f, by, two);
            }
}

static inline void try_roles(const function *f) {
    static world w;
    for (role by = NOBODY; by < ROLES; by++)
        if (f->roles >> by & 1) try_all(&w, f, by);
}

/* A candidate that is only asserted ends the process where there are checks. */
static inline void try_assertion(const function *f, size_t slot, unsigned candidate) {
    static world w;
    unsigned pick[ARGUMENTS_MAX] = { 0 };
    pick[slot] = candidate;
    say_call(f->name, f->slots, f->names, pick, NOBODY);
    for (role by = NOBODY; by < ROLES; by++)
        if (f->roles >> by & 1) make_call(&w, by, f->call, pick);
    PROBLEM("is asserted only, and no assertion failed");
}

/* --- Processes ------------------------------------------------------------------------------------------------------ */

static inline int wait_for(pid_t child) {
    int status = 0;
    if (waitpid(child, &status, 0) < 0) abort();
    return status;
}

static inline bool report(const char *how, int number) {
    printf("FAILED: %s: %s", told->call, told->problem[0] ? told->problem : how);
    if (!told->problem[0]) printf(" %d (%s)", number, strcmp(how, "signal") == 0 ? strsignal(number) : "exit status");
    printf("\n");
    return false;
}

static inline bool run_function(const function *f) {
    memset(told, 0, sizeof *told);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS);
        try_roles(f);
        exit(told->problem[0] != 0);
    }
    int status = wait_for(child);
    if (WIFSIGNALED(status)) return report("signal", WTERMSIG(status));
    if (status != 0) return report("exit", WEXITSTATUS(status));
    if (told->calls) return true;
    printf("FAILED: %s: no call was made\n", f->name);
    return false;
}

static inline bool run_assertion(const function *f, size_t slot, unsigned candidate) {
    memset(told, 0, sizeof *told);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr)) abort();
        alarm(SECONDS);
        try_assertion(f, slot, candidate);
        exit(1);
    }
    int status = wait_for(child);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) return true;
    if (!told->problem[0]) PROBLEM("is asserted only, but did not end by an assertion");
    return report("", 0);
}

static inline int run_functions(const function *functions, size_t count, const char *only) {
    unsigned long calls = 0;
    size_t failed = 0, ran = 0;
    told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (told == MAP_FAILED) abort();
    for (size_t i = 0; i < count; i++) {
        const function *f = &functions[i];
        if (only && strcmp(only, f->name) != 0) continue;
        ran++;
        failed += !run_function(f);
        calls += told->calls;
        for (size_t slot = 0; CHECKS && slot < f->slots; slot++)
            for (unsigned c = 0; c < f->counts[slot]; c++)
                if (is_out(f->asserted[slot], c)) failed += !run_assertion(f, slot, c);
    }
    printf("%zu functions, %lu calls, %zu failed%s\n", ran, calls, failed, CHECKS ? ", with GALE_CHECKS" : "");
    return failed || !ran;
}

#endif
