#include "front/saved_lines.h"

#include "base/encoding.h"
#include "base/nearest.h"
#include "base/str.h"
#include "base/utf8.h"
#include "engine/cut.h"
#include "engine/rest.h"
#include "front/json_line.h"
#include "front/json_value.h"
#include "runtime/image.h"
#include "topology/keyed_store.h"
#include "topology/saver.h"
#include "tuple/key.h"

#include <gale/state.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PIECE = 1 << 20 }; /* bytes of records that one value of the store is given, about, as a run does */

/* A line that is read. */
typedef struct reading {
    gx_json_line at;
    gx_saved_import *import;
    gale_str object;
} reading;

#define AT(r, key) (r)->at.name, (r)->at.number, gx_json_line_column(&(r)->at, (key))

static int no_memory(const reading *r) {
    return gale_error_set(r->at.error, GALE_NO_MEMORY, "%s: out of memory", r->at.name);
}

static int wrong(const reading *r, const char *key, const char *what) {
    return gale_error_set(r->at.error, GALE_TYPE, "%s:%u:%u: '%s' must be %s", AT(r, key), key, what);
}

/* --- Fields --- */

/* All fields of the line are among `known`, which ends with NULL. */
static int check_fields(const reading *r, const char *const *known) {
    for (gale_json_item item = GALE_JSON_FIRST(r->object); gale_json_next(&item);) {
        gale_str key = { item.name.data + 1, item.name.size - 2 };
        gx_nearest nearest = gx_nearest_to(key);
        char hint[100];
        bool found = false;
        for (const char *const *name = known; *name; name++) {
            gx_nearest_offer(&nearest, gx_str(*name));
            found |= gale_json_is(item.name, *name);
        }
        if (!found)
            return gale_error_set(r->at.error, GALE_NOT_FOUND, "%s:%u:%zu: such a line has no field '%.*s'%s",
                                  r->at.name, r->at.number, (size_t)(item.name.data - r->at.line.data) + 1,
                                  (int)gx_utf8_prefix(key.data, key.size < 40 ? key.size : 40), key.data,
                                  gx_nearest_hint(&nearest, hint, sizeof hint));
    }
    return GALE_OK;
}

static bool has(const reading *r, const char *key) {
    gale_str ignored;
    return gale_json_get(r->object, key, &ignored);
}

/* The value of a field, to be freed. GALE_NOT_FOUND: the line needs it. */
static int take(const reading *r, const char *key, gale_value_owned **ret_owned, gale_value *ret_value) {
    gale_str json;
    if (!gale_json_get(r->object, key, &json))
        return gale_error_set(r->at.error, GALE_NOT_FOUND, "%s:%u:1: such a line needs the field '%s'", r->at.name,
                              r->at.number, key);
    int rc = gx_json_to_exact(json, ret_owned);
    if (rc == GALE_NO_MEMORY) return no_memory(r);
    if (rc < 0)
        return wrong(r, key,
                     "a value as an export writes it: not too deep, {\"base64\": ...} and the like well formed");
    *ret_value = gale_value_owned_view(*ret_owned);
    return GALE_OK;
}

static int take_text(const reading *r, const char *key, gale_value_owned **ret_owned, const char **ret_text) {
    gale_value value;
    int rc = take(r, key, ret_owned, &value);
    if (rc < 0) return rc;
    bool fits = value.type == GALE_TYPE_STRING && value.size && strlen(value.as.string) == value.size;
    if (!fits) {
        gale_value_owned_free(*ret_owned);
        *ret_owned = NULL;
        return wrong(r, key, "text that is not empty");
    }
    *ret_text = value.as.string;
    return GALE_OK;
}

