/* storm-starter's IntermediateRankingsBolt and TotalRankingsBolt: gale_intermediate_rankings_bolt and
 * gale_total_rankings_bolt. Both keep rankings and emit them at each tick, empty ones too, and keep them after that.
 * The first takes (obj, count, others...) and never prunes; the second takes rankings, one list of lists, and drops
 * zero counts after each merge.
 *
 * Two things differ from Storm: equal counts rank by object, ascending (Storm's order depends on the history of
 * copies), and the other fields of an entry stay what they were (each of Storm's copies wraps them in one more list).
 */
#include "ds/rankings.h"
#include "base/buf.h"
#include "kit/fields.h"
#include "kit/recall.h"
#include "tuple/body.h"
#include "tuple/value.h"

#include <gale/kit.h>

enum { TOP_N_MAX = 1000000 };

typedef struct settings {
    gale_setting tick;
    int64_t top_n;
    bool named; /* the fields below; else the first is ranked by the second, and all others follow */
    gx_fields key, value, others;
} settings;

typedef struct ranker {
    gx_instance instance;
    const char *who;
    const settings *given;
    gx_field_places key_at, value_at, others_at;
    gx_rankings *rankings;
    gx_buf object;  /* packed */
    gx_buf payload; /* the other fields, packed as a list */
    gx_buf copies;  /* of all entries, while they are emitted */
    gale_value *values;
    size_t capacity;
} ranker;

static void bolt_cleanup(void *self) {
    ranker *bolt = self;
    gx_rankings_free(bolt->rankings);
    gx_buf_fini(&bolt->object);
    gx_buf_fini(&bolt->payload);
    gx_buf_fini(&bolt->copies);
    gx_free(&bolt->instance.heap, GX_TAG_OTHER, bolt->values, bolt->capacity * sizeof *bolt->values);
    gx_define_instance_free(bolt);
}

static int prepare(const char *who, const settings *given, const gale_context *context, gale_collector *out,
                   void **ret_self) {
    ranker *bolt = gx_define_instance(context, sizeof *bolt);
    if (!bolt) return GALE_NO_MEMORY;
    gx_heap *heap = &bolt->instance.heap;
    gale_error error = GALE_ERROR_INIT;
    bolt->who = who;
    bolt->given = given;
    bolt->value_at.at[0] = 1;
    bolt->object = bolt->payload = bolt->copies = (gx_buf)GX_BUF_INIT(heap);
    int rc = gx_rankings_new(heap, given->top_n, gx_value_compare_packed, &bolt->rankings, &error);
    if (rc < 0) {
        if (error.length) gx_define_report(out, "%s: %s", who, error.text);
        bolt_cleanup(bolt);
        return rc;
    }
    *ret_self = bolt;
    return 0;
}

static int prepare_intermediate(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    return prepare("intermediate rankings", user, context, out, ret_self);
}

static int prepare_total(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    return prepare("total rankings", user, context, out, ret_self);
}

/* --- Emitting ----------------------------------------------------------------------------------------------------- */

/* An entry's object and other fields, as they lie in `copies`. */
typedef struct copied {
    gale_value object, others;
} copied;

static copied entry_at(const ranker *bolt, size_t index, size_t *at, int64_t *ret_count) {
    gale_str object, payload;
    *ret_count = gx_rankings_at(bolt->rankings, index, &object, &payload);
    gale_str object_copy = { bolt->copies.data + *at, object.size };
    gale_str payload_copy = { bolt->copies.data + *at + object.size, payload.size };
    *at += object.size + payload.size;
    return (copied){ gx_value_unpack(object_copy), gx_value_unpack(payload_copy) };
}

/* Copies all packed values into one buffer: packed values are multiples of 8 long, so there each is aligned. */
static int copy_entries(ranker *bolt) {
    gx_buf_reset(&bolt->copies);
    for (size_t i = 0; i < gx_rankings_size(bolt->rankings); i++) {
        gale_str object, payload;
        gx_rankings_at(bolt->rankings, i, &object, &payload);
        gx_buf_add(&bolt->copies, object.data, object.size);
        gx_buf_add(&bolt->copies, payload.data, payload.size);
    }
    return bolt->copies.failed ? GALE_NO_MEMORY : 0;
}

