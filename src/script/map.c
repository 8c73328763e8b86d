/* Computed fields: gale_map_bolt. */
#include "base/nearest.h"
#include "script/shaper.h"

#include <gale/state.h>

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    gx_shaper *shaper = self;
    gale_value value;
    if (gale_tuple_is_tick(tuple)) return 0;
    int rc = gx_shaper_take(shaper, tuple, out);
    for (uint32_t i = 0; rc >= 0 && i < shaper->given->count; i++) rc = gx_shaper_run(shaper, i, out, &value);
    return rc < 0 ? rc : gx_shaper_emit(shaper, 0, tuple, out, NULL, 0);
}

static const gale_bolt_ops ops = {
    .size = sizeof(gale_bolt_ops),
    .name = "map bolt",
    .kind = GALE_BOLT_SIMPLE,
    .prepare = gx_shaper_prepare,
    .execute = bolt_execute,
    .cleanup = gx_shaper_cleanup,
    .durable = &gale_stateless,
};

/* --- What goes out --- */

typedef struct plan {
    gx_shaper_settings *settings;
    gale_str names[GX_SHAPER_VALUES]; /* of what goes out */
    gale_error *error;
} plan;

static int32_t find(const plan *p, gale_str name) {
    for (uint32_t i = 0; i < p->settings->width; i++)
        if (gx_str_equal(p->names[i], name)) return (int32_t)i;
    return -1;
}

static void add(plan *p, gale_str name, uint16_t from) {
    p->names[p->settings->width] = name;
    p->settings->from[p->settings->width++] = from;
}

static bool is_listed(const gx_fields *list, gale_str name) {
    for (uint32_t i = 0; i < list->count; i++)
        if (gx_str_equal(gx_fields_name(list, i), name)) return true;
    return false;
}

static bool is_set(const gale_map_options *given, gale_str name) {
    for (size_t i = 0; i < given->set_count; i++)
        if (gx_str_is(name, given->set[i].field)) return true;
    return false;
}

static int cannot_keep(const plan *p, const gale_map_options *given, gale_str name) {
    gx_nearest nearest = gx_nearest_to(name);
    const gx_fields *fields = &p->settings->fields;
    char hint[100];
    for (uint32_t i = 0; i < fields->count; i++) gx_nearest_offer(&nearest, gx_fields_name(fields, i));
    for (size_t i = 0; i < given->set_count; i++) gx_nearest_offer(&nearest, gx_str(given->set[i].field));
    return gale_error_set(p->error, GALE_INVALID, "map: keep: there is no field '%.*s'%s", GX_STR(name),
                          gx_nearest_hint(&nearest, hint, sizeof hint));
}

/* The fields that stay, in the order in which `keep` names them. What is set goes out anyway, behind them. */
static int keep_named(plan *p, const gx_fields *keep, const gale_map_options *given) {
    const gx_fields *fields = &p->settings->fields;
    for (uint32_t i = 0; i < keep->count; i++) {
        gale_str name = gx_fields_name(keep, i);
        uint32_t place = 0;
        while (place < fields->count && !gx_str_equal(gx_fields_name(fields, place), name)) place++;
        if (place < fields->count)
            add(p, gx_fields_name(fields, place), (uint16_t)place);
        else if (!is_set(given, name))
            return cannot_keep(p, given, name);
    }
    return GALE_OK;
}

/* The fields that stay, in the order in which they come in. */
static int keep_others(plan *p, const gx_fields *drop) {
    const gx_fields *fields = &p->settings->fields;
    for (uint32_t i = 0; i < drop->count; i++) {
        gale_str name = gx_fields_name(drop, i);
        if (gx_shaper_place(p->settings, "drop", name, p->error) < 0) return GALE_INVALID;
    }
    for (uint32_t i = 0; i < fields->count; i++) {
        gale_str name = gx_fields_name(fields, i);
        if (!is_listed(drop, name)) add(p, name, (uint16_t)i);
    }
    return GALE_OK;
}

static int choose(plan *p, const gale_map_options *given) {
    gx_fields list = { .count = 0 };
    if (given->keep && given->drop)
        return gale_error_set(p->error, GALE_INVALID, "map: keep and drop exclude each other");
    const char *text = given->keep ? given->keep : given->drop;
    int rc = text ? gx_fields_parse(text, given->keep ? "map: keep" : "map: drop", &list, p->error) : GALE_OK;
    if (rc < 0) return rc;
    return given->keep ? keep_named(p, &list, given) : keep_others(p, &list);
}

