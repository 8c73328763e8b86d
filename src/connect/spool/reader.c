#include "connect/spool/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PIECE = 256 << 10 };

void gx_spool_reader_init(gx_spool_reader *reader, gx_spool_log *log, uint64_t from, gx_spool_tell_fn *tell,
                          void *user) {
    *reader = (gx_spool_reader){
        .log = log, .tell = tell, .user = user, .from = from, .number = from, .fd = -1, .bad = -1
    };
}

static void shut(gx_spool_reader *r) {
    if (r->fd >= 0) gx_file_close(r->fd);
    r->fd = -1;
    r->segment = 0;
    r->have = r->at = 0;
    r->bad = -1;
}

void gx_spool_reader_fini(gx_spool_reader *reader) {
    if (!reader->log) return;
    shut(reader);
    gx_free(reader->log->heap, GX_TAG_OTHER, reader->bytes, reader->capacity);
    reader->bytes = NULL;
    reader->capacity = 0;
}

/* --- What is told ---------------------------------------------------------------------------------------------------- */

/* "record 5 is lost", "records 5 to 9 are lost" */
static void write_lost(char *text, size_t size, uint64_t first, uint64_t count) {
    if (count == 1)
        snprintf(text, size, "record %" PRIu64 " is lost", first);
    else
        snprintf(text, size, "records %" PRIu64 " to %" PRIu64 " (%" PRIu64 ") are lost", first, first + count - 1,
                 count);
}

/* Records from `number` up to `behind` are missing, where `bytes` from `offset` on are no record. */
static void tell(gx_spool_reader *r, int64_t offset, int64_t bytes, uint64_t behind) {
    char name[GX_FILE_NAME_SIZE], lost[100], text[GX_FILE_NAME_SIZE + 300];
    uint64_t first = r->number > r->from ? r->number : r->from;
    if (behind <= first) return;
    r->lost += behind - first;
    if (!r->tell || gx_spool_log_name(r->log, r->segment, name, NULL) < 0) return;
    write_lost(lost, sizeof lost, first, behind - first);
    if (r->fd < 0)
        snprintf(text, sizeof text, "'%s' is gone: %s", name, lost);
    else if (!bytes)
        snprintf(text, sizeof text, "behind byte %" PRId64 " of '%s' there is nothing where more was: %s", offset, name,
                 lost);
    else
        snprintf(text, sizeof text, "'%s' is damaged: of %" PRId64 " bytes from byte %" PRId64 " on, %s", name, bytes,
                 offset, lost);
    size_t size = strlen(text);
    snprintf(text + size, sizeof text - size, "%s",
             "; the rest goes on. Look at the disk, and send them again if their source has them");
    r->tell(r->user, text);
}

static void tell_head(gx_spool_reader *r) {
    char name[GX_FILE_NAME_SIZE], text[GX_FILE_NAME_SIZE + 100];
    if (!r->tell || gx_spool_log_name(r->log, r->segment, name, NULL) < 0) return;
    snprintf(text, sizeof text, "'%s' is damaged: its head is; no record is lost by that", name);
    r->tell(r->user, text);
}

/* --- Bytes ----------------------------------------------------------------------------------------------------------- */

static bool make_room(gx_spool_reader *r, size_t size) {
    gx_heap *heap = r->log->heap;
    bool shrink = size == PIECE && r->capacity > 4 * (size_t)PIECE && r->have <= PIECE;
    if (r->capacity >= size && !shrink) return true;
    char *bytes = gx_alloc(heap, GX_TAG_OTHER, size);
    if (!bytes) return shrink;
    if (r->have) memcpy(bytes, r->bytes, r->have);
    gx_free(heap, GX_TAG_OTHER, r->bytes, r->capacity);
    r->bytes = bytes;
    r->capacity = size;
    return true;
}

