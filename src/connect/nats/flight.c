#include "connect/nats/flight.h"

#include <stdlib.h>

void nats_flight_free(nats_flight *flight) {
    free(flight->list);
    *flight = (nats_flight){ .list = NULL };
}

nats_sent *nats_flight_oldest(nats_flight *flight, const gale_dispatch *dispatch) {
    while (flight->at < flight->count && !gale_dispatch_tuple(dispatch, flight->list[flight->at].id)) flight->at++;
    return flight->at < flight->count ? &flight->list[flight->at] : NULL;
}

/* Those that were answered leave. */
static void tidy(nats_flight *flight, const gale_dispatch *dispatch) {
    size_t kept = 0;
    for (size_t i = flight->at; i < flight->count; i++)
        if (gale_dispatch_tuple(dispatch, flight->list[i].id)) flight->list[kept++] = flight->list[i];
    flight->at = 0;
    flight->count = kept;
}

int nats_flight_add(nats_flight *flight, const gale_dispatch *dispatch, nats_sent sent) {
    if (flight->count == flight->capacity) tidy(flight, dispatch);
    if (2 * flight->count >= flight->capacity) {
        size_t capacity = flight->capacity ? 2 * flight->capacity : 256;
        nats_sent *list = realloc(flight->list, capacity * sizeof *list);
        if (!list) return GALE_NO_MEMORY;
        flight->list = list;
        flight->capacity = capacity;
    }
    flight->list[flight->count++] = sent;
    return 0;
}
