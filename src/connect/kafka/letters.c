#include "connect/kafka/letters.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kafka_letter {
    kafka_letter *next;
    uint32_t source;
    int64_t place;
    kafka_bytes key, value;
    rd_kafka_headers_t *headers; /* all of them */
    size_t bytes;
    bool out;
    bool begun; /* among the positions of its partition */
};

/* --- One ------------------------------------------------------------------------------------------------------------- */

static void letter_free(kafka_letter *letter) {
    if (letter->headers) rd_kafka_headers_destroy(letter->headers);
    free((void *)letter->key.data);
    free((void *)letter->value.data);
    free(letter);
}

static bool copy_bytes(const gale_value *from, kafka_bytes *to) {
    char *copy;
    if (!from || (from->type != GALE_TYPE_STRING && from->type != GALE_TYPE_BYTES)) return true;
    if (!(copy = malloc(from->size + 1))) return false;
    memcpy(copy, from->as.bytes, from->size);
    to->data = copy;
    to->size = from->size;
    return true;
}

static void add_header(kafka_letter *letter, const char *name, size_t name_size, const gale_value *value) {
    bool is = value->type == GALE_TYPE_STRING || value->type == GALE_TYPE_BYTES;
    (void)rd_kafka_header_add(letter->headers, name, (ssize_t)name_size, is ? value->as.bytes : NULL,
                              is ? (ssize_t)value->size : 0);
    letter->bytes += name_size + (is ? value->size : 0);
}

static void add_headers(kafka_letter *letter, const gale_value *list) {
    size_t pairs = list && list->type == GALE_TYPE_LIST ? list->size / 2 : 0;
    for (size_t i = 0; i < pairs; i++) {
        gale_value name = gale_list_at(list, 2 * i), value = gale_list_at(list, 2 * i + 1);
        add_header(letter, name.as.bytes, name.size, &value);
    }
}

static kafka_letter *letter_new(uint32_t source, int64_t place, const gale_value *key, const gale_value *value,
                                const gale_value *headers) {
    kafka_letter *letter = calloc(1, sizeof *letter);
    if (!letter) return NULL;
    letter->source = source;
    letter->place = place;
    letter->headers = rd_kafka_headers_new(8);
    if (!letter->headers || !copy_bytes(key, &letter->key) || !copy_bytes(value, &letter->value)) {
        letter_free(letter);
        return NULL;
    }
    letter->bytes = sizeof *letter + letter->key.size + letter->value.size;
    add_headers(letter, headers);
    return letter;
}

static void say_text(kafka_letter *letter, const char *name, const char *text) {
    gale_value value = gale_text(text);
    add_header(letter, name, strlen(name), &value);
}

static void say_number(kafka_letter *letter, const char *name, int64_t number) {
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, number);
    say_text(letter, name, text);
}

static void say_why(kafka_letter *letter, const kafka_origin *origin, const gale_failure *failure) {
    say_text(letter, "gale.reason", gale_reason_name(failure->reason));
    say_text(letter, "gale.words", failure->text);
    if (failure->component) say_text(letter, "gale.component", failure->component);
    say_text(letter, "gale.topic", origin->topic);
    say_number(letter, "gale.partition", origin->partition);
    say_number(letter, "gale.offset", origin->place);
}

/* --- All that are not written ---------------------------------------------------------------------------------------- */

static void append(kafka_letters *letters, kafka_letter *letter) {
    *(letters->last ? &letters->last->next : &letters->first) = letter;
    letters->last = letter;
    letters->count++;
    letters->bytes += letter->bytes;
    letters->client.busy = true;
}

/* Most are confirmed in order. */
static void take_out(kafka_letters *letters, const kafka_letter *letter) {
    kafka_letter *before = NULL, *at = letters->first;
    for (; at != letter; at = at->next) before = at;
    *(before ? &before->next : &letters->first) = at->next;
    if (letters->last == at) letters->last = before;
    letters->count--;
    letters->bytes -= at->bytes;
    letters->client.busy = letters->count > 0;
}

static void end_letter(kafka_letters *letters, kafka_letter *letter) {
    take_out(letters, letter);
    letters->written(letters->user, letter->source, letter->place);
    letter_free(letter);
}

/* --- Out ------------------------------------------------------------------------------------------------------------- */

static void try_later(kafka_letters *letters, kafka_letter *letter, rd_kafka_resp_err_t err) {
    letter->out = false;
    kafka_client_unwell(&letters->client, letters->topic, rd_kafka_err2str(err));
    (void)gale_watch_set(letters->client.out, letters->again, 0,
                         gale_context_now(letters->client.context) + GALE_SECOND);
}

/* Nothing would change that. */
static void leave_out(kafka_letters *letters, kafka_letter *letter, rd_kafka_resp_err_t err) {
    char text[GALE_FAILURE_TEXT];
    snprintf(text, sizeof text, "the message at offset %" PRId64 " can be no dead letter of %s, and is left out: %s",
             letter->place, letters->topic, rd_kafka_err2str(err));
    gale_report(letters->client.out, text);
    end_letter(letters, letter);
}

