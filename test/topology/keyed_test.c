#include "topology/keyed.h"

#include "base/random.h"
#include "harness/cm.h"
#include "harness/counting_allocator.h"
#include "harness/memory_store.h"
#include "topology/saver.h"

#include <math.h>
#include <stdio.h>

enum { TASKS_MAX = 4, KEYS = 60 };

static counting_allocator counting;
static gale_allocator allocator;
static gx_heap heap;
static gale_manual_clock *hand;
static memory_store memory;
static gale_store store;
static gx_keyed tasks[TASKS_MAX];
static gale_state *states[TASKS_MAX];
static uint64_t checkpoint;
static gale_error told;
static gale_state_options options;

static void note_failure(void *user, const gale_error *error) {
    (void)user;
    told = *error;
}

static gx_keyed_about about(uint32_t index, uint32_t count) {
    return (gx_keyed_about){ .heap = &heap,
                             .clock = gale_manual_clock_handle(hand),
                             .seed = 7,
                             .component = "count",
                             .task_index = index,
                             .task_count = count,
                             .by_key = true,
                             .failed = note_failure };
}

static void begin(uint32_t count, bool durable, uint64_t share) {
    store = memory_store_open(&memory);
    for (uint32_t i = 0; i < count; i++) {
        gx_keyed_about of = about(i, count);
        of.store = durable ? &store : NULL;
        of.memory = share;
        gx_keyed_init(&tasks[i], &of);
        assert_int_equal(gx_keyed_open(&tasks[i], &options, &states[i], NULL), GALE_OK);
    }
}

static void set_time(int64_t now) {
    gale_clock clock = gale_manual_clock_handle(hand);
    gale_manual_clock_advance(hand, now - gx_now(&clock));
}

static void end(void) {
    for (uint32_t i = 0; i < TASKS_MAX; i++) {
        assert_null(gx_keyed_flaw(&tasks[i]));
        gx_keyed_fini(&tasks[i]);
        tasks[i] = (gx_keyed){ .walks = 0 };
    }
}

static int setup(void **state) {
    (void)state;
    counting = (counting_allocator){ .fail_at = 0 };
    allocator = counting_handle(&counting);
    gx_heap_init(&heap, &allocator);
    hand = gale_manual_clock_new(1000);
    memory_store_init(&memory);
    checkpoint = 0;
    told = (gale_error)GALE_ERROR_INIT;
    options = (gale_state_options)GALE_STATE_OPTIONS_INIT;
    return 0;
}

static int teardown(void **state) {
    (void)state;
    end();
    assert_int_equal(counting.blocks, 0);
    memory_store_fini(&memory);
    gale_manual_clock_free(hand);
    return 0;
}

/* Cut; returns how many changes. The store has them when `lasts`. */
static size_t cut_only(uint32_t task, bool lasts) {
    gx_changes changes = GX_CHANGES_INIT(&heap);
    gx_change change;
    assert_int_equal(gx_keyed_cut(&tasks[task], ++checkpoint, &changes), GALE_OK);
    for (size_t at = 0; gx_changes_next(&changes, &at, &change);) {
        int rc = change.remove ? store.remove(store.self, change.key.data, change.key.size, NULL)
                               : store.put(store.self, change.key.data, change.key.size, change.value.data,
                                           change.value.size, NULL);
        assert_int_equal(rc, GALE_OK);
    }
    size_t count = changes.count;
    gx_changes_fini(&changes);
    if (lasts) assert_int_equal(store.commit(store.self, GALE_STORE_SYNC, NULL, NULL), GALE_OK);
    return count;
}

static size_t cut(uint32_t task) {
    size_t count = cut_only(task, true);
    gx_keyed_committed(&tasks[task], checkpoint);
    return count;
}

static int put_text(uint32_t task, const char *key, const char *value) {
    gale_value k = gale_text(key), v = gale_text(value);
    return gale_state_put(states[task], &k, &v);
}

static int64_t add(uint32_t task, const char *key, int64_t more) {
    gale_value k = gale_text(key);
    int64_t sum = -1;
    assert_int_equal(gale_state_add(states[task], &k, more, &sum), GALE_OK);
    return sum;
}

/* "-": there is none. Static storage. */
static const char *get(uint32_t task, const char *key) {
    static char text[300];
    gale_value k = gale_text(key), v;
    int rc = gale_state_get(states[task], &k, &v);
    if (rc == GALE_NOT_FOUND) return "-";
    if (rc < 0) return gale_error_text(rc);
    if (v.type == GALE_TYPE_I64)
        snprintf(text, sizeof text, "%lld", (long long)v.as.i64);
    else
        snprintf(text, sizeof text, "%.*s", (int)v.size, v.as.string);
    return text;
}

static int forget(uint32_t task, const char *key) {
    gale_value k = gale_text(key);
    return gale_state_remove(states[task], &k);
}

static int count_pair(void *user, const gale_value *key, const gale_value *value) {
    (void)key, (void)value;
    ++*(size_t *)user;
    return 0;
}

static size_t pairs(uint32_t task) {
    size_t count = 0;
    assert_int_equal(gale_state_each(states[task], count_pair, &count), GALE_OK);
    return count;
}

static const char *long_text(unsigned n) {
    static char text[200];
    memset(text, 'a' + (int)(n % 26), sizeof text);
    text[60 + n % 100] = 0;
    return text;
}

/* --- In memory --- */

