#include "front/saved_pair.h"

#include "base/nearest.h"
#include "base/str.h"
#include "engine/cut.h"
#include "runtime/image.h"
#include "topology/keyed_store.h"
#include "topology/saver.h"
#include "tuple/body.h"
#include "tuple/key.h"

#include <stdlib.h>
#include <string.h>

static int no_memory(gale_error *error) {
    return gale_error_set(error, GALE_NO_MEMORY, "no memory for what the checkpoint has");
}

static int damaged(gale_error *error, const char *what) {
    return gale_error_set(error, GALE_DAMAGED, "the store has %s that none was written as", what);
}

/* --- Keys --- */

static uint32_t u32_at(const char *at) {
    const unsigned char *b = (const unsigned char *)at;
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* A text up to its NUL, from the front of `rest`. */
static bool take_text(gale_str *rest, const char **ret_text) {
    const char *end = rest->size ? memchr(rest->data, 0, rest->size) : NULL;
    if (!end || end == rest->data) return false;
    *ret_text = rest->data;
    *rest = (gale_str){ end + 1, rest->size - (size_t)(end + 1 - rest->data) };
    return true;
}

static bool take_number(gale_str *rest, uint32_t *ret_number) {
    if (rest->size < 4) return false;
    *ret_number = u32_at(rest->data);
    *rest = (gale_str){ rest->data + 4, rest->size - 4 };
    return true;
}

static bool take_pieces(gale_str *rest, gx_saved_pair *pair) {
    return take_number(rest, &pair->index) && take_number(rest, &pair->piece) && !rest->size;
}

/* What is behind the first byte. */
static bool read_key(gale_str *rest, gx_saved_pair *pair) {
    switch (pair->kind) {
    case GX_SAVED_RECORDS: return take_text(rest, &pair->component) && take_pieces(rest, pair);
    case GX_SAVED_REST: return take_pieces(rest, pair);
    case GX_SAVED_ANEW: return take_text(rest, &pair->component) && !rest->size;
    case GX_SAVED_KEYED:
        return take_text(rest, &pair->component) && take_text(rest, &pair->state) && take_number(rest, &pair->scope);
    default: return !rest->size;
    }
}

static gx_saved_kind kind_of(char first) {
    switch (first) {
    case GX_CUT_HEAD: return GX_SAVED_HEAD;
    case GX_CUT_TASKS: return GX_SAVED_RECORDS;
    case GX_CUT_REST: return GX_SAVED_REST;
    case GX_CUT_KEYED: return GX_SAVED_KEYED;
    case GX_CUT_LETTERS: return GX_SAVED_LETTERS;
    case GX_CUT_ANEW: return GX_SAVED_ANEW;
    default: return GX_SAVED_OTHER;
    }
}

/* --- Pairs --- */

void gx_saved_reader_fini(gx_saved_reader *reader) {
    gx_buf_fini(&reader->key);
    gx_buf_fini(&reader->value);
    gx_buf_fini(&reader->inner);
}

/* A copy at a multiple of 8. */
static bool copy(gx_buf *to, gale_str bytes, gale_str *ret_copy) {
    gx_buf_reset(to);
    gx_buf_add(to, bytes.data, bytes.size);
    const char *text = gx_buf_text(to);
    *ret_copy = (gale_str){ text, bytes.size };
    return text != NULL;
}

static int read_keyed(gx_saved_reader *reader, gale_str key, gx_saved_pair *pair, gale_error *error) {
    gale_str inner;
    gx_packed packed;
    if (!copy(&reader->inner, key, &inner)) return no_memory(error);
    if (!gx_key_is_valid(inner)) return damaged(error, "a key");
    pair->key = gx_key_value(inner);
    if (!gx_keyed_value_read(pair->raw_value, &packed, &pair->expiry)) return damaged(error, "a value");
    pair->value = gale_body_value((const gale_body *)(pair->raw_value.data + sizeof pair->expiry), 0);
    return GALE_OK;
}

int gx_saved_pair_read(gx_saved_reader *reader, gale_str key, gale_str value, gx_saved_pair *ret_pair,
                       gale_error *error) {
    if (!key.size) return damaged(error, "a key");
    gx_saved_pair pair = { .kind = kind_of(*key.data) };
    if (!copy(&reader->key, key, &pair.raw_key) || !copy(&reader->value, value, &pair.raw_value))
        return no_memory(error);
    gale_str rest = { pair.raw_key.data + 1, pair.raw_key.size - 1 };
    int rc = GALE_OK;
    if (pair.kind != GX_SAVED_OTHER && !read_key(&rest, &pair)) return damaged(error, "a key");
    if (pair.kind == GX_SAVED_KEYED) {
        rc = read_keyed(reader, rest, &pair, error);
    } else if (pair.kind != GX_SAVED_OTHER && pair.kind != GX_SAVED_ANEW) {
        pair.records = pair.raw_value;
        if (!gx_records_are_whole(pair.records)) rc = damaged(error, "a record");
    }
    if (rc == GALE_OK) *ret_pair = pair;
    return rc;
}

typedef struct walk {
    gx_saved_reader reader;
    gx_saved_each_fn *each;
    void *user;
    gale_error *error;
} walk;

static int each_pair(void *user, const void *key, size_t key_size, const void *value, size_t value_size) {
    walk *w = user;
    gx_saved_pair pair;
    int rc = gx_saved_pair_read(&w->reader, (gale_str){ key, key_size }, (gale_str){ value, value_size }, &pair,
                                w->error);
    return rc < 0 ? rc : w->each(w->user, &pair, w->error);
}

int gx_saved_each(const gale_store *store, gale_str prefix, gx_saved_each_fn *each, void *user, gale_error *error) {
    gale_error own = GALE_ERROR_INIT;
    walk w = { GX_SAVED_READER_INIT, each, user, error ? error : &own };
    int rc = store->iterate(store->self, prefix.data, prefix.size, NULL, 0, each_pair, &w, w.error);
    gx_saved_reader_fini(&w.reader);
    return rc;
}

/* --- The head --- */

static uint8_t type_of(char letter) {
    switch (letter) {
    case 'b': return GALE_TYPE_BOOL;
    case 's': return GALE_TYPE_STRING;
    case 'l': return GALE_TYPE_LIST;
    default: return GALE_TYPE_I64;
    }
}

/* Are the values of these types? There may be more. */
static bool are(const gale_body *body, const char *types) {
    for (size_t i = 0; types[i]; i++) {
        uint8_t type = type_of(types[i]);
        if (i >= gale_body_count(body)) return false;
        gale_value value = gale_body_value(body, i);
        if (value.type != type || (types[i] == 'i' && value.as.i64 < 0)) return false;
        if (type == GALE_TYPE_STRING && strlen(value.as.string) != value.size) return false;
    }
    return true;
}

static int64_t number(const gale_body *body, size_t at) {
    return gale_body_value(body, at).as.i64;
}

static const char *text(const gale_body *body, size_t at) {
    return gale_body_value(body, at).as.string;
}

static int read_first(gale_str *rest, gx_saved_head *head, gale_error *error) {
    const gale_body *body;
    if (!gx_records_next(rest, &body) || !are(body, "i")) return damaged(error, "a head");
    head->format = (uint32_t)number(body, 0);
    if (head->format != GX_IMAGE_FORMAT)
        return gale_error_set(error, GALE_UNSUPPORTED, "the checkpoint is of format %u, this version knows %d",
                              head->format, GX_IMAGE_FORMAT);
    if (!are(body, GX_SAVED_HEAD_TYPES)) return damaged(error, "a head");
    head->checkpoint = (uint64_t)number(body, 1);
    head->topology = text(body, 2);
    head->time = number(body, 3);
    head->wall = number(body, 4);
    head->complete = gale_body_value(body, 5).as.boolean;
    head->executors = (uint32_t)number(body, 6);
    return GALE_OK;
}

static bool read_component(const gale_body *body, gx_saved_component *component) {
    if (!are(body, GX_SAVED_COMPONENT_TYPES) || number(body, 2) < 1 || number(body, 2) > UINT16_MAX) return false;
    *component = (gx_saved_component){ .name = text(body, 0),
                                       .kept = text(body, 7),
                                       .tasks = (uint32_t)number(body, 2),
                                       .version = (uint32_t)number(body, 4),
                                       .spout = gale_body_value(body, 1).as.boolean,
                                       .by_key = gale_body_value(body, 3).as.boolean };
    return true;
}

static int read_components(gale_str rest, gx_saved_head *head, gale_error *error) {
    const gale_body *body;
    size_t count = 0;
    for (gale_str all = rest; gx_records_next(&all, &body);) count++;
    head->components = calloc(count + 1, sizeof *head->components);
    if (!head->components) return no_memory(error);
    while (gx_records_next(&rest, &body))
        if (!read_component(body, &head->components[head->count++])) return damaged(error, "a head");
    return GALE_OK;
}

int gx_saved_head_parse(gale_str value, gx_saved_head *ret_head, gale_error *error) {
    gx_saved_head head = { .records = GX_BUF_INIT(NULL) };
    gale_str rest;
    if (!copy(&head.records, value, &rest)) {
        gx_saved_head_fini(&head);
        return no_memory(error);
    }
    int rc = gx_records_are_whole(rest) ? read_first(&rest, &head, error) : damaged(error, "a head");
    if (rc == GALE_OK) rc = read_components(rest, &head, error);
    if (rc < 0)
        gx_saved_head_fini(&head);
    else
        *ret_head = head;
    return rc;
}

void gx_saved_head_fini(gx_saved_head *head) {
    gx_buf_fini(&head->records);
    free(head->components);
    *head = (gx_saved_head){ .count = 0 };
}

int gx_saved_head_read(const gale_store *store, gx_saved_head *ret_head, gale_error *error) {
    const char key = GX_CUT_HEAD;
    gx_buf value = GX_BUF_INIT(NULL);
    size_t size = 0;
    int rc = store->get(store->self, &key, 1, NULL, 0, &size, error);
    if (rc == GALE_TOO_LARGE) {
        if (!gx_buf_reserve(&value, size)) return no_memory(error);
        rc = store->get(store->self, &key, 1, value.data, size, &size, error);
    }
    if (rc == GALE_OK) rc = gx_saved_head_parse((gale_str){ value.data, size }, ret_head, error);
    gx_buf_fini(&value);
    return rc;
}

static const gx_saved_component *find(const gx_saved_head *head, const char *name, bool by_kept, gale_error *error) {
    gx_nearest nearest = gx_nearest_to(gx_str(name));
    char hint[100];
    for (size_t i = 0; i < head->count; i++) {
        const char *own = by_kept ? head->components[i].kept : head->components[i].name;
        if (strcmp(own, name) == 0) return &head->components[i];
        gx_nearest_offer(&nearest, gx_str(own));
    }
    gale_error_set(error, GALE_NOT_FOUND, "the checkpoint has no component '%.100s'%s", name,
                   gx_nearest_hint(&nearest, hint, sizeof hint));
    return NULL;
}

const gx_saved_component *gx_saved_head_find(const gx_saved_head *head, const char *name, gale_error *error) {
    return find(head, name, false, error);
}

const gx_saved_component *gx_saved_head_keeper(const gx_saved_head *head, const char *kept, gale_error *error) {
    return find(head, kept, true, error);
}
