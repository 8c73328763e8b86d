#include "front/yaml.h"

#include "base/encoding.h"
#include "base/nearest.h"
#include "base/os/file.h"
#include "base/secret.h"
#include "base/str.h"
#include "base/utf8.h"
#include "topology/config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <yaml.h>

/* --- Memory: nodes and text lie in blocks that go back together --------------------------------------------------- */

enum { BLOCK_SIZE = 16 << 10 };

typedef struct block {
    struct block *next;
    size_t size;
} block;

typedef struct anchor {
    gale_str name;
    gx_yaml *node;
} anchor;

struct gx_yaml_doc {
    gale_allocator allocator;
    block *blocks;
    size_t used; /* of the first block */
    const char *name;
    gx_yaml *root;
    size_t nodes; /* so far, aliases spelled out */
    anchor *anchors;
    size_t anchor_count;
    bool has_secrets;
    gx_problems *problems; /* where errors are kept, or NULL */
    gx_yaml_doc *adopted;  /* the first of those that it keeps alive */
    gx_yaml_doc *next;     /* among the adopted */
};

void *gx_yaml_take(gx_yaml_doc *doc, size_t size) {
    size = (size + 15) & ~(size_t)15;
    if (!doc->blocks || doc->blocks->size - doc->used < size) {
        size_t block_size = sizeof(block) + size > BLOCK_SIZE ? sizeof(block) + size : BLOCK_SIZE;
        block *fresh = doc->allocator.alloc(doc->allocator.user, block_size);
        if (!fresh) return NULL;
        *fresh = (block){ doc->blocks, block_size };
        doc->blocks = fresh;
        doc->used = (sizeof(block) + 15) & ~(size_t)15;
    }
    void *piece = (char *)doc->blocks + doc->used;
    doc->used += size;
    memset(piece, 0, size);
    return piece;
}

static const char *take_text(gx_yaml_doc *doc, const void *text, size_t size) {
    char *copy = gx_yaml_take(doc, size + 1);
    if (copy && size) memcpy(copy, text, size);
    return copy;
}

void gx_yaml_free(gx_yaml_doc *doc) {
    if (!doc) return;
    gale_allocator allocator = doc->allocator;
    for (gx_yaml_doc *other = doc->adopted, *after; other; other = after) {
        after = other->next;
        gx_yaml_free(other);
    }
    for (block *b = doc->blocks, *next; b; b = next) {
        next = b->next;
        allocator.release(allocator.user, b, b->size);
    }
    allocator.release(allocator.user, doc, sizeof *doc);
}

static gx_yaml_doc *new_doc(const char *name, const gale_allocator *allocator) {
    if (!allocator) allocator = gale_allocator_default();
    gx_yaml_doc *doc = allocator->alloc(allocator->user, sizeof *doc);
    if (!doc) return NULL;
    memset(doc, 0, sizeof *doc);
    doc->allocator = *allocator;
    doc->name = take_text(doc, name, strlen(name));
    if (doc->name) return doc;
    gx_yaml_free(doc);
    return NULL;
}

/* --- Errors ------------------------------------------------------------------------------------------------------- */

/* Puts *** where `text` has what is secret below `node`. What is shorter than four bytes would be found everywhere. */
static void redact(const gx_yaml *node, char *text) {
    if (!gx_yaml_is_scalar(node)) {
        for (const gx_yaml *child = node->as.first; child; child = child->next) redact(child, text);
        return;
    }
    if (!node->secret || node->text.size < 4) return;
    for (char *at = text; (at = strstr(at, node->text.data)); at += 3) {
        memcpy(at, "***", 3);
        memmove(at + 3, at + node->text.size, strlen(at + node->text.size) + 1);
    }
}

static void redact_all(const gx_yaml_doc *doc, char *text) {
    if (doc->root && doc->has_secrets) redact(doc->root, text);
    for (const gx_yaml_doc *other = doc->adopted; other; other = other->next) redact_all(other, text);
}

GALE_PRINTF(6, 0)
static int error_at(const char *name, size_t line, size_t column, gale_error *error, int code, const char *format,
                    va_list arguments) {
    char text[GALE_ERROR_TEXT];
    vsnprintf(text, sizeof text, format, arguments);
    return line ? gale_error_set(error, code, "%s:%zu:%zu: %s", name, line, column, text)
                : gale_error_set(error, code, "%s: %s", name, text);
}

GALE_PRINTF(6, 7)
static int refuse(const char *name, size_t line, size_t column, gale_error *error, int code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    error_at(name, line, column, error, code, format, arguments);
    va_end(arguments);
    return code;
}