static void an_empty_state_has_nothing(void **state) {
    (void)state;
    begin(1, false, 0);
    assert_string_equal(get(0, "a"), "-");
    assert_int_equal(forget(0, "a"), GALE_NOT_FOUND);
    assert_int_equal(pairs(0), 0);
}

static void what_was_put_is_there_until_it_is_removed(void **state) {
    (void)state;
    begin(1, false, 0);
    put_text(0, "a", "one");
    put_text(0, "a", long_text(3));
    put_text(0, "b", "");
    assert_string_equal(get(0, "a"), long_text(3));
    assert_string_equal(get(0, "b"), "");
    assert_int_equal(pairs(0), 2);
    assert_int_equal(forget(0, "a"), GALE_OK);
    assert_string_equal(get(0, "a"), "-");
    assert_int_equal(pairs(0), 1);
}

static void keys_and_values_are_of_any_type(void **state) {
    (void)state;
    begin(1, true, 0);
    gale_value items[2] = { gale_i64(3), gale_text("three") };
    gale_value entry[2] = { gale_text("k"), gale_list(items, 2) };
    gale_value all[] = { gale_null(),       gale_bool(true),       gale_i64(-5),        gale_f64(0.5),
                         gale_text("text"), gale_bytes("\xff", 1), gale_list(items, 2), gale_map(entry, 1) };
    enum { ALL = sizeof all / sizeof *all };
    for (size_t i = 0; i < ALL; i++) assert_int_equal(gale_state_put(states[0], &all[i], &all[ALL - 1 - i]), GALE_OK);
    for (int life = 0; life < 2; life++) {
        for (size_t i = 0; i < ALL; i++) {
            gale_value value;
            assert_int_equal(gale_state_get(states[0], &all[i], &value), GALE_OK);
            assert_int_equal(gale_value_compare(&value, &all[ALL - 1 - i]), 0);
        }
        assert_int_equal(pairs(0), ALL);
        if (life == 0) assert_int_equal(cut(0), ALL);
        end();
        begin(1, true, 0);
    }
}

static void a_counter_begins_at_0_and_wraps_around(void **state) {
    (void)state;
    for (int durable = 0; durable < 2; durable++) {
        begin(1, durable != 0, 0);
        assert_int_equal(add(0, "a", 2), 2);
        assert_int_equal(add(0, "a", 3), 5);
        assert_int_equal(add(0, "a", INT64_MAX), INT64_MIN + 4);
        assert_int_equal(add(0, "a key that is longer than sixteen bytes", 4), 4);
        assert_int_equal(add(0, "a key that is longer than sixteen bytes", 4), 8);
        gale_value number = gale_i64(17), none = gale_text("");
        int64_t sum;
        assert_int_equal(gale_state_add(states[0], &number, 1, &sum), GALE_OK);
        assert_int_equal(gale_state_add(states[0], &number, 1, NULL), GALE_OK);
        assert_int_equal(gale_state_add(states[0], &none, 6, &sum), GALE_OK);
        assert_int_equal(sum, 6);
        put_text(0, "t", "1");
        gale_value text = gale_text("t");
        assert_int_equal(gale_state_add(states[0], &text, 1, &sum), GALE_TYPE);
        assert_string_equal(get(0, "t"), "1");
        end();
    }
}

/* A key need not end with a NUL where it lies. */
static void a_key_is_what_its_size_says(void **state) {
    (void)state;
    begin(1, false, 0);
    static const char text[] = "abcdefghijklmnopqrstuvwxyz";
    for (uint32_t size = 0; size <= 26; size++) {
        gale_value key = gale_string(text, size);
        for (int64_t i = 1; i <= 3; i++) {
            int64_t sum;
            assert_int_equal(gale_state_add(states[0], &key, 1, &sum), GALE_OK);
            assert_int_equal(sum, i);
        }
    }
    assert_int_equal(pairs(0), 27);
}

static void a_value_may_be_put_back_from_where_it_was_read(void **state) {
    (void)state;
    begin(1, true, 1);
    for (unsigned i = 0; i < 50; i++) {
        char key[16];
        snprintf(key, sizeof key, "%u", i);
        put_text(0, key, long_text(i));
        cut(0);
    }
    gale_value one = gale_text("1"), two = gale_text("2"), value;
    assert_int_equal(gale_state_get(states[0], &one, &value), GALE_OK);
    assert_int_equal(gale_state_put(states[0], &one, &value), GALE_OK);
    assert_string_equal(get(0, "1"), long_text(1));
    assert_int_equal(gale_state_get(states[0], &one, &value), GALE_OK);
    assert_int_equal(gale_state_put(states[0], &two, &value), GALE_OK);
    assert_string_equal(get(0, "2"), long_text(1));
    assert_int_equal(gale_state_get(states[0], &two, &value), GALE_OK);
    assert_int_equal(gale_state_put(states[0], &value, &value), GALE_OK);
    assert_string_equal(get(0, long_text(1)), long_text(1));
}

/* --- Misuse --- */

