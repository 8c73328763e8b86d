/* One tuple to many: gale_flat_map_bolt. A list that is longer than a part is emitted in parts (GALE_MORE). */
#include "base/hash.h"
#include "kit/recall.h"
#include "script/shaper.h"
#include "tuple/body.h"

static int refuse(const gx_shaper *shaper, gale_collector *out, uint32_t item, const char *what) {
    gx_define_report(out, "%s: item %u %s", shaper->given->given[0].what, item + 1, what);
    return GALE_TYPE;
}

/* The values of an item under their names. */
static int open_item(const gx_shaper *shaper, const gale_value *item, uint32_t index, gale_collector *out,
                     gale_value *values) {
    const gx_fields *as = &shaper->given->as;
    if (as->count == 1) {
        values[0] = *item;
        return GALE_OK;
    }
    if (item->type != GALE_TYPE_LIST && item->type != GALE_TYPE_MAP)
        return refuse(shaper, out, index, "is neither a list nor a map, and there are several fields");
    if (item->type == GALE_TYPE_LIST && item->size != as->count)
        return refuse(shaper, out, index, "has another number of values than there are fields");
    for (uint32_t i = 0; i < as->count; i++) {
        values[i] = item->type == GALE_TYPE_LIST ? gale_list_at(item, i) : gale_null();
        if (item->type == GALE_TYPE_MAP) (void)gale_map_get(item, gx_fields_name(as, i), &values[i]);
    }
    return GALE_OK;
}

static int emit_item(gx_shaper *shaper, const gale_value *item, uint32_t index, const gale_tuple *tuple,
                     gale_collector *out) {
    gale_value values[GX_FIELDS_MAX];
    int rc = open_item(shaper, item, index, out, values);
    return rc < 0 ? rc : gx_shaper_emit(shaper, 0, tuple, out, values, shaper->given->as.count);
}

/* --- In parts ------------------------------------------------------------------------------------------------------- */

static uint64_t print_of(const gale_tuple *tuple) {
    return gx_hash_bytes(tuple->body, gx_body_size(tuple->body), 0);
}

/* The items that are left, in parts. The list is good until an expression runs again, unless it lies in the tuple. */
static int emit_items(gx_shaper *shaper, const gale_tuple *tuple, gale_collector *out) {
    gx_shaper_part *part = &shaper->part;
    const gale_value items = part->items;
    int rc = GALE_OK;
    for (uint32_t i = part->next; rc >= 0 && i < items.size; i++) {
        gale_value item = gale_list_at(&items, i);
        rc = emit_item(shaper, &item, i, tuple, out);
        if (rc < 0 || i + 1 == items.size || !gale_part_is_full(out)) continue;
        if (!part->next) part->print = print_of(tuple);
        part->next = i + 1;
        return GALE_MORE;
    }
    part->next = 0;
    return rc;
}

static int make_items(gx_shaper *shaper, const gale_tuple *tuple, gale_collector *out) {
    gale_value items = gale_null();
    int rc = gx_shaper_take(shaper, tuple, out);
    if (rc >= 0) rc = gx_shaper_run(shaper, 0, out, &items);
    shaper->part.items = items;
    shaper->part.body = tuple->body;
    if (rc < 0 || items.type == GALE_TYPE_NULL || items.type == GALE_TYPE_LIST) return rc;
    gx_define_report(out, "%s: returned %s, must be a list", shaper->given->given[0].what, gale_type_name(items.type));
    return GALE_TYPE;
}

/* Another tuple than the one that was begun: that did not come back. */
GX_NOINLINE static void look_again(gx_shaper *shaper, const gale_tuple *tuple) {
    if (print_of(tuple) != shaper->part.print) shaper->part.next = 0;
}

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    gx_shaper *shaper = self;
    if (gale_tuple_is_tick(tuple)) return 0;
    if (GX_UNLIKELY(shaper->part.next)) look_again(shaper, tuple);
    if (GX_LIKELY(!shaper->part.next) || shaper->part.body != tuple->body) {
        int rc = make_items(shaper, tuple, out);
        if (rc < 0) shaper->part.next = 0;
        if (rc < 0 || shaper->part.items.type == GALE_TYPE_NULL) return rc;
    }
    return emit_items(shaper, tuple, out);
}

