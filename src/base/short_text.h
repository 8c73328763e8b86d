/* Short text without a branch on its length. Words, names and ids have lengths that nobody can predict; a branch on one
 * costs more than all the rest of copying, hashing or comparing it. So 16 bytes are loaded, however long the text is,
 * and what lies behind its end is masked away.
 *
 * Why reading too far is safe: memory is protected by pages, of 4096 bytes or a multiple of them on x86-64 and arm64. If
 * the first byte may be read, so may all that lie on its page, and nothing happens when they are: a load changes
 * nothing, and what it brings of another's bytes is not looked at, so that it does not matter who writes them
 * meanwhile. Within 16 bytes of a page's end no more than the text is read. Compilers (gcc and clang) cannot see where
 * the pointer comes from: gx_short_hidden hides it, so that they draw no conclusions from the size of what it points to.
 *
 * Whoever watches single bytes sees too much in this, and so no byte beyond the text is read
 *     - when built with a sanitizer (address, thread, memory, hwaddress), for arm64's memory tagging, or for another
 *       machine than x86-64 and arm64: known when it is compiled (where only the system switches tagging on, say
 *       -DGX_SHORT_TEXT_CAREFUL=1);
 *     - under valgrind's memcheck, helgrind and drd: known when the program is loaded (base/short_text.c). */
#ifndef GX_BASE_SHORT_TEXT_H
#define GX_BASE_SHORT_TEXT_H

#include "base/bits.h"

enum { GX_SHORT_TEXT_MAX = 16, GX_SHORT_TEXT_PAGE = 4096 };

#ifndef GX_SHORT_TEXT_CAREFUL
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer) ||          \
    __has_feature(hwaddress_sanitizer)
#define GX_SHORT_TEXT_CAREFUL 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(__SANITIZE_HWADDRESS__) ||                \
    defined(__ARM_FEATURE_MEMORY_TAGGING) || !(defined(__x86_64__) || defined(__aarch64__))
#define GX_SHORT_TEXT_CAREFUL 1
#endif
#ifndef GX_SHORT_TEXT_CAREFUL
#define GX_SHORT_TEXT_CAREFUL 0
#endif
#endif

/* The first of 16 bytes that are read must lie on its page before this; 0: none may. Set when the program is loaded, and
 * never again; tests do. */
extern __attribute__((visibility("hidden"))) uint32_t gx_short_text_safe;

/* Does what the system was told to load first (LD_PRELOAD, may be NULL) look at single bytes? */
bool gx_short_text_is_watched(const char *preloaded);

/* Up to 16 bytes of text as two numbers, the first byte lowest; zeros behind them. Two texts are equal when these and
 * their sizes are. */
typedef struct gx_short_text {
    uint64_t low, high;
} gx_short_text;

/* Reads no byte beyond the text. */
gx_short_text gx_short_text_load_exactly(const void *text, size_t size);

/* May 16 bytes be read from here, if one may? */
GX_INLINE bool gx_short_text_may_read(const void *at) {
    if (GX_SHORT_TEXT_CAREFUL) return false;
    return GX_LIKELY((uint32_t)((uintptr_t)at & (GX_SHORT_TEXT_PAGE - 1)) < gx_short_text_safe);
}

/* The same, and it is not NULL; may also say no to what begins with its page. */
GX_INLINE bool gx_short_text_is_there(const void *at) {
    if (GX_SHORT_TEXT_CAREFUL) return false;
    return GX_LIKELY((((uintptr_t)at - 1) & (GX_SHORT_TEXT_PAGE - 1)) + 1 < gx_short_text_safe);
}

GX_INLINE const uint8_t *gx_short_hidden(const void *at) {
    __asm__("" : "+r"(at));
    return at;
}

/* Ones for the bytes of a text of this size, 0 to 16. */
GX_INLINE gx_short_text gx_short_text_mask(size_t size) {
    alignas(32) static const uint8_t ones[32] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                                  0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
    const uint8_t *at = ones + GX_SHORT_TEXT_MAX - size;
    return (gx_short_text){ gx_load64(at), gx_load64(at + 8) };
}

/* `size` is at most 16; 0 may be anywhere, also at NULL. */
GX_INLINE gx_short_text gx_short_text_load(const void *text, size_t size) {
    if (GX_UNLIKELY(!gx_short_text_may_read(text) || !size)) return gx_short_text_load_exactly(text, size);
    const uint8_t *at = gx_short_hidden(text);
    gx_short_text mask = gx_short_text_mask(size);
    return (gx_short_text){ gx_load64(at) & mask.low, gx_load64(at + 8) & mask.high };
}

/* Copies 16 bytes, of which `size` are the text's; the others are whatever they are. */
GX_INLINE void gx_short_text_copy_16(void *to, const void *from, size_t size) {
    if (GX_UNLIKELY(!gx_short_text_may_read(from) || !size)) {
        gx_short_text text = gx_short_text_load_exactly(from, size);
        memcpy(to, &text, sizeof text);
    } else {
        memcpy(to, gx_short_hidden(from), GX_SHORT_TEXT_MAX);
    }
}

/* Copies text of any size. Where it takes less than 16 bytes, 16 are written. */
GX_INLINE void gx_short_text_copy(void *to, const void *from, size_t size) {
    uint8_t *at = to;
    const uint8_t *text = from;
    if (GX_LIKELY(size <= 16)) {
        gx_short_text_copy_16(at, text, size);
    } else if (size <= 32) {
        memcpy(at, text, 16);
        memcpy(at + size - 16, text + size - 16, 16);
    } else {
        for (size_t i = 0; i < size - 32; i += 32) memcpy(at + i, text + i, 32);
        memcpy(at + size - 32, text + size - 32, 32);
    }
}

GX_INLINE bool gx_short_text_equal(gx_short_text a, gx_short_text b) {
    return !((a.low ^ b.low) | (a.high ^ b.high));
}

#endif
