/* Answers to tuples: gale.spout.HttpPoll. It asks, takes the answer apart while there is room for its rows, and asks again when it is time. */
#include "connect/http/charset.h"
#include "connect/http/client.h"
#include "connect/http/copy.h"
#include "connect/http/exchange.h"
#include "connect/http/http.h"
#include "connect/http/page.h"
#include "connect/http/template.h"
#include "connect/http/unpack.h"

#include <gale/connect.h>
#include <gale/state.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { BODY, TIME, TYPE, ETAG };
static const char *const names[] = { "body", "time", "type", "etag", NULL };

/* A definition's block. */
typedef struct settings {
    http_access access; /* first */
    gale_names emit;
    gale_output output;
    http_page_format format;
    char *items, *cursor, *query;
    size_t most;
    uint64_t memory;
    uint32_t attempts;
    int64_t every, times;
} settings;

/* What an answer has beside its body, and how the next request goes on. */
typedef struct standing {
    char *cursor, *etag, *modified, *type;
    int64_t time, answers;
} standing;

typedef struct poll {
    const settings *given;
    const gale_context *context;
    gale_collector *out;
    http_client client;
    http_secrets secrets;
    gale_intake *intake;
    http_exchange *exchange; /* that is on its way */
    http_page page;
    standing at;
    int64_t asked;
    gale_watch timer;
    gale_backoff backoff;
    bool more; /* the answer says how to go on, and had something */
    bool unwell;
    char shown[100];
} poll;

/* --- Words ------------------------------------------------------------------------------------------------------------ */

static void say_unwell(poll *p, const char *words) {
    char text[GALE_FAILURE_TEXT];
    snprintf(text, sizeof text, "http %s: %s", p->shown, words);
    p->unwell = true;
    gale_health(p->out, text);
}

static void say_well(poll *p) {
    p->backoff = (gale_backoff){ 0 };
    if (!p->unwell) return;
    p->unwell = false;
    gale_health(p->out, NULL);
}

/* --- Asking ----------------------------------------------------------------------------------------------------------- */

static int make_url(const poll *p, http_buffer *url) {
    const char *given = p->given->access.url;
    http_buffer_text(url, given);
    if (p->given->cursor && p->at.cursor) {
        http_buffer_text(url, strchr(given, '?') ? "&" : "?");
        http_encode(url, p->given->query, strlen(p->given->query), false);
        http_buffer_text(url, "=");
        http_encode(url, p->at.cursor, strlen(p->at.cursor), false);
    }
    return url->failed ? GALE_NO_MEMORY : 0;
}

static bool names_encodings(const http_access *a) {
    for (size_t i = 0; i < a->header_count; i++)
        if (strcasecmp(a->headers[i].name, "Accept-Encoding") == 0) return true;
    return false;
}

static int set_request(const poll *p, http_exchange *x, const char *url) {
    int rc = http_access_apply(&p->given->access, &p->secrets, x->easy, &x->headers);
    if (rc == 0 && p->at.etag) rc = http_header_add(&x->headers, "If-None-Match", p->at.etag);
    if (rc == 0 && p->at.modified) rc = http_header_add(&x->headers, "If-Modified-Since", p->at.modified);
    curl_easy_setopt(x->easy, CURLOPT_URL, url);
    if (rc == 0 && !names_encodings(&p->given->access))
        rc = http_header_add(&x->headers, "Accept-Encoding", HTTP_CODINGS);
    if (x->headers) curl_easy_setopt(x->easy, CURLOPT_HTTPHEADER, x->headers);
    return rc;
}

static void ask_at(const poll *p, int64_t at) {
    (void)gale_watch_set(p->out, p->timer, 0, at);
}

static void pause_for(poll *p, int64_t least, const char *words) {
    int64_t pause = gale_backoff_next(&p->backoff, p->context);
    say_unwell(p, words);
    ask_at(p, gale_context_now(p->context) + (pause > least ? pause : least));
}

