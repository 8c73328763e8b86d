/* A case as it is read from a file: its steps, and the bolts that are replaced.
 *
 * Owner:   all of it lives as long as the document that it was read from.
 */
#ifndef GX_CASES_CASE_H
#define GX_CASES_CASE_H

#include "cases/rows.h"

#include <gale_test.h>

typedef enum gx_step_kind {
    GX_STEP_FEED,
    GX_STEP_ADVANCE,
    GX_STEP_FINISH,
    GX_STEP_EXPECT,
    GX_STEP_ACKED,
    GX_STEP_FAILED,
    GX_STEP_OPEN,
    GX_STEP_LETTERS,
    GX_STEP_REPORTS,
    GX_STEP_LOGS,
    GX_STEP_FILE,
    GX_STEP_STOPPED,
    GX_STEP_KIND_COUNT
} gx_step_kind;

typedef struct gx_step {
    int32_t kind;
    const gx_yaml *node;  /* the step */
    const gx_yaml *id;    /* the value of its first word: the component, the file's path */
    const gx_yaml *to;    /* feed: the bolt, or NULL */
    const char *stream;   /* "default" */
    int64_t nanoseconds;  /* advance */
    int32_t order;        /* gale_test_order */
    int64_t count;        /* how many there are to be; -1: that is not said */
    bool all;             /* as many as were fed */
    bool of_spout;        /* is the component one? It emits what it is fed, and nothing else */
    gx_rows rows;         /* fed or wanted */
    const gx_yaml **from; /* where each wanted row stands */
} gx_step;

/* One thing that a mock may do with a tuple. */
typedef struct gx_mock_answer {
    const gx_yaml *node;
    gx_wanted_row when;       /* by the tuple's fields, or by `names` */
    const char *const *names; /* fields that `when` is about; NULL: all, in order */
    bool any;                 /* whatever comes */
    const char *fail, *reject;
    int64_t after; /* ns */
    uint32_t stream;
    gx_rows emits;
} gx_mock_answer;

typedef struct gx_mock {
    const gx_yaml *id;
    gx_mock_answer *answers;
    size_t count;
} gx_mock;

typedef struct gx_case {
    const gx_yaml *node, *name;
    int64_t seed, seeds, executors;
    const char *faults; /* or NULL */
    gx_mock *mocks;
    size_t mock_count;
    gx_step *steps;
    size_t step_count;
    gale_test_edge *edges; /* of what is fed straight into a bolt */
    size_t edge_count;
    const char **sets; /* "id.name=value": the file's and its own */
    size_t set_count;
} gx_case;

#endif