/* A number from 0 to `max`; a field that is not there is -1 where it may be left out. */
static int take_number(const reading *r, const char *key, bool needed, int64_t max, int64_t *ret_number) {
    gale_value_owned *owned = NULL;
    gale_value value;
    char what[60];
    *ret_number = -1;
    if (!needed && !has(r, key)) return GALE_OK;
    int rc = take(r, key, &owned, &value);
    if (rc < 0) return rc;
    bool fits = value.type == GALE_TYPE_I64 && value.as.i64 >= 0 && value.as.i64 <= max;
    if (fits) *ret_number = value.as.i64;
    gale_value_owned_free(owned);
    if (fits) return GALE_OK;
    snprintf(what, sizeof what, "a whole number from 0 to %" PRId64, max);
    return wrong(r, key, what);
}

typedef const gx_saved_component *find_fn(const gx_saved_head *head, const char *name, gale_error *error);

static int find_component(const reading *r, find_fn *find, const char *key, const char *name,
                          const gx_saved_component **ret_component) {
    gale_error why = GALE_ERROR_INIT;
    *ret_component = find(&r->import->head, name, &why);
    if (*ret_component) return GALE_OK;
    return gale_error_set(r->at.error, GALE_NOT_FOUND, "%s:%u:%u: %s", AT(r, key), why.text);
}

/* --- Putting --- */

static int put(const reading *r, gale_str key, gale_str value) {
    gx_saved_import *import = r->import;
    import->pairs++;
    return import->put(import->user, key, value, r->at.error);
}

static void add_u32(gx_buf *to, uint32_t number) {
    const char bytes[4] = { (char)(number >> 24), (char)(number >> 16), (char)(number >> 8), (char)number };
    gx_buf_add(to, bytes, sizeof bytes);
}

static int put_piece(const reading *r) {
    gx_saved_import *import = r->import;
    size_t size = import->prefix.size;
    add_u32(&import->prefix, import->piece++);
    if (import->prefix.failed || import->records.failed) return no_memory(r);
    int rc = put(r, (gale_str){ import->prefix.data, import->prefix.size },
                 (gale_str){ import->records.data, import->records.size });
    import->prefix.size = size;
    gx_buf_reset(&import->records);
    return rc;
}

/* What was gathered under another prefix goes first. */
static int gather(const reading *r, const gx_buf *prefix, const gale_value *values, size_t count) {
    gx_saved_import *import = r->import;
    gale_str now = { prefix->data, prefix->size }, before = { import->prefix.data, import->prefix.size };
    int rc = GALE_OK;
    if (prefix->failed) return no_memory(r);
    if (!gx_str_equal(now, before)) {
        if (import->records.size) rc = put_piece(r);
        gx_buf_reset(&import->prefix);
        gx_buf_add(&import->prefix, now.data, now.size);
        import->piece = 0;
    }
    if (rc == GALE_OK && import->records.size >= PIECE) rc = put_piece(r);
    if (rc < 0) return rc;
    rc = gx_record_add(&import->records, values, count);
    if (rc == GALE_NO_MEMORY) return no_memory(r);
    return rc < 0 ? wrong(r, "record", "values that a record can have, which are not too large") : GALE_OK;
}

/* --- The head --- */

static bool is_of(const gale_value *value, char type) {
    if (type == 'b') return value->type == GALE_TYPE_BOOL;
    if (type == 'l') return value->type == GALE_TYPE_LIST;
    if (type == 's') return value->type == GALE_TYPE_STRING && strlen(value->as.string) == value->size;
    return value->type == GALE_TYPE_I64 && (type == 't' || value->as.i64 >= 0);
}

static int wrong_type(const reading *r, const char *place, const char *key, char type) {
    const char *what = type == 'b' ? "true or false" : type == 's' ? "text" : type == 'l' ? "a list" : "a whole number";
    return gale_error_set(r->at.error, GALE_TYPE, "%s:%u:%u: '%s' must be %s", AT(r, place), key, what);
}

enum { NAMED_MAX = 64 };

typedef struct named {
    gale_value_owned *owned[NAMED_MAX];
    gale_value values[NAMED_MAX];
    size_t count;
} named;