/* One "old as new". */
static int rename_one(plan *p, gale_str piece) {
    gale_str old = piece, made = { NULL, 0 };
    for (size_t i = 1; i + 4 < piece.size; i++) {
        if (memcmp(piece.data + i, " as ", 4) != 0) continue;
        old = gx_str_trim((gale_str){ piece.data, i });
        made = gx_str_trim((gale_str){ piece.data + i + 4, piece.size - i - 4 });
    }
    if (!made.size)
        return gale_error_set(p->error, GALE_INVALID, "map: rename: '%.*s' is not 'old as new'", GX_STR(piece));
    int32_t place = find(p, old);
    if (place < 0 && gx_shaper_place(p->settings, "rename", old, p->error) >= 0)
        return gale_error_set(p->error, GALE_INVALID, "map: rename: '%.*s' does not go out", GX_STR(old));
    if (place < 0) return GALE_INVALID;
    if (find(p, made) >= 0)
        return gale_error_set(p->error, GALE_INVALID, "map: rename: there is a '%.*s' already", GX_STR(made));
    p->names[place] = made;
    return GALE_OK;
}

static int rename_all(plan *p, const char *text) {
    const char *kept = text ? gx_shaper_keep(p->settings, text) : NULL;
    if (text && !kept) return gale_error_set(p->error, GALE_NO_MEMORY, "map: out of memory");
    gale_str rest = gx_str(kept), piece;
    int rc = GALE_OK;
    while (rc >= 0 && gx_str_next(&rest, ',', &piece)) rc = rename_one(p, piece);
    return rc;
}

static bool is_one_name(const char *name) {
    return name && *name && *name != ' ' && !strchr(name, ',');
}

static int set_all(plan *p, const gale_map_options *given) {
    gx_shaper_settings *settings = p->settings;
    for (size_t i = 0; i < given->set_count; i++) {
        const gale_assignment *set = &given->set[i];
        if (!is_one_name(set->field))
            return gale_error_set(p->error, GALE_INVALID, "map: set: '%s' is no name of a field",
                                  set->field ? set->field : "");
        uint16_t from = (uint16_t)(settings->fields.count + settings->count);
        int rc = gx_shaper_add(settings, "set", set->field, set->expression, p->error);
        if (rc < 0) return rc;
        gale_str name = gx_str(settings->given[settings->count - 1].name);
        int32_t place = find(p, name);
        if (place >= 0)
            settings->from[place] = from;
        else
            add(p, name, from);
    }
    return GALE_OK;
}

static int declare(plan *p) {
    gx_buf names = GX_BUF_INIT(NULL);
    for (uint32_t i = 0; i < p->settings->width; i++)
        gx_buf_format(&names, "%s%.*s", i ? ", " : "", GX_STR(p->names[i]));
    const char *text = gx_buf_text(&names);
    int rc = !text         ? gale_error_set(p->error, GALE_NO_MEMORY, "map: out of memory")
             : !names.size ? gale_error_set(p->error, GALE_INVALID,
                                            "map: nothing goes out: all fields are dropped, and none is set")
                           : gx_shaper_output(p->settings, NULL, text, p->error);
    gx_buf_fini(&names);
    return rc;
}

static int make(gx_shaper_settings *settings, const void *options, gale_error *error) {
    const gale_map_options *given = options;
    plan p = { .settings = settings, .error = error };
    if (given->set_count && !given->set) return gale_error_set(error, GALE_INVALID, "map: set is not given");
    int rc = choose(&p, given);
    if (rc >= 0) rc = rename_all(&p, given->rename);
    if (rc >= 0) rc = set_all(&p, given);
    return rc < 0 ? rc : declare(&p);
}

int gale_map_bolt(const gale_map_options *options, gale_bolt *ret_bolt, gale_error *error) {
    static const gx_shaper_kind kind = GX_SHAPER_KIND("map", gale_map_options, &ops, make);
    return gx_shaper_bolt(&kind, options, ret_bolt, error);
}
