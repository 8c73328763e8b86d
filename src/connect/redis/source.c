#include "connect/redis/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WINDOW = 10000, WAIT_MS = 50, SAID_MOST = 600 };
#define CLOSING_WAIT (5 * GALE_SECOND)

/* --- Settings --------------------------------------------------------------------------------------------------------------- */

int redis_source_settings_make(redis_source_settings *settings, const gale_args *args, gale_error *error) {
    int rc = redis_settings_make(&settings->redis, args, error);
    if (rc == 0) rc = redis_copy(&settings->consumer, args, "consumer", error);
    if (rc == 0) rc = redis_copy(&settings->letters, args, "deadLetters", error);
    settings->memory = (uint64_t)gale_args_whole(args, "memory");
    settings->attempts = (uint32_t)gale_args_whole(args, "maxAttempts");
    settings->in_flight = (size_t)gale_args_whole(args, "inFlight");
    settings->until_end = gale_args_flag(args, "untilEnd");
    if (rc == 0 && settings->consumer && strlen(settings->consumer) > 200)
        rc = gale_error_set(error, GALE_INVALID, "consumer: a name has at most 200 bytes");
    return rc;
}

void redis_source_settings_free(redis_source_settings *settings) {
    redis_settings_free(&settings->redis);
    free(settings->consumer);
    free(settings->letters);
}

void redis_source_consumer(const redis_source_settings *given, const gale_context *context,
                           char name[REDIS_CONSUMER_MAX]) {
    char host[65] = "localhost";
    if (gethostname(host, sizeof host) != 0) snprintf(host, sizeof host, "localhost");
    host[sizeof host - 1] = '\0';
    if (given->consumer)
        snprintf(name, REDIS_CONSUMER_MAX, "%s/%" PRIu32, given->consumer, context->task_index);
    else
        snprintf(name, REDIS_CONSUMER_MAX, "%s/%.100s/%.100s/%" PRIu32, host, context->topology, context->component,
                 context->task_index);
}

/* --- Telling ---------------------------------------------------------------------------------------------------------------- */

static void say(redis_source *s, const char *what, const char *why) {
    char text[SAID_MOST];
    snprintf(text, sizeof text, "%s: %s: %s", s->given->redis.wire.where, what, why);
    gale_report(s->out, text);
}

/* The command in `command` is to be sent for what is there. What memory is out for is told by the next run: it is in no checkpoint that it was. */
static void send_command(redis_source *s, int64_t place) {
    int rc = s->command.failed ? GALE_NO_MEMORY
                               : redis_writer_add(&s->teller, (uint64_t)place, s->command.data, s->command.size);
    s->command.failed = false;
    if (rc < 0) say(s, "an end is not told", gale_error_text(rc));
}

static void tell(redis_source *s, int64_t place, redis_page *page) {
    page->state = REDIS_ANSWERED;
    s->command.size = 0;
    s->ops->tell(s->user, page, &s->command);
    send_command(s, place);
}

static void write_letter(redis_source *s, int64_t place, redis_page *page, const gale_answered *answered) {
    page->state = REDIS_LETTER;
    s->command.size = 0;
    s->ops->letter(s->user, page, answered, &s->command);
    send_command(s, place);
}

static void answered(void *user, const gale_answered *answered) {
    redis_source *s = user;
    redis_page *page = redis_book_at(&s->book, answered->place);
    if (!page) return;
    if (answered->failure && s->given->letters)
        write_letter(s, answered->place, page, answered);
    else
        tell(s, answered->place, page);
}

static void be_taken(void *user, uint64_t id, const redis_reply *reply) {
    redis_source *s = user;
    redis_page *page = redis_book_at(&s->book, (int64_t)id);
    (void)reply;
    if (page && page->state == REDIS_LETTER) {
        tell(s, (int64_t)id, page);
    } else if (page && s->keeps) {
        page->state = REDIS_TOLD;
        s->told++;
    } else
        redis_book_remove(&s->book, (int64_t)id);
}

static void remove_told(void *user, int64_t place, const redis_page *page) {
    redis_source *s = user;
    (void)page;
    redis_book_remove(&s->book, place);
}

void redis_source_keep(redis_source *s, bool keeps) {
    s->keeps = keeps;
    if (keeps || !s->told) return;
    redis_book_each(&s->book, REDIS_TOLD, remove_told, s);
    s->told = 0;
}

/* A letter that is not taken is not lost: Redis has what it is of, which the next run gets again. */
static void be_refused(void *user, uint64_t id, const char *why) {
    redis_source *s = user;
    const redis_page *page = redis_book_at(&s->book, (int64_t)id);
    bool letter = page && page->state == REDIS_LETTER;
    say(s, letter ? "a dead letter is not taken (deadLetters)" : "an end is not taken", why);
    if (!letter) redis_book_remove(&s->book, (int64_t)id);
}

static const redis_writer_ops of_teller = { be_taken, be_refused };

/* --- It --------------------------------------------------------------------------------------------------------------------- */

