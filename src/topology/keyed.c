#include "topology/keyed.h"

#include "base/options.h"
#include "base/short_text.h"
#include "topology/names.h"
#include "tuple/body.h"
#include "tuple/key.h"

enum {
    LOOKS_MADE = 2,    /* cells that are looked at when one is made */
    LOOKS_FULL = 16,   /* the same when there is too much in memory */
    LOOKS_REST = 64,   /* at a cut, and when it lasts, ... */
    LOOKS_MOST = 4096, /* ...and as many as changed, up to this */
    DEBT_EACH = 2,     /* pairs of the store to look at for a cell with an expiry that left memory */
};

struct gx_keyed_state {
    gale_state state;
    gx_keyed *of;
    gx_keyed_state *next;
    gx_cells cells;
    gx_keyed_names names;
    int64_t time_to_live;   /* ns; 0: for ever */
    gx_buf key, value;      /* of the call in hand */
    const char *lent;       /* the block that a caller may still read */
    size_t hand;            /* one more than the cell to be looked at next */
    size_t cut;             /* changes of the last cut */
    uint64_t debt;          /* pairs of the store to look at, whether they are over */
    gx_buf swept;           /* the last of the store's keys that was, per scope */
    bool swept_own;         /* it is of the task's own scope */
    struct walk *suspended; /* NULL: none is */
    char name[GALE_STATE_NAME_MAX + 1];
};

static gx_keyed_state *state_of(gale_state *state) {
    return (gx_keyed_state *)state;
}

static bool is_durable(const gx_keyed *keyed) {
    return keyed->about.store != NULL;
}

static int64_t now_of(const gx_keyed_state *s) {
    return gx_now(&s->of->about.clock);
}

/* --- Expiry --- */

static int64_t expiry_of(const gx_keyed_state *s) {
    if (!s->time_to_live) return 0;
    int64_t now = now_of(s);
    int64_t expiry = now > INT64_MAX - s->time_to_live ? INT64_MAX : now + s->time_to_live;
    return expiry > 0 ? expiry : 1;
}

static bool is_over(const gx_keyed_state *s, const gx_cell *cell) {
    return cell->flags & GX_CELL_EXPIRES && cell->expiry <= now_of(s);
}

/* --- What leaves memory --- */

static bool is_full(const gx_keyed *keyed) {
    return keyed->about.memory && keyed->used > keyed->about.memory;
}

/* The store has it, or will never. */
static bool is_settled(const gx_keyed *keyed, const gx_cell *cell) {
    return is_durable(keyed) && !(cell->flags & GX_CELL_CHANGED) && cell->where <= keyed->committed;
}

/* Second chance: who was used since the last look stays for one more. */
static void let_go(gx_keyed_state *s, gx_cell *cell, size_t number) {
    if (cell->flags & GX_CELL_USED) {
        cell->flags &= (uint8_t)~GX_CELL_USED;
        return;
    }
    if (cell->flags & GX_CELL_EXPIRES) s->debt += DEBT_EACH;
    gx_cells_drop(&s->cells, number);
}

static void look_at(gx_keyed_state *s, size_t number) {
    gx_cell *cell = gx_cells_at(&s->cells, number, NULL);
    bool gone = cell->type == GX_CELL_GONE;
    if (!gone && cell->type >= GALE_TYPE_STRING && cell->as.block == s->lent) return;
    if (!gone && is_over(s, cell))
        (void)gx_cells_forget(&s->cells, cell); /* without memory a later look does */
    else if (gone && is_settled(s->of, cell))
        gx_cells_drop(&s->cells, number);
    else if (is_full(s->of) && is_settled(s->of, cell))
        let_go(s, cell, number);
}

