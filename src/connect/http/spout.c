/* Requests to tuples, and their ends to answers: gale.spout.Http. */
#include "connect/http/book.h"
#include "connect/http/charset.h"
#include "connect/http/copy.h"
#include "connect/http/http.h"
#include "connect/http/row.h"

#include <gale/connect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a row takes beside its values. */
enum { ROW_COST = 256 };

/* A definition's block. */
typedef struct settings {
    http_address address;
    http_row row;
    gale_output output;
    char *path, *token_from, *certificate_from, *key_from;
    size_t body_max;
    uint64_t memory;
    uint32_t requests, attempts;
    int64_t timeout, idempotency;
    bool lines;
} settings;

typedef struct spout {
    const settings *given;
    const gale_context *context;
    gale_collector *out;
    http_server *server;
    gale_intake *intake;
    char *token;
    int64_t number; /* of the request that was taken last */
    bool active;
    http_values values;
    http_book book;
} spout;

/* --- Answers ---------------------------------------------------------------------------------------------------------- */

static void answer_all(http_request *waiting, const http_reply *reply) {
    while (waiting) {
        http_request *next = http_request_next(waiting);
        http_server_answer(waiting, reply);
        waiting = next;
    }
}

static void conclude(spout *s, http_taken *taken) {
    http_reply reply;
    http_taken_reply(taken, &reply);
    answer_all(taken->waiting, &reply);
    taken->waiting = NULL;
    http_book_answer(&s->book, taken, gale_context_now(s->context));
}

/* Of a row. One of an earlier run's requests that had no key is nobody's. */
static void answered(void *user, const gale_answered *answered) {
    spout *s = user;
    http_taken *taken = http_book_number(&s->book, answered->place);
    const gale_failure *failure = answered->failure;
    if (!taken || !taken->open) return;
    if (failure) {
        bool rejected = failure->reason == GALE_REASON_REJECTED;
        http_taken_fail(taken, rejected ? 422 : 503,
                        *failure->text ? failure->text : gale_reason_name(failure->reason));
    }
    if (--taken->open == 0) conclude(s, taken);
}

/* --- A request -------------------------------------------------------------------------------------------------------- */

static bool refuse(http_reply *reply, unsigned status, const char *text) {
    http_reply_set(reply, status, text);
    return false;
}

static bool is_taken_by(const char *method) {
    return strcmp(method, "POST") == 0 || strcmp(method, "PUT") == 0 || strcmp(method, "PATCH") == 0;
}

/* Its head alone is there. Who has no token learns nothing else. */
static bool check(void *user, http_request *request, http_reply *reply) {
    const spout *s = user;
    gale_str path, query;
    http_target_cut(http_request_target(request), &path, &query);
    if (s->token && !http_bearer_is(http_request_header(request, "Authorization"), s->token))
        return refuse(reply, 401, "a token is needed: Authorization: Bearer TOKEN");
    if (!http_path_is_of(path, s->given->path)) return refuse(reply, 404, "there is nothing at this path");
    if (!is_taken_by(http_request_method(request)))
        return refuse(reply, 405, "requests are made with POST, PUT or PATCH");
    if (!s->active) return refuse(reply, 503, "the topology does not run, or is about to end");
    if (http_server_is_full(s->server)) return refuse(reply, 503, "too many requests wait for their answers");
    const char *key = http_request_header(request, "Idempotency-Key");
    if (key && strlen(key) > HTTP_KEY_MAX) return refuse(reply, 400, "the Idempotency-Key has more than 255 bytes");
    return true;
}

/* Of what makes two requests the same. */
static uint64_t print_of(const http_request *request) {
    gale_str target = http_request_target(request), body = http_request_body(request);
    const gale_value parts[] = { gale_text(http_request_method(request)), gale_bytes(target.data, target.size),
                                 gale_bytes(body.data, body.size) };
    const gale_value all = gale_list(parts, sizeof parts / sizeof *parts);
    return gale_value_hash(&all);
}