int redis_source_open(redis_source *s, const redis_source_settings *given, size_t emits, const gale_context *context,
                      gale_collector *out, const redis_source_ops *ops, void *user, gale_error *error) {
    gale_intake_options options = GALE_INTAKE_OPTIONS_INIT;
    const redis_window window = { WINDOW, 2 * given->redis.most + (1 << 20) };
    s->given = given;
    s->context = context;
    s->out = out;
    s->ops = ops;
    s->user = user;
    options.what = given->what;
    options.memory = given->memory;
    options.attempts = given->attempts;
    options.emits = emits;
    options.waiting = given->in_flight / 2 + 1;
    options.answered = answered;
    options.user = s;
    int rc = gale_intake_new(context, out, &options, &s->intake, error);
    if (rc < 0) return rc;
    return redis_writer_open(&s->teller, &given->redis, context, out, &window, &of_teller, s, error);
}

static void tell_rest(redis_source *s) {
    int64_t until = gale_context_now(s->context) + CLOSING_WAIT;
    while (s->teller.count && s->teller.link.ready && gale_context_now(s->context) < until)
        redis_writer_drive(&s->teller, WAIT_MS);
}

void redis_source_close(redis_source *s) {
    if (s->context) tell_rest(s);
    redis_writer_close(&s->teller);
    gale_intake_free(s->intake);
    redis_book_free(&s->book);
    redis_text_free(&s->command);
}

/* --- Rows ------------------------------------------------------------------------------------------------------------------- */

size_t redis_source_room(const redis_source *s) {
    size_t open = s->book.count - s->told;
    return gale_intake_wants(s->intake) && open < s->given->in_flight ? s->given->in_flight - open : 0;
}

int redis_source_take(redis_source *s, const gale_value *values, size_t count, uint32_t from, gale_str bytes) {
    int64_t place;
    int rc = redis_book_add(&s->book, from, bytes, &place);
    if (rc < 0) return rc;
    rc = gale_intake_take(s->intake, values, count, from, place);
    if (rc < 0) redis_book_remove(&s->book, place);
    return rc;
}

int redis_source_pass(redis_source *s, uint32_t from, gale_str bytes) {
    int64_t place;
    int rc = redis_book_add(&s->book, from, bytes, &place);
    if (rc == 0) tell(s, place, redis_book_at(&s->book, place));
    return rc;
}

int redis_source_refuse(redis_source *s, uint32_t from, gale_str bytes, const char *why) {
    char text[SAID_MOST];
    snprintf(text, sizeof text, "%s: the %s %.*s can be no tuple, and is left out: %s", s->given->redis.wire.where,
             s->given->what, (int)(bytes.size < 40 ? bytes.size : 40), bytes.data, why);
    gale_report(s->out, text);
    return redis_source_pass(s, from, bytes);
}

void redis_source_ack(redis_source *s, const uint64_t *message_ids, size_t count) {
    gale_intake_ack(s->intake, message_ids, count);
    redis_writer_flush(&s->teller);
}

void redis_source_fail(redis_source *s, uint64_t message_id, const gale_failure *failure) {
    gale_intake_fail(s->intake, message_id, failure);
    redis_writer_flush(&s->teller);
}

/* --- Checkpoints -------------------------------------------------------------------------------------------------------------- */

int redis_source_save(redis_source *s, const gale_value *about, size_t count, gale_saver *to) {
    int rc = gale_save(to, about, count);
    if (rc == 0) rc = redis_book_save(&s->book, to);
    return rc == 0 ? gale_intake_save(s->intake, to) : rc;
}

static int check_about(redis_source *s, const gale_value *about, size_t count, gale_saved *from) {
    const gale_value *values;
    size_t found;
    int rc = gale_saved_next(from, &values, &found);
    if (rc <= 0) return rc < 0 ? rc : GALE_DAMAGED;
    bool same = found == count;
    for (size_t i = 0; same && i < count; i++) same = gale_value_equal(&values[i], &about[i]);
    if (same) return 0;
    say(s, "what the last run kept is of another stream, list, group or consumer",
        "it goes on when they are as they were");
    return GALE_INVALID;
}

/* What the intake has is open. */
static void open_again(void *user, uint32_t source, int64_t place) {
    redis_source *s = user;
    redis_page *page = redis_book_at(&s->book, place);
    (void)source;
    if (page) page->state = REDIS_OPEN;
}

static void tell_again(void *user, int64_t place, const redis_page *page) {
    redis_source *s = user;
    (void)page;
    tell(s, place, redis_book_at(&s->book, place));
}

int redis_source_restore(redis_source *s, const gale_value *about, size_t count, gale_saved *from) {
    int rc = check_about(s, about, count, from);
    if (rc == 0) rc = redis_book_restore(&s->book, from);
    if (rc == 0) rc = gale_intake_restore(s->intake, from, open_again, s);
    if (rc == GALE_DAMAGED) say(s, "what the last run kept is damaged", "it cannot go on from there");
    if (rc == 0) redis_book_each(&s->book, REDIS_ANSWERED, tell_again, s);
    return rc;
}

void redis_source_committed(redis_source *s, uint64_t checkpoint) {
    gale_intake_committed(s->intake, checkpoint);
    redis_writer_flush(&s->teller);
}
