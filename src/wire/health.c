#include "wire/health.h"

#include <stdio.h>
#include <string.h>

/* Into which the words of all fit: what one does not need, the other has. */
enum { BETWEEN = 2, ROOM = GALE_FAILURE_TEXT - 1 - BETWEEN };

static size_t part(size_t own, size_t other) {
    size_t half = ROOM / 2, most = other < half ? ROOM - other : half;
    return own < most ? own : most;
}

void wire_health_say(wire_health *health, gale_collector *out, unsigned who, const char *words) {
    const char *first = health->words[0], *second = health->words[1];
    char text[GALE_FAILURE_TEXT];
    snprintf(health->words[who], sizeof health->words[who], "%s", words ? words : "");
    size_t a = strlen(first), b = strlen(second);
    if (a && b) {
        snprintf(text, sizeof text, "%.*s; %.*s", (int)part(a, b), first, (int)part(b, a), second);
        gale_health(out, text);
    } else
        gale_health(out, a ? first : b ? second : NULL);
}
