/* Bytes, made into records that a file spout or a file sink is to go on with, of the shapes that they save and of others.
 * Whatever they are: an error, or a task that works and can save again; the sink's file is never longer for it, and a file
 * that is refused is as it was. */
#include "fuzz.h"

#include "base/os/file.h"
#include "topology/saver.h"

#include <fcntl.h>
#include <gale/file.h>
#include <stdio.h>
#include <unistd.h>

static const char content[] = "first\nsecond\nthird\n";
static char in_path[64], out_path[64];

/* --- A task's surroundings --- */

static int emit_tracked(gale_collector *out, uint32_t stream, const gale_value *values, size_t count, uint64_t id) {
    (void)out, (void)stream, (void)id;
    expect(count == 1 && (values->type == GALE_TYPE_STRING || values->type == GALE_TYPE_BYTES));
    return 1;
}

static void report(gale_collector *out, const char *text) {
    (void)out;
    expect(*text);
}

static void stop(gale_collector *out, int code, const char *text) {
    (void)out;
    expect(code < 0 && *text);
}

static void resume(gale_collector *out) {
    (void)out;
}

static bool resumed(gale_collector *out) {
    (void)out;
    return false;
}

static const gale_collector_ops ops = { .size = sizeof ops,
                                        .emit_tracked = emit_tracked,
                                        .report = report,
                                        .stop = stop,
                                        .resume = resume,
                                        .resumed = resumed };

/* More than any sound record asks for is refused. */
static void *bounded_alloc(void *user, size_t size) {
    (void)user;
    return size > (size_t)64 << 20 ? NULL : malloc(size);
}

static void *bounded_resize(void *user, void *block, size_t old_size, size_t size) {
    (void)user, (void)old_size;
    return size > (size_t)64 << 20 ? NULL : realloc(block, size);
}

static void release(void *user, void *block, size_t size) {
    (void)user, (void)size;
    free(block);
}

static const gale_allocator allocator = { sizeof allocator, bounded_alloc, bounded_resize, release, NULL };

static void no_log(void *user, int32_t level, const char *component, const char *text) {
    (void)user, (void)level, (void)component, (void)text;
}

static const gale_logger logger = { sizeof logger, GALE_LOG_OFF, no_log, NULL };

static uint64_t no_chance(const gale_context *context) {
    (void)context;
    return 4;
}

/* --- Records --- */

static uint64_t inode_of(const char *path) {
    gx_file_about about = { 0 };
    gx_file_about_path(path, &about, NULL);
    return about.inode;
}

static int64_t number(fuzz_input *in) {
    uint8_t which = fuzz_byte(in);
    if (which == 255) return (int64_t)fuzz_word(in);
    if (which == 254) return (int64_t)inode_of(in_path);
    if (which == 253) return (int64_t)inode_of(out_path);
    return which < 128 ? which : -(int64_t)(which - 127);
}

static gale_value value_of(fuzz_input *in, char letter) {
    size_t size;
    switch (letter) {
    case 'i': return gale_i64(number(in));
    case 'o': return gale_bool(fuzz_byte(in) & 1);
    case 's': return gale_text("text");
    default:
        size = fuzz_byte(in) % 16;
        if (size > in->size) size = in->size;
        in->data += size;
        in->size -= size;
        return gale_bytes(in->data - size, size);
    }
}

static void add_records(fuzz_input *in, gx_buf *records) {
    static const char *const shapes[] = {
        "yyiiiiiioooi", "yiiii", "yyiiiiioiiiiioio", "iiii", "iiiiioy", "i", "y", "o", "yyiiioi", "s", ""
    };
    gale_value values[16];
    for (int count = 0; in->size && count < 20; count++) {
        const char *shape = shapes[fuzz_byte(in) % (sizeof shapes / sizeof *shapes)];
        size_t size = strlen(shape);
        for (size_t i = 0; i < size; i++) values[i] = value_of(in, shape[i]);
        expect(gx_record_add(records, values, size) == GALE_OK);
    }
}

/* --- Restoring --- */

static void put(const char *path) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    expect(fd >= 0 && write(fd, content, sizeof content - 1) == (ssize_t)sizeof content - 1);
    close(fd);
}

