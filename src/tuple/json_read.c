#include "tuple/json_read.h"

/* --- Paths --- */

size_t gx_json_paths_room(gale_str list) {
    size_t room = 2;
    for (size_t i = 0; i < list.size; i++) room += list.data[i] == ',' || list.data[i] == '.';
    return room;
}

static gx_json_node node_of(gale_str name) {
    uint64_t index;
    bool is_index = gx_str_number(name, 10, SIZE_MAX - 1, &index); /* a place in a list is digits alone */
    return (gx_json_node){ .name = name,
                           .index = is_index ? (size_t)index : SIZE_MAX,
                           .child = GX_JSON_NONE,
                           .next = GX_JSON_NONE,
                           .twin = GX_JSON_NONE,
                           .column = GX_JSON_NONE };
}

void gx_json_paths_init(gx_json_paths *paths, gx_json_node *nodes) {
    *paths = (gx_json_paths){ .nodes = nodes, .count = 1 };
    nodes[0] = node_of((gale_str){ "", 0 });
}

static uint32_t add_node(gx_json_paths *paths, uint16_t *link, gale_str name) {
    *link = (uint16_t)paths->count;
    paths->nodes[paths->count] = node_of(name);
    return paths->count++;
}

/* The node of this name below another, which is made where there is none. */
static uint32_t step_to(gx_json_paths *paths, uint32_t parent, gale_str name) {
    uint16_t *link = &paths->nodes[parent].child;
    while (*link != GX_JSON_NONE && !gx_str_equal(paths->nodes[*link].name, name)) link = &paths->nodes[*link].next;
    return *link != GX_JSON_NONE ? *link : add_node(paths, link, name);
}

static void want(gx_json_paths *paths, uint32_t node, uint32_t column, gx_json_numbers numbers) {
    while (paths->nodes[node].twin != GX_JSON_NONE) node = paths->nodes[node].twin;
    if (paths->nodes[node].column != GX_JSON_NONE)
        node = add_node(paths, &paths->nodes[node].twin, paths->nodes[node].name);
    paths->nodes[node].column = (uint16_t)column;
    paths->nodes[node].numbers = (uint8_t)numbers;
    if (paths->columns <= column) paths->columns = column + 1;
}

void gx_json_paths_add_name(gx_json_paths *paths, gale_str name, uint32_t column, gx_json_numbers numbers) {
    want(paths, step_to(paths, 0, name), column, numbers);
}

bool gx_json_paths_add(gx_json_paths *paths, gale_str path, uint32_t column, gx_json_numbers numbers) {
    uint32_t node = 0, steps = 0;
    for (const char *at = path.data, *end = at + path.size; path.size && at <= end; steps++) {
        const char *point = memchr(at, '.', (size_t)(end - at));
        gale_str name = { at, (size_t)((point ? point : end) - at) };
        if (!name.size || steps == GX_JSON_STEPS) return false;
        node = step_to(paths, node, name);
        at += name.size + 1;
    }
    want(paths, node, column, numbers);
    return true;
}

/* --- One reading --- */

typedef struct reading {
    gx_json_scan scan;
    gx_json_reader *reader;
    const gx_json_node *nodes;
    gale_value *columns;
    bool no_memory;
} reading;

static bool wrong(reading *r, const char *what) {
    return gx_json_scan_wrong(&r->scan, r->scan.at, what);
}

static bool no_memory(reading *r) {
    r->no_memory = true;
    return false;
}

static bool push(reading *r, gale_value value) {
    gx_json_reader *reader = r->reader;
    if (reader->item_count == reader->item_room && !gx_grow(reader->arena.heap, GX_TAG_OTHER, &reader->items,
                                                            &reader->item_room, reader->item_count + 1, sizeof value))
        return no_memory(r);
    reader->items[reader->item_count++] = value;
    return true;
}

/* What was pushed since there were `from`, in the arena. */
static gale_value *take_items(reading *r, size_t from) {
    gx_json_reader *reader = r->reader;
    size_t count = reader->item_count - from;
    gale_value *items = gx_arena_take(&reader->arena, count, SIZE_MAX / 2);
    if (items && count)
        memcpy(items, reader->items + from, count * sizeof *items);
    else if (!items)
        no_memory(r);
    reader->item_count = from;
    return items;
}

