/* Tuples to requests: gale.bolt.HttpSink. A tuple is held until the server has taken its request. */
#include "connect/http/sink.h"

#include "connect/http/http.h"
#include "connect/http/sign.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a tuple takes of its way beside its document. */
enum { ITEM_COST = 512, KEPT = 8 << 10 };

/* --- A request -------------------------------------------------------------------------------------------------------- */

static int add_headers(const http_sink *s, const http_batch *b, http_exchange *x) {
    char name[HTTP_REQUEST_NAME];
    int rc = http_access_apply(&s->given->access, &s->secrets, x->easy, &x->headers);
    if (rc == 0) rc = http_header_add(&x->headers, "Content-Type", s->given->content_type);
    http_batch_name(b, name);
    /* What is sent again of a bulk is not the same request. */
    if (rc == 0 && s->given->document.format != HTTP_BULK) rc = http_header_add(&x->headers, "Idempotency-Key", name);
    struct curl_slist *all = rc == 0 ? curl_slist_append(x->headers, "Expect:") : NULL;
    if (!all) return GALE_NO_MEMORY;
    x->headers = all;
    return 0;
}

static int sign(const http_sink *s, const http_exchange *x, const char *url, gale_str body,
                struct curl_slist **headers) {
    gale_clock wall = gale_clock_wall();
    const http_signed what = { s->given->method, url, body.data, body.size, wall.now(wall.user) / GALE_SECOND };
    (void)x;
    return http_sign(&s->given->access, &s->secrets, &what, headers);
}

static int set_request(const http_sink *s, http_batch *b, http_exchange *x, const char *url) {
    gale_str body;
    int rc = http_batch_form(b, s->given->document.format, &body);
    if (rc == 0) rc = add_headers(s, b, x);
    if (rc == 0) rc = sign(s, x, url, body, &x->headers);
    if (rc < 0) return rc;
    curl_easy_setopt(x->easy, CURLOPT_URL, url);
    curl_easy_setopt(x->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.size);
    curl_easy_setopt(x->easy, CURLOPT_POSTFIELDS, body.data);
    curl_easy_setopt(x->easy, CURLOPT_CUSTOMREQUEST, s->given->method);
    curl_easy_setopt(x->easy, CURLOPT_HTTPHEADER, x->headers);
    return 0;
}

static int make_url(const http_sink *s, const http_batch *b, http_buffer *url, char *why, size_t size) {
    char name[HTTP_REQUEST_NAME];
    http_batch_name(b, name);
    int rc = http_template_write(s->given->access.url, gale_dispatch_tuple(s->dispatch, b->items[0].id), name, url, why,
                                 size);
    return rc == 0 && url->failed ? GALE_NO_MEMORY : rc;
}

/* The answer to a bulk is read as a whole, of others a few words. */
static http_exchange *new_exchange(const http_sink *s, http_batch *b) {
    bool bulk = s->given->document.format == HTTP_BULK;
    return http_exchange_new(b, bulk ? (size_t)s->given->most_answer : KEPT, s->given->most_answer);
}

static void ask(http_sink *s, http_batch *b) {
    http_buffer url = { .data = NULL };
    char why[GALE_FAILURE_TEXT] = "out of memory";
    http_exchange_free(b->exchange);
    b->exchange = new_exchange(s, b);
    int rc = b->exchange ? make_url(s, b, &url, why, sizeof why) : GALE_NO_MEMORY;
    if (rc == 0) rc = set_request(s, b, b->exchange, url.data);
    if (rc == 0) rc = http_client_start(&s->client, b->exchange->easy);
    http_buffer_fini(&url);
    b->until = 0;
    b->attempts += b->attempts < UINT32_MAX;
    if (rc == GALE_INVALID)
        http_sink_fail(s, b, GALE_REASON_REJECTED, why);
    else if (rc < 0)
        http_sink_pause(s, b, 0, gale_error_text(rc));
}

/* --- What may go ------------------------------------------------------------------------------------------------------ */

