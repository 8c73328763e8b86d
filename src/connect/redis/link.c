#include "connect/redis/link.h"

#include <stdio.h>
#include <string.h>

/* --- What goes wrong ------------------------------------------------------------------------------------------------------ */

void redis_link_fail(redis_link *l, const char *why) {
    wire_fail(&l->wire, why);
}

/* What it says is one line; what is no graphic letter in it is a '?'. */
void redis_link_refuse(redis_link *l, const redis_reply *reply) {
    static const char ours[] = "the server says: ";
    char text[WIRE_WHY_MAX];
    int size = reply->text.size < 300 ? (int)reply->text.size : 300;
    bool is_text = reply->kind == REDIS_WRONG || reply->kind == REDIS_STATUS || reply->kind == REDIS_TEXT;
    snprintf(text, sizeof text, "%s%.*s", ours, is_text ? size : 11, is_text ? reply->text.data : "it is odd");
    for (char *at = text; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 127) *at = '?';
    l->refused = true;
    redis_link_fail(l, text);
}

static void fail_reading(redis_link *l, int rc) {
    char text[WIRE_WHY_MAX];
    l->too_large = rc == GALE_TOO_LARGE;
    if (rc == GALE_TOO_LARGE)
        snprintf(text, sizeof text, "a reply has more than %zu bytes (maxReply)", l->given->most);
    else if (rc == GALE_DAMAGED)
        snprintf(text, sizeof text, "what it says is not Redis's: %.100s", l->reader.reader->errstr);
    else
        snprintf(text, sizeof text, "%s", gale_error_text(rc));
    redis_link_fail(l, text);
}

void redis_link_well(redis_link *l) {
    l->too_large = false;
    wire_well(&l->wire);
}

/* --- Asking and hearing --------------------------------------------------------------------------------------------------- */

int redis_link_ask(redis_link *l, const void *commands, size_t size, uint64_t replies) {
    int rc = wire_write(&l->wire, commands, size);
    if (rc < 0) return rc;
    if (!l->waiting && replies) wire_expect(&l->wire, true);
    l->waiting += replies;
    return 0;
}

void redis_link_flush(redis_link *l) {
    wire_flush(&l->wire);
}

void redis_link_pause(redis_link *l, bool paused) {
    wire_pause(&l->wire, paused);
}

/* Is one more expected? Else it is the server that errs. */
static bool count_reply(redis_link *l) {
    if (l->pushes) return true;
    if (!l->waiting) {
        redis_link_fail(l, "it says what it was not asked");
        return false;
    }
    if (--l->waiting == 0) wire_expect(&l->wire, false);
    return true;
}

const redis_reply *redis_link_reply(redis_link *l) {
    const redis_reply *reply = NULL;
    int rc;
    if (l->wire.state != WIRE_UP) return NULL;
    while ((rc = redis_reader_next(&l->reader, &reply)) == 0) {
        int64_t got = wire_read(&l->wire, l->input, sizeof l->input);
        if (got <= 0) return NULL;
        rc = redis_reader_feed(&l->reader, l->input, (size_t)got);
        if (rc < 0) break;
    }
    if (rc < 0) {
        fail_reading(l, rc);
        return NULL;
    }
    return count_reply(l) ? reply : NULL;
}

/* --- The greeting ----------------------------------------------------------------------------------------------------------- */

/* AUTH with the password as its file has it now. */
static bool add_password(redis_link *l, redis_text *greeting) {
    gale_error error = GALE_ERROR_INIT;
    if (!l->given->password_from) return true;
    char *password = gale_secret_read("passwordFrom", l->given->password_from, &error);
    if (!password) {
        redis_link_fail(l, error.text);
        return false;
    }
    redis_text_command(greeting, l->given->user ? 3 : 2);
    redis_text_words(greeting, "AUTH", l->given->user ? l->given->user : password, l->given->user ? password : NULL,
                     NULL);
    gale_secret_free(password);
    l->greets++;
    return true;
}

static void forget(redis_text *greeting) {
    if (greeting->data) explicit_bzero(greeting->data, greeting->room);
    redis_text_free(greeting);
}

static bool greet(redis_link *l) {
    redis_text greeting = { .data = NULL };
    l->greets = 0;
    if (!add_password(l, &greeting)) return false;
    if (l->given->database) {
        redis_text_command(&greeting, 2);
        redis_text_words(&greeting, "SELECT", NULL);
        redis_text_number(&greeting, l->given->database);
        l->greets++;
    }
    redis_text_command(&greeting, 1);
    redis_text_words(&greeting, "PING", NULL);
    l->greets++;
    int rc = greeting.failed ? GALE_NO_MEMORY : redis_link_ask(l, greeting.data, greeting.size, l->greets);
    forget(&greeting);
    if (rc < 0 && l->wire.state == WIRE_UP) redis_link_fail(l, gale_error_text(rc));
    return rc == 0;
}

/* False: there is more to come, or nothing any more. */
static bool hear_greeting(redis_link *l) {
    while (l->greets) {
        const redis_reply *reply = redis_link_reply(l);
        if (!reply) return false;
        if (reply->kind != REDIS_STATUS) {
            redis_link_refuse(l, reply);
            return false;
        }
        l->greets--;
    }
    return true;
}

/* --- What the wire tells ---------------------------------------------------------------------------------------------------- */

static void be_up(void *user) {
    redis_link *l = user;
    l->waiting = 0;
    l->ready = l->pushes = l->refused = false;
    if (redis_reader_reset(&l->reader) < 0)
        redis_link_fail(l, gale_error_text(GALE_NO_MEMORY));
    else
        (void)greet(l);
}

static void be_heard(void *user) {
    redis_link *l = user;
    if (!l->ready) {
        if (!hear_greeting(l)) return;
        l->ready = true;
        if (l->ops->ready) l->ops->ready(l->user);
    }
    if (l->ready && l->wire.state == WIRE_UP && !l->wire.paused) l->ops->heard(l->user);
}

static void have_room(void *user) {
    redis_link *l = user;
    if (l->ready && l->ops->room) l->ops->room(l->user);
}

static void be_lost(void *user) {
    redis_link *l = user;
    bool was_ready = l->ready;
    l->ready = false;
    l->waiting = l->greets = 0;
    if (was_ready && l->ops->lost) l->ops->lost(l->user);
}

static const wire_ops of_wire = { be_up, be_heard, have_room, be_lost };

int redis_link_open(redis_link *l, const redis_settings *given, const redis_task *task, const redis_link_ops *ops,
                    void *user, gale_error *error) {
    l->given = given;
    l->ops = ops;
    l->user = user;
    l->waiting = l->greets = 0;
    l->ready = l->pushes = l->too_large = false;
    if (redis_reader_open(&l->reader, given->most) < 0) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    const wire_options options = { .given = &given->wire,
                                   .context = task->context,
                                   .out = task->out,
                                   .always = true,
                                   .health = task->health,
                                   .who = task->who,
                                   .what = task->what,
                                   .most = task->most,
                                   .ops = &of_wire,
                                   .user = l };
    return wire_open(&l->wire, &options, error);
}

void redis_link_close(redis_link *l) {
    wire_close(&l->wire);
    redis_reader_free(&l->reader);
}
