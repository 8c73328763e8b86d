/* Fields from a PostgreSQL table: gale.bolt.PostgresLookup. A tuple whose key was not asked for lately is held until the server has answered; others with the same
 * key wait for the same answer. */
#include "sql/lookup.h"
#include "connect/postgres/asker.h"
#include "connect/postgres/lookup_settings.h"
#include "connect/postgres/postgres.h"
#include "connect/postgres/text.h"
#include "connect/postgres/value.h"

#include <gale/state.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 10000 }; /* of one key */

/* A question, and who waits for its answer. */
typedef struct asked {
    pg_question question; /* first */
    const char *values[SQL_KEYS_MAX];
    sql_text texts; /* the values, each with a NUL behind it */
    sql_waiting waiting;
    size_t key_size;
    char key[]; /* as in the maps */
} asked;

typedef struct lookup {
    pg_asker asker;
    const pg_lookup_settings *given;
    const gale_context *context;
    gale_collector *out;
    sql_lookup lookup;
    sql_text key;
} lookup;

/* --- Answers ---------------------------------------------------------------------------------------------------------- */

static void forget(lookup *l, asked *a) {
    (void)gale_rotating_map_remove_bytes(l->lookup.open, a->key, a->key_size, NULL);
    sql_text_free(&a->texts);
    sql_waiting_free(&a->waiting);
    free(a);
}

static gale_value cell_of(PGresult *result, int row, int column) {
    if (PQgetisnull(result, row, column)) return gale_null();
    return pg_value_of(PQftype(result, column), PQgetvalue(result, row, column),
                       (size_t)PQgetlength(result, row, column));
}

/* Its rows as a list of lists; `lists` and `cells` have room for them. */
static gale_value list_of(const lookup *l, PGresult *result, gale_value *lists, gale_value *cells) {
    size_t columns = l->given->lookup.add_count, rows = (size_t)PQntuples(result);
    for (size_t i = 0; i < rows; i++) {
        for (size_t j = 0; j < columns; j++) cells[i * columns + j] = cell_of(result, (int)i, (int)j);
        lists[i] = gale_list(cells + i * columns, columns);
    }
    return gale_list(lists, rows);
}

static sql_rows *keep_rows(lookup *l, const asked *a, PGresult *result) {
    size_t rows = (size_t)PQntuples(result);
    gale_value *room = calloc(rows * (1 + l->given->lookup.add_count) + 1, sizeof *room);
    if (!room) return NULL;
    gale_value list = list_of(l, result, room, room + rows);
    sql_rows *kept = sql_found_put(&l->lookup.found, (gale_str){ a->key, a->key_size }, &list);
    free(room);
    return kept;
}

static void answer_all(lookup *l, const asked *a, PGresult *result) {
    sql_rows *rows = keep_rows(l, a, result);
    if (!rows) {
        sql_lookup_fail(&l->lookup, &a->waiting, GALE_REASON_FAILED, "out of memory");
        return;
    }
    gale_value list = gale_value_owned_view(rows->list);
    sql_lookup_answer(&l->lookup, &a->waiting, &list);
    sql_rows_done(&l->lookup.found, rows);
}

static void hear_answer(void *user, pg_question *question, PGresult *result, const char *why) {
    lookup *l = user;
    asked *a = (asked *)question;
    char text[120];
    if (result && PQnfields(result) != (int)l->given->lookup.add_count) {
        snprintf(text, sizeof text, "the query has %d columns, and add names %zu", PQnfields(result),
                 l->given->lookup.add_count);
        why = text;
    } else if (result && PQntuples(result) > ROWS_MAX) {
        snprintf(text, sizeof text, "its key has %d rows, and may have %d", PQntuples(result), ROWS_MAX);
        why = text;
    }
    if (why)
        sql_lookup_fail(&l->lookup, &a->waiting, GALE_REASON_REJECTED, why);
    else
        answer_all(l, a, result);
    forget(l, a);
}

static const pg_asker_ops asker_ops = { hear_answer };

/* --- Questions -------------------------------------------------------------------------------------------------------- */

/* The key's values, each with its size before it. 1: one is null, and no row has it. GALE_INVALID with a sentence. */
static int write_key(lookup *l, const gale_tuple *tuple, char *why, size_t size) {
    sql_text *key = &l->key;
    key->size = 0;
    for (size_t i = 0; i < l->given->lookup.key_count; i++) {
        gale_value value;
        bool is_there = gale_tuple_get(tuple, l->given->lookup.keys[i], &value);
        if (is_there && value.type == GALE_TYPE_NULL) return 1;
        uint32_t length = 0;
        size_t at = key->size;
        sql_text_add(key, &length, sizeof length);
        const char *wrong = is_there ? pg_text_value(key, &value) : "is not there";
        if (key->failed) break;
        length = (uint32_t)(key->size - at - sizeof length);
        if (!wrong && key->size > GALE_ROTATING_MAP_KEY_MAX) wrong = "is too long for a key";
        if (wrong) {
            snprintf(why, size, "field %s %s", l->given->lookup.keys[i], wrong);
            return GALE_INVALID;
        }
        memcpy(key->data + at, &length, sizeof length);
    }
    if (!key->failed) return 0;
    key->failed = false;
    return GALE_NO_MEMORY;
}

/* As libpq wants them. */
static bool write_values(const lookup *l, asked *a) {
    size_t at = 0, places[SQL_KEYS_MAX];
    for (size_t i = 0; i < l->given->lookup.key_count; i++) {
        uint32_t length;
        memcpy(&length, a->key + at, sizeof length);
        places[i] = a->texts.size;
        sql_text_add(&a->texts, a->key + at + sizeof length, length);
        sql_text_add(&a->texts, "", 1);
        at += sizeof length + length;
    }
    if (a->texts.failed) return false;
    for (size_t i = 0; i < l->given->lookup.key_count; i++) a->values[i] = a->texts.data + places[i];
    a->question.values = a->values;
    return true;
}

