#include "connect/http/parse.h"

#include <stdio.h>
#include <string.h>

/* --- Numbers ---------------------------------------------------------------------------------------------------------- */

/* All of it; -1 for what is no number, or is above `most`. */
static int64_t number_of(gale_str text, int64_t most) {
    int64_t number = 0;
    if (!text.size) return -1;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') return -1;
        number = number * 10 + (text.data[i] - '0');
        if (number > most) return -1;
    }
    return number;
}

/* --- Addresses -------------------------------------------------------------------------------------------------------- */

static int wrong_address(const char *text, gale_error *error) {
    return gale_error_set(
        error, GALE_INVALID,
        "listen: '%s' is no address: it is host:port, :port for all addresses of the machine, or a port "
        "for this machine alone",
        text);
}

int http_address_read(const char *text, http_address *address, gale_error *error) {
    static const char own[] = "127.0.0.1";
    const char *colon = strrchr(text, ':');
    gale_str host = { colon ? text : own, colon ? (size_t)(colon - text) : strlen(own) };
    const char *port = colon ? colon + 1 : text;
    int64_t number = number_of((gale_str){ port, strlen(port) }, UINT16_MAX);
    bool brackets = host.size > 2 && host.data[0] == '[' && host.data[host.size - 1] == ']';
    if (brackets) host = (gale_str){ host.data + 1, host.size - 2 };
    if (number < 0 || host.size > HTTP_HOST_MAX || (!brackets && memchr(host.data, ':', host.size)))
        return wrong_address(text, error);
    memcpy(address->host, host.data, host.size);
    address->host[host.size] = '\0';
    address->port = (uint16_t)number;
    return 0;
}

/* --- Requests --------------------------------------------------------------------------------------------------------- */

bool http_next_line(gale_str *rest, gale_str *ret_line) {
    while (rest->size) {
        const char *end = memchr(rest->data, '\n', rest->size);
        size_t size = end ? (size_t)(end - rest->data) : rest->size, whole = end ? size + 1 : size;
        gale_str line = { rest->data, size };
        if (size && line.data[size - 1] == '\r') line.size--;
        *rest = (gale_str){ rest->data + whole, rest->size - whole };
        if (!line.size) continue;
        *ret_line = line;
        return true;
    }
    return false;
}

void http_target_cut(gale_str target, gale_str *ret_path, gale_str *ret_query) {
    const char *mark = target.size ? memchr(target.data, '?', target.size) : NULL;
    size_t size = mark ? (size_t)(mark - target.data) : target.size;
    *ret_path = (gale_str){ target.data, size };
    *ret_query = mark ? (gale_str){ mark + 1, target.size - size - 1 } : (gale_str){ "", 0 };
}

bool http_path_is_of(gale_str path, const char *base) {
    size_t size = strlen(base);
    if (path.size < size || memcmp(path.data, base, size) != 0) return false;
    return path.size == size || (size && base[size - 1] == '/') || path.data[size] == '/';
}

bool http_bearer_is(const char *header, const char *token) {
    static const char scheme[] = "bearer ";
    size_t begin = sizeof scheme - 1, size = strlen(token);
    unsigned differs = 0;
    if (!header) return false;
    for (size_t i = 0; i < begin; i++)
        if ((header[i] | 0x20) != (scheme[i] | 0x20)) return false;
    if (strlen(header + begin) != size) return false;
    for (size_t i = 0; i < size; i++) differs |= (unsigned char)header[begin + i] ^ (unsigned char)token[i];
    return differs == 0;
}

/* --- Retry-After ------------------------------------------------------------------------------------------------------ */

/* Days since 1970 of a day of the Gregorian calendar. */
static int64_t days_of(int64_t year, int64_t month, int64_t day) {
    year -= month <= 2;
    int64_t era = year / 400, of_era = year - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static int64_t month_of(const char *name) {
    static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    for (int64_t i = 0; i < 12; i++)
        if (memcmp(names + 3 * i, name, 3) == 0) return i + 1;
    return -1;
}

/* Seconds since 1970; -1: it is no date. */
static int64_t date_of(gale_str text) {
    /* Sun, 06 Nov 1994 08:49:37 GMT */
    const char *t = text.data;
    if (text.size != 29 || memcmp(t + 3, ", ", 2) != 0 || memcmp(t + 25, " GMT", 4) != 0) return -1;
    if (t[7] != ' ' || t[11] != ' ' || t[16] != ' ' || t[19] != ':' || t[22] != ':') return -1;
    int64_t day = number_of((gale_str){ t + 5, 2 }, 31), month = month_of(t + 8);
    int64_t year = number_of((gale_str){ t + 12, 4 }, 9999), hour = number_of((gale_str){ t + 17, 2 }, 23);
    int64_t minute = number_of((gale_str){ t + 20, 2 }, 59), second = number_of((gale_str){ t + 23, 2 }, 60);
    if (day < 1 || month < 0 || year < 1970 || hour < 0 || minute < 0 || second < 0) return -1;
    return days_of(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
}

int64_t http_retry_after(gale_str text, int64_t now) {
    while (text.size && (text.data[text.size - 1] == ' ' || text.data[text.size - 1] == '\r')) text.size--;
    while (text.size && *text.data == ' ') text = (gale_str){ text.data + 1, text.size - 1 };
    int64_t seconds = number_of(text, INT32_MAX), date = seconds < 0 ? date_of(text) : -1;
    if (seconds >= 0) return seconds;
    if (date < 0) return -1;
    return date > now ? date - now : 0;
}
