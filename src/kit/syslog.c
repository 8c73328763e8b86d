#include "kit/syslog.h"

enum { USER = 1, NOTICE = 5, PRI_MAX = 191, TAG_MAX = 48, ZONE_LEAST = 3, ZONE_MOST = 5, YEAR = 4 };

static bool starts(gale_str text, char c) {
    return text.size && text.data[0] == c;
}

static void pass(gale_str *text, size_t size) {
    text->data += size;
    text->size -= size;
}

static bool skip(gale_str *text, char c) {
    if (!starts(*text, c)) return false;
    pass(text, 1);
    return true;
}

/* What stands before the next blank, and that; all of it where there is none. */
static gale_str take_word(gale_str *rest) {
    const char *end = rest->size ? memchr(rest->data, ' ', rest->size) : NULL;
    gale_str word = { rest->data, end ? (size_t)(end - rest->data) : rest->size };
    pass(rest, word.size + (end != NULL));
    return word;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* --- PRI ---------------------------------------------------------------------------------------------------------- */

static bool take_pri(gale_str *rest, gx_syslog *m) {
    enum { MOST = 5 };
    const char *end = starts(*rest, '<') ? memchr(rest->data, '>', rest->size < MOST ? rest->size : MOST) : NULL;
    uint64_t number;
    if (!end || !gx_str_number((gale_str){ rest->data + 1, (size_t)(end - rest->data) - 1 }, 10, PRI_MAX, &number))
        return false;
    m->facility = (int32_t)(number / 8);
    m->severity = (int32_t)(number % 8);
    pass(rest, (size_t)(end - rest->data) + 1);
    return true;
}

/* --- RFC 5424 ----------------------------------------------------------------------------------------------------- */

/* A word that must be there; "-" is none. */
static bool take_named(gale_str *rest, gale_str *ret_word) {
    gale_str word = take_word(rest);
    *ret_word = word.size == 1 && *word.data == '-' ? (gale_str){ NULL, 0 } : word;
    return word.size > 0;
}

static bool take_time(gale_str *rest, gx_syslog *m) {
    gale_str word;
    if (!take_named(rest, &word)) return false;
    m->has_time = word.data != NULL;
    return !word.data || gx_moment_read(word, &gx_moment_1970, &m->time);
}

/* The size of a name that ends before one of `ends`. */
static size_t name_size(gale_str text, const char *ends) {
    size_t size = 0;
    while (size < text.size && text.data[size] > 32 && text.data[size] < 127 && !strchr(ends, text.data[size])) size++;
    return size;
}

/* Behind the quote that begins a value: how much of the text is before the one that ends it; SIZE_MAX: none does. */
static size_t value_size(gale_str text) {
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '\\')
            i++;
        else if (text.data[i] == '"')
            return i;
    }
    return SIZE_MAX;
}

bool gx_syslog_parameter(gale_str *parameters, gale_str *ret_name, gale_str *ret_value) {
    gale_str rest = *parameters;
    if (!skip(&rest, ' ')) return false;
    *ret_name = (gale_str){ rest.data, name_size(rest, "=\"]") };
    pass(&rest, ret_name->size);
    if (!ret_name->size || !skip(&rest, '=') || !skip(&rest, '"')) return false;
    *ret_value = (gale_str){ rest.data, value_size(rest) };
    if (ret_value->size == SIZE_MAX) return false;
    pass(&rest, ret_value->size + 1);
    *parameters = rest;
    return true;
}

bool gx_syslog_element(gale_str *data, gale_str *ret_id, gale_str *ret_parameters) {
    gale_str rest = *data, name, value;
    if (!skip(&rest, '[')) return false;
    *ret_id = (gale_str){ rest.data, name_size(rest, "=\"]") };
    pass(&rest, ret_id->size);
    gale_str begin = rest;
    while (gx_syslog_parameter(&rest, &name, &value)) continue;
    *ret_parameters = (gale_str){ begin.data, begin.size - rest.size };
    if (!ret_id->size || !skip(&rest, ']')) return false;
    *data = rest;
    return true;
}

static bool take_data(gale_str *rest, gx_syslog *m) {
    gale_str id, parameters, begin = *rest;
    if (skip(rest, '-')) return !rest->size || starts(*rest, ' ');
    while (gx_syslog_element(rest, &id, &parameters)) continue;
    m->data = (gale_str){ begin.data, begin.size - rest->size };
    return m->data.size && (!rest->size || starts(*rest, ' '));
}

