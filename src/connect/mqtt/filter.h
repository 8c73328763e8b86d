/* Topic filters: "sensors/+/temperature", "alarms/#", "$share/group/sensors/#".
 * Threads: any. Owner: nothing is kept. */
#ifndef GALE_CONNECT_MQTT_FILTER_H
#define GALE_CONNECT_MQTT_FILTER_H

#include <gale/base.h>

#include <stdbool.h>

/* NULL: it is one; or what is wrong with it: "'#' stands alone, as the last level". */
const char *mqtt_filter_wrong(gale_str filter);

/* Is it shared among the members of a group? */
bool mqtt_filter_is_shared(gale_str filter);

/* The next level of a topic, without its slash; `*at` goes behind it. False: there are no more. `*at` begins with 0. */
bool mqtt_level_next(gale_str topic, size_t *at, gale_str *ret_level);

#endif
