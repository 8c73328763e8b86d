#include "kit/moment.h"

#include <stdio.h>

static const char *const months[] = { "January", "February", "March",     "April",   "May",      "June",
                                      "July",    "August",   "September", "October", "November", "December" };
static const char *const weekdays[] = { "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday" };
static const char directives[] = "YymdejHIpMSfLbBaAzZsFT%";

enum { SHORT_NAME = 3, DAY = 86400, SECOND = 1000000000 /* nanoseconds */ };

/* Digits that end only where no digit follows. */
static bool is_open_ended(char directive) {
    return directive == 's' || directive == 'f' || directive == 'L';
}

bool gx_moment_is_ambiguous(gale_str format) {
    for (size_t i = 0; i + 1 < format.size; i++) {
        if (format.data[i] != '%') continue;
        if (!is_open_ended(format.data[++i]) || i + 1 == format.size) continue;
        char next = format.data[i + 1];
        bool digits = next >= '0' && next <= '9';
        if (digits || (next == '%' && i + 2 < format.size && strchr("YymdjHIMSfLsFT", format.data[i + 2]))) return true;
    }
    return false;
}

int gx_moment_flaw(gale_str format) {
    for (size_t i = 0; i < format.size; i++) {
        if (format.data[i] != '%') continue;
        if (++i == format.size) return -1;
        if (!format.data[i] || !strchr(directives, format.data[i])) return (unsigned char)format.data[i];
    }
    return 0;
}

/* --- Reading --- */

typedef struct parts {
    gale_str rest;
    int64_t year, month, day, hour, minute, second, year_day, ahead, since;
    int64_t nano;
    bool is_fraction, is_since, is_negative, is_afternoon, is_half, is_twelve;
} parts;

static bool skip(parts *p, char c) {
    if (!p->rest.size || p->rest.data[0] != c) return false;
    p->rest.data++, p->rest.size--;
    return true;
}

/* At least `least` digits, of which `most` are taken. */
static bool digits(parts *p, size_t least, size_t most, int64_t *ret_number) {
    int64_t number = 0;
    size_t count = 0;
    for (; count < most && count < p->rest.size; count++) {
        char c = p->rest.data[count];
        if (c < '0' || c > '9') break;
        number = 10 * number + (c - '0');
    }
    if (count < least) return false;
    p->rest.data += count, p->rest.size -= count;
    *ret_number = number;
    return true;
}

/* All digits of a fraction, of which nine count. */
static bool fraction(parts *p) {
    int64_t digit, scale = 100000000;
    if (!p->rest.size || p->rest.data[0] < '0' || p->rest.data[0] > '9') return false;
    for (p->nano = 0; digits(p, 1, 1, &digit); scale /= 10) p->nano += scale * digit;
    return p->is_fraction = true;
}

static bool skip_word(parts *p, gale_str word) {
    if (p->rest.size < word.size) return false;
    for (size_t i = 0; i < word.size; i++)
        if ((p->rest.data[i] ^ word.data[i]) & ~0x20) return false;
    p->rest.data += word.size, p->rest.size -= word.size;
    return true;
}

/* A name, whole or its first three letters; ASCII's letters alone, of either case. */
static bool name(parts *p, const char *const *names, int64_t count, int64_t *ret_number) {
    for (int64_t i = 0; i < count; i++) {
        if (!skip_word(p, gx_str(names[i])) && !skip_word(p, (gale_str){ names[i], SHORT_NAME })) continue;
        *ret_number = i + 1;
        return true;
    }
    return false;
}

/* "Z", "+01:00", "+0100", "+01": how far the clock on the wall is ahead of UTC. */
static bool zone(parts *p) {
    int64_t hours, minutes = 0;
    p->ahead = 0;
    if (skip_word(p, gx_str("Z"))) return true;
    bool behind = skip(p, '-');
    if ((!behind && !skip(p, '+')) || !digits(p, 2, 2, &hours)) return false;
    bool colon = skip(p, ':');
    if (!digits(p, 2, 2, &minutes) && colon) return false;
    if (hours > 23 || minutes > 59) return false;
    p->ahead = (behind ? -1 : 1) * (3600 * hours + 60 * minutes);
    return true;
}

