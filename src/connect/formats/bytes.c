#include "connect/formats/bytes.h"

#include <stdlib.h>
#include <string.h>

static bool make_room(fmt_bytes *to, size_t size) {
    size_t room = to->room ? to->room : 256;
    if (to->failed || size > SIZE_MAX / 4 - to->size) {
        to->failed = true;
        return false;
    }
    while (room - to->size < size || room < to->size) room *= 2;
    if (room == to->room) return true;
    char *data = realloc(to->data, room);
    to->failed = !data;
    if (!data) return false;
    to->data = data;
    to->room = room;
    return true;
}

void fmt_bytes_add(fmt_bytes *to, const void *data, size_t size) {
    if (!size || !make_room(to, size)) return;
    memcpy(to->data + to->size, data, size);
    to->size += size;
}

static size_t write_varint(char *to, uint64_t number) {
    size_t size = 0;
    for (; number >= 0x80; number >>= 7) to[size++] = (char)(number | 0x80);
    to[size++] = (char)number;
    return size;
}

void fmt_bytes_varint(fmt_bytes *to, uint64_t number) {
    char text[10];
    fmt_bytes_add(to, text, write_varint(text, number));
}

void fmt_bytes_fixed(fmt_bytes *to, uint64_t number, size_t size) {
    char text[8];
    for (size_t i = 0; i < size; i++) text[i] = (char)(number >> (8 * i));
    fmt_bytes_add(to, text, size);
}

void fmt_bytes_prefix(fmt_bytes *to, size_t at) {
    char text[10];
    size_t size = to->size - at, length = write_varint(text, size);
    if (!make_room(to, length)) return;
    memmove(to->data + at + length, to->data + at, size);
    memcpy(to->data + at, text, length);
    to->size += length;
}

void fmt_bytes_free(fmt_bytes *to) {
    free(to->data);
    *to = (fmt_bytes){ .data = NULL };
}
