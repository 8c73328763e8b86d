#include "serve/gale_letters.h"

#include "base/os/file.h"
#include "front/dead_letter_file.h"
#include "serve/member.h"
#include "tuple/json.h"

#include <gale/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The end of the file, in whole lines. */
typedef struct tail {
    char *path; /* NULL: the run has no such file */
    char *bytes;
    size_t size;
    int64_t begin; /* in the file */
} tail;

/* Lines, the newest first. */
typedef struct lines {
    const tail *tail;
    size_t end; /* of what is left */
} lines;

/* --- The file -------------------------------------------------------------------------------------------------------- */

static void close_tail(tail *t) {
    free(t->path);
    free(t->bytes);
}

/* Without the line whose begin is not there, and without one whose end is not written yet. */
static void cut_to_lines(tail *t) {
    size_t from = 0, to = t->size;
    if (t->begin) {
        const char *end = memchr(t->bytes, '\n', t->size);
        from = end ? (size_t)(end - t->bytes) + 1 : t->size;
    }
    while (to > from && t->bytes[to - 1] != '\n') to--;
    memmove(t->bytes, t->bytes + from, to - from);
    t->begin += (int64_t)from;
    t->size = to - from;
}

static int read_end(tail *t, int fd, gale_error *error) {
    gx_file_about about;
    int rc = gx_file_about_open(fd, t->path, &about, error);
    if (rc < 0) return rc;
    if (!about.regular)
        return gale_error_set(error, GALE_UNSUPPORTED, "%s: is no file that can be read again", t->path);
    int64_t size = about.size < GX_LETTERS_TAIL ? about.size : GX_LETTERS_TAIL;
    t->begin = about.size - size;
    t->bytes = malloc((size_t)size + 1);
    if (!t->bytes) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    while (t->size < (size_t)size) {
        int64_t got = gx_file_read_at(fd, t->bytes + t->size, (size_t)size - t->size, t->begin + (int64_t)t->size,
                                      t->path, error);
        if (got < 0) return (int)got;
        if (!got) break; /* it was cut meanwhile */
        t->size += (size_t)got;
    }
    cut_to_lines(t);
    return GALE_OK;
}

/* False, with a refusal. */
static bool open_tail(const gx_call *call, gx_http_reply *reply, tail *ret_tail) {
    gale_str path = gale_config_text(gale_topology_config(call->served->topology), "topology.dead_letters.file",
                                     gx_str(""));
    gale_error error = GALE_ERROR_INIT;
    bool seekable;
    int fd;
    *ret_tail = (tail){ 0 };
    if (!path.size) return true;
    ret_tail->path = strndup(path.data, path.size);
    int rc = ret_tail->path ? gx_file_open(ret_tail->path, &fd, &seekable, &error) : GALE_NO_MEMORY;
    if (rc >= 0) {
        rc = read_end(ret_tail, fd, &error);
        gx_file_close(fd);
    }
    if (rc >= 0) return true;
    gx_call_refuse(reply, 503, "dead letters cannot be read: %s", *error.text ? error.text : gale_error_text(rc));
    close_tail(ret_tail);
    return false;
}

/* The next older letter, to be freed, and its place; false when there is none. Lines that are no letters are passed over. */
static bool next_letter(lines *l, gx_letter *ret_letter, int64_t *ret_place) {
    while (l->end) {
        size_t end = l->end - 1, begin = end;
        while (begin && l->tail->bytes[begin - 1] != '\n') begin--;
        l->end = begin;
        *ret_place = l->tail->begin + (int64_t)begin;
        gale_str line = { l->tail->bytes + begin, end - begin };
        if (gx_letter_parse(l->tail->path, 0, line, ret_letter, NULL) >= 0) return true;
    }
    return false;
}

/* --- What there is ----------------------------------------------------------------------------------------------------- */

static void text_member(gx_json *json, const char *key, gale_str text) {
    gx_json_key(json, gx_str(key));
    if (text.data)
        gx_json_string(json, text);
    else
        gx_json_null(json);
}

static void letter_json(gx_json *json, const gx_letter *letter, int64_t place) {
    gale_value tuple = gale_value_owned_view(letter->tuple);
    char id[24];
    snprintf(id, sizeof id, "%lld", (long long)place);
    gx_json_open(json, '{');
    gx_member_text(json, "id", id);
    if (letter->time > 0)
        gx_member_number(json, "time", letter->time);
    else
        gx_member_null(json, "time");
    text_member(json, "spout", letter->component);
    text_member(json, "stream", letter->stream);
    text_member(json, "reason", letter->reason);
    text_member(json, "component", letter->place);
    text_member(json, "text", letter->text);
    gx_member_count(json, "attempts", letter->attempts > 0 ? (uint64_t)letter->attempts : 0);
    gx_json_key(json, gx_str("values"));
    gx_json_value(json, &tuple);
    gx_json_close(json, '}');
}

void gx_gale_dead_letters(const gx_call *call, gx_http_reply *reply) {
    gale_run_stats run = { .size = sizeof run };
    uint64_t room;
    tail t;
    if (!gx_call_number(call, reply, "max", 50, 1, 1000, &room) || !open_tail(call, reply, &t)) return;
    gale_runtime_stats(call->served->runtime, &run);
    gx_json json = gx_call_json(reply);
    gx_json_open(&json, '{');
    gx_member_text(&json, "file", t.path);
    gx_member_count(&json, "total", run.dead_letters);
    gx_member_open(&json, "letters", '[');
    lines l = { &t, t.size };
    gx_letter letter;
    int64_t place;
    for (; room && next_letter(&l, &letter, &place); room--) {
        letter_json(&json, &letter, place);
        gx_letter_fini(&letter);
    }
    gx_json_close(&json, ']');
    gx_json_close(&json, '}');
    close_tail(&t);
}

