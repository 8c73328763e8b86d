#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn GX_COLD void gx_assert_failed(const char *file, int line, const char *what) {
    fprintf(stderr, "gale: a bug in gale at %s:%d: %s does not hold\n", file, line, what);
    abort();
}

_Noreturn GX_COLD void gx_flaw_found(const char *file, int line, const char *flaw) {
    fprintf(stderr, "gale: a bug in gale, seen at %s:%d: %s\n", file, line, flaw);
    abort();
}