static void ask(poll *p) {
    http_buffer url = { .data = NULL };
    p->asked = gale_context_now(p->context);
    p->exchange = http_exchange_new(p, p->given->most, p->given->most);
    int rc = p->exchange ? make_url(p, &url) : GALE_NO_MEMORY;
    if (rc == 0) rc = set_request(p, p->exchange, url.data);
    if (rc == 0) rc = http_client_start(&p->client, p->exchange->easy);
    http_buffer_fini(&url);
    if (rc == 0) return;
    http_exchange_free(p->exchange);
    p->exchange = NULL;
    pause_for(p, 0, gale_error_text(rc));
}

static bool is_over(const poll *p) {
    return p->given->times && p->at.answers >= p->given->times;
}

static int hear_timer(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    poll *p = user;
    (void)out, (void)watch, (void)events;
    if (!p->exchange && !p->page.open && !is_over(p)) ask(p);
    return 0;
}

/* --- Answers ---------------------------------------------------------------------------------------------------------- */

static void replace(char **text, const char *with) {
    free(*text);
    *text = with ? strdup(with) : NULL;
}

/* The rows are out: the next request. */
static void go_on(poll *p) {
    ask_at(p, p->more ? gale_context_now(p->context) : p->asked + p->given->every);
    p->more = false;
}

/* Where the next request is another one, its answer is no newer version of this one. */
static void note_cursor(poll *p, char *cursor) {
    bool is_other = cursor && (!p->at.cursor || strcmp(cursor, p->at.cursor) != 0);
    if (!is_other) {
        free(cursor);
        return;
    }
    free(p->at.cursor);
    p->at.cursor = cursor;
    p->more = true;
    replace(&p->at.etag, NULL);
    replace(&p->at.modified, NULL);
}

static void note_headers(poll *p, const http_exchange *x) {
    gale_clock wall = gale_clock_wall();
    replace(&p->at.etag, http_exchange_header(x, "ETag"));
    replace(&p->at.modified, http_exchange_header(x, "Last-Modified"));
    replace(&p->at.type, http_exchange_header(x, "Content-Type"));
    p->at.time = wall.now(wall.user) / GALE_MILLISECOND;
}

/* The whole answer goes out unchanged; anything else of it is read as text. */
static bool is_read(const poll *p, const http_exchange *x, char *why, size_t size) {
    bool text = p->given->format != HTTP_PAGE_BODY || p->given->cursor;
    gale_str body = { x->answer.data ? x->answer.data : "", x->answer.size };
    return !text || http_charset_is_read(http_exchange_header(x, "Content-Type"), body, why, size);
}

static void take_answer(poll *p, http_exchange *x) {
    char why[HTTP_WORDS], *cursor;
    int rc = is_read(p, x, why, sizeof why) ? 0 : GALE_UNSUPPORTED;
    if (rc == 0)
        rc = http_page_open(&p->page, p->given->format, &x->answer, p->given->items, p->given->cursor, &cursor, why,
                            sizeof why);
    if (rc < 0) {
        pause_for(p, p->given->every, why);
        return;
    }
    say_well(p);
    note_headers(p, x);
    note_cursor(p, cursor);
    p->at.answers++;
}

/* libcurl would unpack, but does not look whether all came. `why` says what is wrong with the answer. */
static int unpack(const poll *p, http_exchange *x, char *why, size_t size) {
    const char *header = http_exchange_header(x, "Content-Encoding");
    http_codings codings = { .count = 0 };
    if (header && http_codings_add(&codings, header, why, size) < 0) return GALE_INVALID;
    int rc = http_unpack_body(&codings, p->given->most, &x->answer);
    if (rc < 0)
        snprintf(why, size, "%s",
                 rc == GALE_DAMAGED     ? "the answer is not what its Content-Encoding says, or is cut off"
                 : rc == GALE_TOO_LARGE ? "the answer is longer than maxBody"
                                        : gale_error_text(rc));
    return rc;
}

