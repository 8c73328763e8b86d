#include "base/options.h"

#include <string.h>

int gx_options_take(void *to, size_t size, const void *from, const char *what, gale_error *error) {
    size_t given = size;
    if (from) memcpy(&given, from, sizeof given);
    if (given < sizeof given || given > GX_OPTIONS_SIZE_MAX)
        return gale_error_set(error, GALE_INVALID, "%s.size is %zu; set it to the size of the structure", what, given);
    for (size_t i = size; i < given; i++)
        if (((const char *)from)[i])
            return gale_error_set(error, GALE_UNSUPPORTED, "%s: something is set that gale %s does not know", what,
                                  GALE_VERSION_TEXT);
    memset(to, 0, size);
    if (from) memcpy(to, from, given < size ? given : size);
    memcpy(to, &size, sizeof size);
    return GALE_OK;
}
