/* Epochs of a durable run (gale/connect.h) to JetStream: each row has an id that is the same whenever it is sent, and the stream keeps one of each id.
 *
 *      none --connected--> ready --published, in order--> waiting --all confirmed--> ready
 *        ^------------------ whatever goes wrong -----------'
 *
 * What:    the id is RUN-EPOCH-ROW. What was confirmed is not sent again by this process; what a process before sent, and did not hear of, the stream knows, for as long as
 *          its duplicate window is.
 * Threads: nats_once_commit the committer's; making and freeing any. Owner: the epochs. */
#ifndef GALE_CONNECT_NATS_ONCE_H
#define GALE_CONNECT_NATS_ONCE_H

#include "connect/nats/message.h"
#include "connect/nats/settings.h"

#include <gale/connect.h>

typedef struct nats_once nats_once;

/* `given` and `fields` live longer. NULL: memory is out. */
nats_once *nats_once_new(const nats_settings *given, const nats_fields *fields);
void nats_once_free(void *once);

/* A gale_epoch_commit_fn. */
int nats_once_commit(void *once, gale_epoch *epoch, gale_error *error);

/* Is the server there? As the member `look` of gale_epochs_options. */
int nats_once_look(void *once, gale_error *error);

#endif