static void settle(poll *p, http_exchange *x, CURLcode code) {
    long status = http_exchange_status(x);
    char words[HTTP_WORDS];
    bool answered = http_exchange_is_answered(x, code);
    int unpacked = answered && !x->too_long ? unpack(p, x, words, sizeof words) : 0;
    if (answered && status < 300 && unpacked < 0) {
        pause_for(p, p->given->every, words);
    } else if (answered && status == 304) {
        say_well(p);
        p->at.answers++;
        go_on(p);
    } else if (answered && status < 300 && !x->too_long) {
        take_answer(p, x);
    } else {
        gale_error error = GALE_ERROR_INIT;
        if (unpacked < 0) http_buffer_cut(&x->answer, 0);
        http_exchange_words(x, code, &p->secrets, words);
        if (status == 401 && http_secrets_read(&p->secrets, &p->given->access, &error) < 0)
            gale_report(p->out, error.text);
        pause_for(p, x->too_long ? p->given->every : http_exchange_retry_after(x),
                  x->too_long ? "the answer is longer than maxBody" : words);
    }
}

static void hear_end(void *user, CURL *easy, CURLcode code) {
    poll *p = user;
    http_exchange *x = http_exchange_of(easy);
    p->exchange = NULL;
    settle(p, x, code);
    http_exchange_free(x);
}

/* --- Rows ------------------------------------------------------------------------------------------------------------- */

static gale_value text_or_null(const char *text) {
    return text ? gale_text_or_bytes(text, strlen(text)) : gale_null();
}

static int take_row(poll *p, gale_str row) {
    gale_value values[GALE_NAMES_MAX];
    for (size_t i = 0; i < p->given->emit.count; i++) {
        switch (p->given->emit.places[i]) {
        case BODY: values[i] = gale_text_or_bytes(row.data, row.size); break;
        case TIME: values[i] = gale_i64(p->at.time); break;
        case TYPE: values[i] = text_or_null(p->at.type); break;
        default: values[i] = text_or_null(p->at.etag);
        }
    }
    return gale_intake_take(p->intake, values, p->given->emit.count, 0, p->at.answers);
}

static void take_rows(poll *p) {
    gale_str row;
    while (p->page.open && gale_intake_wants(p->intake)) {
        if (!http_page_next(&p->page, &row)) {
            go_on(p);
            return;
        }
        int rc = take_row(p, row);
        if (rc < 0) gale_report(p->out, gale_error_text(rc));
    }
}

static int spout_next(void *self, gale_collector *out, gale_wait *wait) {
    poll *p = self;
    (void)out;
    take_rows(p);
    int rc = gale_intake_next(p->intake, wait);
    bool done = rc == GALE_NEXT_WATCHED && is_over(p) && !p->page.open && !p->exchange;
    return done ? GALE_NEXT_DONE : rc;
}

static void spout_ack_batch(void *self, const uint64_t *message_ids, size_t count) {
    gale_intake_ack(((poll *)self)->intake, message_ids, count);
}

static void spout_fail(void *self, uint64_t message_id, const gale_failure *failure) {
    gale_intake_fail(((poll *)self)->intake, message_id, failure);
}

/* --- A task ----------------------------------------------------------------------------------------------------------- */

static void spout_close(void *self) {
    poll *p = self;
    if (p->exchange) http_client_stop(&p->client, p->exchange->easy);
    http_exchange_free(p->exchange);
    http_client_close(&p->client);
    http_page_fini(&p->page);
    if (p->timer) (void)gale_watch_free(p->out, p->timer);
    gale_intake_free(p->intake);
    http_secrets_fini(&p->secrets);
    char *texts[] = { p->at.cursor, p->at.etag, p->at.modified, p->at.type };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) free(texts[i]);
    free(p);
}

static int open_timer(poll *p, gale_error *error) {
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    options.at = gale_context_now(p->context);
    options.call = hear_timer;
    options.user = p;
    int rc = gale_watch_new(p->out, &options, &p->timer);
    return rc < 0 ? gale_error_set(error, rc, "http poll: it waits by watches: %s", gale_error_text(rc)) : 0;
}

