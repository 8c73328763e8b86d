/* gale_test.h: a bolt, a spout or a whole topology under test. In libgale-sim, which needs libgale.
 *
 * What:    the engine's own executors run a topology on the thread of the caller and on a clock that moves only when it is told
 *          to, in an order drawn from a seed, with faults if wanted (docs/simulator.md). Spouts are replaced by ones that
 *          emit what they are fed; what components emit, and how each tuple that was fed was answered, is kept to be looked at.
 *          Whatever must be true of every run is looked after, too: a bug in gale ends the test with GALE_DAMAGED.
 *
 *              new -> (feed | advance | look)* -> finish (may be left out) -> look -> free
 *
 * Threads: one. Nothing is waited for: ten hours pass at once. A remote (gale/remote.h) is refused, GALE_UNSUPPORTED, since the
 *          calls of threads could not be repeated: let another bolt stand in for a component that needs one.
 * Owner:   the topology is borrowed and must outlive the test; bolts that stand in belong to the test, also when it cannot be
 *          made. Texts and values that are returned live until the next call for the test, unless it says otherwise.
 * Errors:  what a component ended the run with (an error from open, prepare or finish; gale_stop) is the code of the call in
 *          which that happened and of every later one that runs something. Functions that compare return NULL when all is as it
 *          is wanted, else a text for people that says what is not.
 * Version: a topology is opaque, so libgale must be of the very version that libgale-sim is (GALE_UNSUPPORTED).
 * Misuse:  every function checks. Without a test: GALE_INVALID, NULL, 0.
 */
#ifndef GALE_TEST_H
#define GALE_TEST_H

#include <gale/topology.h>

GALE_BEGIN

typedef struct gale_test gale_test;

/* What runs in a bolt's place. Without outputs it has those of the bolt. */
typedef struct gale_test_stand_in {
    const char *component;
    gale_bolt bolt;
} gale_test_stand_in;

/* `from`, a spout or bolt, is replaced by what it is fed, and that goes to `to` alone (and to those of its other edges). What no
 * stream reaches any more is left out. */
typedef struct gale_test_edge {
    const char *from, *to;
} gale_test_edge;

/* Zero means the default everywhere. Initialise with GALE_TEST_OPTIONS_INIT: without a `size` they are refused. */
typedef struct gale_test_options {
    size_t size;
    uint64_t seed;                       /* the same seed does the same again; default 1 */
    uint32_t executors;                  /* default: drawn from the seed, 1 to 8 */
    const char *faults;                  /* "fail=0.05,hold=0.1", as gale simulate --faults; default: none */
    const gale_logger *logger;           /* default: silence */
    const gale_test_stand_in *stand_ins; /* one a component */
    size_t stand_in_count;
    const gale_test_edge *edges;
    size_t edge_count;
    const char *const *kept; /* spouts that run as they are */
    size_t kept_count;
} gale_test_options;

#define GALE_TEST_OPTIONS_INIT                                                                                         \
    { sizeof(gale_test_options), 0, 0, NULL, NULL, NULL, 0, NULL, 0, NULL, 0 }

/* A stream that comes to a bolt under test: the component that it is from, and its fields, "word, count". */
typedef struct gale_test_input {
    const char *component;
    const char *stream; /* NULL: "default" */
    const char *fields;
} gale_test_input;

/* A test of a topology; `options` NULL: all defaults. GALE_NOT_FOUND with the nearest name for a component that is not there,
 * GALE_INVALID, what gale_topology_check says, GALE_TOO_LARGE for a topology that the simulator cannot take,
 * GALE_NO_MEMORY. */
GALE_API GALE_MUST_USE int gale_test_new(gale_topology *topology, const gale_test_options *options,
                                         gale_test **ret_test, gale_error *error);

/* A test of one bolt, which is called "bolt" and belongs to the test from now on, in one task. */
GALE_API GALE_MUST_USE int gale_test_new_for_bolt(gale_bolt bolt, const gale_test_input *inputs, size_t input_count,
                                                  const gale_test_options *options, gale_test **ret_test,
                                                  gale_error *error);

/* A test of one spout, which is called "spout" and belongs to the test from now on. What it emits goes to nobody, and is acked;
 * to fail some of it, make a topology with a bolt that does, and keep the spout in it (the option `kept`). */
GALE_API GALE_MUST_USE int gale_test_new_for_spout(gale_spout spout, const gale_test_options *options,
                                                   gale_test **ret_test, gale_error *error);