/* The key is known: its answer, or the wait for it. */
static bool join(http_taken *taken, http_request *request, uint64_t print, http_reply *reply) {
    if (taken->print != print) return refuse(reply, 422, "the Idempotency-Key came with another request before");
    if (taken->open) {
        http_request_put_before(request, taken->waiting);
        taken->waiting = request;
        return true;
    }
    http_taken_reply(taken, reply);
    return false;
}

/* What a request of lines has is text. */
static bool check_text(const settings *given, const http_request *request, gale_str body, http_reply *reply) {
    char text[GALE_FAILURE_TEXT];
    if (!given->lines) return true;
    if (!http_charset_is_read(http_request_header(request, "Content-Type"), body, text, sizeof text))
        return refuse(reply, 415, text);
    const char *foreign = gale_foreign_encoding(body.data, body.size);
    if (!foreign) return true;
    snprintf(text, sizeof text, "the body is %s, and no Content-Encoding or charset says so: its lines cannot be read",
             foreign);
    return refuse(reply, 415, text);
}

static uint64_t count_rows(const settings *given, gale_str body) {
    gale_str line;
    uint64_t count = 0;
    if (!given->lines) return 1;
    while (http_next_line(&body, &line)) count++;
    return count;
}

static int take_row(spout *s, http_taken *taken, gale_str body) {
    http_row_body(&s->given->row, body, &s->values);
    int rc = gale_intake_take(s->intake, s->values.list, s->given->row.count, 0, taken->number);
    if (rc == 0) taken->open++;
    return rc;
}

/* What cannot be taken has it fail as a whole, when what was taken before is answered. */
static void take_rows(spout *s, http_taken *taken, gale_str body) {
    gale_str line;
    int rc = s->given->lines ? 0 : take_row(s, taken, body);
    while (s->given->lines && rc == 0 && http_next_line(&body, &line)) rc = take_row(s, taken, line);
    if (rc < 0) http_taken_fail(taken, 503, gale_error_text(rc));
}

/* It is new. */
static bool begin_request(spout *s, http_request *request, const char *key, uint64_t print, http_reply *reply) {
    gale_str body = http_request_body(request);
    size_t mark = s->given->lines ? gale_byte_order_mark(body.data, body.size) : 0;
    body = (gale_str){ body.data + mark, body.size - mark };
    if (!check_text(s->given, request, body, reply)) return false;
    if (http_row_values(&s->given->row, request, &s->values) < 0) return refuse(reply, 431, "it has too many headers");
    uint64_t rows = count_rows(s->given, body), cost = body.size + rows * (ROW_COST + s->values.size);
    if (cost > s->given->memory) return refuse(reply, 413, "the request is too large for memory as it is set");
    if (cost + s->book.cost + http_server_reading(s->server) - body.size > s->given->memory)
        return refuse(reply, 503, "there is no memory for the request: too much waits already");
    http_taken *taken = http_book_add(&s->book, ++s->number, key, print, cost);
    if (!taken) return refuse(reply, 503, "out of memory");
    taken->rows = (uint32_t)rows;
    take_rows(s, taken, body);
    if (taken->open) {
        taken->waiting = request;
        return true;
    }
    http_taken_reply(taken, reply);
    http_book_answer(&s->book, taken, gale_context_now(s->context));
    return false;
}

static bool take(void *user, http_request *request, http_reply *reply) {
    spout *s = user;
    const char *key = s->given->idempotency ? http_request_header(request, "Idempotency-Key") : NULL;
    if (!s->active) return refuse(reply, 503, "the topology does not run, or is about to end");
    if (http_server_is_full(s->server)) return refuse(reply, 503, "too many requests wait for their answers");
    uint64_t print = key ? print_of(request) : 0;
    http_taken *taken = key ? http_book_key(&s->book, key) : NULL;
    return taken ? join(taken, request, print, reply) : begin_request(s, request, key, print, reply);
}

static uint64_t busy(void *user) {
    return ((const spout *)user)->book.cost;
}

