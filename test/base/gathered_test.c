/* Whole lines of several writers to one descriptor. */
#include "base/os/gathered.h"

#include "base/os/thread.h"
#include "harness/cm.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* A writer to a socket that keeps one write from the next. */
typedef struct rig {
    gx_heap heap;
    gx_gathered gathered;
    int ends[2];
} rig;

static void begin(rig *r) {
    gx_heap_init(&r->heap, NULL);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, r->ends), 0);
    assert_int_equal(gx_gathered_open(&r->gathered, &r->heap, r->ends[1], "the output"), GALE_OK);
}

static void end(rig *r) {
    gx_gathered_close(&r->gathered);
    close(r->ends[0]), close(r->ends[1]);
    assert_int_equal(gx_heap_reserved(&r->heap), 0);
}

static void add(rig *r, const char *lines) {
    assert_int_equal(gx_gathered_add(&r->gathered, gx_str(lines), NULL), GALE_OK);
}

/* The next write; "" when there is none. */
static const char *written(const rig *r) {
    static char bytes[2 * GX_GATHERED_SIZE];
    ssize_t got = recv(r->ends[0], bytes, sizeof bytes - 1, MSG_DONTWAIT);
    bytes[got > 0 ? got : 0] = 0;
    return bytes;
}

static void lines_wait_for_a_flush(void **state) {
    (void)state;
    rig r;
    begin(&r);
    assert_int_equal(gx_gathered_flush(&r.gathered, NULL), GALE_OK);
    add(&r, "");
    add(&r, "one\n");
    add(&r, "two\nthree\n");
    assert_string_equal(written(&r), "");
    assert_int_equal(gx_gathered_flush(&r.gathered, NULL), GALE_OK);
    assert_string_equal(written(&r), "one\ntwo\nthree\n");
    assert_int_equal(gx_gathered_flush(&r.gathered, NULL), GALE_OK);
    assert_string_equal(written(&r), "");
    end(&r);
}

static void full_buffer_goes_before_the_line_that_does_not_fit(void **state) {
    (void)state;
    rig r;
    begin(&r);
    static char line[GX_GATHERED_SIZE + 2];
    memset(line, 'x', GX_GATHERED_SIZE - 5);
    line[GX_GATHERED_SIZE - 5] = '\n';
    add(&r, line);
    add(&r, "abc\n"); /* it is full */
    assert_string_equal(written(&r), "");
    add(&r, "d\n");
    assert_int_equal(strlen(written(&r)), GX_GATHERED_SIZE);
    memset(line, 'y', GX_GATHERED_SIZE);
    line[GX_GATHERED_SIZE] = '\n';
    add(&r, line); /* longer than the buffer */
    assert_string_equal(written(&r), "d\n");
    assert_int_equal(strlen(written(&r)), GX_GATHERED_SIZE + 1);
    end(&r);
}

static void lines_that_cannot_be_written_wait_still(void **state) {
    (void)state;
    rig r;
    gale_error error = GALE_ERROR_INIT;
    begin(&r);
    close(r.ends[0]);
    add(&r, "one\n");
    assert_int_equal(gx_gathered_flush(&r.gathered, &error), GALE_CLOSED_PIPE);
    assert_string_equal(error.text, "cannot write 'the output': its reader has gone");
    gx_gathered_flush_thread();
    assert_int_equal(gx_gathered_flush(&r.gathered, &error), GALE_CLOSED_PIPE);
    end(&r);
}

static void *add_elsewhere(void *user) {
    add(user, "elsewhere\n");
    return NULL;
}

static void flush_of_a_thread_leaves_the_lines_of_others(void **state) {
    (void)state;
    rig here, there;
    gx_thread thread;
    begin(&here);
    begin(&there);
    assert_true(gx_thread_start(&thread, "adds", add_elsewhere, &there));
    assert_true(gx_thread_join(&thread, -1));
    add(&here, "here\n");
    gx_gathered_flush_thread();
    assert_string_equal(written(&here), "here\n");
    assert_string_equal(written(&there), "");
    end(&here);
    end(&there);
}

/* --- Several writers --- */

enum { WRITERS = 4, LINES = 400 };

static int lines_to;

/* Lines of one letter, up to three times what a pipe takes at once. */
static void *write_lines(void *user) {
    gx_heap heap;
    gx_gathered gathered;
    static const size_t sizes[] = { 10, 300, 12000, 5, 70000 };
    char *line = malloc(70001), letter = *(const char *)user;
    gx_heap_init(&heap, NULL);
    assert_int_equal(gx_gathered_open(&gathered, &heap, lines_to, "pipe"), GALE_OK);
    memset(line, letter, 70000);
    for (size_t i = 0; i < LINES; i++) {
        size_t size = sizes[i % 5];
        line[size] = '\n';
        assert_int_equal(gx_gathered_add(&gathered, (gale_str){ line, size + 1 }, NULL), GALE_OK);
        line[size] = letter;
        if (i % 7 == 0) assert_int_equal(gx_gathered_flush(&gathered, NULL), GALE_OK);
    }
    assert_int_equal(gx_gathered_flush(&gathered, NULL), GALE_OK);
    gx_gathered_close(&gathered);
    free(line);
    return NULL;
}

static void lines_of_several_writers_are_whole(void **state) {
    (void)state;
    static const char letters[WRITERS] = { 'a', 'b', 'c', 'd' };
    gx_thread threads[WRITERS];
    int ends[2], c;
    size_t lines[WRITERS] = { 0 };
    assert_int_equal(pipe(ends), 0);
    lines_to = ends[1];
    for (int i = 0; i < WRITERS; i++)
        assert_true(gx_thread_start(&threads[i], "lines", write_lines, (void *)(uintptr_t)&letters[i]));
    FILE *in = fdopen(ends[0], "r");
    assert_non_null(in);
    for (int left = WRITERS * LINES; left; left--) {
        int first = getc(in);
        while ((c = getc(in)) != '\n')
            if (c != first) fail_msg("'%c' stands in a line of '%c'", c, first);
        lines[first - 'a']++;
    }
    for (int i = 0; i < WRITERS; i++) assert_true(gx_thread_join(&threads[i], -1));
    for (int i = 0; i < WRITERS; i++) assert_int_equal(lines[i], LINES);
    fclose(in);
    close(ends[1]);
}

/* --- Crashes --- */

static void crash_writes_the_lines_of_all_writers(void **state) {
    (void)state;
    rig one, two;
    begin(&one);
    begin(&two);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        add(&one, "a\nb\n");
        add(&two, "c\n");
        gx_gathered_crash();
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_string_equal(written(&one), "a\nb\n");
    assert_string_equal(written(&two), "c\n");
    end(&one);
    end(&two);
}

int main(void) {
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_wait_for_a_flush),
        cmocka_unit_test(full_buffer_goes_before_the_line_that_does_not_fit),
        cmocka_unit_test(lines_that_cannot_be_written_wait_still),
        cmocka_unit_test(flush_of_a_thread_leaves_the_lines_of_others),
        cmocka_unit_test(lines_of_several_writers_are_whole),
        cmocka_unit_test(crash_writes_the_lines_of_all_writers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
