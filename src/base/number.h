/* Text to a number with a fraction, as it is written everywhere, whatever locale the application has chosen.
 * Threads: any. */
#ifndef GX_BASE_NUMBER_H
#define GX_BASE_NUMBER_H

#include "base/str.h"

enum { GX_NUMBER_SIZE = 400 }; /* longer ones are none; every double has a text that is shorter, to the last digit */

/* All of `text` is a whole number that fits: "-12", "+12", "007". */
bool gx_number_whole(gale_str text, int64_t *ret_number);

/* All of `text` is one: an optional sign, digits, of which one point may be anywhere, and an optional exponent. To the
 * nearest double; beyond the largest to an infinity. "inf", "nan" and hexadecimal are none. */
bool gx_number_read(gale_str text, double *ret_number);

#endif
