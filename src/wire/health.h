/* wire/health.h: how a task is that has several connections: what each of them says, together.
 *
 * What:    the words of all that are not well, in the order of their numbers; of one that is well again, the others' stay. Where they do not fit into
 *          GALE_FAILURE_TEXT together, each has its part.
 * Threads: the task's. Owner: the task's; nothing is to be freed. Zero is well. */
#ifndef GALE_WIRE_HEALTH_H
#define GALE_WIRE_HEALTH_H

#include <gale/component.h>

enum { WIRE_HEALTH_MOST = 2 };

typedef struct wire_health {
    char words[WIRE_HEALTH_MOST][GALE_FAILURE_TEXT];
} wire_health;

/* `who` is less than WIRE_HEALTH_MOST; `words` NULL: it is well. They are copied. */
void wire_health_say(wire_health *health, gale_collector *out, unsigned who, const char *words);

#endif