static int begin(poll *p, gale_error *error) {
    gale_intake_options options = GALE_INTAKE_OPTIONS_INIT;
    options.what = "answer";
    options.memory = p->given->memory;
    options.attempts = p->given->attempts;
    if (p->context->task_count > 1)
        return gale_error_set(error, GALE_INVALID, "http poll: one task asks: its parallelism is 1, not %u",
                              p->context->task_count);
    int rc = http_secrets_read(&p->secrets, &p->given->access, error);
    if (rc == 0) rc = gale_intake_new(p->context, p->out, &options, &p->intake, error);
    if (rc == 0) rc = http_client_open(&p->client, p->context, p->out, hear_end, p, error);
    return rc == 0 ? open_timer(p, error) : rc;
}

static int spout_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    gale_error error = GALE_ERROR_INIT;
    poll *p = calloc(1, sizeof *p);
    if (!p) return GALE_NO_MEMORY;
    p->given = user;
    p->context = context;
    p->out = out;
    http_template_show(p->given->access.url, p->shown, sizeof p->shown);
    int rc = begin(p, &error);
    if (rc < 0) {
        gale_report(out, error.text);
        spout_close(p);
        return rc;
    }
    *ret_self = p;
    return 0;
}

/* --- Checkpoints ------------------------------------------------------------------------------------------------------ */

/* Cursor, ETag, Last-Modified, Content-Type (null: none); time and number of the answer; what is left of it (null: nothing), and from which
 * row on; does it say how to go on. Then the intake's. */
enum { SAVED = 9, SAVED_TEXTS = 4 };

static gale_value bytes_or_null(const char *text) {
    return text ? gale_bytes(text, strlen(text)) : gale_null();
}

static gale_value rest_of(const http_page *page) {
    return page->open ? gale_bytes(page->body.data ? page->body.data : "", page->body.size) : gale_null();
}

static int spout_save(void *self, gale_saver *to) {
    poll *p = self;
    const gale_value v[SAVED] = { bytes_or_null(p->at.cursor),
                                  bytes_or_null(p->at.etag),
                                  bytes_or_null(p->at.modified),
                                  bytes_or_null(p->at.type),
                                  gale_i64(p->at.time),
                                  gale_i64(p->at.answers),
                                  rest_of(&p->page),
                                  gale_i64((int64_t)p->page.next),
                                  gale_bool(p->more) };
    int rc = gale_save(to, v, SAVED);
    return rc < 0 ? rc : gale_intake_save(p->intake, to);
}

static int damaged(poll *p) {
    gale_report(p->out, "http poll: what was saved of its answers is damaged");
    return GALE_DAMAGED;
}

static bool is_saved(const gale_value *v, size_t count) {
    bool is = count == SAVED;
    for (size_t i = 0; is && i < SAVED; i++) {
        bool bytes = i < SAVED_TEXTS || i == 6;
        is = bytes ? v[i].type == GALE_TYPE_BYTES || v[i].type == GALE_TYPE_NULL
                   : v[i].type == (i == 8 ? GALE_TYPE_BOOL : GALE_TYPE_I64);
    }
    return is;
}

static int restore_texts(poll *p, const gale_value *v) {
    char **texts[SAVED_TEXTS] = { &p->at.cursor, &p->at.etag, &p->at.modified, &p->at.type };
    for (size_t i = 0; i < SAVED_TEXTS; i++) {
        if (v[i].type == GALE_TYPE_NULL) continue;
        *texts[i] = strndup(v[i].as.bytes, v[i].size);
        if (!*texts[i]) return GALE_NO_MEMORY;
    }
    return 0;
}

static int restore_page(poll *p, const gale_value *rest, int64_t next) {
    char why[HTTP_WORDS], *cursor;
    http_buffer body = { .data = NULL };
    if (rest->type == GALE_TYPE_NULL) return 0;
    http_buffer_add(&body, rest->as.bytes, rest->size);
    if (body.failed) return GALE_NO_MEMORY;
    bool lines = p->given->format == HTTP_PAGE_LINES;
    if (next < 0 || (lines && (size_t)next > body.size)) {
        http_buffer_fini(&body);
        return damaged(p);
    }
    if (http_page_open(&p->page, p->given->format, &body, p->given->items, NULL, &cursor, why, sizeof why) < 0)
        return damaged(p);
    p->page.next = (size_t)next;
    return 0;
}

