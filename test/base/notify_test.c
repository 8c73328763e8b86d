#include "base/os/notify.h"

#include "harness/cm.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* A manager's socket at `path`, or, where that begins with '@', under an abstract name. */
static int listen_at(const char *path) {
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    size_t size = strlen(path);
    memcpy(at.sun_path, path, size + 1);
    if (*path == '@') at.sun_path[0] = 0;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size)), 0);
    return fd;
}

static void hears(int fd, const char *expected) {
    char got[100];
    ssize_t size = recv(fd, got, sizeof got - 1, 0);
    assert_int_equal(size, strlen(expected));
    got[size] = 0;
    assert_string_equal(got, expected);
}

static void what_is_sent_arrives_at_a_path(void **state) {
    (void)state;
    char folder[] = "/tmp/gale-notify-XXXXXX", path[60];
    gx_notify notify = GX_NOTIFY_INIT;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/socket", folder);
    int fd = listen_at(path);
    assert_int_equal(gx_notify_open(&notify, path, NULL), 0);
    assert_true(gx_notify_send(&notify, "READY=1\nSTATUS=x"));
    hears(fd, "READY=1\nSTATUS=x");
    close(fd);
    assert_false(gx_notify_send(&notify, "STOPPING=1"));
    gx_notify_close(&notify);
    unlink(path), rmdir(folder);
}

static void what_is_sent_arrives_at_an_abstract_name(void **state) {
    (void)state;
    char name[60];
    gx_notify notify = GX_NOTIFY_INIT;
    snprintf(name, sizeof name, "@gale-notify-test-%ld", (long)getpid());
    int fd = listen_at(name);
    assert_int_equal(gx_notify_open(&notify, name, NULL), 0);
    assert_true(gx_notify_send(&notify, "WATCHDOG=1"));
    hears(fd, "WATCHDOG=1");
    gx_notify_close(&notify);
    close(fd);
}

static void nobody_waits_for_a_manager_that_does_not_read(void **state) {
    (void)state;
    char name[60];
    gx_notify notify = GX_NOTIFY_INIT;
    snprintf(name, sizeof name, "@gale-notify-full-%ld", (long)getpid());
    int fd = listen_at(name);
    assert_int_equal(gx_notify_open(&notify, name, NULL), 0);
    for (int i = 0; gx_notify_send(&notify, "WATCHDOG=1"); i++) assert_true(i < 1000000);
    gx_notify_close(&notify);
    close(fd);
}

static void what_is_no_address_is_refused_in_words(void **state) {
    (void)state;
    static const char *const wrong[] = { "", "/", "@", "socket", "vsock:2:1" };
    char longer[200];
    gx_notify notify = GX_NOTIFY_INIT;
    gale_error error = GALE_ERROR_INIT;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(gx_notify_open(&notify, wrong[i], &error), GALE_INVALID);
    assert_string_equal(error.text, "'vsock:2:1' is neither a path nor an abstract name (@...)");
    memset(longer, 'a', sizeof longer - 1);
    longer[0] = '/';
    longer[sizeof longer - 1] = 0;
    assert_int_equal(gx_notify_open(&notify, longer, &error), GALE_INVALID);
    assert_int_equal(gx_notify_open(&notify, "/no/such/socket", &error), GALE_IO);
    assert_string_equal(error.text, "cannot tell '/no/such/socket': No such file or directory");
    assert_false(gx_notify_send(&notify, "READY=1"));
    gx_notify_close(&notify);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_sent_arrives_at_a_path),
        cmocka_unit_test(what_is_sent_arrives_at_an_abstract_name),
        cmocka_unit_test(nobody_waits_for_a_manager_that_does_not_read),
        cmocka_unit_test(what_is_no_address_is_refused_in_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
