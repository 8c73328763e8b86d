#include "connect/net/sent.h"
#include "harness/fake_saver.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

typedef struct fixture {
    fake_collector fake;
    gx_heap heap;
    gx_net_settings *given;
    gx_net_sent sent;
} fixture;

static void use(fixture *f, bool syslog, const char *emit) {
    gale_net_spout_options options = {
        .size = sizeof options, .transport = GALE_NET_UDP, .listen = ":514", .syslog = syslog, .emit = emit
    };
    if (f->given) gx_net_sent_fini(&f->sent);
    free(f->given);
    assert_int_equal(gx_net_settings_make(&options, &f->given, NULL), 0);
    gx_net_sent_init(&f->sent, &f->heap, &f->fake.collector, f->given);
    fake_forget(&f->fake);
}

static int setup(void **state) {
    fixture *f = test_calloc(1, sizeof *f);
    fake_init(&f->fake);
    gx_heap_init(&f->heap, &f->fake.allocator);
    use(f, false, NULL);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    gx_net_sent_fini(&f->sent);
    assert_int_equal(gx_heap_reserved(&f->heap), 0);
    free(f->given);
    fake_fini(&f->fake);
    test_free(f);
    return 0;
}

static const gx_net_record hello = { { "hello", 5 }, "127.0.0.1:9", 1500000000 };

static int send(fixture *f, const gx_net_record *record, uint32_t *ret_id) {
    int rc = gx_net_sent_add(&f->sent, record, ret_id);
    return rc < 0 ? rc : gx_net_sent_emit(&f->sent, &f->fake.collector, *ret_id);
}

/* What goes out of a message, as JSON. */
static const char *emitted(fixture *f, const char *text) {
    uint32_t id;
    fake_forget(&f->fake);
    assert_int_equal(send(f, &(gx_net_record){ gx_str(text), "", 0 }, &id), GALE_NEXT_EMITTED);
    gx_retry_ack(&f->sent.retry, id);
    return fake_text(&f->fake.emitted);
}

static void a_record_goes_out_with_what_is_asked_for(void **state) {
    fixture *f = *state;
    uint32_t id;
    use(f, false, "received, line, number, peer");
    assert_int_equal(send(f, &hello, &id), GALE_NEXT_EMITTED);
    assert_string_equal(fake_text(&f->fake.emitted), "[1.5,\"hello\",1,\"127.0.0.1:9\"] #0\n");
}

static void the_same_goes_out_when_it_comes_again(void **state) {
    fixture *f = *state;
    uint32_t id;
    use(f, false, "line, peer, number");
    assert_int_equal(send(f, &hello, &id), GALE_NEXT_EMITTED);
    gale_failure failure = { sizeof failure, GALE_REASON_FAILED, 3, "bolt", "", 1, false };
    gx_retry_fail(&f->sent.retry, id, &failure);
    fake_forget(&f->fake);
    assert_true(gx_retry_take(&f->sent.retry, &id));
    assert_int_equal(gx_net_sent_emit(&f->sent, &f->fake.collector, id), GALE_NEXT_EMITTED);
    assert_string_equal(fake_text(&f->fake.emitted), "[\"hello\",\"127.0.0.1:9\",1] #0\n");
}

static void bytes_that_are_no_text_go_out_as_bytes(void **state) {
    fixture *f = *state;
    uint32_t id;
    use(f, false, "line, peer");
    assert_int_equal(send(f, &(gx_net_record){ { "\xff", 1 }, "p", 0 }, &id), GALE_NEXT_EMITTED);
    assert_int_equal(send(f, &(gx_net_record){ { NULL, 0 }, "", 0 }, &id), GALE_NEXT_EMITTED);
    assert_string_equal(fake_text(&f->fake.emitted), "[{\"base64\":\"/w==\"},\"p\"] #0\n[\"\",\"\"] #1\n");
}

