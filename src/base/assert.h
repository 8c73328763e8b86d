/* Three prices of assertion: GX_ASSERT stays on in every build (a crash that says where beats a wrong answer),
 * GX_CHECK is for debug and sanitizer builds (GALE_CHECKS=1), GX_CHECK_WHOLE walks whole structures, in debug builds
 * (GALE_CHECKS=2): its argument says in words what does not hold, or is NULL. They are for gale's own bugs only: bad
 * input never reaches one. */
#ifndef GX_BASE_ASSERT_H
#define GX_BASE_ASSERT_H

#include "base/port.h"

/* Prints where and what, and aborts. */
_Noreturn void gx_assert_failed(const char *file, int line, const char *what);

/* The same, with what a walk found. */
_Noreturn void gx_flaw_found(const char *file, int line, const char *flaw);

#define GX_ASSERT(what) (GX_LIKELY(what) ? (void)0 : gx_assert_failed(__FILE__, __LINE__, #what))

#if defined(GALE_CHECKS) && GALE_CHECKS >= 1
#define GX_CHECK(what) GX_ASSERT(what)
#else
#define GX_CHECK(what) ((void)sizeof(what))
#endif

#if defined(GALE_CHECKS) && GALE_CHECKS >= 2
#define GX_CHECK_WHOLE(flaw)                                                                                           \
    do {                                                                                                               \
        const char *gx_found = (flaw);                                                                                 \
        if (gx_found) gx_flaw_found(__FILE__, __LINE__, gx_found);                                                     \
    } while (0)
#else
#define GX_CHECK_WHOLE(flaw) ((void)sizeof(flaw))
#endif

#endif
