/* The number of an emission (sim/oracle.h), which travels with its tuples: in one more field, behind the
 * component's; or, on a stream whose only field is GX_SIM_TOKEN, in that value, so that tuples of one value are
 * simulated, too. A token is a whole number from 0 to 2^32 - 1, or a text.
 * Threads: any. Owner: values are views. */
#ifndef GX_SIM_NUMBER_H
#define GX_SIM_NUMBER_H

#include "base/buf.h"
#include "topology/builder.h"

#define GX_SIM_TOKEN "gale.token"
#define GX_SIM_NUMBER "gale.emission" /* the field of the number */

/* Is the number in the value? */
bool gx_sim_number_is_folded(const gx_output *output);

/* Puts it into a token. `text` is where a text goes, and must live as long as the value. GALE_NO_MEMORY. */
int gx_sim_number_fold(gale_value *token, uint64_t number, gx_buf *text);

/* From the last value of a tuple. */
uint64_t gx_sim_number_read(bool folded, const gale_value *last);

/* The token without it. */
gale_value gx_sim_number_unfold(gale_value token);

#endif