/* --- What lasts: of a tuple of which some items are emitted, which is next ---------------------------------------------- */

static int bolt_save(void *self, gale_saver *to) {
    const gx_shaper_part *part = &((const gx_shaper *)self)->part;
    const gale_value record[2] = { gale_i64(part->next), gale_i64((int64_t)part->print) };
    return part->next ? gale_save(to, record, 2) : GALE_OK;
}

/* The tuple comes to the task that it came to. */
static int bolt_restore(void *self, gale_saved *from, gale_collector *out) {
    gx_shaper *shaper = self;
    gx_recall recall = { from, out, "flat map", shaper->instance.context, 0 };
    const gale_value *v;
    int rc = gx_recall_next(&recall, "ni", &v);
    if (rc <= 0) return rc;
    if (v[0].as.i64 < 1 || v[0].as.i64 > UINT32_MAX) return gx_recall_refuse(&recall, "has an item that is none");
    if (!gx_recall_is_same(&recall)) {
        gx_define_report(
            out,
            "flat map: %lld items of a tuple were emitted, and others were not; start it once with as many "
            "tasks as before",
            (long long)v[0].as.i64);
        return GALE_STATE;
    }
    shaper->part = (gx_shaper_part){ .next = (uint32_t)v[0].as.i64, .print = (uint64_t)v[1].as.i64 };
    return GALE_OK;
}

static const gale_durable_ops durable = {
    .size = sizeof(gale_durable_ops),
    .version = 1,
    .flags = GALE_DURABLE_PARTS | GALE_DURABLE_STATELESS, /* but for such a tuple */
    .save = bolt_save,
    .restore = bolt_restore,
};

static const gale_bolt_ops ops = {
    .size = sizeof(gale_bolt_ops),
    .name = "flat map bolt",
    .kind = GALE_BOLT_SIMPLE,
    .prepare = gx_shaper_prepare,
    .execute = bolt_execute,
    .cleanup = gx_shaper_cleanup,
    .durable = &durable,
};

static int set_kept(gx_shaper_settings *settings, const char *keep, gale_error *error) {
    gx_fields list = { .count = 0 };
    int rc = keep && *keep ? gx_fields_parse(keep, "flat map: keep", &list, error) : GALE_OK;
    for (uint32_t i = 0; i < list.count && rc >= 0; i++) {
        int32_t place = gx_shaper_place(settings, "keep", gx_fields_name(&list, i), error);
        if (place < 0) return GALE_INVALID;
        settings->from[settings->width++] = (uint16_t)place;
    }
    return rc;
}

static int make(gx_shaper_settings *settings, const void *options, gale_error *error) {
    const gale_flat_map_options *given = options;
    gx_buf names = GX_BUF_INIT(NULL);
    int rc = gx_fields_parse(given->as, "flat map: as", &settings->as, error);
    if (rc >= 0) rc = set_kept(settings, given->keep, error);
    if (rc >= 0) rc = gx_shaper_add(settings, "each", "", given->each, error);
    if (rc < 0) return rc;
    gx_buf_format(&names, "%s%s%s", settings->width ? given->keep : "", settings->width ? ", " : "", given->as);
    const char *text = gx_buf_text(&names);
    rc = text ? gx_shaper_output(settings, NULL, text, error)
              : gale_error_set(error, GALE_NO_MEMORY, "flat map: out of memory");
    gx_buf_fini(&names);
    return rc;
}

int gale_flat_map_bolt(const gale_flat_map_options *options, gale_bolt *ret_bolt, gale_error *error) {
    static const gx_shaper_kind kind = GX_SHAPER_KIND("flat map", gale_flat_map_options, &ops, make);
    return gx_shaper_bolt(&kind, options, ret_bolt, error);
}
