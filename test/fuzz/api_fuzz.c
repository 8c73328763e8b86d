/* Bytes, read as a sequence of calls of the public functions: configurations, values, maps and a topology that is built, run
 * step by step on a hand-moved clock, and used by its own components, whose calls come from the same bytes. Arguments are
 * taken from their borders as often as from their middle.
 *
 * Whatever was called: no code is outside the table, the runtime closes, the trees add up, and each tracked tuple that was
 * accepted is answered once. Bytes that are used up read as zero, which asks for nothing and acks everything. */
#include <gale/gale.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TEXTS = 8, VALUES_MAX = 64, HELD_MAX = 16, TRACKED_MAX = 256, EMITS_MAX = 400, OPERATIONS_MAX = 400 };

static void expect(bool what) {
    if (!what) abort();
}

/* Each code is one of the table. */
static int64_t known(int64_t rc) {
    expect(rc >= 0 || strcmp(gale_error_name((int)rc), "UNKNOWN") != 0);
    return rc;
}

/* --- The bytes ----------------------------------------------------------------------------------------------------- */

typedef struct input {
    const uint8_t *data;
    size_t size;
} input;

static uint8_t byte(input *in) {
    if (!in->size) return 0;
    in->size--;
    return *in->data++;
}

static uint32_t below(input *in, uint32_t bound) {
    return byte(in) % bound;
}

static int64_t number(input *in) {
    static const int64_t borders[] = { 0, 1, -1, 2, 1000, INT32_MAX, INT32_MIN, UINT32_MAX, INT64_MAX, INT64_MIN };
    uint8_t which = byte(in);
    return which < 10 ? borders[which] : (int8_t)byte(in);
}

static double fraction(input *in) {
    static const double borders[] = { 0, 1, -1, 0.001, 1e9, 1e300, -1e300, 1e-300 };
    uint8_t which = byte(in);
    if (which < 8) return borders[which];
    return which == 8 ? (double)__builtin_nan("") : which == 9 ? __builtin_inf() : which / 16.0;
}

static const char *text(input *in) {
    static const char *const texts[TEXTS] = { "work", "source", "sink", "default", "number", "", "\xff\xfe", "a\nb" };
    uint32_t which = below(in, TEXTS + 1);
    return which < TEXTS ? texts[which] : NULL;
}

/* Values in an array of one input's own, so that what is nested lives as long as the call. */
typedef struct values {
    gale_value all[VALUES_MAX];
    size_t used;
} values;

static gale_value value(input *in, values *v, int depth);

static gale_value nested(input *in, values *v, bool map, int depth) {
    size_t count = below(in, 4), cells = count << map, first = v->used;
    if (depth > 6 || v->used + cells > VALUES_MAX) return map ? gale_map(NULL, count) : gale_list(NULL, count);
    v->used += cells;
    for (size_t i = 0; i < cells; i++) v->all[first + i] = value(in, v, depth + 1);
    return map ? gale_map(&v->all[first], count) : gale_list(&v->all[first], count);
}

static gale_value value(input *in, values *v, int depth) {
    gale_value strange = { byte(in), 0, 0, 9, { 0 } };
    switch (strange.type % 12) {
    case 0: return gale_i64(number(in));
    case 1: return gale_f64(fraction(in));
    case 2: return gale_bool(byte(in) & 1);
    case 3:
    case 4: return gale_text(text(in));
    case 5: return gale_bytes("bytes", below(in, 6));
    case 6: return gale_string(NULL, (size_t)number(in));
    case 7: return nested(in, v, false, depth);
    case 8: return nested(in, v, true, depth);
    case 9: strange.encoded = 1; return strange;
    case 10: return strange;
    default: return gale_null();
    }
}

/* --- The world ----------------------------------------------------------------------------------------------------- */

typedef struct world {
    input in;
    gale_topology *topology;
    gale_runtime *runtime;
    gale_manual_clock *clock;
    gale_config *config;
    gale_rotating_map *map;
    gale_time_cache_map *cache;
    gale_value_owned *owned;
    gale_remote *remote; /* of whichever task opened it last */
    gale_handle held[HELD_MAX];
    uint32_t emits;
    uint32_t tracked;
    uint8_t answered[TRACKED_MAX], accepted[TRACKED_MAX];
} world;

