#include "base/secret.h"

/* --- Names ----------------------------------------------------------------------------------------------------------- */

static const char *const words[] = { "password",      "passwd",     "pwd",       "passphrase", "secret",
                                     "token",         "credential", "apikey",    "privatekey", "accesskey",
                                     "authorization", "cookie",     "authkey",   "sharedkey",  "signingkey",
                                     "encryptionkey", "hmackey",    "masterkey", NULL };

/* Their values have blanks in them. */
static const char *const headers[] = { "authorization", "cookie", NULL };

/* Letters of either case; what separates words is passed over. */
static bool begins(gale_str text, const char *word) {
    for (size_t i = 0; *word; i++) {
        if (i == text.size) return false;
        char c = text.data[i];
        if (i && (c == '.' || c == '_' || c == '-')) continue;
        if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != *word++) return false;
    }
    return true;
}

static bool has_one_of(gale_str text, const char *const *list) {
    for (size_t at = 0; at < text.size; at++)
        for (size_t i = 0; list[i]; i++)
            if (begins((gale_str){ text.data + at, text.size - at }, list[i])) return true;
    return false;
}

bool gx_secret_is_named(gale_str text) {
    return has_one_of(text, words);
}

static bool ends(gale_str text, const char *word) {
    size_t size = strlen(word);
    return text.size > size && begins((gale_str){ text.data + text.size - size, size }, word);
}

bool gx_secret_is_key(gale_str name) {
    return gx_secret_is_named(name) && !ends(name, "from") && !ends(name, "file") && !ends(name, "path");
}

/* --- Texts ----------------------------------------------------------------------------------------------------------- */

enum { NAME_MAX = 100, BEARER_LEAST = 8 };

static bool is_in(char c, const char *set) {
    return c && strchr(set, c) != NULL;
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* From `at` to the first byte of `ends`, or the text's end. */
static gale_str until(gale_str text, size_t at, const char *ends) {
    size_t end = at;
    while (end < text.size && text.data[end] && !is_in(text.data[end], ends)) end++;
    return (gale_str){ text.data + at, end - at };
}

/* The word before the sign at `at`, before blanks, and perhaps in quotes. */
static gale_str name_before(gale_str text, size_t at) {
    while (at && text.data[at - 1] == ' ') at--;
    if (at && is_in(text.data[at - 1], "\"'")) at--;
    size_t begin = at;
    while (begin && at - begin < NAME_MAX &&
           (is_letter(text.data[begin - 1]) || is_digit(text.data[begin - 1]) || is_in(text.data[begin - 1], "._-")))
        begin--;
    return (gale_str){ text.data + begin, at - begin };
}

/* The value behind the sign at `at`, without its quotes. */
static gale_str value_behind(gale_str text, size_t at, const char *ends) {
    char quote[2] = "";
    for (at++; at < text.size && text.data[at] == ' ';) at++;
    if (at < text.size && is_in(text.data[at], "\"'")) *quote = text.data[at++];
    return until(text, at, *quote ? quote : ends);
}

/* At a '=': of a name that speaks of a secret. "==" compares. */
static gale_str assigned(gale_str text, size_t at) {
    bool compares = (at && is_in(text.data[at - 1], "=!<>~")) || (at + 1 < text.size && text.data[at + 1] == '=');
    if (compares || !has_one_of(name_before(text, at), words)) return (gale_str){ NULL, 0 };
    return value_behind(text, at, " \t\r\n&;,\"')]}<>");
}

/* At a ':': of a header, or of a URL with a password. */
static gale_str behind_colon(gale_str text, size_t at) {
    gale_str none = { NULL, 0 };
    if (has_one_of(name_before(text, at), headers)) return value_behind(text, at, "\r\n,\"'");
    if (text.size - at < 3 || memcmp(text.data + at, "://", 3) != 0) return none;
    gale_str host = until(text, at + 3, "/ \t\r\n\"'");
    const char *end = memrchr(host.data, '@', host.size);
    const char *colon = end ? memchr(host.data, ':', (size_t)(end - host.data)) : NULL;
    return colon ? (gale_str){ colon + 1, (size_t)(end - colon) - 1 } : none;
}

/* A word of a sentence has lower letters alone. */
static bool looks_drawn(gale_str text) {
    for (size_t i = 0; i < text.size; i++)
        if (!(text.data[i] >= 'a' && text.data[i] <= 'z')) return text.size >= BEARER_LEAST;
    return false;
}

/* At a blank: behind the word that begins such a header's value. */
static gale_str behind_scheme(gale_str text, size_t at) {
    gale_str scheme = name_before(text, at), none = { NULL, 0 };
    bool is_one = (scheme.size == 6 && begins(scheme, "bearer")) || (scheme.size == 5 && begins(scheme, "basic"));
    gale_str drawn = is_one ? until(text, at + 1, " \t\r\n&;,\"')]}<>") : none;
    return looks_drawn(drawn) ? drawn : none;
}

static gale_str find_at(gale_str text, size_t at) {
    switch (text.data[at]) {
    case '=': return assigned(text, at);
    case ':': return behind_colon(text, at);
    case ' ': return behind_scheme(text, at);
    default: return (gale_str){ NULL, 0 };
    }
}

gale_str gx_secret_find(gale_str text) {
    for (size_t at = 0; at < text.size; at++) {
        gale_str found = find_at(text, at);
        if (found.size) return found;
    }
    return (gale_str){ NULL, 0 };
}

void gx_secret_mask(char *text) {
    for (;;) {
        gale_str found = gx_secret_find(gx_str(text));
        if (!found.size) return;
        char *at = text + (found.data - text);
        size_t stars = found.size < 3 ? found.size : 3;
        memset(at, '*', stars);
        memmove(at + stars, at + found.size, strlen(at + found.size) + 1);
        text = at + stars;
    }
}