/* Those that the server hung up on let others go meanwhile: these show whether it is there. */
static bool has_room(const http_sink *s) {
    uint32_t most = s->given->flight + s->hung;
    return s->flying_count < (most < HTTP_FLIGHT_MAX ? most : HTTP_FLIGHT_MAX);
}

static uint32_t free_place(const http_sink *s) {
    uint32_t i = 0;
    while (i < HTTP_FLIGHT_MAX && s->flying[i]) i++;
    return i;
}

/* In a durable run with `once` a batch is closed by the checkpoint that has it. */
static bool waits_for_checkpoint(const http_sink *s) {
    return s->given->once && s->context->durable && !s->ending;
}

void http_sink_close(http_sink *s, http_batch *b) {
    http_batches_close(&s->batches, b);
    b->kept = !waits_for_checkpoint(s);
}

/* What gathers in a lane, and may go when its time has come; NULL. */
static http_batch *gathered(const http_sink *s, uint32_t i) {
    const http_lane *lane = &s->batches.lanes[i];
    bool goes_behind = lane->first || (s->given->key && lane->busy);
    return lane->open && lane->open->count && !lane->open->wished && !goes_behind ? lane->open : NULL;
}

static void close_what_has_waited(http_sink *s, int64_t now) {
    bool wish = false;
    for (uint32_t i = 0; i < s->batches.lane_count; i++) {
        http_batch *b = gathered(s, i);
        if (!b || (!s->ending && now - b->since < s->given->linger)) continue;
        wish = wish || waits_for_checkpoint(s);
        if (waits_for_checkpoint(s))
            b->wished = true;
        else
            http_sink_close(s, b);
    }
    if (wish) gale_wish_checkpoint(s->out);
}

static void ask_again(http_sink *s, int64_t now) {
    for (uint32_t i = 0; i < HTTP_FLIGHT_MAX; i++) {
        http_batch *b = s->flying[i];
        if (b && b->until && b->until <= now) ask(s, b);
    }
}

static void earlier(int64_t *at, int64_t other) {
    if (!*at || other < *at) *at = other;
}

/* Something waits for a time, not for an answer. */
static int64_t next_time(const http_sink *s) {
    int64_t at = 0;
    for (uint32_t i = 0; i < HTTP_FLIGHT_MAX; i++)
        if (s->flying[i] && s->flying[i]->until)
            earlier(&at, s->flying[i]->until > s->not_before ? s->flying[i]->until : s->not_before);
    if (!has_room(s)) return at;
    for (uint32_t i = 0; i < s->batches.lane_count; i++) {
        const http_batch *b = gathered(s, i);
        int64_t due = b ? b->since + s->given->linger : 0;
        if (b) earlier(&at, due > s->not_before ? due : s->not_before);
        if (s->batches.lanes[i].first && s->not_before) earlier(&at, s->not_before);
    }
    return at;
}

static void set_timer(http_sink *s, int64_t now) {
    int64_t at = next_time(s);
    (void)gale_watch_set(s->out, s->timer, 0, at && at <= now ? now + GALE_MILLISECOND : at);
}

static void send_what_may_go(http_sink *s, int64_t now) {
    ask_again(s, now);
    while (has_room(s)) {
        close_what_has_waited(s, now);
        http_batch *b = http_batches_take(&s->batches);
        if (!b) break;
        if (!b->count) { /* its tuples were none any more when it was there again */
            http_batches_free(&s->batches, b);
            continue;
        }
        s->flying[free_place(s)] = b;
        s->flying_count++;
        ask(s, b);
    }
}

void http_sink_go_on(http_sink *s) {
    int64_t now = gale_context_now(s->context);
    if (s->not_before <= now) {
        s->not_before = 0;
        send_what_may_go(s, now);
    }
    set_timer(s, now);
}

static int hear_timer(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    (void)out, (void)watch, (void)events;
    http_sink_go_on(user);
    return 0;
}

static void hear_end(void *user, CURL *easy, CURLcode code) {
    http_sink *s = user;
    http_exchange *x = http_exchange_of(easy);
    if (x == s->probe)
        http_sink_probed(s, code);
    else
        http_sink_settle(s, x->owner, code);
    http_sink_go_on(s);
}

