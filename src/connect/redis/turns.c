#include "connect/redis/turns.h"

#include <stdio.h>
#include <string.h>

enum { EVERY_LEAST = 1000 /* ms */ };

/* --- Turns ------------------------------------------------------------------------------------------------------------------ */

static void begin_turn(redis_turns *t, redis_turn turn, const char *cursor) {
    t->turn = turn;
    t->at = 0;
    snprintf(t->cursor, sizeof t->cursor, "%s", cursor);
}

static int64_t claim_pause(const redis_turns *t) {
    int64_t every = t->given->claim_after / 2;
    return (every > EVERY_LEAST ? every : EVERY_LEAST) * GALE_MILLISECOND;
}

void redis_turns_begin(redis_turns *t, int64_t now) {
    begin_turn(t, REDIS_GROUPS, "");
    t->named[0] = '\0';
    t->claim_at = t->claims ? now : 0;
    t->again_at = now + 2 * t->given->source.redis.wire.timeout;
}

static bool is_due(int64_t at, int64_t now) {
    return at && now >= at;
}

/* New ones give way to what is due. */
static void choose(redis_turns *t, int64_t now) {
    if (t->turn != REDIS_NEW) return;
    if (is_due(t->again_at, now)) {
        t->again_at = 0;
        begin_turn(t, REDIS_OWN, "0-0");
    } else if (is_due(t->claim_at, now)) {
        t->claim_at = now + claim_pause(t);
        begin_turn(t, REDIS_CLAIM, "0-0");
    }
}

/* --- Questions -------------------------------------------------------------------------------------------------------------- */

static uint64_t ask_for_groups(const redis_turns *t, redis_text *to) {
    for (size_t i = 0; i < t->given->streams.count; i++) {
        redis_text_command(to, 6);
        redis_text_words(to, "XGROUP", "CREATE", t->given->streams.texts[i], t->given->group, t->given->start,
                         "MKSTREAM", NULL);
    }
    return t->given->streams.count;
}

static void ask_for_own(const redis_turns *t, size_t count, redis_text *to) {
    redis_text_command(to, 9);
    redis_text_words(to, "XREADGROUP", "GROUP", t->given->group, t->consumer, "COUNT", NULL);
    redis_text_number(to, (int64_t)count);
    redis_text_words(to, "STREAMS", t->given->streams.texts[t->at], t->cursor, NULL);
}

static void ask_for_name(const redis_turns *t, redis_text *to) {
    char behind[REDIS_ID_MAX + 1];
    snprintf(behind, sizeof behind, "(%s", t->cursor);
    redis_text_command(to, 7);
    redis_text_words(to, "XPENDING", t->given->streams.texts[t->at], t->given->group, behind, "+", "1", t->consumer,
                     NULL);
}

static bool wants_name(const redis_turns *t) {
    return t->turn == REDIS_OWN && t->by_one && !t->named[0];
}

static void ask_for_left(const redis_turns *t, size_t count, redis_text *to) {
    redis_text_command(to, 8);
    redis_text_words(to, "XAUTOCLAIM", t->given->streams.texts[t->at], t->given->group, t->consumer, NULL);
    redis_text_number(to, t->given->claim_after);
    redis_text_words(to, t->cursor, "COUNT", NULL);
    redis_text_number(to, (int64_t)count);
}

/* So long that the server is not taken for silent, and not beyond what is due. */
static int64_t block_for(const redis_turns *t, int64_t now) {
    int64_t block = t->given->source.redis.wire.timeout / 2;
    if (t->claim_at && t->claim_at - now < block) block = t->claim_at - now;
    if (t->again_at && t->again_at - now < block) block = t->again_at - now;
    return block > GALE_MILLISECOND ? block / GALE_MILLISECOND : 1;
}

static void ask_for_new(const redis_turns *t, size_t count, int64_t now, redis_text *to) {
    bool waits = !t->given->source.until_end;
    redis_text_command(to, 7 + (waits ? 2 : 0) + 2 * t->given->streams.count);
    redis_text_words(to, "XREADGROUP", "GROUP", t->given->group, t->consumer, "COUNT", NULL);
    redis_text_number(to, (int64_t)count);
    if (waits) {
        redis_text_words(to, "BLOCK", NULL);
        redis_text_number(to, block_for(t, now));
    }
    redis_text_words(to, "STREAMS", NULL);
    for (size_t i = 0; i < t->given->streams.count; i++) redis_text_words(to, t->given->streams.texts[i], NULL);
    for (size_t i = 0; i < t->given->streams.count; i++) redis_text_words(to, ">", NULL);
}

