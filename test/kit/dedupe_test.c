#include "harness/fake_collector.h"

#include <gale/kit.h>
#include <stdio.h>

#include "harness/cm.h"

typedef struct fixture {
    fake_collector fake;
    gale_bolt bolt;
    void *self;
} fixture;

static gale_dedupe_options options_of(const char *key) {
    return (gale_dedupe_options){ .size = sizeof(gale_dedupe_options), .key = key, .horizon_seconds = 10 };
}

static void begin(fixture *f, const gale_dedupe_options *options) {
    fake_init(&f->fake);
    fake_source(&f->fake, "source", "id, who, what");
    assert_int_equal(gale_dedupe_bolt(options, &f->bolt, NULL), 0);
    assert_int_equal(fake_prepare(&f->fake, &f->bolt, &f->self), 0);
}

static void end(fixture *f) {
    fake_cleanup(&f->bolt, f->self);
    fake_fini(&f->fake);
}

static int take(fixture *f, int64_t id, const char *name, const char *what) {
    gale_value values[3] = { gale_i64(id), gale_text(name), gale_text(what) };
    fake_forget(&f->fake);
    return f->bolt.ops->execute(f->self, fake_tuple(&f->fake, values, 3), &f->fake.collector);
}

static bool passes(fixture *f, int64_t id, const char *name, const char *what) {
    assert_int_equal(take(f, id, name, what), 0);
    assert_in_range(f->fake.emissions, 0, 1);
    return f->fake.emissions == 1;
}

static void pass_time(fixture *f, int64_t milliseconds) {
    gale_manual_clock_advance(f->fake.clock, milliseconds * GALE_MILLISECOND);
}

static void the_first_of_a_key_passes_and_the_others_are_dropped(void **state) {
    (void)state;
    for (int32_t keep = GALE_DEDUPE_EXACT; keep <= GALE_DEDUPE_FINGERPRINT; keep++) {
        fixture f;
        gale_dedupe_options options = options_of("who");
        options.output = "what, id";
        options.keep = keep;
        begin(&f, &options);
        assert_true(passes(&f, 1, "a", "x"));
        assert_string_equal(fake_text(&f.fake.emitted), "[\"x\",1]\n");
        assert_false(passes(&f, 2, "a", "y"));
        assert_true(passes(&f, 3, "b", "x"));
        assert_false(passes(&f, 1, "a", "x"));
        assert_true(passes(&f, 4, "", "x"));
        assert_false(passes(&f, 5, "", "x"));
        end(&f);
    }
}

static void several_fields_are_one_key_and_what_is_emitted_without_more_words(void **state) {
    (void)state;
    fixture f;
    gale_dedupe_options options = options_of("what, who");
    begin(&f, &options);
    assert_true(passes(&f, 1, "ab", "c"));
    assert_string_equal(fake_text(&f.fake.emitted), "[\"c\",\"ab\"]\n");
    assert_true(passes(&f, 2, "a", "bc"));
    assert_false(passes(&f, 3, "ab", "c"));
    end(&f);
}

/* T = 10 s, n = 3: at 10 s it is still known, at 15 s no longer, whatever the moment of the first was. */
static void a_key_is_forgotten_between_the_horizon_and_its_bound(void **state) {
    (void)state;
    for (int64_t offset = 0; offset < 5000; offset += 500) {
        for (uint32_t buckets = 2; buckets <= 8; buckets += 2) {
            fixture f;
            gale_dedupe_options options = options_of("who");
            options.buckets = buckets;
            begin(&f, &options);
            pass_time(&f, offset);
            assert_true(passes(&f, 1, "a", "x"));
            pass_time(&f, 10000);
            assert_false(passes(&f, 2, "a", "x"));
            pass_time(&f, 10000 / (buckets - 1) + 1);
            assert_true(passes(&f, 3, "a", "x")); /* the duplicate before did not renew it */
            end(&f);
        }
    }
}

