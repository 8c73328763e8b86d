#include "kit/syslog.h"

#include "base/encoding.h"

#include <stdio.h>

enum { USER = 1, NOTICE = 5, PRI_MAX = 191, TAG_MAX = 48, ZONE_LEAST = 3, ZONE_MOST = 5 };
enum { YEAR = 4, YEAR_FIRST = 1970, YEAR_LAST = 2199 };

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
    m->message = gx_encoding_text(rest);
    m->form = GX_SYSLOG_5424;
    return true;
}

/* --- RFC 3164 ----------------------------------------------------------------------------------------------------- */

/* Parts that may be missing stand before and behind the clock. Each is taken only where it is whole and what follows
 * fits it;
 * otherwise its bytes are left to what comes next: a host may begin with four digits, or be an address. */

static bool ends_word(gale_str text, size_t at) {
    return at == text.size || text.data[at] == ' ';
}

/* A colon, and a blank or the end behind it. */
static bool ends_with_colon(gale_str text, size_t at) {
    return at < text.size && text.data[at] == ':' && ends_word(text, at + 1);
}

/* The text begins with a year that a clock may have. */
static bool is_year(gale_str text) {
    uint64_t number = 0;
    return text.size >= YEAR && gx_str_number((gale_str){ text.data, YEAR }, 10, YEAR_LAST, &number) &&
           number >= YEAR_FIRST;
}

/* A name may have colons: it ends before a bracket, or the colon that ends its word. */
static gale_str tag_name(gale_str text) {
    size_t size = 0, most = text.size < TAG_MAX ? text.size : TAG_MAX;
    while (size < most && text.data[size] > 32 && text.data[size] < 127 && text.data[size] != '[' &&
           !ends_with_colon(text, size))
        size++;
    return (gale_str){ text.data, size };
}

