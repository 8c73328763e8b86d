#include "cases/rows.h"

#include "base/str.h"

#include <stdlib.h>

#if GALE_HAS_SCRIPT
#include "script/matcher.h"
#endif

/* --- What takes texts --------------------------------------------------------------------------------------------- */

struct gx_taker {
    gx_taker *next;
    gx_heap heap;
#if GALE_HAS_SCRIPT
    gx_pattern *pattern;
    gx_matcher *matcher;
#endif
    gale_str part; /* a text that takes those that it is in */
    char shown[];
};

void gx_takers_fini(gx_takers *takers) {
    while (takers->first) {
        gx_taker *taker = takers->first;
        takers->first = taker->next;
#if GALE_HAS_SCRIPT
        gx_matcher_free(taker->matcher);
        gx_pattern_free(taker->pattern);
#endif
        free(taker);
    }
}

static int no_memory(const gx_yaml_doc *doc, gale_error *error) {
    return gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", gx_yaml_name(doc));
}

static gx_taker *new_taker(gx_takers *takers, const char *word, gale_str text) {
    size_t size = strlen(word) + text.size + 2;
    gx_taker *taker = calloc(1, sizeof *taker + size);
    if (!taker) return NULL;
    gx_heap_init(&taker->heap, NULL);
    memcpy(taker->shown, word, strlen(word));
    taker->shown[strlen(word)] = ' ';
    memcpy(taker->shown + strlen(word) + 1, text.data, text.size);
    taker->next = takers->first;
    takers->first = taker;
    return taker;
}

static bool has_part(void *user, gale_str text) {
    const gx_taker *taker = user;
    return text.size && memmem(text.data, text.size, taker->part.data, taker->part.size);
}

static int read_contains(gx_yaml_doc *doc, gx_takers *takers, const gx_yaml *node, gx_wanted *ret, gale_error *error) {
    gx_taker *taker = new_taker(takers, "contains", node->text);
    if (!taker) return no_memory(doc, error);
    taker->part = node->text;
    *ret = (gx_wanted){ .kind = GX_WANTED_TEXT, .takes = has_part, .user = taker, .shown = taker->shown };
    return 0;
}

#if GALE_HAS_SCRIPT
static bool is_matched(void *user, gale_str text) {
    return gx_matcher_find(((gx_taker *)user)->matcher, text, gale_utf8_valid(text.data, text.size)) == 1;
}

static int read_match(gx_yaml_doc *doc, gx_takers *takers, const gx_yaml *node, gx_wanted *ret, gale_error *error) {
    gale_error inner = GALE_ERROR_INIT;
    gx_taker *taker = new_taker(takers, "match", node->text);
    if (!taker) return no_memory(doc, error);
    if (gx_pattern_new(node->text.data, "match", &taker->pattern, &inner) < 0)
        return gx_yaml_error_at(doc, node, error, &inner);
    if (!(taker->matcher = gx_matcher_new(&taker->heap, taker->pattern))) return no_memory(doc, error);
    *ret = (gx_wanted){ .kind = GX_WANTED_TEXT, .takes = is_matched, .user = taker, .shown = taker->shown };
    return 0;
}
#else
static int read_match(gx_yaml_doc *doc, gx_takers *takers, const gx_yaml *node, gx_wanted *ret, gale_error *error) {
    (void)takers, (void)ret;
    return gx_yaml_error(doc, node, error, GALE_UNSUPPORTED,
                         "this gale was built without PCRE2, and has no 'match': use 'contains'");
}
#endif

/* --- One value ---------------------------------------------------------------------------------------------------- */

static const char pattern_keys[] = "any match contains near within value";

static int must_be(const gx_yaml_doc *doc, const gx_yaml *node, const char *what, gale_error *error) {
    return gx_yaml_error(doc, node, error, GALE_TYPE, "%s, not %s", what, gx_yaml_type_text(node));
}

/* Numbers that are further apart than this are rarely one and the same: what allows more, and infinity, holds for all. */
static const double within_max = 1e100;

int gx_within_read(const gx_yaml_doc *doc, const gx_yaml *node, const char *what, double *ret_within,
                   gale_error *error) {
    double within = node->type == GALE_TYPE_F64 ? node->as.f64 : node->type == GALE_TYPE_I64 ? (double)node->as.i64 : 0;
    if (!(within > 0 && within <= within_max))
        return gx_yaml_error(doc, node, error, GALE_INVALID, "'%s' is a number above 0, at most 1e100", what);
    *ret_within = within;
    return 0;
}