/* Looks at so many cells, from the last to the first of each state, one state after the other. */
static void look_around(gx_keyed *keyed, size_t looks) {
    if (keyed->walks || !keyed->first || !(is_durable(keyed) || keyed->expires)) return;
    for (size_t states = 0; looks > 0 && states < 2;) {
        gx_keyed_state *s = keyed->hand;
        size_t count = gx_cells_count(&s->cells);
        if (s->hand > count) s->hand = count;
        for (; s->hand > 0 && looks > 0; looks--) {
            if (s->hand > gx_cells_count(&s->cells)) s->hand = gx_cells_count(&s->cells);
            if (s->hand) look_at(s, --s->hand);
        }
        if (s->hand) return;
        keyed->hand = s->next ? s->next : keyed->first;
        keyed->hand->hand = gx_cells_count(&keyed->hand->cells);
        states += keyed->hand == keyed->first;
    }
}

/* --- The store --- */

static int tell_failed(gx_keyed *keyed, int rc, const gale_error *error) {
    if (rc != GALE_NO_MEMORY && keyed->about.failed) keyed->about.failed(keyed->about.user, error);
    return rc;
}

static int load(gx_keyed_state *s, gale_str key, gx_packed *ret_packed, int64_t *ret_expiry) {
    gale_error error = GALE_ERROR_INIT;
    int rc = gx_keyed_load(&s->names, key, ret_packed, ret_expiry, &error);
    if (rc == GALE_NOT_FOUND) return rc;
    if (rc < 0) return tell_failed(s->of, rc, &error);
    return *ret_expiry && *ret_expiry <= now_of(s) ? GALE_NOT_FOUND : GALE_OK;
}

/* A key of the store that may be over, and is not in memory: a cell that says that it is gone. */
static void sweep_pair(gx_keyed_state *s, uint32_t scope, const gx_change *pair) {
    gale_str behind = gx_keyed_key_behind(&s->names, pair->key);
    gx_packed packed;
    int64_t expiry;
    gx_buf_reset(&s->key);
    gx_buf_add(&s->key, behind.data, behind.size);
    gale_str key = { s->key.data, s->key.size };
    if (s->key.failed || !gx_keyed_value_read(pair->value, &packed, &expiry)) return; /* whoever reads it is told */
    if (!expiry || expiry > now_of(s) || !gx_key_is_valid(key) || gx_keyed_scope(&s->names, key) != scope) return;
    if (gx_cells_find(&s->cells, key)) return;
    gx_cell *cell = gx_cells_make(&s->cells, key);
    if (cell) (void)gx_cells_forget(&s->cells, cell);
}

/* The scopes that a task has keys in are looked through in turn. */
static void sweep_store(gx_keyed_state *s) {
    gx_changes piece = GX_CHANGES_INIT(s->of->about.heap);
    gale_error error = GALE_ERROR_INIT;
    uint32_t scope = s->swept_own || !s->names.by_key ? s->names.task_index + 1 : 0;
    int more = gx_keyed_read_piece(&s->names, scope, s->swept.size ? &s->swept : NULL, &piece, &error);
    if (more < 0) (void)tell_failed(s->of, more, &error);
    gx_change pair;
    for (size_t at = 0; more >= 0 && gx_changes_next(&piece, &at, &pair);) {
        sweep_pair(s, scope, &pair);
        gx_buf_reset(&s->swept);
        gx_buf_add(&s->swept, pair.key.data, pair.key.size);
    }
    if (more == 0 || s->swept.failed) {
        gx_buf_reset(&s->swept);
        s->swept_own = !s->swept_own;
    }
    gx_changes_fini(&piece);
    s->debt -= s->debt < GX_KEYED_PIECE ? s->debt : GX_KEYED_PIECE;
}

/* After a cell was made: memory stays within its share, and what is over goes. */
static void tidy(gx_keyed_state *s) {
    look_around(s->of, is_full(s->of) ? LOOKS_FULL : LOOKS_MADE);
    if (s->debt >= GX_KEYED_PIECE && !s->of->walks) sweep_store(s);
}

/* --- Finding --- */

/* The key's bytes; text that is short lies in no buffer. */
static int key_of(gx_keyed_state *s, const gale_value *key, gale_str *ret_key) {
    int rc = gx_key_make(key, &s->key, ret_key);
    if (rc < 0) return rc;
    return is_durable(s->of) && ret_key->size > GALE_STATE_KEY_MAX ? GALE_TOO_LARGE : GALE_OK;
}

