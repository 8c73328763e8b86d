#include "connect/rabbitmq/declare.h"

#include "connect/rabbitmq/settings.h"

#include <amqp_framing.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHANNEL = 1 };

/* --- In a file -------------------------------------------------------------------------------------------------------- */

enum { DURABLE, QUORUM, EXCHANGE, TYPE, BINDINGS, DEAD_EXCHANGE, DEAD_QUEUE, ARGUMENTS };
static const char *const of_spouts[] = {
    "durable", "quorum", "exchange", "type", "bindings", "deadLetterExchange", "deadLetterQueue", "arguments", NULL
};
static const char *const of_sinks[] = { "durable", "type", NULL };

static int refuse(gale_error *error, gale_str name, const char *what) {
    return gale_error_set(error, GALE_INVALID, "declare: %.*s %s", (int)name.size, name.data, what);
}

static bool is_named(gale_str name, const char *text) {
    return name.size == strlen(text) && memcmp(name.data, text, name.size) == 0;
}

/* -1: there is none of that name. */
static int place_of(gale_str name, const char *const *names) {
    for (int i = 0; names[i]; i++)
        if (is_named(name, names[i])) return i;
    return -1;
}

static int copy_short(char **to, gale_str name, const gale_value *value, gale_error *error) {
    if (value->type != GALE_TYPE_STRING || !value->size || value->size >= RMQ_NAME)
        return refuse(error, name, "is a text of 1 to 255 bytes");
    free(*to);
    *to = strndup(value->as.string, value->size);
    return *to ? 0 : rmq_no_memory(error);
}

static int read_flag(bool *to, gale_str name, const gale_value *value, gale_error *error) {
    if (value->type != GALE_TYPE_BOOL) return refuse(error, name, "is true or false");
    *to = value->as.boolean;
    return 0;
}

static int read_type(rmq_declare *declare, gale_str name, const gale_value *value, gale_error *error) {
    static const char *const types[] = { "direct", "fanout", "topic", "headers", NULL };
    char hint[RMQ_HINT];
    int rc = copy_short(&declare->type, name, value, error);
    if (rc < 0) return rc;
    gale_str type = { declare->type, strlen(declare->type) };
    if (place_of(type, types) >= 0 || strncmp(type.data, "x-", 2) == 0) return 0;
    return gale_error_set(error, GALE_INVALID, "declare: type is direct, fanout, topic, headers or x-...%s",
                          rmq_hint(type, types, hint));
}

static int add_binding(rmq_declare *declare, gale_str name, const gale_value *value, gale_error *error) {
    if (declare->binding_count == RMQ_BINDINGS_MAX) return refuse(error, name, "are at most 64");
    return copy_short(&declare->bindings[declare->binding_count++], name, value, error);
}

static int read_bindings(rmq_declare *declare, gale_str name, const gale_value *value, gale_error *error) {
    if (value->type != GALE_TYPE_LIST) return add_binding(declare, name, value, error);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < value->size; i++) {
        gale_value one = gale_list_at(value, i);
        rc = add_binding(declare, name, &one, error);
    }
    return rc;
}

static int read_argument(rmq_argument *argument, gale_str name, const gale_value *value, gale_error *error) {
    const gale_value text = gale_string(name.data, name.size);
    int rc = copy_short(&argument->name, name, &text, error);
    if (rc < 0) return rc;
    argument->is_flag = value->type == GALE_TYPE_BOOL;
    switch (value->type) {
    case GALE_TYPE_STRING: return copy_short(&argument->text, name, value, error);
    case GALE_TYPE_I64: argument->number = value->as.i64; return 0;
    case GALE_TYPE_BOOL: argument->number = value->as.boolean; return 0;
    default: return refuse(error, name, "is a text, a whole number, true or false");
    }
}

static int read_arguments(rmq_declare *declare, gale_str name, const gale_value *map, gale_error *error) {
    gale_str key;
    gale_value value;
    int rc = map->type == GALE_TYPE_MAP ? 0 : refuse(error, name, "is a map: {x-max-length: 1000}");
    for (size_t i = 0; rc == 0 && gale_map_at(map, i, &key, &value); i++) {
        if (declare->argument_count == RMQ_ARGUMENTS_MAX) return refuse(error, name, "are at most 16");
        rc = read_argument(&declare->arguments[declare->argument_count++], key, &value, error);
    }
    return rc;
}

