#include <gale/time_cache_map.h>

#include "base/atomic.h"
#include "base/os/thread.h"
#include "base/random.h"
#include "harness/counting_allocator.h"

#include "harness/cm.h"

enum { T = 1000 };

typedef struct fixture {
    gale_manual_clock *clock;
    gale_clock handle;
    gale_time_cache_map_options options;
    gale_time_cache_map *map;
    uint64_t expired; /* calls */
    uint64_t sum;     /* of the keys */
} fixture;

static void count_expired(void *user, const gale_rotating_map_entry *dead) {
    fixture *f = user;
    f->expired++;
    f->sum += dead->key;
}

static void prepare(fixture *f, uint32_t buckets) {
    *f = (fixture){ .options = GALE_TIME_CACHE_MAP_OPTIONS_INIT };
    f->clock = gale_manual_clock_new(0);
    f->handle = gale_manual_clock_handle(f->clock);
    f->options.expiration = T;
    f->options.buckets = buckets;
    f->options.value_size = 8;
    f->options.seed = 1;
    f->options.clock = &f->handle;
    f->options.expired = count_expired;
    f->options.user = f;
}

static void make(fixture *f) {
    assert_int_equal(gale_time_cache_map_new(&f->options, &f->map, NULL), GALE_OK);
}

static void teardown(fixture *f) {
    gale_time_cache_map_free(f->map);
    gale_manual_clock_free(f->clock);
}

static int64_t advance_and_tick(fixture *f, int64_t by) {
    return gale_time_cache_map_tick(f->map, gale_manual_clock_advance(f->clock, by));
}

static void put(fixture *f, uint64_t key, uint64_t value) {
    assert_true(gale_time_cache_map_put(f->map, key, &value) >= 0);
}

static void an_empty_map_holds_nothing_and_expires_nothing(void **state) {
    (void)state;
    fixture f;
    prepare(&f, 3);
    make(&f);
    uint64_t value = 7;
    assert_false(gale_time_cache_map_get(f.map, 1, &value));
    assert_false(gale_time_cache_map_contains(f.map, 1));
    assert_false(gale_time_cache_map_remove(f.map, 1, &value));
    assert_int_equal(value, 7);
    for (int i = 0; i < 10; i++) assert_int_equal(advance_and_tick(&f, T), 0);
    assert_int_equal(gale_time_cache_map_size(f.map), 0);
    assert_true(gale_time_cache_map_memory(f.map) > 0);
    teardown(&f);
    gale_time_cache_map_free(NULL);
}

/* The four constructors of Storm: the expiration; and the callback; and the buckets; all. */
static void storm_s_four_constructors_are_four_fillings(void **state) {
    (void)state;
    for (int which = 0; which < 4; which++) {
        fixture f;
        prepare(&f, which & 2 ? 5 : 0);
        if (!(which & 1)) f.options.expired = NULL;
        make(&f);
        assert_int_equal(gale_time_cache_map_period(f.map), which & 2 ? T / 4 : T / 2);
        put(&f, 42, 1);
        for (int64_t dead = 0; dead == 0;) dead = advance_and_tick(&f, gale_time_cache_map_period(f.map));
        assert_int_equal(f.sum, which & 1 ? 42 : 0);
        assert_false(gale_time_cache_map_contains(f.map, 42));
        teardown(&f);
    }
}

static void a_put_returns_whether_it_is_new_and_a_get_copies(void **state) {
    (void)state;
    fixture f;
    prepare(&f, 3);
    make(&f);
    uint64_t one = 1, two = 2, got = 0;
    assert_int_equal(gale_time_cache_map_put(f.map, 9, &one), 1);
    assert_int_equal(gale_time_cache_map_put(f.map, 9, &two), 0);
    assert_true(gale_time_cache_map_get(f.map, 9, &got));
    assert_int_equal(got, 2);
    assert_int_equal(gale_time_cache_map_put_if_absent(f.map, 9, &one, &got), 0);
    assert_int_equal(got, 2);
    assert_int_equal(gale_time_cache_map_put_if_absent(f.map, 10, &one, &got), 1);
    assert_int_equal(gale_time_cache_map_put(f.map, 9, NULL), 0);
    assert_int_equal(gale_time_cache_map_size(f.map), 2);
    assert_true(gale_time_cache_map_remove(f.map, 9, &got));
    assert_int_equal(got, 2);
    assert_false(gale_time_cache_map_remove(f.map, 9, &got));
    assert_int_equal(gale_time_cache_map_size(f.map), 1);
    teardown(&f);
}