typedef struct found {
    gx_cell *cell; /* NULL: none is in memory */
    gx_packed packed;
    int64_t expiry;
} found;

/* GALE_NOT_FOUND: it has no value, but may have a cell. */
static int find(gx_keyed_state *s, gale_str key, found *ret) {
    *ret = (found){ .cell = gx_cells_find(&s->cells, key) };
    if (ret->cell) {
        if (ret->cell->type == GX_CELL_GONE || is_over(s, ret->cell)) return GALE_NOT_FOUND;
        ret->packed = gx_cell_packed(ret->cell);
        return GALE_OK;
    }
    return is_durable(s->of) ? load(s, key, &ret->packed, &ret->expiry) : GALE_NOT_FOUND;
}

/* A key that is new here must be sound: what is written of it is to be read again. */
static int make(gx_keyed_state *s, gale_str key, gx_cell **ret_cell) {
    *ret_cell = gx_cells_find(&s->cells, key);
    if (*ret_cell) return GALE_OK;
    if (!gx_key_is_valid(key)) return GALE_INVALID;
    *ret_cell = gx_cells_make(&s->cells, key);
    return *ret_cell ? GALE_OK : GALE_NO_MEMORY;
}

/* One that was made for a change that did not come about. */
static void unmake(gx_keyed_state *s, gx_cell *cell) {
    if (cell->type != GX_CELL_GONE || (is_durable(s->of) && cell->flags & GX_CELL_CHANGED)) return;
    if (is_durable(s->of) && !is_settled(s->of, cell)) return;
    gx_cells_drop(&s->cells, gx_bytes_map_index(s->cells.map, cell));
}

static int set(gx_keyed_state *s, gale_str key, const gx_packed *packed) {
    gx_cell *cell;
    size_t before = gx_cells_count(&s->cells);
    int rc = make(s, key, &cell);
    if (rc < 0) return rc;
    bool made = gx_cells_count(&s->cells) > before;
    rc = gx_cells_set(&s->cells, cell, packed, expiry_of(s));
    if (rc < 0 && made) unmake(s, cell);
    if (rc == GALE_OK && made) tidy(s);
    return rc;
}

/* --- The functions --- */

/* What was read of the store stays in memory, unless a walk is under way or there is no room. */
static void keep(gx_keyed_state *s, gale_str key, const found *f) {
    gx_cell *cell;
    if (s->of->walks || make(s, key, &cell) < 0) return;
    if (gx_cells_fill(&s->cells, cell, &f->packed, f->expiry) < 0)
        unmake(s, cell);
    else
        cell->flags |= GX_CELL_USED;
    tidy(s);
}

static int do_get(gale_state *state, const gale_value *key, gale_value *ret_value) {
    gx_keyed_state *s = state_of(state);
    gale_str bytes;
    found f;
    s->lent = NULL;
    int rc = key_of(s, key, &bytes);
    if (rc == GALE_OK) rc = find(s, bytes, &f);
    if (rc < 0) return rc;
    if (f.cell) {
        f.cell->flags |= f.cell->flags & GX_CELL_CHANGED ? 0 : GX_CELL_USED;
        if (f.packed.type >= GALE_TYPE_STRING) s->lent = f.packed.body.data;
    } else {
        keep(s, bytes, &f);
    }
    *ret_value = gx_packed_value(&f.packed);
    return GALE_OK;
}

static int do_put(gale_state *state, const gale_value *key, const gale_value *value) {
    gx_keyed_state *s = state_of(state);
    gx_packed packed;
    gale_str bytes;
    int rc = gx_packed_make(value, &s->value, &packed);
    if (rc == GALE_OK && is_durable(s->of) && packed.body.size > GALE_STATE_VALUE_MAX) rc = GALE_TOO_LARGE;
    if (rc == GALE_OK) rc = key_of(s, key, &bytes);
    if (rc < 0) return rc;
    s->lent = NULL;
    return set(s, bytes, &packed);
}

