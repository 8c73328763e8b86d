/* A bolt with canned answers, which stands in for a component of the topology.
 * Threads: one. Owner: the mock of the file of cases is borrowed; what the bolt holds is its own. */
#ifndef GX_CASES_MOCK_H
#define GX_CASES_MOCK_H

#include "cases/case_file.h"

/* It answers with the first answer that the tuple fits; a tuple that none fits fails, and is reported. */
gale_bolt gx_mock_bolt(const gx_mock *mock);

#endif