/* --- Components ---------------------------------------------------------------------------------------------------- */

static void note_accepted(world *w, uint32_t id, int64_t rc) {
    if (rc >= 0) w->accepted[id] = 1;
}

static uint32_t new_id(world *w) {
    return w->tracked < TRACKED_MAX ? w->tracked++ : TRACKED_MAX;
}

static gale_handle handle(world *w, gale_handle current) {
    switch (below(&w->in, 5)) {
    case 0: return current;
    case 1: return (gale_handle)number(&w->in);
    case 2: return current ^ 1;
    default: return w->held[below(&w->in, HELD_MAX)];
    }
}

/* One emit of any kind: as many values as the stream has, but for one time in eight. */
static void emit(world *w, gale_collector *out, gale_handle current) {
    values v = { .used = 2 };
    size_t count = below(&w->in, 8) == 7 ? below(&w->in, 4) : 2;
    v.all[0] = value(&w->in, &v, 0);
    v.all[1] = value(&w->in, &v, 0);
    uint32_t stream = below(&w->in, 16) == 15 ? (uint32_t)number(&w->in) : below(&w->in, 2);
    uint32_t to = below(&w->in, 12), id;
    gale_handle anchors[2] = { handle(w, current), handle(w, current) };
    if (count > 2) count = (size_t)number(&w->in) | 4; /* never what the stream has */
    if (w->emits++ >= EMITS_MAX) return;
    switch (below(&w->in, 8)) {
    case 0:
    case 1: known(gale_emit(out, stream, v.all, count)); break;
    case 2: known(gale_emit_anchored(out, stream, v.all, count, anchors, below(&w->in, 3))); break;
    case 3: known(gale_emit_unanchored(out, stream, v.all, count)); break;
    case 4: known(gale_emit_direct(out, to, stream, v.all, count)); break;
    case 5: known(gale_emit_direct_anchored(out, to, stream, v.all, count, anchors, below(&w->in, 3))); break;
    case 6:
        if ((id = new_id(w)) < TRACKED_MAX)
            note_accepted(w, id, known(gale_emit_direct_tracked(out, to, stream, v.all, count, id)));
        break;
    default:
        if ((id = new_id(w)) < TRACKED_MAX)
            note_accepted(w, id, known(gale_emit_tracked(out, stream, v.all, count, id)));
    }
}

static void use_remote(world *w, gale_handle current) {
    values v = { .used = 2 };
    v.all[0] = value(&w->in, &v, 0);
    v.all[1] = value(&w->in, &v, 0);
    gale_handle anchor = handle(w, current);
    uint32_t id;
    switch (below(&w->in, 6)) {
    case 0: known(gale_remote_ack(w->remote, anchor)); break;
    case 1: known(gale_remote_fail(w->remote, anchor, (int32_t)number(&w->in), text(&w->in))); break;
    case 2: known(gale_remote_emit(w->remote, below(&w->in, 3), v.all, 2, &anchor, below(&w->in, 2))); break;
    case 3:
        if (w->emits++ < EMITS_MAX && (id = new_id(w)) < TRACKED_MAX)
            note_accepted(w, id, known(gale_remote_emit_tracked(w->remote, below(&w->in, 3), v.all, 2, id)));
        break;
    default: gale_remote_close(w->remote); w->remote = NULL;
    }
}

static void open_remote(world *w, gale_collector *out) {
    gale_remote_close(w->remote);
    w->remote = NULL;
    known(gale_remote_open(out, &w->remote));
}

static void from_inside(world *w) {
    gale_open_tree tree = { .size = sizeof tree };
    switch (below(&w->in, 7)) {
    case 0: expect(gale_runtime_step(w->runtime) == GALE_STATE); break;
    case 1: expect(gale_runtime_free(w->runtime, -1, NULL) == GALE_STATE); break;
    case 2: expect(gale_runtime_wait(w->runtime, -1, NULL) == GALE_STATE); break;
    case 3: expect(gale_runtime_open_trees(w->runtime, &tree, 1, 0) == GALE_STATE); break;
    case 4: gale_runtime_drain(w->runtime); break;
    case 5: gale_runtime_deactivate(w->runtime); break;
    default: gale_runtime_activate(w->runtime);
    }
}