static void misuse_is_refused(void **state) {
    (void)state;
    begin(1, true, 0);
    gale_value wrong = gale_i64(1), key = gale_i64(1), value;
    wrong.type = 99;
    assert_int_equal(gale_state_put(states[0], &wrong, &key), GALE_INVALID);
    assert_int_equal(gale_state_put(states[0], &key, &wrong), GALE_INVALID);
    assert_int_equal(gale_state_get(states[0], &wrong, &value), GALE_INVALID);
    assert_int_equal(gale_state_remove(states[0], &wrong), GALE_INVALID);
    assert_int_equal(gale_state_add(states[0], &wrong, 1, NULL), GALE_INVALID);
    gale_value nowhere = { .type = GALE_TYPE_STRING, .size = 5 };
    assert_int_equal(gale_state_put(states[0], &nowhere, &key), GALE_INVALID);
    assert_int_equal(gale_state_add(states[0], &nowhere, 1, NULL), GALE_INVALID);
    gale_value odd = gale_string("\xff\xfe", 2);
    gale_value odd_list = gale_list(&odd, 1);
    assert_int_equal(gale_state_put(states[0], &key, &odd), GALE_INVALID);
    assert_int_equal(gale_state_put(states[0], &odd_list, &key), GALE_INVALID);
    assert_int_equal(gale_state_add(states[0], &odd_list, 1, NULL), GALE_INVALID);
    assert_int_equal(pairs(0), 0);
    assert_int_equal(cut(0), 0);
}

static void what_no_store_takes_is_too_large_in_durable_runs_alone(void **state) {
    (void)state;
    char *text = calloc(1, GALE_STATE_KEY_MAX + 1), *large = calloc(1, GALE_STATE_VALUE_MAX);
    gale_value fits = gale_string(text, GALE_STATE_KEY_MAX - 1), beyond = gale_string(text, GALE_STATE_KEY_MAX);
    gale_value one = gale_i64(1), much = gale_bytes(large, GALE_STATE_VALUE_MAX), value;
    begin(1, false, 0);
    assert_int_equal(gale_state_put(states[0], &beyond, &one), GALE_OK);
    end();
    begin(1, true, 0);
    assert_int_equal(gale_state_put(states[0], &beyond, &one), GALE_TOO_LARGE);
    assert_int_equal(gale_state_get(states[0], &beyond, &value), GALE_TOO_LARGE);
    assert_int_equal(gale_state_put(states[0], &one, &much), GALE_TOO_LARGE);
    assert_int_equal(gale_state_put(states[0], &fits, &one), GALE_OK);
    assert_int_equal(cut(0), 1);
    free(text);
    free(large);
}

static void open_with(const char *name, double seconds, int code, const char *why) {
    gale_error error = GALE_ERROR_INIT;
    gale_state *made = NULL;
    gale_state_options o = { sizeof o, name, seconds, 0 };
    assert_int_equal(gx_keyed_open(&tasks[0], &o, &made, &error), code);
    assert_null(made);
    if (!strstr(error.text, why)) fail_msg("'%s' has no '%s'", error.text, why);
}

static void options_are_looked_at(void **state) {
    (void)state;
    char name[GALE_STATE_NAME_MAX + 2];
    memset(name, 'n', sizeof name);
    name[GALE_STATE_NAME_MAX + 1] = 0;
    begin(1, true, 0);
    open_with(name, 0, GALE_INVALID, "a name has 101 bytes; at most 100");
    open_with("", 0, GALE_INVALID, "is empty");
    open_with("a\nb", 0, GALE_INVALID, "control character");
    open_with("__a", 0, GALE_INVALID, "begins with '__'");
    open_with("\xff", 0, GALE_INVALID, "is not UTF-8");
    open_with("other", -1, GALE_INVALID, "time_to_live is -1");
    open_with("other", (double)NAN, GALE_INVALID, "time_to_live is nan");
    open_with("other", 1e300, GALE_INVALID, "time_to_live is 1e+300");
    open_with(NULL, 0, GALE_EXISTS, "there is a keyed state 'state'");
    gale_state_options unset = { 0, "other", 0, 0 };
    gale_state *made;
    assert_int_equal(gx_keyed_open(&tasks[0], &unset, &made, NULL), GALE_INVALID);
    name[GALE_STATE_NAME_MAX] = 0;
    gale_state_options longest = { sizeof longest, name, 0, 0 };
    assert_int_equal(gx_keyed_open(&tasks[0], &longest, &made, NULL), GALE_OK);
    assert_int_equal(gx_keyed_open(&tasks[0], &longest, &made, NULL), GALE_EXISTS);
}

/* --- Checkpoints --- */

static void a_cut_has_what_changed_since_the_last_one(void **state) {
    (void)state;
    begin(1, true, 0);
    assert_int_equal(cut(0), 0);
    for (int i = 0; i < 1000; i++) {
        char key[16];
        snprintf(key, sizeof key, "%d", i);
        add(0, key, i);
    }
    assert_int_equal(cut(0), 1000);
    assert_int_equal(cut(0), 0);
    add(0, "7", 1), add(0, "7", 1), put_text(0, "8", "eight"), forget(0, "9");
    assert_int_equal(cut(0), 3);
    assert_int_equal(memory.now.count, 999);
    add(0, "9", 90);
    assert_int_equal(cut(0), 1);
    assert_int_equal(cut(0), 0);
    end();
    begin(1, true, 0);
    assert_string_equal(get(0, "7"), "9");
    assert_string_equal(get(0, "8"), "eight");
    assert_string_equal(get(0, "9"), "90");
    assert_int_equal(pairs(0), 1000);
}

static void keys_in_the_store_are_as_designed(void **state) {
    (void)state;
    begin(1, true, 0);
    add(0, "a", 258);
    cut(0);
    static const char key[] = "kcount\0state\0\0\0\0\0a", value[] = "\0\0\0\0\0\0\0\0\1\0\0\0\2\0\0\0\2\1\0\0\0\0\0";
    assert_int_equal(memory.now.count, 1);
    assert_int_equal(memory.now.list[0].key_size, sizeof key);
    assert_memory_equal(memory.now.list[0].key, key, sizeof key);
    assert_int_equal(memory.now.list[0].value_size, sizeof value);
    assert_memory_equal(memory.now.list[0].value, value, sizeof value);
}

