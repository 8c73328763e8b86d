/* Steps of a case that hold whatever the topology does: a test that cannot fail.
 *
 * Threads: one at a time. Owner: keeps nothing.
 */
#ifndef GX_CASES_VACUOUS_H
#define GX_CASES_VACUOUS_H

#include "cases/case.h"

/* GALE_INVALID with the place of the first thing that is vacuous, what it lacks, and what to write. Its steps have been read without a
 * fault. */
int gx_vacuous_check(const gx_yaml_doc *doc, const gx_case *c, gale_error *error);

#endif