static void what_is_open_is_counted_in_bytes(void **state) {
    fixture *f = *state;
    uint32_t a, b;
    use(f, false, NULL);
    assert_int_equal(send(f, &hello, &a), GALE_NEXT_EMITTED);
    assert_int_equal(send(f, &hello, &b), GALE_NEXT_EMITTED);
    assert_int_equal(f->sent.retry.bytes, 2 * (5 + 11 + 1));
    gx_retry_ack(&f->sent.retry, a);
    gx_retry_ack(&f->sent.retry, b);
    assert_int_equal(f->sent.retry.bytes, 0);
}

static void structured_data_is_a_map_of_maps(void **state) {
    fixture *f = *state;
    use(f, true, "data");
    assert_string_equal(emitted(f, "<1>1 - - - - - [b x=\"1\"][a z=\"\\\"\" y=\"2\"][c]"),
                        "[{\"b\":{\"x\":\"1\"},\"a\":{\"z\":\"\\\"\",\"y\":\"2\"},\"c\":{}}] #0\n");
    assert_string_equal(emitted(f, "<1>1 - - - - - -"), "[null] #0\n");
}

static void a_name_that_comes_again_has_a_list_and_an_element_that_does_counts_once(void **state) {
    fixture *f = *state;
    use(f, true, "data");
    assert_string_equal(emitted(f, "<1>1 - - - - - [a x=\"1\" y=\"2\" x=\"3\" x=\"\\]\"][a x=\"4\"]"),
                        "[{\"a\":{\"x\":[\"1\",\"3\",\"]\"],\"y\":\"2\"}}] #0\n");
}

/* Whatever there is of them, the map is one, and no larger than the bound. */
static void parameters_beyond_the_bound_are_left_out(void **state) {
    fixture *f = *state;
    gx_buf text = GX_BUF_INIT(NULL);
    use(f, true, "data");
    for (int distinct = 0; distinct < 3; distinct++) {
        gx_buf_reset(&text);
        gx_buf_add_text(&text, "<1>1 - - - - - [a");
        for (int i = 0; i < 2 * GALE_NET_PARAMETERS; i++)
            gx_buf_format(&text, " n%d=\"v\"", distinct == 0 ? 0 : distinct == 1 ? i : i % 7);
        gx_buf_add_text(&text, "]");
        for (int i = 0; i < 100; i++) gx_buf_format(&text, "[e%d x=\"\\]\"]", i);
        const char *got = emitted(f, gx_buf_text(&text));
        size_t values = 0;
        for (const char *at = got; (at = strstr(at, "\"v\"")); at++) values++;
        assert_int_equal(values, GALE_NET_PARAMETERS);
    }
    gx_buf_fini(&text);
}

static void messages_of_neither_form_are_counted_once_each(void **state) {
    fixture *f = *state;
    use(f, true, "message");
    assert_string_equal(emitted(f, "hello"), "[\"hello\"] #0\n");
    assert_string_equal(emitted(f, "<1>hello"), "[\"hello\"] #0\n");
    assert_int_equal(f->sent.other, 1);
}

static void running_out_of_memory_keeps_the_record(void **state) {
    fixture *f = *state;
    const gx_net_record message = { gx_str("<1>1 - - - - - [a x=\"\\]\" x=\"2\"] m"), "p", 0 };
    use(f, true, "data");
    for (uint64_t n = 1;; n++) {
        uint32_t id;
        gx_net_sent_fini(&f->sent);
        gx_net_sent_init(&f->sent, &f->heap, &f->fake.collector, f->given);
        f->fake.fail_at = f->fake.allocations + n;
        int rc = send(f, &message, &id);
        f->fake.fail_at = 0;
        if (rc == GALE_NEXT_EMITTED && n > 4) break;
        if (rc == GALE_NEXT_EMITTED) continue;
        assert_int_equal(rc, GALE_NO_MEMORY);
        if (gx_retry_take(&f->sent.retry, &id))
            assert_int_equal(gx_net_sent_emit(&f->sent, &f->fake.collector, id), GALE_NEXT_EMITTED);
        else
            assert_int_equal(send(f, &message, &id), GALE_NEXT_EMITTED);
    }
}

