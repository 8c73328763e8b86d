#include "connect/redis/once.h"

#include "connect/redis/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MARKER = 64, MARKERS = 2, RUN = 22, TRIES = 3, REFUSED_MOST = 1000 };

typedef enum outcome { DONE, BEATEN, FAILED } outcome;

typedef struct redis_once {
    const redis_sink_settings *given;
    char *key;      /* the marker of the run that is being committed */
    size_t of_task; /* so much of it, which is the same in all runs */
    redis_session session;
    gale_epoch *epoch;      /* that is being committed */
    redis_text text, notes; /* of a transaction; of what is put into `refused` */
    char there[MARKER];
    uint64_t count;   /* of its commands */
    uint64_t refused; /* of those */
    outcome became;
    bool broken; /* why is said in `why` */
    bool never;  /* a command that the server's settings forbid: no attempt changes that */
    char why[WIRE_WHY_MAX];
} redis_once;

/* --- It ----------------------------------------------------------------------------------------------------------------- */

void *redis_once_new(const void *given_, const char *id) {
    const redis_sink_settings *given = given_;
    redis_once *o = calloc(1, sizeof *o);
    if (o) o->key = malloc(strlen(given->markers) + strlen(id) + RUN);
    if (!o || !o->key) {
        free(o);
        return NULL;
    }
    o->given = given;
    o->of_task = (size_t)sprintf(o->key, "%s%s", given->markers, id);
    return o;
}

void redis_once_free(void *once) {
    redis_once *o = once;
    if (!o) return;
    redis_session_close(&o->session);
    redis_text_free(&o->text);
    redis_text_free(&o->notes);
    free(o->key);
    free(o);
}

/* --- What goes wrong ----------------------------------------------------------------------------------------------------- */

/* Of a reply: the first that is wrong is kept. */
static void break_off(redis_once *o, const redis_reply *reply) {
    if (!o->broken) {
        bool is_text = reply->kind == REDIS_WRONG || reply->kind == REDIS_STATUS;
        snprintf(o->why, sizeof o->why, "the server says: %.300s", is_text ? reply->text.data : "it is odd");
    }
    o->broken = true;
}

/* The next attempt has another connection: what this one has watched and begun is forgotten there. */
static int not_now(redis_once *o, gale_error *error) {
    const char *why = o->broken ? o->why : o->session.why;
    redis_session_close(&o->session);
    return gale_error_set(error, GALE_AGAIN, "%s: %s", o->given->redis.wire.where, why);
}

/* --- The marker ------------------------------------------------------------------------------------------------------------ */

static void hear_marker(void *user, uint64_t index, const redis_reply *reply) {
    redis_once *o = user;
    if (index == 0 ? !redis_reply_says(reply, "OK") : reply->kind != REDIS_TEXT && reply->kind != REDIS_NIL)
        break_off(o, reply);
    else if (index == 1 && reply->kind == REDIS_TEXT)
        snprintf(o->there, sizeof o->there, "%.*s", MARKER - 1, reply->text.data);
}

/* Each run has its own: processes of one file, which have different ones, must not take the other's away. */
static void name_marker(redis_once *o, uint64_t run) {
    snprintf(o->key + o->of_task, RUN, "/%" PRIu64, run);
}

static bool watch_marker(redis_once *o) {
    o->text.size = 0;
    redis_text_command(&o->text, 2);
    redis_text_words(&o->text, "WATCH", o->key, NULL);
    redis_text_command(&o->text, 2);
    redis_text_words(&o->text, "GET", o->key, NULL);
    o->broken = false;
    o->there[0] = '\0';
    return redis_session_ask(&o->session, (gale_str){ o->text.data, o->text.size }, 2, hear_marker, o) && !o->broken;
}

static bool has_epoch(const redis_once *o, const gale_epoch *epoch) {
    uint64_t number;
    return sscanf(o->there, "%" SCNu64, &number) == 1 && number >= gale_epoch_number(epoch);
}

