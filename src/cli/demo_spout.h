/* The demonstrations' source: lines of documents, paced and tracked; written as a user would write a spout.
 *
 * Threads: as for every spout; `document` may be read by any thread meanwhile.
 * Owner:   the options must outlive the topology.
 */
#ifndef GX_CLI_DEMO_SPOUT_H
#define GX_CLI_DEMO_SPOUT_H

#include "base/atomic.h"
#include "cli/documents.h"

#include <gale/component.h>

typedef struct gx_demo_source {
    const gx_documents *documents;
    uint64_t seed;
    double rate;          /* lines a second; 0: as fast as they are taken */
    bool repeat;          /* go round without end */
    gx_atomic64 document; /* the index of the one that is being read */
} gx_demo_source;

/* Output: (line). */
gale_spout gx_demo_spout(gx_demo_source *source);

#endif
