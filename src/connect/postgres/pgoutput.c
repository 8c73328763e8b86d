#include "connect/postgres/pgoutput.h"

#include <stdlib.h>
#include <string.h>

/* Seconds between 1970 and PostgreSQL's 2000. */
static const int64_t EPOCH_MS = INT64_C(946684800000);

/* --- Bytes ------------------------------------------------------------------------------------------------------------ */

typedef struct reader {
    char *at;
    size_t left;
    bool short_of; /* more was asked for than there is; what was read behind that is zero */
} reader;

static bool has(reader *r, size_t size) {
    if (size > r->left) r->short_of = true;
    return !r->short_of;
}

static uint64_t read_number(reader *r, size_t size) {
    uint64_t number = 0;
    if (!has(r, size)) return 0;
    for (size_t i = 0; i < size; i++) number = number << 8 | (unsigned char)r->at[i];
    r->at += size;
    r->left -= size;
    return number;
}

/* Ended by a NUL in the message. */
static char *read_text(reader *r) {
    char *text = r->at, *end = r->left ? memchr(text, '\0', r->left) : NULL;
    if (!end || r->short_of) {
        r->short_of = true;
        return NULL;
    }
    r->left -= (size_t)(end - text) + 1;
    r->at = end + 1;
    return text;
}

static char *read_bytes(reader *r, size_t size) {
    char *bytes = r->at;
    if (!has(r, size)) return NULL;
    r->at += size;
    r->left -= size;
    return bytes;
}

static int damaged(gale_error *error, const char *what) {
    return gale_error_set(error, GALE_DAMAGED, "the server's changes cannot be read: %s", what);
}

static int no_memory(gale_error *error) {
    return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
}

/* --- Relations -------------------------------------------------------------------------------------------------------- */

static void free_relation(pg_relation *relation) {
    for (size_t i = 0; i < relation->count; i++) free(relation->attributes[i].name);
    free(relation->attributes);
    free(relation->schema);
    free(relation->name);
}

static pg_relation *find(const pg_output *output, uint32_t id) {
    for (size_t i = 0; i < output->count; i++)
        if (output->relations[i].id == id) return &output->relations[i];
    return NULL;
}

static int place_of(pg_output *output, uint32_t id, pg_relation **ret_place, gale_error *error) {
    *ret_place = find(output, id);
    if (*ret_place) {
        free_relation(*ret_place);
        return 0;
    }
    if (output->count == PG_RELATIONS_MAX)
        return gale_error_set(error, GALE_TOO_LARGE, "a publication has at most %d tables", PG_RELATIONS_MAX);
    if (output->count == output->room) {
        size_t room = output->room ? 2 * output->room : 16;
        pg_relation *list = realloc(output->relations, room * sizeof *list);
        if (!list) return no_memory(error);
        output->relations = list;
        output->room = room;
    }
    *ret_place = &output->relations[output->count++];
    return 0;
}

static bool read_attributes(reader *r, pg_relation *relation, size_t count) {
    for (; relation->count < count && !r->short_of; relation->count++) {
        bool is_identity = read_number(r, 1) & 1;
        const char *name = read_text(r);
        uint32_t type = (uint32_t)read_number(r, 4);
        (void)read_number(r, 4); /* its modifier */
        char *copy = r->short_of ? NULL : strdup(name);
        if (!copy) return r->short_of;
        relation->attributes[relation->count] = (pg_attribute){ copy, type, is_identity };
    }
    return true;
}

static int read_relation(pg_output *output, reader *r, gale_error *error) {
    pg_relation relation = { .id = (uint32_t)read_number(r, 4) }, *place;
    const char *schema = read_text(r), *name = read_text(r);
    (void)read_number(r, 1); /* its replica identity */
    size_t count = (size_t)read_number(r, 2);
    if (r->short_of || count > PG_CELLS_MAX) return damaged(error, "a relation");
    relation.schema = strdup(schema);
    relation.name = strdup(name);
    relation.attributes = calloc(count + 1, sizeof *relation.attributes);
    bool room = relation.schema && relation.name && relation.attributes && read_attributes(r, &relation, count);
    int rc = !room ? no_memory(error) : r->short_of ? damaged(error, "a relation's columns") : 0;
    if (rc == 0) rc = place_of(output, relation.id, &place, error);
    if (rc < 0)
        free_relation(&relation);
    else
        *place = relation;
    return rc;
}

/* --- Rows ------------------------------------------------------------------------------------------------------------- */

static int read_cell(reader *r, pg_cell *cell, gale_error *error) {
    int kind = (int)read_number(r, 1);
    *cell = (pg_cell){ .is_unsent = kind == 'u' };
    if (kind == 'n' || kind == 'u') return 0;
    if (kind != 't') return damaged(error, "the kind of a value");
    cell->size = (size_t)read_number(r, 4);
    cell->text = read_bytes(r, cell->size);
    return cell->text ? 0 : damaged(error, "a value");
}

static int read_row(reader *r, const pg_relation *relation, pg_cell *cells, gale_error *error) {
    size_t count = (size_t)read_number(r, 2);
    int rc = count == relation->count ? 0 : damaged(error, "a row that has not as many columns as its table");
    for (size_t i = 0; rc == 0 && i < count; i++) rc = read_cell(r, &cells[i], error);
    return rc;
}