uint64_t redis_turns_ask(redis_turns *t, size_t count, int64_t now, redis_text *to) {
    choose(t, now);
    switch (t->turn) {
    case REDIS_GROUPS: return ask_for_groups(t, to);
    case REDIS_OWN:
        if (wants_name(t))
            ask_for_name(t, to);
        else
            ask_for_own(t, t->by_one ? 1 : count, to);
        return 1;
    case REDIS_CLAIM: ask_for_left(t, count, to); return 1;
    case REDIS_NEW: ask_for_new(t, count, now, to); return 1;
    case REDIS_END: break;
    }
    return 0;
}

/* --- Replies ---------------------------------------------------------------------------------------------------------------- */

static void next_stream(redis_turns *t, redis_turn then) {
    snprintf(t->cursor, sizeof t->cursor, "0-0");
    if (++t->at == t->given->streams.count) begin_turn(t, then, "");
}

static int hear_groups(redis_turns *t) {
    if (++t->at == t->given->streams.count) begin_turn(t, REDIS_OWN, "0-0");
    return 0;
}

/* A list of at most one: its id, its consumer, and more. */
static int hear_name(redis_turns *t, const redis_reply *reply) {
    const redis_reply *one = reply->kind == REDIS_LIST && reply->count ? &reply->items[0] : NULL;
    if (reply->kind != REDIS_LIST) return GALE_DAMAGED;
    if (!one) {
        next_stream(t, REDIS_NEW);
        t->by_one = t->turn == REDIS_OWN;
        return 0;
    }
    bool is = one->kind == REDIS_LIST && one->count && one->items[0].kind == REDIS_TEXT && one->items[0].text.size &&
              one->items[0].text.size < sizeof t->named;
    if (is) snprintf(t->named, sizeof t->named, "%s", one->items[0].text.data);
    return is ? 0 : GALE_DAMAGED;
}

/* A stream that has no more of its own says an empty list. */
static int hear_own(redis_turns *t, const redis_reply *reply, redis_entries *entries) {
    if (wants_name(t)) return hear_name(t, reply);
    t->named[0] = '\0';
    int rc = redis_entries_read(entries, reply);
    bool none = !entries->stream_count;
    if (rc == 0 && entries->stream_count == 1) {
        const redis_reply *pair = entries->streams;
        none = pair->kind == REDIS_LIST && pair->count == 2 && !pair->items[1].count;
    }
    if (rc == 0 && none) next_stream(t, REDIS_NEW);
    return rc;
}

static int hear_left(redis_turns *t, const redis_reply *reply, redis_entries *entries) {
    gale_str cursor;
    int rc = redis_entries_claimed(entries, reply, &cursor);
    if (rc < 0) return rc;
    if (cursor.size >= sizeof t->cursor) return GALE_DAMAGED;
    snprintf(t->cursor, sizeof t->cursor, "%.*s", (int)cursor.size, cursor.data);
    return 0;
}

int redis_turns_heard(redis_turns *t, const redis_reply *reply, redis_entries *entries) {
    *entries = (redis_entries){ .streams = NULL };
    switch (t->turn) {
    case REDIS_GROUPS: return hear_groups(t);
    case REDIS_OWN: return hear_own(t, reply, entries);
    case REDIS_CLAIM: return hear_left(t, reply, entries);
    default: break;
    }
    if (t->given->source.until_end && reply->kind == REDIS_NIL) begin_turn(t, REDIS_END, "");
    return redis_entries_read(entries, reply);
}

void redis_turns_too_large(redis_turns *t) {
    if (t->by_one && t->named[0]) {
        memcpy(t->too_large, t->named, sizeof t->too_large);
        t->too_large_at = t->at;
    }
    t->by_one = true;
}

gale_str redis_turns_named(const redis_turns *t, bool *ret_too_large) {
    bool is = t->turn == REDIS_OWN && t->by_one;
    *ret_too_large = is && t->at == t->too_large_at && strcmp(t->named, t->too_large) == 0;
    return (gale_str){ t->named, is ? strlen(t->named) : 0 };
}

void redis_turns_skip(redis_turns *t) {
    memcpy(t->cursor, t->named, sizeof t->cursor);
    t->named[0] = t->too_large[0] = '\0';
}

void redis_turns_end_reply(redis_turns *t) {
    if (t->turn == REDIS_CLAIM && strcmp(t->cursor, "0-0") == 0) next_stream(t, REDIS_NEW);
}

int redis_turns_passed(redis_turns *t, const redis_entry *entry, uint32_t *ret_stream) {
    size_t at = t->at;
    if (t->turn != REDIS_CLAIM) {
        for (at = 0; at < t->given->streams.count; at++) {
            const char *name = t->given->streams.texts[at];
            if (strlen(name) == entry->stream.size && memcmp(name, entry->stream.data, entry->stream.size) == 0) break;
        }
    }
    if (at >= t->given->streams.count) return GALE_NOT_FOUND;
    if (t->turn == REDIS_OWN) snprintf(t->cursor, sizeof t->cursor, "%.*s", (int)entry->id.size, entry->id.data);
    *ret_stream = (uint32_t)at;
    return 0;
}