static void free_named(named *n) {
    for (size_t i = 0; i < n->count; i++) gale_value_owned_free(n->owned[i]);
}

static int take_more(const reading *r, named *n) {
    gale_str more;
    if (!gale_json_get(r->object, "more", &more)) return GALE_OK;
    if (gale_json_kind_of(more) != GALE_JSON_LIST) return wrong(r, "more", "a list that is not too long");
    for (gale_json_item item = GALE_JSON_FIRST(more); gale_json_next(&item);) {
        if (n->count == NAMED_MAX) return wrong(r, "more", "a list that is not too long");
        int rc = gx_json_to_exact(item.value, &n->owned[n->count]);
        if (rc == GALE_NO_MEMORY) return no_memory(r);
        if (rc < 0) return wrong(r, "more", "a list of values");
        n->values[n->count] = gale_value_owned_view(n->owned[n->count]);
        n->count++;
    }
    return GALE_OK;
}

/* The members of an object as a record. `place`: the key of the line that they belong to; NULL: their own. */
static int named_record(const reading *r, const char *place, const char *const *names, const char *types, gx_buf *to) {
    named n = { .count = 0 };
    int rc = GALE_OK;
    for (size_t i = 0; rc == GALE_OK && names[i]; i++) {
        rc = take(r, names[i], &n.owned[n.count], &n.values[n.count]);
        if (rc < 0) break;
        n.count++;
        if (!is_of(&n.values[i], types[i])) rc = wrong_type(r, place ? place : names[i], names[i], types[i]);
    }
    if (rc == GALE_OK) rc = take_more(r, &n);
    if (rc == GALE_OK && gx_record_add(to, n.values, n.count) < 0) rc = no_memory(r);
    free_named(&n);
    return rc;
}

static int read_components(const reading *r, gx_buf *to) {
    gale_str list;
    if (!gale_json_get(r->object, "components", &list) || gale_json_kind_of(list) != GALE_JSON_LIST)
        return wrong(r, "components", "a list");
    int rc = GALE_OK;
    for (gale_json_item item = GALE_JSON_FIRST(list); rc == GALE_OK && gale_json_next(&item);) {
        reading one = *r;
        one.object = item.value;
        if (gale_json_kind_of(one.object) != GALE_JSON_OBJECT) return wrong(r, "components", "a list of objects");
        rc = named_record(&one, "components", gx_saved_component_names, GX_SAVED_COMPONENT_TYPES, to);
    }
    return rc;
}

static int check_format(const reading *r) {
    int64_t format;
    int rc = take_number(r, "gale_state", true, INT32_MAX, &format);
    if (rc < 0 || format == GX_SAVED_LINES_FORMAT) return rc;
    return gale_error_set(r->at.error, GALE_UNSUPPORTED,
                          "%s:%u:%u: the export is of format %" PRId64 "; gale %s knows format %d", AT(r, "gale_state"),
                          format, GALE_VERSION_TEXT, GX_SAVED_LINES_FORMAT);
}

static int read_head(const reading *r) {
    static const char *const known[] = { "gale_state", "format",    "checkpoint", "topology", "time", "wall",
                                         "complete",   "executors", "components", "more",     NULL };
    static const char key = GX_CUT_HEAD;
    gx_saved_import *import = r->import;
    gale_error why = GALE_ERROR_INIT;
    gx_buf records = GX_BUF_INIT(NULL);
    int rc = check_format(r);
    if (rc == GALE_OK) rc = check_fields(r, known);
    if (rc == GALE_OK) rc = named_record(r, NULL, gx_saved_head_names, GX_SAVED_HEAD_TYPES, &records);
    if (rc == GALE_OK) rc = read_components(r, &records);
    gale_str value = { records.data, records.size };
    if (rc == GALE_OK) {
        rc = gx_saved_head_parse(value, &import->head, &why);
        import->begun = rc == GALE_OK;
        if (rc < 0) gale_error_set(r->at.error, rc, "%s:%u:1: %s", r->at.name, r->at.number, why.text);
    }
    if (rc == GALE_OK) rc = put(r, (gale_str){ &key, 1 }, value);
    gx_buf_fini(&records);
    return rc;
}

