#include "connect/kafka/moment.h"

#include <stddef.h>
#include <string.h>
#include <time.h>

static const int64_t minute_ms = 60 * 1000, hour_ms = 3600 * 1000, day_ms = 86400 * 1000;

/* --- Digits --------------------------------------------------------------------------------------------------------- */

/* So many digits exactly. */
static bool take_digits(const char **at, int digits, int64_t *ret_number) {
    int64_t number = 0;
    for (int i = 0; i < digits; i++, ++*at) {
        if (**at < '0' || **at > '9') return false;
        number = number * 10 + (**at - '0');
    }
    *ret_number = number;
    return true;
}

static bool take(const char **at, char c) {
    if (**at != c) return false;
    ++*at;
    return true;
}

/* --- Ages ------------------------------------------------------------------------------------------------------------ */

typedef struct unit {
    const char *name;
    int64_t ms;
} unit;

static const unit units[] = {
    { "ms", 1 }, { "s", 1000 }, { "m", 60 * 1000 }, { "h", 3600 * 1000 }, { "d", 86400 * 1000 },
};

/* The letters at `at` are a unit's: 0, they are not. */
static int64_t take_unit(const char **at) {
    size_t letters = strspn(*at, "dhms");
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strlen(units[i].name) != letters || memcmp(units[i].name, *at, letters) != 0) continue;
        *at += letters;
        return units[i].ms;
    }
    return 0;
}

static bool read_age(const char *at, int64_t *ret_ms) {
    int64_t ms = 0;
    do {
        int64_t number;
        int digits = (int)strspn(at, "0123456789");
        if (!digits || digits > 9 || !take_digits(&at, digits, &number)) return false;
        int64_t each = take_unit(&at);
        if (!each) return false;
        ms += number * each;
    } while (*at);
    *ret_ms = ms;
    return true;
}

/* --- Times ----------------------------------------------------------------------------------------------------------- */

static bool is_leap(int64_t year) {
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* Since 1970; -1: there is no such day. */
static int64_t days_of(int64_t year, int64_t month, int64_t day) {
    static const int before[] = { 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365 };
    if (year < 1970 || month < 1 || month > 12 || day < 1) return -1;
    int64_t leap = is_leap(year), last = before[month] - before[month - 1] + (month == 2 ? leap : 0);
    if (day > last) return -1;
    int64_t y = year - 1, leaps = y / 4 - y / 100 + y / 400 - (1969 / 4 - 1969 / 100 + 1969 / 400);
    return (year - 1970) * 365 + leaps + before[month - 1] + (month > 2 ? leap : 0) + day - 1;
}

static bool take_date(const char **at, int64_t *ms) {
    int64_t year, month, day;
    bool is = take_digits(at, 4, &year) && take(at, '-') && take_digits(at, 2, &month) && take(at, '-') &&
              take_digits(at, 2, &day);
    int64_t days = is ? days_of(year, month, day) : -1;
    *ms += days * day_ms;
    return days >= 0;
}

/* What is behind a second's point: the first three digits count. */
static int64_t take_fraction(const char **at) {
    int64_t ms = 0, weight = 100;
    for (; **at >= '0' && **at <= '9'; ++*at, weight /= 10) ms += (**at - '0') * weight;
    return ms;
}

static bool take_time(const char **at, int64_t *ms) {
    int64_t hours, minutes, seconds = 0;
    if (!take_digits(at, 2, &hours) || !take(at, ':') || !take_digits(at, 2, &minutes)) return false;
    if (take(at, ':') && !take_digits(at, 2, &seconds)) return false;
    *ms += hours * hour_ms + minutes * minute_ms + seconds * 1000;
    if (take(at, '.')) *ms += take_fraction(at);
    return hours < 24 && minutes < 60 && seconds < 61;
}

static bool take_zone(const char **at, int64_t *ms) {
    int64_t hours, minutes, sign = **at == '-' ? 1 : -1;
    if (!**at || take(at, 'Z')) return true;
    if (!take(at, '+') && !take(at, '-')) return false;
    if (!take_digits(at, 2, &hours) || !take(at, ':') || !take_digits(at, 2, &minutes)) return false;
    *ms += sign * (hours * hour_ms + minutes * minute_ms);
    return hours < 24 && minutes < 60;
}

static bool read_time(const char *at, int64_t *ret_ms) {
    int64_t ms = 0;
    if (!take_date(&at, &ms)) return false;
    if (*at && !((take(&at, 'T') || take(&at, ' ')) && take_time(&at, &ms) && take_zone(&at, &ms))) return false;
    *ret_ms = ms;
    return !*at && ms >= 0;
}

/* --- Both ------------------------------------------------------------------------------------------------------------ */

bool kafka_moment_read(const char *text, kafka_moment *ret_moment) {
    kafka_moment moment = { .ago = *text == '-' };
    bool is = moment.ago ? read_age(text + 1, &moment.ms) : read_time(text, &moment.ms);
    if (is) *ret_moment = moment;
    return is;
}

int64_t kafka_moment_now(void) {
    struct timespec now;
    (void)timespec_get(&now, TIME_UTC);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
