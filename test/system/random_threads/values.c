/* What tuples are made of, and what is read of them. */
#include "system/random_threads/run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PERIOD = 251, LOAD_MOST = 12 << 10, TEXT_MOST = 64, TEXT_LONG = RT_TEXT_MAX - 64 };

/* Text and loads begin at a place that the word says, and go on from there. */
static char pattern[LOAD_MOST + PERIOD];

void rt_values_init(void) {
    for (size_t i = 0; i < sizeof pattern; i++) pattern[i] = (char)('!' + i % PERIOD % 90);
}

static const char *pattern_of(rt_word word) {
    return &pattern[word.seq % PERIOD];
}

/* Mostly small; now and then a body that lies in a block of its own. */
static size_t draw_size(const rt_plan *plan, uint64_t random) {
    uint32_t drawn = random % 64, size = (uint32_t)(random >> 8);
    if (plan->heavy && drawn < 24) return 1000 + size % (LOAD_MOST - 1000);
    if (drawn < 2) return 2000 + size % 6000;
    return drawn < 16 ? size % 200 : size % 12;
}

static gale_value make_load(rt_values *made, const rt_plan *plan, rt_word word, uint64_t random) {
    for (int i = 0; i < 4; i++) made->items[i] = i & 1 ? gale_i64(word.seq) : gale_string(pattern_of(word), 5u + i);
    switch (random >> 56 & 15) {
    case 0: return gale_null();
    case 1: return gale_f64(word.seq);
    case 2: return gale_list(made->items, 4);
    case 3: return gale_map(made->items, 2);
    default: return gale_bytes(pattern_of(word), draw_size(plan, random));
    }
}

/* The word in hexadecimal, and mostly nothing or little behind it. */
static gale_value make_text(rt_values *made, rt_word word, int64_t packed, uint64_t random) {
    size_t used = (size_t)snprintf(made->text, sizeof made->text, "%" PRIx64 "~", (uint64_t)packed);
    size_t most = random >> 8 & 0x3f ? TEXT_MOST : TEXT_LONG;
    size_t more = random % 4 ? 0 : (random >> 16 & 0xffff) % most;
    memcpy(made->text + used, pattern_of(word), more);
    made->text[used + more] = 0; /* for whoever reads it before it is a tuple's */
    return gale_string(made->text, used + more);
}

void rt_values_make(rt_values *made, const rt_plan *plan, rt_shape shape, rt_word word, uint64_t random) {
    int64_t packed = rt_word_pack(word);
    made->count = 1;
    switch (shape) {
    case RT_NUMBER: made->values[0] = gale_i64(packed); break;
    case RT_TEXT: made->values[0] = make_text(made, word, packed, random); break;
    case RT_WIDE:
        made->count = 3;
        made->values[0] = gale_i64(word.key);
        made->values[1] = gale_i64(packed);
        made->values[2] = make_load(made, plan, word, random);
        break;
    }
}

/* --- Reading --- */

static rt_word read_text(const gale_value *value) {
    char *end;
    if (value->type != GALE_TYPE_STRING || value->as.string[value->size]) rt_violated("a text came as something else");
    rt_word word = rt_word_unpack((int64_t)strtoull(value->as.string, &end, 16));
    size_t used = (size_t)(end + 1 - value->as.string);
    if (*end != '~' || memcmp(end + 1, pattern_of(word), value->size - used) != 0)
        rt_violated("a text came changed: %s", value->as.string);
    return word;
}

static bool is_load(rt_word word, const gale_value *load) {
    gale_value item;
    switch (load->type) {
    case GALE_TYPE_NULL: return true;
    case GALE_TYPE_F64: return load->as.f64 == word.seq;
    case GALE_TYPE_LIST: item = gale_list_at(load, 3); return load->size == 4 && item.as.i64 == (int64_t)word.seq;
    case GALE_TYPE_MAP: return load->size == 2;
    case GALE_TYPE_BYTES: return memcmp(load->as.bytes, pattern_of(word), load->size) == 0;
    default: return false;
    }
}

rt_word rt_values_read(rt_shape shape, const gale_value *values, size_t count) {
    if (count != (shape == RT_WIDE ? 3 : 1)) rt_violated("a tuple came with %zu values", count);
    if (shape == RT_TEXT) return read_text(values);
    const gale_value *number = &values[shape == RT_WIDE];
    if (number->type != GALE_TYPE_I64) rt_violated("a number came as %s", gale_type_name(number->type));
    rt_word word = rt_word_unpack(number->as.i64);
    if (shape == RT_WIDE && (values[0].as.i64 != (int64_t)word.key || !is_load(word, &values[2])))
        rt_violated("tuple %u of lane %u came changed", word.seq, word.lane);
    return word;
}
