#include "words.h"

#include <ctype.h>

/* It is simple: gale acks the line when this returns 0, fails it otherwise, and the words become part of the line's tree. */
static int split(void *self, const gale_tuple *line, gale_collector *out) {
    (void)self;
    gale_value text = gale_tuple_value(line, 0);
    char word[64];
    size_t size = 0;
    for (size_t i = 0; i <= text.size; i++) {
        char c = i < text.size ? text.as.string[i] : ' ';
        if (isalpha((unsigned char)c) && size < sizeof word) {
            word[size++] = (char)tolower((unsigned char)c);
            continue;
        }
        gale_value value = gale_string(word, size);
        int code = size ? gale_emit(out, 0, &value, 1) : 0;
        if (code < 0) return code;
        size = 0;
    }
    return 0;
}

gale_bolt words_bolt(void) {
    static const gale_bolt_ops ops = {
        .size = sizeof ops, .name = "words", .kind = GALE_BOLT_SIMPLE, .execute = split
    };
    static const gale_output words = { NULL, "word" };
    return (gale_bolt){ .size = sizeof(gale_bolt), .ops = &ops, .outputs = &words, .output_count = 1 };
}