/* --- Keyed state --- */

/* The key of a state, as bytes. */
static int read_key(const reading *r, gx_buf *to) {
    gale_value_owned *owned = NULL;
    gale_value value;
    int rc = take(r, "key", &owned, &value);
    if (rc < 0) return rc;
    gx_buf_reset(to);
    rc = gx_key_add(&value, to);
    gale_value_owned_free(owned);
    if (rc == GALE_NO_MEMORY || to->failed) return no_memory(r);
    bool fits = rc >= 0 && to->size <= GALE_STATE_KEY_MAX && gx_key_is_valid((gale_str){ to->data, to->size });
    return fits ? GALE_OK : wrong(r, "key", "a value that a key can be, and is not too large");
}

static int put_keyed(const reading *r, gale_str key, int64_t expiry) {
    gx_saved_import *import = r->import;
    gale_value_owned *owned = NULL;
    gale_value value;
    gx_packed packed;
    gx_change change;
    size_t at = 0;
    int rc = take(r, "value", &owned, &value);
    if (rc < 0) return rc;
    rc = gx_packed_make(&value, &import->scratch, &packed);
    if (rc == GALE_OK && packed.type >= GALE_TYPE_STRING && packed.body.size > GALE_STATE_VALUE_MAX)
        rc = GALE_TOO_LARGE;
    gx_changes_reset(&import->change);
    if (rc == GALE_OK) gx_keyed_value_put(&import->change, key, &packed, expiry);
    gale_value_owned_free(owned);
    if (rc == GALE_NO_MEMORY || import->change.bytes.failed) return no_memory(r);
    if (rc < 0 || !gx_changes_next(&import->change, &at, &change))
        return wrong(r, "value", "a value that keyed state can have, and is not too large");
    return put(r, change.key, change.value);
}

/* Whose the key is. */
static int read_scope(const reading *r, const gx_saved_component *component, uint32_t *ret_scope) {
    int64_t task;
    int rc = take_number(r, "task", false, (int64_t)component->tasks - 1, &task);
    if (rc == GALE_OK && task < 0 && !component->by_key)
        return gale_error_set(r->at.error, GALE_NOT_FOUND,
                              "%s:%u:1: such a line needs the field 'task': keys of '%s' are its tasks' own",
                              r->at.name, r->at.number, component->name);
    *ret_scope = (uint32_t)(task + 1);
    return rc;
}

static int put_pair(const reading *r, const char *component, const char *state) {
    const gx_saved_component *found;
    gx_keyed_names names = {
        .component = component, .kept = component, .state = state, .key = GX_BUF_INIT(NULL), .value = GX_BUF_INIT(NULL)
    };
    gx_buf key = GX_BUF_INIT(NULL);
    int64_t expires = 0;
    uint32_t scope = 0;
    int rc = strlen(state) <= GALE_STATE_NAME_MAX ? GALE_OK : wrong(r, "state", "a name of at most 100 bytes");
    if (rc == GALE_OK) rc = find_component(r, gx_saved_head_keeper, "component", component, &found);
    if (rc == GALE_OK) rc = read_scope(r, found, &scope);
    if (rc == GALE_OK) rc = take_number(r, "expires", false, INT64_MAX, &expires);
    if (rc == GALE_OK) rc = read_key(r, &key);
    if (rc == GALE_OK) {
        gale_str at = gx_keyed_store_key(&names, scope, (gale_str){ key.data, key.size });
        rc = !at.data ? no_memory(r)
             : at.size > GALE_STORE_KEY_MAX
                 ? wrong(r, "key", "shorter: with its component's name it does not fit into the store")
                 : put_keyed(r, at, expires > 0 ? expires : 0);
    }
    gx_buf_fini(&names.key);
    gx_buf_fini(&key);
    return rc;
}

