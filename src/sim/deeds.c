#include "sim/deeds.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct key {
    uint32_t component, message;
    uint64_t path;
} key;

int gx_deeds_init(gx_deeds *deeds) {
    *deeds = (gx_deeds){ .exact = true };
    gx_heap_init(&deeds->heap, NULL);
    deeds->map = gx_bytes_map_new(&deeds->heap, sizeof(gx_deed), 1);
    return deeds->map ? GALE_OK : GALE_NO_MEMORY;
}

void gx_deeds_fini(gx_deeds *deeds) {
    gx_bytes_map_free(deeds->map);
    gx_free(&deeds->heap, GX_TAG_OTHER, deeds->messages, deeds->capacity * sizeof *deeds->messages);
}

void gx_deeds_violated(gx_deeds *deeds, const char *format, ...) {
    if (!gx_deeds_hold(deeds)) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(deeds->problem, sizeof deeds->problem, format, arguments);
    va_end(arguments);
}

uint32_t gx_deeds_message(gx_deeds *deeds) {
    if (!gx_grow(&deeds->heap, GX_TAG_OTHER, &deeds->messages, &deeds->capacity, deeds->count + 1u,
                 sizeof *deeds->messages))
        return UINT32_MAX;
    deeds->messages[deeds->count] = (gx_message){ 0 };
    return deeds->count++;
}

void gx_deeds_expect(gx_deeds *deeds, uint32_t component, uint64_t message, uint64_t path, uint32_t times) {
    key k = { component, (uint32_t)message, path };
    gx_deed *deed = gx_bytes_map_put(deeds->map, (gale_str){ (const char *)&k, sizeof k }, NULL);
    if (!deed) {
        gx_deeds_violated(deeds, "the simulator has no memory");
        return;
    }
    deed->expected += times;
    deeds->messages[message].expected += times;
}

void gx_deeds_begin(gx_deeds *deeds) {
    for (size_t i = 0; i < gx_bytes_map_size(deeds->map); i++) {
        gx_deed *deed = gx_bytes_map_at(deeds->map, i, NULL);
        deed->done = deed->kept = 0;
    }
    for (uint32_t i = 0; i < deeds->count; i++)
        deeds->messages[i] = (gx_message){ .expected = deeds->messages[i].expected };
}

static gx_deed *find(gx_deeds *deeds, uint32_t component, uint64_t message, uint64_t path) {
    key k = { component, (uint32_t)message, path };
    gx_deed *deed = message < deeds->count ? gx_bytes_map_get(deeds->map, (gale_str){ (const char *)&k, sizeof k })
                                           : NULL;
    if (!deed)
        gx_deeds_violated(deeds, "component %u has a tuple of message %llu that is from nowhere", component,
                          (unsigned long long)message);
    return deed;
}

void gx_deeds_did(gx_deeds *deeds, uint32_t component, uint64_t message, uint64_t path, uint32_t times) {
    gx_deed *deed = find(deeds, component, message, path);
    if (!deed) return;
    deed->done += times;
    deeds->messages[message].done += times;
    if (deeds->exact && deed->done > deed->expected)
        gx_deeds_violated(deeds, "component %u has executed a tuple of message %llu %u times, not %u", component,
                          (unsigned long long)message, deed->done, deed->expected);
}

void gx_deeds_buried(gx_deeds *deeds, uint64_t message) {
    if (message >= deeds->count)
        gx_deeds_violated(deeds, "there is a dead letter of message %llu, which there is not",
                          (unsigned long long)message);
    else if (++deeds->messages[message].letters > 1 && deeds->exact)
        gx_deeds_violated(deeds, "message %llu is a dead letter twice", (unsigned long long)message);
}

void gx_deeds_acked(gx_deeds *deeds, uint64_t message) {
    const gx_message *m = &deeds->messages[message];
    if (!deeds->untracked && m->done < m->expected)
        gx_deeds_violated(deeds, "message %llu was acked with %u of its %u effects", (unsigned long long)message,
                          m->done, m->expected);
}

void gx_deeds_kept(gx_deeds *deeds, uint32_t component, uint64_t message, uint64_t path, uint32_t times) {
    gx_deed *deed = find(deeds, component, message, path);
    if (deed) deed->kept += times;
}

void gx_deeds_letter_kept(gx_deeds *deeds, uint64_t message) {
    if (message < deeds->count) deeds->messages[message].letters_kept++;
}

static void check_message(gx_deeds *deeds, uint32_t number) {
    const gx_message *m = &deeds->messages[number];
    bool given_up = m->state == GX_MESSAGE_GIVEN_UP;
    uint32_t letters = given_up && deeds->letters ? 1 : 0;
    if (m->state != GX_MESSAGE_ACKED && !given_up)
        gx_deeds_violated(deeds, "the run is over, but message %u is %s", number,
                          m->state == GX_MESSAGE_OPEN ? "open" : "not emitted");
    if (m->letters_kept < letters || (deeds->exact && m->letters_kept > letters))
        gx_deeds_violated(deeds, "message %u is %s, and a dead letter %u times", number,
                          given_up ? "given up" : "acked", m->letters_kept);
}

void gx_deeds_end(gx_deeds *deeds) {
    for (uint32_t i = 0; i < deeds->count; i++) check_message(deeds, i);
    for (size_t i = 0; i < gx_bytes_map_size(deeds->map); i++) {
        gale_str bytes;
        key k;
        const gx_deed *deed = gx_bytes_map_at(deeds->map, i, &bytes);
        memcpy(&k, bytes.data, sizeof k);
        uint32_t wanted = deeds->messages[k.message].state == GX_MESSAGE_GIVEN_UP ? 0 : deed->expected;
        if (deed->kept < wanted || (deeds->exact && deed->kept > wanted))
            gx_deeds_violated(deeds, "in the end component %u has a tuple of message %u %u times, not %u", k.component,
                              k.message, deed->kept, wanted);
    }
}
