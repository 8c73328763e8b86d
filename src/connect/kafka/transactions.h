/* Epochs of a durable run (gale/connect.h) to Kafka: rows and marker in one transaction.
 *
 *      none --made, fenced, marker read--> ready --begin, produce, commit--> ready
 *        ^------------- whatever goes wrong -------'
 *
 * What:    the marker is a message of a compacted topic, whose key is the transactional id, and whose value is "RUN NUMBER". The id is the same in each run, so
 *          that a run that was thought to be dead can commit nothing any more, and what it left open is aborted (KIP-98). What became of a commit
 *          that was not answered, the marker says: it is read, committed messages alone, behind the beginning of each producer.
 * Threads: kafka_transactions_commit the committer's; making and freeing any. Owner: the epochs. */
#ifndef GALE_CONNECT_KAFKA_TRANSACTIONS_H
#define GALE_CONNECT_KAFKA_TRANSACTIONS_H

#include "connect/kafka/message.h"
#include "connect/kafka/settings.h"

#include <gale/connect.h>

enum { KAFKA_ID_MAX = 300 };

typedef struct kafka_transactions kafka_transactions;

/* `given`, `fields` and `topic` live longer. NULL: memory is out. */
kafka_transactions *kafka_transactions_new(const kafka_settings *given, const kafka_fields *fields, const char *topic,
                                           const char *markers, const char *id);
void kafka_transactions_free(void *transactions);

/* A gale_epoch_commit_fn. GALE_STATE: another process has taken its place. */
int kafka_transactions_commit(void *transactions, gale_epoch *epoch, gale_error *error);

/* Are the brokers there? As the member `look` of gale_epochs_options. */
int kafka_transactions_look(void *transactions, gale_error *error);

#endif
