#include "base/os/socket.h"

#include "base/str.h"

#include <errno.h>
#include <gale/clock.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/cm.h"

enum { WAIT = 120 * 1000 };

static void wait_for(int fd, short events) {
    struct pollfd one = { .fd = fd, .events = events };
    assert_int_equal(poll(&one, 1, WAIT), 1);
}

static gx_address local(gx_socket_kind kind) {
    gx_addresses found;
    assert_int_equal(gx_address_find("127.0.0.1:0", true, kind, &found, NULL), 0);
    return found.list[0];
}

static int listen_at(gx_socket_kind kind, gx_address *ret_bound) {
    gx_address address = local(kind);
    int fd;
    assert_int_equal(gx_socket_listen(&address, kind, false, &fd, NULL), 0);
    assert_true(gx_socket_name(fd, ret_bound));
    return fd;
}

static void an_address_is_a_host_and_a_port(void **state) {
    (void)state;
    static const char *const good[] = { "127.0.0.1:514", "[::1]:514", "host.example.org:65535", "a:1" };
    static const char *const bad[] = { "",        "514",      ":",           "host:",   "host:65536",
                                       "host:-1", "host:x",   "host:123456", "::1:514", "[::1]",
                                       "[]:514",  "[::1:514", "host: 514" };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(gx_address_check(good[i], false, NULL), 0);
        assert_int_equal(gx_address_check(good[i], true, NULL), 0);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        gale_error error = GALE_ERROR_INIT;
        assert_int_equal(gx_address_check(bad[i], true, &error), GALE_INVALID);
        assert_true(error.length > 0);
    }
}

static void only_who_listens_may_leave_the_host_out(void **state) {
    (void)state;
    static const char *const any[] = { ":514", "*:514", "127.0.0.1:0" };
    for (size_t i = 0; i < sizeof any / sizeof *any; i++) {
        assert_int_equal(gx_address_check(any[i], true, NULL), 0);
        assert_int_equal(gx_address_check(any[i], false, NULL), GALE_INVALID);
    }
}

static void what_cannot_be_found_is_said(void **state) {
    (void)state;
    gx_addresses found;
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gx_address_find("no such host:1", false, GX_SOCKET_STREAM, &found, &error), GALE_IO);
    assert_non_null(strstr(error.text, "cannot find 'no such host:1': "));
}

static void an_address_has_a_text(void **state) {
    (void)state;
    char text[GX_ADDRESS_TEXT];
    gx_addresses found;
    assert_int_equal(gx_address_find("127.0.0.1:514", true, GX_SOCKET_STREAM, &found, NULL), 0);
    assert_int_equal(gx_address_text(&found.list[0], text), strlen("127.0.0.1:514"));
    assert_string_equal(text, "127.0.0.1:514");
    assert_int_equal(gx_address_find("[::1]:514", true, GX_SOCKET_STREAM, &found, NULL), 0);
    gx_address_text(&found.list[0], text);
    assert_string_equal(text, "[::1]:514");
    gx_address none = { .size = 0 };
    assert_int_equal(gx_address_text(&none, text), 0);
    assert_string_equal(text, "");
}

/* By IPv6, too, where the machine has it; an address of IPv4 is one all the same. */
static void all_of_the_machines_addresses_are_listened_at(void **state) {
    (void)state;
    char text[GX_ADDRESS_TEXT], port[GX_ADDRESS_TEXT], wanted[GX_ADDRESS_TEXT];
    gx_addresses found, to;
    gx_address bound, peer;
    int listener, one, other;
    assert_int_equal(gx_address_find(":0", true, GX_SOCKET_STREAM, &found, NULL), 0);
    assert_int_equal(gx_socket_listen_first(&found, GX_SOCKET_STREAM, false, &listener, &bound, NULL), 0);
    assert_true(gx_socket_name(listener, &bound));
    gx_address_text(&bound, text);
    snprintf(port, sizeof port, "127.0.0.1%s", strrchr(text, ':'));
    assert_int_equal(gx_address_find(port, false, GX_SOCKET_STREAM, &to, NULL), 0);
    (void)gx_socket_connect(&to.list[0], GX_SOCKET_STREAM, &one);
    wait_for(listener, POLLIN);
    assert_int_equal(gx_socket_accept(listener, &other, &peer), 0);
    gx_address_text(&peer, text);
    assert_true(gx_socket_name(one, &bound));
    gx_address_text(&bound, wanted);
    assert_string_equal(text, wanted);
    gx_socket_close(one);
    gx_socket_close(other);
    gx_socket_close(listener);
}