static int do_remove(gale_state *state, const gale_value *key) {
    gx_keyed_state *s = state_of(state);
    gale_str bytes;
    found f;
    int rc = key_of(s, key, &bytes);
    s->lent = NULL;
    if (rc == GALE_OK) rc = find(s, bytes, &f);
    if (rc < 0) return rc;
    if (f.cell) return gx_cells_forget(&s->cells, f.cell);
    rc = make(s, bytes, &f.cell);
    if (rc == GALE_OK) rc = gx_cells_forget(&s->cells, f.cell);
    if (rc < 0 && f.cell) unmake(s, f.cell);
    if (rc == GALE_OK) tidy(s);
    return rc;
}

GX_NOINLINE static int add_anyhow(gx_keyed_state *s, const gale_value *key, int64_t more, int64_t *ret_sum) {
    gale_str bytes;
    found f;
    int rc = key_of(s, key, &bytes);
    s->lent = NULL;
    if (rc == GALE_OK) rc = find(s, bytes, &f);
    if (rc < 0 && rc != GALE_NOT_FOUND) return rc;
    if (rc == GALE_NOT_FOUND) f.packed = (gx_packed){ .type = GALE_TYPE_I64 };
    if (f.packed.type != GALE_TYPE_I64) return GALE_TYPE;
    gx_packed sum = { .type = GALE_TYPE_I64, .bits = f.packed.bits + (uint64_t)more };
    rc = set(s, bytes, &sum);
    if (rc == GALE_OK && ret_sum) *ret_sum = (int64_t)sum.bits;
    return rc;
}

/* A number that has changed since the last cut, and never expires: what nearly all are to which something is added. */
GX_INLINE bool is_plain_number(const gx_cell *cell) {
    static const uint8_t plain[2] = { GALE_TYPE_I64, GX_CELL_CHANGED };
    static_assert(offsetof(gx_cell, flags) == offsetof(gx_cell, type) + 1, "one comparison of both");
    return memcmp(&cell->type, plain, sizeof plain) == 0;
}

GX_UNPROTECTED static int do_add(gale_state *state, const gale_value *key, int64_t more, int64_t *ret_sum) {
    gx_keyed_state *s = state_of(state);
    if (GX_UNLIKELY(key->type != GALE_TYPE_STRING || key->size >= GX_SHORT_TEXT_MAX || !key->as.string))
        return add_anyhow(s, key, more, ret_sum);
    gx_cell *cell = gx_bytes_map_get_text(s->cells.map, gx_value_str(key));
    if (GX_UNLIKELY(!cell || !is_plain_number(cell))) return add_anyhow(s, key, more, ret_sum);
    cell->as.bits += (uint64_t)more;
    if (ret_sum) *ret_sum = (int64_t)cell->as.bits;
    return GALE_OK;
}

/* --- Walking --- */

/* A pair is copied before it is shown: what is called may change it. */
typedef struct walk {
    gx_keyed_state *s;
    gale_state_each_fn *each;
    void *user;
    gx_buf key, value;
    gx_buf after;
    gx_changes piece;
    size_t at;    /* in memory, and then in the piece */
    int32_t step; /* 0: in memory; 1, 2: in the store, by scope */
    int more;     /* the store has more behind the piece */
} walk;

static bool copy(gx_buf *to, gale_str bytes) {
    gx_buf_reset(to);
    gx_buf_add(to, bytes.data, bytes.size);
    return !to->failed;
}

/* Its key lies in `w->key`. */
static int show(walk *w, gx_packed packed) {
    if (packed.type >= GALE_TYPE_STRING) {
        if (!copy(&w->value, packed.body)) return GALE_NO_MEMORY;
        packed.body = (gale_str){ w->value.data, w->value.size };
    }
    gale_value key = gx_key_value((gale_str){ w->key.data, w->key.size }), value = gx_packed_value(&packed);
    return w->each(w->user, &key, &value);
}