static asked *new_question(lookup *l) {
    asked *a = calloc(1, sizeof *a + l->key.size);
    if (!a) return NULL;
    a->key_size = l->key.size;
    memcpy(a->key, l->key.data, l->key.size);
    if (write_values(l, a) && gale_rotating_map_put_bytes(l->lookup.open, a->key, a->key_size, &a, NULL) >= 0) return a;
    sql_text_free(&a->texts);
    free(a);
    return NULL;
}

/* Of the key that was written last. */
static int ask(lookup *l, uint64_t id) {
    asked **open = gale_rotating_map_get_bytes(l->lookup.open, l->key.data, l->key.size);
    if (open)
        return sql_waiting_add(&(*open)->waiting, id)
                   ? 0
                   : gale_dispatch_fail(l->lookup.dispatch, id, GALE_REASON_FAILED, "out of memory");
    asked *a = new_question(l);
    if (a && sql_waiting_add(&a->waiting, id)) {
        pg_asker_ask(&l->asker, &a->question);
        return 0;
    }
    if (a) forget(l, a);
    return gale_dispatch_fail(l->lookup.dispatch, id, GALE_REASON_FAILED, "out of memory");
}

/* --- A task ------------------------------------------------------------------------------------------------------------ */

static void bolt_cleanup(void *self) {
    lookup *l = self;
    while (l->asker.first) {
        asked *a = (asked *)l->asker.first;
        l->asker.first = a->question.next;
        forget(l, a);
    }
    pg_asker_close(&l->asker);
    sql_lookup_close(&l->lookup);
    sql_text_free(&l->key);
    free(l);
}

static int begin(lookup *l, gale_error *error) {
    int rc = sql_lookup_open(&l->lookup, &l->given->lookup, l->context, l->out, error);
    if (rc < 0) return rc;
    return pg_asker_open(&l->asker, &l->given->postgres, l->given->lookup.statement, (int)l->given->lookup.key_count,
                         l->context, l->out, &asker_ops, l, error);
}

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    gale_error error = GALE_ERROR_INIT;
    lookup *l = calloc(1, sizeof *l);
    if (!l) return GALE_NO_MEMORY;
    l->given = user;
    l->context = context;
    l->out = out;
    int rc = begin(l, &error);
    if (rc < 0) {
        gale_report(out, error.text);
        bolt_cleanup(l);
        return rc;
    }
    *ret_self = l;
    return 0;
}

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    lookup *l = self;
    char why[GALE_FAILURE_TEXT];
    uint64_t id;
    if (gale_tuple_is_tick(tuple)) return gale_ack(out, gale_tuple_handle(tuple));
    int rc = write_key(l, tuple, why, sizeof why);
    if (rc == GALE_INVALID) return gale_reject(out, gale_tuple_handle(tuple), why);
    if (rc < 0) return rc;
    if (rc == 1) return sql_lookup_has_none(&l->lookup, tuple);
    if (sql_lookup_knows(&l->lookup, tuple, (gale_str){ l->key.data, l->key.size }, &rc)) return rc;
    rc = gale_dispatch_hold(l->lookup.dispatch, tuple, l->key.size + sizeof(asked), &id);
    return rc < 0 ? rc : ask(l, id);
}

static void drive(void *self) {
    pg_link_drive(&((lookup *)self)->asker.link, 50);
}

static int bolt_finish(void *self, gale_collector *out) {
    const lookup *l = self;
    (void)out;
    return gale_dispatch_finish(l->lookup.dispatch, l->given->lookup.finish_wait, l->given->postgres.where, "answered",
                                drive, self);
}

/* --- Checkpoints: what has no answer is asked again --------------------------------------------------------------------- */

static int bolt_save(void *self, gale_saver *to) {
    return gale_dispatch_save(((lookup *)self)->lookup.dispatch, to);
}

static int ask_again(void *user, uint64_t id, const gale_tuple *tuple) {
    lookup *l = user;
    char why[GALE_FAILURE_TEXT];
    int rc = write_key(l, tuple, why, sizeof why);
    if (rc == 0) return ask(l, id);
    return sql_lookup_refuse(&l->lookup, id, rc);
}

static int bolt_restore(void *self, gale_saved *from, gale_collector *out) {
    (void)out;
    return gale_dispatch_restore(((lookup *)self)->lookup.dispatch, from, ask_again, self);
}

static const gale_durable_ops durable = {
    .size = sizeof durable,
    .version = 1,
    .flags = GALE_DURABLE_OUTSIDE,
    .save = bolt_save,
    .restore = bolt_restore,
};

static const gale_bolt_ops ops = {
    .size = sizeof ops,
    .name = "postgres lookup",
    .kind = GALE_BOLT_MANUAL,
    .prepare = bolt_prepare,
    .execute = bolt_execute,
    .finish = bolt_finish,
    .cleanup = bolt_cleanup,
    .durable = &durable,
};

int pg_make_lookup(void *user, const gale_args *args, gale_bolt *ret_bolt, gale_error *error) {
    pg_lookup_settings *made = calloc(1, sizeof *made);
    (void)user;
    if (!made) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    int rc = pg_lookup_settings_make(made, args, error);
    if (rc < 0) {
        pg_lookup_settings_free(made);
        return rc;
    }
    *ret_bolt = (gale_bolt){ .size = sizeof *ret_bolt,
                             .ops = &ops,
                             .user = made,
                             .free_user = pg_lookup_settings_free,
                             .outputs = made->lookup.outputs,
                             .output_count = made->lookup.output_count };
    return 0;
}
