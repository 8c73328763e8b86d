#include "connect/formats/avro_schema.h"

#include "connect/formats/nearest.h"

#include <gale/json.h>
#include <string.h>

typedef struct builder {
    av_schema *schema;
    fmt_memory *memory;
    gale_error *error;
} builder;

static const char *const kind_names[AV_KIND_COUNT] = {
    "null",   "boolean", "int",  "long",  "float", "double", "bytes",
    "string", "record",  "enum", "array", "map",   "union",  "fixed"
};

const char *av_kind_name(av_kind kind) {
    return kind_names[kind];
}

static gale_str str_of(const char *text) {
    return (gale_str){ text, strlen(text) };
}

static int no_memory(builder *b) {
    return gale_error_set(b->error, fmt_memory_error(b->memory), "schema: it takes too much memory");
}

static int wrong(builder *b, const char *what, gale_str name) {
    return gale_error_set(b->error, GALE_INVALID, "schema: %s: '%.*s'", what, (int)(name.size < 100 ? name.size : 100),
                          name.data);
}

static bool is(gale_str json, gale_json_kind kind) {
    return gale_json_kind_of(json) == kind;
}

/* What a string says; it ends with a NUL, and is empty for another value. */
static gale_str text_of(fmt_memory *memory, gale_str json) {
    char *text = is(json, GALE_JSON_STRING) ? fmt_memory_take(memory, json.size + 1) : NULL;
    int64_t size = text ? gale_json_text(json, text, json.size + 1) : -1;
    return size < 0 ? (gale_str){ "", 0 } : (gale_str){ text, (size_t)size };
}

/* No value where there is none. */
static gale_str member(gale_str json, const char *key) {
    gale_str found;
    return gale_json_get(json, key, &found) ? found : (gale_str){ "", 0 };
}

static gale_str text_at(const builder *b, gale_str json, const char *key) {
    return text_of(b->memory, member(json, key));
}

static size_t count_of(gale_str json) {
    gale_json_item item = GALE_JSON_FIRST(json);
    size_t count = 0;
    while (gale_json_next(&item)) count++;
    return count;
}

static int read_node(builder *b, gale_str json, gale_str scope, int depth, const av_node **ret_node);

/* --- Names ------------------------------------------------------------------------------------------------------------ */

