/* A connection, against a server that is a thread of the test: what it says of what goes wrong, and that bytes come through. Without a task: wire_drive
 * makes it go on. (With one: every test of the connectors that have it.) */
#include "harness/cm.h"
#include "wire/peer.h"
#include "wire/wire.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { DRIVES = 6000, EACH = 10 };

static char folder[] = "/tmp/gale-wire-XXXXXX";

typedef struct one {
    wire w;
    wire_settings settings;
    int ups, rooms, losts;
    size_t at_once; /* bytes of a read; 0: as many as there is room for */
    char got[1 << 20];
    size_t got_size;
    const char *says; /* at `up` */
} one;

static void be_up(void *user) {
    one *o = user;
    o->ups++;
    if (o->says) assert_int_equal(wire_write(&o->w, o->says, strlen(o->says)), 0);
}

static void be_heard(void *user) {
    one *o = user;
    size_t room = sizeof o->got - o->got_size;
    int64_t got = wire_read(&o->w, o->got + o->got_size, o->at_once && o->at_once < room ? o->at_once : room);
    if (got > 0) o->got_size += (size_t)got;
}

static void have_room(void *user) {
    ((one *)user)->rooms++;
}

static void be_lost(void *user) {
    ((one *)user)->losts++;
}

static const wire_ops ops = { be_up, be_heard, have_room, be_lost };

static one *make(const char *host, int port) {
    one *o = calloc(1, sizeof *o);
    o->settings.host = strdup(host);
    snprintf(o->settings.port, sizeof o->settings.port, "%d", port);
    o->settings.timeout = 20 * GALE_SECOND;
    o->settings.verify = true;
    return o;
}

static void begin(one *o, size_t most) {
    const wire_options options = { .given = &o->settings, .ops = &ops, .user = o, .most = most };
    assert_int_equal(wire_open(&o->w, &options, NULL), 0);
    wire_again(&o->w);
}

static void end(one *o) {
    wire_close(&o->w);
    wire_settings_free(&o->settings);
    free(o);
}

static bool is_off(const one *o) {
    return o->w.state == WIRE_OFF && !o->w.at;
}