/* --- The transaction ------------------------------------------------------------------------------------------------------- */

/* Its own, and away with that of a run before. */
static void write_markers(redis_once *o, const gale_epoch *epoch) {
    char marker[MARKER];
    snprintf(marker, sizeof marker, "%" PRIu64, gale_epoch_number(epoch));
    redis_text_command(&o->text, 3);
    redis_text_words(&o->text, "SET", o->key, marker, NULL);
    name_marker(o, gale_epoch_forgets(epoch));
    redis_text_command(&o->text, 2);
    redis_text_words(&o->text, "DEL", o->key, NULL);
    name_marker(o, gale_epoch_run(epoch));
}

static int write_transaction(redis_once *o, gale_epoch *epoch, gale_error *error) {
    const gale_value *values;
    size_t count;
    int rc;
    o->text.size = 0;
    o->count = 0;
    redis_text_command(&o->text, 1);
    redis_text_words(&o->text, "MULTI", NULL);
    while ((rc = gale_epoch_next(epoch, &values, &count)) > 0) {
        if (count != 1 || values[0].type != GALE_TYPE_BYTES)
            return gale_error_set(error, GALE_DAMAGED, "%s: a row that the last run kept is no command",
                                  o->given->redis.wire.where);
        redis_text_add(&o->text, values[0].as.bytes, values[0].size);
        o->count++;
    }
    write_markers(o, epoch);
    redis_text_command(&o->text, 1);
    redis_text_words(&o->text, "EXEC", NULL);
    bool failed = o->text.failed;
    o->text.failed = false;
    return rc < 0 ? rc : failed ? GALE_NO_MEMORY : 0;
}

/* The next word of a command, as it is sent: "$7\r\nHINCRBY\r\n". */
static gale_str next_word(gale_str *rest) {
    gale_str word = { "", 0 };
    const char *end = rest->size ? memchr(rest->data, '\n', rest->size) : NULL;
    if (!end) return word;
    size_t head = (size_t)(end + 1 - rest->data), left = rest->size - head;
    if (*rest->data == '$') word = (gale_str){ end + 1, strtoul(rest->data + 1, NULL, 10) };
    if (left < 2 || word.size > left - 2) word.size = 0;
    head += word.size ? word.size + 2 : 0;
    rest->data += head;
    rest->size -= head;
    return word;
}

/* "HINCRBY h:7: WRONGTYPE ...": what a person looks for, without the values. */
static void name_refused(redis_once *o, const gale_value *command, const char *why) {
    gale_str rest = { command->as.bytes, command->size };
    (void)next_word(&rest); /* how many there are */
    gale_str name = next_word(&rest), key = next_word(&rest);
    snprintf(o->why, sizeof o->why, "%.*s %.*s: %.250s", name.size < 20 ? (int)name.size : 20, name.data,
             key.size < 100 ? (int)key.size : 100, key.data, why);
}

/* What it was, and why it is refused: as an entry of the stream `refused`. */
static void note_refused(redis_once *o, const gale_value *command, const redis_reply *reply) {
    o->refused++;
    if (o->refused == 1) name_refused(o, command, reply->text.data);
    if (!o->given->refused || o->refused > REFUSED_MOST) return;
    redis_text_command(&o->notes, 9);
    redis_text_words(&o->notes, "XADD", o->given->refused, "*", "marker", o->key, "why", reply->text.data, "command",
                     NULL);
    redis_text_word(&o->notes, command->as.bytes, command->size);
}

static bool has_refused(const redis_reply *reply) {
    for (size_t i = 0; i < reply->count; i++)
        if (reply->items[i].kind == REDIS_WRONG) return true;
    return false;
}

/* Replies are in the order of the rows. */
static void take_results(redis_once *o, const redis_reply *reply) {
    const gale_value *values;
    size_t count, i = 0;
    o->became = DONE;
    if (!has_refused(reply)) return;
    for (; gale_epoch_next(o->epoch, &values, &count) > 0; i++)
        if (reply->items[i].kind == REDIS_WRONG) note_refused(o, &values[0], &reply->items[i]);
}