/* Makes the text of what stands between quotation marks, escapes and all. */
static bool unescape(reading *r, gale_str *ret_text) {
    char *text = gx_arena_bytes(&r->reader->arena, ret_text->size, SIZE_MAX / 2);
    if (!text) return no_memory(r);
    int64_t size = gx_json_scan_unescape(&r->scan, *ret_text, text);
    *ret_text = (gale_str){ text, size < 0 ? 0 : (size_t)size };
    return size >= 0;
}

/* Behind the quotation mark. */
static bool take_text(reading *r, gale_str *ret_text) {
    bool escaped;
    return gx_json_scan_string(&r->scan, ret_text, &escaped) && (!escaped || unescape(r, ret_text));
}

/* A name and its colon, escapes as they are. */
static bool take_raw_name(reading *r, gale_str *ret_name, bool *ret_escaped) {
    if (!gx_json_scan_take(&r->scan, '"')) return wrong(r, gx_json_wrong_name);
    return gx_json_scan_string(&r->scan, ret_name, ret_escaped) &&
           (gx_json_scan_take(&r->scan, ':') || wrong(r, gx_json_wrong_colon));
}

static bool take_name(reading *r, gale_str *ret_name) {
    bool escaped;
    return take_raw_name(r, ret_name, &escaped) && (!escaped || unescape(r, ret_name));
}

/* --- Values --- */

static bool make_number(reading *r, uint8_t numbers, gale_value *to) {
    gx_json_number number;
    int64_t whole;
    const char *place = r->scan.at;
    if (!gx_json_scan_number(&r->scan, &number)) return false;
    if (numbers == GX_JSON_TEXT ||
        (numbers == GX_JSON_DIGITS && number.whole && !gx_json_number_whole(&number, &whole))) {
        *to = gale_string(number.text.data, number.text.size);
        return true;
    }
    if (gx_json_number_whole(&number, &whole)) {
        *to = gale_i64(whole);
        return true;
    }
    *to = gale_f64(gx_json_number_value(&number));
    if (to->as.f64 - to->as.f64 != 0) return gx_json_scan_wrong(&r->scan, place, "the number is larger than any float");
    return true;
}

static bool make_value(reading *r, uint32_t depth, uint8_t numbers, gale_value *to);

static bool make_list(reading *r, uint32_t depth, uint8_t numbers, gale_value *to) {
    size_t from = r->reader->item_count;
    gale_value item;
    if (!gx_json_scan_take(&r->scan, ']')) {
        do {
            if (!make_value(r, depth, numbers, &item) || !push(r, item)) return false;
        } while (gx_json_scan_take(&r->scan, ','));
        if (!gx_json_scan_take(&r->scan, ']')) return wrong(r, gx_json_wrong_list);
    }
    size_t count = r->reader->item_count - from;
    gale_value *items = take_items(r, from);
    *to = gale_list(items, count);
    return items;
}

static int order_of(const gale_value *pair, const gale_value *other) {
    return gx_str_compare((gale_str){ pair->as.string, pair->size }, (gale_str){ other->as.string, other->size });
}

/* Merges two sorted runs of pairs; of equal keys, those of the first run come first. */
static void merge(const gale_value *from, size_t middle, size_t count, gale_value *to) {
    for (size_t a = 0, b = middle, i = 0; i < count; i++) {
        bool is_first = a < middle && (b == count || order_of(&from[2 * a], &from[2 * b]) <= 0);
        memcpy(&to[2 * i], &from[2 * (is_first ? a++ : b++)], 2 * sizeof *to);
    }
}

/* Sorts pairs by key and keeps the order of equal ones, by runs that double. `spare` has as much room. Returns where
 * they are. */
static gale_value *sort_pairs(gale_value *pairs, gale_value *spare, size_t count) {
    for (size_t run = 1; run < count; run *= 2) {
        for (size_t at = 0; at < count; at += 2 * run) {
            size_t left = count - at;
            merge(pairs + 2 * at, run < left ? run : left, 2 * run < left ? 2 * run : left, spare + 2 * at);
        }
        gale_value *swap = pairs;
        pairs = spare;
        spare = swap;
    }
    return pairs;
}

/* Sorted pairs: of a key that comes several times, the last stays. Returns how many are left. */
static size_t drop_twins(gale_value *pairs, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (i + 1 < count && order_of(&pairs[2 * i], &pairs[2 * i + 2]) == 0) continue;
        if (kept != i) memcpy(&pairs[2 * kept], &pairs[2 * i], 2 * sizeof *pairs);
        kept++;
    }
    return kept;
}

