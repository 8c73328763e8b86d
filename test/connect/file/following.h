/* A file spout that follows, in a folder of its own: what the writer of the log does, what the engine does, and what is expected. For
 * the tests that include it. */
#ifndef TEST_CONNECT_FILE_FOLLOWING_H
#define TEST_CONNECT_FILE_FOLLOWING_H

#include "harness/fake_saver.h"

#include "base/os/watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <gale/file.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct fixture {
    fake_collector fake;
    fake_saver saver;
    gale_file_spout_options options;
    gale_spout spout;
    void *self;
    gale_wait wait;
    int said;    /* by the last `next` */
    bool silent; /* lines are not answered */
    gx_buf got;
    char folder[40], path[60], names[60][80];
    char message[400];
    uint32_t name_count;
} fixture;

/* "line", or "line@number:offset" where those are asked for; and a blank. */
static inline void note(void *user, const gale_value *values, size_t count) {
    fixture *f = user;
    gx_buf_format(&f->got, "%.*s", (int)values[0].size, values[0].as.string);
    if (count > 2) gx_buf_format(&f->got, "@%lld:%lld", (long long)values[1].as.i64, (long long)values[2].as.i64);
    gx_buf_add_byte(&f->got, ' ');
}

static inline int setup(void **state) {
    fixture *f = test_calloc(1, sizeof *f);
    fake_init(&f->fake);
    fake_saver_init(&f->saver, &f->fake);
    f->got = (gx_buf)GX_BUF_INIT(NULL);
    f->fake.on_emit = note;
    f->fake.on_emit_user = f;
    snprintf(f->folder, sizeof f->folder, "/tmp/gale_follow_XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->path, sizeof f->path, "%s/in.log", f->folder);
    f->options = (gale_file_spout_options){ .size = sizeof f->options, .path = f->path, .follow = true };
    *state = f;
    return 0;
}

static inline void end(fixture *f) {
    if (f->self) fake_close(&f->spout, f->self);
    f->self = NULL;
}

static inline int remove_one(const char *path, const struct stat *about, int type, struct FTW *where) {
    (void)about, (void)type;
    return where->level ? remove(path) : 0;
}

/* With the folders in it, and without following links. */
static inline void empty_folder(const char *path) {
    assert_int_equal(nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static inline int teardown(void **state) {
    fixture *f = *state;
    end(f);
    gx_watch_use(NULL);
    empty_folder(f->folder);
    assert_int_equal(rmdir(f->folder), 0);
    gx_buf_fini(&f->got);
    fake_saver_fini(&f->saver);
    fake_fini(&f->fake);
    test_free(f);
    return 0;
}

/* --- What the writer of the log does --- */

static GX_NOINLINE const char *in(fixture *f, const char *name) {
    char *path = f->names[f->name_count++ % 60];
    snprintf(path, sizeof f->names[0], "%s/%s", f->folder, name);
    return path;
}

static inline void append(fixture *f, const char *name, const char *text) {
    FILE *file = fopen(in(f, name), "ab");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static inline void rotate(fixture *f, const char *from, const char *to) {
    assert_int_equal(rename(in(f, from), in(f, to)), 0);
}

static inline void cut(fixture *f, const char *name) {
    assert_int_equal(truncate(in(f, name), 0), 0);
}

/* --- What the engine does --- */

static inline int try_begin(fixture *f) {
    assert_int_equal(gale_file_spout(&f->options, &f->spout, NULL), 0);
    int rc = fake_open(&f->fake, &f->spout, &f->self);
    if (rc < 0) f->spout.free_user(f->spout.user);
    return rc;
}

static inline void begin(fixture *f) {
    assert_int_equal(try_begin(f), 0);
}

static inline int next(fixture *f) {
    f->wait = (gale_wait){ 0, -1 };
    return f->said = f->spout.ops->next(f->self, &f->fake.collector, &f->wait);
}

/* All that there is now. */
static inline const char *lines(fixture *f) {
    gx_buf_reset(&f->got);
    while (next(f) == GALE_NEXT_EMITTED)
        if (!f->silent) f->spout.ops->ack(f->self, f->fake.last_message);
    const char *text = gx_buf_text(&f->got);
    return text ? text : "";
}

static inline void expect(fixture *f, const char *wanted) {
    assert_string_equal(lines(f), wanted);
}

static inline bool is_told(const fixture *f) {
    struct pollfd one = { .fd = f->wait.fd, .events = POLLIN };
    return poll(&one, 1, 0) > 0;
}

static inline void pass(fixture *f, int64_t nanoseconds) {
    gale_manual_clock_advance(f->fake.clock, nanoseconds);
}

static inline void expect_logged(fixture *f, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(f->message, sizeof f->message, format, list);
    va_end(list);
    if (!strstr(fake_text(&f->fake.logged), f->message)) assert_string_equal(fake_text(&f->fake.logged), f->message);
}

static inline void save(fixture *f) {
    assert_int_equal(fake_save(&f->saver, f->spout.ops->durable, f->self), GALE_OK);
}

/* kill -9, and the next process; the log's writer may do something in between. */
static inline void die(fixture *f) {
    end(f);
    f->fake.context.resumes = true;
}

static inline void resume(fixture *f) {
    begin(f);
    assert_int_equal(fake_restore(&f->saver, f->spout.ops->durable, f->self), GALE_OK);
}

#endif
