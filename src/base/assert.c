#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn GX_COLD void gx_assert_failed(const char *file, int line, const char *what) {
    fprintf(stderr, "gale: a bug in gale at %s:%d: %s does not hold\n", file, line, what);
    abort();
}