int gx_yaml_error(const gx_yaml_doc *doc, const gx_yaml *node, gale_error *error, int code, const char *format, ...) {
    char text[GALE_ERROR_TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    redact_all(doc, text);
    gx_secret_mask(text);
    return refuse(node ? node->file : doc->name, node ? node->line : 0, node ? node->column : 0, error, code, "%s",
                  text);
}

int gx_yaml_error_at(const gx_yaml_doc *doc, const gx_yaml *node, gale_error *error, const gale_error *inner) {
    int rc = inner->code ? inner->code : GALE_INVALID;
    return gx_yaml_error(doc, node, error, rc, "%s", inner->length ? inner->text : gale_error_text(rc));
}

/* --- Several errors ----------------------------------------------------------------------------------------------- */

void gx_yaml_collect(gx_yaml_doc *doc, gx_problems *problems) {
    doc->problems = problems;
}

size_t gx_yaml_kept(const gx_yaml_doc *doc) {
    return doc->problems ? doc->problems->told : 0;
}

int gx_yaml_keep(const gx_yaml_doc *doc, int rc, gale_error *error) {
    const char *text = error->text;
    gx_position place = { doc->name, 0, 0 };
    if (rc >= 0) return 0;
    if (!doc->problems || rc == GALE_NO_MEMORY) return rc;
    bool found = gx_position_read(doc->name, error->text, &place, &text);
    for (const gx_yaml_doc *other = doc->adopted; other && !found; other = other->next)
        found = gx_position_read(other->name, error->text, &place, &text);
    if (!gx_problems_add(doc->problems, false, rc, place, text)) return rc;
    *error = (gale_error)GALE_ERROR_INIT;
    return 0;
}

void gx_yaml_warn(const gx_yaml_doc *doc, const gx_yaml *node, const gale_logger *logger, const char *format, ...) {
    char text[GALE_ERROR_TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    redact_all(doc, text);
    gx_secret_mask(text);
    gx_position place = { node ? node->file : doc->name, node ? node->line : 0, node ? node->column : 0 };
    if (doc->problems)
        (void)gx_problems_add(doc->problems, true, 0, place, text);
    else if (place.line)
        gale_log(logger, GALE_LOG_WARN, NULL, "%s:%u:%u: %s", place.file, place.line, place.column, text);
    else
        gale_log(logger, GALE_LOG_WARN, NULL, "%s", text);
}

/* --- Text that is no text ----------------------------------------------------------------------------------------- */

/* YAML's printable characters below 0x80, and what UTF-8 needs above. */
static bool printable(unsigned char c) {
    return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c != 0x7f);
}

static int refuse_back(const char *name, const gx_edits *edits, size_t line, size_t column, gale_error *error,
                       const char *what, unsigned char byte) {
    gx_spot was = gx_edits_back(edits, (gx_spot){ (uint32_t)line - 1, (uint32_t)column - 1 });
    return refuse(name, was.line + 1, was.column + 1, error, GALE_SYNTAX, "this is not %s: it holds byte 0x%02x", what,
                  byte);
}

/* Says where the first byte stands that no YAML file can hold. */
static int check_text(const char *name, gale_str text, const gx_edits *edits, gale_error *error) {
    bool utf8 = gx_utf8_valid(text.data, text.size);
    size_t line = 1, column = 1;
    for (size_t i = 0; i < text.size; i++, column++) {
        unsigned char c = (unsigned char)text.data[i];
        if (!printable(c)) return refuse_back(name, edits, line, column, error, "a text file", c);
        size_t size = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
        if (size > text.size - i) size = text.size - i;
        if (!utf8 && !gx_utf8_valid(text.data + i, size))
            return refuse_back(name, edits, line, column, error, "UTF-8 text", c);
        if (c == '\n') line++, column = 0;
        i += size - 1;
    }
    return 0;
}

/* --- The tree ----------------------------------------------------------------------------------------------------- */

typedef struct frame {
    gx_yaml *node;
    gx_yaml **tail;  /* where the next child goes */
    size_t children; /* of a map: keys and values */
    gx_yaml *key;    /* of a map: the last one */
    gale_str anchor;
} frame;

typedef struct builder {
    gx_yaml_doc *doc;
    gale_str text;
    const gx_edits *edits;
    gale_error *error;
    yaml_parser_t parser;
    frame frames[GX_YAML_DEPTH];
    size_t depth;
    size_t documents;
    bool ended;
} builder;

static int no_memory(builder *b) {
    return gale_error_set(b->error, GALE_NO_MEMORY, "%s: out of memory", b->doc->name);
}

static gx_spot spot(yaml_mark_t at) {
    return (gx_spot){ (uint32_t)at.line, (uint32_t)at.column };
}

static gx_yaml mark(const builder *b, yaml_mark_t at) {
    gx_yaml node = { .file = b->doc->name };
    gx_spot was = gx_edits_back(b->edits, spot(at));
    node.line = was.line + 1;
    node.column = was.column + 1;
    node.end_line = node.line;
    node.expanded = node.height = 1;
    return node;
}

static int by_key(const void *a, const void *b) {
    return gx_str_compare((*(gx_yaml *const *)a)->text, (*(gx_yaml *const *)b)->text);
}

/* Keys are sorted for this: a map of a million entries must not take a million million comparisons. */
static int check_keys(builder *b, const gx_yaml *map) {
    if (map->count < 2) return 0;
    gx_yaml **keys = malloc(map->count * sizeof *keys);
    if (!keys) return no_memory(b);
    size_t n = 0;
    for (gx_yaml *key = map->as.first; key; key = key->next->next) keys[n++] = key;
    qsort(keys, n, sizeof *keys, by_key);
    int code = 0;
    for (size_t i = 1; i < n && !code; i++) {
        if (by_key(&keys[i - 1], &keys[i]) != 0) continue;
        bool in_order = keys[i - 1]->line < keys[i]->line ||
                        (keys[i - 1]->line == keys[i]->line && keys[i - 1]->column < keys[i]->column);
        const gx_yaml *first = in_order ? keys[i - 1] : keys[i], *second = in_order ? keys[i] : keys[i - 1];
        code = gx_yaml_error(b->doc, second, b->error, GALE_SYNTAX, "the key '%.*s' was given already, at line %u",
                             GX_STR(second->text), first->line);
    }
    free(keys);
    return code;
}

static int remember(builder *b, gale_str name, gx_yaml *node) {
    if (!name.data) return 0;
    gx_yaml_doc *doc = b->doc;
    if (!doc->anchors && !(doc->anchors = gx_yaml_take(doc, GX_YAML_ANCHORS * sizeof *doc->anchors)))
        return no_memory(b);
    for (size_t i = 0; i < doc->anchor_count; i++)
        if (gx_str_equal(doc->anchors[i].name, name)) {
            doc->anchors[i].node = node;
            return 0;
        }
    if (doc->anchor_count == GX_YAML_ANCHORS)
        return gx_yaml_error(doc, node, b->error, GALE_TOO_LARGE, "more than %d anchors", GX_YAML_ANCHORS);
    doc->anchors[doc->anchor_count++] = (anchor){ name, node };
    return 0;
}

static int count(builder *b, const gx_yaml *node) {
    b->doc->nodes += node->expanded;
    if (b->doc->nodes <= GX_YAML_NODES) return 0;
    return gx_yaml_error(b->doc, node, b->error, GALE_TOO_LARGE, "more than %d values, aliases spelled out",
                         GX_YAML_NODES);
}

static int check_key(builder *b, const gx_yaml *key) {
    if (!gx_yaml_is_scalar(key))
        return gx_yaml_error(b->doc, key, b->error, GALE_SYNTAX, "a key must be text, not %s", gx_yaml_type_text(key));
    return 0;
}

/* Counts `node` and hangs it where the parser is: keys and values of a map take turns. */
static int attach(builder *b, gx_yaml *node) {
    int code = count(b, node);
    if (code < 0) return code;
    if (b->depth + node->height > GX_YAML_DEPTH)
        return gx_yaml_error(b->doc, node, b->error, GALE_TOO_LARGE, "more than %d levels", GX_YAML_DEPTH);
    if (b->depth == 0) {
        b->doc->root = node;
        return 0;
    }
    frame *top = &b->frames[b->depth - 1];
    if (top->node->type == GALE_TYPE_MAP && top->children % 2 == 0 && (code = check_key(b, node)) < 0) return code;
    if (top->node->type == GALE_TYPE_MAP && top->children % 2 == 0) top->key = node;
    *top->tail = node;
    top->tail = &node->next;
    top->children++;
    return 0;
}

/* What a finished node adds to the one it is in. */
static void add_up(builder *b, const gx_yaml *node) {
    if (b->depth == 0) return;
    gx_yaml *parent = b->frames[b->depth - 1].node;
    parent->expanded += node->expanded;
    if (parent->height < node->height + 1) parent->height = node->height + 1;
}

/* False when memory is out. */
static bool keep_name(builder *b, const yaml_char_t *name, gale_str *ret_name) {
    if (!name) return *ret_name = (gale_str){ NULL, 0 }, true;
    *ret_name = gx_str(take_text(b->doc, name, strlen((const char *)name)));
    return ret_name->data;
}

static gx_yaml *new_node(builder *b, yaml_mark_t at, int32_t type) {
    gx_yaml *node = gx_yaml_take(b->doc, sizeof *node);
    if (!node) return NULL;
    *node = mark(b, at);
    node->type = type;
    return node;
}

/* --- Events ------------------------------------------------------------------------------------------------------- */

static int bad_tag(builder *b, const gx_yaml *node, const char *tag) {
    return gx_yaml_error(b->doc, node, b->error, GALE_UNSUPPORTED, "the tag '%s' is not supported", tag);
}

/* Explicit tags say the type that the text must then have. */
static int check_tag(builder *b, gx_yaml *node, const char *tag) {
    static const char *const tags[] = { YAML_NULL_TAG, YAML_BOOL_TAG, YAML_INT_TAG, YAML_FLOAT_TAG };
    for (int type = 0; type <= GALE_TYPE_F64; type++) {
        if (strcmp(tag, tags[type]) != 0) continue;
        if (node->type == type) return 0;
        return gx_yaml_error(b->doc, node, b->error, GALE_SYNTAX, "'%.*s' does not fit its tag",
                             GX_STR(gx_yaml_shown(node)));
    }
    return bad_tag(b, node, tag);
}

/* Digits alone that were read as a float: the number that was meant does not fit. */
static bool is_too_large(const gx_yaml *node, const gale_value *value) {
    size_t sign = node->text.size && (node->text.data[0] == '-' || node->text.data[0] == '+');
    return value->type == GALE_TYPE_F64 && strspn(node->text.data + sign, "0123456789_") == node->text.size - sign;
}

static int set_type(builder *b, gx_yaml *node, const yaml_event_t *event) {
    const char *tag = (const char *)event->data.scalar.tag;
    node->type = GALE_TYPE_STRING;
    if (tag ? strcmp(tag, YAML_STR_TAG) == 0 || strcmp(tag, "!") == 0 : !event->data.scalar.plain_implicit) return 0;
    gale_value value = gx_config_scalar(node->text);
    if (is_too_large(node, &value))
        return gx_yaml_error(b->doc, node, b->error, GALE_SYNTAX, "%.*s does not fit in 64 bits",
                             GX_STR(gx_yaml_shown(node)));
    node->type = value.type;
    if (value.type == GALE_TYPE_BOOL) node->as.boolean = value.as.boolean;
    if (value.type == GALE_TYPE_I64) node->as.i64 = value.as.i64;
    if (value.type == GALE_TYPE_F64) node->as.f64 = value.as.f64;
    return tag ? check_tag(b, node, tag) : 0;
}

bool gx_yaml_has_secret(const gx_yaml *node) {
    bool has = node->secret;
    for (const gx_yaml *child = gx_yaml_is_scalar(node) ? NULL : node->as.first; child && !has; child = child->next)
        has = gx_yaml_has_secret(child);
    return has;
}

/* Is what comes now the value of such a key? */
static bool under_secret(const builder *b) {
    if (b->depth == 0) return false;
    const frame *top = &b->frames[b->depth - 1];
    return top->children % 2 == 1 && top->key && gx_secret_is_key(top->key->text);
}

static int add_scalar(builder *b, const yaml_event_t *event) {
    gx_yaml *node = new_node(b, event->start_mark, GALE_TYPE_STRING);
    const char *text = take_text(b->doc, event->data.scalar.value, event->data.scalar.length);
    gale_str name;
    if (!node || !text || !keep_name(b, event->data.scalar.anchor, &name)) return no_memory(b);
    node->text = (gale_str){ text, event->data.scalar.length };
    node->end_line = gx_edits_back(b->edits, spot(event->end_mark)).line + 1;
    node->merges = event->data.scalar.plain_implicit && gx_str_is(node->text, "<<");
    node->secret = under_secret(b) || gx_edits_secret(b->edits, spot(event->start_mark), spot(event->end_mark));
    b->doc->has_secrets |= node->secret;
    int rc = set_type(b, node, event);
    if (rc == 0) rc = attach(b, node);
    if (rc < 0) return rc;
    add_up(b, node);
    return remember(b, name, node);
}

#define QUOTES_HINT                                                                                                    \
    "; a text with any of [ ] { } , : # in it, or that begins with a sign, is put in quotes: 'a[1] == 2'"

static int unknown_anchor(const builder *b, const gx_yaml *node, gale_str name) {
    char hint[160];
    gx_nearest nearest = gx_nearest_to(name);
    if (!b->doc->anchor_count)
        return gx_yaml_error(b->doc, node, b->error, GALE_SYNTAX, "unknown anchor '%.*s'%s", GX_STR(name), QUOTES_HINT);
    for (size_t i = 0; i < b->doc->anchor_count; i++) gx_nearest_offer(&nearest, b->doc->anchors[i].name);
    return gx_yaml_error(b->doc, node, b->error, GALE_SYNTAX, "unknown anchor '%.*s'%s", GX_STR(name),
                         gx_nearest_hint(&nearest, hint, sizeof hint));
}

/* An alias is a copy of the node with a place of its own; lists and maps share their children. An anchor is known only
 * when its node has ended, so that nothing can hold itself. */
static int add_alias(builder *b, const yaml_event_t *event) {
    gx_yaml *node = new_node(b, event->start_mark, GALE_TYPE_NULL);
    if (!node) return no_memory(b);
    gale_str name = gx_str((const char *)event->data.alias.anchor);
    const gx_yaml *target = NULL;
    for (size_t i = 0; i < b->doc->anchor_count; i++)
        if (gx_str_equal(b->doc->anchors[i].name, name)) target = b->doc->anchors[i].node;
    if (!target) return unknown_anchor(b, node, name);
    uint32_t line = node->line, column = node->column;
    *node = *target;
    node->line = line;
    node->column = column;
    node->next = NULL;
    int rc = attach(b, node);
    if (rc == 0) add_up(b, node);
    return rc;
}

static int begin(builder *b, yaml_mark_t at, int32_t type, const yaml_char_t *anchor_name, const yaml_char_t *tag) {
    gx_yaml *node = new_node(b, at, type);
    gale_str name;
    if (!node || !keep_name(b, anchor_name, &name)) return no_memory(b);
    if (tag && strcmp((const char *)tag, type == GALE_TYPE_MAP ? YAML_MAP_TAG : YAML_SEQ_TAG) != 0)
        return bad_tag(b, node, (const char *)tag);
    int rc = attach(b, node);
    if (rc < 0) return rc;
    b->frames[b->depth++] = (frame){ node, &node->as.first, 0, NULL, name };
    return 0;
}

/* --- Merge keys --------------------------------------------------------------------------------------------------- */

/* A key of a map that others are merged into, and where it comes in their order. */
typedef struct candidate {
    gx_yaml *key;
    size_t order;
    bool dropped;
} candidate;

static int by_key_and_order(const void *a, const void *b) {
    const candidate *x = a, *y = b;
    int order = gx_str_compare(x->key->text, y->key->text);
    return order ? order : x->order < y->order ? -1 : 1;
}

static int by_order(const void *a, const void *b) {
    return ((const candidate *)a)->order < ((const candidate *)b)->order ? -1 : 1;
}

static int check_merged(builder *b, const gx_yaml *value) {
    const gx_yaml *wrong = value->type == GALE_TYPE_LIST || value->type == GALE_TYPE_MAP ? NULL : value;
    for (const gx_yaml *item = value->type == GALE_TYPE_LIST ? value->as.first : NULL; item && !wrong;
         item = item->next)
        if (item->type != GALE_TYPE_MAP) wrong = item;
    if (!wrong) return 0;
    return gx_yaml_error(b->doc, wrong, b->error, GALE_SYNTAX, "<< must be followed by a map or a list of maps, not %s",
                         gx_yaml_type_text(wrong));
}

static size_t count_merged(const gx_yaml *value) {
    size_t count = value->type == GALE_TYPE_MAP ? value->count : 0;
    for (const gx_yaml *item = value->type == GALE_TYPE_LIST ? value->as.first : NULL; item; item = item->next)
        count += item->count;
    return count;
}

/* Copies of a merged map's entries: they are told by their own places. */
static bool collect(builder *b, const gx_yaml *map, candidate *all, size_t *count) {
    for (const gx_yaml *from = map->as.first; from; from = from->next->next) {
        gx_yaml *key = gx_yaml_take(b->doc, sizeof *key), *value = gx_yaml_take(b->doc, sizeof *value);
        if (!key || !value) return false;
        *key = *from;
        *value = *from->next;
        key->next = value;
        all[*count] = (candidate){ key, *count, false };
        ++*count;
    }
    return true;
}

/* What the map says itself comes first, then what is merged, in its order; a key that was there before stays. */
static void relink(gx_yaml *map, candidate *all, size_t count) {
    qsort(all, count, sizeof *all, by_key_and_order);
    for (size_t i = 1; i < count; i++) all[i].dropped = gx_str_equal(all[i - 1].key->text, all[i].key->text);
    qsort(all, count, sizeof *all, by_order);
    gx_yaml **tail = &map->as.first;
    map->count = 0;
    for (size_t i = 0; i < count; i++) {
        if (all[i].dropped) continue;
        *tail = all[i].key;
        tail = &all[i].key->next->next;
        map->count++;
    }
    *tail = NULL;
}

static int merge_value(builder *b, gx_yaml *map, const gx_yaml *value) {
    size_t room = map->count + count_merged(value), count = 0;
    candidate *all = malloc(room * sizeof *all);
    if (!all) return no_memory(b);
    for (gx_yaml *key = map->as.first; key; key = key->next->next)
        if (!key->merges) all[count] = (candidate){ key, count, false }, count++;
    bool whole = value->type != GALE_TYPE_MAP || collect(b, value, all, &count);
    for (const gx_yaml *item = value->type == GALE_TYPE_LIST ? value->as.first : NULL; item && whole; item = item->next)
        whole = collect(b, item, all, &count);
    if (whole) relink(map, all, count);
    free(all);
    return whole ? 0 : no_memory(b);
}

static int merge(builder *b, gx_yaml *map) {
    for (const gx_yaml *key = map->as.first; key; key = key->next->next) {
        if (!key->merges) continue;
        int rc = check_merged(b, key->next);
        return rc < 0 ? rc : merge_value(b, map, key->next);
    }
    return 0;
}

/* --- Secrets ------------------------------------------------------------------------------------------------------ */

/* What is hidden already is so as a whole. */
static void hide(builder *b, gx_yaml *node) {
    if (node->secret) return;
    b->doc->has_secrets = true;
    node->secret = true;
    if (gx_yaml_is_scalar(node)) return;
    for (gx_yaml *child = node->as.first; child; child = child->next) hide(b, child);
}

/* `password: x`, and Flux's {name: password, value: x} and {name: withPassword, args: [x]}. */
static void hide_secrets(builder *b, gx_yaml *node) {
    bool named = false;
    if (node->type != GALE_TYPE_MAP) return;
    for (gx_yaml *key = node->as.first; key; key = key->next->next) {
        if (gx_secret_is_key(key->text)) hide(b, key->next);
        if (gx_str_is(key->text, "name") && key->next->type == GALE_TYPE_STRING)
            named = gx_secret_is_key(key->next->text);
    }
    for (gx_yaml *key = node->as.first; key && named; key = key->next->next)
        if (gx_str_is(key->text, "value") || gx_str_is(key->text, "args")) hide(b, key->next);
}

static int end(builder *b) {
    frame *top = &b->frames[--b->depth];
    gx_yaml *node = top->node;
    node->count = (uint32_t)(node->type == GALE_TYPE_MAP ? top->children / 2 : top->children);
    int rc = node->type == GALE_TYPE_MAP ? check_keys(b, node) : 0;
    if (rc == 0 && node->type == GALE_TYPE_MAP) rc = merge(b, node);
    if (rc < 0) return rc;
    hide_secrets(b, node);
    add_up(b, node);
    return remember(b, top->anchor, node);
}

static int take_event(builder *b, const yaml_event_t *event) {
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (b->documents++ == 0) return 0;
        gx_yaml here = mark(b, event->start_mark);
        return gx_yaml_error(b->doc, &here, b->error, GALE_SYNTAX, "a second document begins here; a file holds one");
    case YAML_SCALAR_EVENT: return add_scalar(b, event);
    case YAML_ALIAS_EVENT: return add_alias(b, event);
    case YAML_SEQUENCE_START_EVENT:
        return begin(b, event->start_mark, GALE_TYPE_LIST, event->data.sequence_start.anchor,
                     event->data.sequence_start.tag);
    case YAML_MAPPING_START_EVENT:
        return begin(b, event->start_mark, GALE_TYPE_MAP, event->data.mapping_start.anchor,
                     event->data.mapping_start.tag);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: return end(b);
    case YAML_STREAM_END_EVENT: b->ended = true; return 0;
    default: return 0;
    }
}