/* Ends it, in whatever state it is. NULL is allowed. */
GALE_API void gale_test_free(gale_test *test);

/* --- Doing -------------------------------------------------------------------------------------------------------- */

/* A tuple for the stream (NULL: "default") of a component that is fed. Copied; emitted with the next call that runs something
 * or looks, tracked. Returns its number: 0 for the first that is fed, and so on. GALE_NOT_FOUND, GALE_FIELDS (not as many
 * values as the stream has fields), GALE_INVALID, GALE_STATE (after finish), GALE_NO_MEMORY. */
GALE_API int64_t gale_test_feed(gale_test *test, const char *component, const char *stream, const gale_value *values,
                                size_t count, gale_error *error);

/* Lets everything run that can at this time. The functions that look do so by themselves. */
GALE_API int gale_test_settle(gale_test *test, gale_error *error);

/* Lets time pass: ticks, windows, timeouts and back-offs happen on the way, each at its moment. GALE_STATE after finish. */
GALE_API int gale_test_advance(gale_test *test, int64_t nanoseconds, gale_error *error);

/* The input ends: all is drained, bolts finish, everything is closed. Time passes as far as the drain needs it. Once only:
 * later calls do nothing. */
GALE_API int gale_test_finish(gale_test *test, gale_error *error);

/* The clock, from 0. */
GALE_API int64_t gale_test_now(const gale_test *test);

/* --- What was emitted --------------------------------------------------------------------------------------------- */

typedef enum gale_test_order {
    GALE_TEST_IN_ORDER,  /* these, in this order */
    GALE_TEST_ANY_ORDER, /* these, and nothing else */
    GALE_TEST_CONTAINS,  /* these, whatever else there is */
    GALE_TEST_ORDER_COUNT
} gale_test_order;

/* Compares what the component has emitted to the stream since it was last looked at with `rows` tuples of `count` values each,
 * one behind the other. Numbers are the same by their value, whole or not. With GALE_TEST_CONTAINS those that were wanted are
 * taken, else all are: the next look sees what comes later. NULL, or a text:
 *
 *     'count' did not emit to 'default' what is wanted, in any order
 *         expected      found
 *         ["the",2]     ["the",2]
 *       ~ ["cow",1]     ["cow",2]     count is 2, not 1
 *       - ["moon",1]                  missing
 */
GALE_API const char *gale_test_differs(gale_test *test, const char *component, const char *stream, int32_t order,
                                       const gale_value *values, size_t count, size_t rows);

/* Takes the oldest tuple that was not looked at; its values live until the test is freed. GALE_OK; GALE_NOT_FOUND: there is
 * none, or no such component or stream. */
GALE_API int gale_test_take(gale_test *test, const char *component, const char *stream, const gale_value **ret_values,
                            size_t *ret_count);

/* The n-th text, from 0, that the component has reported (gale_report), or NULL. */
GALE_API const char *gale_test_report(gale_test *test, const char *component, size_t n);

/* --- What became of a tuple that was fed -------------------------------------------------------------------------- */

typedef enum gale_test_state {
    GALE_TEST_WAITS, /* its spout has not emitted it: it may not (topology.max.spout.pending), or cannot yet */
    GALE_TEST_OPEN,
    GALE_TEST_ACKED,
    GALE_TEST_FAILED,
    GALE_TEST_STATE_COUNT
} gale_test_state;

typedef struct gale_test_answer {
    size_t size;
    int32_t state;         /* gale_test_state */
    int32_t reason;        /* gale_reason, of one that failed */
    uint32_t attempts;     /* how often it was emitted, of one that failed */
    bool final;            /* replay or dead letters are configured: it is given up */
    const char *component; /* where it failed, or waits; "": not known */
    const char *text;      /* of the failure; of an open one, where it is in words */
} gale_test_answer;

/* `ret_answer->size` is the caller's sizeof, or 0 for that of this header. GALE_NOT_FOUND for a number that was not fed. */
GALE_API int gale_test_answer_of(gale_test *test, uint64_t number, gale_test_answer *ret_answer);

/* NULL when every tuple that was fed has been acked; else which were not, and why or where they are. */
GALE_API const char *gale_test_not_acked(gale_test *test);

/* NULL when the tuple has failed for this reason, with this in its text (NULL: whatever it says); else what it did. */
GALE_API const char *gale_test_not_failed(gale_test *test, uint64_t number, int32_t reason, const char *text);

GALE_END

#endif
