/* What a connection is made of, without one: which server is meant, where its name is, bytes that wait. */
#include "harness/cm.h"
#include "harness/fake_collector.h"
#include "wire/finding.h"
#include "wire/health.h"
#include "wire/unsent.h"

#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Servers -------------------------------------------------------------------------------------------------------------- */

static void check_server(const char *server, const char *host, const char *port, const char *path) {
    wire_settings settings = { .host = NULL };
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(wire_settings_server(&settings, server, 6379, &error), 0);
    if (host) assert_string_equal(settings.host, host);
    if (host) assert_string_equal(settings.port, port);
    if (path) assert_string_equal(settings.path, path);
    assert_true((settings.host == NULL) == (host == NULL));
    wire_settings_free(&settings);
}

static void a_server_is_a_host_with_or_without_a_port_or_a_path(void **state) {
    (void)state;
    check_server("localhost", "localhost", "6379", NULL);
    check_server("localhost:1", "localhost", "1", NULL);
    check_server("10.0.0.1:65535", "10.0.0.1", "65535", NULL);
    check_server("[::1]", "::1", "6379", NULL);
    check_server("[fe80::1%eth0]:99", "fe80::1%eth0", "99", NULL);
    check_server("h:00080", "h", "80", NULL);
    check_server("unix:/run/redis.sock", NULL, NULL, "/run/redis.sock");
}

static void what_is_no_server_is_refused_in_words(void **state) {
    static const char *const none[] = { "",     ":1",   "h:",    "h:0", "h:65536",     "h:1x",  "h:000001", "[::1",
                                        "[]:1", "[a]b", "a b:1", "a/b", "redis://h:1", "unix:", "::1",      "h:1:2" };
    char longer[300];
    (void)state;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        wire_settings settings = { .host = NULL };
        gale_error error = GALE_ERROR_INIT;
        assert_int_equal(wire_settings_server(&settings, none[i], 6379, &error), GALE_INVALID);
        assert_true(strncmp(error.text, "server: ", 8) == 0);
        assert_null(settings.host);
        assert_null(settings.path);
    }
    memset(longer, 'h', sizeof longer);
    longer[299] = 0;
    wire_settings settings = { .host = NULL };
    assert_int_equal(wire_settings_server(&settings, longer, 1, NULL), GALE_INVALID);
    memcpy(longer, "unix:", 5);
    assert_int_equal(wire_settings_server(&settings, longer, 1, NULL), GALE_INVALID);
}

static void a_password_beside_the_host_is_not_said_again(void **state) {
    wire_settings settings = { .host = NULL };
    gale_error error = GALE_ERROR_INIT;
    (void)state;
    assert_int_equal(wire_settings_server(&settings, "me:secret@h:1", 6379, &error), GALE_INVALID);
    assert_null(strstr(error.text, "secret"));
}

/* --- Names ---------------------------------------------------------------------------------------------------------------- */

static int find(const char *host, wire_addresses *to, char why[WIRE_WHY_MAX]) {
    wire_settings settings = { .host = (char *)(uintptr_t)host, .port = "7" };
    wire_finding *finding = NULL;
    int rc = wire_find(&settings, to, &finding, why);
    if (rc != GALE_AGAIN) return rc;
    struct pollfd one = { .fd = wire_finding_fd(finding), .events = POLLIN };
    assert_int_equal(poll(&one, 1, 60000), 1);
    rc = wire_finding_take(finding, to, why);
    wire_finding_leave(finding);
    return rc;
}

static void digits_are_found_at_once(void **state) {
    wire_settings settings = { .host = (char *)(uintptr_t) "127.0.0.1", .port = "7" };
    wire_addresses found;
    wire_finding *finding = NULL;
    char why[WIRE_WHY_MAX];
    (void)state;
    assert_int_equal(wire_find(&settings, &found, &finding, why), 0);
    assert_null(finding);
    assert_int_equal(found.count, 1);
    const struct sockaddr_in *address = (const struct sockaddr_in *)&found.list[0].bytes;
    assert_int_equal(address->sin_family, AF_INET);
    assert_int_equal(ntohs(address->sin_port), 7);
}

static void a_name_is_found_by_a_thread(void **state) {
    wire_addresses found;
    char why[WIRE_WHY_MAX];
    (void)state;
    assert_int_equal(find("localhost", &found, why), 0);
    assert_true(found.count >= 1);
}

static void a_name_that_is_none_is_told(void **state) {
    wire_addresses found;
    char why[WIRE_WHY_MAX] = "";
    (void)state;
    assert_int_equal(find("no-such-host.invalid", &found, why), GALE_IO);
    assert_true(strncmp(why, "the host 'no-such-host.invalid' is not found: ", 46) == 0);
}

static void nobody_needs_to_wait_for_a_name(void **state) {
    (void)state;
    for (int i = 0; i < 20; i++) {
        wire_settings settings = { .host = (char *)(uintptr_t) "localhost", .port = "7" };
        wire_addresses found;
        wire_finding *finding = NULL;
        char why[WIRE_WHY_MAX];
        assert_int_equal(wire_find(&settings, &found, &finding, why), GALE_AGAIN);
        wire_finding_leave(finding);
    }
}

