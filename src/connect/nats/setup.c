#include "connect/nats/setup.h"

#include <string.h>

int nats_setup_say(gale_error *error, const char *what, const char *name, natsStatus status) {
    natsStatus last;
    const char *words = nats_GetLastError(&last);
    if (status == NATS_NO_RESPONDERS)
        words = "nobody answers: JetStream is not enabled there, or not ready";
    else if (!words || !*words || last != status)
        words = natsStatus_GetText(status);
    return gale_error_set(error, GALE_AGAIN, "%s %s: %s", what, name, words);
}

int nats_setup_stream(jsCtx *js, const char *stream, int64_t *ret_made, gale_error *error) {
    jsStreamInfo *info = NULL;
    natsStatus status = js_GetStreamInfo(&info, js, stream, NULL, NULL);
    if (status == NATS_NOT_FOUND) return gale_error_set(error, GALE_AGAIN, "stream %s is not there", stream);
    if (status != NATS_OK) return nats_setup_say(error, "stream", stream, status);
    *ret_made = info->Created;
    jsStreamInfo_Destroy(info);
    return 0;
}

/* --- The consumer ------------------------------------------------------------------------------------------------------------- */

static natsStatus make_consumer(const nats_reading *r, jsCtx *js, jsConsumerInfo **ret_info) {
    jsConsumerConfig config;
    natsStatus status = jsConsumerConfig_Init(&config);
    if (status != NATS_OK) return status;
    config.Durable = r->consumer;
    config.Description = "gale";
    config.DeliverPolicy = r->from;
    config.OptStartSeq = r->from_sequence;
    config.AckPolicy = js_AckExplicit;
    config.AckWait = r->ack_wait;
    config.MaxDeliver = -1;
    config.MaxAckPending = r->in_flight;
    config.FilterSubject = r->filter;
    return js_AddConsumer(ret_info, js, r->stream, &config, NULL, NULL);
}

static int differs(gale_error *error, const nats_reading *r, const char *why) {
    return gale_error_set(error, GALE_AGAIN, "consumer %s of %s: %s", r->consumer, r->stream, why);
}

static int check_consumer(const nats_reading *r, const jsConsumerConfig *config, gale_error *error) {
    const char *filter = config->FilterSubject ? config->FilterSubject : "";
    if (config->DeliverSubject && *config->DeliverSubject)
        return differs(error, r, "it is one that messages are pushed to; gale reads those that are asked for messages");
    if (config->AckPolicy != js_AckExplicit)
        return differs(error, r, "its ack policy is not explicit: each message must have an answer of its own");
    if (r->filter && strcmp(filter, r->filter) != 0)
        return gale_error_set(error, GALE_AGAIN, "consumer %s of %s: its subject is '%s', and not '%s'", r->consumer,
                              r->stream, filter, r->filter);
    return 0;
}

static void take_info(const jsConsumerInfo *info, nats_about *about) {
    about->ack_wait = info->Config->AckWait;
    about->max_ack_pending = info->Config->MaxAckPending;
    about->acked_to = (int64_t)info->AckFloor.Stream;
    about->pending = (int64_t)info->NumPending;
    about->ack_pending = info->NumAckPending;
}

static int find_consumer(const nats_reading *r, jsCtx *js, nats_about *about, gale_error *error) {
    jsConsumerInfo *info = NULL;
    natsStatus status = js_GetConsumerInfo(&info, js, r->stream, r->consumer, NULL, NULL);
    if (status == NATS_NOT_FOUND && !r->create) return differs(error, r, "it is not there, and `create` is false");
    if (status == NATS_NOT_FOUND) status = make_consumer(r, js, &info);
    if (status != NATS_OK) return nats_setup_say(error, "consumer", r->consumer, status);
    int rc = info->Config ? check_consumer(r, info->Config, error) : differs(error, r, "nothing is said of it");
    if (rc == 0) take_info(info, about);
    jsConsumerInfo_Destroy(info);
    return rc;
}

int nats_setup_consumer(const void *user, natsConnection *nc, nats_about *about, gale_error *error) {
    const nats_reading *r = user;
    jsCtx *js = NULL;
    jsOptions options;
    (void)jsOptions_Init(&options);
    options.Wait = r->nats.timeout;
    natsStatus status = natsConnection_JetStream(&js, nc, &options);
    if (status != NATS_OK) return nats_setup_say(error, "stream", r->stream, status);
    int rc = nats_setup_stream(js, r->stream, &about->stream_made, error);
    if (rc == 0) rc = find_consumer(r, js, about, error);
    jsCtx_Destroy(js);
    return rc;
}
