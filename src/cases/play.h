/* One case, played with one seed on the simulator.
 *
 * What:    its topology is made anew, what its sinks write lies in a folder that is removed afterwards, and its steps are done one
 *          by one until one is not as it should be.
 * Threads: one. Owner: the file of cases is borrowed.
 */
#ifndef GX_CASES_PLAY_H
#define GX_CASES_PLAY_H

#include "cases/case_file.h"

/* True: all was as it should be. Else `out` got what was not, in lines that begin with the place. */
bool gx_case_play(const gx_case_file *file, const gx_case *of, uint64_t seed, gx_buf *out);

#endif
