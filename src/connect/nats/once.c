#include "connect/nats/once.h"

#include "connect/nats/answer.h"
#include "connect/nats/library.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 4096, WINDOW_BYTES = 8 << 20, WORDS = 300 };

struct nats_once {
    const nats_settings *given;
    const nats_fields *fields;
    natsConnection *nc; /* NULL: there is none */
    natsSubscription *sub;
    char inbox[NATS_NAME_MAX]; /* "_INBOX.abc." */
    uint64_t run, number;      /* of the last epoch */
    uint64_t confirmed;        /* so many of its rows, the first */
};

/* A commit that is under way. */
typedef struct sending {
    nats_once *once;
    gale_epoch *epoch;
    gale_error *error;
    uint64_t next;  /* row that is published */
    uint64_t out;   /* that are not answered */
    size_t bytes;   /* published since none was out */
    bool *answered; /* rows */
} sending;

nats_once *nats_once_new(const nats_settings *given, const nats_fields *fields) {
    nats_once *once = calloc(1, sizeof *once);
    if (!once) return NULL;
    once->given = given;
    once->fields = fields;
    nats_library_hold();
    return once;
}

static void hang_up(nats_once *once) {
    natsSubscription_Destroy(once->sub);
    natsConnection_Destroy(once->nc);
    once->sub = NULL;
    once->nc = NULL;
}

void nats_once_free(void *once) {
    if (!once) return;
    hang_up(once);
    nats_library_release();
    free(once);
}

/* What was published and not answered may be there or not: the next attempt's connection publishes it again, in order. */
static int not_now(nats_once *once, const char *words, gale_error *error) {
    int rc = gale_error_set(error, GALE_AGAIN, "%s: %s", once->given->where, words);
    hang_up(once);
    return rc;
}

/* --- The connection --------------------------------------------------------------------------------------------------------------- */

static natsStatus subscribe(nats_once *once) {
    natsInbox *inbox = NULL;
    char subject[NATS_NAME_MAX + 2];
    natsStatus status = natsInbox_Create(&inbox);
    if (status != NATS_OK) return status;
    snprintf(once->inbox, sizeof once->inbox, "%s.", inbox);
    snprintf(subject, sizeof subject, "%s*", once->inbox);
    natsInbox_Destroy(inbox);
    status = natsConnection_SubscribeSync(&once->sub, once->nc, subject);
    return status == NATS_OK ? natsSubscription_SetPendingLimits(once->sub, 2 * WINDOW, -1) : status;
}

static int connect_now(nats_once *once, gale_error *error) {
    if (once->nc && natsConnection_Status(once->nc) == NATS_CONN_STATUS_CONNECTED) return 0;
    gale_error why = GALE_ERROR_INIT;
    hang_up(once);
    natsOptions *options = nats_settings_options(once->given, &why);
    if (!options) return not_now(once, why.text, error);
    natsStatus status = natsConnection_Connect(&once->nc, options);
    natsOptions_Destroy(options);
    if (status == NATS_OK) status = subscribe(once);
    if (status == NATS_OK) return 0;
    natsStatus last;
    const char *words = nats_GetLastError(&last);
    return not_now(once, words && *words && last == status ? words : natsStatus_GetText(status), error);
}

/* --- Answers ------------------------------------------------------------------------------------------------------------------------ */

static int refused(const sending *s, uint64_t row, const char *why) {
    return gale_error_set(s->error, GALE_INVALID, "%s: message %" PRIu64 " of the checkpoint is refused: %s",
                          s->once->given->where, row + 1, why);
}

static void be_confirmed(sending *s, uint64_t row) {
    if (s->answered[row]) return;
    s->answered[row] = true;
    s->out--;
    if (!s->out) s->bytes = 0;
    while (s->once->confirmed < s->next && s->answered[s->once->confirmed]) s->once->confirmed++;
}