/* What a component does in a call, tuple or not. */
static void act(world *w, gale_collector *out, gale_handle current) {
    uint32_t slot = below(&w->in, HELD_MAX);
    switch (below(&w->in, 16)) {
    case 1: known(gale_ack(out, handle(w, current))); break;
    case 2: known(gale_fail(out, handle(w, current), (int32_t)number(&w->in), text(&w->in))); break;
    case 3: known(gale_reject(out, handle(w, current), text(&w->in))); break;
    case 4: known(gale_tuple_hold(out, current, &w->held[slot])); break;
    case 5: known(gale_reset_timeout(out, handle(w, current))); break;
    case 6: gale_report(out, text(&w->in)); break;
    case 7: (void)gale_held(out, w->held[slot]); break;
    case 8: from_inside(w); break;
    case 9: open_remote(w, out); break;
    case 10: use_remote(w, current); break;
    case 11:
        if (below(&w->in, 16) == 1) gale_stop(out, (int)number(&w->in), text(&w->in));
        break;
    case 0: break;
    default: emit(w, out, current);
    }
}

static int code(input *in) {
    return below(in, 12) == 11 ? -(int)below(in, 21) : 0;
}

static int source_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    world *w = user;
    (void)gale_context_now(context);
    (void)gale_context_random(context);
    act(w, out, 0);
    *ret_self = w;
    return below(&w->in, 100) == 99 ? GALE_IO : 0;
}

static int source_next(void *self, gale_collector *out, gale_wait *wait) {
    world *w = self;
    if (!w->in.size) return GALE_NEXT_DONE;
    act(w, out, 0);
    emit(w, out, 0);
    wait->until = number(&w->in);
    wait->fd = -1;
    int rc = (int)below(&w->in, 8);
    return rc == 7 ? code(&w->in) : rc == GALE_NEXT_READABLE ? GALE_NEXT_EMITTED : rc > 4 ? 0 : rc;
}

static void answered(void *self, uint64_t id) {
    world *w = self;
    expect(id < TRACKED_MAX);
    w->answered[id]++;
}

static void failed(void *self, uint64_t id, const gale_failure *failure) {
    expect(failure->text != NULL);
    answered(self, id);
}

static int work_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    world *w = self;
    gale_value got;
    (void)gale_tuple_get(tuple, text(&w->in), &got);
    (void)gale_tuple_field(tuple, (size_t)number(&w->in));
    for (uint32_t i = below(&w->in, 4); i-- > 0;) act(w, out, gale_tuple_handle(tuple));
    if (below(&w->in, 4) == 0) (void)gale_ack(out, gale_tuple_handle(tuple)); /* also: nothing is left to read */
    return code(&w->in);
}

static int finish(void *self, gale_collector *out) {
    world *w = self;
    act(w, out, 0);
    return 0;
}

/* As many as it likes to say, and indices that may be there twice or not be. */
static int choose(void *self, const gale_targets *targets, const gale_value *given, size_t count, uint32_t *ret) {
    world *w = self;
    (void)given, (void)count;
    ret[0] = (uint32_t)(gale_targets_random(targets) % targets->task_count);
    if (targets->task_count > 1) ret[1] = below(&w->in, 3);
    return below(&w->in, 8) == 7 ? code(&w->in) + (int)below(&w->in, 5) : 1;
}

/* --- The topology -------------------------------------------------------------------------------------------------- */

static const gale_output outputs[] = { { NULL, "number, key" }, { "side", "number, key" } };

static gale_grouping grouping(world *w) {
    static const gale_custom_ops ops = { .size = sizeof ops, .choose = choose };
    gale_grouping all[] = { gale_shuffle(),          gale_all(),
                            gale_global(),           gale_none(),
                            gale_fields("key"),      gale_partial_key(NULL),
                            gale_direct(),           gale_custom(&ops, w, NULL),
                            gale_local_or_shuffle(), gale_grouping_of((int32_t)number(&w->in), text(&w->in)) };
    gale_grouping chosen = all[below(&w->in, 40) == 39 ? 9 : below(&w->in, 9)];
    uint32_t drop = below(&w->in, 6);
    return drop == 1 ? gale_drop_oldest(chosen) : drop == 2 ? gale_drop_newest(chosen) : chosen;
}

