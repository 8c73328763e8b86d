#include "kit/log_line.h"

#include "kit/civil.h"

#include <gale/error.h>

enum { TIME_SIZE = 26, YEAR_DIGITS = 4 };

static bool digits(const char *at, size_t count, int64_t *ret_number) {
    int64_t number = 0;
    for (size_t i = 0; i < count; i++) {
        if (at[i] < '0' || at[i] > '9') return false;
        if (number > (INT64_MAX - 9) / 10) return false;
        number = 10 * number + (at[i] - '0');
    }
    *ret_number = number;
    return count > 0;
}

static bool skip(gale_str *rest, char byte) {
    if (!rest->size || rest->data[0] != byte) return false;
    rest->data++, rest->size--;
    return true;
}

/* Everything before the next blank, and the blank. */
static bool word(gale_str *rest, gale_str *ret_word) {
    const char *end = rest->size ? memchr(rest->data, ' ', rest->size) : NULL;
    if (!end || end == rest->data) return false;
    *ret_word = (gale_str){ rest->data, (size_t)(end - rest->data) };
    *rest = (gale_str){ end + 1, rest->size - ret_word->size - 1 };
    return true;
}

/* A user's name may hold blanks; it ends where " [" begins the time. nginx writes nothing for an empty one. */
static bool user_name(gale_str *rest, gale_str *ret_user) {
    for (size_t i = 0; i + 1 < rest->size; i++) {
        if (rest->data[i] != ' ' || rest->data[i + 1] != '[') continue;
        *ret_user = (gale_str){ rest->data, i };
        *rest = (gale_str){ rest->data + i + 2, rest->size - i - 2 };
        return true;
    }
    return false;
}

/* Numbers and dots, or hexadecimal digits and two colons or more: no name is made of these alone. */
static bool is_address(gale_str word) {
    size_t dots = 0, colons = 0;
    for (size_t i = 0; i < word.size; i++) {
        char c = word.data[i];
        dots += c == '.';
        colons += c == ':';
        if (!strchr(".:[]0123456789abcdefABCDEF", c)) return false;
    }
    return (dots == 3 && word.data[0] >= '0' && word.data[0] <= '9') || colons > 1;
}

static bool has(gale_str text, char c) {
    return text.size && memchr(text.data, c, text.size);
}

/* A word that no name is made of: something else stands before the time than host, identity and user. */
static bool has_stranger(gale_str user) {
    gale_str word;
    if (!has(user, ' ')) return false;
    while (gx_str_next(&user, ' ', &word))
        if (gx_str_is(word, "-") || is_address(word)) return true;
    return false;
}

/* Servers log words before the host, which would move each field to its neighbour: what is wrong, or NULL. */
static const char *shifted(const gx_log_line *line, gale_str ident) {
    if (has(line->host, ',') || has(ident, ','))
        return "there are several addresses in the place of the host, as X-Forwarded-For has them";
    if (is_address(ident))
        return "there is an address in the place of the identity: a virtual host, or another word, stands before it";
    if (has_stranger(line->user)) return "there are more words before the time than host, identity and user";
    if (has(line->host, ':') && !is_address(line->host) && has(line->user, ' '))
        return "there are more words before the time than host, identity and user: the first is a virtual host";
    return NULL;
}

static bool quoted(gale_str *rest, gale_str *ret_text) {
    if (!skip(rest, '"')) return false;
    for (size_t i = 0; i < rest->size; i++) {
        if (rest->data[i] == '\\') {
            i++;
        } else if (rest->data[i] == '"') {
            *ret_text = (gale_str){ rest->data, i };
            *rest = (gale_str){ rest->data + i + 1, rest->size - i - 1 };
            return true;
        }
    }
    return false;
}

static int32_t month_of(const char *name) {
    static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    for (int32_t i = 0; i < 12; i++) {
        if (memcmp(names + 3 * i, name, 3) == 0) return i + 1;
    }
    return 0;
}

/* "-0700": how far the clock on the wall is ahead of UTC. */
static bool zone(const char *at, int64_t *ret_seconds) {
    int64_t hours, minutes;
    if ((at[0] != '+' && at[0] != '-') || !digits(at + 1, 2, &hours) || !digits(at + 3, 2, &minutes)) return false;
    if (hours > 23 || minutes > 59) return false;
    *ret_seconds = (at[0] == '-' ? -1 : 1) * (3600 * hours + 60 * minutes);
    return true;
}

/* "10/Oct/2000:13:55:36 -0700]" */
static bool time_of(gale_str *rest, int64_t *ret_time) {
    static const char shape[] = "00/Mmm/0000:00:00:00 +0000]";
    static const uint8_t signs[] = { 2, 6, 11, 14, 17, 20, 26 };
    int64_t day, year, hour, minute, second, ahead;
    const char *at = rest->data;
    if (rest->size < sizeof shape - 1) return false;
    for (size_t i = 0; i < sizeof signs; i++)
        if (at[signs[i]] != shape[signs[i]]) return false;
    int32_t month = month_of(at + 3);
    bool ok = month && digits(at, 2, &day) && digits(at + 7, YEAR_DIGITS, &year) && digits(at + 12, 2, &hour) &&
              digits(at + 15, 2, &minute) && digits(at + 18, 2, &second) && zone(at + 21, &ahead);
    if (!ok || day < 1 || day > gx_civil_month_days(year, month) || hour > 23 || minute > 59 || second > 60)
        return false;
    int64_t days = gx_civil_days((gx_civil){ year, month, (int32_t)day });
    *ret_time = days * 86400 + hour * 3600 + minute * 60 + second - ahead;
    *rest = (gale_str){ at + TIME_SIZE + 1, rest->size - TIME_SIZE - 1 };
    return true;
}