static int hear(sending *s, natsMsg *msg) {
    char why[WORDS] = "no stream takes the subject, or JetStream is not there";
    nats_answer answer = NATS_NOT_NOW;
    uint64_t row = strtoull(natsMsg_GetSubject(msg) + strlen(s->once->inbox), NULL, 16);
    if (row >= s->next) return 0; /* nobody was asked that */
    if (!natsMsg_IsNoResponders(msg))
        answer = nats_answer_read(natsMsg_GetData(msg), (size_t)natsMsg_GetDataLength(msg), why, sizeof why);
    if (answer == NATS_HAS_IT) be_confirmed(s, row);
    if (answer == NATS_NEVER) return refused(s, row, why);
    return answer == NATS_NOT_NOW ? not_now(s->once, why, s->error) : 0;
}

/* One answer at least, or none within the time. */
static int wait_for_answer(sending *s) {
    natsMsg *msg = NULL;
    natsStatus status = natsSubscription_NextMsg(&msg, s->once->sub, s->once->given->timeout);
    if (status != NATS_OK)
        return not_now(s->once, status == NATS_TIMEOUT ? "nothing was confirmed in time" : natsStatus_GetText(status),
                       s->error);
    int rc = hear(s, msg);
    natsMsg_Destroy(msg);
    return rc;
}

/* --- Publishing --------------------------------------------------------------------------------------------------------------------- */

static int publish(sending *s, const nats_message *m) {
    char reply[NATS_NAME_MAX + 20], id[NATS_ID_MAX];
    nats_once *once = s->once;
    snprintf(reply, sizeof reply, "%s%" PRIx64, once->inbox, s->next);
    snprintf(id, sizeof id, "%" PRIx64 "-%" PRIx64 "-%" PRIx64, once->run, once->number, s->next);
    natsMsg *msg = nats_message_new(once->fields, m, reply, id);
    if (!msg) return gale_error_set(s->error, GALE_NO_MEMORY, "out of memory");
    natsStatus status = natsConnection_PublishMsg(once->nc, msg);
    natsMsg_Destroy(msg);
    if (status == NATS_MAX_PAYLOAD || status == NATS_INVALID_SUBJECT)
        return refused(s, s->next, natsStatus_GetText(status));
    if (status != NATS_OK) return not_now(once, natsStatus_GetText(status), s->error);
    s->out++;
    s->bytes += nats_message_size(once->fields, m);
    return 0;
}

static int send_row(sending *s, const gale_value *values, size_t count) {
    nats_message m;
    int rc = 0;
    if (!nats_message_from(s->once->fields, values, count, &m))
        return gale_error_set(s->error, GALE_DAMAGED, "%s: the headers of the sink are not those that were saved",
                              s->once->given->where);
    while (rc == 0 && s->out && (s->out >= WINDOW || s->bytes >= WINDOW_BYTES)) rc = wait_for_answer(s);
    if (rc == 0) rc = publish(s, &m);
    if (rc == 0) s->next++;
    return rc;
}

static int send_all(sending *s) {
    const gale_value *values;
    size_t count;
    int rc;
    uint64_t skip = s->once->confirmed;
    while ((rc = gale_epoch_next(s->epoch, &values, &count)) > 0) {
        bool done = s->next < skip;
        if (done) s->answered[s->next++] = true;
        rc = done ? 0 : send_row(s, values, count);
        if (rc < 0) return rc;
    }
    while (rc == 0 && s->out) rc = wait_for_answer(s);
    return rc;
}

int nats_once_commit(void *user, gale_epoch *epoch, gale_error *error) {
    nats_once *once = user;
    sending s = { .once = once, .epoch = epoch, .error = error };
    if (once->run != gale_epoch_run(epoch) || once->number != gale_epoch_number(epoch)) once->confirmed = 0;
    once->run = gale_epoch_run(epoch);
    once->number = gale_epoch_number(epoch);
    int rc = connect_now(once, error);
    if (rc < 0) return rc;
    s.answered = calloc(gale_epoch_count(epoch), sizeof *s.answered);
    rc = s.answered ? send_all(&s) : gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    free(s.answered);
    if (rc < 0 && once->nc) hang_up(once);
    return rc;
}

int nats_once_look(void *once, gale_error *error) {
    return connect_now(once, error);
}