/* "su:", "su[230]:", "su[230]": false where none of them begins the text. "2001::" is an address. */
static bool take_tag(gale_str *rest, gx_syslog *m) {
    gale_str at = *rest, procid = { NULL, 0 }, app = tag_name(at);
    pass(&at, app.size);
    if (!app.size || app.data[0] == ':' || app.data[app.size - 1] == ':') return false;
    if (!starts(at, ':') && !starts(at, '[')) return false;
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

static bool is_tag(gale_str text) {
    gx_syslog ignored;
    return take_tag(&text, &ignored);
}

static bool is_host_and_tag(gale_str text) {
    return take_word(&text).size && is_tag(text);
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

/* What a time of RFC 3164 has beside day and clock. */
typedef struct old_time {
    gale_str day, year, clock; /* data NULL: none */
    bool is_front;             /* the year stands before the day, as some of Cisco's systems have it */
    int32_t ahead;
} old_time;

/* Names that are not a host's. Of the zones UTC alone is known; the others are passed over. */
static bool is_zone_name(gale_str word) {
    static const char names[] =
        " UTC GMT WET WEST CET CEST EET EEST MSK BST IST SAST EAT WAT CAT GST PKT ICT WIB SGT HKT "
        "JST KST AWST ACST ACDT AEST AEDT NZST NZDT EST EDT CST CDT MST MDT PST PDT AKST AKDT "
        "HST AST ADT NST NDT BRT ART CLT ";
    char padded[ZONE_MOST + 3];
    if (word.size < ZONE_LEAST || word.size > ZONE_MOST) return false;
    snprintf(padded, sizeof padded, " %.*s ", GX_STR(word));
    return strstr(names, padded);
}

/* 3 to 5 capital letters; 0: the text does not begin with so many. */
static size_t letters_size(gale_str text) {
    size_t size = 0;
    while (size < text.size && text.data[size] >= 'A' && text.data[size] <= 'Z') size++;
    return size >= ZONE_LEAST && size <= ZONE_MOST ? size : 0;
}

/* Behind the clock, at a blank: "+0100". */
static bool take_offset(gale_str *rest, old_time *t) {
    gale_str at = *rest;
    if (!skip(&at, ' ')) return false;
    size_t size = 0;
    while (!ends_word(at, size) && !ends_with_colon(at, size)) size++;
    if (!size || !gx_moment_zone((gale_str){ at.data, size }, &t->ahead)) return false;
    pass(&at, size);
    return *rest = at, true;
}

/* Behind the clock or a zone, at a blank: " 1987". Without a zone it may be a host: then no host follows it. */
static bool take_year_behind(gale_str *rest, bool zoned, old_time *t) {
    gale_str at = *rest;
    if (t->year.data || !skip(&at, ' ') || !is_year(at)) return false;
    gale_str year = { at.data, YEAR }, next = { at.data + YEAR, at.size - YEAR };
    bool colon = ends_with_colon(next, 0), blank = !colon && next.size && skip(&next, ' ');
    if (!colon && !(blank && (zoned || is_host_and_tag(next)))) return false;
    t->year = year;
    pass(&at, YEAR);
    return *rest = at, true;
}

/* Behind the clock, at a blank: " CST 1987", or " CET" alone. Of a name that is not known the year behind it says
 * that it is one. */
static bool take_zone(gale_str *rest, old_time *t) {
    gale_str at = *rest;
    if (!skip(&at, ' ')) return false;
    gale_str name = { at.data, letters_size(at) };
    bool known = is_zone_name(name);
    if (!name.size || !(ends_word(at, name.size) || (known && ends_with_colon(at, name.size)))) return false;
    pass(&at, name.size);
    if (!take_year_behind(&at, known, t) && !known) return false;
    if (gx_str_is(name, "UTC") || gx_str_is(name, "GMT")) t->ahead = 0;
    return *rest = at, true;
}

static bool read_old_time(const old_time *t, int64_t now, gx_moment *ret_moment) {
    char text[64];
    size_t size = t->day.size + 1 + t->clock.size;
    if (size > sizeof text) return false;
    memcpy(text, t->day.data, t->day.size);
    text[t->day.size] = ' ';
    memcpy(text + t->day.size + 1, t->clock.data, t->clock.size);
    bool fraction = memchr(t->clock.data, '.', t->clock.size);
    gale_str format = gx_str(fraction ? "%b %e %H:%M:%S.%f" : "%b %e %H:%M:%S"), all = { text, size };
    uint64_t number;
    if (!t->year.data) return nearest_year(all, format, now, t->ahead, ret_moment);
    if (!gx_str_number(t->year, 10, YEAR_LAST, &number)) return false;
    const gx_moment_base base = { (int64_t)number, t->ahead };
    return gx_moment_parse(all, format, &base, ret_moment);
}

/* Before the day, or behind it: "2026 ". */
static bool take_year_before(gale_str *rest, old_time *t) {
    if (t->year.data || !is_year(*rest) || rest->size == YEAR || rest->data[YEAR] != ' ') return false;
    t->year = (gale_str){ rest->data, YEAR };
    pass(rest, YEAR + 1);
    return true;
}

static bool take_old_time(gale_str *rest, int64_t now, int32_t ahead, gx_moment *ret_moment) {
    old_time t = { .ahead = ahead };
    t.is_front = take_year_before(rest, &t);
    if (!take_day(rest, &t.day)) return false;
    (void)take_year_before(rest, &t);
    if (!take_clock(rest, &t.clock)) return false;
    if (!take_offset(rest, &t) && !take_zone(rest, &t)) (void)take_year_behind(rest, false, &t);
    return (!t.is_front || ends_with_colon(*rest, 0)) && read_old_time(&t, now, ret_moment);
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

/* "000045: " before the time, "rtr1: " behind that, and '*' or '.' at the time (a clock that is not set, or was):
 * IOS. */
static bool take_cisco_time(gale_str *rest, int64_t now, int32_t ahead, gx_syslog *m) {
    gale_str at = *rest, host = { NULL, 0 };
    size_t size = 0;
    while (size < at.size && is_digit(at.data[size])) size++;
    bool counted = ends_with_colon(at, size);
    if (counted) pass(&at, size + 1 + (size + 1 < at.size));
    if (counted && take_any_time(&at, now, ahead, m)) return *rest = at, true;
    size = name_size(at, ":");
    if (counted && size && ends_with_colon(at, size)) {
        host = (gale_str){ at.data, size };
        pass(&at, size + 1 + (size + 1 < at.size));
    }
    if (!skip(&at, '*') && !skip(&at, '.') && !host.data) return false;
    if (!take_any_time(&at, now, ahead, m)) return false;
    m->host = host;
    return *rest = at, true;
}

static void read_3164(gale_str rest, int64_t now, int32_t ahead, gx_syslog *m) {
    m->form = GX_SYSLOG_3164;
    m->has_time = take_any_time(&rest, now, ahead, m) || take_cisco_time(&rest, now, ahead, m);
    if (m->has_time && !take_tag(&rest, m) && !m->host.data) {
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