static void the_period_is_rounded_up_so_that_nothing_dies_early(void **state) {
    (void)state;
    for (uint32_t n = 2; n <= 16; n++) {
        for (int64_t expiration = 1; expiration < 60; expiration++) {
            fixture f;
            prepare(&f, n);
            f.options.shards = 1;
            f.options.expiration = expiration;
            make(&f);
            int64_t period = gale_time_cache_map_period(f.map);
            assert_true(period * (n - 1) >= expiration && (period - 1) * (n - 1) < expiration);
            advance_and_tick(&f, period - 1); /* not due */
            put(&f, 1, 1);                    /* the youngest that the first bucket may have */
            int64_t age = 0;
            while (gale_time_cache_map_contains(f.map, 1)) advance_and_tick(&f, 1), age++;
            assert_true(age >= expiration && age <= n * period);
            teardown(&f);
        }
    }
}

static void seconds_are_rounded_up_and_what_does_not_fit_is_zero(void **state) {
    (void)state;
    assert_int_equal(gale_time_cache_map_seconds(30), 30 * GALE_SECOND);
    assert_int_equal(gale_time_cache_map_seconds(0.25), GALE_SECOND / 4);
    assert_int_equal(gale_time_cache_map_seconds(1e-10), 1);
    assert_int_equal(gale_time_cache_map_seconds(0), 0);
    assert_int_equal(gale_time_cache_map_seconds(-1), 0);
    assert_int_equal(gale_time_cache_map_seconds(1e300), 0);
    assert_int_equal(gale_time_cache_map_seconds(0.0 / 0.0), 0);
}

static void wrong_options_are_refused_by_name(void **state) {
    (void)state;
    fixture f;
    prepare(&f, 3);
    gale_clock broken = { sizeof broken, NULL, NULL };
    const gale_time_cache_map_options good = f.options;
    for (int which = 0; which < 12; which++) {
        static const char *const names[] = { "expiration", "expiration", "expiration", "buckets",
                                             "buckets",    "key_type",   "value_size", "shards",
                                             "shards",     "clock",      "options.",   "expiration" };
        gale_time_cache_map_options wrong = good;
        if (which == 0) wrong.expiration = 0;
        if (which == 1) wrong.expiration = -1;
        if (which == 2) wrong.expiration = INT64_MAX;
        if (which == 3) wrong.buckets = 1;
        if (which == 4) wrong.buckets = GALE_ROTATING_MAP_BUCKETS_MAX + 1;
        if (which == 5) wrong.key_type = 9;
        if (which == 6) wrong.value_size = GALE_ROTATING_MAP_VALUE_MAX + 1;
        if (which == 7) wrong.shards = 3;
        if (which == 8) wrong.shards = 1u << 20;
        if (which == 9) wrong.clock = &broken;
        if (which == 10) wrong.size = 0;
        if (which == 11) wrong.expiration = gale_time_cache_map_seconds(-3);
        gale_error error = GALE_ERROR_INIT;
        assert_int_equal(gale_time_cache_map_new(&wrong, &f.map, &error), GALE_INVALID);
        assert_non_null(strstr(error.text, names[which]));
        assert_null(f.map);
    }
    assert_int_equal(gale_time_cache_map_new(NULL, &f.map, NULL), GALE_INVALID);
    assert_int_equal(gale_time_cache_map_new(&good, NULL, NULL), GALE_INVALID);
    teardown(&f);
}

