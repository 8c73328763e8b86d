#include "connect/redis/once.h"

#include "connect/redis/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MARKER = 64, MARKERS = 2, RUN = 22, TRIES = 3, REFUSED_MOST = 1000, NOTE_MOST = 64 << 10, WORD_MOST = 1 << 10 };

typedef enum outcome { DONE, BEATEN, FAILED } outcome;

typedef struct redis_once {
    const redis_sink_settings *given;
    char *key;      /* the marker of the run that is being committed */
    size_t of_task; /* so much of it, which is the same in all runs */
    redis_session session;
    gale_epoch *epoch; /* that is being committed */
    redis_text text, notes,
        cut; /* of a transaction; of what is put into `refused`; of a command that is too large for that */
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
    redis_text_free(&o->cut);
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

/* Are rows left? "7/100": of checkpoint 7 the first 100. */
static bool begin_rows(const redis_once *o, gale_epoch *epoch) {
    uint64_t number = 0, rows = 0;
    if (sscanf(o->there, "%" SCNu64 "/%" SCNu64, &number, &rows) != 2) number = rows = 0;
    return gale_epoch_begin(epoch, number, rows);
}

/* --- The transaction ------------------------------------------------------------------------------------------------------- */

/* Its own, and away with that of a run before. */
static void write_markers(redis_once *o, const gale_epoch *epoch) {
    char marker[MARKER];
    snprintf(marker, sizeof marker, "%" PRIu64 "/%" PRIu64, gale_epoch_number(epoch), gale_epoch_rows(epoch));
    redis_text_command(&o->text, 3);
    redis_text_words(&o->text, "SET", o->key, marker, NULL);
    name_marker(o, gale_epoch_forgets(epoch));
    redis_text_command(&o->text, 2);
    redis_text_words(&o->text, "DEL", o->key, NULL);
    name_marker(o, gale_epoch_run(epoch));
}

/* An entry of the stream `refused`: what a command was, and why it is refused. */
static void write_note(const redis_once *o, redis_text *to, const char *why, gale_str command) {
    redis_text_command(to, 9);
    redis_text_words(to, "XADD", o->given->refused, "*", "marker", o->key, "why", why, "command", NULL);
    redis_text_word(to, command.data, command.size);
}

/* The next word of a command, as it is sent: "$7\r\nHINCRBY\r\n". */
static gale_str next_word(gale_str *rest) {
    gale_str word = { "", 0 };
    const char *end = rest->size ? memchr(rest->data, '\n', rest->size) : NULL;
    if (!end) return word;
    size_t head = (size_t)(end + 1 - rest->data), left = rest->size - head;
    bool is = *rest->data == '$';
    if (is) word = (gale_str){ end + 1, strtoul(rest->data + 1, NULL, 10) };
    is = is && left >= 2 && word.size <= left - 2;
    if (!is) word.size = 0;
    head += is ? word.size + 2 : 0;
    rest->data += head;
    rest->size -= head;
    return word;
}

/* A command with the beginnings of its words, which says what it is for. */
static gale_str cut_words(redis_once *o, const gale_value *command) {
    gale_str rest = { command->as.bytes, command->size };
    size_t count = rest.size ? strtoul(rest.data + 1, NULL, 10) : 0;
    o->cut.size = 0;
    (void)next_word(&rest); /* how many there are */
    redis_text_command(&o->cut, count);
    for (; count; count--) {
        gale_str word = next_word(&rest);
        redis_text_word(&o->cut, word.data, word.size < WORD_MOST ? word.size : WORD_MOST);
    }
    bool failed = o->cut.failed;
    o->cut.failed = false;
    return failed ? (gale_str){ NULL, 0 } : (gale_str){ o->cut.data, o->cut.size };
}

/* Its size may be why the server does not take it. */
static bool write_culprit(redis_once *o, gale_epoch *epoch, const gale_value *command) {
    char why[WIRE_WHY_MAX];
    bool cut = command->size > NOTE_MOST;
    gale_str text = cut ? cut_words(o, command) : (gale_str){ command->as.bytes, command->size };
    if (text.data) text = gale_epoch_note(epoch, text.data, text.size);
    snprintf(why, sizeof why, "%.*s", (int)sizeof why - 80, gale_epoch_culprit(epoch));
    if (cut)
        snprintf(why + strlen(why), 80, " (of its %zu bytes the first %d of each word)", (size_t)command->size,
                 WORD_MOST);
    if (text.data) write_note(o, &o->text, why, text);
    return text.data;
}

/* The command; or a note about it, where it must not be sent. */
static bool write_row(redis_once *o, gale_epoch *epoch, const gale_value *command) {
    o->count++;
    if (gale_epoch_culprit(epoch)) return write_culprit(o, epoch, command);
    redis_text_add(&o->text, command->as.bytes, command->size);
    return true;
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
        if (!write_row(o, epoch, &values[0])) return GALE_NO_MEMORY;
    }
    write_markers(o, epoch);
    redis_text_command(&o->text, 1);
    redis_text_words(&o->text, "EXEC", NULL);
    bool failed = o->text.failed;
    o->text.failed = false;
    return rc < 0 ? rc : failed ? GALE_NO_MEMORY : 0;
}

