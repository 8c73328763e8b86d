#include "harness/fake_collector.h"

#include <gale/kit.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static void print_reads(fake_collector *fake, const gale_value *values, size_t count, const char *wanted) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    gale_bolt bolt;
    void *self;
    assert_int_equal(gale_printer_bolt(ends[1], &bolt, NULL), 0);
    assert_int_equal(fake_prepare(fake, &bolt, &self), 0);
    assert_int_equal(bolt.ops->execute(self, fake_tuple(fake, values, count), &fake->collector), 0);
    assert_int_equal(bolt.ops->flush(self, &fake->collector), 0);
    char line[1000] = { 0 };
    assert_true(read(ends[0], line, sizeof line - 1) > 0);
    assert_string_equal(line, wanted);
    fake_cleanup(&bolt, self);
    assert_int_equal(close(ends[1]), 0); /* the descriptor stays the caller's */
    close(ends[0]);
}

static void the_printer_writes_a_line_of_json_with_its_flush(void **state) {
    (void)state;
    fake_collector fake;
    fake_init(&fake);
    fake_source(&fake, "counter", "word, count");
    const gale_value values[] = { gale_text("a\"b"), gale_i64(3) };
    print_reads(
        &fake, values, 2,
        "{\"component\":\"counter\",\"stream\":\"default\",\"task\":1,\"values\":{\"word\":\"a\\\"b\",\"count\":3}}\n");
    fake_fini(&fake);
}

/* Each write to such a socket is a message of its own. */
static void begin_messages(fake_collector *fake, int ends[2], gale_bolt *bolt, void **self) {
    fake_init(fake);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends), 0);
    assert_int_equal(gale_printer_bolt(ends[1], bolt, NULL), 0);
    assert_int_equal(fake_prepare(fake, bolt, self), 0);
    for (int i = 0; i < 50; i++)
        assert_int_equal(bolt->ops->execute(*self, fake_tuple_text(fake, "a"), &fake->collector), 0);
}

static void expect_message(int fd, size_t lines) {
    static const char line[] =
        "{\"component\":\"source\",\"stream\":\"default\",\"task\":1,\"values\":{\"word\":\"a\"}}\n";
    static char bytes[10000];
    assert_int_equal(read(fd, bytes, sizeof bytes), lines * (sizeof line - 1));
    for (size_t i = 0; i < lines; i++) assert_memory_equal(bytes + i * (sizeof line - 1), line, sizeof line - 1);
}

static void lines_between_two_flushes_are_one_write(void **state) {
    (void)state;
    fake_collector fake;
    gale_bolt bolt;
    int ends[2];
    void *self;
    char byte;
    begin_messages(&fake, ends, &bolt, &self);
    assert_int_equal(read(ends[0], &byte, 1), -1);
    assert_int_equal(bolt.ops->flush(self, &fake.collector), 0);
    expect_message(ends[0], 50);
    assert_int_equal(bolt.ops->flush(self, &fake.collector), 0);
    assert_int_equal(read(ends[0], &byte, 1), -1);
    fake_cleanup(&bolt, self);
    assert_int_equal(read(ends[0], &byte, 1), -1);
    close(ends[0]), close(ends[1]);
    fake_fini(&fake);
}

static void a_printer_that_ends_writes_what_it_has(void **state) {
    (void)state;
    fake_collector fake;
    gale_bolt bolt;
    int ends[2];
    void *self;
    begin_messages(&fake, ends, &bolt, &self);
    fake_cleanup(&bolt, self);
    expect_message(ends[0], 50);
    close(ends[0]), close(ends[1]);
    fake_fini(&fake);
}

static void a_reader_that_has_gone_stops_the_run(void **state) {
    (void)state;
    fake_collector fake;
    fake_init(&fake);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    gale_bolt bolt;
    void *self;
    assert_int_equal(gale_printer_bolt(ends[1], &bolt, NULL), 0);
    assert_int_equal(fake_prepare(&fake, &bolt, &self), 0);
    assert_int_equal(bolt.ops->execute(self, fake_tuple_text(&fake, "a"), &fake.collector), 0);
    assert_int_equal(bolt.ops->flush(self, &fake.collector), GALE_CLOSED_PIPE);
    assert_int_equal(fake.stop_code, GALE_CLOSED_PIPE);
    assert_non_null(strstr(fake.stop_text, "the printer's output"));
    fake_cleanup(&bolt, self);
    close(ends[1]);
    fake_fini(&fake);
}

