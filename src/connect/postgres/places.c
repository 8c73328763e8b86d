#include "connect/postgres/places.h"

#include <stdlib.h>
#include <string.h>

int pg_places_open(pg_places *p, const gale_context *context) {
    *p = (pg_places){ .positions = gale_positions_new(context), .next = 1, .durable = context->durable };
    return p->positions ? 0 : GALE_NO_MEMORY;
}

void pg_places_close(pg_places *p) {
    gale_positions_free(p->positions);
    free(p->list);
}

bool pg_places_are_done(const pg_places *p) {
    return gale_positions_count(p->positions) == 0;
}

/* --- What was taken ---------------------------------------------------------------------------------------------------- */

static void look(pg_places *p) {
    int64_t safe;
    if (gale_positions_safe(p->positions, &safe) < 0) safe = 0;
    if (pg_places_are_done(p)) safe = p->next;
    for (; p->first < p->count && p->list[p->first].last <= safe; p->first++) p->answered = p->list[p->first].end;
    if (p->first < p->count) return;
    p->first = p->count = 0;
    bool part = p->open && p->open_rows;
    if (!part && pg_places_are_done(p) && p->end > p->answered) p->answered = p->end;
}

uint64_t pg_places_begin(pg_places *p, uint64_t commit) {
    if (commit <= p->commit) return UINT64_MAX;
    if (commit != p->open) p->open_rows = 0;
    p->open = commit;
    return p->open_rows;
}

int pg_places_row(pg_places *p, int64_t *ret_place) {
    *ret_place = p->next;
    int rc = gale_positions_begin(p->positions, p->next);
    return rc == GALE_EXISTS ? 0 : rc; /* memory was out for it, and it comes again */
}

void pg_places_taken(pg_places *p) {
    p->next++;
    p->open_rows++;
}

static int note(pg_places *p, uint64_t end) {
    if (p->count == p->room && p->first) {
        memmove(p->list, p->list + p->first, (p->count - p->first) * sizeof *p->list);
        p->count -= p->first;
        p->first = 0;
    }
    if (p->count == p->room) {
        size_t room = p->room ? 2 * p->room : 64;
        pg_transaction *list = realloc(p->list, room * sizeof *list);
        if (!list) return GALE_NO_MEMORY;
        p->list = list;
        p->room = room;
    }
    p->list[p->count++] = (pg_transaction){ p->next - 1, end };
    return 0;
}

int pg_places_end(pg_places *p, uint64_t commit, uint64_t end) {
    if (commit <= p->commit) return 0;
    bool has_rows = p->open == commit && p->open_rows;
    int rc = has_rows ? note(p, end) : 0;
    if (rc < 0) return rc;
    if (!has_rows && p->first < p->count) p->list[p->count - 1].end = end; /* it ends with those before it */
    p->commit = commit;
    p->end = end;
    p->open = p->open_rows = 0;
    look(p);
    return 0;
}

void pg_places_idle(pg_places *p, uint64_t end) {
    if (end <= p->end) return;
    p->end = end;
    look(p);
}

/* --- What is answered --------------------------------------------------------------------------------------------------- */

void pg_places_done(pg_places *p, int64_t place) {
    (void)gale_positions_done(p->positions, place);
    look(p);
}

uint64_t pg_places_confirmed(const pg_places *p) {
    return p->durable && p->lasting < p->answered ? p->lasting : p->answered;
}

/* --- Checkpoints --------------------------------------------------------------------------------------------------------- */

/* What a later run would have taken: it needs nothing before that. */
static void note_save(pg_places *p, uint64_t checkpoint) {
    if (p->save_count == PG_PLACES_SAVES) {
        p->save_count--;
        memmove(p->saves, p->saves + 1, p->save_count * sizeof *p->saves);
    }
    p->saves[p->save_count].checkpoint = checkpoint;
    p->saves[p->save_count++].end = p->end;
}

void pg_places_committed(pg_places *p, uint64_t checkpoint) {
    size_t gone = 0;
    for (; gone < p->save_count && p->saves[gone].checkpoint <= checkpoint; gone++) p->lasting = p->saves[gone].end;
    p->save_count -= gone;
    memmove(p->saves, p->saves + gone, p->save_count * sizeof *p->saves);
    look(p);
}

int pg_places_save(pg_places *p, gale_saver *to) {
    const gale_value head[] = {
        gale_i64(p->next),          gale_i64((int64_t)p->commit),    gale_i64((int64_t)p->end),
        gale_i64((int64_t)p->open), gale_i64((int64_t)p->open_rows), gale_i64((int64_t)(p->count - p->first))
    };
    int rc = gale_save(to, head, 6);
    for (size_t i = p->first; rc == 0 && i < p->count; i++) {
        const gale_value row[] = { gale_i64(p->list[i].last), gale_i64((int64_t)p->list[i].end) };
        rc = gale_save(to, row, 2);
    }
    if (rc == 0) note_save(p, gale_save_checkpoint(to));
    return rc;
}

static bool are_whole(const gale_value *values, size_t count, size_t wanted) {
    bool are = count == wanted;
    for (size_t i = 0; are && i < count; i++) are = values[i].type == GALE_TYPE_I64 && values[i].as.i64 >= 0;
    return are;
}

static int restore_transaction(pg_places *p, gale_saved *from) {
    const gale_value *row;
    size_t count;
    int rc = gale_saved_next(from, &row, &count);
    if (rc <= 0) return rc < 0 ? rc : GALE_DAMAGED;
    if (!are_whole(row, count, 2)) return GALE_DAMAGED;
    int64_t last = row[0].as.i64;
    uint64_t end = (uint64_t)row[1].as.i64;
    rc = note(p, end);
    if (rc == 0) p->list[p->count - 1].last = last;
    return rc;
}

int pg_places_restore(pg_places *p, gale_saved *from) {
    const gale_value *head;
    size_t count;
    int rc = gale_saved_next(from, &head, &count);
    if (rc <= 0) return rc < 0 ? rc : GALE_DAMAGED;
    if (!are_whole(head, count, 6) || head[0].as.i64 < 1) return GALE_DAMAGED;
    p->next = head[0].as.i64;
    p->commit = (uint64_t)head[1].as.i64;
    p->end = p->lasting = (uint64_t)head[2].as.i64;
    p->open = (uint64_t)head[3].as.i64;
    p->open_rows = (uint64_t)head[4].as.i64;
    int64_t transactions = head[5].as.i64;
    for (rc = 0; rc == 0 && transactions; transactions--) rc = restore_transaction(p, from);
    return rc;
}

/* All before the first row that is open is done. */
void pg_places_again(pg_places *p, int64_t place) {
    (void)gale_positions_start(p->positions, place);
    (void)gale_positions_begin(p->positions, place);
}

void pg_places_restored(pg_places *p) {
    (void)gale_positions_start(p->positions, p->next);
    look(p);
}
