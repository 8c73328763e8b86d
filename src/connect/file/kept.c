#include "connect/file/kept.h"

#include "connect/file/position.h"
#include "kit/record.h"

#include <inttypes.h>
#include <string.h>

/* Path as it was told, tag, task, tasks, files. A file: its name, its path, id, device, inode, place, lines before it, is the
 * content known?, content, size, when it was written to, life, order, is it another task's?, when it was made,
 * may others have come behind it?, where it is without links. Of which file each line is: ids of four bytes. */
static const char tail_shape[] = "yyniinnoininnoioy", sources_shape[] = "y";
enum { ID_MAX = 1 << 20, TAIL_VALUES = sizeof tail_shape - 1, REAL = TAIL_VALUES - 1 };

/* --- Which files have lines --------------------------------------------------------------------------------------- */

static void mark(const gx_retry *retry, uint8_t *used, size_t count) {
    for (const gx_retry_slot *slot = gx_retry_oldest(retry); slot; slot = gx_retry_newer(retry, slot))
        if (slot->source < count) used[slot->source] = 1;
}

int gx_file_kept_sweep(gx_file_followed *f, const gx_file_sent *sent) {
    size_t count = f->count;
    uint8_t *used = count ? gx_alloc(f->heap, GX_TAG_OTHER, count) : NULL;
    if (count && !used) return GALE_NO_MEMORY;
    mark(&sent->own, used, count);
    for (const gx_file_inherited *old = sent->inherited; old; old = old->next) mark(&old->retry, used, count);
    gx_file_tails_forget(f, used, count);
    gx_free(f->heap, GX_TAG_OTHER, used, count);
    return 0;
}

/* --- To save ------------------------------------------------------------------------------------------------------ */

static gale_value text_of(const char *text) {
    return gale_bytes(text, strlen(text));
}

static int save_tail(gx_file_tail *tail, gale_saver *to, gale_error *error) {
    uint64_t content = 0;
    int64_t place = gx_file_tail_place(tail);
    int rc = gx_file_tail_content(tail, place, &content, error);
    if (rc < 0) return rc;
    const gale_value values[TAIL_VALUES] = { text_of(tail->name),
                                             text_of(tail->now),
                                             gale_i64(tail->id),
                                             gale_i64((int64_t)tail->device),
                                             gale_i64((int64_t)tail->inode),
                                             gale_i64(place),
                                             gale_i64((int64_t)gx_file_tail_number(tail)),
                                             gale_bool(tail->hashed == place),
                                             gale_i64((int64_t)content),
                                             gale_i64(tail->size),
                                             gale_i64(tail->modified),
                                             gale_i64(tail->life),
                                             gale_i64((int64_t)tail->order),
                                             gale_bool(tail->others),
                                             gale_i64(tail->born),
                                             gale_bool(tail->asks),
                                             text_of(tail->real) };
    return gale_save(to, values, TAIL_VALUES);
}

static int save_sources(void *user, const gx_retry *retry, gale_saver *to) {
    gx_buf ids = GX_BUF_INIT(((const gx_file_followed *)user)->heap);
    for (const gx_retry_slot *slot = gx_retry_oldest(retry); slot; slot = gx_retry_newer(retry, slot))
        gx_buf_add(&ids, &slot->source, sizeof slot->source);
    const gale_value value = gale_bytes(ids.data, ids.size);
    int rc = ids.failed ? GALE_NO_MEMORY : gale_save(to, &value, 1);
    gx_buf_fini(&ids);
    return rc;
}

static int64_t count_tails(const gx_file_followed *f) {
    int64_t count = 0;
    for (size_t i = 0; i < f->count; i++) count += f->list[i] != NULL;
    return count;
}

int gx_file_kept_save(gx_file_followed *f, const gx_file_sent *sent, gale_saver *to, gale_error *error) {
    int rc = gx_file_kept_sweep(f, sent);
    const gale_value head[] = { text_of(f->names.path), gale_i64(gx_file_sent_tag(&sent->own)),
                                gale_i64(f->context->task_index), gale_i64(f->context->task_count),
                                gale_i64(count_tails(f)) };
    if (rc == 0) rc = gale_save(to, head, sizeof head / sizeof *head);
    for (size_t i = 0; rc == 0 && i < f->count; i++)
        if (f->list[i]) rc = save_tail(f->list[i], to, error);
    if (rc == 0) rc = gx_retry_save(&sent->own, to);
    if (rc == 0) rc = save_sources(f, &sent->own, to);
    return rc == 0 ? gx_file_sent_save_inherited(sent, to, save_sources, f) : rc;
}