static void a_path_has_a_bound_and_a_text_without_surprises(void **state) {
    (void)state;
    char text[GX_ADDRESS_TEXT], longest[200];
    gx_address address;
    gale_error error = GALE_ERROR_INIT;
    assert_int_equal(gx_address_path("a\tb", &address, NULL), 0);
    gx_address_text(&address, text);
    assert_string_equal(text, "a?b");
    memset(longest, 'x', sizeof longest);
    longest[107] = 0;
    assert_int_equal(gx_address_path(longest, &address, NULL), 0);
    assert_int_equal(gx_address_text(&address, text), 107);
    longest[107] = 'x';
    longest[108] = 0;
    assert_int_equal(gx_address_path(longest, &address, &error), GALE_INVALID);
    assert_int_equal(gx_address_path("", &address, &error), GALE_INVALID);
}

static void bytes_go_through_a_connection_and_its_end_is_told(void **state) {
    (void)state;
    gx_address at, peer;
    char bytes[10];
    int one, other, listener = listen_at(GX_SOCKET_STREAM, &at);
    assert_int_equal(gx_socket_accept(listener, &other, &peer), GALE_AGAIN);
    int rc = gx_socket_connect(&at, GX_SOCKET_STREAM, &one);
    assert_true(rc == 0 || rc == GALE_AGAIN);
    wait_for(listener, POLLIN);
    assert_int_equal(gx_socket_accept(listener, &other, &peer), 0);
    wait_for(one, POLLOUT);
    assert_int_equal(gx_socket_error(one), 0);
    assert_int_equal(gx_socket_read(other, bytes, sizeof bytes), GALE_AGAIN);
    assert_int_equal(gx_socket_write(one, "abc", 3), 3);
    wait_for(other, POLLIN);
    assert_int_equal(gx_socket_read(other, bytes, sizeof bytes), 3);
    gx_socket_close(one);
    wait_for(other, POLLIN);
    assert_int_equal(gx_socket_read(other, bytes, sizeof bytes), 0);
    gx_socket_close(other);
    gx_socket_close(listener);
}

static void what_the_other_machine_has_taken_is_known(void **state) {
    (void)state;
    gx_address at, peer;
    int one, other, listener = listen_at(GX_SOCKET_STREAM, &at);
    (void)gx_socket_connect(&at, GX_SOCKET_STREAM, &one);
    wait_for(listener, POLLIN);
    assert_int_equal(gx_socket_accept(listener, &other, &peer), 0);
    wait_for(one, POLLOUT);
    static char bytes[1 << 16];
    int64_t put;
    while ((put = gx_socket_write(one, bytes, sizeof bytes)) > 0) continue; /* more than it can take unread */
    assert_int_equal(put, GALE_AGAIN);
    assert_true(gx_socket_unsent(one) > 0);
    while (gx_socket_unsent(one) > 0) {
        int64_t got = gx_socket_read(other, bytes, sizeof bytes);
        assert_true(got > 0 || got == GALE_AGAIN);
    }
    assert_int_equal(gx_socket_unsent(one), 0);
    assert_int_equal(gx_socket_unsent(-1), -1);
    gx_socket_close(one);
    gx_socket_close(other);
    gx_socket_close(listener);
}

static void a_connection_that_is_refused_says_why(void **state) {
    (void)state;
    gx_address at;
    int fd = -1, listener = listen_at(GX_SOCKET_STREAM, &at);
    gx_socket_close(listener);
    int rc = gx_socket_connect(&at, GX_SOCKET_STREAM, &fd);
    if (rc == GALE_AGAIN) {
        wait_for(fd, POLLOUT);
        assert_int_equal(gx_socket_error(fd), ECONNREFUSED);
        gx_socket_close(fd);
    } else {
        assert_int_equal(rc, GALE_IO);
        assert_int_equal(errno, ECONNREFUSED);
    }
}

