#include "connect/nats/place.h"

#include <string.h>

enum { NUMBERS = 5, SHORT_AT = 4, LONG_AT = 6 };

static const char prefix[] = "$JS.ACK.";

/* A whole number between points; `*at` goes behind it. */
static bool take_number(const char **at, int64_t *ret_number) {
    int64_t number = 0;
    const char *digit = *at;
    for (; *digit >= '0' && *digit <= '9'; digit++) {
        if (number > (INT64_MAX - (*digit - '0')) / 10) return false;
        number = number * 10 + (*digit - '0');
    }
    if (digit == *at || (*digit && *digit != '.')) return false;
    *at = *digit ? digit + 1 : digit;
    *ret_number = number;
    return true;
}

static const char *skip(const char *at, size_t levels) {
    for (; at && levels; levels--) {
        at = strchr(at, '.');
        if (at) at++;
    }
    return at;
}

static size_t count_levels(const char *subject) {
    size_t count = 1;
    for (; *subject; subject++) count += *subject == '.';
    return count;
}

bool nats_place_read(const char *subject, nats_place *ret_place) {
    nats_place place;
    if (!subject || strncmp(subject, prefix, strlen(prefix)) != 0) return false;
    bool is_short = count_levels(subject) == SHORT_AT + NUMBERS;
    const char *at = skip(subject, is_short ? SHORT_AT : LONG_AT);
    bool is = at && take_number(&at, &place.delivered) && take_number(&at, &place.sequence) &&
              take_number(&at, &place.number) && take_number(&at, &place.time) && take_number(&at, &place.pending) &&
              place.sequence > 0 && place.sequence < INT64_MAX;
    if (is) *ret_place = place;
    return is;
}