bool gx_file_kept_tell(const gale_value *values, size_t count, gx_buf *out) {
    if (count != TAIL_VALUES || values[0].type != GALE_TYPE_BYTES || values[7].type != GALE_TYPE_BOOL) return false;
    for (size_t i = 2; i < TAIL_VALUES; i++)
        if (i != 7 && i != 13 && i != 15 && i != REAL && values[i].type != GALE_TYPE_I64) return false;
    static const char *const lives[] = { "", ", renamed", ", its end" };
    int64_t life = values[11].as.i64;
    gx_buf_format(out, "%.*s, line %" PRId64 ", byte %" PRId64 "%s", (int)values[0].size,
                  (const char *)values[0].as.bytes, values[6].as.i64 + 1, values[5].as.i64,
                  life >= 0 && life < GX_FILE_LIVES ? lives[life] : "");
    return true;
}

/* --- To restore --------------------------------------------------------------------------------------------------- */

/* Which file of now is the one that had an id then. */
typedef struct ids {
    gx_file_followed *f;
    gx_file_tail **list;
    size_t count, capacity;
} ids;

static bool note(ids *map, size_t id, gx_file_tail *tail) {
    if (id >= map->count) {
        if (!gx_grow(map->f->heap, GX_TAG_OTHER, (void **)&map->list, &map->capacity, id + 1, sizeof(gx_file_tail *)))
            return false;
        while (map->count <= id) map->list[map->count++] = NULL;
    }
    map->list[id] = tail;
    return true;
}

static bool is_sound(const gale_value *v) {
    static const int texts[] = { 0, 1, REAL };
    for (size_t n = 0, i = 0; n < sizeof texts / sizeof *texts; n++) {
        i = (size_t)texts[n];
        if (!v[i].size || memchr(v[i].as.bytes, 0, v[i].size)) return false;
    }
    return v[2].as.i64 < ID_MAX && v[6].as.i64 <= v[5].as.i64 && v[11].as.i64 < GX_FILE_LIVES;
}

static void fill(gx_file_tail *tail, const gale_value *v) {
    tail->device = (uint64_t)v[3].as.i64;
    tail->inode = (uint64_t)v[4].as.i64;
    tail->place = v[5].as.i64;
    tail->number = (uint64_t)v[6].as.i64;
    tail->hashed = v[7].as.boolean ? tail->place : -1;
    tail->content = (uint64_t)v[8].as.i64;
    tail->size = v[9].as.i64;
    tail->modified = v[10].as.i64;
    tail->life = (uint8_t)v[11].as.i64;
    tail->order = (uint64_t)v[12].as.i64;
    tail->born = v[14].as.i64;
    tail->unsure = true;
    tail->asks = v[15].as.boolean;
    tail->news = tail->life != GX_FILE_OVER && !tail->others;
    tail->behind = tail->life == GX_FILE_PARTED && !tail->others;
}

static gx_file_tail *make_tail(gx_file_followed *f, const gale_value *v) {
    char *name = gx_file_text_copy(f->heap, v[0].as.bytes, v[0].size);
    char *now = gx_file_text_copy(f->heap, v[1].as.bytes, v[1].size);
    char *real = gx_file_text_copy(f->heap, v[REAL].as.bytes, v[REAL].size);
    gx_file_tail *tail = name && now && real ? gx_file_tail_new(f->heap, name, now, real, &f->options.rule) : NULL;
    gx_file_text_free(f->heap, name);
    gx_file_text_free(f->heap, now);
    gx_file_text_free(f->heap, real);
    if (tail && gx_file_tails_add(f, tail)) return tail;
    gx_file_tail_free(tail);
    return NULL;
}

static bool is_known(const gx_file_followed *f, uint64_t inode) {
    for (size_t i = 0; i < f->count; i++)
        if (f->list[i] && f->list[i]->inode == inode) return true;
    return false;
}

