#include "connect/mqtt/filter.h"

#include "connect/mqtt/property.h"

#include <string.h>

static const char share[] = "$share/";

bool mqtt_level_next(gale_str topic, size_t *at, gale_str *ret_level) {
    if (*at > topic.size) return false;
    const char *from = topic.data + *at;
    const char *slash = *at < topic.size ? memchr(from, '/', topic.size - *at) : NULL;
    *ret_level = (gale_str){ from, slash ? (size_t)(slash - from) : topic.size - *at };
    *at += ret_level->size + 1;
    return true;
}

bool mqtt_filter_is_shared(gale_str filter) {
    return filter.size >= strlen(share) && memcmp(filter.data, share, strlen(share)) == 0;
}

static bool has(gale_str text, char letter) {
    return text.size && memchr(text.data, letter, text.size);
}

/* What stands behind "$share/": a group, and the filter itself. */
static const char *shared_wrong(gale_str *filter) {
    gale_str group;
    size_t at = strlen(share);
    (void)mqtt_level_next(*filter, &at, &group);
    if (!group.size || has(group, '+') || has(group, '#')) return "a group has a name, without '+' and '#'";
    if (at >= filter->size) return "it has a filter behind its group: $share/GROUP/FILTER";
    *filter = (gale_str){ filter->data + at, filter->size - at };
    return NULL;
}

const char *mqtt_filter_wrong(gale_str filter) {
    gale_str level;
    size_t at = 0;
    if (!filter.size) return "it is empty";
    if (!mqtt_is_text(filter)) return "it is not UTF-8, has a NUL, or is longer than 65,535 bytes";
    const char *wrong = mqtt_filter_is_shared(filter) ? shared_wrong(&filter) : NULL;
    while (!wrong && mqtt_level_next(filter, &at, &level)) {
        if (has(level, '+') && level.size > 1) wrong = "'+' stands alone in its level";
        if (has(level, '#') && (level.size > 1 || at <= filter.size)) wrong = "'#' stands alone, as the last level";
    }
    return wrong;
}
