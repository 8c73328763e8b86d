/* A text cut into words at white space (kit/character_class.h), which is looked for in 64 bytes at a time: what ends a word is
 * the lowest bit that is left, and no loop runs over its letters. Threads: one at a time. Owner: words borrow from the text,
 * which stays where it is until the last one. */
#ifndef GX_KIT_CUT_H
#define GX_KIT_CUT_H

#include "kit/character_class.h"

typedef struct gx_cut {
    gale_str text;
    size_t from;     /* behind the white byte that was found last */
    size_t block;    /* the 64 bytes that are looked at begin here */
    uint64_t spaces; /* of them, what is ahead */
} gx_cut;

GX_INLINE gx_cut gx_cut_begin(gale_str text) {
    return (gx_cut){ text, 0, 0, gx_character_class_spaces(text.data, text.size) };
}

/* The next word, which is not empty; false when there is none. */
GX_INLINE bool gx_cut_next(gx_cut *cut, gale_str *ret_word) {
    for (;;) {
        while (GX_UNLIKELY(!cut->spaces) && cut->block + 64 < cut->text.size) {
            cut->block += 64;
            cut->spaces = gx_character_class_spaces(cut->text.data + cut->block, cut->text.size - cut->block);
        }
        bool last = !cut->spaces;
        size_t from = cut->from, end = last ? cut->text.size : cut->block + (size_t)__builtin_ctzll(cut->spaces);
        cut->from = last ? end : end + 1;
        cut->spaces &= cut->spaces - 1;
        if (GX_LIKELY(end > from)) {
            *ret_word = (gale_str){ cut->text.data + from, end - from };
            return true;
        }
        if (last) return false;
    }
}

#endif