/* What a checkpoint has that does not last yet stays in memory, as what changed since. */
static void nothing_leaves_memory_before_it_lasts(void **state) {
    (void)state;
    begin(1, true, 1);
    for (int i = 0; i < 200; i++) {
        char key[16];
        snprintf(key, sizeof key, "%d", i);
        add(0, key, i);
    }
    cut_only(0, false);
    for (int i = 0; i < 200; i++) {
        char key[16];
        snprintf(key, sizeof key, "n%d", i);
        add(0, key, i);
    }
    assert_int_equal(pairs(0), 400);
    assert_string_equal(get(0, "199"), "199");
    assert_string_equal(get(0, "7"), "7");
    store.abandon(store.self);
}

static void memory_stays_within_its_share_and_nothing_is_lost(void **state) {
    (void)state;
    enum { SHARE = 20000, MANY = 5000 };
    begin(1, true, SHARE);
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < MANY; i++) {
            char key[40];
            snprintf(key, sizeof key, i % 3 ? "%d" : "a longer key with number %d", i);
            assert_int_equal(add(0, key, i), (int64_t)i * (round + 1));
            if (i % 50 == 0) cut(0);
            if (i > 500 && i % 50 == 49) assert_in_range(tasks[0].used, 0, SHARE + 10000);
        }
    cut(0);
    assert_int_equal(pairs(0), MANY);
    assert_true(memory.gets > 2 * MANY - 1000);
}

static void a_key_that_is_used_stays_in_memory(void **state) {
    (void)state;
    begin(1, true, 20000);
    add(0, "often", 1);
    for (int i = 0; i < 5000; i++) {
        char key[16];
        snprintf(key, sizeof key, "%d", i);
        add(0, key, 1);
        if (i % 20 == 0) cut(0);
        uint64_t before = memory.gets;
        assert_string_equal(get(0, "often"), "1");
        assert_int_equal(memory.gets, before);
    }
}

static void removed_keys_leave_memory_once_that_lasts(void **state) {
    (void)state;
    begin(1, true, 0);
    add(0, "a", 1);
    cut(0);
    uint64_t before = tasks[0].used;
    assert_int_equal(forget(0, "a"), GALE_OK);
    assert_int_equal(forget(0, "a"), GALE_NOT_FOUND);
    assert_string_equal(get(0, "a"), "-");
    cut_only(0, true);
    assert_int_equal(tasks[0].used, before);
    gx_keyed_committed(&tasks[0], checkpoint);
    assert_int_equal(tasks[0].used, 0);
    assert_int_equal(memory.now.count, 0);
}

static void what_only_the_store_has_can_be_removed(void **state) {
    (void)state;
    begin(1, true, 0);
    add(0, "a", 1), add(0, "b", 2);
    cut(0);
    end();
    begin(1, true, 0);
    assert_int_equal(forget(0, "a"), GALE_OK);
    assert_string_equal(get(0, "a"), "-");
    assert_int_equal(pairs(0), 1);
    assert_int_equal(add(0, "a", 5), 5);
    assert_int_equal(forget(0, "a"), GALE_OK);
    assert_int_equal(cut(0), 1);
    assert_int_equal(memory.now.count, 1);
}

static void states_of_one_task_are_apart(void **state) {
    (void)state;
    begin(1, true, 0);
    gale_state_options o = { sizeof o, "state2", 0, 0 };
    gale_state *other;
    assert_int_equal(gx_keyed_open(&tasks[0], &o, &other, NULL), GALE_OK);
    gale_value key = gale_text("a");
    add(0, "a", 1);
    gale_state_add(other, &key, 10, NULL);
    assert_int_equal(cut(0), 2);
    end();
    begin(1, true, 0);
    assert_int_equal(gx_keyed_open(&tasks[0], &o, &other, NULL), GALE_OK);
    int64_t sum;
    assert_int_equal(add(0, "a", 1), 2);
    assert_int_equal(gale_state_add(other, &key, 10, &sum), GALE_OK);
    assert_int_equal(sum, 20);
    assert_int_equal(pairs(0), 1);
}

/* --- Time to live --- */

static void what_is_over_is_gone_at_once(void **state) {
    (void)state;
    options.time_to_live = 10;
    for (int durable = 0; durable < 2; durable++) {
        begin(1, durable != 0, 0);
        int64_t began = 1000 + durable * 100 * GALE_SECOND;
        set_time(began);
        add(0, "a", 1), put_text(0, "b", "x"), put_text(0, "c", "y");
        set_time(began + 6 * GALE_SECOND);
        assert_int_equal(add(0, "a", 1), 2);   /* renews */
        assert_string_equal(get(0, "b"), "x"); /* does not */
        if (durable) cut(0);
        set_time(began + 10 * GALE_SECOND);
        assert_string_equal(get(0, "b"), "-");
        assert_int_equal(forget(0, "c"), GALE_NOT_FOUND);
        assert_string_equal(get(0, "a"), "2");
        assert_int_equal(pairs(0), 1);
        set_time(began + 16 * GALE_SECOND);
        assert_int_equal(add(0, "a", 1), 1);
        end();
    }
}

