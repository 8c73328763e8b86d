#include "connect/redis/teller.h"

#include <stdio.h>

enum { WINDOW = 10000, WAIT_MS = 50, SAID_MOST = 600 };
#define CLOSING_WAIT (5 * GALE_SECOND)

#define GATHER                                                                                                         \
    (5 *                                                                                                               \
     GALE_MILLISECOND) /* so long an end waits for others, which cost the server little more together than it alone */

void redis_teller_say(redis_teller *t, const char *what, const char *why) {
    char text[SAID_MOST];
    snprintf(text, sizeof text, "%s: %s: %s", t->options.given->wire.where, what, why);
    gale_report(t->options.out, text);
}

/* --- Commands --------------------------------------------------------------------------------------------------------------- */

/* The command in `command` is to be sent for what is there. What memory is out for is told by the next run: it is in no checkpoint that it was. */
static void send_command(redis_teller *t, int64_t place) {
    int rc = t->command.failed ? GALE_NO_MEMORY
                               : redis_writer_add(&t->writer, (uint64_t)place, t->command.data, t->command.size);
    t->command.failed = false;
    if (rc < 0) redis_teller_say(t, "an end is not told", gale_error_text(rc));
}

/* The first that is in no command yet, with others of its source, in their order: they are linked by `with`. */
static void send_some(redis_teller *t, size_t first) {
    const redis_page *pages[REDIS_TOGETHER];
    redis_page *last = NULL;
    int64_t head = t->gathered[first];
    size_t count = 0;
    for (size_t i = first; i < t->count && count < t->options.ops->together; i++) {
        redis_page *page = redis_book_at(t->book, t->gathered[i]);
        if (!page || (last && page->source != last->source)) continue;
        page->with = 0;
        if (last) last->with = t->gathered[i];
        pages[count++] = last = page;
        t->gathered[i] = 0;
    }
    if (!count) return;
    t->command.size = 0;
    t->options.ops->end(t->options.user, pages, count, &t->command);
    send_command(t, head);
}

static void send_gathered(redis_teller *t) {
    for (size_t i = 0; i < t->count; i++)
        if (t->gathered[i]) send_some(t, i);
    t->count = 0;
}

void redis_teller_end(redis_teller *t, int64_t place) {
    redis_page *page = redis_book_at(t->book, place);
    if (!page) return;
    page->state = REDIS_ANSWERED;
    if (t->count == REDIS_TOGETHER) send_gathered(t);
    t->gathered[t->count++] = place;
}

void redis_teller_letter(redis_teller *t, int64_t place, const gale_answered *answered) {
    redis_page *page = redis_book_at(t->book, place);
    if (!page) return;
    page->state = REDIS_LETTER;
    page->with = 0;
    t->command.size = 0;
    t->options.ops->letter(t->options.user, page, answered, &t->command);
    send_command(t, place);
}

void redis_teller_flush(redis_teller *t) {
    send_gathered(t);
    redis_writer_flush(&t->writer);
}

/* Now, where it is an eighth of what may be open. */
void redis_teller_settle(redis_teller *t) {
    if (t->count > t->options.in_flight / 8) send_gathered(t);
    redis_writer_flush(&t->writer);
    if (!t->count || t->waits) return;
    int64_t soon = gale_context_now(t->options.context) + GATHER;
    t->waits = gale_watch_set(t->options.out, t->timer, 0, soon) == 0;
    if (!t->waits) redis_teller_flush(t);
}

static int hear_timer(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    redis_teller *t = user;
    (void)out, (void)watch, (void)events;
    t->waits = false;
    redis_teller_flush(t);
    return 0;
}

/* --- Replies ---------------------------------------------------------------------------------------------------------------- */

static void be_told(redis_teller *t, int64_t place, redis_page *page) {
    if (t->keeps) {
        page->state = REDIS_TOLD;
        t->told++;
    } else
        redis_book_remove(t->book, place);
}

static void be_taken(void *user, uint64_t id, const redis_reply *reply) {
    redis_teller *t = user;
    int64_t place = (int64_t)id, next;
    (void)reply;
    for (redis_page *page; (page = redis_book_at(t->book, place)); place = next) {
        next = page->with;
        if (page->state == REDIS_LETTER)
            redis_teller_end(t, place);
        else
            be_told(t, place, page);
    }
    if (t->count) redis_teller_settle(t);
}

/* A letter that is not taken is not lost: Redis has what it is of, which the next run gets again. */
static void be_refused(void *user, uint64_t id, const char *why) {
    redis_teller *t = user;
    const redis_page *page = redis_book_at(t->book, (int64_t)id);
    bool letter = page && page->state == REDIS_LETTER;
    redis_teller_say(t, letter ? "a dead letter is not taken (deadLetters)" : "an end is not taken", why);
    if (letter) return;
    for (int64_t place = (int64_t)id, next; (page = redis_book_at(t->book, place)); place = next) {
        next = page->with;
        redis_book_remove(t->book, place);
    }
}

static const redis_writer_ops of_writer = { .taken = be_taken, .refused = be_refused };

static void remove_told(void *user, int64_t place, const redis_page *page) {
    (void)page;
    redis_book_remove(((redis_teller *)user)->book, place);
}

void redis_teller_keep(redis_teller *t, bool keeps) {
    t->keeps = keeps;
    if (keeps || !t->told) return;
    redis_book_each(t->book, REDIS_TOLD, remove_told, t);
    t->told = 0;
}

/* --- It --------------------------------------------------------------------------------------------------------------------- */

int redis_teller_open(redis_teller *t, redis_book *book, const redis_teller_options *options, gale_error *error) {
    const redis_task task = { .context = options->context,
                              .out = options->out,
                              .most = 2 * options->given->most + (1 << 20),
                              .health = options->health,
                              .who = 1,
                              .what = ", answers" };
    gale_watch_options timer = GALE_WATCH_OPTIONS_INIT;
    t->options = *options;
    t->book = book;
    timer.always = true;
    timer.call = hear_timer;
    timer.user = t;
    int rc = gale_watch_new(options->out, &timer, &t->timer);
    if (rc < 0) return gale_error_set(error, rc, "redis: a timer cannot be made: %s", gale_error_text(rc));
    return redis_writer_open(&t->writer, options->given, &task, WINDOW, &of_writer, t, error);
}

static void tell_rest(redis_teller *t) {
    int64_t until = gale_context_now(t->options.context) + CLOSING_WAIT;
    redis_teller_flush(t);
    while (t->writer.count && t->writer.link.ready && gale_context_now(t->options.context) < until) {
        redis_writer_drive(&t->writer, WAIT_MS);
        redis_teller_flush(t);
    }
}

void redis_teller_close(redis_teller *t) {
    if (t->options.context) tell_rest(t);
    if (t->timer) (void)gale_watch_free(t->options.out, t->timer);
    redis_writer_close(&t->writer);
    redis_text_free(&t->command);
}
