#include "base/secret.h"

static const char *const words[] = { "password",   "passwd", "pwd",        "passphrase", "secret",        "token",
                                     "credential", "apikey", "privatekey", "accesskey",  "authorization", "cookie" };

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

bool gx_secret_is_named(gale_str text) {
    for (size_t at = 0; at < text.size; at++)
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (begins((gale_str){ text.data + at, text.size - at }, words[i])) return true;
    return false;
}