static bool tick(void *user) {
    spout *s = user;
    http_book_forget(&s->book, gale_context_now(s->context) - s->given->idempotency);
    return s->book.kept > 0;
}

/* --- A task ----------------------------------------------------------------------------------------------------------- */

static int tell_of_the_end(void *user, http_taken *taken) {
    http_reply reply;
    (void)user;
    http_reply_set(&reply, 503, "the topology has ended before it was done");
    answer_all(taken->waiting, &reply);
    taken->waiting = NULL;
    return 0;
}

static void spout_close(void *self) {
    spout *s = self;
    (void)http_book_each(&s->book, tell_of_the_end, s);
    http_server_free(s->server);
    gale_intake_free(s->intake);
    http_book_fini(&s->book);
    gale_secret_free(s->token);
    free(s);
}

static int open_intake(spout *s, gale_error *error) {
    gale_intake_options options = GALE_INTAKE_OPTIONS_INIT;
    options.what = "request";
    options.memory = INT64_MAX; /* requests are counted before they are taken */
    options.attempts = s->given->attempts;
    options.answered = answered;
    options.user = s;
    options.soon = true;
    return gale_intake_new(s->context, s->out, &options, &s->intake, error);
}

static int open_server(spout *s, const char *certificate, const char *key, gale_error *error) {
    const settings *given = s->given;
    const http_server_options options = { .address = &given->address,
                                          .certificate = certificate,
                                          .key = key,
                                          .body_max = given->body_max,
                                          .memory = given->memory,
                                          .timeout = given->timeout,
                                          .held_max = given->requests,
                                          .check = check,
                                          .take = take,
                                          .busy = busy,
                                          .tick = tick,
                                          .user = s };
    return http_server_new(&options, s->context, s->out, &s->server, error);
}

/* What a parameter's file has: GALE_OK also where there is no such file given. */
static int read_secret(const char *parameter, const char *path, char **ret_secret, gale_error *error) {
    *ret_secret = path ? gale_secret_read(parameter, path, error) : NULL;
    return path && !*ret_secret ? error->code : 0;
}

static int open_with_tls(spout *s, gale_error *error) {
    char *certificate = NULL, *key = NULL;
    int rc = read_secret("certificate", s->given->certificate_from, &certificate, error);
    if (rc == 0) rc = read_secret("key", s->given->key_from, &key, error);
    if (rc == 0) rc = open_server(s, certificate, key, error);
    gale_secret_free(certificate);
    gale_secret_free(key);
    return rc;
}

static int begin(spout *s, gale_error *error) {
    if (s->context->task_count > 1)
        return gale_error_set(error, GALE_INVALID,
                              "http spout: one task listens at an address, and knows the keys of its requests: its "
                              "parallelism is 1, not %u",
                              s->context->task_count);
    int rc = read_secret("tokenFrom", s->given->token_from, &s->token, error);
    if (rc == 0 && s->token && !*s->token)
        rc = gale_error_set(error, GALE_INVALID, "tokenFrom: %s has nothing in it", s->given->token_from);
    if (rc == 0) rc = open_intake(s, error);
    return rc < 0 ? rc : open_with_tls(s, error);
}

static int spout_open(void *user, const gale_context *context, gale_collector *out, void **ret_self) {
    gale_error error = GALE_ERROR_INIT;
    spout *s = calloc(1, sizeof *s);
    if (!s) return GALE_NO_MEMORY;
    s->given = user;
    s->context = context;
    s->out = out;
    int rc = begin(s, &error);
    if (rc < 0) {
        gale_report(out, error.text);
        spout_close(s);
        return rc;
    }
    *ret_self = s;
    return 0;
}

static void spout_activate(void *self) {
    ((spout *)self)->active = true;
}

/* New requests are told to come again; those that were taken are done. */
static void spout_deactivate(void *self) {
    ((spout *)self)->active = false;
}

static int spout_next(void *self, gale_collector *out, gale_wait *wait) {
    (void)out;
    return gale_intake_next(((spout *)self)->intake, wait);
}