/* What each task has told of the files of others is needed once; what it had read itself, here or there. */
static bool is_needed(const gx_file_followed *f, const gale_value *v, bool same_tasks, bool mine) {
    uint64_t inode = (uint64_t)v[4].as.i64;
    if (same_tasks) return true;
    return v[13].as.boolean ? !mine && !is_known(f, inode) : mine || !is_known(f, inode);
}

static int take_tail(ids *map, gale_saved *from, bool same_tasks, bool lines_mine) {
    const gale_value *v;
    int rc = gx_record_need(from, tail_shape, &v);
    if (rc < 0) return rc;
    if (!is_sound(v)) return GALE_DAMAGED;
    bool mine = gx_file_tails_mine(map->f, (uint64_t)v[4].as.i64);
    bool needed = is_needed(map->f, v, same_tasks, mine);
    if (!needed && !lines_mine) return 0;
    size_t id = (size_t)v[2].as.i64;
    gx_file_tail *tail = make_tail(map->f, v);
    if (!tail || !note(map, id, tail)) return GALE_NO_MEMORY;
    tail->others = same_tasks ? v[13].as.boolean : !mine;
    tail->life = GX_FILE_OVER; /* known for its lines alone */
    if (needed && !(tail->others && (v[11].as.i64 == GX_FILE_OVER || !v[4].as.i64))) fill(tail, v);
    if (tail->order > map->f->orders) map->f->orders = tail->order;
    return 0;
}

static int take_sources(void *user, gx_retry *retry, gale_saved *from) {
    const ids *map = user;
    const gale_value *v;
    int rc = gx_record_need(from, sources_shape, &v);
    if (rc < 0) return rc;
    const char *at = v->as.bytes, *end = at + v->size;
    for (gx_retry_slot *slot = gx_retry_oldest(retry); slot; slot = gx_retry_newer(retry, slot)) {
        uint32_t id;
        if ((size_t)(end - at) < sizeof id) return GALE_DAMAGED;
        memcpy(&id, at, sizeof id);
        at += sizeof id;
        if (id >= map->count || !map->list[id]) return GALE_DAMAGED;
        slot->source = map->list[id]->id;
    }
    return at == end ? 0 : GALE_DAMAGED;
}

static int take_lines(ids *map, gx_file_sent *sent, gale_saved *from, uint32_t tag, bool same_tasks) {
    gx_retry *retry = &sent->own;
    int rc = same_tasks ? gx_retry_restore(retry, from) : gx_file_sent_inherit(sent, tag, from, &retry);
    if (rc == 0) rc = take_sources(map, retry, from);
    return rc == 0 ? gx_file_sent_take_inherited(sent, from, take_sources, map) : rc;
}

static int take(gx_file_followed *f, gx_file_sent *sent, gale_saved *from, uint32_t *ret_tag, bool *ret_other,
                gale_error *error) {
    const gale_context *context = f->context;
    const gale_value *v;
    ids map = { .f = f };
    int rc = gx_file_first_record(from, true, f->names.path, &v, error);
    if (rc < 0) return rc;
    int64_t tag = v[1].as.i64, task = v[2].as.i64, tasks = v[3].as.i64, count = v[4].as.i64;
    if (tag > UINT32_MAX || task >= tasks || tasks > UINT16_MAX) return GALE_DAMAGED;
    bool same = (uint32_t)tasks == context->task_count;
    bool lines_mine = same || (uint32_t)task % context->task_count == context->task_index;
    for (; rc == 0 && count > 0; count--) rc = take_tail(&map, from, same, lines_mine);
    if (rc == 0 && lines_mine) rc = take_lines(&map, sent, from, (uint32_t)tag, same);
    gx_free(f->heap, GX_TAG_OTHER, map.list, map.capacity * sizeof(gx_file_tail *));
    *ret_tag = (uint32_t)tag;
    *ret_other = !same;
    f->resumed = true;
    return rc;
}

int gx_file_kept_restore(gx_file_followed *f, gx_file_sent *sent, gale_saved *from, uint32_t *ret_tag, bool *ret_other,
                         gale_error *error) {
    int rc = take(f, sent, from, ret_tag, ret_other, error);
    if (rc < 0 && !error->length)
        gale_error_set(error, rc, "%s: what was saved of the files that are followed: %s", f->names.path,
                       gale_error_text(rc));
    return rc < 0 ? rc : 0;
}
