#include "connect/formats/avro_schema.h"

#include "connect/formats/nearest.h"

#include <jansson.h>
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

static gale_str text_at(const json_t *json, const char *key) {
    const json_t *text = json_object_get(json, key);
    return json_is_string(text) ? (gale_str){ json_string_value(text), json_string_length(text) } : (gale_str){ "", 0 };
}

static int read_node(builder *b, const json_t *json, gale_str scope, int depth, const av_node **ret_node);

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

static int add_named(builder *b, const json_t *json, gale_str scope, av_node *node) {
    gale_str name = text_at(json, "name");
    const json_t *given = json_object_get(json, "namespace");
    if (json_is_string(given)) scope = text_at(json, "namespace");
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
static gale_value bytes_of(fmt_memory *memory, const json_t *json) {
    const char *text = json_string_value(json);
    size_t size = json_string_length(json), count = 0;
    char *bytes = fmt_memory_take(memory, size + 1);
    for (size_t i = 0; bytes && i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if ((c & 0xfc) == 0xc0 && i + 1 < size) c = (unsigned char)(c << 6 | ((unsigned char)text[++i] & 0x3f));
        bytes[count++] = (char)c;
    }
    return bytes ? gale_bytes(bytes, count) : gale_null();
}

static gale_value value_of(fmt_memory *memory, const json_t *json, int depth);

static gale_value list_of(fmt_memory *memory, const json_t *json, int depth) {
    size_t count = json_array_size(json);
    gale_value *items = fmt_memory_take(memory, (count + 1) * sizeof *items);
    for (size_t i = 0; items && i < count; i++) items[i] = value_of(memory, json_array_get(json, i), depth + 1);
    return gale_list(items, items ? count : 0);
}

static gale_value map_of(fmt_memory *memory, const json_t *json, int depth) {
    gale_value *pairs = fmt_memory_take(memory, (2 * json_object_size(json) + 1) * sizeof *pairs);
    size_t count = 0;
    json_t *object = (json_t *)(uintptr_t)json;
    for (void *at = json_object_iter(object); pairs && at; at = json_object_iter_next(object, at)) {
        gale_str key = str_of(json_object_iter_key(at));
        key = fmt_memory_copy(memory, key.data, key.size);
        pairs[2 * count] = gale_string(key.data, key.size);
        pairs[2 * count++ + 1] = value_of(memory, json_object_iter_value(at), depth + 1);
    }
    return gale_map(pairs, count);
}

static gale_value value_of(fmt_memory *memory, const json_t *json, int depth) {
    if (depth > GALE_VALUE_DEPTH) return gale_null();
    switch (json_typeof(json)) {
    case JSON_TRUE:
    case JSON_FALSE: return gale_bool(json_is_true(json));
    case JSON_INTEGER: return gale_i64(json_integer_value(json));
    case JSON_REAL: return gale_f64(json_real_value(json));
    case JSON_ARRAY: return list_of(memory, json, depth);
    case JSON_OBJECT: return map_of(memory, json, depth);
    case JSON_STRING: {
        gale_str copy = fmt_memory_copy(memory, json_string_value(json), json_string_length(json));
        return copy.data ? gale_string(copy.data, copy.size) : gale_null();
    }
    default: return gale_null();
    }
}

/* --- Types ------------------------------------------------------------------------------------------------------------ */

static int read_field(builder *b, const json_t *json, const av_node *record, av_field *field, int depth) {
    const json_t *type = json_object_get(json, "type"), *fallback = json_object_get(json, "default");
    gale_str name = text_at(json, "name");
    if (!is_name(name, false)) return wrong(b, "a field has no name, in the record", record->name);
    if (!type) return wrong(b, "it has no type, the field", name);
    int rc = read_node(b, type, scope_of(record->name), depth + 1, &field->node);
    if (rc < 0) return rc;
    field->name = fmt_memory_copy(b->memory, name.data, name.size);
    field->has_fallback = fallback != NULL;
    bool is_bytes = field->node->kind == AV_BYTES || field->node->kind == AV_FIXED;
    if (fallback)
        field->fallback = is_bytes && json_is_string(fallback) ? bytes_of(b->memory, fallback)
                                                               : value_of(b->memory, fallback, 0);
    return field->name.data ? 0 : no_memory(b);
}

static int read_record(builder *b, const json_t *json, av_node *node, int depth) {
    const json_t *fields = json_object_get(json, "fields");
    if (!json_is_array(fields)) return wrong(b, "it has no list of fields, the record", node->name);
    size_t count = json_array_size(fields);
    node->fields = fmt_memory_take(b->memory, (count + 1) * sizeof *node->fields);
    if (!node->fields) return no_memory(b);
    for (size_t i = 0; i < count; i++) {
        int rc = read_field(b, json_array_get(fields, i), node, &node->fields[i], depth);
        if (rc < 0) return rc;
        for (size_t j = 0; j < i; j++)
            if (fmt_same(node->fields[i].name, node->fields[j].name))
                return wrong(b, "two fields of a record have one name", node->fields[i].name);
        node->count = i + 1;
    }
    return 0;
}

static int read_symbols(builder *b, const json_t *json, av_node *node) {
    const json_t *symbols = json_object_get(json, "symbols");
    size_t count = json_array_size(symbols);
    node->symbols = fmt_memory_take(b->memory, (count + 1) * sizeof *node->symbols);
    if (!node->symbols) return no_memory(b);
    for (; node->count < count; node->count++) {
        const json_t *symbol = json_array_get(symbols, node->count);
        if (!json_is_string(symbol)) return wrong(b, "a symbol is no text, of the enumeration", node->name);
        node->symbols[node->count] = fmt_memory_copy(b->memory, json_string_value(symbol), json_string_length(symbol));
        if (!node->symbols[node->count].data) return no_memory(b);
    }
    return count ? 0 : wrong(b, "it has no symbols, the enumeration", node->name);
}

static int read_fixed(builder *b, const json_t *json, av_node *node) {
    const json_t *size = json_object_get(json, "size");
    if (!json_is_integer(size) || json_integer_value(size) < 0 || json_integer_value(size) > FMT_MEMORY_MAX)
        return wrong(b, "it has no size, the type", node->name);
    node->count = (size_t)json_integer_value(size);
    return 0;
}

static int read_below(builder *b, const json_t *json, const char *key, gale_str scope, av_node *node, int depth) {
    const json_t *below = json_object_get(json, key);
    if (!below) return wrong(b, "an array or a map lacks its", str_of(key));
    node->below = fmt_memory_take(b->memory, sizeof(void *));
    node->count = 1;
    return node->below ? read_node(b, below, scope, depth + 1, &node->below[0]) : no_memory(b);
}

static int read_union(builder *b, const json_t *json, gale_str scope, av_node *node, int depth) {
    size_t count = json_array_size(json);
    *node = (av_node){ .kind = AV_UNION, .name = str_of("union") };
    node->below = fmt_memory_take(b->memory, (count + 1) * sizeof(void *));
    if (!node->below) return no_memory(b);
    for (; node->count < count; node->count++) {
        int rc = read_node(b, json_array_get(json, node->count), scope, depth + 1, &node->below[node->count]);
        if (rc < 0) return rc;
        if (node->below[node->count]->kind == AV_UNION) return wrong(b, "it stands in another one, the", node->name);
    }
    return count ? 0 : wrong(b, "it has no branch, the", node->name);
}

static int read_object(builder *b, const json_t *json, gale_str scope, int depth, av_node *node) {
    gale_str type = text_at(json, "type");
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
static bool is_wrapped(const json_t *json) {
    const json_t *type = json_object_get(json, "type");
    if (!json_is_string(type)) return type != NULL;
    for (int kind = AV_RECORD; kind < AV_KIND_COUNT; kind++)
        if (kind != AV_UNION && strcmp(json_string_value(type), kind_names[kind]) == 0) return false;
    return true;
}

static int read_node(builder *b, const json_t *json, gale_str scope, int depth, const av_node **ret_node) {
    if (depth > AV_NESTED_MAX) return wrong(b, "types are too deep inside of each other", str_of("type"));
    if (json_is_string(json))
        return read_word(b, (gale_str){ json_string_value(json), json_string_length(json) }, scope, ret_node);
    if (json_is_object(json) && is_wrapped(json))
        return read_node(b, json_object_get(json, "type"), scope, depth + 1, ret_node);
    if (!json_is_object(json) && !json_is_array(json))
        return wrong(b, "a type is a name, an object or a list", str_of("type"));
    av_node *node = fmt_memory_take(b->memory, sizeof *node);
    if (!node) return no_memory(b);
    *ret_node = node;
    return json_is_array(json) ? read_union(b, json, scope, node, depth) : read_object(b, json, scope, depth, node);
}

int av_schema_read(av_schema *schema, gale_str text, gale_error *error) {
    builder b = { schema, &schema->memory, error };
    json_error_t where;
    json_t *json = json_loadb(text.data, text.size, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &where);
    if (!json) return gale_error_set(error, GALE_SYNTAX, "schema: %d:%d: %s", where.line, where.column, where.text);
    int rc = read_node(&b, json, (gale_str){ "", 0 }, 0, &schema->root);
    json_decref(json);
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