/* --- Once more --------------------------------------------------------------------------------------------------------- */

/* Which letters: those of the ids, or all. */
typedef struct wish {
    gale_str ids;               /* a list of JSON; empty: all */
    bool found[GX_LETTERS_IDS]; /* of each id: the letter is there */
} wish;

static bool are_texts(gale_str list) {
    for (gale_json_item item = GALE_JSON_FIRST(list); gale_json_next(&item);)
        if (gale_json_kind_of(item.value) != GALE_JSON_STRING) return false;
    return true;
}

static size_t count_of(gale_str list) {
    size_t count = 0;
    for (gale_json_item item = GALE_JSON_FIRST(list); gale_json_next(&item);) count++;
    return count;
}

/* {"ids": [...]}, or {"all": true}. */
static bool read_wish(const gx_call *call, gx_http_reply *reply, wish *ret_wish) {
    gale_str body = { "", 0 }, ids = { "", 0 }, all;
    (void)gale_json_check(call->body, &body, NULL);
    if (!gale_json_get(body, "ids", &ids) || gale_json_kind_of(ids) != GALE_JSON_LIST) ids = (gale_str){ "", 0 };
    size_t count = count_of(ids);
    bool wants_all = gale_json_get(body, "all", &all) && *all.data == 't';
    if (!(wants_all ? !count : count && count <= GX_LETTERS_IDS))
        gx_call_refuse(reply, 400,
                       "the body must be {\"ids\": [...]} with 1 to %d ids of /dead-letters, or {\"all\": true}",
                       GX_LETTERS_IDS);
    else if (!are_texts(ids))
        gx_call_refuse(reply, 400, "ids are texts, as /dead-letters has them: {\"ids\": [\"0\"]}");
    else if (gx_call_only(reply, body, (const char *const[]){ "ids", "all", NULL })) {
        *ret_wish = (wish){ .ids = count ? ids : (gale_str){ "", 0 } };
        return true;
    }
    return false;
}

static bool is_wished(wish *w, int64_t place) {
    bool wished = !w->ids.size;
    char id[24];
    snprintf(id, sizeof id, "%lld", (long long)place);
    for (gale_json_item item = GALE_JSON_FIRST(w->ids); gale_json_next(&item);)
        if (gale_json_is(item.value, id)) wished = w->found[item.index] = true;
    return wished;
}

static int replay(gale_runtime *runtime, const gx_letter *letter, gale_error *error) {
    gale_value tuple = gale_value_owned_view(letter->tuple);
    gale_value *values = calloc((size_t)tuple.size + 1, sizeof *values);
    char *spout = strndup(letter->component.data, letter->component.size);
    char *stream = strndup(letter->stream.data, letter->stream.size);
    int rc = GALE_NO_MEMORY;
    if (values && spout && stream) {
        for (uint32_t i = 0; i < tuple.size; i++) values[i] = gale_list_at(&tuple, i);
        rc = gale_runtime_redeliver(runtime, spout, stream, (uint64_t)letter->message_id, values, tuple.size, error);
    }
    free(values);
    free(spout);
    free(stream);
    return rc;
}

/* How many; a negative code ends it. */
static int replay_wished(gale_runtime *runtime, const tail *t, wish *w, uint64_t *ret_count, gale_error *error) {
    lines l = { t, t->size };
    gx_letter letter;
    int64_t place;
    int rc = GALE_OK;
    while (rc >= 0 && next_letter(&l, &letter, &place)) {
        if (is_wished(w, place)) {
            rc = replay(runtime, &letter, error);
            *ret_count += rc >= 0;
        }
        gx_letter_fini(&letter);
    }
    return rc;
}

static void tell_replayed(gx_http_reply *reply, const wish *w, uint64_t count) {
    gx_json json = gx_call_json(reply);
    gx_json_open(&json, '{');
    gx_member_count(&json, "replayed", count);
    gx_member_open(&json, "unknown", '[');
    for (gale_json_item item = GALE_JSON_FIRST(w->ids); gale_json_next(&item);) {
        char id[100];
        if (!w->found[item.index] && gale_json_text(item.value, id, sizeof id) >= 0) gx_json_string(&json, gx_str(id));
    }
    gx_json_close(&json, ']');
    gx_json_close(&json, '}');
}

void gx_gale_replay(const gx_call *call, gx_http_reply *reply) {
    gale_error error = GALE_ERROR_INIT;
    uint64_t count = 0;
    wish w;
    tail t;
    if (!read_wish(call, reply, &w)) return;
    if (open_tail(call, reply, &t)) {
        int rc = replay_wished(call->served->runtime, &t, &w, &count, &error);
        if (rc < 0)
            gx_call_refuse(reply, 409, "%llu replayed; then: %s", (unsigned long long)count,
                           *error.text ? error.text : gale_error_text(rc));
        else if (!count)
            gx_call_refuse(reply, 404, "none of these is among the last dead letters");
        else
            tell_replayed(reply, &w, count);
        close_tail(&t);
    }
}
