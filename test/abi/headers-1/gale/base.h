/* gale/base.h: the words every other public header uses.
 *
 * What:    version numbers, the marks of functions (exported, inline, must-use), a borrowed piece of text.
 * Threads: everything here may be called from any thread.
 * Misuse:  see docs/api/README.md; each header's head says what differs there.
 */
#ifndef GALE_BASE_H
#define GALE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GALE_VERSION_MAJOR 0
#define GALE_VERSION_MINOR 1
#define GALE_VERSION_PATCH 0
#define GALE_VERSION_TEXT "0.1.0"

#if defined(__GNUC__)
#define GALE_API __attribute__((visibility("default")))
#define GALE_MUST_USE __attribute__((warn_unused_result))
#define GALE_PRINTF(format_at, first_at) __attribute__((format(printf, format_at, first_at)))
#else
#define GALE_API
#define GALE_MUST_USE
#define GALE_PRINTF(format_at, first_at)
#endif

/* Marks a function that a header defines, so that it costs no call. Each C or C++ file that uses one has its own copy;
 * libgale exports one more under the same name, for languages that call functions but include no header. */
#ifndef GALE_INLINE
#define GALE_INLINE static inline
#endif

/* What hot inline functions are given is looked at in builds with GALE_CHECKS alone: a wrong one ends the process there,
 * and says where. */
#if defined(GALE_CHECKS) && GALE_CHECKS >= 1
#include <assert.h>
#define GALE_ASSERT(what) assert(what)
#else
#define GALE_ASSERT(what) ((void)0)
#endif

#ifdef __cplusplus
#define GALE_BEGIN extern "C" {
#define GALE_END }
#else
#define GALE_BEGIN
#define GALE_END
#endif

GALE_BEGIN

/* A borrowed piece of text. Not necessarily ended by a NUL; who lends it says for how long. */
typedef struct gale_str {
    const char *data;
    size_t size;
} gale_str;

/* The version of the library that is running, which may be newer than the header: "0.1.0". Static storage. */
GALE_API const char *gale_version(void);

GALE_END

#endif