/* --- libyaml's errors --------------------------------------------------------------------------------------------- */

/* Is there a tab in the white space that line `line` begins with? Then that is what is wrong, whatever libyaml calls
 * it. */
static bool tab_in_indent(gale_str text, size_t line, size_t *ret_column) {
    size_t at = 0;
    for (size_t n = 0; n < line && at < text.size; at++) n += text.data[at] == '\n';
    for (size_t column = 0; at + column < text.size; column++) {
        char c = text.data[at + column];
        if (c == '\t') return *ret_column = column, true;
        if (c != ' ') return false;
    }
    return false;
}

/* YAML takes a sign of an expression for one of its own. These are what it says then. */
static const char *quotes_hint(const char *problem) {
    static const char *const problems[] = { "did not find expected ',' or", "did not find expected node content",
                                            "cannot start any token",       "mapping values are not allowed",
                                            "expected whitespace or line",  "unexpected end of stream",
                                            "did not find expected key",    "did not find expected alphabetic" };
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++)
        if (strstr(problem, problems[i])) return QUOTES_HINT;
    return "";
}

static int parser_error(builder *b) {
    const yaml_parser_t *p = &b->parser;
    const char *name = b->doc->name, *problem = p->problem ? p->problem : "this is not YAML";
    size_t line = p->problem_mark.line, column = p->problem_mark.column;
    if (p->error == YAML_MEMORY_ERROR) return no_memory(b);
    if (p->error == YAML_READER_ERROR) return refuse(name, 0, 0, b->error, GALE_SYNTAX, "%s", problem);
    bool tab = tab_in_indent(b->text, line, &column);
    gx_spot was = gx_edits_back(b->edits, (gx_spot){ (uint32_t)line, (uint32_t)column });
    if (tab) problem = "found a tab character where an indentation space is expected";
    const char *hint = tab ? "" : quotes_hint(problem);
    if (tab || !p->context)
        return refuse(name, was.line + 1, was.column + 1, b->error, GALE_SYNTAX, "%s%s", problem, hint);
    gx_spot context = gx_edits_back(b->edits, spot(p->context_mark));
    return refuse(name, was.line + 1, was.column + 1, b->error, GALE_SYNTAX, "%s, %s that begins at %u:%u%s", problem,
                  p->context, context.line + 1, context.column + 1, hint);
}