static int read_near(gx_yaml_doc *doc, const gx_yaml *map, const gx_yaml *near, double within, gx_wanted *ret,
                     gale_error *error) {
    const gx_yaml *off = gx_yaml_get(map, "within");
    if (near->type != GALE_TYPE_I64 && near->type != GALE_TYPE_F64)
        return must_be(doc, near, "'near' must be a number", error);
    *ret = (gx_wanted){ .kind = GX_WANTED_VALUE, .within = within };
    int rc = off ? gx_within_read(doc, off, "within", &ret->within, error) : 0;
    if (rc < 0) return rc;
    if (!(ret->within > 0))
        return gx_yaml_error(doc, near, error, GALE_INVALID, "'near' wants to know how far it may be off (within)");
    return gx_yaml_value(doc, near, &ret->value, error);
}

static int read_pattern(gx_yaml_doc *doc, gx_takers *takers, const gx_yaml *map, double within, gx_wanted *ret,
                        gale_error *error) {
    const gx_yaml *any = gx_yaml_get(map, "any"), *near = gx_yaml_get(map, "near"), *value = gx_yaml_get(map, "value");
    const gx_yaml *match = gx_yaml_get(map, "match"), *part = gx_yaml_get(map, "contains");
    size_t kept = gx_yaml_kept(doc);
    int rc = gx_shape_map(doc, map, "what is wanted", pattern_keys, error);
    if (rc < 0 || gx_yaml_kept(doc) != kept) return rc;
    if ((any != NULL) + (near != NULL) + (value != NULL) + (match != NULL) + (part != NULL) != 1)
        return gx_yaml_error(doc, map, error, GALE_INVALID,
                             "what is wanted is one of {any}, {match: PATTERN}, {contains: TEXT}, {near: N, within: D} "
                             "and {value: VALUE}");
    if (any) return *ret = (gx_wanted){ .kind = GX_WANTED_ANY }, 0;
    if (near) return read_near(doc, map, near, within, ret, error);
    *ret = (gx_wanted){ .kind = GX_WANTED_VALUE, .within = within };
    if (value) return gx_yaml_value(doc, value, &ret->value, error);
    const gx_yaml *text = match ? match : part;
    if (!gx_yaml_is_scalar(text) || text->type == GALE_TYPE_NULL)
        return must_be(doc, text, match ? "'match' must be a pattern" : "'contains' must be a text", error);
    if (memchr(text->text.data, 0, text->text.size))
        return gx_yaml_error(doc, text, error, GALE_INVALID, "a pattern holds no NUL character");
    if (!text->text.size)
        return gx_yaml_error(doc, text, error, GALE_INVALID,
                             "this holds for every text: name what is expected; for any value, say {any: true}");
    return match ? read_match(doc, takers, text, ret, error) : read_contains(doc, takers, text, ret, error);
}

static int read_list(gx_yaml_doc *doc, gx_takers *takers, const gx_yaml *list, double within, gx_wanted *ret,
                     gale_error *error) {
    gx_wanted *items = gx_yaml_take(doc, (list->count + 1u) * sizeof *items);
    uint32_t count = 0;
    int rc = items ? 0 : no_memory(doc, error);
    for (const gx_yaml *item = list->as.first; item && rc == 0; item = item->next)
        rc = gx_wanted_read(doc, takers, item, within, &items[count++], error);
    *ret = (gx_wanted){ .kind = GX_WANTED_LIST, .items = items, .count = count };
    return rc;
}

int gx_wanted_read(gx_yaml_doc *doc, gx_takers *takers, const gx_yaml *node, double within, gx_wanted *ret_wanted,
                   gale_error *error) {
    if (node->type == GALE_TYPE_MAP) return read_pattern(doc, takers, node, within, ret_wanted, error);
    if (node->type == GALE_TYPE_LIST) return read_list(doc, takers, node, within, ret_wanted, error);
    *ret_wanted = (gx_wanted){ .kind = GX_WANTED_VALUE, .within = within };
    return gx_yaml_value(doc, node, &ret_wanted->value, error);
}

/* --- Rows --------------------------------------------------------------------------------------------------------- */

static void join(const gx_row_fields *fields, gx_buf *out) {
    for (uint32_t i = 0; i < fields->count; i++) gx_buf_format(out, "%s%s", i ? " " : "", fields->names[i]);
}

static uint32_t field_of(const gx_row_fields *fields, gale_str name) {
    uint32_t i = 0;
    while (i < fields->count && !gx_str_is(name, fields->names[i])) i++;
    return i;
}