static void what_is_over_leaves_the_store_by_and_by(void **state) {
    (void)state;
    options.time_to_live = 10;
    begin(1, true, 0);
    for (int i = 0; i < 500; i++) {
        char key[16];
        snprintf(key, sizeof key, "%d", i);
        add(0, key, 1);
    }
    cut(0);
    set_time(5 * GALE_SECOND);
    add(0, "stays", 1);
    cut(0);
    end();
    set_time(12 * GALE_SECOND);
    begin(1, true, 0);
    for (int i = 0; i < 30; i++) cut(0);
    assert_int_equal(memory.now.count, 1);
    assert_string_equal(get(0, "stays"), "1");
    assert_string_equal(get(0, "7"), "-");
}

static void what_is_over_leaves_memory_without_a_store(void **state) {
    (void)state;
    options.time_to_live = 1;
    begin(1, false, 0);
    for (int i = 0; i < 100000; i++) {
        gale_value key = gale_i64(i);
        set_time(i * (GALE_SECOND / 100));
        assert_int_equal(gale_state_add(states[0], &key, 1, NULL), GALE_OK);
    }
    assert_in_range(tasks[0].used, 1, 300 * 100);
}

/* --- Whose a key is --- */

static uint32_t owner(int64_t key, uint32_t count) {
    gale_value value = gale_i64(key);
    return gx_saved_owner(&value, 1, count);
}

static void another_number_of_tasks_finds_all_keys(void **state) {
    (void)state;
    begin(1, true, 0);
    for (int64_t i = 0; i < 300; i++) {
        gale_value key = gale_i64(i);
        gale_state_add(states[0], &key, i, NULL);
    }
    cut(0);
    static const uint32_t counts[] = { 2, 3, 1 };
    for (size_t life = 0; life < 3; life++) {
        end();
        begin(counts[life], true, 0);
        size_t sum = 0;
        for (uint32_t t = 0; t < counts[life]; t++) sum += pairs(t);
        assert_int_equal(sum, 300);
        for (int64_t i = 0; i < 300; i++) {
            gale_value key = gale_i64(i);
            int64_t now;
            assert_int_equal(gale_state_add(states[owner(i, counts[life])], &key, 1, &now), GALE_OK);
            assert_int_equal(now, i + (int64_t)life + 1);
        }
        for (uint32_t t = 0; t < counts[life]; t++) cut(t);
    }
}

static void a_list_goes_where_its_first_values_lead(void **state) {
    (void)state;
    options.route = 1;
    begin(1, true, 0);
    for (int64_t i = 0; i < 100; i++) {
        gale_value list[2] = { gale_i64(i % 20), gale_i64(i) }, key = gale_list(list, 2);
        gale_state_add(states[0], &key, i, NULL);
    }
    cut(0);
    end();
    begin(3, true, 0);
    for (int64_t i = 0; i < 100; i++) {
        gale_value list[2] = { gale_i64(i % 20), gale_i64(i) }, key = gale_list(list, 2), value;
        for (uint32_t t = 0; t < 3; t++)
            assert_int_equal(gale_state_get(states[t], &key, &value), t == owner(i % 20, 3) ? GALE_OK : GALE_NOT_FOUND);
    }
}

/* Where the key does not say whose it is, each task has its own. */
static void the_same_key_in_two_tasks_is_two_keys(void **state) {
    (void)state;
    begin(3, true, 0);
    for (uint32_t t = 0; t < 3; t++) add(t, "total", t + 1);
    for (uint32_t t = 0; t < 3; t++) cut(t);
    end();
    begin(3, true, 0);
    for (uint32_t t = 0; t < 3; t++) {
        assert_int_equal(pairs(t), 1);
        assert_int_equal(add(t, "total", 10), t + 11);
    }
}

static void without_fields_grouping_a_key_is_its_tasks(void **state) {
    (void)state;
    store = memory_store_open(&memory);
    for (int life = 1; life <= 2; life++) {
        for (uint32_t t = 0; t < 2; t++) {
            gx_keyed_about of = about(t, 2);
            of.store = &store;
            of.by_key = false;
            gx_keyed_init(&tasks[t], &of);
            gx_keyed_open(&tasks[t], NULL, &states[t], NULL);
            assert_int_equal(add(t, "a", t + 1), (t + 1) * life);
            assert_int_equal(pairs(t), 1);
            cut(t);
        }
        end();
    }
    assert_int_equal(memory.now.count, 2);
}

static void whether_keys_are_a_tasks_alone_is_told(void **state) {
    (void)state;
    gale_state_options o = { sizeof o, "words", 0, 0 };
    gale_state *words;
    begin(1, true, 0);
    assert_int_equal(gx_keyed_is_by_task(&heap, &store, "count", NULL), 0);
    assert_int_equal(gx_keyed_open(&tasks[0], &o, &words, NULL), GALE_OK);
    for (int64_t i = 0; i < 50; i++) {
        gale_value key = gale_i64(i);
        assert_int_equal(gale_state_add(states[0], &key, 1, NULL), GALE_OK);
        assert_int_equal(gale_state_add(words, &key, 1, NULL), GALE_OK);
    }
    cut(0);
    assert_int_equal(gx_keyed_is_by_task(&heap, &store, "count", NULL), 0);
    end();
    begin(3, true, 0);
    assert_int_equal(gx_keyed_open(&tasks[0], &o, &words, NULL), GALE_OK);
    for (int64_t i = 0; i < 50; i++) {
        gale_value key = gale_i64(i);
        assert_int_equal(gale_state_add(words, &key, 1, NULL), GALE_OK);
    }
    cut(0);
    assert_int_equal(gx_keyed_is_by_task(&heap, &store, "count", NULL), 1);
    assert_int_equal(gx_keyed_is_by_task(&heap, &store, "coun", NULL), 0);
    memory.fail_at = memory.calls + 1;
    assert_int_equal(gx_keyed_is_by_task(&heap, &store, "count", NULL), GALE_IO);
    store.put(store.self, "kother\0state", 12, "x", 1, NULL);
    store.commit(store.self, 0, NULL, NULL);
    assert_int_equal(gx_keyed_is_by_task(&heap, &store, "other", NULL), GALE_DAMAGED);
}