static void add_components(world *w) {
    static const gale_spout_ops source = {
        .size = sizeof source, .open = source_open, .next = source_next, .ack = answered, .fail = failed
    };
    static const gale_bolt_ops manual = {
        .size = sizeof manual, .kind = GALE_BOLT_MANUAL, .execute = work_execute, .finish = finish
    };
    static const gale_bolt_ops simple = { .size = sizeof simple, .execute = work_execute, .finish = finish };
    gale_spout spout = { .size = sizeof spout, .ops = &source, .user = w, .outputs = outputs, .output_count = 2 };
    gale_bolt work = { .size = sizeof work, .ops = &manual, .user = w, .outputs = outputs, .output_count = 2 };
    gale_bolt sink = work;
    if (byte(&w->in) & 1) sink.ops = &simple;
    known(gale_topology_add_spout(w->topology, "source", spout, 1 + below(&w->in, 2)));
    known(gale_topology_add_bolt(w->topology, "work", work, 1 + below(&w->in, 3)));
    known(gale_topology_add_bolt(w->topology, "sink", sink, 1 + below(&w->in, 2)));
    known(gale_topology_subscribe(w->topology, "work", "source", NULL, grouping(w)));
    known(gale_topology_subscribe(w->topology, "sink", "work", NULL, grouping(w)));
}

static void set_something(world *w) {
    static const char *const keys[] = { "topology.acker.executors",
                                        "topology.max.spout.pending",
                                        "topology.message.timeout.secs",
                                        "topology.replay.attempts",
                                        "topology.message.deadline.secs",
                                        "topology.message.timeout.mode",
                                        "topology.tasks",
                                        "topology.max.task.parallelism",
                                        "topology.tick.tuple.freq.secs",
                                        "gale.executor",
                                        "topology.disable.loadaware.messaging",
                                        "topology.enable.message.timeouts",
                                        "topology.replay.backoff.initial.secs",
                                        "own.key",
                                        "topology.unknown",
                                        "" };
    static const char *const components[] = { NULL, "source", "work", "sink", "gone" };
    values v = { .used = 0 };
    const char *key = keys[below(&w->in, 16)], *component = components[below(&w->in, 40) == 39 ? 4 : below(&w->in, 4)];
    gale_value given = byte(&w->in) & 1 ? gale_i64(below(&w->in, 5)) : value(&w->in, &v, 0);
    gale_error error = GALE_ERROR_INIT;
    if (!w->runtime && byte(&w->in) & 1) { /* a trial, which does not stick */
        if (known(gale_config_set(w->config, key, given, &error)) < 0) return;
        gale_value again;
        expect(gale_config_get(w->config, key, &again) && gale_value_equal(&given, &again));
    }
    known(gale_topology_set(w->topology, component, key, given));
}

static void build_more(world *w) {
    static const char *const streams[] = { NULL, "side", "__dead_letter", "gone" };
    static const char *const names[] = { "work", "sink", "source", "gone" };
    const char *bolt = names[below(&w->in, 20) == 19 ? 3 : below(&w->in, 2)];
    const char *from = names[below(&w->in, 20) == 19 ? 3 : below(&w->in, 3)];
    gale_hook hook = { .size = byte(&w->in) == 255 ? 0 : sizeof hook, .user = w };
    switch (below(&w->in, 3)) {
    case 0: set_something(w); break;
    case 1: known(gale_topology_subscribe(w->topology, bolt, from, streams[below(&w->in, 3)], grouping(w))); break;
    default: known(gale_topology_add_hook(w->topology, byte(&w->in) & 1 ? NULL : from, hook));
    }
}

static void make_runtime(world *w) {
    gale_runtime_options options = GALE_RUNTIME_OPTIONS_INIT;
    gale_clock clock = gale_manual_clock_handle(w->clock);
    gale_error error = GALE_ERROR_INIT;
    options.clock = &clock;
    options.seed = 1;
    options.executors = 1 + below(&w->in, 3);
    options.until_drained = byte(&w->in) & 1;
    options.inactive = byte(&w->in) == 255;
    options.queue_limit = byte(&w->in) == 254 ? (uint64_t)number(&w->in) : 0;
    options.ring_memory = byte(&w->in) == 253 ? (uint64_t)number(&w->in) : 0;
    int64_t rc = known(gale_runtime_new(w->topology, &options, &w->runtime, &error));
    expect((rc < 0) == (error.length > 0) && (rc < 0) == (w->runtime == NULL));
}

