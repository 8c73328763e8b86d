#include "base/short_text.h"

#include "harness/cm.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Two pages that must not be touched, around two that may. */
typedef struct island {
    uint8_t *at, *end;
    size_t page;
} island;

static void rise(island *i) {
    i->page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *all = mmap(NULL, 4 * i->page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(all != MAP_FAILED);
    i->at = all + i->page;
    i->end = i->at + 2 * i->page;
    assert_int_equal(mprotect(i->at, 2 * i->page, PROT_READ | PROT_WRITE), 0);
    for (uint8_t *byte = i->at; byte < i->end; byte++) *byte = (uint8_t)(0x80 | ((byte - i->at) * 7 % 127));
}

static void sink(const island *i) {
    munmap(i->at - i->page, 4 * i->page);
}

static void loads_exactly(const uint8_t *text, size_t size) {
    uint8_t naive[16] = { 0 };
    if (size) memcpy(naive, text, size);
    gx_short_text loaded = gx_short_text_load(text, size);
    assert_memory_equal(&loaded, naive, sizeof naive);
    assert_true(gx_short_text_equal(loaded, gx_short_text_load_exactly(text, size)));
}

/* At the beginning and at the end of what may be read, and where both pages meet. */
static void text_is_loaded_without_what_is_behind_it_wherever_it_lies(void **state) {
    (void)state;
    uint32_t safe = gx_short_text_safe;
    for (int careful = 0; careful < 2; careful++) {
        island i;
        rise(&i);
        gx_short_text_safe = careful ? 0 : safe;
        for (size_t size = 0; size <= GX_SHORT_TEXT_MAX; size++)
            for (size_t off = 0; off < 48; off++) {
                loads_exactly(i.at + off, size);
                loads_exactly(i.at + i.page - 24 + off, size);
                loads_exactly(i.end - off - size, size);
            }
        sink(&i);
    }
    gx_short_text_safe = safe;
}

static void copies_exactly(const island *i, const uint8_t *text, size_t size) {
    enum { ROOM = 128, SLACK = 16 };
    uint8_t *to = malloc(ROOM + SLACK);
    memset(to, 0x11, ROOM + SLACK);
    gx_short_text_copy(to, text, size);
    if (size) assert_memory_equal(to, text, size);
    size_t written = size <= 16 ? 16 : size;
    for (size_t at = written; at < ROOM + SLACK; at++) assert_int_equal(to[at], 0x11);
    assert_true(text >= i->at && text + size <= i->end);
    free(to);
}

static void text_is_copied_and_what_is_shorter_than_16_bytes_takes_16(void **state) {
    (void)state;
    uint32_t safe = gx_short_text_safe;
    for (int careful = 0; careful < 2; careful++) {
        island i;
        rise(&i);
        gx_short_text_safe = careful ? 0 : safe;
        for (size_t size = 0; size <= 100; size++)
            for (size_t off = 0; off < 33; off++) {
                copies_exactly(&i, i.at + off, size);
                copies_exactly(&i, i.at + i.page - 17 + off, size);
                copies_exactly(&i, i.end - off - size, size);
            }
        sink(&i);
    }
    gx_short_text_safe = safe;
}

static void nothing_may_be_anywhere(void **state) {
    (void)state;
    uint8_t to[16];
    island i;
    rise(&i);
    assert_true(gx_short_text_equal(gx_short_text_load(NULL, 0), (gx_short_text){ 0, 0 }));
    assert_true(gx_short_text_equal(gx_short_text_load(i.end, 0), (gx_short_text){ 0, 0 }));
    gx_short_text_copy(to, NULL, 0);
    gx_short_text_copy(to, i.end, 0);
    sink(&i);
}

static void texts_are_equal_when_every_byte_is(void **state) {
    (void)state;
    uint8_t text[16];
    for (uint8_t i = 0; i < 16; i++) text[i] = i;
    gx_short_text whole = gx_short_text_load(text, 16);
    for (int bit = 0; bit < 128; bit++) {
        text[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_false(gx_short_text_equal(whole, gx_short_text_load(text, 16)));
        text[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    assert_true(gx_short_text_equal(whole, gx_short_text_load(text, 16)));
}

static void who_looks_at_single_bytes_is_known_by_what_is_loaded_first(void **state) {
    (void)state;
    static const char memcheck[] = "/usr/libexec/valgrind/vgpreload_core-amd64-linux.so:"
                                   "/usr/libexec/valgrind/vgpreload_memcheck-amd64-linux.so";
    assert_false(gx_short_text_is_watched(NULL));
    assert_false(gx_short_text_is_watched(""));
    assert_false(gx_short_text_is_watched("/usr/lib/libjemalloc.so.2"));
    assert_false(gx_short_text_is_watched("/usr/libexec/valgrind/vgpreload_core-amd64-linux.so")); /* callgrind */
    assert_true(gx_short_text_is_watched(memcheck));
    assert_true(gx_short_text_is_watched("vgpreload_helgrind-arm64-linux.so"));
    assert_true(gx_short_text_is_watched("vgpreload_drd-amd64-linux.so"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_loaded_without_what_is_behind_it_wherever_it_lies),
        cmocka_unit_test(text_is_copied_and_what_is_shorter_than_16_bytes_takes_16),
        cmocka_unit_test(nothing_may_be_anywhere),
        cmocka_unit_test(texts_are_equal_when_every_byte_is),
        cmocka_unit_test(who_looks_at_single_bytes_is_known_by_what_is_loaded_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
