#include "connect/nats/place.h"

#include <string.h>

enum { NUMBERS = 5, SHORT_AT = 4, LONG_AT = 6, LEVELS = LONG_AT + NUMBERS, DIGITS = 19 };

static const char prefix[] = "$JS.ACK.";

/* A whole number that is a level. */
static bool read_number(const char *at, int64_t *ret_number) {
    uint64_t number = 0; /* so many digits fit */
    const char *digit = at;
    for (; *digit >= '0' && *digit <= '9' && digit - at < DIGITS; digit++)
        number = number * 10 + (uint64_t)(*digit - '0');
    if (digit == at || (*digit && *digit != '.') || number > INT64_MAX) return false;
    *ret_number = (int64_t)number;
    return true;
}

/* Where each of the first levels begins; how many there are, of these. */
static size_t split(const char *subject, const char *levels[LEVELS]) {
    size_t count = 0;
    while (count < LEVELS) {
        levels[count++] = subject;
        while (*subject && *subject != '.') subject++;
        if (!*subject++) break;
    }
    return count;
}

bool nats_place_read(const char *subject, nats_place *ret_place) {
    const char *levels[LEVELS];
    nats_place place;
    if (!subject || strncmp(subject, prefix, sizeof prefix - 1) != 0) return false;
    size_t count = split(subject, levels);
    if (count != LEVELS && count != SHORT_AT + NUMBERS) return false;
    const char **at = &levels[count - NUMBERS];
    bool is = read_number(at[0], &place.delivered) && read_number(at[1], &place.sequence) &&
              read_number(at[2], &place.number) && read_number(at[3], &place.time) &&
              read_number(at[4], &place.pending) && place.sequence > 0 && place.sequence < INT64_MAX;
    if (is) *ret_place = place;
    return is;
}