static int read_keyed(const reading *r) {
    static const char *const known[] = { "component", "state", "key", "value", "task", "expires", NULL };
    gale_value_owned *one = NULL, *two = NULL;
    const char *component, *state;
    int rc = check_fields(r, known);
    if (rc == GALE_OK) rc = take_text(r, "component", &one, &component);
    if (rc == GALE_OK) rc = take_text(r, "state", &two, &state);
    if (rc == GALE_OK) rc = put_pair(r, component, state);
    gale_value_owned_free(one);
    gale_value_owned_free(two);
    return rc;
}

/* --- Records --- */

/* The values of "record", behind the number of their kind if it is not 0. */
static int gather_record(const reading *r, const gx_buf *prefix, int64_t kind) {
    gale_value_owned *owned = NULL;
    gale_value list;
    gx_buf values = GX_BUF_INIT(NULL);
    int rc = take(r, "record", &owned, &list);
    if (rc < 0) return rc;
    gale_value first = gale_i64(kind);
    if (kind) gx_buf_add(&values, &first, sizeof first);
    for (size_t i = 0; list.type == GALE_TYPE_LIST && i < list.size; i++) {
        gale_value item = gale_list_at(&list, i);
        gx_buf_add(&values, &item, sizeof item);
    }
    rc = list.type != GALE_TYPE_LIST ? wrong(r, "record", "a list")
         : values.failed             ? no_memory(r)
                         : gather(r, prefix, (const gale_value *)values.data, values.size / sizeof(gale_value));
    gx_buf_fini(&values);
    gale_value_owned_free(owned);
    return rc;
}

static int read_record(const reading *r) {
    static const char *const known[] = { "component", "task", "record", NULL };
    gale_value_owned *owned = NULL;
    const gx_saved_component *found;
    const char *name;
    int64_t task = 0;
    gx_buf prefix = GX_BUF_INIT(NULL);
    int rc = check_fields(r, known);
    if (rc == GALE_OK) rc = take_text(r, "component", &owned, &name);
    if (rc == GALE_OK) rc = find_component(r, gx_saved_head_find, "component", name, &found);
    if (rc == GALE_OK) rc = take_number(r, "task", true, (int64_t)found->tasks - 1, &task);
    if (rc == GALE_OK) {
        gx_buf_add_byte(&prefix, GX_CUT_TASKS);
        gx_buf_add(&prefix, name, strlen(name) + 1);
        add_u32(&prefix, (uint32_t)task);
        rc = gather_record(r, &prefix, 0);
    }
    gx_buf_fini(&prefix);
    gale_value_owned_free(owned);
    return rc;
}

/* GX_REST_TREE ..., or 0 with a report. */
static int64_t rest_kind(const reading *r) {
    char wanted[40] = "";
    gale_str rest;
    if (gale_json_get(r->object, "rest", &rest)) (void)gale_json_text(rest, wanted, sizeof wanted);
    gx_nearest nearest = gx_nearest_to(gx_str(wanted));
    char hint[100];
    for (int64_t kind = 1; gx_saved_rest_name(kind); kind++) {
        const char *name = gx_saved_rest_name(kind);
        if (strcmp(wanted, name) == 0) return kind;
        gx_nearest_offer(&nearest, gx_str(name));
    }
    gale_error_set(r->at.error, GALE_TYPE, "%s:%u:%u: 'rest' must be a kind of what was left of the work%s",
                   AT(r, "rest"), gx_nearest_hint(&nearest, hint, sizeof hint));
    return 0;
}

