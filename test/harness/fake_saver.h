/* Checkpoints without an engine: what a component saves is kept here, and given back to another instance of it. Threads:
 * one. Owner: the test; fake_saver_fini before fake_fini, which checks that all memory came back. */
#ifndef GALE_TEST_FAKE_SAVER_H
#define GALE_TEST_FAKE_SAVER_H

#include "harness/fake_collector.h"
#include "topology/saver.h"

typedef struct fake_saver {
    fake_collector *fake;
    gx_heap heap;
    gx_buf records;
    gx_pledges pledges;
    uint64_t checkpoint; /* the last one that was begun */
    uint32_t tasks;      /* that the component had then */
    bool is_end;         /* what restore is told of it */
    gale_error error;    /* of fake_prepare_pledges and the like */
} fake_saver;

void fake_saver_init(fake_saver *saver, fake_collector *fake);
void fake_saver_fini(fake_saver *saver);

/* `save`, for a checkpoint of its own; what was saved before is forgotten, and its pledges are dropped. Returns what the
 * first error was. */
int fake_save(fake_saver *saver, const gale_durable_ops *ops, void *self);

/* `restore`, with all that was saved, or with what a test has put into `records`. */
int fake_restore(fake_saver *saver, const gale_durable_ops *ops, void *self);

/* The committer's part: prepare, commit, drop. The error is in `error`. */
int fake_prepare_pledges(fake_saver *saver);
int fake_commit_pledges(fake_saver *saver);
void fake_drop_pledges(fake_saver *saver);

#endif