static void spout_ack_batch(void *self, const uint64_t *message_ids, size_t count) {
    gale_intake_ack(((spout *)self)->intake, message_ids, count);
}

static void spout_fail(void *self, uint64_t message_id, const gale_failure *failure) {
    gale_intake_fail(((spout *)self)->intake, message_id, failure);
}

/* --- Checkpoints: keys, then what was taken and has no answer ---------------------------------------------------------- */

/* The number of the last request, and how many have keys; then of each number, key, print, rows, status, text, and for how long it has been kept, in
 * nanoseconds (-1: it is open); then the intake's. */
enum { HEAD_VALUES = 2, KEY_VALUES = 7 };

typedef struct saving {
    const spout *s;
    gale_saver *to;
    int64_t count, now;
} saving;

static int count_key(void *user, http_taken *taken) {
    saving *w = user;
    w->count += taken->key != NULL;
    return 0;
}

static int save_key(void *user, http_taken *taken) {
    const saving *w = user;
    if (!taken->key) return 0;
    int64_t kept = taken->open ? -1 : w->now - taken->answered;
    const gale_value values[KEY_VALUES] = { gale_i64(taken->number),
                                            gale_bytes(taken->key, strlen(taken->key)),
                                            gale_i64((int64_t)taken->print),
                                            gale_i64(taken->rows),
                                            gale_i64(taken->status),
                                            taken->text ? gale_bytes(taken->text, strlen(taken->text)) : gale_null(),
                                            gale_i64(kept) };
    return gale_save(w->to, values, KEY_VALUES);
}

static int spout_save(void *self, gale_saver *to) {
    spout *s = self;
    saving w = { s, to, 0, gale_context_now(s->context) };
    (void)http_book_each(&s->book, count_key, &w);
    const gale_value head[HEAD_VALUES] = { gale_i64(s->number), gale_i64(w.count) };
    int rc = gale_save(to, head, HEAD_VALUES);
    if (rc == 0) rc = http_book_each(&s->book, save_key, &w);
    return rc < 0 ? rc : gale_intake_save(s->intake, to);
}

static int damaged(spout *s) {
    gale_report(s->out, "http spout: what was saved of its requests is damaged");
    return GALE_DAMAGED;
}

static bool is_text(const gale_value *value, size_t most) {
    return value->type == GALE_TYPE_BYTES && value->size <= most && !memchr(value->as.bytes, 0, value->size);
}

static bool is_key(const gale_value *v, size_t count) {
    if (count != KEY_VALUES) return false;
    for (size_t i = 0; i < KEY_VALUES; i++)
        if (i != 1 && i != 5 && v[i].type != GALE_TYPE_I64) return false;
    if (!is_text(&v[1], HTTP_KEY_MAX) || (v[5].type != GALE_TYPE_NULL && !is_text(&v[5], 1024))) return false;
    return v[3].as.i64 >= 0 && v[3].as.i64 <= UINT32_MAX && v[4].as.i64 >= 0 && v[4].as.i64 < 600 && v[6].as.i64 >= -1;
}

/* One with its answer is kept; one that is open waits for its rows. */
static int restore_key(spout *s, const gale_value *v) {
    char key[HTTP_KEY_MAX + 1], text[1025] = "";
    snprintf(key, sizeof key, "%.*s", (int)v[1].size, v[1].as.string);
    if (v[5].type == GALE_TYPE_BYTES) snprintf(text, sizeof text, "%.*s", (int)v[5].size, v[5].as.string);
    http_taken *taken = http_book_add(&s->book, v[0].as.i64, key, (uint64_t)v[2].as.i64, 0);
    if (!taken) return GALE_NO_MEMORY;
    taken->rows = (uint32_t)v[3].as.i64;
    if (v[4].as.i64) http_taken_fail(taken, (unsigned)v[4].as.i64, text);
    if (v[6].as.i64 >= 0) http_book_answer(&s->book, taken, gale_context_now(s->context) - v[6].as.i64);
    return 0;
}

