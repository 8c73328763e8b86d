/* Bytes, cut into words: those of a walk byte by byte. */
#include "fuzz.h"

#include "kit/cut.h"

static bool naive_next(gale_str *rest, gale_str *ret_word) {
    while (rest->size && gx_character_class_is_space((unsigned char)rest->data[0])) rest->data++, rest->size--;
    *ret_word = (gale_str){ rest->data, 0 };
    while (rest->size && !gx_character_class_is_space((unsigned char)rest->data[0]))
        rest->data++, rest->size--, ret_word->size++;
    return ret_word->size > 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    gale_str rest = { (const char *)data, size }, naive, word;
    gx_cut cut = gx_cut_begin(rest);
    while (naive_next(&rest, &naive)) {
        expect(gx_cut_next(&cut, &word));
        expect(word.data == naive.data && word.size == naive.size);
    }
    expect(!gx_cut_next(&cut, &word));
    return 0;
}