/* A cell that is taken out leaves its place to the last one, which then is the next. */
static int walk_memory(walk *w) {
    const gx_cells *cells = &w->s->cells;
    int rc = GALE_OK;
    while (rc == GALE_OK && w->at < gx_cells_count(cells)) {
        size_t count = gx_cells_count(cells);
        gale_str key;
        const gx_cell *cell = gx_cells_at(cells, w->at, &key);
        if (cell->type != GX_CELL_GONE && !is_over(w->s, cell))
            rc = copy(&w->key, key) ? show(w, gx_cell_packed(cell)) : GALE_NO_MEMORY;
        if (gx_cells_count(cells) >= count) w->at++;
    }
    return rc;
}

static int damaged(walk *w, const char *what) {
    gale_error error = GALE_ERROR_INIT;
    gale_error_set(&error, GALE_DAMAGED, "the store has a %s that none was written as", what);
    gale_error_add(&error, "keyed state '%s' of '%s' could not be read", w->s->name, w->s->names.component);
    return tell_failed(w->s->of, GALE_DAMAGED, &error);
}

static int walk_pair(walk *w, uint32_t scope, const gx_change *pair) {
    gx_packed packed;
    int64_t expiry;
    if (!copy(&w->key, gx_keyed_key_behind(&w->s->names, pair->key))) return GALE_NO_MEMORY;
    gale_str key = { w->key.data, w->key.size };
    if (!gx_key_is_valid(key)) return damaged(w, "key");
    if (scope == 0 && gx_keyed_scope(&w->s->names, key) != 0) return GALE_OK; /* another task's */
    if (gx_cells_find(&w->s->cells, key)) return GALE_OK;
    if (!gx_keyed_value_read(pair->value, &packed, &expiry)) return damaged(w, "value");
    return expiry && expiry <= now_of(w->s) ? GALE_OK : show(w, packed);
}

/* The rest of the piece that was read. */
static int walk_piece(walk *w, uint32_t scope) {
    gx_change pair;
    int rc = GALE_OK;
    while (rc == GALE_OK && gx_changes_next(&w->piece, &w->at, &pair))
        rc = copy(&w->after, pair.key) ? walk_pair(w, scope, &pair) : GALE_NO_MEMORY;
    return rc;
}

static int walk_scope(walk *w, uint32_t scope) {
    int rc = walk_piece(w, scope); /* of a walk that goes on */
    while (rc == GALE_OK && w->more > 0) {
        gale_error error = GALE_ERROR_INIT;
        const gx_buf *after = w->after.size ? &w->after : NULL;
        w->more = gx_keyed_read_piece(&w->s->names, scope, after, &w->piece, &error);
        w->at = 0;
        if (w->more < 0) return tell_failed(w->s->of, w->more, &error);
        rc = walk_piece(w, scope);
    }
    return rc;
}

static int walk_step(walk *w) {
    const gx_keyed_state *s = w->s;
    if (w->step == 0) return walk_memory(w);
    if (!is_durable(s->of) || (w->step == 1 && !s->names.by_key)) return GALE_OK;
    return walk_scope(w, w->step == 1 ? 0 : s->names.task_index + 1);
}

static int walk_on(walk *w) {
    int rc = GALE_OK;
    while (w->step < 3 && (rc = walk_step(w)) == GALE_OK) {
        w->step++;
        w->at = 0;
        w->more = 1;
        gx_changes_reset(&w->piece);
        gx_buf_reset(&w->after);
    }
    return rc;
}

static void end_walk(walk *w) {
    w->s->of->walks--;
    gx_buf_fini(&w->key);
    gx_buf_fini(&w->value);
    gx_buf_fini(&w->after);
    gx_changes_fini(&w->piece);
}

static void drop_suspended(gx_keyed_state *s) {
    if (!s->suspended) return;
    end_walk(s->suspended);
    gx_free(s->of->about.heap, GX_TAG_OTHER, s->suspended, sizeof *s->suspended);
    s->suspended = NULL;
}

