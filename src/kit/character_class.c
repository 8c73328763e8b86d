#include "kit/character_class.h"

typedef struct range {
    uint32_t first, last;
} range;

/* Blocks that hold no letters, in order. */
static const range no_letters[] = {
    { 0x80, 0xA9 },     { 0xAB, 0xB4 },     { 0xB6, 0xB9 },     { 0xBB, 0xBF },       { 0xD7, 0xD7 },
    { 0xF7, 0xF7 },     { 0x2000, 0x2BFF }, { 0x2E00, 0x2E7F }, { 0x3000, 0x3004 },   { 0x3008, 0x3020 },
    { 0xFE00, 0xFE6F }, { 0xFEFF, 0xFF20 }, { 0xFFF0, 0xFFFF }, { 0x1F000, 0x1FAFF },
};

static bool is_letter(uint32_t c) {
    if (c < 0x80) return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
    for (size_t i = 0; i < sizeof no_letters / sizeof *no_letters; i++) {
        if (c <= no_letters[i].last) return c < no_letters[i].first;
    }
    return true;
}

static bool continues(char byte) {
    return ((unsigned char)byte & 0xC0) == 0x80;
}

/* The character that begins at `at` and takes `size` bytes of valid UTF-8. */
static uint32_t decode(const char *at, size_t size) {
    if (size == 1) return (unsigned char)*at;
    uint32_t c = (unsigned char)*at & (0x7Fu >> size);
    for (size_t i = 1; i < size; i++) c = c << 6 | ((unsigned char)at[i] & 0x3Fu);
    return c;
}

static size_t first_size(gale_str word, bool text) {
    size_t size = 1;
    while (text && size < word.size && continues(word.data[size])) size++;
    return size;
}

static size_t last_size(gale_str word, bool text) {
    size_t size = 1;
    while (text && size < word.size && continues(word.data[word.size - size])) size++;
    return size;
}

static bool letter_at(const char *at, size_t size) {
    return (size == 1 && (unsigned char)*at >= 0x80) || is_letter(decode(at, size));
}

gale_str gx_character_class_trim(gale_str word, bool text) {
    while (word.size) {
        size_t size = first_size(word, text);
        if (letter_at(word.data, size)) break;
        word.data += size;
        word.size -= size;
    }
    while (word.size) {
        size_t size = last_size(word, text);
        if (letter_at(word.data + word.size - size, size)) break;
        word.size -= size;
    }
    return word;
}

size_t gx_character_class_count(gale_str word, bool text) {
    if (!text) return word.size;
    size_t count = 0;
    for (size_t i = 0; i < word.size; i++) count += !continues(word.data[i]);
    return count;
}