static int unknown_field(const gx_yaml_doc *doc, const gx_yaml *key, const gx_row_fields *fields, gale_error *error) {
    char hint[GX_HINT_SIZE];
    gx_buf names = GX_BUF_INIT(NULL);
    join(fields, &names);
    const char *known = gx_buf_text(&names);
    int rc = gx_yaml_error(doc, key, error, GALE_NOT_FOUND, "%s has no field '%.*s'%s", fields->what, GX_STR(key->text),
                           gx_shape_hint(key->text, known ? known : "", hint));
    gx_buf_fini(&names);
    return rc;
}

static int check_count(const gx_yaml_doc *doc, const gx_yaml *node, uint32_t given, const gx_row_fields *fields,
                       gale_error *error) {
    if (given == fields->count) return 0;
    gx_buf names = GX_BUF_INIT(NULL);
    for (uint32_t i = 0; i < fields->count; i++) gx_buf_format(&names, "%s%s", i ? ", " : "", fields->names[i]);
    const char *known = gx_buf_text(&names);
    int rc = gx_yaml_error(doc, node, error, GALE_FIELDS, "%u value%s, and %s has %u field%s: %s", given,
                           gx_plural(given), fields->what, fields->count, gx_plural(fields->count), known ? known : "");
    gx_buf_fini(&names);
    return rc;
}

/* The nodes of a row by field, NULL where it has none. */
static int spread(const gx_yaml_doc *doc, const gx_yaml *node, const gx_row_fields *fields, const gx_yaml **ret_nodes,
                  gale_error *error) {
    uint32_t at = 0;
    if (gx_yaml_is_scalar(node) || (node->type == GALE_TYPE_LIST && node->count != fields->count)) {
        int rc = check_count(doc, node, gx_yaml_is_scalar(node) ? 1 : node->count, fields, error);
        if (rc < 0) return rc;
        ret_nodes[0] = node;
        return 0;
    }
    for (const gx_yaml *item = node->as.first; node->type == GALE_TYPE_LIST && at < node->count; item = item->next)
        ret_nodes[at++] = item;
    for (const gx_yaml *key = node->as.first; key && node->type == GALE_TYPE_MAP; key = key->next->next) {
        at = field_of(fields, key->text);
        if (at == fields->count) return unknown_field(doc, key, fields, error);
        ret_nodes[at] = key->next;
    }
    return 0;
}

static const gx_yaml **spread_new(gx_yaml_doc *doc, const gx_yaml *node, const gx_row_fields *fields, int *ret_rc,
                                  gale_error *error) {
    const gx_yaml **nodes = calloc(fields->count + 1u, sizeof *nodes);
    *ret_rc = nodes ? spread(doc, node, fields, nodes, error) : no_memory(doc, error);
    return nodes;
}

/* Where there is one field, a map may stand for what is wanted in it. */
static bool is_pattern(const gx_yaml *node, const gx_row_fields *fields) {
    char hint[GX_HINT_SIZE];
    if (node->type != GALE_TYPE_MAP || fields->count != 1 || !node->as.first) return false;
    gale_str key = node->as.first->text;
    return !gx_str_is(key, fields->names[0]) && strlen(gx_shape_hint(key, pattern_keys, hint)) > 0;
}

int gx_wanted_row_read(gx_yaml_doc *doc, gx_takers *takers, const gx_yaml *node, const gx_row_fields *fields,
                       double within, gx_wanted_row *ret_row, gale_error *error) {
    int rc;
    gx_yaml whole = { .type = GALE_TYPE_LIST, .count = 1, .as.first = (gx_yaml *)node };
    const gx_yaml **nodes = spread_new(doc, is_pattern(node, fields) ? &whole : node, fields, &rc, error);
    gx_wanted *wanted = rc == 0 ? gx_yaml_take(doc, (fields->count + 1u) * sizeof *wanted) : NULL;
    if (rc == 0 && !wanted) rc = no_memory(doc, error);
    for (uint32_t i = 0; i < fields->count && rc == 0; i++) {
        wanted[i] = (gx_wanted){ .kind = GX_WANTED_ANY };
        if (nodes[i]) rc = gx_wanted_read(doc, takers, nodes[i], within, &wanted[i], error);
    }
    free(nodes);
    *ret_row = (gx_wanted_row){ rc == 0 ? wanted : NULL, fields->count };
    return rc;
}

