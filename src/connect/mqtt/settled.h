/* Places of messages that were given up in a durable run, and are answered when a checkpoint lasts that has them so: as those that were acked, which the intake keeps.
 * Threads: the task's. Owner: mqtt_settled_free. */
#ifndef GALE_CONNECT_MQTT_SETTLED_H
#define GALE_CONNECT_MQTT_SETTLED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mqtt_settled {
    int64_t *places;
    size_t count, capacity;
    size_t cut; /* so many of them, the first, are in `checkpoint` */
    uint64_t checkpoint;
} mqtt_settled;

void mqtt_settled_free(mqtt_settled *settled);

/* False: memory is out. */
bool mqtt_settled_add(mqtt_settled *settled, int64_t place);

void mqtt_settled_cut(mqtt_settled *settled, uint64_t checkpoint);

/* The next that a checkpoint has that lasts, from 0 on; mqtt_settled_forget forgets them. */
size_t mqtt_settled_lasting(const mqtt_settled *settled, uint64_t checkpoint);
void mqtt_settled_forget(mqtt_settled *settled, size_t count);

#endif