static void refused(kafka_letters *letters, kafka_letter *letter, rd_kafka_resp_err_t err) {
    if (kafka_message_is_refused(err))
        leave_out(letters, letter, err);
    else
        try_later(letters, letter, err);
}

static rd_kafka_resp_err_t produce(const kafka_letters *letters, const kafka_letter *letter) {
    rd_kafka_headers_t *headers = rd_kafka_headers_copy(letter->headers);
    rd_kafka_vu_t parts[] = {
        { .vtype = RD_KAFKA_VTYPE_TOPIC, .u.cstr = letters->topic },
        { .vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = RD_KAFKA_MSG_F_COPY },
        { .vtype = RD_KAFKA_VTYPE_KEY, .u.mem = { (void *)letter->key.data, letter->key.size } },
        { .vtype = RD_KAFKA_VTYPE_VALUE, .u.mem = { (void *)letter->value.data, letter->value.size } },
        { .vtype = RD_KAFKA_VTYPE_OPAQUE, .u.ptr = (void *)letter },
        { .vtype = RD_KAFKA_VTYPE_HEADERS, .u.headers = headers },
    };
    rd_kafka_error_t *error = rd_kafka_produceva(letters->client.rk, parts, sizeof parts / sizeof *parts);
    rd_kafka_resp_err_t err = error ? rd_kafka_error_code(error) : RD_KAFKA_RESP_ERR_NO_ERROR;
    if (error) rd_kafka_error_destroy(error);
    if (err) rd_kafka_headers_destroy(headers);
    return err;
}

static void send_letter(kafka_letters *letters, kafka_letter *letter) {
    letter->out = true;
    rd_kafka_resp_err_t err = produce(letters, letter);
    if (err) refused(letters, letter, err);
}

static void hear_delivery(rd_kafka_t *rk, const rd_kafka_message_t *sent, void *user) {
    kafka_letters *letters = user;
    kafka_letter *letter = sent->_private;
    (void)rk;
    if (sent->err) {
        refused(letters, letter, sent->err);
        return;
    }
    kafka_client_well(&letters->client);
    end_letter(letters, letter);
}

/* `next` is asked behind it: there may be room again, or the end. */
static int hear_bell(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    kafka_letters *letters = user;
    (void)out, (void)watch, (void)events;
    kafka_client_heard(&letters->client);
    while (rd_kafka_poll(letters->client.rk, 0) > 0) {
    }
    return 0;
}

static int hear_again(void *user, gale_collector *out, gale_watch watch, int32_t events) {
    kafka_letters *letters = user;
    (void)out, (void)watch, (void)events;
    for (kafka_letter *letter = letters->first, *next; letter; letter = next) {
        next = letter->next;
        if (!letter->out) send_letter(letters, letter);
    }
    return 0;
}

static int add(kafka_letters *letters, kafka_letter *letter, const kafka_origin *origin, const gale_failure *failure) {
    if (!letter) return GALE_NO_MEMORY;
    say_why(letter, origin, failure);
    letter->begun = true;
    append(letters, letter);
    send_letter(letters, letter);
    return 0;
}

int kafka_letters_add(kafka_letters *letters, const kafka_origin *origin, const gale_value *key,
                      const gale_value *value, const gale_value *headers, const gale_failure *failure) {
    return add(letters, letter_new(origin->source, origin->place, key, value, headers), origin, failure);
}

static gale_value value_of(const void *data, size_t size) {
    return data ? gale_bytes(data, size) : gale_null();
}

int kafka_letters_add_message(kafka_letters *letters, uint32_t source, const rd_kafka_message_t *message,
                              const gale_failure *failure) {
    const kafka_origin origin = { rd_kafka_topic_name(message->rkt), message->partition, source, message->offset };
    gale_value key = value_of(message->key, message->key_len), value = value_of(message->payload, message->len);
    kafka_letter *letter = letter_new(source, message->offset, &key, &value, NULL);
    rd_kafka_headers_t *headers;
    if (letter && !rd_kafka_message_headers(message, &headers)) {
        rd_kafka_headers_destroy(letter->headers);
        letter->headers = rd_kafka_headers_copy(headers);
    }
    return add(letters, letter, &origin, failure);
}

bool kafka_letters_want(const kafka_letters *letters) {
    return letters->count < KAFKA_LETTERS_MAX && letters->bytes < KAFKA_LETTERS_BYTES;
}

/* --- Checkpoints ------------------------------------------------------------------------------------------------------ */

/* As they were given: names and values in turn. */
static int save_one(const kafka_letter *letter, gale_saver *to) {
    size_t count = rd_kafka_header_cnt(letter->headers), size;
    const char *name;
    const void *data;
    gale_value *list = calloc(2 * count + 1, sizeof *list);
    if (!list) return GALE_NO_MEMORY;
    for (size_t i = 0; i < count && !rd_kafka_header_get_all(letter->headers, i, &name, &data, &size); i++) {
        list[2 * i] = gale_bytes(name, strlen(name));
        list[2 * i + 1] = value_of(data, size);
    }
    const gale_value row[] = { gale_i64(letter->source), gale_i64(letter->place),
                               value_of(letter->key.data, letter->key.size),
                               value_of(letter->value.data, letter->value.size), gale_list(list, 2 * count) };
    int rc = gale_save(to, row, sizeof row / sizeof *row);
    free(list);
    return rc;
}

