#include "connect/rabbitmq/words.h"

#include <amqp_framing.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* --- Sentences -------------------------------------------------------------------------------------------------------- */

void rmq_words(char to[RMQ_WORDS], const char *format, ...) {
    va_list list;
    va_start(list, format);
    (void)vsnprintf(to, RMQ_WORDS, format, list);
    va_end(list);
    for (; *to; to++)
        if ((unsigned char)*to < ' ' || (unsigned char)*to >= 0x7f) *to = '?';
}

void rmq_words_status(char to[RMQ_WORDS], int status) {
    rmq_words(to, "%s", amqp_error_string2(status));
}

void rmq_words_closed(char to[RMQ_WORDS], unsigned code, amqp_bytes_t text) {
    rmq_words(to, "%u %.*s", code, (int)(text.len < 300 ? text.len : 300), text.len ? (const char *)text.bytes : "");
}

static void say_exception(char to[RMQ_WORDS], const amqp_method_t *method) {
    const amqp_connection_close_t *connection = method->decoded;
    const amqp_channel_close_t *channel = method->decoded;
    if (method->id == AMQP_CONNECTION_CLOSE_METHOD)
        rmq_words_closed(to, connection->reply_code, connection->reply_text);
    else if (method->id == AMQP_CHANNEL_CLOSE_METHOD)
        rmq_words_closed(to, channel->reply_code, channel->reply_text);
    else
        rmq_words(to, "the broker answered something else than what was asked");
}

void rmq_words_of(char to[RMQ_WORDS], const amqp_rpc_reply_t *reply) {
    if (reply->reply_type == AMQP_RESPONSE_SERVER_EXCEPTION)
        say_exception(to, &reply->reply);
    else if (reply->reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION)
        rmq_words_status(to, reply->library_error);
    else
        rmq_words(to, "the broker gave no answer");
}

/* --- The nearest name ------------------------------------------------------------------------------------------------- */

enum { LONGEST = 40 };

static size_t least(size_t a, size_t b, size_t c) {
    size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* How many letters are to be changed, put in or left out; capitals are the same. */
static size_t distance_of(gale_str a, const char *b, size_t size) {
    size_t row[LONGEST + 1];
    for (size_t j = 0; j <= size; j++) row[j] = j;
    for (size_t i = 1; i <= a.size; i++) {
        size_t before = row[0];
        row[0] = i;
        for (size_t j = 1; j <= size; j++) {
            size_t above = row[j];
            bool same = tolower((unsigned char)a.data[i - 1]) == tolower((unsigned char)b[j - 1]);
            row[j] = least(above + 1, row[j - 1] + 1, before + !same);
            before = above;
        }
    }
    return row[size];
}

const char *rmq_hint(gale_str wanted, const char *const *names, char to[RMQ_HINT]) {
    size_t nearest = wanted.size / 3 + 2;
    *to = '\0';
    for (; *names && wanted.size <= LONGEST; names++) {
        size_t size = strlen(*names), distance = size <= LONGEST ? distance_of(wanted, *names, size) : nearest;
        if (distance >= nearest || distance >= size) continue;
        nearest = distance;
        snprintf(to, RMQ_HINT, "; did you mean '%s'?", *names);
    }
    return to;
}

/* --- Copies ----------------------------------------------------------------------------------------------------------- */

int rmq_no_memory(gale_error *error) {
    return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
}

int rmq_copy(char **to, const gale_args *args, const char *parameter, gale_error *error) {
    const char *text = gale_args_text(args, parameter);
    *to = text && *text ? strdup(text) : NULL;
    return text && *text && !*to ? rmq_no_memory(error) : 0;
}

amqp_bytes_t rmq_bytes(const void *data, size_t size) {
    return (amqp_bytes_t){ .len = size, .bytes = size ? (void *)data : NULL };
}