static int64_t size_of(const char *path) {
    gx_file_about about = { .size = -1 };
    gx_file_about_path(path, &about, NULL);
    return about.size;
}

static int restore(const gale_durable_ops *durable, void *self, const gx_buf *records, gale_collector *out) {
    gx_heap heap;
    gx_heap_init(&heap, &allocator);
    gale_str bytes = { records->data, records->size };
    gale_saved from = { .records = bytes, .heap = &heap, .checkpoint = 3, .parts = 1, .task_count = 1 };
    expect(gx_records_are_whole(bytes));
    int rc = durable->restore(self, &from, out);
    gx_saved_fini(&from);
    return rc;
}

static bool save(const gale_durable_ops *durable, void *self) {
    gx_heap heap;
    gx_heap_init(&heap, &allocator);
    gx_buf records = GX_BUF_INIT(&heap);
    gx_pledges pledges = { .heap = &heap };
    gale_saver to = { &records, &pledges, "subject", 4, 0 };
    int rc = durable->save(self, &to);
    expect(rc != 0 || to.failed == 0);
    gx_pledges_fini(&pledges);
    gx_buf_fini(&records);
    return rc == 0;
}

static void run_spout(const gale_context *context, const gx_buf *records, bool follow) {
    gale_collector out = { &ops };
    gale_file_spout_options options = { .size = sizeof options, .path = in_path, .follow = follow };
    gale_spout spout;
    gale_wait wait = { 0, -1 };
    void *self;
    expect(gale_file_spout(&options, &spout, NULL) == 0);
    expect(spout.ops->open(spout.user, context, &out, &self) == 0);
    if (restore(spout.ops->durable, self, records, &out) == 0) {
        for (int i = 0; i < 20; i++) (void)spout.ops->next(self, &out, &wait);
        for (uint64_t id = 0; id < 20; id++) spout.ops->ack(self, id);
        expect(save(spout.ops->durable, self));
    }
    spout.ops->close(self);
    spout.free_user(spout.user);
}

static void run_sink(const gale_context *context, const gx_buf *records) {
    gale_collector out = { &ops };
    gale_file_sink_options options = { .size = sizeof options, .path = out_path };
    gale_bolt bolt;
    void *self;
    expect(gale_file_sink_bolt(&options, &bolt, NULL) == 0);
    expect(bolt.ops->prepare(bolt.user, context, &out, &self) == 0);
    int rc = restore(bolt.ops->durable, self, records, &out);
    expect(rc == 0 ? size_of(out_path) < (int64_t)sizeof content : size_of(out_path) == (int64_t)sizeof content - 1);
    int64_t has = size_of(out_path);
    if (rc == 0 && !save(bolt.ops->durable, self))
        expect(size_of(out_path) == has); /* no checkpoint has had it: refused */
    bolt.ops->cleanup(self);
    bolt.free_user(bolt.user);
}

static void name_paths(void) {
    if (*in_path) return;
    snprintf(in_path, sizeof in_path, "/tmp/gale_saved_fuzz_%ld.in", (long)getpid());
    snprintf(out_path, sizeof out_path, "/tmp/gale_saved_fuzz_%ld.out", (long)getpid());
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input in = { data, size };
    gx_heap heap;
    name_paths();
    put(in_path);
    put(out_path);
    gale_config *config = gale_config_new();
    gale_manual_clock *clock = gale_manual_clock_new(0);
    expect(config && clock);
    gale_context context = { .size = sizeof context,
                             .topology = "fuzz",
                             .component = "subject",
                             .task = 1,
                             .task_count = 1,
                             .config = config,
                             .allocator = &allocator,
                             .logger = &logger,
                             .clock = gale_manual_clock_handle(clock),
                             .random = no_chance,
                             .durable = true,
                             .resumes = true };
    gx_heap_init(&heap, &allocator);
    gx_buf records = GX_BUF_INIT(&heap);
    uint8_t which = fuzz_byte(&in) & 3;
    add_records(&in, &records);
    if (which & 1)
        run_sink(&context, &records);
    else
        run_spout(&context, &records, which == 2);
    gx_buf_fini(&records);
    gale_manual_clock_free(clock);
    gale_config_free(config);
    unlink(in_path);
    unlink(out_path);
    return 0;
}