/* The pairs that were pushed since there were `from`, as a map. */
static bool make_pairs(reading *r, size_t from, gale_value *to) {
    size_t count = (r->reader->item_count - from) / 2;
    gale_value *pairs = take_items(r, from), *spare = pairs;
    bool is_sorted = true;
    for (size_t i = 1; pairs && is_sorted && i < count; i++) is_sorted = order_of(&pairs[2 * i - 2], &pairs[2 * i]) < 0;
    if (!is_sorted) spare = gx_arena_take(&r->reader->arena, 2 * count, SIZE_MAX / 2);
    if (!pairs || !spare) return no_memory(r);
    if (!is_sorted) {
        pairs = sort_pairs(pairs, spare, count);
        size_t kept = drop_twins(pairs, count);
        if (kept < count && r->reader->unique) return wrong(r, "an object has a name twice");
        count = kept;
    }
    *to = gale_map(pairs, count);
    return true;
}

static bool make_map(reading *r, uint32_t depth, uint8_t numbers, gale_value *to) {
    size_t from = r->reader->item_count;
    gale_str name;
    gale_value value;
    if (!gx_json_scan_take(&r->scan, '}')) {
        do {
            if (!take_name(r, &name) || !push(r, gale_string(name.data, name.size))) return false;
            if (!make_value(r, depth, numbers, &value) || !push(r, value)) return false;
        } while (gx_json_scan_take(&r->scan, ','));
        if (!gx_json_scan_take(&r->scan, '}')) return wrong(r, gx_json_wrong_map);
    }
    return make_pairs(r, from, to);
}

static bool make_string(reading *r, gale_value *to) {
    gale_str text = { NULL, 0 };
    if (!take_text(r, &text)) return false;
    *to = gale_string(text.data, text.size);
    return true;
}

static bool make_word(reading *r, const char *word, size_t size, gale_value value, gale_value *to) {
    *to = value;
    return gx_json_scan_word(&r->scan, word, size);
}

static const char too_deep[] = "more than 32 lists and objects inside each other are no value";

/* `depth` lists and maps of the value are around it. */
static bool make_value(reading *r, uint32_t depth, uint8_t numbers, gale_value *to) {
    gx_json_scan_blanks(&r->scan);
    char first = r->scan.at < r->scan.end ? *r->scan.at : 0;
    switch (first) {
    case '"': r->scan.at++; return make_string(r, to);
    case 't': return make_word(r, "true", 4, gale_bool(true), to);
    case 'f': return make_word(r, "false", 5, gale_bool(false), to);
    case 'n': return make_word(r, "null", 4, gale_null(), to);
    case '{':
    case '[': break;
    default: return make_number(r, numbers, to);
    }
    if (depth == r->reader->depth) return wrong(r, depth == GX_JSON_DEPTH ? gx_json_wrong_deep : too_deep);
    r->scan.at++;
    return first == '{' ? make_map(r, depth + 1, numbers, to) : make_list(r, depth + 1, numbers, to);
}

/* --- What is wanted of a document --- */

static bool follow(reading *r, uint16_t node, uint32_t depth);

/* All below is null again: a name that comes twice counts anew. */
static void forget(reading *r, uint16_t node) {
    for (uint16_t i = node; i != GX_JSON_NONE; i = r->nodes[i].twin)
        if (r->nodes[i].column != GX_JSON_NONE) r->columns[r->nodes[i].column] = gale_null();
    for (uint16_t child = r->nodes[node].child; child != GX_JSON_NONE; child = r->nodes[child].next) forget(r, child);
}

/* The child of this name; the search begins at `guess`, behind the one that was found last, for documents name their
 * members in one order. */
static uint16_t find_name(const reading *r, uint16_t first, uint16_t guess, gale_str name) {
    for (uint16_t i = guess; i != GX_JSON_NONE; i = r->nodes[i].next)
        if (gx_str_equal(r->nodes[i].name, name)) return i;
    for (uint16_t i = first; i != guess; i = r->nodes[i].next)
        if (gx_str_equal(r->nodes[i].name, name)) return i;
    return GX_JSON_NONE;
}