/* Drives until it is so; there is no hurry. One that is off, with a reason, comes to nothing more: nobody here connects it again. */
#define drive_until(o, what)                                                                                           \
    for (int drives = 0; !(what); drives++) {                                                                          \
        if (drives == DRIVES || is_off(o))                                                                             \
            fail_msg("it does not come to this: %s; state %d, %s", #what, (o)->w.state, (o)->w.why);                   \
        wire_drive(&(o)->w, EACH);                                                                                     \
    }

static int port_that_nobody_has(void) {
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    close(fd);
    return ntohs(address.sin_port);
}

/* --- Without TLS ---------------------------------------------------------------------------------------------------------- */

static void a_refused_connection_is_told(void **state) {
    one *o = make("127.0.0.1", port_that_nobody_has());
    (void)state;
    begin(o, 0);
    drive_until(o, is_off(o));
    assert_string_equal(o->w.why, "cannot connect: Connection refused");
    assert_int_equal(o->ups + o->losts, 0);
    wire_again(&o->w);
    assert_int_equal(o->w.state, WIRE_OFF);
    assert_true(o->w.at > 0);
    end(o);
}

static void a_host_that_is_not_found_is_told(void **state) {
    one *o = make("no-such-host.invalid", 1);
    (void)state;
    begin(o, 0);
    drive_until(o, is_off(o));
    assert_non_null(strstr(o->w.why, "no-such-host.invalid"));
    end(o);
}

/* localhost is 127.0.0.1 and, where the machine has IPv6, ::1, at which nobody listens. */
static void each_address_of_a_name_is_tried(void **state) {
    peer p = { .path = NULL };
    (void)state;
    peer_begin(&p, peer_echo);
    one *o = make("localhost", p.port);
    o->says = "hello";
    begin(o, 0);
    drive_until(o, o->got_size == 5);
    assert_memory_equal(o->got, "hello", 5);
    end(o);
    peer_end(&p);
}

static void the_next_address_is_tried_when_one_refuses(void **state) {
    peer p = { .path = NULL };
    (void)state;
    peer_begin(&p, peer_echo);
    one *o = make("127.0.0.1", p.port);
    begin(o, 0);
    /* As though the name had two addresses, of which nobody listens at the first, and it were time to try them. */
    wire_finding *none = NULL;
    assert_int_equal(wire_find(&o->settings, &o->w.addresses, &none, o->w.why), 0);
    o->w.addresses.list[1] = o->w.addresses.list[0];
    ((struct sockaddr_in *)&o->w.addresses.list[0].bytes)->sin_port = htons((uint16_t)port_that_nobody_has());
    o->w.addresses.count = 2;
    o->w.until = INT64_MAX / 2;
    o->w.state = WIRE_CONNECTING;
    o->w.at = 1;
    drive_until(o, o->ups == 1);
    assert_int_equal(o->w.next_address, 2);
    end(o);
    peer_end(&p);
}

static void a_unix_socket_is_spoken_to(void **state) {
    char path[100];
    (void)state;
    snprintf(path, sizeof path, "%s/socket", folder);
    peer p = { .path = path };
    peer_begin(&p, peer_echo);
    one *o = make("x", 1);
    free(o->settings.host);
    o->settings.host = NULL;
    o->settings.path = strdup(path);
    o->says = "by a path";
    begin(o, 0);
    drive_until(o, o->got_size == 9);
    assert_memory_equal(o->got, "by a path", 9);
    end(o);
    peer_end(&p);
    one *none = make("x", 1);
    free(none->settings.host);
    none->settings.host = NULL;
    none->settings.path = strdup(path);
    begin(none, 0);
    drive_until(none, is_off(none));
    assert_string_equal(none->w.why, "cannot connect: No such file or directory");
    end(none);
}

static void read_when_told(peer *p) {
    while (__atomic_load_n(&p->slow, __ATOMIC_ACQUIRE)) {
        const struct timespec pause = { 0, 1000000 };
        nanosleep(&pause, NULL);
    }
    peer_read_all(p);
}

/* Writes until nothing more goes in, into a server that does not read; then it does. */
static void write_all(peer *p, one *o, size_t total) {
    enum { PIECE = 7001, MOST = 300000 };
    char piece[PIECE];
    size_t sent = 0;
    p->slow = true;
    peer_begin(p, read_when_told);
    snprintf(o->settings.port, sizeof o->settings.port, "%d", p->port);
    begin(o, MOST);
    drive_until(o, o->w.state == WIRE_UP);
    bool was_full = false;
    while (sent < total) {
        for (size_t i = 0; i < PIECE; i++) piece[i] = (char)((sent + i) * 7 >> 4);
        int rc = wire_write(&o->w, piece, PIECE);
        assert_true(wire_unsent_size(&o->w) <= MOST);
        if (rc == 0) {
            sent += PIECE;
            continue;
        }
        assert_int_equal(rc, GALE_AGAIN);
        was_full = true;
        int rooms = o->rooms;
        __atomic_store_n(&p->slow, false, __ATOMIC_RELEASE);
        drive_until(o, o->rooms > rooms);
    }
    assert_true(was_full);
    wire_flush(&o->w);
    drive_until(o, wire_unsent_size(&o->w) == 0);
    assert_int_equal(o->losts, 0);
    end(o);
    peer_wait(p);
    assert_int_equal(p->got_size, sent);
    for (size_t i = 0; i < sent; i++)
        if (p->got[i] != (char)(i * 7 >> 4)) fail_msg("byte %zu is another one", i);
    peer_end(p);
}

static void a_slow_reader_holds_who_writes_and_gets_all_in_order(void **state) {
    enum { TOTAL = 20 * 1000 * 1000 };
    peer p = { .path = NULL };
    (void)state;
    one *o = make("127.0.0.1", 1);
    write_all(&p, o, TOTAL);
}

static void what_comes_is_what_was_sent(void **state) {
    enum { SIZE = 1000000 };
    peer p = { .path = NULL };
    char *all = malloc(SIZE);
    (void)state;
    for (size_t i = 0; i < SIZE; i++) all[i] = (char)(i * 11 >> 5);
    peer_begin(&p, peer_echo);
    one *o = make("127.0.0.1", p.port);
    begin(o, SIZE);
    drive_until(o, o->ups == 1);
    assert_int_equal(wire_write(&o->w, all, SIZE), 0);
    wire_flush(&o->w);
    drive_until(o, o->got_size == SIZE);
    assert_memory_equal(o->got, all, SIZE);
    assert_int_equal(wire_write(&o->w, all, 0), 0);
    end(o);
    peer_end(&p);
    free(all);
}

static void more_than_the_buffer_has_is_too_large(void **state) {
    peer p = { .path = NULL };
    (void)state;
    peer_begin(&p, peer_echo);
    one *o = make("127.0.0.1", p.port);
    begin(o, 10);
    assert_int_equal(wire_write(&o->w, "1", 1), GALE_STATE);
    drive_until(o, o->ups == 1);
    assert_int_equal(wire_write(&o->w, "12345678901", 11), GALE_TOO_LARGE);
    assert_int_equal(wire_write(&o->w, "1234567890", 10), 0);
    wire_flush(&o->w);
    drive_until(o, o->got_size == 10);
    end(o);
    peer_end(&p);
}

static void do_nothing(peer *p) {
    (void)p;
}

static void a_connection_that_ends_is_told_once(void **state) {
    peer p = { .path = NULL };
    (void)state;
    peer_begin(&p, do_nothing);
    one *o = make("127.0.0.1", p.port);
    begin(o, 0);
    drive_until(o, o->losts == 1);
    assert_string_equal(o->w.why, "the server closed the connection");
    assert_int_equal(wire_write(&o->w, "1", 1), GALE_STATE);
    assert_int_equal(wire_read(&o->w, o->got, 1), GALE_STATE);
    wire_fail(&o->w, "again");
    assert_int_equal(o->losts, 1);
    end(o);
    peer_end(&p);
}

static void reset(peer *p) {
    const struct linger none = { 1, 0 };
    char byte;
    if (recv(p->fd, &byte, 1, 0) < 0) return;
    (void)setsockopt(p->fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
}

static void a_connection_that_is_reset_is_told(void **state) {
    peer p = { .path = NULL };
    (void)state;
    peer_begin(&p, reset);
    one *o = make("127.0.0.1", p.port);
    o->says = "hello";
    begin(o, 0);
    drive_until(o, o->losts == 1);
    assert_string_equal(o->w.why, "the connection is lost: Connection reset by peer");
    end(o);
    peer_end(&p);
}

static void a_server_that_is_silent_is_given_up(void **state) {
    peer p = { .path = NULL };
    (void)state;
    peer_begin(&p, peer_read_all);
    one *o = make("127.0.0.1", p.port);
    begin(o, 0);
    drive_until(o, o->ups == 1);
    o->settings.timeout = GALE_SECOND / 10;
    wire_expect(&o->w, true);
    drive_until(o, o->losts == 1);
    assert_string_equal(o->w.why, "it is silent for 0.1 s (timeout)");
    end(o);
    peer_end(&p);
}

static void nothing_is_late_that_nobody_expects_or_reads(void **state) {
    peer p = { .path = NULL };
    (void)state;
    peer_begin(&p, peer_read_all);
    one *o = make("127.0.0.1", p.port);
    begin(o, 0);
    drive_until(o, o->ups == 1);
    wire_expect(&o->w, true);
    wire_pause(&o->w, true);
    assert_int_equal(o->w.at, 0);
    wire_pause(&o->w, false);
    assert_true(o->w.at > 0);
    wire_expect(&o->w, false);
    assert_int_equal(o->w.at, 0);
    end(o);
    peer_end(&p);
}

static void what_is_unsent_at_the_end_is_known_and_dropped(void **state) {
    enum { SIZE = 30 << 20 };
    peer p = { .path = NULL, .slow = true };
    char *all = calloc(1, SIZE);
    (void)state;
    peer_begin(&p, read_when_told);
    one *o = make("127.0.0.1", p.port);
    begin(o, SIZE);
    drive_until(o, o->ups == 1);
    assert_int_equal(wire_write(&o->w, all, SIZE), 0);
    wire_flush(&o->w);
    assert_true(wire_unsent_size(&o->w) > 0);
    end(o);
    __atomic_store_n(&p.slow, false, __ATOMIC_RELEASE);
    peer_end(&p); /* it saw the end */
    free(all);
}

/* --- With TLS ------------------------------------------------------------------------------------------------------------- */

static void give(char **to, const char *name) {
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    free(*to);
    *to = strdup(path);
}

static one *make_tls(peer *p, const char *host, bool asks, peer_fn *act) {
    p->tls = peer_tls(folder, "localhost", asks);
    peer_begin(p, act);
    one *o = make(host, p->port);
    o->settings.tls = true;
    give(&o->settings.ca, "ca.pem");
    return o;
}

static void bytes_pass_by_tls(void **state) {
    enum { SIZE = 1000000 };
    peer p = { .path = NULL };
    char *all = malloc(SIZE);
    (void)state;
    for (size_t i = 0; i < SIZE; i++) all[i] = (char)(i * 13 >> 6);
    one *o = make_tls(&p, "localhost", false, peer_echo);
    begin(o, SIZE);
    drive_until(o, o->ups == 1);
    assert_int_equal(wire_write(&o->w, all, SIZE), 0);
    wire_flush(&o->w);
    drive_until(o, o->got_size == SIZE);
    assert_memory_equal(o->got, all, SIZE);
    end(o);
    peer_end(&p);
    free(all);
}

static void a_slow_reader_holds_who_writes_by_tls(void **state) {
    enum { TOTAL = 8 * 1000 * 1000 };
    peer p = { .tls = peer_tls(folder, "localhost", false) };
    (void)state;
    one *o = make("localhost", 1);
    o->settings.tls = true;
    give(&o->settings.ca, "ca.pem");
    write_all(&p, o, TOTAL);
}

static void write_many(peer *p) {
    static char bytes[16000];
    (void)peer_write(p, bytes, sizeof bytes);
    peer_read_all(p);
}

/* A record of TLS is read as a whole: what of it is left is in no socket, and has to be told again. */
static void what_is_left_of_a_record_is_told_again(void **state) {
    peer p = { .path = NULL };
    (void)state;
    one *o = make_tls(&p, "localhost", false, write_many);
    o->at_once = 100;
    begin(o, 0);
    drive_until(o, o->got_size >= 100);
    wire_pause(&o->w, true);
    size_t before = o->got_size;
    for (int i = 0; i < 5; i++) wire_drive(&o->w, 1);
    assert_int_equal(o->got_size, before);
    wire_pause(&o->w, false);
    drive_until(o, o->got_size == 16000);
    end(o);
    peer_end(&p);
}

static void check_refused(one *o, peer *p, const char *why) {
    begin(o, 0);
    drive_until(o, is_off(o));
    assert_int_equal(o->ups, 0);
    assert_memory_equal(o->w.why, why, strlen(why));
    end(o);
    peer_end(p);
}

static void a_certificate_of_nobody_known_is_refused(void **state) {
    peer p = { .path = NULL };
    (void)state;
    one *o = make_tls(&p, "localhost", false, peer_echo);
    give(&o->settings.ca, "stranger.pem");
    check_refused(o, &p, "TLS: the server's certificate is not trusted: ");
}

static void without_ca_the_systems_certificates_are_asked(void **state) {
    peer p = { .path = NULL };
    (void)state;
    one *o = make_tls(&p, "localhost", false, peer_echo);
    free(o->settings.ca);
    o->settings.ca = NULL;
    check_refused(o, &p, "TLS: the server's certificate is not trusted: ");
}

static void a_certificate_for_another_host_is_refused(void **state) {
    peer p = { .path = NULL };
    (void)state;
    one *o = make_tls(&p, "127.0.0.1", false, peer_echo);
    check_refused(o, &p, "TLS: the server's certificate is not for '127.0.0.1'");
    peer q = { .tls = peer_tls(folder, "other.example", false) };
    peer_begin(&q, peer_echo);
    o = make("localhost", q.port);
    o->settings.tls = true;
    give(&o->settings.ca, "ca.pem");
    check_refused(o, &q, "TLS: the server's certificate is not for 'localhost'");
}

static void who_does_not_verify_takes_any(void **state) {
    peer p = { .path = NULL };
    (void)state;
    one *o = make_tls(&p, "127.0.0.1", false, peer_echo);
    free(o->settings.ca);
    o->settings.ca = NULL;
    o->settings.verify = false;
    o->says = "hello";
    begin(o, 0);
    drive_until(o, o->got_size == 5);
    end(o);
    peer_end(&p);
}

static void a_certificate_of_ones_own_is_shown(void **state) {
    peer p = { .path = NULL };
    (void)state;
    one *o = make_tls(&p, "localhost", true, peer_echo);
    give(&o->settings.certificate, "localhost.pem");
    give(&o->settings.certificate_key, "localhost.key");
    o->says = "hello";
    begin(o, 0);
    drive_until(o, o->got_size == 5);
    end(o);
    peer_end(&p);
}

/* The server says so when it is up already, by TLS 1.3. */
static void a_server_that_wants_a_certificate_says_so(void **state) {
    peer p = { .path = NULL };
    (void)state;
    one *o = make_tls(&p, "localhost", true, peer_echo);
    begin(o, 0);
    drive_until(o, is_off(o));
    assert_non_null(strstr(o->w.why, "certificate required"));
    end(o);
    peer_end(&p);
}

static void a_key_with_a_passphrase_is_refused_and_nobody_is_asked(void **state) {
    peer p = { .path = NULL };
    (void)state;
    one *o = make_tls(&p, "localhost", false, peer_echo);
    give(&o->settings.certificate, "localhost.pem");
    give(&o->settings.certificate_key, "localhost.locked");
    begin(o, 0);
    drive_until(o, is_off(o));
    assert_true(strncmp(o->w.why, "certificateKey: /tmp/gale-wire-", 31) == 0);
    assert_null(strstr(o->w.why, "BEGIN"));
    end(o);
    peer_end(&p);
}

static void a_file_that_is_missing_is_named(void **state) {
    static const char *const parameters[] = { "ca", "certificate", "certificateKey" };
    (void)state;
    for (int i = 0; i < 3; i++) {
        peer p = { .path = NULL };
        one *o = make_tls(&p, "localhost", false, peer_echo);
        give(&o->settings.certificate, "localhost.pem");
        give(&o->settings.certificate_key, "localhost.key");
        char **files[] = { &o->settings.ca, &o->settings.certificate, &o->settings.certificate_key };
        give(files[i], "missing");
        begin(o, 0);
        drive_until(o, is_off(o));
        assert_true(strncmp(o->w.why, parameters[i], strlen(parameters[i])) == 0);
        assert_non_null(strstr(o->w.why, "missing"));
        end(o);
        peer_end(&p);
    }
}

/* As TCP alone: whoever is behind it does not speak TLS. */
static one *make_tls_to_plain(peer *p, peer_fn *act) {
    peer_begin(p, act);
    one *o = make("127.0.0.1", p->port);
    o->settings.tls = true;
    return o;
}

static void read_a_little(peer *p) {
    char bytes[600];
    (void)!recv(p->fd, bytes, sizeof bytes, 0);
}

static void a_connection_that_is_cut_off_while_hands_are_shaken_is_told(void **state) {
    peer p = { .path = NULL };
    (void)state;
    one *o = make_tls_to_plain(&p, read_a_little);
    check_refused(o, &p, "the connection was cut off");
}

static void a_server_that_does_not_shake_hands_is_given_up(void **state) {
    peer p = { .path = NULL };
    (void)state;
    one *o = make_tls_to_plain(&p, peer_read_all);
    o->settings.timeout = GALE_SECOND / 5;
    check_refused(o, &p, "TLS: there is no answer for 0.2 s (timeout)");
}

static void speak_otherwise(peer *p) {
    (void)peer_write(p, "-ERR I do not speak so\r\n", 24);
    peer_read_all(p);
}

static void a_server_without_tls_is_told(void **state) {
    peer p = { .path = NULL };
    (void)state;
    one *o = make_tls_to_plain(&p, speak_otherwise);
    check_refused(o, &p, "TLS: wrong version number");
}

static void cut_off_later(peer *p) {
    (void)peer_write(p, "hello", 5);
    shutdown(p->fd, SHUT_RDWR); /* without TLS's own goodbye */
}

static void a_connection_that_is_cut_off_is_no_orderly_end(void **state) {
    peer p = { .path = NULL };
    (void)state;
    one *o = make_tls(&p, "localhost", false, cut_off_later);
    begin(o, 0);
    drive_until(o, o->losts == 1);
    assert_int_equal(o->got_size, 5);
    assert_string_equal(o->w.why, "the connection was cut off");
    end(o);
    peer_end(&p);
}

/* --- All ------------------------------------------------------------------------------------------------------------------ */

static int make_folder(void **state) {
    (void)state;
    if (!mkdtemp(folder)) return -1;
    peer_make_certificates(folder, "x", "y");
    char from[100], to[100];
    snprintf(from, sizeof from, "%s/ca.pem", folder);
    snprintf(to, sizeof to, "%s/stranger.pem", folder);
    if (rename(from, to) != 0) return -1;
    peer_make_certificates(folder, "localhost", "other.example");
    return 0;
}

static int remove_folder(void **state) {
    char command[100];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refused_connection_is_told),
        cmocka_unit_test(a_host_that_is_not_found_is_told),
        cmocka_unit_test(each_address_of_a_name_is_tried),
        cmocka_unit_test(the_next_address_is_tried_when_one_refuses),
        cmocka_unit_test(a_unix_socket_is_spoken_to),
        cmocka_unit_test(a_slow_reader_holds_who_writes_and_gets_all_in_order),
        cmocka_unit_test(what_comes_is_what_was_sent),
        cmocka_unit_test(more_than_the_buffer_has_is_too_large),
        cmocka_unit_test(a_connection_that_ends_is_told_once),
        cmocka_unit_test(a_connection_that_is_reset_is_told),
        cmocka_unit_test(a_server_that_is_silent_is_given_up),
        cmocka_unit_test(nothing_is_late_that_nobody_expects_or_reads),
        cmocka_unit_test(what_is_unsent_at_the_end_is_known_and_dropped),
        cmocka_unit_test(bytes_pass_by_tls),
        cmocka_unit_test(a_slow_reader_holds_who_writes_by_tls),
        cmocka_unit_test(what_is_left_of_a_record_is_told_again),
        cmocka_unit_test(a_certificate_of_nobody_known_is_refused),
        cmocka_unit_test(without_ca_the_systems_certificates_are_asked),
        cmocka_unit_test(a_certificate_for_another_host_is_refused),
        cmocka_unit_test(who_does_not_verify_takes_any),
        cmocka_unit_test(a_certificate_of_ones_own_is_shown),
        cmocka_unit_test(a_server_that_wants_a_certificate_says_so),
        cmocka_unit_test(a_key_with_a_passphrase_is_refused_and_nobody_is_asked),
        cmocka_unit_test(a_file_that_is_missing_is_named),
        cmocka_unit_test(a_connection_that_is_cut_off_while_hands_are_shaken_is_told),
        cmocka_unit_test(a_server_that_does_not_shake_hands_is_given_up),
        cmocka_unit_test(a_server_without_tls_is_told),
        cmocka_unit_test(a_connection_that_is_cut_off_is_no_orderly_end),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