/* Of the row before, the server sends the identity alone ('K'), and null for each other column, whatever it was. */
static void forget_unsent(const pg_relation *relation, pg_cell *before) {
    for (size_t i = 0; i < relation->count; i++)
        if (!relation->attributes[i].is_identity) before[i] = (pg_cell){ .is_unsent = true };
}

/* When all was read: what stood behind a text was read, too. */
static void end_texts(const pg_cell *cells, size_t count) {
    for (size_t i = 0; cells && i < count; i++)
        if (cells[i].text) cells[i].text[cells[i].size] = '\0';
}

static int read_change(pg_output *output, reader *r, pg_change *change, gale_error *error) {
    pg_cell *now = output->cells, *before = output->cells + PG_CELLS_MAX;
    change->relation = find(output, (uint32_t)read_number(r, 4));
    if (!change->relation) return damaged(error, "a change of a table that was not described");
    int kind = (int)read_number(r, 1), rc = 0;
    if (kind == 'K' || kind == 'O') {
        rc = read_row(r, change->relation, before, error);
        change->before = before;
        if (kind == 'K') forget_unsent(change->relation, before);
        if (rc == 0 && change->kind == PG_CHANGE_UPDATE) kind = (int)read_number(r, 1);
    }
    if (rc == 0 && kind == 'N') {
        rc = read_row(r, change->relation, now, error);
        change->now = now;
    }
    if (rc < 0) return rc;
    bool whole = !r->short_of &&
                 (change->kind == PG_CHANGE_DELETE ? change->before && !change->now : change->now != NULL);
    if (!whole || (change->kind == PG_CHANGE_INSERT && change->before))
        return damaged(error, "a change without its row");
    end_texts(change->now, change->relation->count);
    end_texts(change->before, change->relation->count);
    return 0;
}

static int read_truncate(pg_output *output, reader *r, pg_change *change, gale_error *error) {
    size_t count = (size_t)read_number(r, 4);
    (void)read_number(r, 1); /* how */
    if (r->short_of || count > PG_RELATIONS_MAX) return damaged(error, "a truncation");
    change->truncated = output->truncated;
    for (size_t i = 0; i < count; i++) {
        output->truncated[i] = find(output, (uint32_t)read_number(r, 4));
        if (!output->truncated[i]) return damaged(error, "the truncation of a table that was not described");
    }
    change->truncated_count = count;
    return 0;
}

/* --- Messages --------------------------------------------------------------------------------------------------------- */

static int read_begin(reader *r, pg_change *change, gale_error *error) {
    change->kind = PG_CHANGE_BEGIN;
    change->lsn = read_number(r, 8);
    change->time = (int64_t)read_number(r, 8) / 1000 + EPOCH_MS;
    change->xid = (uint32_t)read_number(r, 4);
    return r->short_of ? damaged(error, "a begin") : 0;
}

static int read_commit(reader *r, pg_change *change, gale_error *error) {
    change->kind = PG_CHANGE_COMMIT;
    (void)read_number(r, 1); /* flags */
    (void)read_number(r, 8); /* of the commit */
    change->lsn = read_number(r, 8);
    return r->short_of ? damaged(error, "a commit") : 0;
}

static int read_kind(pg_output *output, reader *r, pg_change *change, pg_change_kind kind, gale_error *error) {
    change->kind = kind;
    return kind == PG_CHANGE_TRUNCATE ? read_truncate(output, r, change, error) : read_change(output, r, change, error);
}

int pg_output_read(pg_output *output, char *message, size_t size, pg_change *ret_change, gale_error *error) {
    reader r = { message, size, false };
    *ret_change = (pg_change){ .kind = PG_CHANGE_NONE };
    switch ((int)read_number(&r, 1)) {
    case 'B': return read_begin(&r, ret_change, error);
    case 'C': return read_commit(&r, ret_change, error);
    case 'R': return read_relation(output, &r, error);
    case 'I': return read_kind(output, &r, ret_change, PG_CHANGE_INSERT, error);
    case 'U': return read_kind(output, &r, ret_change, PG_CHANGE_UPDATE, error);
    case 'D': return read_kind(output, &r, ret_change, PG_CHANGE_DELETE, error);
    case 'T': return read_kind(output, &r, ret_change, PG_CHANGE_TRUNCATE, error);
    case 'Y': /* a type */
    case 'O': /* an origin */
    case 'M': /* a message of an application */ return 0;
    default: return damaged(error, "a message of a kind that it is not to have");
    }
}

/* --- It --------------------------------------------------------------------------------------------------------------- */

int pg_output_init(pg_output *output) {
    *output = (pg_output){ .cells = calloc(2 * PG_CELLS_MAX, sizeof *output->cells),
                           .truncated = calloc(PG_RELATIONS_MAX, sizeof *output->truncated) };
    return output->cells && output->truncated ? 0 : GALE_NO_MEMORY;
}

void pg_output_begin(pg_output *output) {
    for (size_t i = 0; i < output->count; i++) free_relation(&output->relations[i]);
    output->count = 0;
}

void pg_output_free(pg_output *output) {
    pg_output_begin(output);
    free(output->relations);
    free(output->cells);
    free(output->truncated);
    *output = (pg_output){ .relations = NULL };
}