/* The one that was suspended, or a new one. */
static walk begin_walk(gx_keyed_state *s) {
    gx_heap *heap = s->of->about.heap;
    walk w = { .s = s,
               .key = GX_BUF_INIT(heap),
               .value = GX_BUF_INIT(heap),
               .after = GX_BUF_INIT(heap),
               .piece = GX_CHANGES_INIT(heap) };
    if (!s->suspended) {
        s->of->walks++;
        return w;
    }
    w = *s->suspended;
    gx_free(heap, GX_TAG_OTHER, s->suspended, sizeof *s->suspended);
    s->suspended = NULL;
    return w;
}

/* What it has shown last is behind it. */
static int suspend(walk *w) {
    gx_keyed_state *s = w->s;
    s->suspended = gx_alloc(s->of->about.heap, GX_TAG_OTHER, sizeof *s->suspended);
    if (!s->suspended) return GALE_NO_MEMORY;
    *s->suspended = *w;
    return GALE_MORE;
}

static int do_each(gale_state *state, gale_state_each_fn *each, void *user) {
    walk w = begin_walk(state_of(state));
    w.each = each;
    w.user = user;
    int rc = walk_on(&w);
    if (rc == GALE_MORE) rc = suspend(&w);
    if (rc != GALE_MORE) end_walk(&w);
    return rc;
}

/* --- Checkpoints --- */

static size_t looks_for(size_t changes) {
    return LOOKS_REST + (changes < LOOKS_MOST ? changes : LOOKS_MOST);
}

static void cut_cell(gx_keyed_state *s, size_t number, gx_changes *to) {
    gale_str key;
    const gx_cell *cell = gx_cells_at(&s->cells, number, &key);
    gale_str at = gx_keyed_store_key(&s->names, gx_keyed_scope(&s->names, key), key);
    if (!at.data) {
        to->bytes.failed = true;
        return;
    }
    gx_packed packed = gx_cell_packed(cell);
    if (cell->type == GX_CELL_GONE)
        gx_changes_remove(to, at);
    else
        gx_keyed_value_put(to, at, &packed, cell->flags & GX_CELL_EXPIRES ? cell->expiry : 0);
}

int gx_keyed_cut(gx_keyed *keyed, uint64_t checkpoint, gx_changes *to) {
    GX_CHECK(is_durable(keyed));
    for (gx_keyed_state *s = keyed->first; s; s = s->next) {
        if (s->time_to_live) look_around(keyed, looks_for(s->cells.changed_count));
    }
    for (gx_keyed_state *s = keyed->first; s && !to->bytes.failed; s = s->next) {
        for (size_t i = 0; i < s->cells.changed_count && !to->bytes.failed; i++) cut_cell(s, s->cells.changed[i], to);
        if (to->bytes.failed) break;
        s->cut = s->cells.changed_count;
        gx_cells_cut(&s->cells, checkpoint);
    }
    return to->bytes.failed ? GALE_NO_MEMORY : GALE_OK;
}

void gx_keyed_committed(gx_keyed *keyed, uint64_t checkpoint) {
    if (checkpoint > keyed->committed) keyed->committed = checkpoint;
    for (gx_keyed_state *s = keyed->first; s; s = s->next) {
        look_around(keyed, looks_for(s->cut));
        if (s->time_to_live && is_durable(keyed)) sweep_store(s);
    }
}

/* --- Beginning and end --- */

void gx_keyed_init(gx_keyed *keyed, const gx_keyed_about *about) {
    *keyed = (gx_keyed){ .about = *about };
}

static void free_state(gx_keyed_state *s) {
    gx_heap *heap = s->of->about.heap;
    drop_suspended(s);
    gx_cells_fini(&s->cells);
    gx_buf_fini(&s->names.key);
    gx_buf_fini(&s->names.value);
    gx_buf_fini(&s->key);
    gx_buf_fini(&s->value);
    gx_buf_fini(&s->swept);
    gx_free(heap, GX_TAG_OTHER, s, sizeof *s);
}

void gx_keyed_fini(gx_keyed *keyed) {
    for (gx_keyed_state *s = keyed->first; s;) {
        gx_keyed_state *next = s->next;
        free_state(s);
        s = next;
    }
    keyed->first = keyed->hand = NULL;
    keyed->used = 0;
}

static const char *kept_of(const gx_keyed_about *about) {
    return about->kept ? about->kept : about->component;
}

