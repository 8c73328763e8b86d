/* Checkpoints of a SqliteRows: one record of the place and the rows that are not done with, one of what was given up, and those of its intake. */
#include "connect/sqlite/spout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int save_taken(const lite_spout *s, gale_saver *to) {
    int64_t *places = malloc((s->taken.count + 1) * sizeof *places);
    size_t count = 0;
    if (!places) return GALE_NO_MEMORY;
    for (size_t i = s->taken.first; i < s->taken.end; i++)
        if (!s->taken.list[i].done) places[count++] = s->taken.list[i].place;
    const gale_value values[] = { gale_i64((int64_t)s->given->origin), gale_i64(s->place), gale_i64(s->floor),
                                  gale_bytes(places, count * sizeof *places) };
    int rc = gale_save(to, values, sizeof values / sizeof *values);
    free(places);
    return rc;
}

static size_t add_given_up(const lite_answered_list *from, gale_value *values, size_t count) {
    for (size_t i = 0; i < from->count; i++) {
        if (!from->list[i].words) continue;
        values[count++] = gale_i64(from->list[i].place);
        values[count++] = gale_text(from->list[i].words);
    }
    return count;
}

static int save_given_up(const lite_spout *s, gale_saver *to) {
    gale_value *values = calloc(2 * (s->answered.count + s->reading.answered.count) + 1, sizeof *values);
    if (!values) return GALE_NO_MEMORY;
    size_t count = add_given_up(&s->reading.answered, values, add_given_up(&s->answered, values, 0));
    gale_value list = gale_list(values, count);
    int rc = gale_save(to, &list, 1);
    free(values);
    return rc;
}

int lite_spout_save(void *self, gale_saver *to) {
    lite_spout *s = self;
    if (s->idle) return 0;
    int rc = save_taken(s, to);
    if (rc == 0) rc = save_given_up(s, to);
    return rc < 0 ? rc : gale_intake_save(s->intake, to);
}

static int restore_taken(lite_spout *s, gale_saved *from) {
    const gale_value *v;
    size_t count;
    int rc = gale_saved_next(from, &v, &count);
    if (rc < 0) return rc;
    if (!rc || count != 4 || v[0].type != GALE_TYPE_I64 || v[1].type != GALE_TYPE_I64 || v[2].type != GALE_TYPE_I64 ||
        v[3].type != GALE_TYPE_BYTES || v[3].size % sizeof(int64_t))
        return GALE_DAMAGED;
    if ((uint64_t)v[0].as.i64 != s->given->origin) return GALE_INVALID;
    s->place = v[1].as.i64;
    s->floor = v[2].as.i64;
    for (size_t at = 0; at < v[3].size; at += sizeof(int64_t)) {
        int64_t place;
        memcpy(&place, (const char *)v[3].as.bytes + at, sizeof place);
        rc = lite_places_add(&s->taken, place);
        if (rc < 0) return rc;
    }
    return 0;
}

/* Rows that need no answer any more, or not yet: they are out, or were given up and wait to be marked. All others that were taken are answered, and nobody has done
 * anything with them, perhaps. */
typedef struct others {
    lite_places places;
    bool failed;
} others;

static void note_open(void *user, uint32_t source, int64_t place) {
    others *o = user;
    (void)source;
    if (lite_places_add(&o->places, place) < 0) o->failed = true;
}

static int restore_given_up(lite_spout *s, gale_saved *from, others *o) {
    const gale_value *v;
    size_t count;
    int rc = gale_saved_next(from, &v, &count);
    if (rc < 0) return rc;
    if (!rc || count != 1 || v->type != GALE_TYPE_LIST || v->size % 2) return GALE_DAMAGED;
    rc = 0;
    for (size_t i = 0; rc == 0 && i < v->size; i += 2) {
        gale_value place = gale_list_at(v, i), words = gale_list_at(v, i + 1);
        if (place.type != GALE_TYPE_I64 || words.type != GALE_TYPE_STRING) return GALE_DAMAGED;
        note_open(o, 0, place.as.i64);
        rc = lite_answered_add(&s->answered, place.as.i64, words.as.string);
    }
    return rc;
}

static int by_place(const void *a, const void *b) {
    int64_t left = ((const lite_place *)a)->place, right = ((const lite_place *)b)->place;
    return (left > right) - (left < right);
}

static int answer_rest(lite_spout *s, others *o) {
    int rc = o->failed ? GALE_NO_MEMORY : 0;
    if (o->places.count) qsort(o->places.list, o->places.end, sizeof *o->places.list, by_place);
    for (size_t i = s->taken.first; rc == 0 && i < s->taken.end; i++) {
        int64_t place = s->taken.list[i].place;
        if (!lite_places_done(&o->places, place)) rc = lite_answered_add(&s->answered, place, NULL);
    }
    return rc;
}

/* A run that had finished executes nothing any more: rows that came since would be missed. This once the task waits itself: it is not yet a run. */
static int check_end(lite_spout *s) {
    char text[GALE_FAILURE_TEXT];
    s->reading.behind = s->place;
    s->reading.wants = true;
    bool well = lite_read(&s->reading), grown = s->reading.rows.count;
    snprintf(text, sizeof text, "%s: %s", s->given->sqlite.where,
             well ? "it has rows behind the end of a run that had finished: begin anew (gale state reset), or follow it"
                  : s->reading.base.why);
    lite_rows_clear(&s->reading.rows);
    if (well && !grown) return 0;
    gale_report(s->out, text);
    return well ? GALE_STATE : GALE_IO;
}

static int restore_all(lite_spout *s, gale_saved *from, others *o) {
    int rc = restore_taken(s, from);
    if (rc == 0) rc = restore_given_up(s, from, o);
    if (rc == 0) rc = gale_intake_restore(s->intake, from, note_open, o);
    if (rc == 0) rc = answer_rest(s, o);
    return rc == 0 && gale_saved_is_end(from) && !s->given->follows ? check_end(s) : rc;
}

int lite_spout_restore(void *self, gale_saved *from, gale_collector *out) {
    lite_spout *s = self;
    others o = { .failed = false };
    if (s->idle) return 0;
    int rc = restore_all(s, from, &o);
    lite_places_free(&o.places);
    if (rc == GALE_DAMAGED) gale_report(out, "sqlite: what was saved of the spout is no place in a table");
    if (rc == GALE_INVALID)
        gale_report(
            out, "sqlite: what was saved of the spout is a place in another table or query, or by another column: it "
                 "goes on when `table`, `query` and `by` are as they were");
    return rc;
}