/* --- Walking --- */

typedef struct changer {
    uint32_t task;
    size_t seen;
} changer;

static int change_each(void *user, const gale_value *key, const gale_value *value) {
    changer *c = user;
    int64_t sum;
    c->seen++;
    if (value->as.i64 % 3 == 0) return gale_state_remove(states[c->task], key);
    if (value->as.i64 % 3 == 1) return gale_state_add(states[c->task], key, 1000, &sum);
    gale_value again;
    assert_int_equal(gale_state_get(states[c->task], key, &again), GALE_OK);
    assert_int_equal(gale_value_compare(&again, value), 0);
    return 0;
}

static void a_walk_may_change_the_pair_that_it_is_given(void **state) {
    (void)state;
    for (int durable = 0; durable < 3; durable++) { /* 2: nothing is in memory when it begins */
        begin(1, durable != 0, durable == 2 ? 3000 : 0);
        for (int64_t i = 0; i < 300; i++) {
            gale_value key = gale_i64(i);
            gale_state_add(states[0], &key, i, NULL);
        }
        if (durable) cut(0);
        if (durable == 2) {
            end();
            begin(1, true, 3000);
        }
        changer c = { 0, 0 };
        assert_int_equal(gale_state_each(states[0], change_each, &c), GALE_OK);
        assert_int_equal(c.seen, 300);
        assert_int_equal(pairs(0), 200);
        gale_value key = gale_i64(4), value;
        assert_int_equal(gale_state_get(states[0], &key, &value), GALE_OK);
        assert_int_equal(value.as.i64, 1004);
        if (durable) assert_int_equal(cut(0), 200);
        if (durable) assert_int_equal(memory.now.count, 200);
        end();
        memory_clear(&memory.now);
    }
}

static int stop_at_third(void *user, const gale_value *key, const gale_value *value) {
    (void)key, (void)value;
    return ++*(int *)user == 3 ? 42 : 0;
}

static void a_walk_ends_with_what_it_is_told(void **state) {
    (void)state;
    begin(1, false, 0);
    for (int64_t i = 0; i < 10; i++) {
        gale_value key = gale_i64(i);
        gale_state_add(states[0], &key, i, NULL);
    }
    int seen = 0;
    assert_int_equal(gale_state_each(states[0], stop_at_third, &seen), 42);
    assert_int_equal(seen, 3);
}

/* Keys are 0 to 299: each comes once. */
static int mark_key(void *user, const gale_value *key, const gale_value *value) {
    uint8_t *seen = user;
    (void)value;
    seen[key->as.i64]++;
    return key->as.i64 % 7 ? 0 : GALE_MORE;
}

static void a_walk_that_is_suspended_goes_on_behind_the_last_pair(void **state) {
    (void)state;
    for (int durable = 0; durable < 3; durable++) { /* 2: nothing is in memory when it begins */
        begin(1, durable != 0, durable == 2 ? 3000 : 0);
        for (int64_t i = 0; i < 300; i++) {
            gale_value key = gale_i64(i);
            gale_state_add(states[0], &key, i, NULL);
        }
        if (durable) cut(0);
        if (durable == 2) {
            end();
            begin(1, true, 3000);
        }
        uint8_t seen[300] = { 0 };
        size_t parts = 0;
        int rc;
        while ((rc = gale_state_each(states[0], mark_key, seen)) == GALE_MORE) {
            parts++;
            if (durable) gx_keyed_committed(&tasks[0], checkpoint); /* nothing leaves memory in between */
        }
        assert_int_equal(rc, GALE_OK);
        assert_int_equal(parts, 43);
        for (size_t i = 0; i < 300; i++) assert_int_equal(seen[i], 1);
        assert_int_equal(pairs(0), 300); /* the next one begins anew */
        assert_int_equal(gale_state_each(states[0], mark_key, seen), GALE_MORE);
        end(); /* a suspended one ends with its state */
        memory_clear(&memory.now);
    }
}

/* --- Faults --- */

static void a_store_that_cannot_be_read_is_told(void **state) {
    (void)state;
    begin(1, true, 0);
    add(0, "a", 1);
    cut(0);
    end();
    begin(1, true, 0);
    gale_value key = gale_text("a"), value;
    int64_t sum = 77;
    memory.fail_at = memory.calls + 1;
    memory.fail_on = true;
    assert_int_equal(gale_state_get(states[0], &key, &value), GALE_IO);
    assert_non_null(strstr(told.text, "keyed state 'state' of 'count' could not be read"));
    assert_int_equal(gale_state_add(states[0], &key, 1, &sum), GALE_IO);
    assert_int_equal(sum, 77);
    assert_int_equal(gale_state_remove(states[0], &key), GALE_IO);
    size_t count = 0;
    assert_int_equal(gale_state_each(states[0], count_pair, &count), GALE_IO);
    memory.fail_at = 0;
    assert_string_equal(get(0, "a"), "1");
}