/* The last piece of a line of the Common Log Format is the bytes, so that no blank need follow. */
static bool byte_count(gale_str *rest, int64_t *ret_bytes) {
    const char *end = rest->size ? memchr(rest->data, ' ', rest->size) : NULL;
    size_t size = end ? (size_t)(end - rest->data) : rest->size;
    if (size == 1 && rest->data[0] == '-') {
        *ret_bytes = 0;
    } else if (!digits(rest->data, size, ret_bytes)) {
        return false;
    }
    *rest = (gale_str){ rest->data + size, rest->size - size };
    return true;
}

static gale_str unless_dash(gale_str piece) {
    return gx_str_is(piece, "-") ? (gale_str){ NULL, 0 } : piece;
}

/* Apache writes "-" for no user, and "\"\"" for an empty name. */
static gale_str unless_empty(gale_str user) {
    return gx_str_is(user, "\"\"") ? (gale_str){ user.data, 0 } : unless_dash(user);
}

/* What only the Combined Log Format has. */
static const char *combined(gale_str rest, gx_log_line *line) {
    if (rest.size == 0 || (rest.size == 1 && rest.data[0] == ' ')) return NULL;
    if (!skip(&rest, ' ') || !quoted(&rest, &line->referer)) return "the referer is not in quotes";
    if (!skip(&rest, ' ') || !quoted(&rest, &line->agent)) return "the agent is not in quotes";
    if (rest.size && rest.data[0] != ' ') return "something follows the agent at once";
    return NULL;
}

static bool is_of_method(char c) {
    return (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
}

/* Takes " HTTP/1.1" from the end; false when other words are there, so that it is no request. */
static bool take_protocol(gale_str *rest, gale_str *ret_protocol) {
    static const char begin[] = "HTTP/";
    size_t at = rest->size;
    while (at && rest->data[at - 1] != ' ') at--;
    if (!at) return true;
    gale_str last = { rest->data + at, rest->size - at };
    if (last.size < sizeof begin || memcmp(last.data, begin, sizeof begin - 1) != 0) return false;
    *ret_protocol = last;
    rest->size = at - 1;
    return true;
}

/* "GET /path?query HTTP/1.1": blanks in the middle are the path's or the query's. */
static void request_of(gx_log_line *line) {
    gale_str rest = line->request, protocol = { NULL, 0 };
    size_t size = 0;
    while (size < rest.size && is_of_method(rest.data[size])) size++;
    gale_str method = { rest.data, size };
    if (!size || size == rest.size || rest.data[size] != ' ') return;
    rest = (gale_str){ rest.data + size + 1, rest.size - size - 1 };
    if (!take_protocol(&rest, &protocol) || !rest.size) return;
    const char *mark = memchr(rest.data, '?', rest.size);
    size_t path = mark ? (size_t)(mark - rest.data) : rest.size;
    line->method = method;
    line->path = (gale_str){ rest.data, path };
    line->query = mark ? (gale_str){ mark + 1, rest.size - path - 1 } : (gale_str){ NULL, 0 };
    line->protocol = protocol;
}

static const char *parse(gale_str rest, gx_log_line *line) {
    gale_str ident, status;
    const char *problem;
    if (!word(&rest, &line->host)) return "there is no host";
    if (!word(&rest, &ident)) return "there is no identity";
    if (!user_name(&rest, &line->user)) return "there is no user before a time in brackets";
    if ((problem = shifted(line, ident))) return problem;
    if (!time_of(&rest, &line->time)) return "the time is not [dd/Mon/yyyy:hh:mm:ss +hhmm]";
    if (!skip(&rest, ' ') || !quoted(&rest, &line->request)) return "the request is not in quotes";
    if (!skip(&rest, ' ') || !word(&rest, &status) || status.size != 3 || !digits(status.data, 3, &line->status))
        return "the status is not of three digits";
    if (!byte_count(&rest, &line->bytes)) return "the size is neither a number nor -";
    return combined(rest, line);
}

int gx_log_line_parse(gale_str text, gx_log_line *ret_line, const char **ret_problem) {
    gx_log_line line = { .time = 0 };
    const char *problem = parse(text, &line);
    if (problem) {
        *ret_problem = problem;
        return GALE_INVALID;
    }
    line.user = unless_empty(line.user);
    line.request = unless_dash(line.request);
    line.referer = unless_dash(line.referer);
    line.agent = unless_dash(line.agent);
    request_of(&line);
    *ret_line = line;
    return 0;
}