int kafka_letters_save(const kafka_letters *letters, gale_saver *to) {
    int rc = 0;
    for (const kafka_letter *letter = letters->first; rc == 0 && letter; letter = letter->next)
        rc = save_one(letter, to);
    return rc;
}

static bool is_letter(const gale_value *row, size_t count) {
    bool is = count == 5 && row[0].type == GALE_TYPE_I64 && row[1].type == GALE_TYPE_I64 &&
              row[4].type == GALE_TYPE_LIST && row[4].size % 2 == 0;
    for (size_t i = 0; is && i < row[4].size; i += 2) is = gale_list_at(&row[4], i).type == GALE_TYPE_BYTES;
    return is;
}

int kafka_letters_restore(kafka_letters *letters, size_t count, gale_saved *from) {
    for (size_t i = 0; i < count; i++) {
        const gale_value *row;
        size_t values;
        int rc = gale_saved_next(from, &row, &values);
        if (rc < 0) return rc;
        if (rc == 0 || !is_letter(row, values)) return GALE_DAMAGED;
        kafka_letter *letter = letter_new((uint32_t)row[0].as.i64, row[1].as.i64, &row[2], &row[3], &row[4]);
        if (!letter) return GALE_NO_MEMORY;
        append(letters, letter);
    }
    (void)gale_watch_set(letters->client.out, letters->again, 0, gale_context_now(letters->client.context));
    return 0;
}

static kafka_letter *next_to_begin(const kafka_letters *letters, uint32_t source, int64_t before) {
    kafka_letter *next = NULL;
    for (kafka_letter *letter = letters->first; letter; letter = letter->next) {
        bool fits = !letter->begun && letter->source == source && letter->place < before;
        if (fits && (!next || letter->place < next->place)) next = letter;
    }
    return next;
}

void kafka_letters_begin(kafka_letters *letters, gale_positions *positions, uint32_t source, int64_t place) {
    kafka_letter *next;
    while ((next = next_to_begin(letters, source, place))) {
        next->begun = true;
        (void)gale_positions_start(positions, next->place);
        (void)gale_positions_begin(positions, next->place);
    }
}

/* --- The whole -------------------------------------------------------------------------------------------------------- */

/* What is said to a consumer is nothing to a producer, and what matters to it is its own. */
static int configure(rd_kafka_conf_t *conf, gale_error *error) {
    static const char *const rows[][2] = {
        { "enable.idempotence", "true" },
        { "partitioner", "murmur2_random" },
        { "message.timeout.ms", "0" },
    };
    char why[200];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rd_kafka_conf_set(conf, rows[i][0], rows[i][1], why, sizeof why) != RD_KAFKA_CONF_OK)
            return gale_error_set(error, GALE_INVALID, "deadLetters: %s", why);
    rd_kafka_conf_set_dr_msg_cb(conf, hear_delivery);
    return 0;
}

static int begin_again(kafka_letters *letters, gale_error *error) {
    gale_watch_options options = GALE_WATCH_OPTIONS_INIT;
    options.always = true;
    options.call = hear_again;
    options.user = letters;
    int rc = gale_watch_new(letters->client.out, &options, &letters->again);
    return rc < 0 ? gale_error_set(error, rc, "kafka: a timer cannot be made: %s", gale_error_text(rc)) : 0;
}

int kafka_letters_open(kafka_letters *letters, const kafka_settings *given, const char *topic,
                       const gale_context *context, gale_collector *out, gale_error *error) {
    kafka_client_init(&letters->client, given, context, out);
    letters->topic = topic;
    if (!topic) return 0;
    rd_kafka_conf_t *conf = kafka_settings_conf(given, error);
    if (!conf) return error->code;
    int rc = configure(conf, error);
    if (rc < 0) {
        rd_kafka_conf_destroy(conf);
        return rc;
    }
    letters->client.quiet = true;
    rc = kafka_client_open(&letters->client, RD_KAFKA_PRODUCER, conf, hear_bell, true, error);
    return rc < 0 ? rc : begin_again(letters, error);
}

void kafka_letters_finish(kafka_letters *letters) {
    if (!letters->client.rk) return;
    int64_t until = gale_context_now(letters->client.context) + KAFKA_LETTERS_END;
    while (letters->count && gale_context_now(letters->client.context) < until)
        (void)rd_kafka_poll(letters->client.rk, 50);
}

void kafka_letters_close(kafka_letters *letters) {
    if (letters->client.rk) {
        (void)rd_kafka_purge(letters->client.rk, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
        if (letters->again) (void)gale_watch_free(letters->client.out, letters->again);
        kafka_client_close(&letters->client);
    }
    while (letters->first) {
        kafka_letter *letter = letters->first;
        letters->first = letter->next;
        letter_free(letter);
    }
}