static bool is_name(gale_str name, bool points) {
    bool begins = true;
    for (size_t i = 0; i < name.size; i++) {
        char c = name.data[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        bool digit = c >= '0' && c <= '9', point = points && c == '.';
        if (begins ? !letter : !letter && !digit && !point) return false;
        begins = point;
    }
    return !begins;
}

/* With its namespace: "shop" and "Order", "shop.Order". */
static gale_str full_name(builder *b, gale_str scope, gale_str name) {
    if (!scope.size || memchr(name.data, '.', name.size)) return fmt_memory_copy(b->memory, name.data, name.size);
    char *text = fmt_memory_take(b->memory, scope.size + name.size + 2);
    if (!text) return (gale_str){ NULL, 0 };
    memcpy(text, scope.data, scope.size);
    text[scope.size] = '.';
    memcpy(text + scope.size + 1, name.data, name.size);
    return (gale_str){ text, scope.size + 1 + name.size };
}

/* What stands before the last point. */
static gale_str scope_of(gale_str name) {
    size_t size = name.size;
    while (size && name.data[size - 1] != '.') size--;
    return (gale_str){ name.data, size ? size - 1 : 0 };
}

static const av_node *find(const av_schema *schema, gale_str name) {
    for (size_t i = 0; i < schema->named_count; i++)
        if (fmt_same(schema->named[i]->name, name)) return schema->named[i];
    return NULL;
}

static int add_named(builder *b, gale_str json, gale_str scope, av_node *node) {
    gale_str name = text_at(b, json, "name");
    if (is(member(json, "namespace"), GALE_JSON_STRING)) scope = text_at(b, json, "namespace");
    if (!is_name(name, true) || (scope.size && !is_name(scope, true))) return wrong(b, "it is no name of a type", name);
    node->name = full_name(b, scope, name);
    if (!node->name.data) return no_memory(b);
    if (find(b->schema, node->name)) return wrong(b, "two types have one name", node->name);
    if (b->schema->named_count == AV_NAMED_MAX) return wrong(b, "there are too many types; one more is", node->name);
    b->schema->named[b->schema->named_count++] = node;
    return 0;
}

static int read_word(builder *b, gale_str word, gale_str scope, const av_node **ret_node) {
    fmt_nearest nearest = fmt_nearest_to(word);
    char hint[FMT_HINT];
    for (int kind = 0; kind <= AV_STRING; kind++) {
        fmt_nearest_offer(&nearest, str_of(kind_names[kind]));
        if (!fmt_same(word, str_of(kind_names[kind]))) continue;
        av_node *node = fmt_memory_take(b->memory, sizeof *node);
        if (!node) return no_memory(b);
        *node = (av_node){ .kind = (av_kind)kind, .name = str_of(kind_names[kind]) };
        *ret_node = node;
        return 0;
    }
    gale_str name = full_name(b, scope, word);
    if (!name.data) return no_memory(b);
    *ret_node = find(b->schema, name);
    if (!*ret_node) *ret_node = find(b->schema, word);
    if (*ret_node) return 0;
    for (size_t i = 0; i < b->schema->named_count; i++) fmt_nearest_offer(&nearest, b->schema->named[i]->name);
    return gale_error_set(b->error, GALE_INVALID, "schema: there is no type '%.*s' yet where it is used%s",
                          (int)(word.size < 100 ? word.size : 100), word.data, fmt_nearest_hint(&nearest, hint));
}

/* --- Defaults --------------------------------------------------------------------------------------------------------- */

/* Of bytes each is a character of U+0000 to U+00FF. */
static gale_value bytes_of(fmt_memory *memory, gale_str json) {
    gale_str text = text_of(memory, json);
    size_t count = 0;
    char *bytes = fmt_memory_take(memory, text.size + 1);
    for (size_t i = 0; bytes && i < text.size; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if ((c & 0xfc) == 0xc0 && i + 1 < text.size)
            c = (unsigned char)(c << 6 | ((unsigned char)text.data[++i] & 0x3f));
        bytes[count++] = (char)c;
    }
    return bytes ? gale_bytes(bytes, count) : gale_null();
}

static gale_value value_of(fmt_memory *memory, gale_str json, int depth);

static gale_value list_of(fmt_memory *memory, gale_str json, int depth) {
    size_t count = count_of(json);
    gale_value *items = fmt_memory_take(memory, (count + 1) * sizeof *items);
    for (gale_json_item item = GALE_JSON_FIRST(json); items && gale_json_next(&item);)
        items[item.index] = value_of(memory, item.value, depth + 1);
    return gale_list(items, items ? count : 0);
}

static gale_value map_of(fmt_memory *memory, gale_str json, int depth) {
    gale_value *pairs = fmt_memory_take(memory, (2 * count_of(json) + 1) * sizeof *pairs);
    size_t count = 0;
    for (gale_json_item item = GALE_JSON_FIRST(json); pairs && gale_json_next(&item);) {
        gale_str key = text_of(memory, item.name);
        pairs[2 * count] = gale_string(key.data, key.size);
        pairs[2 * count++ + 1] = value_of(memory, item.value, depth + 1);
    }
    return gale_map(pairs, count);
}

static gale_value number_of(gale_str json) {
    int64_t whole;
    double number;
    if (gale_json_whole(json, &whole)) return gale_i64(whole);
    return gale_json_number(json, &number) ? gale_f64(number) : gale_null(); /* which no number is */
}

static gale_value value_of(fmt_memory *memory, gale_str json, int depth) {
    if (depth > GALE_VALUE_DEPTH) return gale_null();
    gale_str text;
    switch (gale_json_kind_of(json)) {
    case GALE_JSON_BOOL: return gale_bool(*json.data == 't');
    case GALE_JSON_NUMBER: return number_of(json);
    case GALE_JSON_LIST: return list_of(memory, json, depth);
    case GALE_JSON_OBJECT: return map_of(memory, json, depth);
    case GALE_JSON_STRING: text = text_of(memory, json); return gale_string(text.data, text.size);
    default: return gale_null();
    }
}

/* --- Types ------------------------------------------------------------------------------------------------------------ */

static int read_field(builder *b, gale_str json, const av_node *record, av_field *field, int depth) {
    gale_str type = member(json, "type"), fallback = member(json, "default"), name = text_at(b, json, "name");
    if (!is_name(name, false)) return wrong(b, "a field has no name, in the record", record->name);
    if (!type.size) return wrong(b, "it has no type, the field", name);
    int rc = read_node(b, type, scope_of(record->name), depth + 1, &field->node);
    if (rc < 0) return rc;
    field->name = fmt_memory_copy(b->memory, name.data, name.size);
    field->has_fallback = fallback.size > 0;
    bool is_bytes = field->node->kind == AV_BYTES || field->node->kind == AV_FIXED;
    if (fallback.size)
        field->fallback = is_bytes && is(fallback, GALE_JSON_STRING) ? bytes_of(b->memory, fallback)
                                                                     : value_of(b->memory, fallback, 0);
    return field->name.data ? 0 : no_memory(b);
}

static int read_record(builder *b, gale_str json, av_node *node, int depth) {
    gale_str fields = member(json, "fields");
    if (!is(fields, GALE_JSON_LIST)) return wrong(b, "it has no list of fields, the record", node->name);
    node->fields = fmt_memory_take(b->memory, (count_of(fields) + 1) * sizeof *node->fields);
    if (!node->fields) return no_memory(b);
    for (gale_json_item item = GALE_JSON_FIRST(fields); gale_json_next(&item);) {
        size_t i = item.index;
        int rc = read_field(b, item.value, node, &node->fields[i], depth);
        if (rc < 0) return rc;
        for (size_t j = 0; j < i; j++)
            if (fmt_same(node->fields[i].name, node->fields[j].name))
                return wrong(b, "two fields of a record have one name", node->fields[i].name);
        node->count = i + 1;
    }
    return 0;
}

static int read_symbols(builder *b, gale_str json, av_node *node) {
    gale_str symbols = member(json, "symbols");
    size_t count = is(symbols, GALE_JSON_LIST) ? count_of(symbols) : 0;
    node->symbols = fmt_memory_take(b->memory, (count + 1) * sizeof *node->symbols);
    if (!node->symbols) return no_memory(b);
    for (gale_json_item item = GALE_JSON_FIRST(symbols); count && gale_json_next(&item); node->count++) {
        if (!is(item.value, GALE_JSON_STRING)) return wrong(b, "a symbol is no text, of the enumeration", node->name);
        gale_str symbol = text_of(b->memory, item.value);
        node->symbols[node->count] = fmt_memory_copy(b->memory, symbol.data, symbol.size);
        if (!node->symbols[node->count].data) return no_memory(b);
    }
    return count ? 0 : wrong(b, "it has no symbols, the enumeration", node->name);
}

static int read_fixed(builder *b, gale_str json, av_node *node) {
    int64_t size;
    if (!gale_json_whole(member(json, "size"), &size) || size < 0 || size > FMT_MEMORY_MAX)
        return wrong(b, "it has no size, the type", node->name);
    node->count = (size_t)size;
    return 0;
}

static int read_below(builder *b, gale_str json, const char *key, gale_str scope, av_node *node, int depth) {
    gale_str below = member(json, key);
    if (!below.size) return wrong(b, "an array or a map lacks its", str_of(key));
    node->below = fmt_memory_take(b->memory, sizeof(void *));
    node->count = 1;
    return node->below ? read_node(b, below, scope, depth + 1, &node->below[0]) : no_memory(b);
}

static int read_union(builder *b, gale_str json, gale_str scope, av_node *node, int depth) {
    size_t count = count_of(json);
    *node = (av_node){ .kind = AV_UNION, .name = str_of("union") };
    node->below = fmt_memory_take(b->memory, (count + 1) * sizeof(void *));
    if (!node->below) return no_memory(b);
    for (gale_json_item item = GALE_JSON_FIRST(json); gale_json_next(&item); node->count++) {
        int rc = read_node(b, item.value, scope, depth + 1, &node->below[node->count]);
        if (rc < 0) return rc;
        if (node->below[node->count]->kind == AV_UNION) return wrong(b, "it stands in another one, the", node->name);
    }
    return count ? 0 : wrong(b, "it has no branch, the", node->name);
}

static int read_object(builder *b, gale_str json, gale_str scope, int depth, av_node *node) {
    gale_str type = text_at(b, json, "type");
    int kind = AV_RECORD;
    while (kind < AV_KIND_COUNT && !fmt_same(type, str_of(kind_names[kind]))) kind++;
    *node = (av_node){ .kind = (av_kind)kind, .name = str_of(kind < AV_KIND_COUNT ? kind_names[kind] : "") };
    bool named = kind == AV_RECORD || kind == AV_ENUM || kind == AV_FIXED;
    int rc = named ? add_named(b, json, scope, node) : 0;
    if (rc < 0) return rc;
    switch (kind) {
    case AV_RECORD: return read_record(b, json, node, depth);
    case AV_ENUM: return read_symbols(b, json, node);
    case AV_FIXED: return read_fixed(b, json, node);
    case AV_ARRAY: return read_below(b, json, "items", scope, node, depth);
    case AV_MAP: return read_below(b, json, "values", scope, node, depth);
    default: return wrong(b, "it is no type", type);
    }
}

/* {"type": "long", "logicalType": ...}, {"type": {...}}: what stands inside is meant. */
static bool is_wrapped(gale_str json) {
    gale_str type = member(json, "type");
    if (!is(type, GALE_JSON_STRING)) return type.size > 0;
    for (int kind = AV_RECORD; kind < AV_KIND_COUNT; kind++)
        if (kind != AV_UNION && gale_json_is(type, kind_names[kind])) return false;
    return true;
}

static int read_node(builder *b, gale_str json, gale_str scope, int depth, const av_node **ret_node) {
    if (depth > AV_NESTED_MAX) return wrong(b, "types are too deep inside of each other", str_of("type"));
    if (is(json, GALE_JSON_STRING)) return read_word(b, text_of(b->memory, json), scope, ret_node);
    if (is(json, GALE_JSON_OBJECT) && is_wrapped(json))
        return read_node(b, member(json, "type"), scope, depth + 1, ret_node);
    if (!is(json, GALE_JSON_OBJECT) && !is(json, GALE_JSON_LIST))
        return wrong(b, "a type is a name, an object or a list", str_of("type"));
    av_node *node = fmt_memory_take(b->memory, sizeof *node);
    if (!node) return no_memory(b);
    *ret_node = node;
    return is(json, GALE_JSON_LIST) ? read_union(b, json, scope, node, depth)
                                    : read_object(b, json, scope, depth, node);
}

/* Two members of one name, in any object: the second one's name; or nothing. */
static gale_str find_twin(gale_str json) {
    gale_str twin = { "", 0 };
    for (gale_json_item item = GALE_JSON_FIRST(json); !twin.size && gale_json_next(&item);) {
        for (gale_json_item before = GALE_JSON_FIRST(json);
             item.name.size && gale_json_next(&before) && before.index < item.index;)
            if (fmt_same(before.name, item.name)) return item.name;
        twin = find_twin(item.value);
    }
    return twin;
}

int av_schema_read(av_schema *schema, gale_str text, gale_error *error) {
    builder b = { schema, &schema->memory, error };
    gale_error where = GALE_ERROR_INIT;
    gale_str json;
    if (gale_json_check(text, &json, &where) < 0) return gale_error_set(error, GALE_SYNTAX, "schema: %s", where.text);
    gale_str twin = find_twin(json);
    if (twin.size) return wrong(&b, "two members of an object have one name", twin);
    int rc = read_node(&b, json, (gale_str){ "", 0 }, 0, &schema->root);
    if (rc == 0 && schema->root->kind != AV_RECORD)
        rc = wrong(&b, "it is to be a record, and is", str_of(kind_names[schema->root->kind]));
    return rc;
}

const av_node *av_node_record(const av_node *node) {
    const av_node *found = node->kind == AV_RECORD ? node : NULL;
    for (size_t i = 0; node->kind == AV_UNION && i < node->count; i++) {
        if (node->below[i]->kind == AV_NULL) continue;
        if (found || node->below[i]->kind != AV_RECORD) return NULL;
        found = node->below[i];
    }
    return found;
}
