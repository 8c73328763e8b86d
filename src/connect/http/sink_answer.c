/* What becomes of a request's tuples. */
#include "connect/http/bulk.h"
#include "connect/http/sink.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- Words ------------------------------------------------------------------------------------------------------------ */

void http_sink_unwell(http_sink *s, const char *words) {
    char text[GALE_FAILURE_TEXT];
    snprintf(text, sizeof text, "http %s: %s", s->shown, words);
    s->unwell = true;
    gale_health(s->out, text);
}

static void well(http_sink *s) {
    if (!s->unwell) return;
    s->unwell = false;
    gale_health(s->out, NULL);
}

/* --- Ends ------------------------------------------------------------------------------------------------------------- */

static void leave(http_sink *s, http_batch *b) {
    s->hung -= b->hung;
    for (uint32_t i = 0; i < HTTP_FLIGHT_MAX; i++) {
        if (s->flying[i] != b) continue;
        s->flying[i] = NULL;
        s->flying_count--;
    }
    http_batches_free(&s->batches, b);
}

static void ack_all(http_sink *s, http_batch *b) {
    for (size_t i = 0; i < b->count; i++) (void)gale_dispatch_ack(s->dispatch, b->items[i].id);
    leave(s, b);
}

void http_sink_fail(http_sink *s, http_batch *b, int32_t reason, const char *words) {
    for (size_t i = 0; i < b->count; i++) (void)gale_dispatch_fail(s->dispatch, b->items[i].id, reason, words);
    leave(s, b);
}

/* What a server has said twice it says again: a pause grows, and is no shorter than the server wants it. */
void http_sink_pause(http_sink *s, http_batch *b, int64_t least, const char *words) {
    int64_t now = gale_context_now(s->context), pause = gale_backoff_next(&b->backoff, s->context);
    http_sink_unwell(s, words);
    if (s->given->attempts && b->attempts >= s->given->attempts) {
        http_sink_fail(s, b, GALE_REASON_FAILED, words);
        return;
    }
    b->until = now + (pause > least ? pause : least);
    if (least > 0 && now + least > s->not_before) s->not_before = now + least;
}

/* --- Answers ---------------------------------------------------------------------------------------------------------- */

/* A token that is refused may be one that has been replaced: its file is read before the next attempt. */
static bool is_refused_access(const http_sink *s, long status) {
    return status == 401 || status == 407 || (status == 403 && s->given->access.signing == HTTP_SIGN_S3);
}

static bool is_not_now(long status) {
    return status == 408 || status == 425 || status == 429 || status >= 500;
}

static void read_secrets_again(http_sink *s) {
    gale_error error = GALE_ERROR_INIT;
    if (http_secrets_read(&s->secrets, &s->given->access, &error) < 0) gale_report(s->out, error.text);
}

typedef struct settling {
    http_sink *sink;
    http_batch *batch;
    size_t left;
    char words[HTTP_WORDS];
} settling;

static void settle_document(void *user, size_t index, const http_bulk_item *item) {
    settling *w = user;
    http_item *one = &w->batch->items[index];
    if (is_not_now((long)item->status)) {
        w->left++;
        snprintf(w->words, sizeof w->words, "%" PRId64 " for a document: %.100s", item->status, item->why);
        return;
    }
    char words[HTTP_WORDS + HTTP_BULK_WHY];
    snprintf(words, sizeof words, "%" PRId64 ": %s", item->status, item->why);
    http_secrets_hide(&w->sink->secrets, words);
    if (item->status >= 200 && item->status < 300)
        (void)gale_dispatch_ack(w->sink->dispatch, one->id);
    else
        (void)gale_dispatch_fail(w->sink->dispatch, one->id, GALE_REASON_REJECTED, words);
    one->id = 0;
}

/* Those that are left are sent again, without the others. */
static void settle_bulk(http_sink *s, http_batch *b) {
    const http_exchange *x = b->exchange;
    settling w = { s, b, 0, "" };
    gale_str answer = { x->answer.data ? x->answer.data : "", x->answer.size };
    if (x->too_long || !http_bulk_read(answer, b->count, settle_document, &w)) {
        http_sink_pause(s, b, 0, x->too_long ? "the answer has more than maxAnswer" : "the answer is not one to _bulk");
        return;
    }
    if (!w.left) {
        well(s);
        leave(s, b);
        return;
    }
    http_secrets_hide(&s->secrets, w.words);
    if (w.left < b->count) b->backoff = (gale_backoff){ 0 }; /* it gets on */
    http_batch_shrink(b);
    http_sink_pause(s, b, http_exchange_retry_after(x), w.words);
}

static void settle_answer(http_sink *s, http_batch *b, long status, const char *words) {
    if (status < 300 && s->given->document.format == HTTP_BULK) {
        settle_bulk(s, b);
    } else if (status < 300) {
        well(s);
        ack_all(s, b);
    } else if (is_refused_access(s, status)) {
        read_secrets_again(s);
        http_sink_pause(s, b, 0, words);
    } else if (status == 413 && http_batches_halve(&s->batches, b)) {
        b->until = gale_context_now(s->context);
    } else if (is_not_now(status)) {
        http_sink_pause(s, b, http_exchange_retry_after(b->exchange), words);
    } else {
        well(s);
        http_sink_fail(s, b, GALE_REASON_REJECTED, words);
    }
}

/* The server, or a proxy before it, took the request and hung up. */
static bool has_hung_up(CURLcode code) {
    return code == CURLE_GOT_NOTHING || code == CURLE_RECV_ERROR || code == CURLE_SEND_ERROR || code == CURLE_HTTP2 ||
           code == CURLE_HTTP2_STREAM;
}

/* A server that is there answers others meanwhile, or the probe: then this request is why. Several tuples are halved, as of 413; one is rejected when it
 * had as many connections as it may (gale.sink.losses). */
static void lose(http_sink *s, http_batch *b, const char *words) {
    bool blamed = s->answers > b->answers;
    s->hung += !b->hung;
    b->hung = true;
    b->answers = s->answers;
    if (blamed && b->count == 1 && gale_dispatch_blame(s->dispatch, b->items[0].id, words)) {
        leave(s, b);
        return;
    }
    if (blamed && b->count > 1) (void)http_batches_halve(&s->batches, b);
    http_sink_probe(s, b);
    http_sink_pause(s, b, 0, words);
}

void http_sink_settle(http_sink *s, http_batch *b, CURLcode code) {
    char words[HTTP_WORDS];
    bool answered = http_exchange_is_answered(b->exchange, code);
    http_exchange_words(b->exchange, code, &s->secrets, words);
    s->answers += answered;
    if (answered)
        settle_answer(s, b, http_exchange_status(b->exchange), words);
    else if (code == CURLE_URL_MALFORMAT)
        http_sink_fail(s, b, GALE_REASON_REJECTED, words);
    else if (has_hung_up(code))
        lose(s, b, words);
    else
        http_sink_pause(s, b, 0, words);
}