static void a_port_has_one_owner_unless_all_share_it(void **state) {
    (void)state;
    gx_address at;
    gale_error error = GALE_ERROR_INIT;
    for (gx_socket_kind kind = GX_SOCKET_STREAM; kind <= GX_SOCKET_DATAGRAM; kind++) {
        int other, lone = listen_at(kind, &at);
        assert_int_equal(gx_socket_listen(&at, kind, false, &other, &error), GALE_IO);
        assert_non_null(strstr(error.text, "cannot listen at 127.0.0.1:"));
        gx_socket_close(lone);
        assert_int_equal(gx_socket_listen(&at, kind, true, &lone, NULL), 0);
        assert_int_equal(gx_socket_listen(&at, kind, true, &other, NULL), 0);
        gx_socket_close(lone);
        gx_socket_close(other);
    }
}

static void datagrams_are_taken_together_and_long_ones_are_cut(void **state) {
    (void)state;
    gx_address at;
    gx_datagram list[GX_DATAGRAMS];
    char room[GX_DATAGRAMS][4];
    int one, fd = listen_at(GX_SOCKET_DATAGRAM, &at);
    for (int i = 0; i < GX_DATAGRAMS; i++) list[i].data = room[i];
    assert_int_equal(gx_socket_take(fd, list, GX_DATAGRAMS, 4), GALE_AGAIN);
    assert_int_equal(gx_socket_connect(&at, GX_SOCKET_DATAGRAM, &one), 0);
    assert_int_equal(gx_socket_write(one, "abc", 3), 3);
    assert_int_equal(gx_socket_write(one, "abcde", 5), 5);
    assert_int_equal(gx_socket_write(one, "", 0), 0);
    wait_for(fd, POLLIN);
    int got = gx_socket_take(fd, list, GX_DATAGRAMS, 4);
    assert_int_equal(got, 3);
    assert_true(list[0].size == 3 && !list[0].cut);
    assert_true(list[1].size == 4 && list[1].cut);
    assert_true(list[2].size == 0 && !list[2].cut);
    char peer[GX_ADDRESS_TEXT], own[GX_ADDRESS_TEXT];
    assert_true(gx_socket_name(one, &at));
    gx_address_text(&at, own);
    gx_address_text(&list[0].peer, peer);
    assert_string_equal(peer, own);
    gx_socket_close(one);
    gx_socket_close(fd);
}

static void what_is_thrown_away_is_counted(void **state) {
    (void)state;
    gx_address at;
    gx_datagram list[GX_DATAGRAMS];
    char room[GX_DATAGRAMS];
    uint32_t drops, taken = 0;
    int one, got, fd = listen_at(GX_SOCKET_DATAGRAM, &at);
    if (!gx_socket_drops(fd, &drops)) skip(); /* a system that does not say */
    assert_int_equal(drops, 0);
    assert_true(gx_socket_receive_buffer(fd, 4096) > 0);
    assert_int_equal(gx_socket_connect(&at, GX_SOCKET_DATAGRAM, &one), 0);
    for (int i = 0; i < 1000; i++) assert_int_equal(gx_socket_write(one, "x", 1), 1);
    for (int i = 0; i < GX_DATAGRAMS; i++) list[i].data = &room[i];
    while ((got = gx_socket_take(fd, list, GX_DATAGRAMS, 1)) > 0) taken += (uint32_t)got;
    assert_true(gx_socket_drops(fd, &drops));
    assert_int_equal(taken + drops, 1000);
    assert_true(drops > 0);
    assert_false(gx_socket_drops(-1, &drops));
    gx_socket_close(one);
    gx_socket_close(fd);
}

static void a_path_that_nobody_listens_at_is_taken_over_and_nothing_else(void **state) {
    (void)state;
    char folder[] = "socket-test-XXXXXX", path[64];
    gx_address address;
    gale_error error = GALE_ERROR_INIT;
    int first, second;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/s", folder);
    assert_int_equal(gx_address_path(path, &address, NULL), 0);
    for (gx_socket_kind kind = GX_SOCKET_STREAM; kind <= GX_SOCKET_DATAGRAM; kind++) {
        assert_int_equal(gx_socket_listen(&address, kind, false, &first, NULL), 0);
        assert_int_equal(gx_socket_listen(&address, kind, false, &second, &error), GALE_IO);
        gx_socket_close(first); /* as a process that was killed */
        assert_int_equal(gx_socket_listen(&address, kind, false, &second, NULL), 0);
        gx_socket_end(second, &address);
        assert_int_equal(access(path, F_OK), -1);
    }
    FILE *file = fopen(path, "w");
    fclose(file);
    assert_int_equal(gx_socket_listen(&address, GX_SOCKET_STREAM, false, &first, &error), GALE_IO);
    assert_int_equal(access(path, F_OK), 0);
    assert_non_null(strstr(error.text, "it is a file that is there, and no socket"));
    unlink(path);
    rmdir(folder);
}

