#include "connect/mqtt/bytes.h"

#include <stdlib.h>
#include <string.h>

/* --- Written ---------------------------------------------------------------------------------------------------------- */

char *mqtt_bytes_more(mqtt_bytes *bytes, size_t size) {
    if (bytes->failed) return NULL;
    if (size > bytes->capacity - bytes->size) {
        size_t capacity = bytes->capacity ? bytes->capacity : 256;
        bytes->failed = size > SIZE_MAX / 4 - bytes->size;
        while (!bytes->failed && capacity < bytes->size + size) capacity *= 2;
        char *data = bytes->failed ? NULL : realloc(bytes->data, capacity);
        bytes->failed = !data;
        if (!data) return NULL;
        bytes->data = data;
        bytes->capacity = capacity;
    }
    char *to = bytes->data + bytes->size;
    bytes->size += size;
    return to;
}

void mqtt_bytes_free(mqtt_bytes *bytes) {
    free(bytes->data);
    *bytes = (mqtt_bytes){ .data = NULL };
}

void mqtt_bytes_add(mqtt_bytes *bytes, const void *data, size_t size) {
    char *to = size ? mqtt_bytes_more(bytes, size) : NULL;
    if (to) memcpy(to, data, size);
}

void mqtt_bytes_one(mqtt_bytes *bytes, uint8_t number) {
    mqtt_bytes_add(bytes, &number, 1);
}

void mqtt_bytes_two(mqtt_bytes *bytes, uint16_t number) {
    const unsigned char two[] = { (unsigned char)(number >> 8), (unsigned char)number };
    mqtt_bytes_add(bytes, two, sizeof two);
}

void mqtt_bytes_four(mqtt_bytes *bytes, uint32_t number) {
    mqtt_bytes_two(bytes, (uint16_t)(number >> 16));
    mqtt_bytes_two(bytes, (uint16_t)number);
}

void mqtt_bytes_number(mqtt_bytes *bytes, uint32_t number) {
    do {
        mqtt_bytes_one(bytes, (uint8_t)((number & 0x7f) | (number > 0x7f ? 0x80 : 0)));
        number >>= 7;
    } while (number);
}

size_t mqtt_number_size(uint32_t number) {
    size_t size = 1;
    while (number >>= 7) size++;
    return size;
}

void mqtt_bytes_text(mqtt_bytes *bytes, gale_str text) {
    mqtt_bytes_two(bytes, (uint16_t)text.size);
    mqtt_bytes_add(bytes, text.data, text.size);
}

/* --- Read ------------------------------------------------------------------------------------------------------------- */

mqtt_cursor mqtt_cursor_of(gale_str bytes) {
    const unsigned char *at = (const unsigned char *)(bytes.data ? bytes.data : "");
    return (mqtt_cursor){ .at = at, .end = at + bytes.size };
}

size_t mqtt_left(const mqtt_cursor *cursor) {
    return (size_t)(cursor->end - cursor->at);
}

gale_str mqtt_take(mqtt_cursor *cursor, size_t size) {
    if (size > mqtt_left(cursor)) {
        cursor->failed = true;
        cursor->at = cursor->end;
        return (gale_str){ "", 0 };
    }
    const char *at = (const char *)cursor->at;
    cursor->at += size;
    return (gale_str){ at, size };
}

uint8_t mqtt_take_one(mqtt_cursor *cursor) {
    gale_str one = mqtt_take(cursor, 1);
    return one.size ? (uint8_t)one.data[0] : 0;
}

uint16_t mqtt_take_two(mqtt_cursor *cursor) {
    gale_str two = mqtt_take(cursor, 2);
    const unsigned char *at = (const unsigned char *)two.data;
    return two.size ? (uint16_t)((unsigned)at[0] << 8 | at[1]) : 0;
}

uint32_t mqtt_take_four(mqtt_cursor *cursor) {
    uint32_t high = mqtt_take_two(cursor);
    return high << 16 | mqtt_take_two(cursor);
}

gale_str mqtt_take_text(mqtt_cursor *cursor) {
    size_t size = mqtt_take_two(cursor);
    return mqtt_take(cursor, size);
}

int mqtt_take_number(mqtt_cursor *cursor, uint32_t *ret_number) {
    uint32_t number = 0;
    for (size_t i = 0; i < 4; i++) {
        if (i >= mqtt_left(cursor)) return 0;
        uint8_t byte = cursor->at[i];
        number |= (uint32_t)(byte & 0x7f) << (7 * i);
        if (byte & 0x80) continue;
        if (i && !byte) return -2;
        cursor->at += i + 1;
        *ret_number = number;
        return 1;
    }
    return -1;
}