static int read_values(gx_yaml_doc *doc, const gx_yaml *node, const gx_row_fields *fields, gale_value *values,
                       gale_error *error) {
    int rc;
    const gx_yaml **nodes = spread_new(doc, node, fields, &rc, error);
    for (uint32_t i = 0; i < fields->count && rc == 0; i++)
        rc = nodes[i] ? gx_yaml_value(doc, nodes[i], &values[i], error)
                      : gx_yaml_error(doc, node, error, GALE_FIELDS, "the tuple lacks the field '%s' of %s",
                                      fields->names[i], fields->what);
    free(nodes);
    return rc;
}

static int must_be_list(const gx_yaml_doc *doc, const gx_yaml *list, gale_error *error) {
    if (list->type == GALE_TYPE_LIST) return 0;
    return must_be(doc, list, "tuples are a list", error);
}

int gx_rows_to_feed(gx_yaml_doc *doc, const gx_yaml *list, const gx_row_fields *fields, gx_rows *ret_rows,
                    gale_error *error) {
    int rc = must_be_list(doc, list, error);
    if (rc < 0) return rc;
    *ret_rows = (gx_rows){ .width = fields->count };
    ret_rows->values = gx_yaml_take(doc, ((size_t)list->count * fields->count + 1) * sizeof *ret_rows->values);
    if (!ret_rows->values) return no_memory(doc, error);
    for (const gx_yaml *item = list->as.first; item && rc == 0; item = item->next) {
        gale_value *values = ret_rows->values + ret_rows->count++ * fields->count;
        rc = gx_yaml_keep(doc, read_values(doc, item, fields, values, error), error);
    }
    return rc;
}

int gx_rows_wanted(gx_yaml_doc *doc, gx_takers *takers, const gx_yaml *list, const gx_row_fields *fields, double within,
                   gx_rows *ret_rows, gale_error *error) {
    int rc = must_be_list(doc, list, error);
    if (rc < 0) return rc;
    *ret_rows = (gx_rows){ .width = fields->count };
    ret_rows->wanted = gx_yaml_take(doc, (list->count + 1u) * sizeof *ret_rows->wanted);
    if (!ret_rows->wanted) return no_memory(doc, error);
    for (const gx_yaml *item = list->as.first; item && rc == 0; item = item->next) {
        gx_wanted_row *row = &ret_rows->wanted[ret_rows->count++];
        rc = gx_yaml_keep(doc, gx_wanted_row_read(doc, takers, item, fields, within, row, error), error);
    }
    return rc;
}

/* --- Lines -------------------------------------------------------------------------------------------------------- */

static uint32_t count_lines(gale_str text) {
    uint32_t count = 0;
    for (size_t i = 0; i < text.size; i++) count += text.data[i] == '\n';
    return count + (text.size && text.data[text.size - 1] != '\n');
}

/* Lines of a text stand where it begins. */
static int split(gx_yaml_doc *doc, const gx_yaml *node, gx_yaml *list, gale_error *error) {
    gale_str rest = node->text;
    uint32_t count = count_lines(rest);
    gx_yaml *items = gx_yaml_take(doc, (count + 1u) * sizeof *items);
    char *copy = gx_yaml_take(doc, rest.size + 1);
    if (!items || !copy) return no_memory(doc, error);
    for (uint32_t i = 0; i < count; i++) {
        const char *end = memchr(rest.data, '\n', rest.size);
        size_t size = end ? (size_t)(end - rest.data) : rest.size;
        memcpy(copy, rest.data, size);
        items[i] = *node;
        items[i].type = GALE_TYPE_STRING;
        items[i].text = (gale_str){ copy, size };
        items[i].next = i + 1 < count ? &items[i + 1] : NULL;
        copy[size] = 0;
        copy += size + (end != NULL);
        rest = (gale_str){ rest.data + size + (end != NULL), rest.size - size - (end != NULL) };
    }
    list->as.first = count ? items : NULL;
    list->count = count;
    return 0;
}

int gx_lines_read(gx_yaml_doc *doc, const gx_yaml *node, const gx_yaml **ret_list, gale_error *error) {
    *ret_list = node;
    if (node->type == GALE_TYPE_LIST) return 0;
    if (!gx_yaml_is_scalar(node)) return must_be(doc, node, "lines are a text or a list", error);
    gx_yaml *list = gx_yaml_open(doc, NULL, GALE_TYPE_LIST);
    if (!list) return no_memory(doc, error);
    list->file = node->file;
    list->line = node->line;
    list->column = node->column;
    *ret_list = list;
    return node->type == GALE_TYPE_NULL ? 0 : split(doc, node, list, error);
}