static int spout_restore(void *self, gale_saved *from, gale_collector *out) {
    poll *p = self;
    const gale_value *v;
    size_t count;
    (void)out;
    int rc = gale_saved_next(from, &v, &count);
    if (rc < 0) return rc;
    if (rc == 0 || !is_saved(v, count)) return damaged(p);
    p->at.time = v[4].as.i64;
    p->at.answers = v[5].as.i64;
    p->more = v[8].as.boolean;
    rc = restore_texts(p, v);
    if (rc == 0) rc = restore_page(p, &v[6], v[7].as.i64);
    return rc < 0 ? rc : gale_intake_restore(p->intake, from, NULL, NULL);
}

static void spout_committed(void *self, uint64_t checkpoint) {
    gale_intake_committed(((poll *)self)->intake, checkpoint);
}

static const gale_durable_ops durable = {
    .size = sizeof durable,
    .version = 1,
    .save = spout_save,
    .restore = spout_restore,
    .committed = spout_committed,
};

static const gale_spout_ops ops = {
    .size = sizeof ops,
    .name = "http poll",
    .open = spout_open,
    .next = spout_next,
    .fail = spout_fail,
    .close = spout_close,
    .ack_batch = spout_ack_batch,
    .durable = &durable,
};

/* --- A definition ----------------------------------------------------------------------------------------------------- */

static void free_settings(void *user) {
    settings *made = user;
    http_access_fini(&made->access);
    free(made->items);
    free(made->cursor);
    free(made->query);
    free(made);
}

static int check_url(const char *url, gale_error *error) {
    bool fields;
    int rc = http_template_check(url, &fields, error);
    if (rc == 0 && strpbrk(url, "{}")) rc = gale_error_set(error, GALE_INVALID, "url: a spout has no fields for it");
    if (rc == 0 && strchr(url, '#'))
        rc = gale_error_set(error, GALE_INVALID, "url: what is behind a # is never asked for");
    return rc;
}

static int read_texts(settings *made, const gale_args *args, gale_error *error) {
    const char *format = gale_args_text(args, "format");
    made->format = strcmp(format, "array") == 0   ? HTTP_PAGE_ARRAY
                   : strcmp(format, "lines") == 0 ? HTTP_PAGE_LINES
                                                  : HTTP_PAGE_BODY;
    int rc = http_copy_text(&made->items, args, "items", error);
    if (rc == 0) rc = http_copy_text(&made->cursor, args, "cursor", error);
    if (rc == 0) rc = http_copy_text(&made->query, args, "cursorQuery", error);
    if (rc == 0 && made->items && made->format != HTTP_PAGE_ARRAY)
        rc = gale_error_set(error, GALE_INVALID, "items: it is of format: array");
    if (rc == 0 && made->cursor && made->format == HTTP_PAGE_LINES)
        rc = gale_error_set(error, GALE_INVALID, "cursor: lines have none; format: array and body have");
    if (rc == 0 && !made->query) rc = gale_error_set(error, GALE_INVALID, "cursorQuery: it is empty");
    return rc;
}

static int fill(settings *made, const gale_args *args, gale_error *error) {
    int rc = http_access_make(&made->access, args, false, error);
    if (rc == 0) rc = check_url(made->access.url, error);
    if (rc == 0) rc = read_texts(made, args, error);
    if (rc == 0) rc = gale_names_read("emit", gale_args_text(args, "emit"), "an answer", names, &made->emit, error);
    made->output = (gale_output){ NULL, made->emit.text };
    made->every = (int64_t)(gale_args_number(args, "every") * 1e9);
    made->times = gale_args_whole(args, "times");
    made->most = (size_t)gale_args_whole(args, "maxBody");
    made->memory = (uint64_t)gale_args_whole(args, "memory");
    made->attempts = (uint32_t)gale_args_whole(args, "maxAttempts");
    return rc;
}

int http_make_poll(void *user, const gale_args *args, gale_spout *ret_spout, gale_error *error) {
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
