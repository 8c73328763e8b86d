/* Parameters of every source that cuts bytes into records: how long one may be, and what happens to one that is longer. */
#ifndef GX_FRONT_LONG_ROWS_H
#define GX_FRONT_LONG_ROWS_H

#include "front/table.h"

#define GX_LONGEST_ROW(fallback)                                                                                       \
    GX_ROW(BYTES, "longest", fallback, "how long a record may be", GX_RANGE(1, 67108864), .example = "64 KB")
#define GX_LONG_ROW                                                                                                    \
    GX_ROW(WORD, "tooLong", "cut", "what happens to a record that is longer; both are counted", .words = "cut drop")

#endif
