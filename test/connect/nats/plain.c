/* The plain loops that rates.py puts beside gale: cnats alone, which keeps nothing.
 *
 * usage: plain read URL SUBJECT CONSUMER COUNT     fetches, and acks each message
 *        plain write URL SUBJECT FILE [ids]        publishes each line, asynchronously, until all are acked; with an id for each */
#include <nats/nats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 1000, PENDING = 8192 };

static int fail(const char *what, natsStatus status) {
    fprintf(stderr, "%s: %s\n", what, natsStatus_GetText(status));
    return 1;
}

static natsStatus fetch_all(natsSubscription *sub, long count) {
    natsStatus status = NATS_OK;
    while (status == NATS_OK && count > 0) {
        natsMsgList list;
        status = natsSubscription_Fetch(&list, sub, BATCH, 5000, NULL);
        for (int i = 0; status == NATS_OK && i < list.Count; i++, count--) status = natsMsg_Ack(list.Msgs[i], NULL);
        natsMsgList_Destroy(&list);
    }
    return status;
}

static int read_all(natsConnection *nc, jsCtx *js, char **arguments) {
    natsSubscription *sub = NULL;
    jsSubOptions options;
    jsSubOptions_Init(&options);
    options.Config.MaxAckPending = 10000;
    natsStatus status = js_PullSubscribe(&sub, js, arguments[3], arguments[4], NULL, &options, NULL);
    if (status == NATS_OK) status = fetch_all(sub, atol(arguments[5]));
    if (status == NATS_OK) status = natsConnection_Flush(nc);
    natsSubscription_Destroy(sub);
    return status == NATS_OK ? 0 : fail("read", status);
}

static int write_all(jsCtx *js, char **arguments, int ids) {
    char *line = NULL, id[40];
    size_t room = 0;
    ssize_t size;
    jsPubOptions options;
    jsPubOptions_Init(&options);
    if (ids) options.MsgId = id;
    natsStatus status = NATS_OK;
    FILE *file = fopen(arguments[4], "r");
    if (!file) return 1;
    for (long n = 0; status == NATS_OK && (size = getline(&line, &room, file)) > 0; n++) {
        snprintf(id, sizeof id, "plain-%ld", n);
        status = js_PublishAsync(js, arguments[3], line, (int)size - 1, &options);
    }
    if (status == NATS_OK) status = js_PublishAsyncComplete(js, NULL);
    fclose(file);
    free(line);
    return status == NATS_OK ? 0 : fail("write", status);
}

int main(int count, char **arguments) {
    natsConnection *nc = NULL;
    jsCtx *js = NULL;
    jsOptions options;
    if (count < 5) return 2;
    jsOptions_Init(&options);
    options.PublishAsync.MaxPending = PENDING;
    options.PublishAsync.StallWait = 60000;
    natsStatus status = natsConnection_ConnectTo(&nc, arguments[2]);
    if (status == NATS_OK) status = natsConnection_JetStream(&js, nc, &options);
    if (status != NATS_OK) return fail("connect", status);
    int rc = strcmp(arguments[1], "read") == 0 ? read_all(nc, js, arguments) : write_all(js, arguments, count == 6);
    jsCtx_Destroy(js);
    natsConnection_Destroy(nc);
    return rc;
}