static size_t count_values(const ranker *bolt) {
    size_t total = gx_rankings_size(bolt->rankings), at = 0;
    for (size_t i = 0, end = total; i < end; i++) {
        int64_t count;
        total += 2 + entry_at(bolt, i, &at, &count).others.size;
    }
    return total;
}

/* The values array holds the rows first, then the fields of each row. */
static int emit_rankings(ranker *bolt, gale_collector *out) {
    int rc = copy_entries(bolt);
    if (rc < 0) return rc;
    if (!gx_grow(&bolt->instance.heap, GX_TAG_OTHER, (void **)&bolt->values, &bolt->capacity, count_values(bolt) + 1,
                 sizeof *bolt->values)) {
        return GALE_NO_MEMORY;
    }
    size_t rows = gx_rankings_size(bolt->rankings), at = 0;
    gale_value *field = bolt->values + rows;
    for (size_t i = 0; i < rows; i++) {
        int64_t count;
        copied entry = entry_at(bolt, i, &at, &count);
        bolt->values[i] = gale_list(field, 2 + (size_t)entry.others.size);
        *field++ = entry.object;
        *field++ = gale_i64(count);
        for (size_t j = 0; j < entry.others.size; j++) *field++ = gale_list_at(&entry.others, j);
    }
    gale_value rankings = gale_list(bolt->values, rows);
    rc = gale_emit(out, 0, &rankings, 1);
    return rc < 0 ? rc : 0;
}

/* --- Taking in ---------------------------------------------------------------------------------------------------- */

/* Makes room for `count` other fields and hands them out to be filled. */
static gale_value *others_of(ranker *bolt, size_t count) {
    bool fits = gx_grow(&bolt->instance.heap, GX_TAG_OTHER, (void **)&bolt->values, &bolt->capacity, count + 1,
                        sizeof *bolt->values);
    return fits ? bolt->values : NULL;
}

/* Inside rankings a value lies two lists deeper than it came: one that is too deep for that must not get in, or nothing
 * could be emitted any more. */
static int check_depth(const ranker *bolt, const gale_value *object, const gale_value *list, gale_collector *out) {
    gale_value row[2] = { *object, *list }, rows = gale_list(row, 2), rankings = gale_list(&rows, 1);
    int64_t size = gx_body_measure(&rankings, 1);
    if (size >= 0) return 0;
    gx_define_report(out, "%s: an object cannot be ranked: %s", bolt->who,
                     size == GALE_INVALID ? "its lists and maps are too deep" : gale_error_text((int)size));
    return (int)size;
}

static int update(ranker *bolt, gale_collector *out, const gale_value *object, int64_t count, const gale_value *others,
                  size_t other_count) {
    gale_value list = gale_list(others, other_count);
    int depth = check_depth(bolt, object, &list, out);
    if (depth < 0) return depth;
    gx_buf_reset(&bolt->object);
    gx_buf_reset(&bolt->payload);
    int rc = gx_value_pack(object, &bolt->object);
    if (rc >= 0) rc = gx_value_pack(&list, &bolt->payload);
    if (rc < 0) return rc;
    return gx_rankings_update(bolt->rankings, (gale_str){ bolt->object.data, bolt->object.size }, count,
                              (gale_str){ bolt->payload.data, bolt->payload.size });
}

static int check_count(const ranker *bolt, const gale_tuple *tuple, uint32_t at, gale_collector *out) {
    gale_value count = gale_tuple_value(tuple, at);
    if (count.type != GALE_TYPE_I64) return gx_define_wrong_type(out, bolt->who, tuple, at, "i64");
    if (count.as.i64 >= 0) return 0;
    const char *field = gale_tuple_field(tuple, at);
    gx_define_report(out, "%s: field '%s' (value %u) of component '%s' must be at least 0, is %lld", bolt->who,
                     field ? field : "?", at, gale_tuple_component(tuple), (long long)count.as.i64);
    return GALE_TYPE;
}