static int read_one(rmq_declare *declare, int place, gale_str name, const gale_value *value, gale_error *error) {
    switch (place) {
    case DURABLE: return read_flag(&declare->durable, name, value, error);
    case QUORUM: return read_flag(&declare->quorum, name, value, error);
    case EXCHANGE: return copy_short(&declare->exchange, name, value, error);
    case TYPE: return read_type(declare, name, value, error);
    case BINDINGS: return read_bindings(declare, name, value, error);
    case DEAD_EXCHANGE: return copy_short(&declare->dead_exchange, name, value, error);
    case DEAD_QUEUE: return copy_short(&declare->dead_queue, name, value, error);
    default: return read_arguments(declare, name, value, error);
    }
}

/* A sink's names have the places of a spout's. */
static int read_pair(rmq_declare *declare, gale_str name, const gale_value *value, gale_error *error) {
    const char *const *names = declare->queue ? of_spouts : of_sinks;
    char hint[RMQ_HINT];
    if (place_of(name, names) < 0)
        return gale_error_set(error, GALE_INVALID, "declare: %.*s is none of its names%s",
                              (int)(name.size < 60 ? name.size : 60), name.data, rmq_hint(name, names, hint));
    return read_one(declare, place_of(name, of_spouts), name, value, error);
}

static int check(const rmq_declare *declare, gale_error *error) {
    if (declare->quorum && !declare->durable)
        return gale_error_set(error, GALE_INVALID, "declare: a quorum queue is durable");
    if (declare->binding_count && !declare->exchange)
        return gale_error_set(error, GALE_INVALID, "declare: bindings are to an exchange, which exchange says");
    if (declare->dead_queue && !declare->dead_exchange)
        return gale_error_set(error, GALE_INVALID, "declare: deadLetterQueue is bound to deadLetterExchange");
    return 0;
}

int rmq_declare_read(rmq_declare *declare, const gale_args *args, const char *queue, const char *exchange,
                     gale_error *error) {
    gale_value map = gale_args_value(args, "declare"), value;
    gale_str name;
    int rc = 0;
    *declare = (rmq_declare){ .durable = true, .given = gale_args_given(args, "declare") };
    if (queue && !(declare->queue = strdup(queue))) return rmq_no_memory(error);
    if (exchange && !(declare->exchange = strdup(exchange))) return rmq_no_memory(error);
    for (size_t i = 0; rc == 0 && map.type == GALE_TYPE_MAP && gale_map_at(&map, i, &name, &value); i++)
        rc = read_pair(declare, name, &value, error);
    return rc < 0 ? rc : check(declare, error);
}

void rmq_declare_free(rmq_declare *declare) {
    free(declare->queue);
    free(declare->exchange);
    free(declare->type);
    free(declare->dead_exchange);
    free(declare->dead_queue);
    for (size_t i = 0; i < declare->binding_count; i++) free(declare->bindings[i]);
    for (size_t i = 0; i < declare->argument_count; i++) {
        free(declare->arguments[i].name);
        free(declare->arguments[i].text);
    }
}

/* --- At the broker ---------------------------------------------------------------------------------------------------- */

static bool is_done(amqp_connection_state_t state, const char *what, const char *name, char why[RMQ_WORDS]) {
    char said[RMQ_WORDS];
    amqp_rpc_reply_t reply = amqp_get_rpc_reply(state);
    if (reply.reply_type == AMQP_RESPONSE_NORMAL) return true;
    rmq_words_of(said, &reply);
    rmq_words(why, "%s %s: %s", what, name, said);
    return false;
}

static bool declare_exchange(amqp_connection_state_t state, const char *name, const char *type, bool passive,
                             bool durable, char why[RMQ_WORDS]) {
    (void)amqp_exchange_declare(state, CHANNEL, amqp_cstring_bytes(name), amqp_cstring_bytes(type ? type : "direct"),
                                passive, durable, false, false, amqp_empty_table);
    return is_done(state, "exchange", name, why);
}