static void hear_transaction(void *user, uint64_t index, const redis_reply *reply) {
    redis_once *o = user;
    bool is_exec = index == o->count + 1 + MARKERS;
    if (is_exec && reply->kind == REDIS_LIST && reply->count == o->count + MARKERS)
        take_results(o, reply);
    else if (is_exec && reply->kind == REDIS_NIL)
        o->became = BEATEN;
    else if (is_exec || !redis_reply_says(reply, index ? "QUEUED" : "OK")) {
        o->never = o->never || (redis_reply_is_wrong(reply, "ERR") && redis_reply_refuses(reply));
        break_off(o, reply);
    }
}

static outcome send_transaction(redis_once *o) {
    o->became = FAILED;
    o->refused = 0;
    o->notes.size = 0;
    o->broken = o->never = false;
    (void)redis_session_ask(&o->session, (gale_str){ o->text.data, o->text.size }, o->count + 2 + MARKERS,
                            hear_transaction, o);
    return o->became;
}

/* --- What was refused ------------------------------------------------------------------------------------------------------ */

static void hear_note(void *user, uint64_t index, const redis_reply *reply) {
    (void)index;
    if (reply->kind == REDIS_WRONG) break_off(user, reply);
}

/* It is in, but for what was refused: which no attempt changes. */
static int tell_refused(redis_once *o, gale_error *error) {
    char why[WIRE_WHY_MAX];
    snprintf(why, sizeof why, "%s", o->why);
    uint64_t notes = o->refused < REFUSED_MOST ? o->refused : REFUSED_MOST;
    bool noted = o->given->refused && !o->notes.failed &&
                 redis_session_ask(&o->session, (gale_str){ o->notes.data, o->notes.size }, notes, hear_note, o) &&
                 !o->broken;
    o->notes.failed = false;
    if (noted) {
        char place[GALE_FAILURE_TEXT];
        snprintf(place, sizeof place, "the stream %s", o->given->refused);
        gale_epoch_refused(o->epoch, o->refused, place, why);
        return 0;
    }
    redis_session_close(&o->session);
    return gale_error_set(error, GALE_COMPONENT,
                          "%s: %s: %" PRIu64 " of %" PRIu64 " commands of a checkpoint %s refused, the others are in, "
                          "and are not sent again (a stream in the property `refused` takes such)",
                          o->given->redis.wire.where, why, o->refused, o->count, o->refused == 1 ? "is" : "are");
}

/* Nothing of it is in. */
static int stop(redis_once *o, gale_error *error) {
    redis_session_close(&o->session);
    return gale_error_set(error, GALE_COMPONENT,
                          "%s: a command of a checkpoint is refused, and none of its %" PRIu64 " are in: %s",
                          o->given->redis.wire.where, o->count, o->why);
}

int redis_once_commit(void *once, gale_epoch *epoch, gale_error *error) {
    redis_once *o = once;
    o->epoch = epoch;
    name_marker(o, gale_epoch_run(epoch));
    for (int i = 0; i < TRIES; i++) {
        if (!redis_session_begin(&o->session, &o->given->redis) || !watch_marker(o)) return not_now(o, error);
        if (has_epoch(o, epoch)) return 0;
        int rc = write_transaction(o, epoch, error);
        if (rc < 0) return rc;
        outcome became = send_transaction(o);
        if (became == DONE) return o->refused ? tell_refused(o, error) : 0;
        if (became == FAILED && o->never) return stop(o, error);
        if (became == FAILED) return not_now(o, error);
    }
    snprintf(o->why, sizeof o->why, "the key %.200s is written to by another one", o->key);
    o->broken = true;
    return not_now(o, error);
}

int redis_once_look(void *once, gale_error *error) {
    redis_once *o = once;
    o->broken = false;
    return redis_session_begin(&o->session, &o->given->redis) ? 0 : not_now(o, error);
}
