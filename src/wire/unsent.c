#include "wire/unsent.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 4096 };

/* Makes room behind what is there: by moving it to the front, where half of the room is free, or by more of it. */
static int make_room(wire_unsent *unsent, size_t size) {
    size_t used = unsent->to - unsent->from, room = unsent->room ? unsent->room : FIRST_ROOM;
    if (size <= unsent->room - unsent->to) return 0;
    if (unsent->from && used + size <= unsent->room / 2) {
        memmove(unsent->data, unsent->data + unsent->from, used);
    } else {
        while (room / 2 < used + size) room *= 2; /* half of it is free: each byte is moved once or twice */
        char *data = malloc(room);
        if (!data) return GALE_NO_MEMORY;
        if (used) memcpy(data, unsent->data + unsent->from, used);
        free(unsent->data);
        unsent->data = data;
        unsent->room = room;
    }
    unsent->from = 0;
    unsent->to = used;
    return 0;
}

int wire_unsent_add(wire_unsent *unsent, const void *bytes, size_t size) {
    size_t used = unsent->to - unsent->from;
    if (size > unsent->most) return GALE_TOO_LARGE;
    if (size > unsent->most - used) return GALE_AGAIN;
    if (!size) return 0;
    int rc = make_room(unsent, size);
    if (rc < 0) return rc;
    memcpy(unsent->data + unsent->to, bytes, size);
    unsent->to += size;
    return 0;
}

void wire_unsent_took(wire_unsent *unsent, size_t size) {
    unsent->from += size;
    if (unsent->from == unsent->to) unsent->from = unsent->to = 0;
}

void wire_unsent_clear(wire_unsent *unsent) {
    unsent->from = unsent->to = 0;
}

void wire_unsent_free(wire_unsent *unsent) {
    free(unsent->data);
    *unsent = (wire_unsent){ .most = unsent->most };
}