static void ticks_give_memory_back_when_nothing_comes(void **state) {
    (void)state;
    fixture f;
    gale_dedupe_options options = options_of("who");
    begin(&f, &options);
    assert_int_equal(f.bolt.setting_count, 1);
    assert_string_equal(f.bolt.settings[0].key, "topology.tick.tuple.freq.secs");
    assert_int_equal(f.bolt.settings[0].value.as.i64, 5);
    uint64_t before = f.fake.blocks;
    char name[100];
    for (int i = 0; i < 2000; i++) {
        snprintf(name, sizeof name, "somebody with a name that is too long to lie in the table, number %d", i);
        assert_true(passes(&f, i, name, "x"));
    }
    assert_true(f.fake.blocks > before + 2000);
    for (int i = 0; i < 4; i++) {
        pass_time(&f, 5000);
        assert_int_equal(f.bolt.ops->execute(f.self, fake_tick(&f.fake, 5), &f.fake.collector), 0);
    }
    assert_true(f.fake.blocks < before + 100);
    assert_true(passes(&f, 1, name, "x"));
    end(&f);
}

static void a_tuple_that_could_not_be_emitted_passes_when_it_comes_again(void **state) {
    (void)state;
    fixture f;
    gale_dedupe_options options = options_of("who");
    begin(&f, &options);
    f.fake.emit_error = GALE_NO_MEMORY;
    assert_int_equal(take(&f, 1, "a", "x"), GALE_NO_MEMORY);
    f.fake.emit_error = 0;
    assert_true(passes(&f, 1, "a", "x"));
    assert_false(passes(&f, 1, "a", "x"));
    end(&f);
}

/* What failed further down comes again as itself. */
static void with_an_identity_a_replayed_tuple_passes_and_a_duplicate_does_not(void **state) {
    (void)state;
    fixture f;
    gale_dedupe_options options = options_of("who");
    options.identity = "id";
    begin(&f, &options);
    assert_true(passes(&f, 1, "a", "x"));
    assert_false(passes(&f, 2, "a", "x"));
    assert_true(passes(&f, 1, "a", "x"));
    assert_true(passes(&f, 1, "a", "x"));
    assert_false(passes(&f, 2, "a", "x"));
    assert_true(passes(&f, 1, "b", "x")); /* another key */
    f.fake.emit_error = GALE_NO_MEMORY;
    assert_int_equal(take(&f, 1, "a", "x"), GALE_NO_MEMORY);
    f.fake.emit_error = 0;
    assert_false(passes(&f, 2, "a", "x")); /* the first has still passed once */
    assert_true(passes(&f, 1, "a", "x"));
    end(&f);
}

static void a_field_that_is_not_there_fails_the_tuple(void **state) {
    (void)state;
    static const char *const wrong[][3] = { { "whom", "id", "id" }, { "who", "i", "id" }, { "who", "id", "idd" } };
    for (int i = 0; i < 3; i++) {
        fixture f;
        gale_dedupe_options options = options_of(wrong[i][0]);
        options.output = wrong[i][1];
        options.identity = wrong[i][2];
        begin(&f, &options);
        assert_int_equal(take(&f, 1, "a", "x"), GALE_FIELDS);
        assert_non_null(strstr(fake_text(&f.fake.reports), "did you mean '"));
        end(&f);
    }
}

static void a_key_that_is_too_large_fails_its_tuple_and_has_a_fingerprint(void **state) {
    (void)state;
    static char text[100001];
    memset(text, 'a', sizeof text - 1);
    for (int32_t keep = GALE_DEDUPE_EXACT; keep <= GALE_DEDUPE_FINGERPRINT; keep++) {
        fixture f;
        gale_dedupe_options options = options_of("who");
        options.keep = keep;
        begin(&f, &options);
        if (keep == GALE_DEDUPE_EXACT) {
            assert_int_equal(take(&f, 1, text, "x"), GALE_TOO_LARGE);
        } else {
            assert_true(passes(&f, 1, text, "x"));
            assert_false(passes(&f, 1, text, "x"));
        }
        end(&f);
    }
}