/* --- Bytes that wait -------------------------------------------------------------------------------------------------------- */

static void bytes_come_out_as_they_went_in(void **state) {
    enum { MOST = 100000, ROUNDS = 20000 };
    wire_unsent unsent = { .most = MOST };
    uint64_t in = 0, out = 0, random = 1;
    char bytes[5000];
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        size_t size = (random >> 33) % sizeof bytes;
        for (size_t i = 0; i < size; i++) bytes[i] = (char)((in + i) * 31 >> 3);
        int rc = wire_unsent_add(&unsent, bytes, size);
        assert_int_equal(rc, in - out + size <= MOST ? 0 : GALE_AGAIN);
        if (rc == 0) in += size;
        gale_str rest = wire_unsent_rest(&unsent);
        assert_int_equal(rest.size, in - out);
        size_t took = rest.size ? (random >> 20) % (rest.size + 1) / (1 + (random >> 60)) : 0;
        for (size_t i = 0; i < took; i++) assert_int_equal(rest.data[i], (char)((out + i) * 31 >> 3));
        wire_unsent_took(&unsent, took);
        out += took;
        assert_true(unsent.room <= 4 * MOST);
    }
    assert_true(out > MOST);
    wire_unsent_free(&unsent);
}

static void more_than_there_can_ever_be_room_for_is_too_large(void **state) {
    wire_unsent unsent = { .most = 4 };
    (void)state;
    assert_int_equal(wire_unsent_add(&unsent, "12345", 5), GALE_TOO_LARGE);
    assert_int_equal(wire_unsent_add(&unsent, "1234", 4), 0);
    assert_int_equal(wire_unsent_add(&unsent, "", 0), 0);
    assert_int_equal(wire_unsent_add(&unsent, "5", 1), GALE_AGAIN);
    wire_unsent_clear(&unsent);
    assert_int_equal(wire_unsent_add(&unsent, "5", 1), 0);
    assert_memory_equal(wire_unsent_rest(&unsent).data, "5", 1);
    wire_unsent_free(&unsent);
}

/* --- Health of several ------------------------------------------------------------------------------------------------------ */

static void the_words_of_one_connection_neither_hide_nor_clear_those_of_another(void **state) {
    fake_collector fake;
    wire_health health = { 0 };
    (void)state;
    fake_init(&fake);
    wire_health_say(&health, &fake.collector, 1, "letters: refused");
    assert_string_equal(fake.health, "letters: refused");
    wire_health_say(&health, &fake.collector, 0, "broker: gone");
    assert_string_equal(fake.health, "broker: gone; letters: refused");
    wire_health_say(&health, &fake.collector, 0, NULL);
    assert_string_equal(fake.health, "letters: refused");
    wire_health_say(&health, &fake.collector, 0, "broker: silent");
    wire_health_say(&health, &fake.collector, 1, NULL);
    assert_string_equal(fake.health, "broker: silent");
    wire_health_say(&health, &fake.collector, 0, NULL);
    assert_string_equal(fake.health, "");
    fake_fini(&fake);
}

static void long_words_leave_room_for_those_of_the_other(void **state) {
    fake_collector fake;
    wire_health health = { 0 };
    char a[300], b[300];
    (void)state;
    fake_init(&fake);
    memset(a, 'a', sizeof a - 1);
    memset(b, 'b', sizeof b - 1);
    a[sizeof a - 1] = b[sizeof b - 1] = 0;
    wire_health_say(&health, &fake.collector, 0, a);
    assert_int_equal(strlen(fake.health), GALE_FAILURE_TEXT - 1);
    wire_health_say(&health, &fake.collector, 1, "short");
    assert_int_equal(strlen(fake.health), GALE_FAILURE_TEXT - 1);
    assert_string_equal(strchr(fake.health, ';'), "; short");
    wire_health_say(&health, &fake.collector, 1, b);
    assert_int_equal(strspn(fake.health, "a"), (GALE_FAILURE_TEXT - 3) / 2);
    assert_int_equal(strspn(strchr(fake.health, 'b'), "b"), (GALE_FAILURE_TEXT - 3) / 2);
    fake_fini(&fake);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_is_a_host_with_or_without_a_port_or_a_path),
        cmocka_unit_test(what_is_no_server_is_refused_in_words),
        cmocka_unit_test(a_password_beside_the_host_is_not_said_again),
        cmocka_unit_test(digits_are_found_at_once),
        cmocka_unit_test(a_name_is_found_by_a_thread),
        cmocka_unit_test(a_name_that_is_none_is_told),
        cmocka_unit_test(nobody_needs_to_wait_for_a_name),
        cmocka_unit_test(bytes_come_out_as_they_went_in),
        cmocka_unit_test(more_than_there_can_ever_be_room_for_is_too_large),
        cmocka_unit_test(the_words_of_one_connection_neither_hide_nor_clear_those_of_another),
        cmocka_unit_test(long_words_leave_room_for_those_of_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
