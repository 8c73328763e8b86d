/* Three prices of assertion: GX_ASSERT stays on in every build (a crash that says where beats a wrong answer),
 * GX_CHECK is
 * for debug and sanitizer builds, GX_CHECK_WHOLE walks whole structures there when GALE_CHECKS is 2. They are for
 * gale's own bugs only: bad input never reaches one. */
#ifndef GX_BASE_ASSERT_H
#define GX_BASE_ASSERT_H

#include "base/port.h"

/* Prints where and what, and aborts. */
_Noreturn void gx_assert_failed(const char *file, int line, const char *what);

#define GX_ASSERT(what) (GX_LIKELY(what) ? (void)0 : gx_assert_failed(__FILE__, __LINE__, #what))

#if defined(GALE_CHECKS) && GALE_CHECKS >= 1
#define GX_CHECK(what) GX_ASSERT(what)
#else
#define GX_CHECK(what) ((void)sizeof(what))
#endif

#if defined(GALE_CHECKS) && GALE_CHECKS >= 2
#define GX_CHECK_WHOLE(what) GX_ASSERT(what)
#else
#define GX_CHECK_WHOLE(what) ((void)sizeof(what))
#endif

#endif
