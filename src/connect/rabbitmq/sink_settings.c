/* What a file says of a sink. */
#include "connect/rabbitmq/sink.h"
#include "connect/rabbitmq/template.h"

#include <stdlib.h>
#include <string.h>

void rmq_sink_settings_free(void *user) {
    rmq_sink_settings *made = user;
    rmq_fields *fields = &made->fields;
    char *texts[] = { fields->exchange, fields->key,          fields->body, fields->id,
                      fields->time,     fields->content_type, fields->type };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) free(texts[i]);
    for (size_t i = 0; i < fields->header_count; i++) free(fields->headers[i]);
    rmq_settings_free(&made->broker);
    rmq_declare_free(&made->declare);
    free(made);
}

static int copy_or_empty(char **to, const gale_args *args, const char *parameter, gale_error *error) {
    const char *text = gale_args_text(args, parameter);
    *to = strdup(text ? text : "");
    return *to ? 0 : rmq_no_memory(error);
}

static int read_headers(rmq_fields *fields, const gale_args *args, gale_error *error) {
    static const char between[] = ", ";
    const char *at = gale_args_text(args, "headers");
    for (; at && *(at += strspn(at, between)); fields->header_count++) {
        size_t size = strcspn(at, between);
        if (fields->header_count == RMQ_HEADERS_MAX)
            return gale_error_set(error, GALE_INVALID, "headers: there are at most %d", RMQ_HEADERS_MAX);
        if (size >= 128) return gale_error_set(error, GALE_INVALID, "headers: a name has at most 127 bytes");
        if (!(fields->headers[fields->header_count] = strndup(at, size))) return rmq_no_memory(error);
        at += size;
    }
    return 0;
}

static int read_texts(rmq_fields *fields, const gale_args *args, gale_error *error) {
    int rc = copy_or_empty(&fields->exchange, args, "exchange", error);
    if (rc == 0) rc = copy_or_empty(&fields->key, args, "routingKey", error);
    if (rc == 0) rc = rmq_copy(&fields->body, args, "body", error);
    if (rc == 0) rc = rmq_copy(&fields->id, args, "id", error);
    if (rc == 0) rc = rmq_copy(&fields->time, args, "time", error);
    if (rc == 0) rc = rmq_copy(&fields->content_type, args, "contentType", error);
    if (rc == 0) rc = rmq_copy(&fields->type, args, "type", error);
    return rc < 0 ? rc : read_headers(fields, args, error);
}

static int check(const rmq_fields *fields, gale_error *error) {
    int rc = rmq_settings_check_short("exchange", fields->exchange, error);
    if (rc == 0) rc = rmq_settings_check_short("contentType", fields->content_type, error);
    if (rc == 0) rc = rmq_settings_check_short("type", fields->type, error);
    if (rc == 0) rc = rmq_template_check(fields->key, error);
    if (rc == 0 && !*fields->exchange && !*fields->key)
        rc = gale_error_set(error, GALE_INVALID, "routingKey: without an exchange it is the queue's name");
    return rc;
}

int rmq_sink_settings_make(rmq_sink_settings *made, const gale_args *args, gale_error *error) {
    int rc = rmq_settings_make(&made->broker, args, error);
    if (rc == 0) rc = read_texts(&made->fields, args, error);
    if (rc == 0) rc = check(&made->fields, error);
    if (rc == 0) rc = rmq_declare_read(&made->declare, args, NULL, made->fields.exchange, error);
    if (rc == 0 && made->declare.given && !*made->fields.exchange)
        rc = gale_error_set(error, GALE_INVALID, "declare: the exchange without a name is there always");
    made->fields.largest = (uint64_t)gale_args_whole(args, "maxMessage");
    made->fields.persistent = gale_args_flag(args, "persistent");
    made->fields.mandatory = gale_args_flag(args, "mandatory");
    made->memory = (uint64_t)gale_args_whole(args, "memory");
    made->most = (uint64_t)gale_args_whole(args, "inFlight");
    made->finish_wait = (int64_t)(gale_args_number(args, "finishWait") * 1e9);
    made->once = gale_args_flag(args, "once");
    return rc;
}