static int check_time(double seconds, gale_error *error) {
    if (seconds >= 0 && seconds < 9e9) return GALE_OK; /* of which an int64 has as many nanoseconds */
    return gale_error_set(error, GALE_INVALID,
                          "keyed state: time_to_live is %g; it must be 0 or more seconds, at most 9e9", seconds);
}

static int check(const gx_keyed *keyed, const gale_state_options *options, gale_error *error) {
    gale_error why = GALE_ERROR_INIT;
    const char *name = options->name;
    if (strlen(name) > GALE_STATE_NAME_MAX)
        return gale_error_set(error, GALE_INVALID, "keyed state: a name has %zu bytes; at most %d are allowed",
                              strlen(name), GALE_STATE_NAME_MAX);
    if (gx_name_check("keyed state's", name, &why) < 0) return gale_error_set(error, GALE_INVALID, "%s", why.text);
    if (is_durable(keyed) && gx_keyed_key_max(kept_of(&keyed->about), name) > GALE_STORE_KEY_MAX)
        return gale_error_set(error, GALE_TOO_LARGE, "keyed state '%s': the name of its component is too long", name);
    for (const gx_keyed_state *s = keyed->first; s; s = s->next)
        if (strcmp(s->name, name) == 0)
            return gale_error_set(error, GALE_EXISTS, "there is a keyed state '%s' in this task already", name);
    return check_time(options->time_to_live, error);
}

static void append(gx_keyed *keyed, gx_keyed_state *s) {
    gx_keyed_state **at = &keyed->first;
    while (*at) at = &(*at)->next;
    *at = s;
    if (!keyed->hand) keyed->hand = s;
    keyed->expires |= s->time_to_live != 0;
}

/* A time that is no nanosecond is one. */
static int64_t nanoseconds(double seconds) {
    int64_t rounded = (int64_t)(seconds * 1e9 + 0.5);
    return rounded > 0 || seconds == 0 ? rounded : 1;
}

static gx_keyed_state *new_state(gx_keyed *keyed, const gale_state_options *options) {
    static const gale_state_ops ops = { sizeof ops, do_get, do_put, do_remove, do_add, do_each };
    const gx_keyed_about *about = &keyed->about;
    gx_keyed_state *s = gx_alloc(about->heap, GX_TAG_OTHER, sizeof *s);
    if (!s) return NULL;
    s->state.ops = &ops;
    s->of = keyed;
    s->key = s->value = s->swept = s->names.key = s->names.value = (gx_buf)GX_BUF_INIT(about->heap);
    s->time_to_live = nanoseconds(options->time_to_live);
    memcpy(s->name, options->name, strlen(options->name) + 1);
    s->names.store = about->store;
    s->names.component = about->component;
    s->names.kept = kept_of(about);
    s->names.state = s->name;
    s->names.task_index = about->task_index;
    s->names.task_count = about->task_count;
    s->names.route = options->route;
    s->names.by_key = about->by_key;
    if (gx_cells_init(&s->cells, about->heap, about->seed, is_durable(keyed), &keyed->used)) return s;
    free_state(s);
    return NULL;
}

int gx_keyed_open(gx_keyed *keyed, const gale_state_options *options, gale_state **ret_state, gale_error *error) {
    gale_state_options given;
    int rc = gx_options_take(&given, sizeof given, options, "keyed state: options", error);
    if (rc < 0) return rc;
    if (!given.name) given.name = "state";
    rc = check(keyed, &given, error);
    if (rc < 0) return rc;
    gx_keyed_state *s = new_state(keyed, &given);
    if (!s) return gale_error_set(error, GALE_NO_MEMORY, "keyed state '%s': out of memory", given.name);
    append(keyed, s);
    *ret_state = &s->state;
    return GALE_OK;
}

const char *gx_keyed_flaw(const gx_keyed *keyed) {
    for (const gx_keyed_state *s = keyed->first; s; s = s->next) {
        const char *flaw = gx_cells_flaw(&s->cells);
        if (flaw) return flaw;
    }
    return NULL;
}