static bool half(parts *p) {
    p->is_half = true;
    p->is_afternoon = skip_word(p, gx_str("PM"));
    return p->is_afternoon || skip_word(p, gx_str("AM"));
}

static bool since(parts *p) {
    p->is_negative = skip(p, '-');
    return p->is_since = digits(p, 1, 12, &p->since);
}

static bool short_year(parts *p) {
    if (!digits(p, 2, 2, &p->year)) return false;
    p->year += p->year < 69 ? 2000 : 1900;
    return true;
}

static bool date(parts *p) {
    return digits(p, 4, 4, &p->year) && skip(p, '-') && digits(p, 2, 2, &p->month) && skip(p, '-') &&
           digits(p, 2, 2, &p->day);
}

static bool directive(parts *p, char c) {
    int64_t ignored;
    switch (c) {
    case 'Y': return digits(p, 4, 4, &p->year);
    case 'y': return short_year(p);
    case 'm': return digits(p, 1, 2, &p->month);
    case 'e': skip(p, ' '); return digits(p, 1, 2, &p->day);
    case 'd': return digits(p, 1, 2, &p->day);
    case 'j': return digits(p, 1, 3, &p->year_day) && p->year_day > 0;
    case 'H': return digits(p, 1, 2, &p->hour);
    case 'I': p->is_twelve = true; return digits(p, 1, 2, &p->hour) && p->hour > 0 && p->hour <= 12;
    case 'p': return half(p);
    case 'M': return digits(p, 1, 2, &p->minute);
    case 'S': return digits(p, 1, 2, &p->second);
    case 'f':
    case 'L': return fraction(p);
    case 'b':
    case 'B': return name(p, months, 12, &p->month);
    case 'a':
    case 'A': return name(p, weekdays, 7, &ignored);
    case 'z': return zone(p);
    case 'Z':
        p->ahead = 0;
        return skip_word(p, gx_str("UTC")) || skip_word(p, gx_str("GMT")) || skip_word(p, gx_str("Z"));
    case 's': return since(p);
    case 'F': return date(p);
    case 'T':
        return digits(p, 2, 2, &p->hour) && skip(p, ':') && digits(p, 2, 2, &p->minute) && skip(p, ':') &&
               digits(p, 2, 2, &p->second);
    default: return skip(p, c);
    }
}

/* The sign stands before the seconds, and is that of the fraction, too. */
static int64_t signed_since(parts *p) {
    if (!p->is_negative) return p->since;
    if (!p->nano) return -p->since;
    p->nano = SECOND - p->nano;
    return -p->since - 1;
}

/* 12 is the first hour of its half; without a half it is the morning's, as strptime has it. An hour of 24 says its
 * half itself. */
static bool settle_half(parts *p) {
    if (p->is_twelve) p->hour = p->hour % 12 + (p->is_afternoon ? 12 : 0);
    return p->is_twelve || !p->is_half || p->is_afternoon == (p->hour >= 12);
}

/* The 60th second is the first of the next minute. */
static bool put_together(parts *p, gx_moment *ret_moment) {
    if (!settle_half(p)) return false;
    if (p->month < 1 || p->month > 12 || p->hour > 23 || p->minute > 59 || p->second > 60) return false;
    if (p->day < 1 || p->day > gx_civil_month_days(p->year, (int32_t)p->month)) return false;
    int64_t days = gx_civil_days((gx_civil){ p->year, (int32_t)p->month, (int32_t)p->day });
    if (p->year_day) {
        if (p->year_day > 337 + gx_civil_month_days(p->year, 2)) return false;
        days = gx_civil_days((gx_civil){ p->year, 1, 1 }) + p->year_day - 1;
    }
    int64_t second = days * DAY + p->hour * 3600 + p->minute * 60 + p->second - p->ahead;
    if (p->is_since) second = signed_since(p);
    *ret_moment = (gx_moment){ second, (int32_t)p->nano, p->is_fraction };
    return second >= GX_MOMENT_FIRST && second <= GX_MOMENT_LAST;
}

