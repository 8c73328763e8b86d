/* Dates of the civil (proleptic Gregorian) calendar to days since 1970-01-01, and back. In whole numbers and without
 * tables, so that no time zone of the machine has a say (Howard Hinnant, "chrono-compatible low-level date algorithms",
 * 2021: years begin in March, and come in eras of 400 years). Threads: any. */
#ifndef GX_KIT_CIVIL_H
#define GX_KIT_CIVIL_H

#include "base/port.h"

typedef struct gx_civil {
    int64_t year;
    int32_t month; /* 1..12 */
    int32_t day;   /* 1..31 */
} gx_civil;

/* How many days a month has. */
GX_INLINE int32_t gx_civil_month_days(int64_t year, int32_t month) {
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return month == 2 ? 28 + leap : 30 + ((month + (month > 7)) & 1);
}

GX_INLINE int64_t gx_civil_days(gx_civil date) {
    int64_t year = date.year - (date.month <= 2);
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t year_of_era = year - era * 400;
    int64_t day_of_year = (153 * (date.month + (date.month > 2 ? -3 : 9)) + 2) / 5 + date.day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

GX_INLINE gx_civil gx_civil_of(int64_t days) {
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    int64_t day_of_era = days - era * 146097;
    int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int32_t month = (int32_t)((5 * day_of_year + 2) / 153); /* from March */
    gx_civil date = { .day = (int32_t)(day_of_year - (153 * month + 2) / 5 + 1),
                      .month = month < 10 ? month + 3 : month - 9 };
    date.year = year_of_era + era * 400 + (date.month <= 2);
    return date;
}

#endif