/* Reads on, so that `need` bytes are there if the file has them: 1; 0 when it has no more. */
static int load(gx_spool_reader *r, size_t need, gale_error *error) {
    char name[GX_FILE_NAME_SIZE];
    if (r->at) memmove(r->bytes, r->bytes + r->at, r->have - r->at);
    r->offset += (int64_t)r->at;
    r->have -= r->at;
    r->at = 0;
    int64_t left = r->size - r->offset - (int64_t)r->have;
    if (left <= 0 || r->cut) return 0;
    if (!make_room(r, need > PIECE ? need : PIECE)) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    size_t room = r->capacity - r->have;
    int rc = gx_spool_log_name(r->log, r->segment, name, error);
    if (rc < 0) return rc;
    int64_t got = gx_file_read_at(r->fd, r->bytes + r->have, (int64_t)room < left ? room : (size_t)left,
                                  r->offset + (int64_t)r->have, name, error);
    if (got < 0) return (int)got;
    r->cut = got == 0;
    r->have += (size_t)got;
    return got > 0;
}

/* How much may be read now. Is it more than before? */
static bool refresh(gx_spool_reader *r) {
    gx_spool_log *log = r->log;
    gx_monitor_lock(&log->monitor);
    size_t i = gx_spool_log_find(log, r->segment);
    const gx_spool_segment *s = i == SIZE_MAX ? NULL : &log->segments[i];
    bool known = s && s->first == r->segment;
    size_t next = !s ? 0 : s->first > r->segment ? i : i + 1;
    int64_t size = known ? s->safe : r->size;
    r->over = next < log->count && (!known || s->safe == s->size);
    r->behind = r->over ? log->segments[next].first : log->safe;
    gx_monitor_unlock(&log->monitor);
    bool grew = size > r->size;
    if (grew) r->cut = r->fd < 0;
    r->size = size;
    return grew;
}

/* --- Segments -------------------------------------------------------------------------------------------------------- */

/* The file is opened; one that is gone is told when it is known what it had. */
static int open_file(gx_spool_reader *r, uint64_t first, int64_t size, gale_error *error) {
    char name[GX_FILE_NAME_SIZE];
    int rc = gx_spool_log_name(r->log, first, name, error);
    if (rc == 0) rc = gx_file_open(name, &r->fd, NULL, error);
    bool gone = rc == GALE_IO && errno == ENOENT;
    if (rc < 0 && !gone) return rc;
    if (gone) r->fd = -1;
    r->segment = first;
    r->size = size;
    r->offset = 0;
    r->have = r->at = 0;
    r->cut = r->headed = gone;
    r->bad = -1;
    r->behind = 0;
    return 1;
}

static int open_segment(gx_spool_reader *r, gale_error *error) {
    gx_spool_log *log = r->log;
    gx_monitor_lock(&log->monitor);
    size_t i = gx_spool_log_find(log, r->number);
    gx_spool_segment s = i == SIZE_MAX ? (gx_spool_segment){ 0 } : log->segments[i];
    gx_monitor_unlock(&log->monitor);
    if (i == SIZE_MAX) return 0;
    int rc = open_file(r, s.first, s.safe, error);
    if (rc < 0) return rc;
    if (s.first > r->number) tell(r, 0, 0, s.first); /* nothing has those before it */
    r->number = s.first;
    return 1;
}

/* Nothing more may be read of the open one: what is left of it is no record. */
static void settle(gx_spool_reader *r) {
    int64_t end = r->offset + (int64_t)r->have, begin = r->bad >= 0 ? r->bad : r->offset + (int64_t)r->at;
    tell(r, begin, end - begin, r->behind);
    if (r->behind > r->number) r->number = r->behind;
    r->at = r->have;
    r->bad = -1;
}

/* There are fewer than `need` bytes. 1: look again; 0: nothing more is there now. */
static int more(gx_spool_reader *r, size_t need, gale_error *error) {
    int rc = load(r, need, error);
    if (rc != 0) return rc;
    if (refresh(r)) return 1;
    if (r->behind > r->number || r->over) settle(r);
    if (!r->over) return 0;
    shut(r);
    return 1;
}

/* --- Records --------------------------------------------------------------------------------------------------------- */

/* A head may be there by chance: its number says whether it can be the one that was written here. */
static bool can_be(const gx_spool_reader *r, uint64_t number) {
    int64_t skipped = r->bad < 0 ? 0 : r->offset + (int64_t)r->at - r->bad;
    return number >= r->number && number - r->number <= (uint64_t)skipped / (GX_SPOOL_HEAD + GX_SPOOL_BODY_LEAST);
}

