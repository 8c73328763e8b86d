/* Bytes, read as what a NATS server says: the subject that an answer goes to, and the answer to a publication. What is read of a place is in its bounds; each answer
 * that is no yes has words. */
#include "fuzz.h"

#include "connect/nats/answer.h"
#include "connect/nats/place.h"
#include "connect/nats/ranges.h"

#include <stdlib.h>
#include <string.h>

static void read_place(const uint8_t *data, size_t size) {
    nats_place place;
    char *text = malloc(size + 1);
    if (!text) return;
    memcpy(text, data, size);
    text[size] = '\0';
    if (nats_place_read(text, &place)) {
        expect(place.sequence > 0 && place.sequence < INT64_MAX);
        expect(place.delivered >= 0 && place.number >= 0 && place.time >= 0 && place.pending >= 0);
    }
    free(text);
}

static void read_ranges(const uint8_t *data, size_t size) {
    nats_ranges ranges = { .list = NULL };
    if (nats_ranges_load(&ranges, data, size) == 0)
        for (size_t i = 0; i < ranges.count; i++) expect(nats_ranges_have(&ranges, ranges.list[i].first));
    nats_ranges_free(&ranges);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char why[100] = "";
    read_place(data, size);
    read_ranges(data, size);
    expect(nats_answer_read((const char *)data, size, why, sizeof why) == NATS_HAS_IT || *why);
    return 0;
}