static void look(world *w) {
    gale_run_stats s = { .size = sizeof s };
    gale_task_stats task = { .size = sizeof task };
    gale_open_tree trees[4] = { { .size = sizeof trees[0] } };
    gale_runtime_stats(w->runtime, &s);
    expect(!w->runtime || s.trees == s.acked + s.failed + s.timed_out + s.rejected + s.stopped + s.open);
    (void)gale_runtime_task_stats(w->runtime, below(&w->in, 12), &task);
    (void)gale_runtime_failures(w->runtime, text(&w->in), (int32_t)number(&w->in));
    (void)gale_runtime_stream_stats(w->runtime, below(&w->in, 12), below(&w->in, 4), NULL, NULL, NULL);
    (void)gale_runtime_input_stats(w->runtime, below(&w->in, 12), below(&w->in, 4), NULL, NULL, NULL, NULL);
    known(gale_runtime_open_trees(w->runtime, trees, below(&w->in, 5), 0));
    const gale_value rate = gale_f64(fraction(&w->in)), bound = gale_i64((int64_t)byte(&w->in));
    known(gale_runtime_set(w->runtime, text(&w->in), "gale.rate", &rate, NULL));
    known(gale_runtime_set(w->runtime, text(&w->in), "topology.max.spout.pending", &bound, NULL));
    known(gale_runtime_log_events(w->runtime, text(&w->in), fraction(&w->in), NULL, NULL));
    (void)gale_runtime_next_due(w->runtime);
}

static void run_some(world *w) {
    switch (below(&w->in, 10)) {
    case 0: gale_runtime_drain(w->runtime); break;
    case 1: gale_runtime_stop(w->runtime); break;
    case 2: gale_runtime_deactivate(w->runtime); break;
    case 3: gale_runtime_activate(w->runtime); break;
    case 4: look(w); break;
    case 5: (void)gale_manual_clock_advance(w->clock, GALE_MILLISECOND * below(&w->in, 255)); break;
    case 6: (void)gale_manual_clock_advance(w->clock, GALE_SECOND * below(&w->in, 64)); break;
    default: known(gale_runtime_step(w->runtime));
    }
}

/* --- Maps and values ----------------------------------------------------------------------------------------------- */

static void expired(void *user, const gale_rotating_map_entry *dead) {
    world *w = user;
    (void)gale_rotating_map_remove(w->map, dead->key, NULL);
    expect(gale_rotating_map_rotate(w->map, NULL, NULL) == GALE_STATE);
}

static void use_map(world *w) {
    uint64_t key = byte(&w->in), got = 0;
    gale_rotating_map_options options = GALE_ROTATING_MAP_OPTIONS_INIT;
    gale_rotating_map_cursor cursor = { { byte(&w->in) } };
    gale_rotating_map_entry entry;
    switch (below(&w->in, 8)) {
    case 0: known(gale_rotating_map_put(w->map, key, &key, NULL)); break;
    case 1: known(gale_rotating_map_put_if_absent(w->map, key, &key, NULL)); break;
    case 2: expect(!gale_rotating_map_remove(w->map, key, &got) || got == key); break;
    case 3: known(gale_rotating_map_rotate(w->map, expired, w)); break;
    case 4: known(gale_rotating_map_rotate_begin(w->map)); break;
    case 5: (void)gale_rotating_map_next_dead(w->map, &entry); break;
    case 6: (void)gale_rotating_map_next(w->map, &cursor, &entry); break;
    default:
        gale_rotating_map_free(w->map);
        w->map = NULL;
        options.buckets = (uint32_t)number(&w->in);
        options.key_type = (int32_t)below(&w->in, 3) % 2;
        options.value_size = sizeof key;
        options.seed = 1;
        known(gale_rotating_map_new(&options, &w->map, NULL));
    }
}