static void misuse_is_an_error_and_changes_nothing(void **state) {
    (void)state;
    static char large[GALE_ROTATING_MAP_KEY_MAX + 1];
    fixture f;
    prepare(&f, 3);
    f.options.key_type = GALE_KEY_BYTES;
    make(&f);
    uint64_t value = 1;
    assert_int_equal(gale_time_cache_map_put(f.map, 1, &value), GALE_TYPE);
    assert_int_equal(gale_time_cache_map_put_if_absent(f.map, 1, &value, &value), GALE_TYPE);
    assert_false(gale_time_cache_map_contains(f.map, 1));
    assert_int_equal(gale_time_cache_map_put_bytes(f.map, NULL, 3, &value), GALE_INVALID);
    assert_int_equal(gale_time_cache_map_put_bytes(f.map, large, sizeof large, &value), GALE_TOO_LARGE);
    assert_false(gale_time_cache_map_remove_bytes(f.map, large, sizeof large, &value));
    assert_int_equal(gale_time_cache_map_put(NULL, 1, &value), GALE_INVALID);
    assert_int_equal(gale_time_cache_map_put_if_absent_bytes(NULL, "a", 1, &value, NULL), GALE_INVALID);
    assert_false(gale_time_cache_map_get(NULL, 1, &value));
    assert_false(gale_time_cache_map_remove(NULL, 1, &value));
    assert_int_equal(gale_time_cache_map_tick(NULL, 1), GALE_INVALID);
    assert_int_equal(gale_time_cache_map_size(NULL) + gale_time_cache_map_memory(NULL), 0);
    assert_int_equal(gale_time_cache_map_size(f.map), 0);
    teardown(&f);
}

static void keys_that_are_bytes_do_the_same(void **state) {
    (void)state;
    fixture f;
    prepare(&f, 2);
    f.options.key_type = GALE_KEY_BYTES;
    f.options.shards = 2;
    make(&f);
    static const char long_key[] = "10.1.2.3 Mozilla/5.0 (X11; Linux x86_64; rv:102.0)";
    uint64_t one = 1, two = 2, got = 0;
    assert_int_equal(gale_time_cache_map_put_if_absent_bytes(f.map, long_key, sizeof long_key, &one, NULL), 1);
    assert_int_equal(gale_time_cache_map_put_if_absent_bytes(f.map, long_key, sizeof long_key, &two, &got), 0);
    assert_int_equal(got, 1);
    assert_int_equal(gale_time_cache_map_put_bytes(f.map, "k", 1, &two), 1);
    assert_true(gale_time_cache_map_get_bytes(f.map, "k", 1, &got));
    assert_int_equal(got, 2);
    assert_true(gale_time_cache_map_remove_bytes(f.map, "k", 1, NULL));
    assert_false(gale_time_cache_map_contains_bytes(f.map, "k", 1));
    assert_int_equal(advance_and_tick(&f, T), 0);
    assert_int_equal(advance_and_tick(&f, T), 1);
    assert_int_equal(f.expired, 1);
    assert_false(gale_time_cache_map_contains_bytes(f.map, long_key, sizeof long_key));
    teardown(&f);
}

static void a_clock_that_goes_backwards_is_an_error_and_kills_nobody(void **state) {
    (void)state;
    fixture f;
    prepare(&f, 2);
    make(&f);
    put(&f, 1, 1);
    assert_int_equal(advance_and_tick(&f, T), 0);
    for (int64_t back = 1; back < 5 * T; back += T / 2)
        assert_int_equal(gale_time_cache_map_tick(f.map, T - back), GALE_INVALID);
    assert_int_equal(gale_time_cache_map_tick(f.map, INT64_MIN), GALE_INVALID);
    assert_true(gale_time_cache_map_contains(f.map, 1));
    assert_int_equal(gale_time_cache_map_tick(f.map, T), 0); /* the same time again is none */
    assert_int_equal(advance_and_tick(&f, T), 1);
    assert_int_equal(gale_time_cache_map_tick(f.map, INT64_MAX), 0); /* the end of time */
    assert_int_equal(f.expired, 1);
    teardown(&f);
}

static void a_tick_that_comes_late_rotates_once(void **state) {
    (void)state;
    fixture f;
    prepare(&f, 3);
    make(&f);
    put(&f, 1, 1);
    assert_int_equal(advance_and_tick(&f, 100 * T), 0); /* it may have been put a moment ago */
    assert_int_equal(gale_time_cache_map_lateness(f.map), 100 * T - T / 2);
    assert_true(gale_time_cache_map_contains(f.map, 1));
    assert_int_equal(advance_and_tick(&f, 0), 0);
    assert_int_equal(advance_and_tick(&f, T / 2), 0);
    assert_int_equal(advance_and_tick(&f, T / 2), 1);
    teardown(&f);
}

/* --- From inside the callback --- */

