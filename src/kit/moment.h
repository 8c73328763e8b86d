/* Moments as text, in UTC or at an offset from it; without a locale and without a data base of time zones.
 *
 * A format has %Y %y %m %d %e %j %H %I %p %M %S %f %L %b %B %a %A %z %Z %s %F %T %%, as strftime has them; %f is a
 * fraction of six digits, %L of three.
 * Threads: any. Owner: values. */
#ifndef GX_KIT_MOMENT_H
#define GX_KIT_MOMENT_H

#include "base/str.h"
#include "kit/civil.h"

/* The years 0 to 9999. */
#define GX_MOMENT_FIRST (-INT64_C(62167219200))
#define GX_MOMENT_LAST INT64_C(253402300799)
enum { GX_MOMENT_TEXT = 16 /* a directive takes at most this many bytes */ };

typedef struct gx_moment {
    int64_t second; /* since 1970 */
    int32_t nano;
    bool is_fraction; /* it was written with one */
} gx_moment;

/* What a text that does not say it is taken to have. */
typedef struct gx_moment_base {
    int64_t year;
    int32_t ahead; /* seconds that the clock on the wall is ahead of UTC */
} gx_moment_base;

static const gx_moment_base gx_moment_1970 = { 1970, 0 };

/* RFC 3339 and the like: "2026-11-22T19:00:05.25+01:00"; the time, its seconds, their fraction and the offset may be
 * missing. */
bool gx_moment_read(gale_str text, const gx_moment_base *base, gx_moment *ret_moment);

/* By a format, of which '%' was looked at (gx_moment_flaw). A blank in it stands for blanks; what it does not have is
 * that of the base's year, and of 01-01T00:00:00. */
bool gx_moment_parse(gale_str text, gale_str format, const gx_moment_base *base, gx_moment *ret_moment);

/* All of the text is "Z", "+01:00", "+0100" or "+01". */
bool gx_moment_zone(gale_str text, int32_t *ret_ahead);

/* Numbers of which so many are a second (1, or 1000 for milliseconds), since 1970; as digits, perhaps with a sign and a
 * fraction, to the nanosecond. False: no number, or none of the years 0 to 9999. */
bool gx_moment_of_whole(int64_t number, int32_t a_second, gx_moment *ret_moment);
bool gx_moment_of_float(double number, int32_t a_second, gx_moment *ret_moment);
bool gx_moment_of_digits(gale_str text, int32_t a_second, gx_moment *ret_moment);

/* What follows the first '%' that no directive follows; 0: nothing is wrong, -1: the format ends with one. */
int gx_moment_flaw(gale_str format);

/* Does the format have digits that no one can tell apart, as "%s%f"? The first of them take all. */
bool gx_moment_is_ambiguous(gale_str format);

/* Writes what directive `c` says of a moment to `to` and returns its size. */
size_t gx_moment_write(const gx_moment *moment, char c, char to[GX_MOMENT_TEXT]);

/* 1: Sunday; 1: the first of January. */
int32_t gx_moment_weekday(const gx_moment *moment);
int32_t gx_moment_year_day(const gx_moment *moment);
gx_civil gx_moment_date(const gx_moment *moment);
int32_t gx_moment_of_day(const gx_moment *moment); /* seconds */

#endif