static void whatever_the_store_has_nothing_breaks(void **state) {
    (void)state;
    begin(1, true, 0);
    put_text(0, "a", "some text");
    cut(0);
    end();
    memory_pair *pair = &memory.now.list[0];
    size_t size = pair->value_size;
    for (size_t i = 0; i < size; i++)
        for (int bit = 0; bit < 8; bit++) {
            pair->value[i] ^= (char)(1 << bit);
            begin(1, true, 0);
            gale_value key = gale_text("a"), was = gale_text("some text"), value;
            int rc = gale_state_get(states[0], &key, &value);
            if (rc == GALE_OK && i >= 8) assert_int_not_equal(gale_value_compare(&value, &was), 0);
            if (rc < 0 && i >= 8) assert_int_equal(rc, GALE_DAMAGED);
            pair->value[i] ^= (char)(1 << bit);
            end();
        }
    for (size_t cut_at = 0; cut_at < size; cut_at++) {
        pair->value_size = cut_at;
        begin(1, true, 0);
        size_t count = 0;
        assert_string_equal(get(0, "a"), gale_error_text(GALE_DAMAGED));
        assert_int_equal(gale_state_each(states[0], count_pair, &count), GALE_DAMAGED);
        end();
    }
}

static void damaged_keys_are_told(void **state) {
    (void)state;
    begin(1, true, 0);
    static const char key[] = "kcount\0state\0\0\0\0\0a\x07";
    store.put(store.self, key, sizeof key - 1, "x", 1, NULL);
    store.commit(store.self, 0, NULL, NULL);
    size_t count = 0;
    assert_int_equal(gale_state_each(states[0], count_pair, &count), GALE_DAMAGED);
    assert_non_null(strstr(told.text, "has a key that none was written as"));
}

/* Each allocation fails once, and each call is made again until it succeeds. */
static bool lives_with_failure_at(size_t n) {
    counting.fail_at = 0;
    begin(1, true, 4000);
    for (int i = 0; i < 40; i++) {
        gale_value number = gale_i64(i), text = gale_text(long_text((unsigned)i));
        while (gale_state_put(states[0], &number, &text) < 0) {
        }
        if (i == 20) counting.fail_at = counting.calls + n;
        if (i % 10 == 9) {
            gx_changes changes = GX_CHANGES_INIT(&heap);
            gx_change change;
            checkpoint++;
            while (gx_keyed_cut(&tasks[0], checkpoint, &changes) < 0) gx_changes_fini(&changes);
            for (size_t at = 0; gx_changes_next(&changes, &at, &change);)
                store.put(store.self, change.key.data, change.key.size, change.value.data, change.value.size, NULL);
            store.commit(store.self, 0, NULL, NULL);
            gx_changes_fini(&changes);
            gx_keyed_committed(&tasks[0], checkpoint);
        }
        assert_null(gx_keyed_flaw(&tasks[0]));
    }
    size_t count = 0;
    int rc = gale_state_each(states[0], count_pair, &count);
    if (rc < 0) assert_int_equal(rc, GALE_NO_MEMORY);
    for (int i = 0; i < 40; i++) {
        gale_value number = gale_i64(i), value;
        while ((rc = gale_state_get(states[0], &number, &value)) < 0) assert_int_equal(rc, GALE_NO_MEMORY);
        assert_int_equal(value.size, strlen(long_text((unsigned)i)));
        while ((rc = gale_state_remove(states[0], &number)) < 0) assert_int_equal(rc, GALE_NO_MEMORY);
    }
    count = 0;
    while (gale_state_each(states[0], count_pair, &count) < 0) {
    }
    assert_int_equal(count, 0);
    bool over = counting.calls < counting.fail_at;
    counting.fail_at = 0;
    end();
    memory_clear(&memory.now);
    return over;
}

static void any_failing_allocation_loses_nothing(void **state) {
    (void)state;
    size_t n = 1;
    while (!lives_with_failure_at(n)) n++;
    assert_true(n > 20);
}

static void without_memory_there_is_no_state(void **state) {
    (void)state;
    gx_keyed_about of = about(0, 1);
    gale_state *made = NULL;
    size_t n = 1;
    for (;; n++) {
        gx_keyed_init(&tasks[0], &of);
        counting.fail_at = counting.calls + n;
        int rc = gx_keyed_open(&tasks[0], NULL, &made, NULL);
        counting.fail_at = 0;
        gx_keyed_fini(&tasks[0]);
        if (rc == GALE_OK) break;
        assert_int_equal(rc, GALE_NO_MEMORY);
        assert_int_equal(counting.blocks, 0);
    }
    assert_true(n > 2);
}

/* --- A plain array says what must be --- */

typedef struct model {
    int64_t value[KEYS]; /* -1: none */
    int64_t saved[KEYS]; /* as of the last checkpoint that lasts */
} model;

static gale_value model_key(unsigned i, char *room) {
    if (i % 3 == 0) return gale_i64(i);
    snprintf(room, 64, i % 3 == 1 ? "%u" : "%u is a key that is long", i);
    return gale_text(room);
}

static gale_value model_value(int64_t number, char *room) {
    if (number % 2) return gale_i64(number);
    snprintf(room, 64, "%lld%s", (long long)number, number % 4 ? "" : " with a text behind it that is long");
    return gale_text(room);
}

static int64_t number_in(const gale_value *value) {
    return value->type == GALE_TYPE_I64 ? value->as.i64 : atoll(value->as.string);
}

