/* Elements of a Redis list to tuples, by a second list that has them until they are answered: gale.spout.RedisList.
 *
 *      list --LMOVE--> processing --emitted, answered--> LREM
 *                          '--a run that was killed--> read first by the next one (LRANGE)
 */
#include "connect/redis/redis.h"
#include "connect/redis/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = 1024 };

/* A definition's block. */
typedef struct settings {
    redis_source_settings source; /* first */
    char *list, *processing;      /* processing: NULL, it is made of the list and the consumer */
    const char *from;             /* "RIGHT" or "LEFT" */
    size_t batch;
    gale_output output;
} settings;

typedef enum turn { SCAN, MOVE, WAIT, END } turn;

typedef struct spout {
    redis_source source; /* first */
    const settings *given;
    char processing[NAME_MAX_BYTES];
    turn turn;
    size_t asked;             /* replies that are to come */
    const redis_reply *found; /* of SCAN: what is left of it is its first `left` items */
    size_t left;
    bool dry;         /* there was no element for one of the questions */
    int64_t again_at; /* what is in `processing` is read once more; 0: not */
} spout;

/* --- Questions ---------------------------------------------------------------------------------------------------------------- */

static void ask_for_left(spout *s) {
    redis_text_command(&s->source.question, 4);
    redis_text_words(&s->source.question, "LRANGE", s->processing, "0", "-1", NULL);
    s->asked = 1;
    redis_source_keep(&s->source, true);
}

static void ask_for_many(spout *s, size_t room) {
    s->asked = room < s->given->batch ? room : s->given->batch;
    for (size_t i = 0; i < s->asked; i++) {
        redis_text_command(&s->source.question, 5);
        redis_text_words(&s->source.question, "LMOVE", s->given->list, s->processing, s->given->from, "LEFT", NULL);
    }
}

/* So long that the server is not taken for silent. */
static void ask_for_next(spout *s) {
    char seconds[32];
    int64_t block = s->given->source.redis.wire.timeout / 2;
    if (s->again_at && s->again_at - redis_source_now(&s->source) < block)
        block = s->again_at - redis_source_now(&s->source);
    if (block < 10 * GALE_MILLISECOND) block = 10 * GALE_MILLISECOND;
    snprintf(seconds, sizeof seconds, "%.3f", (double)block / (double)GALE_SECOND);
    redis_text_command(&s->source.question, 6);
    redis_text_words(&s->source.question, "BLMOVE", s->given->list, s->processing, s->given->from, "LEFT", seconds,
                     NULL);
    s->asked = 1;
}

static void ask(spout *s, size_t room) {
    s->dry = false;
    if (s->again_at && redis_source_now(&s->source) >= s->again_at) {
        s->again_at = 0;
        s->turn = SCAN;
    }
    if (s->turn == SCAN)
        ask_for_left(s);
    else if (s->turn == MOVE)
        ask_for_many(s, room);
    else
        ask_for_next(s);
    if (!redis_source_ask(&s->source, s->asked)) s->asked = 0;
}

/* --- The connection ----------------------------------------------------------------------------------------------------------- */

static void forget(void *user) {
    spout *s = user;
    s->asked = 0;
    s->found = NULL;
    s->left = 0;
    redis_source_keep(&s->source, false);
}

/* A question of a connection that was lost may be answered by the server after all: so there is another look, a while later. */
static void be_ready(void *user) {
    spout *s = user;
    forget(s);
    s->turn = SCAN;
    s->again_at = redis_source_now(&s->source) + 2 * s->given->source.redis.wire.timeout;
    redis_source_hear(s);
}

/* --- Elements ----------------------------------------------------------------------------------------------------------------- */

/* What memory is out for is in `processing` already: it is found there by the next connection. */
static void take(spout *s, gale_str bytes) {
    gale_value value = gale_text_or_bytes(bytes.data, bytes.size);
    int rc = redis_source_take(&s->source, &value, 1, 0, bytes);
    if (rc < 0 && rc != GALE_NO_MEMORY) rc = redis_source_refuse(&s->source, 0, bytes, gale_error_text(rc));
    if (rc < 0) redis_link_fail(&s->source.link, gale_error_text(rc));
}

/* The oldest is the last. */
static void take_found(spout *s) {
    gale_str bytes = s->found[--s->left].text;
    if (!redis_book_mark(&s->source.book, 0, bytes)) take(s, bytes);
    if (!s->left) redis_source_keep(&s->source, false);
}

static bool is_list_of_texts(const redis_reply *reply) {
    if (reply->kind != REDIS_LIST) return false;
    for (size_t i = 0; i < reply->count; i++)
        if (reply->items[i].kind != REDIS_TEXT) return false;
    return true;
}

static void hear_left(spout *s, const redis_reply *reply) {
    if (!is_list_of_texts(reply)) {
        redis_source_nonsense(&s->source);
        return;
    }
    redis_book_begin_round(&s->source.book);
    s->found = reply->items;
    s->left = reply->count;
    s->turn = MOVE;
    if (!s->left) redis_source_keep(&s->source, false);
}

/* While there are some they are moved many at once; then the next one is waited for. */
static void hear_moved(spout *s, const redis_reply *reply) {
    if (reply->kind == REDIS_TEXT)
        take(s, reply->text);
    else if (reply->kind == REDIS_NIL)
        s->dry = true;
    else
        redis_source_nonsense(&s->source);
    if (s->asked || s->turn == SCAN) return;
    s->turn = !s->dry ? MOVE : s->given->source.until_end ? END : WAIT;
}