static void every_failing_allocation_is_survived(void **state) {
    (void)state;
    gale_dedupe_options options = options_of("who");
    options.identity = "id";
    for (uint64_t n = 1; n < 20; n++) {
        fixture f;
        fake_init(&f.fake);
        fake_source(&f.fake, "source", "id, who, what");
        assert_int_equal(gale_dedupe_bolt(&options, &f.bolt, NULL), 0);
        f.fake.fail_at = f.fake.allocations + n;
        if (fake_prepare(&f.fake, &f.bolt, &f.self) < 0) assert_int_equal(fake_prepare(&f.fake, &f.bolt, &f.self), 0);
        for (int i = 0; i < 50; i++) {
            char name[100];
            snprintf(name, sizeof name, "somebody with a name that is too long to lie in the table, number %d", i);
            int rc = take(&f, i, name, "x");
            assert_true(rc == 0 || rc == GALE_NO_MEMORY);
            assert_int_equal(f.fake.emissions, rc == 0);
            if (rc < 0) assert_true(passes(&f, i, name, "x"));
            assert_false(passes(&f, -1, name, "x"));
        }
        end(&f);
    }
}

static void arguments_are_checked(void **state) {
    (void)state;
    gale_bolt bolt = { 0 };
    gale_error error = GALE_ERROR_INIT;
    gale_dedupe_options options = options_of(NULL);
    assert_int_equal(gale_dedupe_bolt(&options, &bolt, &error), GALE_INVALID);
    assert_string_equal(error.text, "dedupe bolt: key names no field");
    assert_int_equal(gale_dedupe_bolt(NULL, &bolt, &error), GALE_INVALID);
    static const double horizons[] = { -1, 1e9 + 1, 0.0 / 0.0, 1.0 / 0.0 };
    for (size_t i = 0; i < sizeof horizons / sizeof *horizons; i++) {
        options = options_of("who");
        options.horizon_seconds = horizons[i];
        assert_int_equal(gale_dedupe_bolt(&options, &bolt, &error), GALE_INVALID);
    }
    static const uint32_t buckets[] = { 1, 254, UINT32_MAX };
    for (size_t i = 0; i < 3; i++) {
        options = options_of("who");
        options.buckets = buckets[i];
        assert_int_equal(gale_dedupe_bolt(&options, &bolt, &error), GALE_INVALID);
    }
    assert_string_equal(error.text, "dedupe bolt: buckets is 4294967295, must be 2 to 253");
    options = options_of("who");
    options.keep = 2;
    assert_int_equal(gale_dedupe_bolt(&options, &bolt, &error), GALE_INVALID);
    options = options_of("who");
    options.output = "";
    assert_int_equal(gale_dedupe_bolt(&options, &bolt, &error), GALE_INVALID);
    assert_null(bolt.ops);
}

static void the_shortest_and_the_longest_horizon_work(void **state) {
    (void)state;
    static const double horizons[] = { 1e-12, 1e9 };
    for (int i = 0; i < 2; i++) {
        fixture f;
        gale_dedupe_options options = options_of("who");
        options.horizon_seconds = horizons[i];
        begin(&f, &options);
        assert_true(passes(&f, 1, "a", "x"));
        pass_time(&f, 1000);
        assert_int_equal(passes(&f, 1, "a", "x"), i == 0);
        end(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_of_a_key_passes_and_the_others_are_dropped),
        cmocka_unit_test(several_fields_are_one_key_and_what_is_emitted_without_more_words),
        cmocka_unit_test(a_key_is_forgotten_between_the_horizon_and_its_bound),
        cmocka_unit_test(ticks_give_memory_back_when_nothing_comes),
        cmocka_unit_test(a_tuple_that_could_not_be_emitted_passes_when_it_comes_again),
        cmocka_unit_test(with_an_identity_a_replayed_tuple_passes_and_a_duplicate_does_not),
        cmocka_unit_test(a_field_that_is_not_there_fails_the_tuple),
        cmocka_unit_test(a_key_that_is_too_large_fails_its_tuple_and_has_a_fingerprint),
        cmocka_unit_test(every_failing_allocation_is_survived),
        cmocka_unit_test(arguments_are_checked),
        cmocka_unit_test(the_shortest_and_the_longest_horizon_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
