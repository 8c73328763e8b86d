#include "connect/redis/session.h"

#include <stdio.h>
#include <string.h>

enum { UNSENT = 1 << 20, AT_ONCE = 256 << 10, WAIT = 1000 };

static void hear(void *user) {
    redis_session *s = user;
    const redis_reply *reply;
    while ((reply = redis_link_reply(&s->link))) {
        s->heard(s->user, s->got++, reply);
        if (s->got == s->wanted) break;
    }
}

static const redis_link_ops of_link = { .heard = hear };

static bool fail(redis_session *s) {
    memcpy(s->why, s->link.wire.why, sizeof s->why);
    s->ended = s->link.wire.ended && !s->link.refused;
    redis_session_close(s);
    return false;
}

bool redis_session_begin(redis_session *s, const redis_settings *given) {
    const redis_task task = { .most = UNSENT };
    gale_error error = GALE_ERROR_INIT;
    if (s->open) return true;
    s->open = true;
    if (redis_link_open(&s->link, given, &task, &of_link, s, &error) < 0) {
        snprintf(s->why, sizeof s->why, "%.*s", (int)sizeof s->why - 1, error.text);
        redis_session_close(s);
        return false;
    }
    wire_again(&s->link.wire);
    do wire_drive(&s->link.wire, WAIT);
    while (!s->link.ready && (s->link.wire.state != WIRE_OFF || s->link.wire.at));
    return s->link.ready || fail(s);
}

bool redis_session_ask(redis_session *s, gale_str commands, uint64_t replies, redis_session_fn *heard, void *user) {
    s->ended = false;
    s->heard = heard;
    s->user = user;
    s->got = 0;
    s->wanted = replies;
    for (size_t at = 0; s->link.ready && (at < commands.size || s->got < replies);) {
        size_t size = commands.size - at < AT_ONCE ? commands.size - at : AT_ONCE;
        int rc = size ? redis_link_ask(&s->link, commands.data + at, size, at ? 0 : replies) : GALE_AGAIN;
        if (rc == 0) at += size;
        redis_link_flush(&s->link);
        if (rc == GALE_NO_MEMORY) redis_link_fail(&s->link, gale_error_text(rc));
        if (rc < 0 && s->link.ready) wire_drive(&s->link.wire, WAIT);
    }
    return s->link.ready || fail(s);
}

void redis_session_close(redis_session *s) {
    if (!s->open) return;
    redis_link_close(&s->link);
    s->open = false;
}