static void options_that_make_no_sense_are_refused_in_words(void **state) {
    (void)state;
    static const struct {
        gale_net_spout_options options;
        const char *words;
    } table[] = {
        { { .transport = 4, .listen = ":1" }, "transport is 4" },
        { { .framing = 5, .listen = ":1" }, "framing is 5" },
        { { .transport = GALE_NET_UDP, .framing = GALE_NET_OCTETS, .listen = ":1" }, "a datagram has its size" },
        { { .transport = GALE_NET_UDP, .connect = "a:1" }, "connect is for streams" },
        { { .transport = GALE_NET_UDP, .listen = ":1", .max_connections = 1 }, "max_connections" },
        { { .transport = GALE_NET_UDP, .listen = ":1", .idle_timeout = 1 }, "idle_timeout" },
        { { .transport = GALE_NET_UDP, .listen = ":1", .connections = 1 }, "connections is for streams" },
        { { .listen = ":1", .receive_buffer = 1 }, "receive_buffer" },
        { { .connect = "a:1", .max_connections = 1 }, "who connects has one connection" },
        { { .listen = ":1", .zone = "Z" }, "zone is for syslog" },
        { { .listen = ":1", .zone = "CET", .syslog = true }, "zone is 'CET'" },
        { { .listen = ":1", .connect = "a:1" }, "one of listen and connect" },
        { { .listen = NULL }, "one of listen and connect" },
        { { .listen = "a" }, "'a' is no address" },
        { { .transport = GALE_NET_UNIX, .listen = "" }, "the path of a UNIX socket" },
        { { .listen = ":1", .longest = UINT64_MAX }, "longest is" },
        { { .listen = ":1", .idle_timeout = -1 }, "idle_timeout is -1" },
        { { .transport = GALE_NET_UDP, .listen = ":1", .receive_buffer = UINT64_MAX }, "receive_buffer is" },
        { { .listen = ":1", .emit = "lime" }, "emit has 'lime', may have line, peer, number, received" },
        { { .listen = ":1", .emit = "line, line" }, "emit has 'line' twice" },
        { { .listen = ":1", .emit = "host" }, "emit has 'host'" },
        { { .listen = ":1", .emit = "line", .syslog = true }, "emit has 'line'" },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        gale_net_spout_options options = table[i].options;
        gale_spout spout;
        gale_error error = GALE_ERROR_INIT;
        options.size = sizeof options;
        assert_int_equal(gale_net_spout(&options, &spout, &error), GALE_INVALID);
        if (!strstr(error.text, table[i].words)) fail_msg("'%s' does not say '%s'", error.text, table[i].words);
    }
    assert_int_equal(gale_net_spout(&table[0].options, NULL, NULL), GALE_INVALID);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_record_goes_out_with_what_is_asked_for, setup, teardown),
        cmocka_unit_test_setup_teardown(the_same_goes_out_when_it_comes_again, setup, teardown),
        cmocka_unit_test_setup_teardown(bytes_that_are_no_text_go_out_as_bytes, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_open_is_counted_in_bytes, setup, teardown),
        cmocka_unit_test_setup_teardown(structured_data_is_a_map_of_maps, setup, teardown),
        cmocka_unit_test_setup_teardown(a_name_that_comes_again_has_a_list_and_an_element_that_does_counts_once, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(parameters_beyond_the_bound_are_left_out, setup, teardown),
        cmocka_unit_test_setup_teardown(messages_of_neither_form_are_counted_once_each, setup, teardown),
        cmocka_unit_test_setup_teardown(running_out_of_memory_keeps_the_record, setup, teardown),
        cmocka_unit_test(options_that_make_no_sense_are_refused_in_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