static void put_again(void *user, const gale_rotating_map_entry *dead) {
    fixture *f = user;
    uint64_t value = *(uint64_t *)dead->value;
    assert_false(gale_time_cache_map_contains(f->map, dead->key));
    assert_int_equal(gale_time_cache_map_tick(f->map, INT64_MAX), GALE_AGAIN);
    assert_int_equal(gale_time_cache_map_put(f->map, dead->key, &value),
                     1); /* no lock is held: this would not return */
    assert_int_equal(gale_time_cache_map_put(f->map, dead->key + 100000, &value), 1);
    assert_true(gale_time_cache_map_remove(f->map, dead->key + 100000, NULL));
    (void)gale_time_cache_map_size(f->map);
    f->expired++;
}

static void what_the_callback_puts_again_is_in_the_new_bucket(void **state) {
    (void)state;
    fixture f;
    prepare(&f, 4);
    f.options.expired = put_again;
    make(&f);
    int64_t period = gale_time_cache_map_period(f.map);
    for (uint64_t key = 0; key < 1000; key++) put(&f, key, key);
    for (int life = 1; life <= 3; life++) {
        for (int i = 0; i < 3; i++) assert_int_equal(advance_and_tick(&f, period), 0);
        assert_int_equal(advance_and_tick(&f, period), 1000);
        assert_int_equal(f.expired, 1000 * life);
        assert_int_equal(gale_time_cache_map_size(f.map), 1000);
    }
    teardown(&f);
}

/* --- The bound --- */

static void at_the_bound_new_keys_are_refused_and_old_ones_are_not(void **state) {
    (void)state;
    fixture f;
    prepare(&f, 2);
    f.options.max_entries = 100;
    make(&f);
    uint64_t value = 5;
    for (uint64_t key = 0; key < 100; key++) put(&f, key, key);
    assert_int_equal(gale_time_cache_map_put(f.map, 100, &value), GALE_AGAIN);
    assert_int_equal(gale_time_cache_map_put_if_absent(f.map, 100, &value, &value), GALE_AGAIN);
    assert_int_equal(value, 5);
    assert_int_equal(gale_time_cache_map_put(f.map, 7, &value), 0);
    assert_int_equal(gale_time_cache_map_put_if_absent(f.map, 8, &value, &value), 0);
    assert_int_equal(value, 8);
    assert_true(gale_time_cache_map_remove(f.map, 8, NULL));
    assert_int_equal(gale_time_cache_map_put(f.map, 100, &value), 1);
    assert_int_equal(gale_time_cache_map_put(f.map, 101, &value), GALE_AGAIN);
    assert_int_equal(gale_time_cache_map_size(f.map), 100);
    advance_and_tick(&f, T);
    assert_int_equal(advance_and_tick(&f, T), 100);
    for (uint64_t key = 0; key < 100; key++) put(&f, key, key); /* the dead made room */
    assert_int_equal(gale_time_cache_map_put(f.map, 101, &value), GALE_AGAIN);
    teardown(&f);
}

/* --- Against a model, on virtual time --- */

enum { KEYS = 200 };

typedef struct model {
    fixture f;
    gx_random random;
    bool there[KEYS];
    int64_t since[KEYS]; /* when it was put */
    uint64_t value[KEYS];
    int64_t now;
    int64_t oldest; /* that an entry may become: n periods and what each came late */
    size_t size;
} model;

static void model_expired(void *user, const gale_rotating_map_entry *dead) {
    model *m = user;
    assert_true(m->there[dead->key]); /* once, and never after a remove */
    assert_int_equal(*(uint64_t *)dead->value, m->value[dead->key]);
    int64_t age = m->now - m->since[dead->key];
    assert_true(age >= T);
    assert_true(age <= m->oldest);
    m->there[dead->key] = false;
    m->size--;
}

static void model_put(model *m, uint64_t key, bool if_absent) {
    uint64_t value = gx_random_next(&m->random), got = 0;
    int rc = if_absent ? gale_time_cache_map_put_if_absent(m->f.map, key, &value, &got)
                       : gale_time_cache_map_put(m->f.map, key, &value);
    assert_int_equal(rc, !m->there[key]);
    if (if_absent && rc == 0) {
        assert_int_equal(got, m->value[key]);
        return;
    }
    m->size += !m->there[key];
    m->there[key] = true;
    m->since[key] = m->now;
    m->value[key] = value;
}