static int check_value(const ranker *bolt, const gale_tuple *tuple, size_t at, gale_collector *out) {
    bool null = gale_tuple_value(tuple, at).type == GALE_TYPE_NULL;
    return null ? gx_define_wrong_type(out, bolt->who, tuple, at, "a value") : 0;
}

static int check_rankable(const ranker *bolt, const gale_tuple *tuple, gale_collector *out) {
    size_t size = gale_tuple_size(tuple);
    if (size < 2) return gx_define_need(out, bolt->who, tuple, 2);
    int rc = check_count(bolt, tuple, 1, out);
    for (size_t i = 0; i < size && rc == 0; i++) rc = check_value(bolt, tuple, i, out);
    return rc;
}

/* The last word when the input has ended. */
static int bolt_finish(void *self, gale_collector *out) {
    return emit_rankings(self, out);
}

/* What is named is there; what is not named keeps its place. */
static int find_named(ranker *bolt, const gale_tuple *tuple, gale_collector *out, gale_value others[GX_FIELDS_MAX]) {
    gale_value value;
    const settings *given = bolt->given;
    int rc = gx_fields_take(&given->key, &bolt->key_at, bolt->who, tuple, out, &value);
    if (rc == 0) rc = gx_fields_take(&given->value, &bolt->value_at, bolt->who, tuple, out, &value);
    if (rc == 0) rc = gx_fields_take(&given->others, &bolt->others_at, bolt->who, tuple, out, others);
    if (rc == 0 && gale_tuple_size(tuple) <= bolt->value_at.at[0])
        rc = gx_define_need(out, bolt->who, tuple, bolt->value_at.at[0] + 1);
    if (rc == 0) rc = check_count(bolt, tuple, bolt->value_at.at[0], out);
    if (rc == 0) rc = check_value(bolt, tuple, bolt->key_at.at[0], out);
    for (uint32_t i = 0; i < given->others.count && rc == 0; i++)
        rc = check_value(bolt, tuple, bolt->others_at.at[i], out);
    return rc;
}

static int execute_named(ranker *bolt, const gale_tuple *tuple, gale_collector *out) {
    gale_value others[GX_FIELDS_MAX];
    int rc = find_named(bolt, tuple, out, others);
    if (rc < 0) return rc;
    gale_value object = gale_tuple_value(tuple, bolt->key_at.at[0]);
    return update(bolt, out, &object, gale_tuple_value(tuple, bolt->value_at.at[0]).as.i64, others,
                  bolt->given->others.count);
}

static int execute_intermediate(void *self, const gale_tuple *tuple, gale_collector *out) {
    ranker *bolt = self;
    if (gale_tuple_is_tick(tuple)) return emit_rankings(bolt, out);
    if (GX_UNLIKELY(bolt->given->named)) return execute_named(bolt, tuple, out);
    int rc = check_rankable(bolt, tuple, out);
    if (rc < 0) return rc;
    size_t count = gale_tuple_size(tuple) - 2;
    gale_value *others = others_of(bolt, count), object = gale_tuple_value(tuple, 0);
    if (!others) return GALE_NO_MEMORY;
    for (size_t i = 0; i < count; i++) others[i] = gale_tuple_value(tuple, i + 2);
    return update(bolt, out, &object, gale_tuple_value(tuple, 1).as.i64, others, count);
}

/* NULL, or what is wrong with an entry of received rankings. */
static const char *entry_fault(const gale_value *entry) {
    if (entry->type != GALE_TYPE_LIST) return "is not a list";
    if (entry->size < 2) return "has fewer than two values";
    gale_value count = gale_list_at(entry, 1);
    if (count.type != GALE_TYPE_I64) return "has a count that is not i64";
    if (count.as.i64 < 0) return "has a negative count";
    for (size_t i = 0; i < entry->size; i++) {
        if (gale_list_at(entry, i).type == GALE_TYPE_NULL) return "holds a null";
    }
    return NULL;
}