static void hear_reply(spout *s, const redis_reply *reply) {
    s->asked--;
    if (reply->kind == REDIS_WRONG) {
        redis_link_refuse(&s->source.link, reply);
        return;
    }
    redis_link_well(&s->source.link);
    if (s->turn == SCAN)
        hear_left(s, reply);
    else
        hear_moved(s, reply);
}

/* False: there is nothing to do before there is news. */
static bool step(void *self, size_t room) {
    spout *s = self;
    if (s->left) {
        take_found(s);
        return true;
    }
    if (!s->source.link.ready || s->turn == END) return false;
    if (!s->asked) {
        ask(s, room);
        return s->asked > 0;
    }
    const redis_reply *reply = redis_link_reply(&s->source.link);
    if (reply) hear_reply(s, reply);
    return reply != NULL;
}

/* --- A task ------------------------------------------------------------------------------------------------------------------- */

static void spout_close(void *self) {
    spout *s = self;
    redis_source_close(&s->source);
    free(s);
}

/* LREM is of one. */
static void tell(void *user, const redis_page *const *pages, size_t count, redis_text *to) {
    const spout *s = user;
    (void)count;
    redis_text_command(to, 4);
    redis_text_words(to, "LREM", s->processing, "-1", NULL);
    redis_text_word(to, pages[0]->bytes, pages[0]->size);
}

static void letter(void *user, const redis_page *page, const gale_answered *answered, redis_text *to) {
    const spout *s = user;
    (void)answered;
    redis_text_command(to, 3);
    redis_text_words(to, "RPUSH", s->given->source.letters, NULL);
    redis_text_word(to, page->bytes, page->size);
}

static bool is_over(const void *self) {
    const spout *s = self;
    return s->turn == END && !s->left;
}

static const char *key_of(const void *self, uint32_t from) {
    const spout *s = self;
    (void)from;
    return s->given->list;
}

static const redis_source_ops of_source = {
    .link = { be_ready, redis_source_hear, NULL, forget },
    .teller = { 1, tell, letter },
    .step = step,
    .is_over = is_over,
    .key = key_of,
};

static void name_processing(spout *s, const gale_context *context) {
    char consumer[REDIS_CONSUMER_MAX];
    redis_source_consumer(&s->given->source, context, consumer);
    snprintf(s->processing, sizeof s->processing, "%.500s:%s",
             s->given->processing ? s->given->processing : s->given->list, consumer);
}

static int begin(spout *s, const gale_context *context, gale_collector *out, gale_error *error) {
    name_processing(s, context);
    return redis_source_open(&s->source, &s->given->source, 1, context, out, &of_source, error);
}

static int spout_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    gale_error error = GALE_ERROR_INIT;
    spout *s = calloc(1, sizeof *s);
    if (!s) return GALE_NO_MEMORY;
    s->given = user;
    int rc = begin(s, context, out, &error);
    if (rc < 0) {
        gale_report(out, error.text);
        spout_close(s);
        return rc;
    }
    gale_remember(out);
    *ret_self = s;
    return 0;
}

/* --- Checkpoints -------------------------------------------------------------------------------------------------------------- */

static int spout_save(void *self, gale_saver *to) {
    spout *s = self;
    const gale_value about[] = { gale_text(s->given->list), gale_text(s->processing) };
    return redis_source_save(&s->source, about, 2, to);
}

static int spout_restore(void *self, gale_saved *from, gale_collector *out) {
    spout *s = self;
    const gale_value about[] = { gale_text(s->given->list), gale_text(s->processing) };
    (void)out;
    return redis_source_restore(&s->source, about, 2, from);
}

static const gale_durable_ops durable = {
    .size = sizeof durable,
    .version = 1,
    .save = spout_save,
    .restore = spout_restore,
    .committed = redis_source_committed,
};

static const gale_spout_ops ops = {
    .size = sizeof ops,
    .name = "redis list",
    .open = spout_open,
    .next = redis_source_next,
    .ack_batch = redis_source_ack,
    .fail = redis_source_fail,
    .close = spout_close,
    .durable = &durable,
};

/* --- A definition ------------------------------------------------------------------------------------------------------------- */

static void free_settings(void *user) {
    settings *made = user;
    redis_source_settings_free(&made->source);
    free(made->list);
    free(made->processing);
    free(made);
}

static int check_name(const char *parameter, const char *name, gale_error *error) {
    if (!name || strlen(name) <= 500) return 0;
    return gale_error_set(error, GALE_INVALID, "%s: a key has at most 500 bytes here", parameter);
}

static int fill(settings *made, const gale_args *args, gale_error *error) {
    int rc = redis_source_settings_make(&made->source, args, error);
    if (rc == 0) rc = redis_copy(&made->list, args, "list", error);
    if (rc == 0 && !made->list) rc = gale_error_set(error, GALE_INVALID, "list: it is empty");
    if (rc == 0) rc = redis_copy(&made->processing, args, "processing", error);
    if (rc == 0) rc = check_name("list", made->list, error);
    if (rc == 0) rc = check_name("processing", made->processing, error);
    made->source.what = "element";
    made->from = strcmp(gale_args_text(args, "from"), "left") == 0 ? "LEFT" : "RIGHT";
    made->batch = (size_t)gale_args_whole(args, "batch");
    made->output = (gale_output){ NULL, "value" };
    return rc;
}

int redis_make_list(void *user, const gale_args *args, gale_spout *ret_spout, gale_error *error) {
    settings *made = calloc(1, sizeof *made);
    (void)user;
    if (!made) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    int rc = fill(made, args, error);
    if (rc < 0) {
        free_settings(made);
        return rc;
    }
    *ret_spout = (gale_spout){ .size = sizeof *ret_spout,
                               .ops = &ops,
                               .user = made,
                               .free_user = free_settings,
                               .outputs = &made->output,
                               .output_count = 1 };
    return 0;
}