static void use_cache(world *w) {
    uint64_t key = byte(&w->in), got = 0;
    gale_time_cache_map_options options = GALE_TIME_CACHE_MAP_OPTIONS_INIT;
    switch (below(&w->in, 6)) {
    case 0: known(gale_time_cache_map_put(w->cache, key, &key)); break;
    case 1: known(gale_time_cache_map_put_bytes(w->cache, &key, below(&w->in, 9), &key)); break;
    case 2: expect(!gale_time_cache_map_get(w->cache, key, &got) || got == key); break;
    case 3: known(gale_time_cache_map_tick(w->cache, number(&w->in))); break;
    case 4: (void)gale_time_cache_map_remove(w->cache, key, &got); break;
    default:
        gale_time_cache_map_free(w->cache);
        w->cache = NULL;
        options.expiration = number(&w->in);
        options.buckets = below(&w->in, 6);
        options.key_type = (int32_t)below(&w->in, 3);
        options.value_size = sizeof key;
        options.shards = below(&w->in, 5);
        options.max_entries = below(&w->in, 3);
        options.seed = 1;
        known(gale_time_cache_map_new(&options, &w->cache, NULL));
    }
}

static void use_values(world *w) {
    values v = { .used = 0 };
    gale_value a = value(&w->in, &v, 0), b = value(&w->in, &v, 0), got;
    int order = gale_value_compare(&a, &b);
    expect(gale_value_compare(&b, &a) == -order && gale_value_equal(&a, &b) == (order == 0));
    expect(order || gale_value_hash(&a) == gale_value_hash(&b));
    (void)gale_list_at(&a, (size_t)number(&w->in));
    (void)gale_map_at(&a, (size_t)number(&w->in), NULL, &got);
    (void)gale_map_get(&a, (gale_str){ "number", below(&w->in, 7) }, &got);
    gale_value_owned_free(w->owned);
    w->owned = gale_value_copy(&a);
    got = gale_value_owned_view(w->owned);
    expect(!w->owned || gale_value_equal(&a, &got));
}

/* --- All of it ------------------------------------------------------------------------------------------------------ */

/* To the end: by itself when it can, stopped when nothing else ends it. */
static void close_runtime(world *w) {
    int64_t rc = 0;
    gale_runtime_activate(w->runtime);
    gale_runtime_drain(w->runtime);
    for (int i = 0; i < 2000 && rc != GALE_STOPPED; i++) {
        if (i == 1000) gale_runtime_stop(w->runtime);
        rc = known(gale_runtime_step(w->runtime));
        expect(rc >= 0 || rc == GALE_STOPPED);
        (void)gale_manual_clock_advance(w->clock, 100 * GALE_MILLISECOND);
    }
    expect(rc == GALE_STOPPED);
    look(w);
    expect(gale_runtime_free(w->runtime, -1, NULL) == GALE_OK);
    w->runtime = NULL;
}

static void operate(world *w) {
    switch (below(&w->in, 8)) {
    case 0: use_values(w); break;
    case 1: use_map(w); break;
    case 2: use_cache(w); break;
    case 3: build_more(w); break;
    case 4: use_remote(w, 0); break;
    default: run_some(w);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static world w;
    w = (world){ .in = { data, size } };
    w.topology = gale_topology_new("fuzz");
    w.clock = gale_manual_clock_new(0);
    w.config = gale_config_new();
    add_components(&w);
    for (uint32_t i = below(&w.in, 8); i-- > 0;) build_more(&w);
    make_runtime(&w);
    bool freed_first = byte(&w.in) & 1;
    if (freed_first) gale_topology_free(w.topology);
    if (freed_first) w.topology = NULL;
    for (int i = 0; i < OPERATIONS_MAX && w.in.size; i++) operate(&w);
    w.in.size = 0;
    if (w.runtime) close_runtime(&w);
    for (uint32_t id = 0; id < TRACKED_MAX; id++) expect(w.answered[id] == w.accepted[id]);
    gale_remote_close(w.remote);
    gale_topology_free(w.topology);
    gale_rotating_map_free(w.map);
    gale_time_cache_map_free(w.cache);
    gale_value_owned_free(w.owned);
    gale_config_free(w.config);
    gale_manual_clock_free(w.clock);
    return 0;
}