static bool read_5424(gale_str rest, gx_syslog *m) {
    if (!take_time(&rest, m) || !take_named(&rest, &m->host) || !take_named(&rest, &m->app) ||
        !take_named(&rest, &m->procid) || !take_named(&rest, &m->msgid) || !take_data(&rest, m))
        return false;
    (void)skip(&rest, ' ');
    if (rest.size >= 3 && memcmp(rest.data, "\xef\xbb\xbf", 3) == 0) pass(&rest, 3);
    m->message = rest;
    m->form = GX_SYSLOG_5424;
    return true;
}

/* --- RFC 3164 ----------------------------------------------------------------------------------------------------- */

/* Four digits and what ends them. */
static bool take_year(gale_str *rest, gale_str *ret_year) {
    if (rest->size <= YEAR || (rest->data[YEAR] != ' ' && rest->data[YEAR] != ':')) return false;
    for (size_t i = 0; i < YEAR; i++)
        if (!is_digit(rest->data[i])) return false;
    *ret_year = (gale_str){ rest->data, YEAR };
    pass(rest, YEAR);
    return true;
}

/* "CST 1987" or "1987" behind the clock. Of zones UTC alone is known. */
static void take_year_behind(gale_str *rest, gale_str *ret_year) {
    gale_str at = *rest;
    size_t letters = 0;
    if (!skip(&at, ' ')) return;
    while (letters < at.size && at.data[letters] >= 'A' && at.data[letters] <= 'Z') letters++;
    if (letters >= ZONE_LEAST && letters <= ZONE_MOST && letters < at.size && at.data[letters] == ' ')
        pass(&at, letters + 1);
    if (take_year(&at, ret_year)) *rest = at;
}

/* "22:14:15", perhaps with a fraction. */
static bool take_clock(gale_str *rest, gale_str *ret_clock) {
    size_t size = 0;
    while (size < rest->size && (is_digit(rest->data[size]) || strchr(":.", rest->data[size]))) size++;
    while (size && !is_digit(rest->data[size - 1])) size--;
    *ret_clock = (gale_str){ rest->data, size };
    pass(rest, size);
    return size > 0;
}

/* The year is the one that brings the time nearest to now. */
static bool nearest_year(gale_str text, gale_str format, int64_t now, int32_t ahead, gx_moment *ret_moment) {
    gx_moment here = { .second = now }, moment;
    int64_t year = gx_moment_date(&here).year, best = INT64_MAX;
    for (gx_moment_base base = { year - 1, ahead }; base.year <= year + 1; base.year++) {
        if (!gx_moment_parse(text, format, &base, &moment)) continue;
        int64_t apart = moment.second > now ? moment.second - now : now - moment.second;
        if (apart < best) *ret_moment = moment;
        if (apart < best) best = apart;
    }
    return best != INT64_MAX;
}

/* Month and day, which are 6 bytes or, where a day has one digit and no blank before it, 5. */
static bool take_day(gale_str *rest, gale_str *ret_day) {
    size_t size = rest->size > 5 && rest->data[5] == ' ' && rest->data[4] != ' ' ? 5 : 6;
    if (rest->size <= size || rest->data[3] != ' ' || rest->data[size] != ' ') return false;
    *ret_day = (gale_str){ rest->data, size };
    pass(rest, size + 1);
    return true;
}

static bool take_old_time(gale_str *rest, int64_t now, int32_t ahead, gx_moment *ret_moment) {
    gale_str day, clock, year = { NULL, 0 };
    char text[64];
    if (!take_day(rest, &day)) return false;
    if (take_year(rest, &year) && !skip(rest, ' ')) return false;
    if (!take_clock(rest, &clock) || day.size + clock.size + YEAR + 3 > sizeof text) return false;
    if (!year.data) take_year_behind(rest, &year);
    memcpy(text, day.data, day.size);
    text[day.size] = ' ';
    memcpy(text + day.size + 1, clock.data, clock.size);
    size_t size = day.size + 1 + clock.size;
    bool fraction = memchr(clock.data, '.', clock.size);
    gale_str format = gx_str(fraction ? "%b %e %H:%M:%S.%f" : "%b %e %H:%M:%S");
    uint64_t number;
    if (!year.data) return nearest_year((gale_str){ text, size }, format, now, ahead, ret_moment);
    if (!gx_str_number(year, 10, 9999, &number)) return false;
    const gx_moment_base base = { (int64_t)number, ahead };
    return gx_moment_parse((gale_str){ text, size }, format, &base, ret_moment);
}

