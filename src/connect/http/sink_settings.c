/* What a file says of a sink. */
#include "connect/http/copy.h"
#include "connect/http/sink.h"

#include <stdlib.h>
#include <string.h>

void http_sink_settings_free(void *user) {
    http_sink_settings *made = user;
    http_access_fini(&made->access);
    free(made->document.body);
    free(made->document.index);
    free(made->document.id);
    free(made->method);
    free(made->content_type);
    free(made->key);
    free(made);
}

static int check_batch(http_sink_settings *made, const gale_args *args, gale_error *error) {
    bool alone = made->document.format == HTTP_JSON;
    bool given = gale_args_given(args, "batch");
    if (!given) made->batch = alone || made->document.format == HTTP_RAW || made->fields ? 1 : made->batch;
    if (alone && made->batch > 1)
        return gale_error_set(error, GALE_INVALID, "batch: a request of json has one tuple; lines and array have more");
    if (made->fields && made->batch > 1)
        return gale_error_set(error, GALE_INVALID,
                              "batch: url has fields, so that a request has one tuple; {request} is no field");
    return 0;
}

static int check_bulk(const http_sink_settings *made, gale_error *error) {
    if (made->document.format == HTTP_BULK) return 0;
    if (made->document.index) return gale_error_set(error, GALE_INVALID, "index: it is of format: bulk");
    if (made->document.id) return gale_error_set(error, GALE_INVALID, "id: it is of format: bulk");
    return 0;
}

/* A text in `body` that nobody calls JSON is sent as it is. */
static void read_format(http_sink_settings *made, const gale_args *args) {
    bool raw = made->document.body && !gale_args_given(args, "format");
    made->document.format = raw ? HTTP_RAW : http_document_format(gale_args_text(args, "format"));
}

static int read_texts(http_sink_settings *made, const gale_args *args, gale_error *error) {
    int rc = http_copy_text(&made->document.body, args, "body", error);
    if (rc == 0) rc = http_copy_text(&made->document.index, args, "index", error);
    if (rc == 0) rc = http_copy_text(&made->document.id, args, "id", error);
    if (rc == 0) rc = http_copy_text(&made->method, args, "method", error);
    if (rc == 0) rc = http_copy_text(&made->key, args, "key", error);
    if (rc == 0) rc = http_copy_text(&made->content_type, args, "contentType", error);
    if (rc < 0) return rc;
    read_format(made, args);
    if (!made->content_type) made->content_type = strdup(http_document_type(made->document.format));
    return made->content_type ? 0 : gale_error_set(error, GALE_NO_MEMORY, "out of memory");
}

static int check_once(const http_sink_settings *made, gale_error *error) {
    if (!made->once || made->document.format != HTTP_BULK) return 0;
    return gale_error_set(error, GALE_INVALID, "once: a document of _bulk counts once by its id");
}

int http_sink_settings_make(http_sink_settings *made, const gale_args *args, gale_error *error) {
    made->batch = (uint64_t)gale_args_whole(args, "batch");
    made->batch_bytes = (uint64_t)gale_args_whole(args, "batchBytes");
    made->memory = (uint64_t)gale_args_whole(args, "memory");
    made->most_answer = (uint64_t)gale_args_whole(args, "maxAnswer");
    made->linger = (int64_t)(gale_args_number(args, "linger") * 1e9);
    made->finish_wait = (int64_t)(gale_args_number(args, "finishWait") * 1e9);
    made->flight = (uint32_t)gale_args_whole(args, "inFlight");
    made->attempts = (uint32_t)gale_args_whole(args, "maxAttempts");
    made->once = gale_args_flag(args, "once");
    int rc = http_access_make(&made->access, args, true, error);
    if (rc == 0) rc = http_template_check(made->access.url, &made->fields, error);
    if (rc == 0) rc = read_texts(made, args, error);
    if (rc == 0) rc = check_batch(made, args, error);
    if (rc == 0) rc = check_bulk(made, error);
    return rc == 0 ? check_once(made, error) : rc;
}
