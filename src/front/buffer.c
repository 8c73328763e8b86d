#include "front/buffer.h"

#include "base/str.h"
#include "front/expansion.h"
#include "front/shape.h"

/* What of a stream's keys was found to be right. */
typedef struct said {
    const gx_yaml *buffer, *grouping, *type, *args, *parallelism;
} said;

/* --- What is said ---------------------------------------------------------------------------------------------------- */

static int read_grouping(const gx_expansion *e, gx_buffer *b, said *s) {
    s->grouping = gx_yaml_get(b->stream, "grouping");
    if (!s->grouping) return gx_expansion_refuse(e, b->stream, "a stream needs the field 'grouping'");
    bool word = s->grouping->type == GALE_TYPE_STRING;
    int rc = word || s->grouping->type == GALE_TYPE_MAP
                 ? 0
                 : gx_expansion_refuse(e, s->grouping, "a stream's grouping is a map or a word");
    if (word) s->type = s->grouping;
    if (rc == 0 && !word) rc = gx_shape_text(e->doc, s->grouping, "a grouping", "type", &s->type, e->error);
    if (rc < 0) return rc;
    if (gx_str_is(s->type->text, "DIRECT"))
        return gx_expansion_refuse(e, s->type,
                                   "a stream with `buffer` is not grouped by DIRECT: who emits chooses a task of the "
                                   "buffer then, and nobody one behind it");
    if (!word && gx_str_is(s->type->text, "FIELDS")) s->args = gx_yaml_get(s->grouping, "args");
    if (word || !gx_yaml_get(s->grouping, "streamId")) return 0;
    return gx_shape_text(e->doc, s->grouping, "a grouping", "streamId", &b->stream_id, e->error);
}

static int read_buffer(const gx_expansion *e, gx_buffer *b, said *s) {
    static const char keys[] = "disk path parallelism memory maxAttempts";
    static const char what[] = "a stream's `buffer`";
    const gx_yaml *text;
    *s = (said){ .buffer = gx_yaml_get(b->stream, "buffer") };
    int rc = gx_shape_stream(e->doc, b->stream, GX_STREAM_KEYS " buffer", e->error);
    if (rc == 0) rc = gx_shape_text(e->doc, b->stream, "a stream", "from", &b->from, e->error);
    if (rc == 0) rc = gx_shape_text(e->doc, b->stream, "a stream", "to", &b->to, e->error);
    if (rc == 0) rc = gx_shape_map_with(e->doc, s->buffer, what, keys, "disk path", e->error);
    if (rc == 0) rc = gx_shape_text(e->doc, s->buffer, what, "disk", &text, e->error);
    if (rc == 0) rc = gx_shape_text(e->doc, s->buffer, what, "path", &text, e->error);
    if (rc != 0) return rc;
    s->parallelism = gx_yaml_get(s->buffer, "parallelism");
    return read_grouping(e, b, s);
}

/* --- What it becomes ------------------------------------------------------------------------------------------------- */

static bool name_parts(const gx_expansion *e, gx_buffer *b) {
    gale_str base = gx_expansion_base(e, b->stream, b->from->text, b->to->text);
    if (!base.data) return false;
    b->bolt = gx_expansion_join(e, base, "-", gx_str("buffer"));
    b->spout = gx_expansion_join(e, base, "-", gx_str("drain"));
    return b->bolt.data && b->spout.data;
}

/* Those that are given, in a map of their own. */
static gx_yaml *copy(const gx_expansion *e, const gx_yaml *buffer, const char *const *keys) {
    gx_yaml *made = gx_expansion_open(e, buffer, GALE_TYPE_MAP);
    bool done = made != NULL;
    for (; *keys && done; keys++) {
        const gx_yaml *value = gx_yaml_get(buffer, *keys);
        if (value && value->type != GALE_TYPE_NULL) done = gx_expansion_put(e, made, *keys, value);
    }
    return done ? made : NULL;
}

/* The spout's fields are those of what goes in, and take this one's place. */
static bool add_parts(const gx_expansion *e, const gx_buffer *b, const said *s) {
    static const char *const in[] = { "path", "disk", NULL }, *const out[] = { "path", "memory", "maxAttempts", NULL };
    const gx_expansion_part bolt = { s->buffer, s->parallelism, b->bolt, "gale.bolt.DiskBuffer" };
    const gx_expansion_part spout = { s->buffer, s->parallelism, b->spout, "gale.spout.DiskBuffer" };
    gx_yaml *properties = copy(e, s->buffer, out);
    return properties && gx_expansion_put_text(e, properties, "fields", s->buffer, gx_str("tuple")) &&
           gx_expansion_add_part(e, e->spouts, &spout, properties) &&
           gx_expansion_add_part(e, e->bolts, &bolt, copy(e, s->buffer, in));
}

/* As it stands in the file, but for the stream that it is of. */
static const gx_yaml *own_grouping(const gx_expansion *e, const said *s) {
    if (s->type == s->grouping) return s->grouping;
    gx_yaml *made = gx_expansion_open(e, s->grouping, GALE_TYPE_MAP);
    bool done = made != NULL;
    for (const gx_yaml *key = s->grouping->as.first; key && done; key = key->next->next)
        if (!gx_str_is(key->text, "streamId")) done = gx_yaml_put(e->doc, made, key, key->next);
    return done ? made : NULL;
}

static bool add_streams(const gx_expansion *e, const gx_buffer *b, const said *s) {
    const gx_yaml bolt = gx_expansion_text(s->buffer, b->bolt), spout = gx_expansion_text(s->buffer, b->spout);
    const gx_yaml *grouping = own_grouping(e, s);
    gx_yaml *item = gx_expansion_open(e, b->stream, GALE_TYPE_MAP);
    return gx_expansion_add_stream(e, b->stream, b->from, &bolt, s->parallelism ? s->args : NULL, b->stream_id) &&
           grouping && item && gx_expansion_put(e, item, "from", &spout) && gx_expansion_put(e, item, "to", b->to) &&
           gx_expansion_put(e, item, "grouping", grouping) && gx_yaml_add(e->doc, e->streams, item);
}

/* `user` has where the next one is noted. */
static int expand(const gx_expansion *e, const gx_yaml *stream, void *user) {
    gx_buffer ***tail = user, *b = gx_yaml_take(e->doc, sizeof *b);
    said s;
    if (!b) return gx_expansion_no_memory(e);
    b->stream = stream;
    size_t kept = gx_yaml_kept(e->doc);
    int rc = read_buffer(e, b, &s);
    if (rc != 0 || gx_yaml_kept(e->doc) > kept) return rc < 0 ? rc : 0;
    if (!name_parts(e, b) || !add_parts(e, b, &s) || !add_streams(e, b, &s)) return gx_expansion_no_memory(e);
    **tail = b;
    *tail = &b->next;
    return 0;
}

int gx_buffer_expand(gx_yaml_doc *doc, gx_buffer **ret_list, gale_error *error) {
    *ret_list = NULL;
    return gx_expansion_run(doc, "buffer", expand, &ret_list, error);
}

const gx_buffer *gx_buffer_of_spout(const gx_buffer *list, gale_str id) {
    while (list && !gx_str_equal(list->spout, id)) list = list->next;
    return list;
}