static uint16_t find_index(const reading *r, uint16_t first, size_t index) {
    while (first != GX_JSON_NONE && r->nodes[first].index != index) first = r->nodes[first].next;
    return first;
}

static bool follow_object(reading *r, uint16_t first, uint32_t depth) {
    uint16_t guess = first;
    gale_str name;
    bool escaped;
    if (gx_json_scan_take(&r->scan, '}')) return true;
    do {
        if (!take_raw_name(r, &name, &escaped)) return false;
        bool is_text = !escaped || unescape(r, &name); /* one that is no text is nobody's */
        if (r->no_memory) return false;
        uint16_t child = is_text ? find_name(r, first, guess, name) : GX_JSON_NONE;
        if (!follow(r, child, depth)) return false;
        if (child != GX_JSON_NONE) guess = r->nodes[child].next;
    } while (gx_json_scan_take(&r->scan, ','));
    return gx_json_scan_take(&r->scan, '}') || wrong(r, gx_json_wrong_map);
}

static bool follow_list(reading *r, uint16_t first, uint32_t depth) {
    if (gx_json_scan_take(&r->scan, ']')) return true;
    size_t index = 0;
    do {
        if (!follow(r, find_index(r, first, index++), depth)) return false;
    } while (gx_json_scan_take(&r->scan, ','));
    return gx_json_scan_take(&r->scan, ']') || wrong(r, gx_json_wrong_list);
}

/* The members of what stands here, which has some that are wanted. */
static bool follow_members(reading *r, uint16_t node, uint32_t depth) {
    gx_json_scan_blanks(&r->scan);
    char first = r->scan.at < r->scan.end ? *r->scan.at : 0;
    if (first != '{' && first != '[') return gx_json_scan_skip(&r->scan, depth);
    if (depth == GX_JSON_DEPTH) return wrong(r, gx_json_wrong_deep);
    r->scan.at++;
    return first == '{' ? follow_object(r, r->nodes[node].child, depth + 1)
                        : follow_list(r, r->nodes[node].child, depth + 1);
}

/* A value of the document, inside of `depth` lists and objects. One that is wanted in several ways is read as often. */
static bool follow(reading *r, uint16_t node, uint32_t depth) {
    if (node == GX_JSON_NONE) return gx_json_scan_skip(&r->scan, depth);
    const char *from = r->scan.at;
    if (r->nodes[node].child != GX_JSON_NONE) {
        if (node) forget(r, node);
        if (!follow_members(r, node, depth)) return false;
    }
    if (r->nodes[node].column == GX_JSON_NONE) return true;
    for (; node != GX_JSON_NONE; node = r->nodes[node].twin) {
        r->scan.at = from;
        if (!make_value(r, 0, r->nodes[node].numbers, &r->columns[r->nodes[node].column])) return false;
    }
    return true;
}

/* --- The reader --- */

void gx_json_reader_init(gx_json_reader *reader, gx_heap *heap) {
    *reader = (gx_json_reader){ .arena = { .heap = heap }, .depth = GALE_VALUE_DEPTH };
}

void gx_json_reader_fini(gx_json_reader *reader) {
    gx_free(reader->arena.heap, GX_TAG_OTHER, reader->items, reader->item_room * sizeof *reader->items);
    gx_arena_fini(&reader->arena);
}

int gx_json_read(gx_json_reader *reader, gale_str text, const gx_json_paths *paths, gale_value *columns) {
    reading r = { gx_json_scan_of(text), reader, paths->nodes, columns, false };
    gx_arena_reset(&reader->arena);
    reader->item_count = 0;
    for (uint32_t i = 0; i < paths->columns; i++) columns[i] = gale_null();
    bool good = paths->columns ? follow(&r, 0, 0) : gx_json_scan_skip(&r.scan, 0);
    if (good && gx_json_scan_ended(&r.scan)) return GALE_OK;
    if (r.no_memory) return GALE_NO_MEMORY;
    reader->wrong = r.scan.wrong;
    gx_json_scan_where(text, r.scan.place, &reader->line, &reader->column);
    return GALE_INVALID;
}

int gx_json_read_document(gx_json_reader *reader, gale_str text, gale_value *ret_value) {
    gx_json_node node;
    gx_json_paths paths;
    gx_json_paths_init(&paths, &node);
    gx_json_paths_add(&paths, gx_str(""), 0, GX_JSON_NEAREST);
    return gx_json_read(reader, text, &paths, ret_value);
}
