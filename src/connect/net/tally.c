#include "connect/net/tally.h"

#include "base/str.h"

#include <inttypes.h>
#include <stdio.h>

size_t gx_net_tally_text(const gx_net_tally *list, size_t count, char *to, size_t room) {
    size_t used = 0;
    if (room) to[0] = 0;
    for (size_t i = 0; i < count; i++) {
        const gx_net_tally *one = &list[i];
        if (!one->count || used + 1 >= room) continue;
        int more = snprintf(to + used, room - used, "%s%" PRIu64 " %s%s %s %s", used ? ", " : "", one->count, one->noun,
                            gx_plural(one->count), one->count == 1 ? "was" : "were", one->what);
        used += (size_t)more < room - used ? (size_t)more : room - used - 1;
    }
    return used;
}