static void model_step(model *m) {
    uint64_t key = gx_random_below(&m->random, KEYS), got = 0;
    switch (gx_random_below(&m->random, 6)) {
    case 0:
    case 1: model_put(m, key, false); break;
    case 2: model_put(m, key, true); break;
    case 3:
        assert_int_equal(gale_time_cache_map_remove(m->f.map, key, &got), m->there[key]);
        if (m->there[key]) assert_int_equal(got, m->value[key]), m->size--;
        m->there[key] = false;
        break;
    default:
        assert_int_equal(gale_time_cache_map_get(m->f.map, key, &got), m->there[key]);
        if (m->there[key]) assert_int_equal(got, m->value[key]);
        if (m->there[key]) assert_true(m->now - m->since[key] <= m->oldest);
    }
}

static void model_time(model *m, int64_t period, uint32_t buckets) {
    int64_t by = gx_random_below(&m->random, (uint32_t)(period / 4 + 2));
    m->now = gale_manual_clock_advance(m->f.clock, by);
    m->oldest = (int64_t)buckets * (period + period / 4 + 2); /* a tick comes late by less than a step */
    size_t size = m->size;
    int64_t dead = gale_time_cache_map_tick(m->f.map, m->now);
    assert_int_equal(dead, size - m->size);
    assert_int_equal(gale_time_cache_map_size(m->f.map), m->size);
}

static void run_model(uint64_t seed, uint32_t buckets, unsigned operations) {
    model *m = calloc(1, sizeof *m);
    prepare(&m->f, buckets);
    m->f.options.expired = model_expired;
    m->f.options.user = m;
    m->f.options.shards = 1u << (buckets % 5);
    m->f.options.seed = seed;
    m->random = gx_random_new(seed, buckets);
    make(&m->f);
    int64_t period = gale_time_cache_map_period(m->f.map);
    m->oldest = INT64_MAX;
    for (unsigned i = 0; i < operations; i++) {
        model_step(m);
        if (i % 7 == 0) model_time(m, period, buckets);
    }
    for (uint32_t i = 0; i < 8 * buckets + 8; i++) model_time(m, period, buckets);
    assert_true(gale_time_cache_map_lateness(m->f.map) <= period / 4 + 2);
    teardown(&m->f);
    free(m);
}

/* GALE_MAPS_SEEDS=5 GALE_MAPS_SCALE=15: five seeds, a million operations and more for every n. */
static void on_virtual_time_every_entry_lives_as_long_as_it_must_and_no_longer_than_it_may(void **state) {
    (void)state;
    const char *seeds = getenv("GALE_MAPS_SEEDS"), *scale = getenv("GALE_MAPS_SCALE");
    for (uint64_t seed = 1; seed <= (seeds ? strtoull(seeds, NULL, 10) : 1); seed++)
        for (uint32_t buckets = 2; buckets <= 16; buckets++)
            run_model(seed, buckets, 20000u * (scale ? (unsigned)strtoul(scale, NULL, 10) : 1));
}

/* --- Threads --- */

enum { THREADS = 4, ROUNDS = 20000, SHARED_KEYS = 3000 };

typedef struct together {
    gale_time_cache_map *map;
    gx_atomic64 born;
    gx_atomic64 removed;
    gx_atomic64 expired;
    gx_atomic64 quiet; /* the callback puts nothing any more */
    gx_monitor monitor;
    uint64_t left; /* threads that run */
} together;

typedef struct worker {
    together *all;
    uint64_t id;
    gx_thread thread;
} worker;

/* A value tells its key: a torn or mixed-up one shows. */
static uint64_t value_of(uint64_t key) {
    return key * UINT64_C(0x9e3779b97f4a7c15);
}

static void count_and_put_some_again(void *user, const gale_rotating_map_entry *dead) {
    together *all = user;
    uint64_t value = *(uint64_t *)dead->value;
    if (value != value_of(dead->key)) abort();
    gx_add_relaxed(&all->expired, 1);
    if (dead->key % 64 || gx_load_seq(&all->quiet)) return;
    int rc = gale_time_cache_map_put_if_absent(all->map, dead->key, &value, NULL);
    if (rc == 1) gx_add_relaxed(&all->born, 1);
}

