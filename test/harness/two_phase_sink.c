#include "harness/two_phase_sink.h"

#include <stdlib.h>

/* --- The database --- */

void database_init(database *db) {
    *db = (database){ .fails = DATABASE_NEVER };
    if (pthread_mutex_init(&db->mutex, NULL) != 0) abort();
}

static void transaction_free(database_transaction *t) {
    free(t->rows);
    free(t);
}

void database_fini(database *db) {
    while (db->all) {
        database_transaction *t = db->all;
        db->all = t->next;
        transaction_free(t);
    }
    pthread_mutex_destroy(&db->mutex);
}

void database_fail(database *db, database_step step, uint64_t after) {
    pthread_mutex_lock(&db->mutex);
    db->fails = step;
    db->after = after;
    pthread_mutex_unlock(&db->mutex);
}

uint64_t database_in_doubt(database *db) {
    uint64_t count = 0;
    pthread_mutex_lock(&db->mutex);
    for (const database_transaction *t = db->all; t; t = t->next) count += !t->committed;
    pthread_mutex_unlock(&db->mutex);
    return count;
}

static bool fails(database *db, database_step step) {
    if (db->fails != step || db->after-- > 0) return false;
    db->fails = DATABASE_NEVER;
    db->failures++;
    return true;
}

static void do_commit(database *db, database_transaction *t) {
    if (t->committed) return; /* a second commit of the same id changes nothing */
    for (size_t i = 0; i < t->count; i++) db->rows[t->rows[i]]++;
    t->committed = true;
    db->commits++;
}

static database_transaction *find(database *db, uint64_t id) {
    database_transaction *t = db->all;
    while (t && t->id != id) t = t->next;
    return t;
}

/* From here on it is the database's. */
static bool database_prepare(database *db, database_transaction *t) {
    pthread_mutex_lock(&db->mutex);
    bool done = !fails(db, DATABASE_BEFORE_PREPARE);
    if (done) {
        t->prepared = true;
        t->next = db->all;
        db->all = t;
        db->prepares++;
        done = !fails(db, DATABASE_AFTER_PREPARE);
    }
    pthread_mutex_unlock(&db->mutex);
    return done;
}

static bool database_commit(database *db, database_transaction *t) {
    pthread_mutex_lock(&db->mutex);
    bool done = !fails(db, DATABASE_BEFORE_COMMIT);
    if (done) {
        do_commit(db, t);
        done = !fails(db, DATABASE_AFTER_COMMIT);
    }
    pthread_mutex_unlock(&db->mutex);
    return done;
}

/* Of what `owner` has prepared, `id` is committed (it must be there) and everything else undone. 0: none. */
static bool database_settle(database *db, uint32_t owner, uint64_t id) {
    pthread_mutex_lock(&db->mutex);
    database_transaction *kept = id ? find(db, id) : NULL;
    if (kept && !kept->committed) db->recovered++;
    if (kept) do_commit(db, kept);
    for (database_transaction **at = &db->all; *at;) {
        database_transaction *t = *at;
        if (t->owner != owner || t->committed) {
            at = &t->next;
            continue;
        }
        *at = t->next;
        transaction_free(t);
        db->undone++;
    }
    pthread_mutex_unlock(&db->mutex);
    return kept || !id;
}

static uint64_t database_id(database *db) {
    pthread_mutex_lock(&db->mutex);
    uint64_t id = ++db->last_id;
    pthread_mutex_unlock(&db->mutex);
    return id;
}

/* --- The pledge --- */

typedef struct pledge {
    database *db;
    database_transaction *transaction;
} pledge;

static int prepare_pledge(void *self, gale_error *error) {
    pledge *p = self;
    if (database_prepare(p->db, p->transaction)) return GALE_OK;
    return gale_error_set(error, GALE_IO, "the database could not prepare");
}

static int commit_pledge(void *self, gale_error *error) {
    pledge *p = self;
    if (database_commit(p->db, p->transaction)) return GALE_OK;
    return gale_error_set(error, GALE_IO, "the database could not commit");
}

/* What was not prepared is nobody else's. */
static void drop_pledge(void *self) {
    pledge *p = self;
    if (!p->transaction->prepared) transaction_free(p->transaction);
    free(p);
}

static const gale_pledge_ops pledge_ops = {
    .size = sizeof pledge_ops, .prepare = prepare_pledge, .commit = commit_pledge, .drop = drop_pledge
};

/* --- The sink --- */

typedef struct sink {
    database *db;
    uint32_t task;
    database_transaction *open; /* what came since the last checkpoint */
} sink;

/* A run that begins anew undoes what one before it has left in doubt. */
static int sink_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    (void)out;
    sink *made = calloc(1, sizeof *made);
    if (!made) return GALE_NO_MEMORY;
    *made = (sink){ user, context->task_index, NULL };
    if (!context->resumes) database_settle(made->db, made->task, 0);
    *ret_self = made;
    return 0;
}

static void sink_cleanup(void *self) {
    sink *s = self;
    if (s->open) transaction_free(s->open);
    free(s);
}

static bool add(database_transaction *t, int64_t row) {
    if (t->count == t->capacity) {
        size_t capacity = t->capacity ? 2 * t->capacity : 16;
        int64_t *grown = realloc(t->rows, capacity * sizeof *grown);
        if (!grown) return false;
        t->rows = grown;
        t->capacity = capacity;
    }
    t->rows[t->count++] = row;
    return true;
}

static int sink_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    sink *s = self;
    (void)out;
    if (gale_tuple_is_tick(tuple)) return 0;
    gale_value row = gale_tuple_value(tuple, 0);
    if (row.type != GALE_TYPE_I64 || row.as.i64 < 0 || row.as.i64 >= DATABASE_ROWS) return GALE_TYPE;
    if (!s->open) s->open = calloc(1, sizeof *s->open);
    return s->open && add(s->open, row.as.i64) ? 0 : GALE_NO_MEMORY;
}

static int sink_save(void *self, gale_saver *to) {
    sink *s = self;
    database_transaction *t = s->open;
    pledge *p = t ? malloc(sizeof *p) : NULL;
    if (t && !p) return GALE_NO_MEMORY;
    uint64_t id = t ? database_id(s->db) : 0;
    gale_value value = gale_i64((int64_t)id);
    int rc = gale_save(to, &value, 1);
    if (!t) return rc;
    t->id = id;
    t->owner = s->task;
    *p = (pledge){ s->db, t };
    s->open = NULL;
    return gale_save_pledge(to, &pledge_ops, p);
}

static int sink_restore(void *self, gale_saved *from, gale_collector *out) {
    sink *s = self;
    const gale_value *id;
    size_t count;
    int rc = gale_saved_next(from, &id, &count);
    if (rc < 1 || count != 1 || id->type != GALE_TYPE_I64) return rc < 0 ? rc : GALE_DAMAGED;
    if (database_settle(s->db, s->task, (uint64_t)id->as.i64)) return 0;
    gale_report(out, "the database has forgotten a transaction that it had prepared");
    return GALE_DAMAGED;
}

static const gale_durable_ops durable = {
    .size = sizeof durable, .version = 1, .save = sink_save, .restore = sink_restore
};

gale_bolt two_phase_sink(database *db) {
    static const gale_bolt_ops ops = { .size = sizeof ops,
                                       .name = "two-phase sink",
                                       .kind = GALE_BOLT_SIMPLE,
                                       .prepare = sink_prepare,
                                       .execute = sink_execute,
                                       .cleanup = sink_cleanup,
                                       .durable = &durable };
    return (gale_bolt){ .size = sizeof(gale_bolt), .ops = &ops, .user = db };
}
