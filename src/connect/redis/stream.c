/* Entries of Redis's streams to tuples, as a consumer of a group: gale.spout.RedisStream. */
#include "connect/redis/redis.h"
#include "connect/redis/turns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct spout {
    redis_source source; /* first */
    const redis_stream_settings *given;
    redis_turns turns;
    redis_entries entries; /* of the reply that is held: what is left of it */
    bool holds, asked;
    size_t most; /* entries of a reply: fewer where they were too large together */
    redis_values values;
} spout;

/* --- The connection ----------------------------------------------------------------------------------------------------------- */

static void be_ready(void *user) {
    spout *s = user;
    redis_turns_begin(&s->turns, redis_source_now(&s->source));
    s->asked = s->holds = false;
    redis_source_hear(s);
}

static void lose(void *user) {
    spout *s = user;
    s->asked = s->holds = false;
    redis_source_keep(&s->source, false);
    if (s->source.link.too_large && s->most == 1) redis_turns_too_large(&s->turns);
    if (s->source.link.too_large) s->most = s->most > 4 ? s->most / 4 : 1;
}

static void ask(spout *s, size_t room) {
    uint64_t replies = redis_turns_ask(&s->turns, room < s->most ? room : s->most, redis_source_now(&s->source),
                                       &s->source.question);
    s->asked = replies && redis_source_ask(&s->source, replies);
    redis_source_keep(&s->source, s->asked && s->turns.turn != REDIS_NEW);
}

/* --- Entries ------------------------------------------------------------------------------------------------------------------- */

static int take(spout *s, const redis_entry *entry) {
    uint32_t stream;
    int rc = redis_turns_passed(&s->turns, entry, &stream);
    if (rc < 0) return GALE_DAMAGED;
    if (s->turns.turn != REDIS_NEW && redis_book_has(&s->source.book, stream, entry->id)) return 0;
    if (!entry->fields) return redis_source_pass(&s->source, stream, entry->id);
    const char *wrong = redis_row_values(&s->given->row, entry, s->given->streams.texts[stream], &s->values);
    if (!wrong) {
        rc = redis_source_take(&s->source, s->values.list, redis_row_size(&s->given->row), stream, entry->id);
        if (rc == 0 || rc == GALE_NO_MEMORY) return rc;
        wrong = gale_error_text(rc);
    }
    return redis_source_refuse(&s->source, stream, entry->id, wrong);
}

/* One entry of the reply that is held. What memory is out for is the consumer's already: the connection is made anew, and it comes as its own. */
static void take_held(spout *s) {
    redis_entry entry;
    int rc = redis_entries_next(&s->entries, &entry);
    if (rc > 0) {
        rc = take(s, &entry);
    } else if (rc == 0) {
        s->holds = false;
        redis_source_keep(&s->source, false);
        redis_turns_end_reply(&s->turns);
        redis_link_well(&s->source.link);
    }
    if (rc == GALE_DAMAGED)
        redis_source_nonsense(&s->source);
    else if (rc < 0)
        redis_link_fail(&s->source.link, gale_error_text(rc));
}

static void hear_reply(spout *s, const redis_reply *reply) {
    bool there = s->turns.turn == REDIS_GROUPS && redis_reply_is_wrong(reply, "BUSYGROUP");
    s->asked = s->source.link.waiting > 0;
    if (reply->kind == REDIS_WRONG && !there) {
        redis_link_refuse(&s->source.link, reply);
        return;
    }
    int rc = redis_turns_heard(&s->turns, reply, &s->entries);
    s->holds = rc == 0;
    if (rc < 0) redis_source_nonsense(&s->source);
}

/* Of own ones that are asked for by their ids: those that are open are not read again, nor one that no reply may have. */
static bool skip_named(spout *s) {
    bool too_large;
    int rc = 0;
    gale_str id = redis_turns_named(&s->turns, &too_large);
    uint32_t stream = (uint32_t)s->turns.at;
    if (!id.size) return false;
    bool has = redis_book_has(&s->source.book, stream, id);
    if (!has && !too_large) return false;
    if (!has) {
        rc = redis_source_refuse(&s->source, stream, id, "it has more bytes than a reply may have (maxReply)");
        s->most = s->given->batch;
    }
    redis_turns_skip(&s->turns);
    if (rc < 0) redis_link_fail(&s->source.link, gale_error_text(rc));
    return true;
}