static int build(builder *b) {
    while (!b->ended) {
        yaml_event_t event;
        if (!yaml_parser_parse(&b->parser, &event)) return parser_error(b);
        int rc = take_event(b, &event);
        yaml_event_delete(&event);
        if (rc < 0) return rc;
    }
    return 0;
}

static int parse(builder *b) {
    int rc = check_text(b->doc->name, b->text, b->edits, b->error);
    if (rc < 0) return rc;
    if (!yaml_parser_initialize(&b->parser)) return no_memory(b);
    yaml_parser_set_encoding(&b->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&b->parser, (const unsigned char *)(b->text.data ? b->text.data : ""), b->text.size);
    rc = build(b);
    yaml_parser_delete(&b->parser);
    return rc;
}

int gx_yaml_parse(const char *name, gale_str text, const gale_allocator *allocator, gx_yaml_doc **ret_doc,
                  gale_error *error) {
    return gx_yaml_parse_edited(name, text, NULL, allocator, ret_doc, error);
}

int gx_yaml_parse_edited(const char *name, gale_str text, const gx_edits *edits, const gale_allocator *allocator,
                         gx_yaml_doc **ret_doc, gale_error *error) {
    if (text.size > GX_YAML_BYTES)
        return gale_error_set(error, GALE_TOO_LARGE, "%s: larger than %d MiB", name, GX_YAML_BYTES >> 20);
    if (gx_encoding_read(name, &text, error) < 0) return GALE_SYNTAX;
    builder b = { .doc = new_doc(name, allocator), .text = text, .edits = edits, .error = error };
    if (!b.doc) return gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", name);
    int code = parse(&b);
    if (code < 0) {
        gx_yaml_free(b.doc);
        return code;
    }
    *ret_doc = b.doc;
    return 0;
}

