#include "sql/lookup.h"

#include <stdlib.h>

/* --- Who waits -------------------------------------------------------------------------------------------------------- */

bool sql_waiting_add(sql_waiting *waiting, uint64_t id) {
    if (waiting->count == waiting->room) {
        size_t room = waiting->room ? 2 * waiting->room : 4;
        uint64_t *ids = realloc(waiting->ids, room * sizeof *ids);
        if (!ids) return false;
        waiting->ids = ids;
        waiting->room = room;
    }
    waiting->ids[waiting->count++] = id;
    return true;
}

void sql_waiting_free(sql_waiting *waiting) {
    free(waiting->ids);
    *waiting = (sql_waiting){ .ids = NULL };
}

/* --- Out -------------------------------------------------------------------------------------------------------------- */

static void pass_fields(sql_lookup *l, const gale_tuple *tuple) {
    for (size_t i = 0; i < l->given->field_count; i++)
        if (!gale_tuple_get(tuple, l->given->fields[i], &l->values[i])) l->values[i] = gale_null();
}

static int emit(sql_lookup *l, gale_handle tuple, uint32_t stream, size_t count) {
    return gale_emit_anchored(l->out, stream, l->values, count, &tuple, 1);
}

static int emit_missing(sql_lookup *l, gale_handle tuple) {
    size_t count = l->given->field_count;
    switch (l->given->missing) {
    case SQL_MISSING_NULL:
        for (size_t i = 0; i < l->given->add_count; i++) l->values[count + i] = gale_null();
        return emit(l, tuple, 0, count + l->given->add_count);
    case SQL_MISSING_STREAM: return emit(l, tuple, 1, count);
    case SQL_MISSING_FAIL: return GALE_NOT_FOUND;
    default: return 0;
    }
}

/* GALE_NOT_FOUND: there is no row, and the tuple is to fail for it. */
static int emit_rows(sql_lookup *l, const gale_tuple *tuple, const gale_value *rows) {
    gale_handle handle = gale_tuple_handle(tuple);
    pass_fields(l, tuple);
    if (!rows || !rows->size) return emit_missing(l, handle);
    int rc = 0;
    for (size_t i = 0; rc >= 0 && i < rows->size; i++) {
        gale_value row = gale_list_at(rows, i);
        for (size_t j = 0; j < l->given->add_count; j++) l->values[l->given->field_count + j] = gale_list_at(&row, j);
        rc = emit(l, handle, 0, l->given->field_count + l->given->add_count);
    }
    return rc;
}

static const char no_row[] = "there is no row of its key";

/* Of a tuple that was held. */
static void answer(sql_lookup *l, uint64_t id, const gale_value *rows) {
    const gale_tuple *tuple = gale_dispatch_tuple(l->dispatch, id);
    int rc = tuple ? emit_rows(l, tuple, rows) : 0;
    if (rc == GALE_NOT_FOUND)
        (void)gale_dispatch_fail(l->dispatch, id, GALE_REASON_FAILED, no_row);
    else if (rc < 0)
        (void)gale_dispatch_fail(l->dispatch, id, GALE_REASON_FAILED, gale_error_text(rc));
    else
        (void)gale_dispatch_ack(l->dispatch, id);
}

/* --- Answers ---------------------------------------------------------------------------------------------------------- */

void sql_lookup_answer(sql_lookup *l, const sql_waiting *waiting, const gale_value *rows) {
    for (size_t i = 0; i < waiting->count; i++) answer(l, waiting->ids[i], rows);
}

void sql_lookup_fail(sql_lookup *l, const sql_waiting *waiting, int32_t reason, const char *why) {
    for (size_t i = 0; i < waiting->count; i++) (void)gale_dispatch_fail(l->dispatch, waiting->ids[i], reason, why);
}

/* What is known, or that there is nothing. */
static int answer_at_once(sql_lookup *l, const gale_tuple *tuple, const gale_value *rows) {
    int rc = emit_rows(l, tuple, rows);
    if (rc == GALE_NOT_FOUND) return gale_fail(l->out, gale_tuple_handle(tuple), GALE_REASON_FAILED, no_row);
    return rc < 0 ? rc : gale_ack(l->out, gale_tuple_handle(tuple));
}

bool sql_lookup_knows(sql_lookup *l, const gale_tuple *tuple, gale_str key, int *ret_rc) {
    sql_rows *rows = sql_found_get(&l->found, key);
    if (!rows) return false;
    gale_value list = gale_value_owned_view(rows->list);
    *ret_rc = answer_at_once(l, tuple, &list);
    sql_rows_done(&l->found, rows);
    return true;
}

int sql_lookup_has_none(sql_lookup *l, const gale_tuple *tuple) {
    return answer_at_once(l, tuple, NULL);
}

int sql_lookup_refuse(sql_lookup *l, uint64_t id, int rc) {
    return gale_dispatch_fail(l->dispatch, id, GALE_REASON_FAILED, rc < 0 ? gale_error_text(rc) : no_row);
}

/* --- A task ----------------------------------------------------------------------------------------------------------- */

static int make_map(sql_lookup *l, const gale_context *context, gale_error *error) {
    gale_rotating_map_options options = GALE_ROTATING_MAP_OPTIONS_INIT;
    options.key_type = GALE_KEY_BYTES;
    options.value_size = sizeof(void *);
    options.allocator = context->allocator;
    return gale_rotating_map_new(&options, &l->open, error);
}

int sql_lookup_open(sql_lookup *l, const sql_lookup_settings *given, const gale_context *context, gale_collector *out,
                    gale_error *error) {
    gale_dispatch_options options = GALE_DISPATCH_OPTIONS_INIT;
    options.memory = given->memory;
    l->given = given;
    l->out = out;
    int rc = gale_dispatch_new(context, out, &options, &l->dispatch, error);
    if (rc == 0) rc = make_map(l, context, error);
    return rc < 0 ? rc : sql_found_open(&l->found, given->cache_for, given->cache_rows, context, error);
}

void sql_lookup_close(sql_lookup *l) {
    gale_dispatch_free(l->dispatch);
    sql_found_close(&l->found);
    gale_rotating_map_free(l->open);
}