static bool take_new_time(gale_str *rest, int32_t ahead, gx_moment *ret_moment) {
    const gx_moment_base base = { 1970, ahead };
    gale_str word = take_word(rest);
    if (word.size && word.data[word.size - 1] == ':') word.size--;
    return word.size > 10 && gx_moment_read(word, &base, ret_moment); /* a date alone is none */
}

/* Behind it stands a blank, or a colon and a blank. */
static bool take_any_time(gale_str *rest, int64_t now, int32_t ahead, gx_syslog *m) {
    gale_str old = *rest, modern = *rest;
    if (starts(*rest, ' ')) return false;
    if (take_new_time(&modern, ahead, &m->time)) return *rest = modern, true;
    if (!take_old_time(&old, now, ahead, &m->time)) return false;
    (void)skip(&old, ':');
    if (old.size && !skip(&old, ' ')) return false;
    return *rest = old, true;
}

/* "su:", "su[230]:", "su[230]": false where none of them begins the text. */
static bool take_tag(gale_str *rest, gx_syslog *m) {
    gale_str at = *rest, procid = { NULL, 0 };
    gale_str app = { at.data, name_size((gale_str){ at.data, at.size < TAG_MAX ? at.size : TAG_MAX }, ":[") };
    pass(&at, app.size);
    if (!app.size || !(starts(at, ':') || starts(at, '['))) return false;
    if (skip(&at, '[')) {
        procid = (gale_str){ at.data, name_size(at, "]") };
        pass(&at, procid.size);
        if (!skip(&at, ']')) return false;
    }
    (void)skip(&at, ':');
    if (at.size && !skip(&at, ' ')) return false;
    m->app = app;
    if (procid.size) m->procid = procid;
    *rest = at;
    return true;
}

static void read_3164(gale_str rest, int64_t now, int32_t ahead, gx_syslog *m) {
    m->form = GX_SYSLOG_3164;
    m->has_time = take_any_time(&rest, now, ahead, m);
    if (m->has_time && !take_tag(&rest, m)) {
        gale_str host = take_word(&rest);
        if (host.size) m->host = host;
        (void)take_tag(&rest, m);
    }
    m->message = rest;
}

/* --- All ---------------------------------------------------------------------------------------------------------- */

void gx_syslog_read(gale_str text, int64_t now, int32_t ahead, gx_syslog *ret_message) {
    while (text.size &&
           (text.data[text.size - 1] == '\n' || text.data[text.size - 1] == '\r' || text.data[text.size - 1] == 0))
        text.size--;
    const gx_syslog none = { .facility = USER, .severity = NOTICE, .message = text };
    gx_syslog *m = ret_message;
    *m = none;
    if (!take_pri(&text, m)) return;
    if (text.size < 2 || memcmp(text.data, "1 ", 2) != 0) {
        read_3164(text, now, ahead, m);
        return;
    }
    gx_syslog before = *m;
    before.message = text;
    pass(&text, 2);
    if (!read_5424(text, m)) *m = before;
}

size_t gx_syslog_unescape(gale_str value, char *to) {
    size_t size = 0;
    for (size_t i = 0; i < value.size; i++) {
        char next = i + 1 < value.size ? value.data[i + 1] : 0;
        if (value.data[i] == '\\' && (next == '"' || next == '\\' || next == ']')) i++;
        to[size++] = value.data[i];
    }
    return size;
}

const char *gx_syslog_facility_name(int32_t facility) {
    static const char *const names[] = { "kern",   "user",   "mail",   "daemon", "auth",     "syslog",
                                         "lpr",    "news",   "uucp",   "cron",   "authpriv", "ftp",
                                         "ntp",    "audit",  "alert",  "clock",  "local0",   "local1",
                                         "local2", "local3", "local4", "local5", "local6",   "local7" };
    return names[facility];
}

const char *gx_syslog_severity_name(int32_t severity) {
    static const char *const names[] = { "emerg", "alert", "crit", "err", "warning", "notice", "info", "debug" };
    return names[severity];
}
