/* A disk buffer's log in a folder of its own, of records that say their own numbers, and who reads it.
 * Threads: one. Owner: the test; `end` removes the folder, and checks that all memory came back. */
#ifndef TEST_CONNECT_SPOOL_RIG_H
#define TEST_CONNECT_SPOOL_RIG_H

#include "base/os/folder.h"
#include "connect/spool/opening.h"
#include "connect/spool/reader.h"
#include "tuple/body.h"

#include "harness/cm.h"
#include "harness/counting_allocator.h"
#include "harness/faulty_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROOM = 200 };

/* A folder, a log in it, and who reads it. */
typedef struct rig {
    char home[64], path[80];
    counting_allocator counting;
    gale_allocator allocator;
    gx_heap heap;
    gx_spool_log log;
    gx_spool_reader reader;
    bool open;
    bool durable;
    gx_buf told; /* lines */
    uint64_t added;
} rig;

static inline void note(void *user, const char *text) {
    rig *r = user;
    gx_buf_add_text(&r->told, text);
    gx_buf_add_byte(&r->told, '\n');
}

static inline const char *told(rig *r) {
    return gx_buf_text(&r->told);
}

static inline int open_log(rig *r, gale_error *error) {
    int rc = gx_spool_log_open(&r->log, &r->heap, r->path, &(gx_spool_owner){ 0, 1, r->durable }, error);
    if (rc < 0) return rc;
    r->open = true;
    gx_spool_log_limit(&r->log, GX_SPOOL_LIMIT_LEAST);
    gx_spool_reader_init(&r->reader, &r->log, r->log.position, note, r);
    return 0;
}

static inline void close_log(rig *r) {
    if (!r->open) return;
    gx_spool_reader_fini(&r->reader);
    gx_spool_log_close(&r->log);
    r->open = false;
}

static inline void begin(rig *r) {
    *r = (rig){ .told = GX_BUF_INIT(NULL) };
    snprintf(r->home, sizeof r->home, "/tmp/gale-spool-XXXXXX");
    assert_non_null(mkdtemp(r->home));
    faulty_disk_use((faulty_plan){ .folder = r->home }); /* which is not waited for */
    snprintf(r->path, sizeof r->path, "%s/0", r->home);
    r->allocator = counting_handle(&r->counting);
    gx_heap_init(&r->heap, &r->allocator);
}

static inline void end(rig *r) {
    char command[120];
    close_log(r);
    (void)faulty_disk_end();
    assert_int_equal(r->counting.blocks, 0);
    gx_buf_fini(&r->told);
    snprintf(command, sizeof command, "rm -rf %s", r->home);
    assert_int_equal(system(command), 0);
}

static inline void begin_open(rig *r) {
    begin(r);
    assert_int_equal(open_log(r, NULL), 0);
}

static inline void reopen(rig *r) {
    close_log(r);
    assert_int_equal(open_log(r, NULL), 0);
}

/* A record says its own number, and has so many bytes more. */
static inline int add(rig *r, size_t more, gale_error *error) {
    char room[70000], text[65536];
    memset(text, 'x', sizeof text);
    const gale_value values[] = { gale_i64((int64_t)r->log.next), gale_string(text, more) };
    int64_t size = gx_body_measure(values, 2);
    assert_true(size > 0 && (size_t)size <= sizeof room);
    gx_body_encode(values, 2, room);
    uint64_t number;
    int rc = gx_spool_log_add(&r->log, room, (size_t)size, &number, error);
    if (rc == 0) r->added++;
    return rc;
}

static inline void add_many(rig *r, size_t count, size_t more) {
    for (size_t i = 0; i < count; i++) assert_int_equal(add(r, more, NULL), 0);
}

static inline void make_safe(rig *r) {
    assert_int_equal(gx_spool_log_write(&r->log, NULL), 0);
    assert_int_equal(gx_spool_log_sync(&r->log, NULL), 0);
}

static inline int64_t number_in(const gx_spool_record *record) {
    return gale_body_value(record->body, 0).as.i64;
}

/* How many there are now, each with its own number in it; they must be those from `first` on. */
static inline uint64_t read_from(rig *r, uint64_t first) {
    gx_spool_record record;
    uint64_t count = 0;
    int rc;
    while ((rc = gx_spool_reader_next(&r->reader, &record, NULL)) > 0) {
        assert_int_equal(record.number, first + count);
        assert_int_equal(number_in(&record), record.number);
        count++;
    }
    assert_int_equal(rc, 0);
    return count;
}

static inline void answer(rig *r, uint64_t position) {
    (void)gx_spool_log_answered(&r->log, position);
    assert_int_equal(gx_spool_log_forget(&r->log, NULL), 0);
}

static inline void name_of(rig *r, uint64_t first, char name[ROOM]) {
    snprintf(name, ROOM, "%s/%020" PRIu64 ".spool", r->path, first);
}

static inline int64_t size_of(const char *name) {
    struct stat about;
    assert_int_equal(stat(name, &about), 0);
    return about.st_size;
}

enum { SOME = 50 };

/* Three segments. */
static inline void begin_with_some(rig *r) {
    begin_open(r);
    r->log.segment_size = 1024;
    add_many(r, SOME, 5);
    make_safe(r);
    assert_int_equal(r->log.count, 3);
}

/* Reads all that can be read: in order, each as it was written. How many are missing. */
static inline uint64_t count_missing(rig *r) {
    gx_spool_record record;
    uint64_t last = 0, count = 0;
    int rc;
    while ((rc = gx_spool_reader_next(&r->reader, &record, NULL)) > 0) {
        assert_true(record.number > last);
        assert_int_equal(number_in(&record), record.number);
        last = record.number;
        count++;
    }
    assert_int_equal(rc, 0);
    return SOME - count;
}

#endif