static int read_rest(const reading *r) {
    static const char *const known[] = { "rest", "executor", "record", NULL };
    int64_t executor = 0;
    gx_buf prefix = GX_BUF_INIT(NULL);
    int rc = check_fields(r, known);
    int64_t kind = rc == GALE_OK ? rest_kind(r) : 0;
    if (!kind) return rc < 0 ? rc : GALE_TYPE;
    rc = take_number(r, "executor", true, UINT16_MAX, &executor);
    if (rc < 0) return rc;
    gx_buf_add_byte(&prefix, GX_CUT_REST);
    add_u32(&prefix, (uint32_t)executor);
    rc = gather_record(r, &prefix, kind);
    gx_buf_fini(&prefix);
    return rc;
}

static int read_letters(const reading *r) {
    static const char *const known[] = { "dead_letters", NULL };
    static const char key = GX_CUT_LETTERS;
    gale_value_owned *owned = NULL;
    gale_value list;
    gx_buf records = GX_BUF_INIT(NULL), values = GX_BUF_INIT(NULL);
    int rc = check_fields(r, known);
    if (rc == GALE_OK) rc = take(r, "dead_letters", &owned, &list);
    if (rc < 0) return rc;
    if (list.type != GALE_TYPE_LIST) rc = wrong(r, "dead_letters", "a list of records");
    for (size_t i = 0; rc == GALE_OK && i < list.size; i++) {
        gale_value record = gale_list_at(&list, i);
        gx_buf_reset(&values);
        for (size_t k = 0; record.type == GALE_TYPE_LIST && k < record.size; k++) {
            gale_value item = gale_list_at(&record, k);
            gx_buf_add(&values, &item, sizeof item);
        }
        if (record.type != GALE_TYPE_LIST)
            rc = wrong(r, "dead_letters", "a list of records");
        else if (values.failed ||
                 gx_record_add(&records, (const gale_value *)values.data, values.size / sizeof(gale_value)) < 0)
            rc = no_memory(r);
    }
    if (rc == GALE_OK) rc = put(r, (gale_str){ &key, 1 }, (gale_str){ records.data, records.size });
    gx_buf_fini(&records);
    gx_buf_fini(&values);
    gale_value_owned_free(owned);
    return rc;
}

/* --- What is neither --- */

static int read_anew(const reading *r) {
    static const char *const known[] = { "begins_anew", NULL };
    gale_value_owned *owned = NULL;
    const gx_saved_component *found;
    const char *name;
    gx_buf key = GX_BUF_INIT(NULL);
    int rc = check_fields(r, known);
    if (rc == GALE_OK) rc = take_text(r, "begins_anew", &owned, &name);
    if (rc == GALE_OK) rc = find_component(r, gx_saved_head_find, "begins_anew", name, &found);
    if (rc == GALE_OK) {
        gx_buf_add_byte(&key, GX_CUT_ANEW);
        gx_buf_add(&key, name, strlen(name) + 1);
        rc = key.failed ? no_memory(r) : put(r, (gale_str){ key.data, key.size }, (gale_str){ "", 0 });
    }
    gx_buf_fini(&key);
    gale_value_owned_free(owned);
    return rc;
}

static int read_opaque(const reading *r) {
    static const char *const known[] = { "opaque", "value", NULL };
    gale_value_owned *one = NULL, *two = NULL;
    gale_value key, value;
    int rc = check_fields(r, known);
    if (rc == GALE_OK) rc = take(r, "opaque", &one, &key);
    if (rc == GALE_OK && (key.type != GALE_TYPE_BYTES || !key.size || key.size > GALE_STORE_KEY_MAX ||
                          memchr("mtrkdn", *(const char *)key.as.bytes, 6)))
        rc = wrong(r, "opaque", "the bytes of a key that this version does not know");
    if (rc == GALE_OK) rc = take(r, "value", &two, &value);
    if (rc == GALE_OK && (value.type != GALE_TYPE_BYTES || value.size > GALE_STORE_VALUE_MAX))
        rc = wrong(r, "value", "bytes, which are not too many");
    if (rc == GALE_OK) rc = put(r, (gale_str){ key.as.bytes, key.size }, (gale_str){ value.as.bytes, value.size });
    gale_value_owned_free(one);
    gale_value_owned_free(two);
    return rc;
}