int gx_yaml_load(const char *path, gx_yaml_doc **ret_doc, gale_error *error) {
    char *bytes;
    size_t size;
    int rc = gx_file_read_all(path, GX_YAML_BYTES, &bytes, &size, error);
    if (rc < 0) return rc;
    rc = gx_yaml_parse(path, (gale_str){ bytes, size }, NULL, ret_doc, error);
    free(bytes);
    return rc;
}

/* --- Changing ----------------------------------------------------------------------------------------------------- */

void gx_yaml_adopt(gx_yaml_doc *doc, gx_yaml_doc *other) {
    other->next = doc->adopted;
    doc->adopted = other;
}

void gx_yaml_set_root(gx_yaml_doc *doc, gx_yaml *root) {
    doc->root = root;
}

static gx_yaml **tail_of(gx_yaml *node) {
    gx_yaml **tail = &node->as.first;
    while (*tail) tail = &(*tail)->next;
    return tail;
}

static gx_yaml *copy_of(gx_yaml_doc *doc, const gx_yaml *node) {
    gx_yaml *copy = gx_yaml_take(doc, sizeof *copy);
    if (!copy) return NULL;
    *copy = *node;
    copy->next = NULL;
    return copy;
}

/* Children are copied one level deep: they may be another's, too, by an alias. */
gx_yaml *gx_yaml_open(gx_yaml_doc *doc, const gx_yaml *node, int32_t type) {
    gx_yaml empty = { .type = type, .file = doc->name, .expanded = 1, .height = 1 };
    bool usable = node && node->type == type;
    gx_yaml *opened = copy_of(doc, usable ? node : &empty);
    if (!opened || !usable || gx_yaml_is_scalar(node)) return opened;
    gx_yaml **tail = &opened->as.first;
    for (const gx_yaml *child = node->as.first; child; child = child->next, tail = &(*tail)->next)
        if (!(*tail = copy_of(doc, child))) return NULL;
    *tail = NULL;
    return opened;
}