static void the_first_of_several_that_can_be_is_connected_to(void **state) {
    (void)state;
    gx_addresses addresses = { .count = 2 };
    uint32_t index = 7;
    int fd, gone = listen_at(GX_SOCKET_STREAM, &addresses.list[0]),
            there = listen_at(GX_SOCKET_STREAM, &addresses.list[1]);
    gx_socket_close(gone);
    assert_int_equal(gx_socket_connect_first(&addresses, 120 * GALE_SECOND, &index, &fd), 0);
    assert_int_equal(index, 1);
    assert_int_equal(gx_socket_error(fd), 0);
    gx_socket_close(fd);
    gx_socket_close(there);
    assert_int_equal(gx_socket_connect_first(&addresses, 120 * GALE_SECOND, &index, &fd), GALE_IO);
    assert_int_equal(errno, ECONNREFUSED);
    assert_int_equal(fd, -1);
    addresses.count = 0;
    assert_int_equal(gx_socket_connect_first(&addresses, 0, &index, &fd), GALE_IO);
}

static void who_listens_at_a_path_does_not_notice_others_who_want_it(void **state) {
    (void)state;
    char folder[] = "socket-test-XXXXXX", path[64];
    gx_address address, peer;
    int listener, other;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/s", folder);
    assert_int_equal(gx_address_path(path, &address, NULL), 0);
    for (gx_socket_kind kind = GX_SOCKET_STREAM; kind <= GX_SOCKET_DATAGRAM; kind++) {
        assert_int_equal(gx_socket_listen(&address, GX_SOCKET_STREAM, false, &listener, NULL), 0);
        assert_int_equal(gx_socket_listen(&address, kind, false, &other, NULL), GALE_IO);
        gx_socket_end(-1, &address); /* as one that has listened there before does */
        assert_int_equal(access(path, F_OK), 0);
        assert_int_equal(gx_socket_accept(listener, &other, &peer), GALE_AGAIN);
        gx_socket_end(listener, &address);
    }
    rmdir(folder);
}

static void want_of_descriptors_is_the_systems_and_not_the_connections(void **state) {
    (void)state;
    struct rlimit before, none;
    gx_address at, peer;
    int one, other = -1, listener = listen_at(GX_SOCKET_STREAM, &at);
    (void)gx_socket_connect(&at, GX_SOCKET_STREAM, &one);
    wait_for(listener, POLLIN);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    int rc = gx_socket_accept(listener, &other, &peer), why = errno;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(rc, GALE_IO);
    assert_true(gx_socket_is_full(why));
    assert_false(gx_socket_is_full(ECONNABORTED));
    assert_int_equal(gx_socket_accept(listener, &other, &peer), 0);
    gx_socket_close(one);
    gx_socket_close(other);
    gx_socket_close(listener);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_is_a_host_and_a_port),
        cmocka_unit_test(only_who_listens_may_leave_the_host_out),
        cmocka_unit_test(what_cannot_be_found_is_said),
        cmocka_unit_test(an_address_has_a_text),
        cmocka_unit_test(all_of_the_machines_addresses_are_listened_at),
        cmocka_unit_test(a_path_has_a_bound_and_a_text_without_surprises),
        cmocka_unit_test(bytes_go_through_a_connection_and_its_end_is_told),
        cmocka_unit_test(what_the_other_machine_has_taken_is_known),
        cmocka_unit_test(a_connection_that_is_refused_says_why),
        cmocka_unit_test(a_port_has_one_owner_unless_all_share_it),
        cmocka_unit_test(datagrams_are_taken_together_and_long_ones_are_cut),
        cmocka_unit_test(what_is_thrown_away_is_counted),
        cmocka_unit_test(a_path_that_nobody_listens_at_is_taken_over_and_nothing_else),
        cmocka_unit_test(the_first_of_several_that_can_be_is_connected_to),
        cmocka_unit_test(who_listens_at_a_path_does_not_notice_others_who_want_it),
        cmocka_unit_test(want_of_descriptors_is_the_systems_and_not_the_connections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