static void restore_row(void *user, uint32_t source, int64_t place) {
    const spout *s = user;
    http_taken *taken = http_book_number(&s->book, place);
    (void)source;
    if (taken) taken->open++;
}

/* All its rows were done in the checkpoint. */
static int conclude_if_done(void *user, http_taken *taken) {
    spout *s = user;
    bool kept = s->book.newest == taken || taken->newer;
    if (!taken->open && !kept) conclude(s, taken);
    return 0;
}

static int spout_restore(void *self, gale_saved *from, gale_collector *out) {
    spout *s = self;
    const gale_value *v;
    size_t count;
    (void)out;
    int rc = gale_saved_next(from, &v, &count);
    if (rc < 0) return rc;
    if (rc == 0 || count != HEAD_VALUES || v[0].type != GALE_TYPE_I64 || v[1].type != GALE_TYPE_I64) return damaged(s);
    s->number = v[0].as.i64;
    for (int64_t left = v[1].as.i64; left > 0; left--) {
        rc = gale_saved_next(from, &v, &count);
        if (rc < 0) return rc;
        if (rc == 0 || !is_key(v, count)) return damaged(s);
        rc = restore_key(s, v);
        if (rc < 0) return rc;
    }
    rc = gale_intake_restore(s->intake, from, restore_row, s);
    return rc < 0 ? rc : http_book_each(&s->book, conclude_if_done, s);
}

static void spout_committed(void *self, uint64_t checkpoint) {
    gale_intake_committed(((spout *)self)->intake, checkpoint);
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
    .name = "http spout",
    .open = spout_open,
    .activate = spout_activate,
    .next = spout_next,
    .fail = spout_fail,
    .deactivate = spout_deactivate,
    .close = spout_close,
    .ack_batch = spout_ack_batch,
    .durable = &durable,
};

/* --- A definition ----------------------------------------------------------------------------------------------------- */

static void free_settings(void *user) {
    settings *made = user;
    free(made->path);
    free(made->token_from);
    free(made->certificate_from);
    free(made->key_from);
    free(made);
}

static int read_texts(settings *made, const gale_args *args, gale_error *error) {
    int rc = http_address_read(gale_args_text(args, "listen"), &made->address, error);
    if (rc == 0) rc = http_copy_text(&made->path, args, "path", error);
    if (rc == 0) rc = http_copy_text(&made->token_from, args, "tokenFrom", error);
    if (rc == 0) rc = http_copy_text(&made->certificate_from, args, "certificate", error);
    if (rc == 0) rc = http_copy_text(&made->key_from, args, "key", error);
    if (rc < 0) return rc;
    if (!made->path || *made->path != '/') return gale_error_set(error, GALE_INVALID, "path: it begins with a /");
    if (made->certificate_from && !made->key_from)
        return gale_error_set(error, GALE_INVALID, "certificate: it is given without its key");
    if (made->key_from && !made->certificate_from)
        return gale_error_set(error, GALE_INVALID, "key: it is given without its certificate");
    return 0;
}

static int fill(settings *made, const gale_args *args, gale_error *error) {
    int rc = read_texts(made, args, error);
    if (rc == 0) rc = http_row_parse(gale_args_text(args, "emit"), &made->row, error);
    made->output = (gale_output){ NULL, made->row.text };
    made->lines = strcmp(gale_args_text(args, "format"), "lines") == 0;
    made->body_max = (size_t)gale_args_whole(args, "maxBody");
    made->memory = (uint64_t)gale_args_whole(args, "memory");
    made->requests = (uint32_t)gale_args_whole(args, "maxRequests");
    made->attempts = (uint32_t)gale_args_whole(args, "maxAttempts");
    made->timeout = (int64_t)(gale_args_number(args, "timeout") * 1e9);
    made->idempotency = (int64_t)(gale_args_number(args, "idempotency") * 1e9);
    return rc;
}

int http_make_spout(void *user, const gale_args *args, gale_spout *ret_spout, gale_error *error) {
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