bool gx_yaml_add(gx_yaml_doc *doc, gx_yaml *list, const gx_yaml *child) {
    gx_yaml *copy = copy_of(doc, child);
    if (!copy) return false;
    *tail_of(list) = copy;
    list->count++;
    return true;
}

bool gx_yaml_put(gx_yaml_doc *doc, gx_yaml *map, const gx_yaml *key, const gx_yaml *child) {
    gx_yaml *value = copy_of(doc, child), *name = copy_of(doc, key);
    if (!value || !name) return false;
    for (gx_yaml *k = map->as.first; k; k = k->next->next)
        if (gx_str_equal(k->text, key->text)) {
            value->next = k->next->next;
            k->next = value;
            return true;
        }
    name->next = value;
    *tail_of(map) = name;
    map->count++;
    return true;
}

/* --- Reading ------------------------------------------------------------------------------------------------------ */

const gx_yaml *gx_yaml_root(const gx_yaml_doc *doc) {
    return doc->root;
}

const char *gx_yaml_name(const gx_yaml_doc *doc) {
    return doc->name;
}

const gx_yaml *gx_yaml_get(const gx_yaml *map, const char *key) {
    if (!map || map->type != GALE_TYPE_MAP) return NULL;
    for (const gx_yaml *k = map->as.first; k; k = k->next->next)
        if (gx_str_is(k->text, key)) return k->next;
    return NULL;
}

