#include "connect/redis/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { QUESTION_MOST = 16 << 20, SAID_MOST = 600, NAME = 200 };

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

/* --- It --------------------------------------------------------------------------------------------------------------------- */

static void answered(void *user, const gale_answered *answered) {
    redis_source *s = user;
    if (answered->failure && s->given->letters)
        redis_teller_letter(&s->teller, answered->place, answered);
    else
        redis_teller_end(&s->teller, answered->place);
}

/* As Redis knows it. An element of a list has no name but itself. */
static void name_row(void *user, const gale_answered *answered, char *to, size_t size) {
    const redis_source *s = user;
    const redis_page *page = redis_book_at(&s->book, answered->place);
    if (page) redis_source_name(s, page->source, (gale_str){ page->bytes, page->size }, to, size);
}

static int open_teller(redis_source *s, gale_error *error) {
    const redis_teller_options options = { &s->given->redis, s->context,      s->out, s->given->in_flight,
                                           &s->health,       &s->ops->teller, s };
    return redis_teller_open(&s->teller, &s->book, &options, error);
}

static int open_link(redis_source *s, gale_error *error) {
    const redis_task task = { .context = s->context, .out = s->out, .most = QUESTION_MOST, .health = &s->health };
    return redis_link_open(&s->link, &s->given->redis, &task, &s->ops->link, s, error);
}

int redis_source_open(redis_source *s, const redis_source_settings *given, size_t emits, const gale_context *context,
                      gale_collector *out, const redis_source_ops *ops, gale_error *error) {
    gale_intake_options options = GALE_INTAKE_OPTIONS_INIT;
    s->given = given;
    s->context = context;
    s->out = out;
    s->ops = ops;
    options.what = given->what;
    options.memory = given->memory;
    options.attempts = given->attempts;
    options.emits = emits;
    options.waiting = given->in_flight / 2 + 1;
    options.answered = answered;
    options.name = name_row;
    options.user = s;
    int rc = gale_intake_new(context, out, &options, &s->intake, error);
    if (rc == 0) rc = open_teller(s, error);
    return rc == 0 ? open_link(s, error) : rc;
}

void redis_source_close(redis_source *s) {
    redis_link_close(&s->link);
    redis_teller_close(&s->teller);
    gale_intake_free(s->intake);
    redis_book_free(&s->book);
    redis_text_free(&s->question);
}

/* --- Asking ----------------------------------------------------------------------------------------------------------------- */

int64_t redis_source_now(const redis_source *s) {
    return gale_context_now(s->context);
}

bool redis_source_ask(redis_source *s, uint64_t replies) {
    int rc = s->question.failed ? GALE_NO_MEMORY
                                : redis_link_ask(&s->link, s->question.data, s->question.size, replies);
    s->question.size = 0;
    s->question.failed = false;
    if (rc < 0)
        redis_link_fail(&s->link, gale_error_text(rc));
    else
        redis_link_flush(&s->link);
    return rc == 0;
}

void redis_source_nonsense(redis_source *s) {
    redis_link_fail(&s->link, "it answers what was not asked for");
}

/* `next`, which is called behind this, takes the replies. */
void redis_source_hear(void *self) {
    redis_link_pause(&((redis_source *)self)->link, true);
}

/* How many more it wants now; 0: it is full. */
static size_t room(const redis_source *s) {
    size_t open = s->book.count - s->teller.told;
    return gale_intake_wants(s->intake) && open < s->given->in_flight ? s->given->in_flight - open : 0;
}

int redis_source_next(void *self, gale_collector *out, gale_wait *wait) {
    redis_source *s = self;
    size_t more;
    (void)out;
    while ((more = room(s)) && s->ops->step(self, more)) continue;
    if (more && s->link.ready) redis_link_pause(&s->link, false);
    redis_teller_settle(&s->teller);
    int next = gale_intake_next(s->intake, wait);
    return next == GALE_NEXT_WATCHED && s->ops->is_over(self) ? GALE_NEXT_DONE : next;
}

void redis_source_keep(redis_source *s, bool keeps) {
    redis_teller_keep(&s->teller, keeps);
}

/* --- Rows ------------------------------------------------------------------------------------------------------------------- */

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
    if (rc == 0) redis_teller_end(&s->teller, place);
    return rc;
}

void redis_source_name(const redis_source *s, uint32_t from, gale_str bytes, char *to, size_t size) {
    enum { SHOWN = 40 };
    int shown = bytes.size < SHOWN ? (int)bytes.size : SHOWN;
    snprintf(to, size, "%s %.*s%s of %.100s", s->given->what, shown, bytes.data, bytes.size > SHOWN ? "..." : "",
             s->ops->key(s, from));
}

int redis_source_refuse(redis_source *s, uint32_t from, gale_str bytes, const char *why) {
    char text[SAID_MOST], name[NAME];
    redis_source_name(s, from, bytes, name, sizeof name);
    snprintf(text, sizeof text, "%s: %s can be no tuple, and is left out: %s", s->given->redis.wire.where, name, why);
    gale_report(s->out, text);
    return redis_source_pass(s, from, bytes);
}

void redis_source_ack(void *self, const uint64_t *message_ids, size_t count) {
    redis_source *s = self;
    gale_intake_ack(s->intake, message_ids, count);
    redis_teller_settle(&s->teller);
}

void redis_source_fail(void *self, uint64_t message_id, const gale_failure *failure) {
    redis_source *s = self;
    gale_intake_fail(s->intake, message_id, failure);
    redis_teller_settle(&s->teller);
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
    redis_teller_say(&s->teller, "what the last run kept is of another stream, list, group or consumer",
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
    redis_teller_end(&s->teller, place);
}

int redis_source_restore(redis_source *s, const gale_value *about, size_t count, gale_saved *from) {
    int rc = check_about(s, about, count, from);
    if (rc == 0) rc = redis_book_restore(&s->book, from);
    if (rc == 0) rc = gale_intake_restore(s->intake, from, open_again, s);
    if (rc == GALE_DAMAGED)
        redis_teller_say(&s->teller, "what the last run kept is damaged", "it cannot go on from there");
    if (rc == 0) redis_book_each(&s->book, REDIS_ANSWERED, tell_again, s);
    return rc;
}

void redis_source_committed(void *self, uint64_t checkpoint) {
    redis_source *s = self;
    gale_intake_committed(s->intake, checkpoint);
    redis_teller_flush(&s->teller);
}
