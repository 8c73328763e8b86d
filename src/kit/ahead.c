#include "kit/ahead.h"

#include "base/os/cpu.h"
#include "tuple/key.h"

enum { ROOM = 2 }; /* arrays that grow by doubling are half empty, and some keys come more often than others */

void gx_ahead_decide(gx_ahead *ahead, const gx_heap *heap) {
    ahead->on = gx_heap_reserved(heap) > ROOM * gx_os_cpu_cache();
}

void gx_ahead_fetch(gx_ahead *ahead, const gx_bytes_map *map, gale_collector *out, uint32_t place, uint32_t distance) {
    char bytes[GX_KEY_BRIEF];
    for (uint32_t i = 1; i < distance; i++) ahead->tags[i] = ahead->tags[i + 1];
    ahead->tags[distance] = 0;
    const void *entry = gx_ahead_value(ahead, map, distance - 1);
    if (entry) __builtin_prefetch((const char *)entry - GX_BYTES_MAP_HEAD);
    const gale_body *body = gale_ahead(out, distance);
    if (!body) return;
    const gale_value key = gale_body_value(body, place);
    size_t size = gx_key_brief(&key, bytes);
    if (size) ahead->tags[distance] = gx_bytes_map_fetch(map, (gale_str){ bytes, size });
}