static bool declare_queue(amqp_connection_state_t state, const char *name, bool passive, bool durable,
                          const amqp_table_t *arguments, char why[RMQ_WORDS]) {
    (void)amqp_queue_declare(state, CHANNEL, amqp_cstring_bytes(name), passive, durable, false, false, *arguments);
    return is_done(state, "queue", name, why);
}

static bool bind_queue(amqp_connection_state_t state, const char *queue, const char *exchange, const char *key,
                       char why[RMQ_WORDS]) {
    (void)amqp_queue_bind(state, CHANNEL, amqp_cstring_bytes(queue), amqp_cstring_bytes(exchange),
                          amqp_cstring_bytes(key), amqp_empty_table);
    return is_done(state, "binding of", queue, why);
}

static amqp_table_entry_t text_entry(const char *name, const char *text) {
    return (amqp_table_entry_t){ .key = amqp_cstring_bytes(name),
                                 .value = { .kind = AMQP_FIELD_KIND_UTF8, .value.bytes = amqp_cstring_bytes(text) } };
}

static amqp_table_entry_t entry_of(const rmq_argument *argument) {
    amqp_table_entry_t entry = { .key = amqp_cstring_bytes(argument->name) };
    if (argument->text) return text_entry(argument->name, argument->text);
    entry.value.kind = argument->is_flag ? AMQP_FIELD_KIND_BOOLEAN : AMQP_FIELD_KIND_I64;
    if (argument->is_flag)
        entry.value.value.boolean = argument->number != 0;
    else
        entry.value.value.i64 = argument->number;
    return entry;
}

static bool declare_own_queue(const rmq_declare *declare, amqp_connection_state_t state, char why[RMQ_WORDS]) {
    amqp_table_entry_t entries[RMQ_ARGUMENTS_MAX + 2];
    amqp_table_t table = { .entries = entries };
    if (declare->quorum) entries[table.num_entries++] = text_entry("x-queue-type", "quorum");
    if (declare->dead_exchange)
        entries[table.num_entries++] = text_entry("x-dead-letter-exchange", declare->dead_exchange);
    for (size_t i = 0; i < declare->argument_count; i++)
        entries[table.num_entries++] = entry_of(&declare->arguments[i]);
    return declare_queue(state, declare->queue, false, declare->durable, &table, why);
}

/* Letters that nobody takes are lost: their exchange is declared with what is to keep them. */
static bool declare_dead(const rmq_declare *declare, amqp_connection_state_t state, char why[RMQ_WORDS]) {
    if (!declare->dead_exchange) return true;
    if (!declare_exchange(state, declare->dead_exchange, "fanout", !declare->dead_queue, true, why)) return false;
    return !declare->dead_queue || (declare_queue(state, declare->dead_queue, false, true, &amqp_empty_table, why) &&
                                    bind_queue(state, declare->dead_queue, declare->dead_exchange, "", why));
}

static bool bind_all(const rmq_declare *declare, amqp_connection_state_t state, char why[RMQ_WORDS]) {
    bool is = true;
    if (declare->exchange && !declare->binding_count)
        return bind_queue(state, declare->queue, declare->exchange, declare->queue, why);
    for (size_t i = 0; is && i < declare->binding_count; i++)
        is = bind_queue(state, declare->queue, declare->exchange, declare->bindings[i], why);
    return is;
}

static bool of_a_queue(const rmq_declare *declare, amqp_connection_state_t state, char why[RMQ_WORDS]) {
    if (!declare->given) return declare_queue(state, declare->queue, true, true, &amqp_empty_table, why);
    if (declare->exchange &&
        !declare_exchange(state, declare->exchange, declare->type, !declare->type, declare->durable, why))
        return false;
    return declare_dead(declare, state, why) && declare_own_queue(declare, state, why) && bind_all(declare, state, why);
}

/* The exchange without a name is in every broker, and may not be declared. */
static bool of_an_exchange(const rmq_declare *declare, amqp_connection_state_t state, char why[RMQ_WORDS]) {
    if (!declare->exchange || !*declare->exchange) return true;
    return declare_exchange(state, declare->exchange, declare->type, !declare->given, declare->durable, why);
}

bool rmq_declare_carry_out(const rmq_declare *declare, amqp_connection_state_t state, char why[RMQ_WORDS]) {
    return declare->queue ? of_a_queue(declare, state, why) : of_an_exchange(declare, state, why);
}