/* --- A task ----------------------------------------------------------------------------------------------------------- */

static void bolt_cleanup(void *self) {
    http_sink *s = self;
    for (http_batch *b = s->batches.all; b; b = b->next)
        if (b->exchange) http_client_stop(&s->client, b->exchange->easy);
    http_sink_probe_end(s);
    http_batches_fini(&s->batches);
    http_client_close(&s->client);
    if (s->timer) (void)gale_watch_free(s->out, s->timer);
    gale_dispatch_free(s->dispatch);
    http_secrets_fini(&s->secrets);
    free(s);
}

static int open_timer(http_sink *s, gale_error *error) {
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    options.always = true;
    options.call = hear_timer;
    options.user = s;
    int rc = gale_watch_new(s->out, &options, &s->timer);
    return rc < 0 ? gale_error_set(error, rc, "http sink: it waits by watches: %s", gale_error_text(rc)) : 0;
}

static int begin(http_sink *s, gale_error *error) {
    gale_dispatch_options options = GALE_DISPATCH_OPTIONS_INIT;
    options.memory = s->given->memory;
    int rc = http_secrets_read(&s->secrets, &s->given->access, error);
    if (rc == 0) rc = http_client_open(&s->client, s->context, s->out, hear_end, s, error);
    if (rc == 0) rc = open_timer(s, error);
    return rc < 0 ? rc : gale_dispatch_new(s->context, s->out, &options, &s->dispatch, error);
}

/* No other run's, also where a seed repeats what is random. */
static uint64_t draw_life(const gale_context *context) {
    gale_clock wall = gale_clock_wall();
    const gale_value now = gale_i64(wall.now(wall.user));
    return gale_context_random(context) ^ gale_value_hash(&now);
}

static int bolt_prepare(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    gale_error error = GALE_ERROR_INIT;
    http_sink *s = calloc(1, sizeof *s);
    if (!s) return GALE_NO_MEMORY;
    s->given = user;
    s->context = context;
    s->out = out;
    http_batches_init(&s->batches, s->given->key != NULL, draw_life(context));
    http_template_show(s->given->access.url, s->shown, sizeof s->shown);
    int rc = begin(s, &error);
    if (rc < 0) {
        gale_report(out, error.text);
        bolt_cleanup(s);
        return rc;
    }
    *ret_self = s;
    return 0;
}

/* --- Tuples ----------------------------------------------------------------------------------------------------------- */

static int lane_of(const http_sink *s, const gale_tuple *tuple, uint32_t *ret_lane, char *why, size_t size) {
    gale_value key;
    *ret_lane = 0;
    if (!s->given->key) return 0;
    if (!gale_tuple_get(tuple, s->given->key, &key)) {
        snprintf(why, size, "key: field %s is not there", s->given->key);
        return GALE_INVALID;
    }
    *ret_lane = http_batches_lane(&s->batches, gale_value_hash(&key));
    return 0;
}

int http_sink_put(http_sink *s, http_batch *b, const gale_tuple *tuple, uint64_t id, char *why, size_t size) {
    size_t at = b->body.size;
    int rc = http_document_write(&s->given->document, tuple, &b->body, why, size);
    return rc < 0 ? rc : http_batch_add(&s->batches, b, id, at);
}

static bool is_full(const http_sink *s, const http_batch *b) {
    return b->count >= s->given->batch || b->body.size >= s->given->batch_bytes;
}

/* The documents of one batch fit into batchBytes, or it has one alone. */
static void make_room(http_sink *s, uint32_t lane, size_t more) {
    http_batch *b = s->batches.lanes[lane].open;
    if (b && b->count && b->body.size + more > s->given->batch_bytes) http_sink_close(s, b);
}

static int write_document(http_sink *s, const gale_tuple *tuple, http_buffer *to, char *why, size_t size) {
    int rc = http_document_write(&s->given->document, tuple, to, why, size);
    http_buffer url = { .data = NULL };
    if (rc == 0 && s->given->fields) rc = http_template_write(s->given->access.url, tuple, "", &url, why, size);
    http_buffer_fini(&url);
    return rc;
}