static void *work(void *user) {
    worker *w = user;
    together *all = w->all;
    gx_random random = gx_random_new(99, w->id);
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t key = gx_random_below(&random, SHARED_KEYS), value = value_of(key), got = value;
        int rc = 0;
        switch (gx_random_below(&random, 4)) {
        case 0: rc = gale_time_cache_map_put(all->map, key, &value); break;
        case 1: rc = gale_time_cache_map_put_if_absent(all->map, key, &value, &got); break;
        case 2:
            if (gale_time_cache_map_remove(all->map, key, &got)) gx_add_relaxed(&all->removed, 1);
            break;
        default: (void)gale_time_cache_map_get(all->map, key, &got);
        }
        if ((rc < 0 && rc != GALE_AGAIN) || got != value) abort();
        if (rc == 1) gx_add_relaxed(&all->born, 1);
    }
    gx_monitor_lock(&all->monitor);
    all->left--;
    gx_monitor_notify(&all->monitor);
    gx_monitor_unlock(&all->monitor);
    return NULL;
}

/* Everything that was ever new was removed once, or expired once: nothing lost, nothing twice. */
static void run_together(uint64_t threads, bool cleaner, size_t max_entries) {
    together all = { .left = threads };
    gale_manual_clock *clock = gale_manual_clock_new(0);
    gale_clock handle = gale_manual_clock_handle(clock);
    gale_time_cache_map_options options = GALE_TIME_CACHE_MAP_OPTIONS_INIT;
    options.expiration = cleaner ? 20000 : T; /* the machine's clock against one that the test moves */
    options.value_size = 8;
    options.shards = 4;
    options.cleaner = cleaner;
    options.max_entries = max_entries;
    options.clock = cleaner ? NULL : &handle;
    options.expired = count_and_put_some_again;
    options.user = &all;
    assert_true(gx_monitor_init(&all.monitor));
    assert_int_equal(gale_time_cache_map_new(&options, &all.map, NULL), GALE_OK);
    worker workers[THREADS];
    for (uint64_t i = 0; i < threads; i++) {
        workers[i] = (worker){ &all, i, { 0 } };
        assert_true(gx_thread_start(&workers[i].thread, "worker", work, &workers[i]));
    }
    gx_monitor_lock(&all.monitor);
    while (all.left) {
        if (cleaner) {
            gx_monitor_wait(&all.monitor, -1);
            continue;
        }
        gx_monitor_unlock(&all.monitor);
        assert_true(gale_time_cache_map_tick(all.map, gale_manual_clock_advance(clock, T / 2)) >= 0);
        gx_monitor_lock(&all.monitor);
    }
    gx_monitor_unlock(&all.monitor);
    for (uint64_t i = 0; i < threads; i++) gx_thread_join(&workers[i].thread, -1);
    gx_store_seq(&all.quiet, 1);
    for (size_t size; (size = gale_time_cache_map_size(all.map)) > 0;) {
        if (max_entries) assert_true(size <= max_entries);
        if (!cleaner) assert_true(gale_time_cache_map_tick(all.map, gale_manual_clock_advance(clock, T / 2)) >= 0);
    }
    gale_time_cache_map_free(all.map); /* and waits for the cleaner's last callback */
    assert_true(gx_load_seq(&all.expired) > 0);
    assert_int_equal(gx_load_seq(&all.born), gx_load_seq(&all.removed) + gx_load_seq(&all.expired));
    gx_monitor_fini(&all.monitor);
    gale_manual_clock_free(clock);
}

static void threads_and_a_tick_lose_nothing_and_hand_out_nothing_twice(void **state) {
    (void)state;
    for (uint64_t threads = 2; threads <= THREADS; threads++) run_together(threads, false, 0);
}

static void threads_and_a_cleaner_lose_nothing_and_hand_out_nothing_twice(void **state) {
    (void)state;
    for (uint64_t threads = 2; threads <= THREADS; threads++) run_together(threads, true, 0);
}

static void threads_never_pass_the_bound(void **state) {
    (void)state;
    run_together(2, false, 500);
    run_together(2, true, 500);
}

typedef struct waiting {
    gx_monitor monitor;
    uint64_t expired;
} waiting;

static void tell(void *user, const gale_rotating_map_entry *dead) {
    waiting *w = user;
    (void)dead;
    gx_monitor_lock(&w->monitor);
    w->expired++;
    gx_monitor_notify(&w->monitor);
    gx_monitor_unlock(&w->monitor);
}