static void step_over(gx_spool_reader *r) {
    uint64_t word;
    memcpy(&word, r->bytes + r->at, sizeof word);
    if (r->bad < 0) {
        r->bad = r->offset + (int64_t)r->at;
        r->zeros = true;
    }
    r->zeros &= word == 0;
    r->at += sizeof word;
}

/* A record begins here. True: it is to be given out. */
static bool pass(gx_spool_reader *r, const gx_spool_record *record) {
    int64_t here = r->offset + (int64_t)r->at;
    if (r->bad >= 0) tell(r, r->bad, here - r->bad, record->number);
    r->bad = -1;
    r->number = record->number;
    int64_t size = GX_SPOOL_HEAD + (int64_t)record->size;
    if (!record->body) tell(r, here, size, record->number + 1);
    r->at += (size_t)size;
    r->number++;
    return record->body && record->number >= r->from;
}

static int pass_head(gx_spool_reader *r, gale_error *error) {
    gx_spool_segment_head head;
    if (r->have - r->at < GX_SPOOL_SEGMENT_HEAD) return more(r, GX_SPOOL_SEGMENT_HEAD, error);
    bool whole = gx_spool_segment_head_read(r->bytes + r->at, r->have - r->at, &head) && head.first == r->segment;
    if (!whole) tell_head(r);
    r->at += GX_SPOOL_SEGMENT_HEAD;
    r->headed = true;
    return 1;
}

/* One look: 1, and perhaps a record; 0 when more bytes are needed, `*ret_need` of them. */
static int look(gx_spool_reader *r, gx_spool_record *ret_record, bool *ret_is, size_t *ret_need) {
    gx_spool_record record;
    gx_spool_found found = gx_spool_look(r->bytes + r->at, r->have - r->at, &record);
    *ret_is = false;
    *ret_need = GX_SPOOL_HEAD + record.size;
    bool fits = found != GX_SPOOL_NO_HEAD && (!record.size || can_be(r, record.number));
    if (fits && found == GX_SPOOL_SHORT) return 0;
    if (!fits) {
        step_over(r);
        return 1;
    }
    *ret_is = pass(r, &record);
    if (*ret_is) *ret_record = record;
    return 1;
}

int gx_spool_reader_next(gx_spool_reader *reader, gx_spool_record *ret_record, gale_error *error) {
    for (int rc = 1; rc > 0;) {
        size_t need;
        bool is;
        if (!reader->segment)
            rc = open_segment(reader, error);
        else if (!reader->headed)
            rc = pass_head(reader, error);
        else if (!look(reader, ret_record, &is, &need))
            rc = more(reader, need, error);
        else if (is)
            return 1;
        if (rc <= 0) return rc;
    }
    return 0;
}

/* --- The end of what a killed run has left --------------------------------------------------------------------------- */

static int find(gx_spool_reader *r, uint64_t last, gale_error *error) {
    gx_spool_record record;
    size_t need;
    bool is;
    int rc = load(r, GX_SPOOL_SEGMENT_HEAD, error);
    if (rc <= 0) return rc;
    if (r->have < GX_SPOOL_SEGMENT_HEAD) return 0;
    r->at = GX_SPOOL_SEGMENT_HEAD;
    while (r->number <= last) {
        if (look(r, &record, &is, &need)) continue;
        rc = load(r, need, error);
        if (rc <= 0) return rc;
    }
    return 0;
}

int gx_spool_reader_find_end(gx_spool_reader *reader, uint64_t first, int64_t size, uint64_t last, int64_t *ret_end,
                             bool *ret_torn, gale_error *error) {
    int rc = open_file(reader, first, size, error);
    reader->number = first;
    if (rc > 0) rc = find(reader, last, error);
    if (rc < 0) return rc;
    bool is_bad = reader->bad >= 0;
    *ret_end = is_bad ? reader->bad : reader->offset + (int64_t)reader->at;
    *ret_torn = is_bad ? reader->zeros : *ret_end < size;
    return 0;
}
