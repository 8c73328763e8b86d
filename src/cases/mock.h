/* A bolt with canned answers, which stands in for a component of the topology.
 * Threads: one. Owner: the mock of the file of cases is borrowed; the bolt's own are its handles. */
#ifndef GX_CASES_MOCK_H
#define GX_CASES_MOCK_H

#include "cases/case_file.h"

/* It answers with the first answer that the tuple fits; a tuple that none fits fails, and is reported. GALE_NO_MEMORY. */
int gx_mock_bolt(const gx_mock *mock, gale_bolt *ret_bolt, gale_error *error);

#endif