/* All is checked before anything is merged. */
static int check_rankings(const ranker *bolt, const gale_tuple *tuple, gale_collector *out) {
    if (gale_tuple_size(tuple) < 1) return gx_define_need(out, bolt->who, tuple, 1);
    gale_value rankings = gale_tuple_value(tuple, 0);
    if (rankings.type != GALE_TYPE_LIST) return gx_define_wrong_type(out, bolt->who, tuple, 0, "list");
    for (size_t i = 0; i < rankings.size; i++) {
        gale_value entry = gale_list_at(&rankings, i);
        const char *fault = entry_fault(&entry), *field = gale_tuple_field(tuple, 0);
        if (!fault) continue;
        gx_define_report(out, "%s: entry %zu of field '%s' of component '%s' %s", bolt->who, i, field ? field : "?",
                         gale_tuple_component(tuple), fault);
        return GALE_TYPE;
    }
    return 0;
}

static int merge_entry(ranker *bolt, gale_collector *out, const gale_value *entry) {
    size_t count = entry->size - 2;
    gale_value *others = others_of(bolt, count), object = gale_list_at(entry, 0);
    if (!others) return GALE_NO_MEMORY;
    for (size_t i = 0; i < count; i++) others[i] = gale_list_at(entry, i + 2);
    return update(bolt, out, &object, gale_list_at(entry, 1).as.i64, others, count);
}

/* When memory runs out in the middle, what was merged stays: merging the same rankings again is without effect. */
static int execute_total(void *self, const gale_tuple *tuple, gale_collector *out) {
    ranker *bolt = self;
    if (gale_tuple_is_tick(tuple)) return emit_rankings(bolt, out);
    int rc = check_rankings(bolt, tuple, out);
    if (rc < 0) return rc;
    gale_value rankings = gale_tuple_value(tuple, 0);
    for (size_t i = 0; i < rankings.size && rc >= 0; i++) {
        gale_value entry = gale_list_at(&rankings, i);
        rc = merge_entry(bolt, out, &entry);
    }
    gx_rankings_prune_zeros(bolt->rankings);
    return rc < 0 ? rc : 0;
}

/* --- What lasts: the entries, best first --------------------------------------------------------------------------- */

static int bolt_save(void *self, gale_saver *to) {
    ranker *bolt = self;
    int rc = copy_entries(bolt);
    size_t at = 0;
    for (size_t i = 0; rc >= 0 && i < gx_rankings_size(bolt->rankings); i++) {
        int64_t count;
        copied entry = entry_at(bolt, i, &at, &count);
        const gale_value record[3] = { entry.object, gale_i64(count), entry.others };
        rc = gale_save(to, record, 3);
    }
    return rc;
}

static int restore_entry(ranker *bolt, gx_recall *recall, const gale_value *v) {
    gale_value *others = others_of(bolt, v[2].size);
    if (!others) return GALE_NO_MEMORY;
    if (v[0].type == GALE_TYPE_NULL) return gx_recall_refuse(recall, "ranks a null");
    for (uint32_t i = 0; i < v[2].size; i++) others[i] = gale_list_at(&v[2], i);
    int rc = update(bolt, recall->out, &v[0], v[1].as.i64, others, v[2].size);
    return rc == GALE_INVALID ? GALE_DAMAGED : rc;
}

static int bolt_restore(void *self, gale_saved *from, gale_collector *out) {
    ranker *bolt = self;
    gx_recall recall = { from, out, bolt->who, bolt->instance.context, 0 };
    const gale_value *v;
    int rc;
    while ((rc = gx_recall_next(&recall, "?nl", &v)) > 0) {
        if (gx_recall_owns(&recall, &v[0], 1)) rc = restore_entry(bolt, &recall, v);
        if (rc < 0) return rc;
    }
    return rc;
}