static int take(http_sink *s, const gale_tuple *tuple, uint32_t lane, const http_buffer *document) {
    uint64_t id;
    make_room(s, lane, document->size);
    http_batch *b = http_batches_open(&s->batches, lane, gale_context_now(s->context));
    if (!b) return GALE_NO_MEMORY;
    size_t at = b->body.size;
    http_buffer_add(&b->body, document->data, document->size);
    if (b->body.failed) {
        b->body.failed = false;
        return GALE_NO_MEMORY;
    }
    int rc = http_batch_add(&s->batches, b, 0, at);
    if (rc < 0) return rc;
    rc = gale_dispatch_hold(s->dispatch, tuple, 2 * document->size + ITEM_COST, &id);
    if (rc < 0) {
        b->count--;
        http_buffer_cut(&b->body, at);
        return rc;
    }
    b->items[b->count - 1].id = id;
    if (!is_full(s, b)) return 0;
    http_sink_close(s, b);
    if (waits_for_checkpoint(s)) gale_wish_checkpoint(s->out);
    return 0;
}

static int bolt_execute(void *self, const gale_tuple *tuple, gale_collector *out) {
    http_sink *s = self;
    http_buffer document = { .data = NULL };
    char why[GALE_FAILURE_TEXT] = "";
    uint32_t lane;
    if (gale_tuple_is_tick(tuple)) return gale_ack(out, gale_tuple_handle(tuple));
    int rc = lane_of(s, tuple, &lane, why, sizeof why);
    if (rc == 0) rc = write_document(s, tuple, &document, why, sizeof why);
    rc = rc == GALE_INVALID ? gale_reject(out, gale_tuple_handle(tuple), why)
         : rc < 0           ? rc
                            : take(s, tuple, lane, &document);
    http_buffer_fini(&document);
    return rc;
}

static int bolt_flush(void *self, gale_collector *out) {
    (void)out;
    http_sink_go_on(self);
    return 0;
}

static void drive(void *self) {
    http_sink_go_on(self);
    http_client_wait(&((http_sink *)self)->client, 20);
}

/* Requests that wait for more tuples go as soon as others could be sent, though `linger` has not passed. */
static int bolt_drain(void *self, gale_collector *out) {
    http_sink *s = self;
    int64_t now = gale_context_now(s->context);
    (void)out;
    for (uint32_t i = 0; i < s->batches.lane_count; i++)
        if (s->batches.lanes[i].open) s->batches.lanes[i].open->since = now - s->given->linger;
    http_sink_go_on(s);
    return 0;
}

static int bolt_finish(void *self, gale_collector *out) {
    http_sink *s = self;
    char name[GALE_FAILURE_TEXT];
    (void)out;
    s->ending = true;
    for (http_batch *b = s->batches.all; b; b = b->next) b->kept = true;
    snprintf(name, sizeof name, "http %s", s->shown);
    return gale_dispatch_finish(s->dispatch, s->given->finish_wait, name, "taken", drive, self);
}

static const gale_bolt_ops ops = {
    .size = sizeof ops,
    .name = "http sink",
    .kind = GALE_BOLT_MANUAL,
    .prepare = bolt_prepare,
    .execute = bolt_execute,
    .finish = bolt_finish,
    .drain = bolt_drain,
    .cleanup = bolt_cleanup,
    .flush = bolt_flush,
    .durable = &http_sink_durable,
};

int http_make_sink(void *user, const gale_args *args, gale_bolt *ret_bolt, gale_error *error) {
    http_sink_settings *made = calloc(1, sizeof *made);
    (void)user;
    if (!made) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    int rc = http_sink_settings_make(made, args, error);
    if (rc < 0) {
        http_sink_settings_free(made);
        return rc;
    }
    *ret_bolt = (gale_bolt){
        .size = sizeof *ret_bolt, .ops = &ops, .user = made, .free_user = http_sink_settings_free
    };
    return 0;
}