/* False: there is nothing to do before there is news. */
static bool step(void *self, size_t room) {
    spout *s = self;
    if (s->holds) {
        take_held(s);
        return true;
    }
    if (!s->source.link.ready || s->turns.turn == REDIS_END) return false;
    if (!s->asked && skip_named(s)) return true;
    if (!s->asked) {
        ask(s, room);
        return s->asked;
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

/* --- What Redis is told ------------------------------------------------------------------------------------------------------- */

static void tell(void *user, const redis_page *const *pages, size_t count, redis_text *to) {
    const spout *s = user;
    redis_text_command(to, 3 + count);
    redis_text_words(to, "XACK", s->given->streams.texts[pages[0]->source], s->given->group, NULL);
    for (size_t i = 0; i < count; i++) redis_text_word(to, pages[i]->bytes, pages[i]->size);
}

/* The entry with what became of it, as an entry. */
static void letter(void *user, const redis_page *page, const gale_answered *answered, redis_text *to) {
    const spout *s = user;
    gale_value map = answered->count ? answered->values[answered->count - 1] : gale_null();
    size_t fields = map.type == GALE_TYPE_MAP ? map.size : 0;
    const char *why = answered->failure->text;
    redis_text_command(to, 9 + 2 * fields);
    redis_text_words(to, "XADD", s->given->source.letters, "*", NULL);
    for (size_t i = 0; i < fields; i++) {
        gale_str name;
        gale_value value;
        if (!gale_map_at(&map, i, &name, &value)) continue;
        redis_text_word(to, name.data, name.size);
        redis_text_word(to, value.as.string, value.size);
    }
    redis_text_words(to, "gale:from", s->given->streams.texts[page->source], "gale:id", NULL);
    redis_text_word(to, page->bytes, page->size);
    redis_text_words(to, "gale:why", why && *why ? why : gale_reason_name(answered->failure->reason), NULL);
}

static bool is_over(const void *self) {
    const spout *s = self;
    return s->turns.turn == REDIS_END && !s->holds;
}

static const char *key_of(const void *self, uint32_t from) {
    const spout *s = self;
    return s->given->streams.texts[from];
}

static const redis_source_ops of_source = {
    .link = { be_ready, redis_source_hear, NULL, lose },
    .teller = { REDIS_TOGETHER, tell, letter },
    .step = step,
    .is_over = is_over,
    .key = key_of,
};

static int begin(spout *s, const gale_context *context, gale_collector *out, gale_error *error) {
    s->most = s->given->batch;
    s->turns.given = s->given;
    s->turns.claims = s->given->claim_after && (s->given->claims || !context->durable);
    redis_source_consumer(&s->given->source, context, s->turns.consumer);
    return redis_source_open(&s->source, &s->given->source, s->given->row.count, context, out, &of_source, error);
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

enum { ABOUT = 3 };

/* What a page's number of a stream means, and whose entries they are. */
static void write_about(const spout *s, gale_value names[REDIS_STREAMS_MAX], gale_value about[ABOUT]) {
    for (size_t i = 0; i < s->given->streams.count; i++) names[i] = gale_text(s->given->streams.texts[i]);
    about[0] = gale_list(names, s->given->streams.count);
    about[1] = gale_text(s->given->group);
    about[2] = gale_text(s->turns.consumer);
}

static int spout_save(void *self, gale_saver *to) {
    spout *s = self;
    gale_value names[REDIS_STREAMS_MAX], about[ABOUT];
    write_about(s, names, about);
    return redis_source_save(&s->source, about, ABOUT, to);
}

static int spout_restore(void *self, gale_saved *from, gale_collector *out) {
    spout *s = self;
    gale_value names[REDIS_STREAMS_MAX], about[ABOUT];
    (void)out;
    write_about(s, names, about);
    return redis_source_restore(&s->source, about, ABOUT, from);
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
    .name = "redis stream",
    .open = spout_open,
    .next = redis_source_next,
    .ack_batch = redis_source_ack,
    .fail = redis_source_fail,
    .close = spout_close,
    .durable = &durable,
};

/* --- A definition ------------------------------------------------------------------------------------------------------------- */

static void free_settings(void *user) {
    redis_stream_settings *made = user;
    redis_source_settings_free(&made->source);
    redis_texts_free(&made->streams);
    redis_row_free(&made->row);
    free(made->group);
    free(made->start);
    free(made);
}

/* "0", "$", or an entry's id. */
static int check_start(const redis_stream_settings *made, gale_error *error) {
    const char *start = made->start ? made->start : "";
    size_t first = strspn(start, "0123456789");
    bool id = first && first <= 20 &&
              (!start[first] ||
               (start[first] == '-' && start[first + 1] && strspn(start + first + 1, "0123456789") <= 20 &&
                !start[first + 1 + strspn(start + first + 1, "0123456789")]));
    if (id || strcmp(start, "$") == 0) return 0;
    return gale_error_set(error, GALE_INVALID,
                          "start: '%s' is neither 0 (the beginning), nor $ (the end), nor an "
                          "entry's id, 1526985054069-0",
                          start);
}

static int check_twice(const redis_stream_settings *made, gale_error *error) {
    for (size_t i = 0; i < made->streams.count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(made->streams.texts[i], made->streams.texts[j]) == 0)
                return gale_error_set(error, GALE_INVALID, "streams: %s stands there twice", made->streams.texts[i]);
    return 0;
}

static int fill(redis_stream_settings *made, const gale_args *args, gale_error *error) {
    int rc = redis_source_settings_make(&made->source, args, error);
    if (rc == 0) rc = redis_texts_make(&made->streams, args, "streams", REDIS_STREAMS_MAX, error);
    if (rc == 0) rc = check_twice(made, error);
    if (rc == 0) rc = redis_copy(&made->group, args, "group", error);
    if (rc == 0 && !made->group) rc = gale_error_set(error, GALE_INVALID, "group: it is empty");
    if (rc == 0) rc = redis_copy(&made->start, args, "start", error);
    if (rc == 0) rc = check_start(made, error);
    if (rc == 0) rc = redis_row_make(&made->row, args, made->source.letters != NULL, error);
    made->source.what = "entry";
    made->output = (gale_output){ NULL, made->row.names };
    made->claim_after = (int64_t)(gale_args_number(args, "claimAfter") * 1000);
    made->claims = gale_args_given(args, "claimAfter");
    made->batch = (size_t)gale_args_whole(args, "batch");
    return rc;
}

int redis_make_stream(void *user, const gale_args *args, gale_spout *ret_spout, gale_error *error) {
    redis_stream_settings *made = calloc(1, sizeof *made);
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