static const gale_durable_ops durable = {
    .size = sizeof(gale_durable_ops),
    .version = 1,
    .flags = GALE_DURABLE_PARTS,
    .save = bolt_save,
    .restore = bolt_restore,
};

/* --- Defining ----------------------------------------------------------------------------------------------------- */

static int define(const char *who, const gale_bolt_ops *ops, settings given, int64_t emit_seconds, gale_bolt *ret_bolt,
                  gale_error *error) {
    static const gale_output outputs[] = { { NULL, "rankings" } };
    int64_t top_n = given.top_n;
    if (!ret_bolt) return gx_define_nowhere(who, error);
    if (top_n < 1 || top_n > TOP_N_MAX) {
        return gale_error_set(error, GALE_INVALID, "%s: top_n is %lld, must be 1 to %d", who, (long long)top_n,
                              TOP_N_MAX);
    }
    if (emit_seconds < 1 || emit_seconds > INT32_MAX) {
        return gale_error_set(error, GALE_INVALID, "%s: emit_seconds is %lld, must be 1 to %d", who,
                              (long long)emit_seconds, INT32_MAX);
    }
    given.tick = gx_define_tick(emit_seconds);
    settings *user = gx_define_user(&given, sizeof given, who, error);
    if (!user) return GALE_NO_MEMORY;
    *ret_bolt = gx_define_bolt(ops, user, outputs, 1);
    ret_bolt->settings = &user->tick;
    ret_bolt->setting_count = 1;
    return 0;
}

static int define_intermediate(settings given, int64_t emit_seconds, gale_bolt *ret_bolt, gale_error *error) {
    static const gale_bolt_ops ops = {
        .size = sizeof(gale_bolt_ops),
        .name = "intermediate rankings bolt",
        .kind = GALE_BOLT_SIMPLE,
        .prepare = prepare_intermediate,
        .execute = execute_intermediate,
        .finish = bolt_finish,
        .cleanup = bolt_cleanup,
        .durable = &durable,
    };
    return define("intermediate rankings bolt", &ops, given, emit_seconds, ret_bolt, error);
}

int gale_intermediate_rankings_bolt(int64_t top_n, int64_t emit_seconds, gale_bolt *ret_bolt, gale_error *error) {
    return define_intermediate((settings){ .top_n = top_n }, emit_seconds, ret_bolt, error);
}

int gale_field_rankings_bolt(const gale_rankings_options *options, gale_bolt *ret_bolt, gale_error *error) {
    gale_rankings_options o;
    settings given = { .named = true };
    if (!ret_bolt) return gx_define_nowhere("field rankings bolt", error);
    int rc = gx_options_take(&o, sizeof o, options, "field rankings bolt: options", error);
    if (rc == 0) rc = gx_fields_parse_one(o.key, "field rankings bolt: key", &given.key, error);
    if (rc == 0) rc = gx_fields_parse_one(o.value, "field rankings bolt: value", &given.value, error);
    if (rc == 0 && o.fields && *o.fields)
        rc = gx_fields_parse(o.fields, "field rankings bolt: fields", &given.others, error);
    if (rc < 0) return rc;
    given.top_n = o.top_n ? o.top_n : 10;
    return define_intermediate(given, o.emit_seconds ? o.emit_seconds : 2, ret_bolt, error);
}

int gale_total_rankings_bolt(int64_t top_n, int64_t emit_seconds, gale_bolt *ret_bolt, gale_error *error) {
    static const gale_bolt_ops ops = {
        .size = sizeof(gale_bolt_ops),
        .name = "total rankings bolt",
        .kind = GALE_BOLT_SIMPLE,
        .prepare = prepare_total,
        .execute = execute_total,
        .finish = bolt_finish,
        .cleanup = bolt_cleanup,
        .durable = &durable,
    };
    return define("total rankings bolt", &ops, (settings){ .top_n = top_n }, emit_seconds, ret_bolt, error);
}
