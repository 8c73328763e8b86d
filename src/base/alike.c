#include "base/alike.h"

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Behind the number that begins here; `at` itself where none does. */
static const char *behind_number(const char *at) {
    while (is_digit(*at)) {
        while (is_digit(*at)) at++;
        if ((*at == '.' || *at == ',') && is_digit(at[1])) at++;
    }
    return at;
}

bool gx_alike(const char *a, const char *b) {
    while (*a && *b) {
        bool digit = is_digit(*a);
        if (digit != is_digit(*b) || (!digit && *a != *b)) return false;
        a = digit ? behind_number(a) : a + 1;
        b = digit ? behind_number(b) : b + 1;
    }
    return !*a && !*b;
}
