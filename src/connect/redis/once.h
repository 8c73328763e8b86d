/* Epochs of a durable run (gale/connect.h) to Redis: commands and marker in one MULTI.
 *
 *      connected --WATCH marker, GET marker--> it has this epoch: done
 *           ^                          '--MULTI, commands, SET marker, EXEC--> done
 *           |                                      '-- nil: the marker was set meanwhile --> from the beginning
 *           '------ whatever goes wrong, after a pause (the engine's)
 *
 * What:    the marker is a key that has the run's number and the last epoch's. It is watched before it is read, so that a transaction that a connection of before has
 *          left behind, unanswered, is either in already and is read, or cannot be executed any more once this one is (and the other way round). What Redis refuses in a
 *          transaction undoes nothing of the rest: such commands are told behind it, and put into the stream `refused`, or end the run.
 * Threads: redis_once_commit the committer's; making and freeing any. Owner: the epochs. */
#ifndef GALE_CONNECT_REDIS_ONCE_H
#define GALE_CONNECT_REDIS_ONCE_H

#include "connect/redis/sink_settings.h"

#include <gale/connect.h>

/* `given` is redis_sink_settings, and lives longer. NULL: memory is out. */
void *redis_once_new(const void *given, const char *id);
void redis_once_free(void *once);

/* A gale_epoch_commit_fn: of rows that have one value, a command's bytes. */
int redis_once_commit(void *once, gale_epoch *epoch, gale_error *error);

/* Is the server there? As the member `look` of gale_epochs_options. */
int redis_once_look(void *once, gale_error *error);

#endif