static bool is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool blanks(parts *p) {
    size_t before = p->rest.size;
    while (p->rest.size && is_blank(p->rest.data[0])) p->rest.data++, p->rest.size--;
    return p->rest.size < before;
}

bool gx_moment_parse(gale_str text, gale_str format, const gx_moment_base *base, gx_moment *ret_moment) {
    parts p = { .rest = text, .year = base->year, .month = 1, .day = 1, .ahead = base->ahead };
    for (size_t i = 0; i < format.size; i++) {
        char c = format.data[i];
        bool is = c == '%' ? directive(&p, format.data[++i]) : is_blank(c) ? blanks(&p) : skip(&p, c);
        if (!is) return false;
    }
    return !p.rest.size && put_together(&p, ret_moment);
}

bool gx_moment_zone(gale_str text, int32_t *ret_ahead) {
    parts p = { .rest = text };
    if (!zone(&p) || p.rest.size) return false;
    *ret_ahead = (int32_t)p.ahead;
    return true;
}

bool gx_moment_read(gale_str text, const gx_moment_base *base, gx_moment *ret_moment) {
    parts p = { .rest = text, .ahead = base->ahead };
    if (!date(&p)) return false;
    if (p.rest.size) {
        if (!skip(&p, 'T') && !skip(&p, 't') && !skip(&p, ' ')) return false;
        if (!digits(&p, 2, 2, &p.hour) || !skip(&p, ':') || !digits(&p, 2, 2, &p.minute)) return false;
        if (skip(&p, ':') && !digits(&p, 2, 2, &p.second)) return false;
        if ((skip(&p, '.') || skip(&p, ',')) && !fraction(&p)) return false;
        if (p.rest.size && !zone(&p)) return false;
    }
    return !p.rest.size && put_together(&p, ret_moment);
}

/* --- Numbers --- */

static bool in_range(const gx_moment *moment) {
    return moment->second >= GX_MOMENT_FIRST && moment->second <= GX_MOMENT_LAST;
}

bool gx_moment_of_whole(int64_t number, int32_t a_second, gx_moment *ret_moment) {
    int64_t rest = number % a_second, second = number / a_second - (rest < 0);
    if (rest < 0) rest += a_second;
    *ret_moment = (gx_moment){ .second = second, .nano = (int32_t)rest * (SECOND / a_second) };
    return in_range(ret_moment);
}

bool gx_moment_of_float(double number, int32_t a_second, gx_moment *ret_moment) {
    double seconds = number / a_second;
    if (!(seconds >= (double)GX_MOMENT_FIRST && seconds < (double)GX_MOMENT_LAST + 1)) return false;
    int64_t second = (int64_t)seconds;
    second -= (double)second > seconds;
    double rest = (number - (double)second * a_second) * ((double)SECOND / a_second);
    int64_t nano = rest > 0 ? (int64_t)(rest + 0.5) : 0;
    *ret_moment = (gx_moment){ .second = second + nano / SECOND, .nano = (int32_t)(nano % SECOND) };
    return in_range(ret_moment);
}

/* What stands behind the point: `scale` nanoseconds are ten of the first digit's. */
static bool read_part(gale_str text, int64_t scale, gx_moment *moment) {
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') return false;
        moment->nano += (int32_t)((scale /= 10) * (text.data[i] - '0'));
    }
    return text.size > 0;
}

bool gx_moment_of_digits(gale_str text, int32_t a_second, gx_moment *ret_moment) {
    bool negative = text.size && text.data[0] == '-';
    if (negative) text.data++, text.size--;
    const char *point = text.size ? memchr(text.data, '.', text.size) : NULL;
    size_t size = point ? (size_t)(point - text.data) : text.size;
    uint64_t number;
    if (!gx_str_number((gale_str){ text.data, size }, 10, (uint64_t)INT64_MAX, &number)) return false;
    (void)gx_moment_of_whole((int64_t)number, a_second, ret_moment);
    if (point && !read_part((gale_str){ point + 1, text.size - size - 1 }, SECOND / a_second, ret_moment)) return false;
    bool part = ret_moment->nano > 0;
    if (negative)
        *ret_moment = (gx_moment){ .second = -ret_moment->second - part, .nano = part ? SECOND - ret_moment->nano : 0 };
    return in_range(ret_moment);
}