/* "HINCRBY h:7: WRONGTYPE ...": what a person looks for, without the values. */
static void name_refused(redis_once *o, const gale_value *command, const char *why) {
    gale_str rest = { command->as.bytes, command->size };
    (void)next_word(&rest); /* how many there are */
    gale_str name = next_word(&rest), key = next_word(&rest);
    snprintf(o->why, sizeof o->why, "%.*s %.*s: %.250s", name.size < 20 ? (int)name.size : 20, name.data,
             key.size < 100 ? (int)key.size : 100, key.data, why);
}

static void note_refused(redis_once *o, const gale_value *command, const redis_reply *reply) {
    o->refused++;
    if (o->refused == 1) name_refused(o, command, reply->text.data);
    if (!o->given->refused || o->refused > REFUSED_MOST) return;
    write_note(o, &o->notes, reply->text.data, (gale_str){ command->as.bytes, command->size });
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

static int log_refused(redis_once *o, uint64_t count, const char *why) {
    char place[GALE_FAILURE_TEXT];
    snprintf(place, sizeof place, "the stream %s", o->given->refused ? o->given->refused : "");
    gale_epoch_refused(o->epoch, count, place, why);
    return 0;
}

static bool keep_notes(redis_once *o) {
    uint64_t notes = o->refused < REFUSED_MOST ? o->refused : REFUSED_MOST;
    bool failed = o->notes.failed;
    o->notes.failed = false;
    return o->given->refused && !failed && !gale_epoch_culprit(o->epoch) &&
           redis_session_ask(&o->session, (gale_str){ o->notes.data, o->notes.size }, notes, hear_note, o) &&
           !o->broken;
}

/* It is in, but for what was refused: which no attempt changes. */
static int tell_refused(redis_once *o, gale_error *error) {
    char why[WIRE_WHY_MAX];
    snprintf(why, sizeof why, "%s", o->why);
    if (keep_notes(o)) return log_refused(o, o->refused, why);
    redis_session_close(&o->session);
    return gale_error_set(error, GALE_COMPONENT,
                          "%s: %s: %" PRIu64 " of %" PRIu64 " commands of a checkpoint %s refused, the others are in, "
                          "and are not sent again (a stream in the property `refused` takes such)",
                          o->given->redis.wire.where, why, o->refused, o->count, o->refused == 1 ? "is" : "are");
}

/* Nothing of it is in. */
static int stop(redis_once *o, const char *why, gale_error *error) {
    redis_session_close(&o->session);
    return gale_error_set(error, GALE_COMPONENT,
                          "%s: a command of a checkpoint is refused, and none of its %" PRIu64
                          " are in (a stream in the property `refused` takes such): %s",
                          o->given->redis.wire.where, o->count, why);
}

/* Nothing of it is in, and no reply says of which command that is. */
static int be_declined(redis_once *o, gale_error *error) {
    if (!o->given->refused || !gale_epoch_declined(o->epoch, o->why)) return stop(o, o->why, error);
    return not_now(o, error);
}

/* It is not known whether it is in. */
static int be_lost(redis_once *o, gale_error *error) {
    if (o->broken || !o->session.ended || gale_epoch_lost(o->epoch, o->session.why)) return not_now(o, error);
    return stop(o, gale_epoch_culprit(o->epoch), error);
}

static int be_in(redis_once *o, gale_error *error) {
    const char *culprit = gale_epoch_culprit(o->epoch);
    if (o->refused) return tell_refused(o, error);
    return culprit ? log_refused(o, 1, culprit) : 0;
}

int redis_once_commit(void *once, gale_epoch *epoch, gale_error *error) {
    redis_once *o = once;
    o->epoch = epoch;
    name_marker(o, gale_epoch_run(epoch));
    for (int i = 0; i < TRIES; i++) {
        if (!redis_session_begin(&o->session, &o->given->redis) || !watch_marker(o)) return not_now(o, error);
        if (!begin_rows(o, epoch)) return 0;
        if (gale_epoch_culprit(epoch) && !o->given->refused) return stop(o, gale_epoch_culprit(epoch), error);
        int rc = write_transaction(o, epoch, error);
        if (rc < 0) return rc;
        outcome became = send_transaction(o);
        if (became == DONE) return be_in(o, error);
        if (became == FAILED) return o->never ? be_declined(o, error) : be_lost(o, error);
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