const char *gx_yaml_type_text(const gx_yaml *node) {
    switch (node->type) {
    case GALE_TYPE_NULL: return "nothing";
    case GALE_TYPE_BOOL: return "true or false";
    case GALE_TYPE_I64: return "a whole number";
    case GALE_TYPE_F64: return "a number";
    case GALE_TYPE_STRING: return "a string";
    case GALE_TYPE_LIST: return "a list";
    default: return "a map";
    }
}

static int list_value(gx_yaml_doc *doc, const gx_yaml *node, size_t count, gale_value *ret_value, gale_error *error);

static int any_value(gx_yaml_doc *doc, const gx_yaml *node, gale_value *ret_value, gale_error *error) {
    switch (node->type) {
    case GALE_TYPE_NULL: *ret_value = gale_null(); return 0;
    case GALE_TYPE_BOOL: *ret_value = gale_bool(node->as.boolean); return 0;
    case GALE_TYPE_I64: *ret_value = gale_i64(node->as.i64); return 0;
    case GALE_TYPE_F64: *ret_value = gale_f64(node->as.f64); return 0;
    case GALE_TYPE_STRING: *ret_value = gale_string(node->text.data, node->text.size); return 0;
    case GALE_TYPE_LIST: return list_value(doc, node, node->count, ret_value, error);
    default: return list_value(doc, node, 2 * (size_t)node->count, ret_value, error);
    }
}

/* A map's keys are text whatever they look like. */
static int list_value(gx_yaml_doc *doc, const gx_yaml *node, size_t items, gale_value *ret_value, gale_error *error) {
    gale_value *values = gx_yaml_take(doc, items * sizeof *values);
    if (!values) return gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", doc->name);
    bool is_map = node->type == GALE_TYPE_MAP;
    size_t i = 0;
    for (const gx_yaml *child = node->as.first; child; child = child->next, i++) {
        int rc = 0;
        if (is_map && i % 2 == 0)
            values[i] = gale_string(child->text.data, child->text.size);
        else
            rc = any_value(doc, child, &values[i], error);
        if (rc < 0) return rc;
    }
    *ret_value = is_map ? gale_map(values, node->count) : gale_list(values, node->count);
    return 0;
}

int gx_yaml_value(gx_yaml_doc *doc, const gx_yaml *node, gale_value *ret_value, gale_error *error) {
    gale_value value;
    int rc = any_value(doc, node, &value, error);
    if (rc == 0) *ret_value = value;
    return rc;
}