/* On the machine's clock, and on one that is moved by hand, which the cleaner looks at again and again. */
static void a_cleaner_of_its_own_expires_what_was_put(void **state) {
    (void)state;
    for (int by_hand = 0; by_hand < 2; by_hand++) {
        fixture f;
        prepare(&f, 3);
        waiting w = { .expired = 0 };
        assert_true(gx_monitor_init(&w.monitor));
        f.options.expired = tell;
        f.options.user = &w;
        f.options.cleaner = true;
        if (!by_hand) f.options.clock = NULL;
        make(&f);
        for (uint64_t key = 0; key < 500; key++) put(&f, key, key);
        gx_monitor_lock(&w.monitor);
        while (w.expired < 500) {
            if (by_hand) gale_manual_clock_advance(f.clock, T / 2);
            gx_monitor_wait(&w.monitor, GALE_MILLISECOND);
        }
        gx_monitor_unlock(&w.monitor);
        assert_int_equal(gale_time_cache_map_size(f.map), 0);
        teardown(&f);
        gx_monitor_fini(&w.monitor);
    }
}

static void a_cleaner_that_has_nothing_to_do_stops_when_the_map_goes(void **state) {
    (void)state;
    fixture f;
    prepare(&f, 3);
    f.options.cleaner = true;
    f.options.clock = NULL;
    f.options.expiration = 3600 * GALE_SECOND;
    make(&f);
    put(&f, 1, 1);
    assert_int_equal(gale_time_cache_map_tick(f.map, gale_clock_monotonic().now(NULL)), 0); /* beside the cleaner */
    teardown(&f);
}

/* --- Failing allocations --- */

static size_t live_with_failure_at(size_t n) {
    counting_allocator counting = { .fail_at = n };
    gale_allocator handle = counting_handle(&counting);
    fixture f;
    prepare(&f, 2);
    f.options.allocator = &handle;
    f.options.shards = 2;
    if (gale_time_cache_map_new(&f.options, &f.map, NULL) == GALE_OK) {
        for (uint64_t key = 0; key < 300; key++) {
            int rc = gale_time_cache_map_put(f.map, key, &key);
            if (rc < 0) {
                assert_int_equal(rc, GALE_NO_MEMORY);
                assert_int_equal(gale_time_cache_map_size(f.map), key);
                rc = gale_time_cache_map_put_if_absent(f.map, key, &key, NULL);
            }
            assert_int_equal(rc, 1);
        }
        assert_int_equal(gale_time_cache_map_memory(f.map), counting.bytes);
        advance_and_tick(&f, T);
        assert_int_equal(advance_and_tick(&f, T), 300);
        assert_int_equal(f.expired, 300);
    } else {
        assert_null(f.map);
        assert_true(n > 0);
    }
    teardown(&f);
    assert_int_equal(counting.blocks, 0);
    return counting.calls;
}

static void any_failing_allocation_leaves_the_map_as_it_was(void **state) {
    (void)state;
    size_t calls = live_with_failure_at(0);
    assert_true(calls > 20);
    for (size_t n = 1; n <= calls; n++) live_with_failure_at(n);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_map_holds_nothing_and_expires_nothing),
        cmocka_unit_test(storm_s_four_constructors_are_four_fillings),
        cmocka_unit_test(a_put_returns_whether_it_is_new_and_a_get_copies),
        cmocka_unit_test(the_period_is_rounded_up_so_that_nothing_dies_early),
        cmocka_unit_test(seconds_are_rounded_up_and_what_does_not_fit_is_zero),
        cmocka_unit_test(wrong_options_are_refused_by_name),
        cmocka_unit_test(misuse_is_an_error_and_changes_nothing),
        cmocka_unit_test(keys_that_are_bytes_do_the_same),
        cmocka_unit_test(a_clock_that_goes_backwards_is_an_error_and_kills_nobody),
        cmocka_unit_test(a_tick_that_comes_late_rotates_once),
        cmocka_unit_test(what_the_callback_puts_again_is_in_the_new_bucket),
        cmocka_unit_test(at_the_bound_new_keys_are_refused_and_old_ones_are_not),
        cmocka_unit_test(on_virtual_time_every_entry_lives_as_long_as_it_must_and_no_longer_than_it_may),
        cmocka_unit_test(threads_and_a_tick_lose_nothing_and_hand_out_nothing_twice),
        cmocka_unit_test(threads_and_a_cleaner_lose_nothing_and_hand_out_nothing_twice),
        cmocka_unit_test(threads_never_pass_the_bound),
        cmocka_unit_test(a_cleaner_of_its_own_expires_what_was_put),
        cmocka_unit_test(a_cleaner_that_has_nothing_to_do_stops_when_the_map_goes),
        cmocka_unit_test(any_failing_allocation_leaves_the_map_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