static void arguments_are_checked(void **state) {
    (void)state;
    gale_bolt bolt = { 0 };
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gale_printer_bolt(-1, &bolt, &error), GALE_INVALID);
    assert_string_equal(error.text, "printer bolt: fd is -1, which is no descriptor");
    assert_int_equal(gale_callback_bolt(NULL, NULL, &bolt, &error), GALE_INVALID);
    assert_string_equal(error.text, "callback bolt: on_tuple is NULL");
    assert_null(bolt.ops);
}

static void the_log_bolt_logs_when_info_is_wanted(void **state) {
    (void)state;
    fake_collector fake;
    fake_init(&fake);
    gale_bolt bolt;
    void *self;
    assert_int_equal(gale_log_bolt(&bolt, NULL), 0);
    assert_int_equal(fake_prepare(&fake, &bolt, &self), 0);
    assert_int_equal(bolt.ops->execute(self, fake_tuple_text(&fake, "a"), &fake.collector), 0);
    assert_string_equal(fake_text(&fake.logged), "{\"component\":\"source\",\"stream\":\"default\",\"task\":1,"
                                                 "\"values\":{\"word\":\"a\"}}\n");
    fake_forget(&fake);
    fake.logger.level = GALE_LOG_WARN;
    assert_int_equal(bolt.ops->execute(self, fake_tuple_text(&fake, "a"), &fake.collector), 0);
    assert_string_equal(fake_text(&fake.logged), "");
    fake_cleanup(&bolt, self);
    fake_fini(&fake);
}

static int take(void *user, const gale_tuple *tuple) {
    gale_value value = gale_tuple_value(tuple, 0);
    int *sum = user;
    *sum += (int)value.as.i64;
    return (int)value.as.i64;
}

static void the_callback_decides_what_becomes_of_the_tuple(void **state) {
    (void)state;
    fake_collector fake;
    fake_init(&fake);
    int sum = 0;
    gale_bolt bolt;
    void *self;
    assert_int_equal(gale_callback_bolt(take, &sum, &bolt, NULL), 0);
    assert_int_equal(fake_prepare(&fake, &bolt, &self), 0);
    static const int64_t given[] = { 0, GALE_IO, 5 };
    static const int wanted[] = { 0, GALE_IO, GALE_COMPONENT };
    for (int i = 0; i < 3; i++) {
        gale_value value = gale_i64(given[i]);
        assert_int_equal(bolt.ops->execute(self, fake_tuple(&fake, &value, 1), &fake.collector), wanted[i]);
    }
    assert_int_equal(sum, GALE_IO + 5);
    fake_cleanup(&bolt, self);
    fake_fini(&fake);
}

static void the_null_bolt_takes_everything(void **state) {
    (void)state;
    fake_collector fake;
    fake_init(&fake);
    gale_bolt bolt;
    void *self;
    assert_int_equal(gale_null_bolt(&bolt, NULL), 0);
    assert_int_equal(fake_prepare(&fake, &bolt, &self), 0);
    assert_int_equal(bolt.ops->execute(self, fake_tuple(&fake, NULL, 0), &fake.collector), 0);
    fake_cleanup(&bolt, self);
    fake_fini(&fake);
}

static void every_failing_allocation_is_survived(void **state) {
    (void)state;
    for (uint64_t n = 1; n < 8; n++) {
        fake_collector fake;
        fake_init(&fake);
        gale_bolt bolt;
        void *self;
        assert_int_equal(gale_log_bolt(&bolt, NULL), 0);
        fake.fail_at = n;
        if (fake_prepare(&fake, &bolt, &self) < 0) assert_int_equal(fake_prepare(&fake, &bolt, &self), 0);
        int rc = bolt.ops->execute(self, fake_tuple_text(&fake, "a"), &fake.collector);
        assert_true(rc == 0 || rc == GALE_NO_MEMORY);
        assert_int_equal(bolt.ops->execute(self, fake_tuple_text(&fake, "a"), &fake.collector), 0);
        fake_cleanup(&bolt, self);
        fake_fini(&fake);
    }
}

int main(void) {
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_printer_writes_a_line_of_json_with_its_flush),
        cmocka_unit_test(lines_between_two_flushes_are_one_write),
        cmocka_unit_test(a_printer_that_ends_writes_what_it_has),
        cmocka_unit_test(a_reader_that_has_gone_stops_the_run),
        cmocka_unit_test(arguments_are_checked),
        cmocka_unit_test(the_log_bolt_logs_when_info_is_wanted),
        cmocka_unit_test(the_callback_decides_what_becomes_of_the_tuple),
        cmocka_unit_test(the_null_bolt_takes_everything),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
