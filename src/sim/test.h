/* A test (gale_test.h) seen from inside: for who compares in ways of his own (cases/).
 * Threads: one. Owner: everything is the test's. */
#ifndef GX_SIM_TEST_H
#define GX_SIM_TEST_H

#include "sim/difference.h"
#include "sim/fed.h"
#include "sim/seen.h"

#include <gale_test.h>

/* The tuples of all fed components, by number; what was emitted, reported and logged. Everything has settled. */
const gx_feed *gx_test_feed(gale_test *test);
gx_seen *gx_test_seen(gale_test *test);

/* The component of the run with this name, or NULL: with a fed component's outputs, too. */
const gx_component *gx_test_component(const gale_test *test, const char *name);

/* Which of `tuples` are its to `stream` and were not looked at: their numbers in gx_seen, in an array of `*ret_count` to be freed.
 * NULL when memory is out. */
size_t *gx_test_new_tuples(gale_test *test, const gx_component *component, uint32_t stream, size_t *ret_count);

/* Where an open tuple is, in words; "" when nobody knows. */
const char *gx_test_where(gale_test *test, uint64_t number);

/* Has it ended by an error? Then its text, else NULL. */
const char *gx_test_fatal(const gale_test *test);

#endif