static void model_step(model *m, gx_random *random, int64_t number) {
    char room[64], text[64];
    unsigned i = gx_random_below(random, KEYS);
    gale_value key = model_key(i, room), value = model_value(number, text);
    switch (gx_random_below(random, 4)) {
    case 0:
        assert_int_equal(gale_state_remove(states[0], &key), m->value[i] < 0 ? GALE_NOT_FOUND : GALE_OK);
        m->value[i] = -1;
        break;
    case 1: {
        int64_t sum;
        bool text_there = m->value[i] >= 0 && m->value[i] % 2 == 0;
        assert_int_equal(gale_state_add(states[0], &key, 2, &sum), text_there ? GALE_TYPE : GALE_OK);
        if (!text_there) m->value[i] = sum;
        if (!text_there && sum == 2) { /* an even one is a text in this model */
            assert_int_equal(gale_state_remove(states[0], &key), GALE_OK);
            m->value[i] = -1;
        }
        break;
    }
    case 2:
        assert_int_equal(gale_state_put(states[0], &key, &value), GALE_OK);
        m->value[i] = number;
        break;
    default: {
        gale_value there;
        int rc = gale_state_get(states[0], &key, &there);
        assert_int_equal(rc, m->value[i] < 0 ? GALE_NOT_FOUND : GALE_OK);
        if (rc == GALE_OK) assert_int_equal(number_in(&there), m->value[i]);
    }
    }
}

static int model_sum(void *user, const gale_value *key, const gale_value *value) {
    (void)key;
    *(int64_t *)user += number_in(value) + 1;
    return 0;
}

static void model_check(const model *m) {
    int64_t sum = 0, seen = 0;
    for (unsigned i = 0; i < KEYS; i++) sum += m->value[i] + 1;
    assert_int_equal(gale_state_each(states[0], model_sum, &seen), GALE_OK);
    assert_int_equal(seen, sum);
    assert_null(gx_keyed_flaw(&tasks[0]));
}

/* A crash: what no checkpoint has that lasts is lost. */
static void model_crash(model *m, uint64_t share) {
    store.abandon(store.self);
    memcpy(m->value, m->saved, sizeof m->value);
    end();
    begin(1, true, share);
    model_check(m);
}

static void model_life(gx_random *random, model *m, uint64_t share) {
    int64_t cut_then[KEYS];
    bool pending = false;
    for (int64_t n = 0; n < 1500; n++) {
        model_step(m, random, n);
        unsigned what = gx_random_below(random, 90);
        if (what == 0 && !pending) {
            cut_only(0, false);
            memcpy(cut_then, m->value, sizeof cut_then);
            pending = true;
        } else if (what <= 1 && pending) {
            assert_int_equal(store.commit(store.self, 0, NULL, NULL), GALE_OK);
            gx_keyed_committed(&tasks[0], checkpoint);
            memcpy(m->saved, cut_then, sizeof m->saved);
            pending = false;
        } else if (what == 2) {
            model_check(m);
        } else if (what == 3) {
            model_crash(m, share);
            pending = false;
        }
    }
}

static void random_operations_and_crashes_agree_with_a_plain_array(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        gx_random random = gx_random_new(seed, 1);
        model m;
        for (unsigned i = 0; i < KEYS; i++) m.value[i] = m.saved[i] = -1;
        uint64_t share = 500 * (seed % 4);
        begin(1, true, share);
        model_life(&random, &m, share);
        model_crash(&m, share);
        end();
        memory_clear(&memory.now);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests_[] = {
        TEST(an_empty_state_has_nothing),
        TEST(what_was_put_is_there_until_it_is_removed),
        TEST(keys_and_values_are_of_any_type),
        TEST(a_counter_begins_at_0_and_wraps_around),
        TEST(a_key_is_what_its_size_says),
        TEST(a_value_may_be_put_back_from_where_it_was_read),
        TEST(misuse_is_refused),
        TEST(what_no_store_takes_is_too_large_in_durable_runs_alone),
        TEST(options_are_looked_at),
        TEST(a_cut_has_what_changed_since_the_last_one),
        TEST(keys_in_the_store_are_as_designed),
        TEST(nothing_leaves_memory_before_it_lasts),
        TEST(memory_stays_within_its_share_and_nothing_is_lost),
        TEST(a_key_that_is_used_stays_in_memory),
        TEST(removed_keys_leave_memory_once_that_lasts),
        TEST(what_only_the_store_has_can_be_removed),
        TEST(states_of_one_task_are_apart),
        TEST(what_is_over_is_gone_at_once),
        TEST(what_is_over_leaves_the_store_by_and_by),
        TEST(what_is_over_leaves_memory_without_a_store),
        TEST(another_number_of_tasks_finds_all_keys),
        TEST(a_list_goes_where_its_first_values_lead),
        TEST(the_same_key_in_two_tasks_is_two_keys),
        TEST(without_fields_grouping_a_key_is_its_tasks),
        TEST(whether_keys_are_a_tasks_alone_is_told),
        TEST(a_walk_may_change_the_pair_that_it_is_given),
        TEST(a_walk_ends_with_what_it_is_told),
        TEST(a_walk_that_is_suspended_goes_on_behind_the_last_pair),
        TEST(a_store_that_cannot_be_read_is_told),
        TEST(whatever_the_store_has_nothing_breaks),
        TEST(damaged_keys_are_told),
        TEST(any_failing_allocation_loses_nothing),
        TEST(without_memory_there_is_no_state),
        TEST(random_operations_and_crashes_agree_with_a_plain_array),
    };
    return cmocka_run_group_tests(tests_, NULL, NULL);
}