/* --- Writing --- */

static int64_t days_of(const gx_moment *moment) {
    return (moment->second - gx_moment_of_day(moment)) / DAY;
}

int32_t gx_moment_of_day(const gx_moment *moment) {
    int64_t rest = moment->second % DAY;
    return (int32_t)(rest < 0 ? rest + DAY : rest);
}

gx_civil gx_moment_date(const gx_moment *moment) {
    return gx_civil_of(days_of(moment));
}

int32_t gx_moment_weekday(const gx_moment *moment) {
    return (int32_t)((days_of(moment) % 7 + 11) % 7) + 1;
}

int32_t gx_moment_year_day(const gx_moment *moment) {
    int64_t first = gx_civil_days((gx_civil){ gx_moment_date(moment).year, 1, 1 });
    return (int32_t)(days_of(moment) - first) + 1;
}

static size_t write_number(char *to, const char *format, int64_t number) {
    return (size_t)snprintf(to, GX_MOMENT_TEXT, format, (int)number);
}

static size_t write_text(char *to, const char *text, size_t most) {
    size_t size = strlen(text);
    if (size > most) size = most;
    memcpy(to, text, size);
    return size;
}

static size_t write_date(const gx_moment *m, char c, char *to) {
    gx_civil date = gx_moment_date(m);
    const char *month = months[date.month - 1], *weekday = weekdays[gx_moment_weekday(m) - 1];
    switch (c) {
    case 'Y': return write_number(to, "%04d", date.year);
    case 'y': return write_number(to, "%02d", date.year % 100);
    case 'm': return write_number(to, "%02d", date.month);
    case 'd': return write_number(to, "%02d", date.day);
    case 'e': return write_number(to, "%2d", date.day);
    case 'j': return write_number(to, "%03d", gx_moment_year_day(m));
    case 'b': return write_text(to, month, SHORT_NAME);
    case 'B': return write_text(to, month, GX_MOMENT_TEXT);
    case 'a': return write_text(to, weekday, SHORT_NAME);
    case 'A': return write_text(to, weekday, GX_MOMENT_TEXT);
    default:
        return (size_t)snprintf(to, GX_MOMENT_TEXT, "%04d-%02d-%02d", (int)(date.year % 10000), (int)date.month,
                                (int)date.day);
    }
}

static size_t write_time(const gx_moment *m, char c, char *to) {
    int32_t of_day = gx_moment_of_day(m), hour = of_day / 3600, minute = of_day / 60 % 60, second = of_day % 60;
    switch (c) {
    case 'H': return write_number(to, "%02d", hour);
    case 'I': return write_number(to, "%02d", (hour + 11) % 12 + 1);
    case 'p': return write_text(to, hour < 12 ? "AM" : "PM", 2);
    case 'M': return write_number(to, "%02d", minute);
    case 'S': return write_number(to, "%02d", second);
    default: return (size_t)snprintf(to, GX_MOMENT_TEXT, "%02d:%02d:%02d", (int)hour, (int)minute, (int)second);
    }
}

size_t gx_moment_write(const gx_moment *moment, char c, char to[GX_MOMENT_TEXT]) {
    switch (c) {
    case '%': return write_text(to, "%", 1);
    case 'f': return write_number(to, "%06d", moment->nano / 1000);
    case 'L': return write_number(to, "%03d", moment->nano / 1000000);
    case 'z': return write_text(to, "+0000", 5);
    case 'Z': return write_text(to, "UTC", 3);
    case 's': return (size_t)snprintf(to, GX_MOMENT_TEXT, "%lld", (long long)moment->second);
    default: return strchr("HIpMST", c) ? write_time(moment, c, to) : write_date(moment, c, to);
    }
}