static int read_end(const reading *r) {
    static const char *const known[] = { "end", NULL };
    gale_str end;
    int rc = check_fields(r, known);
    if (rc == GALE_OK && !(gale_json_get(r->object, "end", &end) && *end.data == 't')) rc = wrong(r, "end", "true");
    if (rc == GALE_OK && r->import->records.size) rc = put_piece(r);
    r->import->ended = rc == GALE_OK;
    return rc;
}

/* --- Lines --- */

static int read_line(const reading *r) {
    static const struct {
        const char *key; /* that only such a line has */
        int (*read)(const reading *r);
    } kinds[] = { { "state", read_keyed },   { "record", NULL },           { "dead_letters", read_letters },
                  { "opaque", read_opaque }, { "begins_anew", read_anew }, { "end", read_end },
                  { "gale_state", NULL } };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!has(r, kinds[i].key)) continue;
        if (kinds[i].read) return kinds[i].read(r);
        if (strcmp(kinds[i].key, "record") == 0) return has(r, "rest") ? read_rest(r) : read_record(r);
        return gale_error_set(r->at.error, GALE_SYNTAX,
                              "%s:%u:1: a head in the middle: it is the first line of an export", r->at.name,
                              r->at.number);
    }
    return gale_error_set(r->at.error, GALE_SYNTAX,
                          "%s:%u:1: this is no line of an export: it has no 'state', 'record', 'dead_letters', "
                          "'begins_anew', 'opaque' or 'end'",
                          r->at.name, r->at.number);
}

int gx_saved_import_line(gx_saved_import *import, gale_str line, gale_error *error) {
    reading r = { { import->name, ++import->line, line, error }, import, { NULL, 0 } };
    if (import->ended)
        return gale_error_set(error, GALE_SYNTAX, "%s:%u:1: there is a line behind the end", r.at.name, r.at.number);
    if (import->line == 1 && gx_encoding_read(import->name, &r.at.line, error) < 0) return GALE_SYNTAX;
    int rc = gx_json_line_parse(&r.at, "line of an export", "a line of an export", &r.object);
    if (rc < 0) return rc;
    if (import->begun)
        rc = read_line(&r);
    else if (has(&r, "gale_state"))
        rc = read_head(&r);
    else
        rc = gale_error_set(error, GALE_SYNTAX, "%s:%u:1: this is no export: its first line has 'gale_state'",
                            r.at.name, r.at.number);
    return rc;
}

int gx_saved_import_finish(gx_saved_import *import, gale_error *error) {
    if (import->ended) return GALE_OK;
    return gale_error_set(error, GALE_SYNTAX, "%s:%u:1: the file was cut: the last line of an export is {\"end\":true}",
                          import->name, import->line + 1);
}

void gx_saved_import_begin(gx_saved_import *import, const char *name, gx_saved_put *put_pairs, void *user) {
    *import = (gx_saved_import){ .name = name,
                                 .put = put_pairs,
                                 .user = user,
                                 .head = { .records = GX_BUF_INIT(NULL) },
                                 .prefix = GX_BUF_INIT(NULL),
                                 .records = GX_BUF_INIT(NULL),
                                 .scratch = GX_BUF_INIT(NULL),
                                 .change = GX_CHANGES_INIT(NULL) };
}

void gx_saved_import_fini(gx_saved_import *import) {
    gx_saved_head_fini(&import->head);
    gx_buf_fini(&import->prefix);
    gx_buf_fini(&import->records);
    gx_buf_fini(&import->scratch);
    gx_changes_fini(&import->change);
}
