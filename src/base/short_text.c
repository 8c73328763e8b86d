#include "base/short_text.h"

#include <stdlib.h>

uint32_t gx_short_text_safe = GX_SHORT_TEXT_PAGE - GX_SHORT_TEXT_MAX + 1;

bool gx_short_text_is_watched(const char *preloaded) {
    static const char *const watchers[] = { "vgpreload_memcheck", "vgpreload_helgrind", "vgpreload_drd" };
    for (size_t i = 0; preloaded && i < sizeof watchers / sizeof *watchers; i++)
        if (strstr(preloaded, watchers[i])) return true;
    return false;
}

__attribute__((constructor)) static void look_who_watches(void) {
    if (gx_short_text_is_watched(getenv("LD_PRELOAD"))) gx_short_text_safe = 0;
}

gx_short_text gx_short_text_load_exactly(const void *text, size_t size) {
    gx_short_text loaded = { 0, 0 };
    if (size) memcpy(&loaded, text, size);
    return loaded;
}
