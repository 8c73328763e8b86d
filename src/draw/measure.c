#include "draw/measure.h"

#include "base/visible.h"

#include <string.h>

/* In thousandths of the height. */
static int32_t width_of(const char *character, size_t size) {
    if ((unsigned char)character[0] >= 0x80) return gx_visible_columns(character, size) > 1 ? 1000 : 660;
    if (strchr("ijlI.,:;'|!", character[0])) return 335;
    if (strchr("frt()[]{}/-\" ", character[0])) return 410;
    if (strchr("mwMW@%", character[0])) return 980;
    return character[0] >= 'A' && character[0] <= 'Z' ? 720 : 625;
}

int32_t gx_measure(gale_str text, int32_t size, bool bold) {
    int64_t sum = 0;
    bool shows;
    for (size_t at = 0; at < text.size; at += gx_visible_step(text.data + at, text.size - at, &shows))
        sum += width_of(text.data + at, text.size - at);
    sum = sum * size * (bold ? 112 : 100) / 100000;
    return sum < INT32_MAX / 2 ? (int32_t)sum + 1 : INT32_MAX / 2;
}
