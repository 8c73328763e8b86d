#include "harness/fake_saver.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

void fake_saver_init(fake_saver *saver, fake_collector *fake) {
    *saver = (fake_saver){ .fake = fake, .error = GALE_ERROR_INIT };
    gx_heap_init(&saver->heap, &fake->allocator);
    saver->records = (gx_buf)GX_BUF_INIT(&saver->heap);
    saver->pledges = (gx_pledges){ .heap = &saver->heap };
}

void fake_saver_fini(fake_saver *saver) {
    gx_pledges_fini(&saver->pledges);
    gx_buf_fini(&saver->records);
}

int fake_save(fake_saver *saver, const gale_durable_ops *ops, void *self) {
    gx_buf_reset(&saver->records);
    gx_pledges_drop(&saver->pledges);
    saver->tasks = saver->fake->context.task_count;
    gale_saver to = { &saver->records, &saver->pledges, saver->fake->context.component, ++saver->checkpoint, 0 };
    int rc = ops->save(self, &to);
    assert_true(saver->records.failed || gx_records_are_whole((gale_str){ saver->records.data, saver->records.size }));
    return to.failed ? to.failed : rc;
}

int fake_restore(fake_saver *saver, const gale_durable_ops *ops, void *self) {
    const gale_context *context = &saver->fake->context;
    gale_saved from = { .records = { saver->records.data, saver->records.size },
                        .heap = &saver->heap,
                        .checkpoint = saver->checkpoint,
                        .part = context->task_index,
                        .parts = saver->tasks,
                        .task_index = context->task_index,
                        .task_count = context->task_count,
                        .complete = saver->is_end };
    int rc = ops->restore(self, &from, &saver->fake->collector);
    gx_saved_fini(&from);
    return rc;
}

int fake_prepare_pledges(fake_saver *saver) {
    saver->error = (gale_error)GALE_ERROR_INIT;
    return gx_pledges_prepare(&saver->pledges, &saver->error);
}

int fake_commit_pledges(fake_saver *saver) {
    saver->error = (gale_error)GALE_ERROR_INIT;
    int rc = gx_pledges_commit(&saver->pledges, &saver->error);
    return rc < 0 ? rc : gx_pledges_keep(&saver->pledges, &saver->error);
}

void fake_drop_pledges(fake_saver *saver) {
    gx_pledges_drop(&saver->pledges);
}
