/* Subjects with fields in them: "orders.{region}.{id}". The value of a field is one level; {+path} may have several.
 * Threads: any. Owner: nothing is kept. */
#ifndef GALE_CONNECT_NATS_SUBJECT_H
#define GALE_CONNECT_NATS_SUBJECT_H

#include <gale/error.h>
#include <gale/tuple.h>
#include <stdbool.h>
#include <stddef.h>

enum { NATS_SUBJECT_MAX = 1024 };

/* GALE_INVALID with a sentence that begins with "subject". */
int nats_subject_check(const char *template, gale_error *error);

/* Ends with a NUL. GALE_INVALID with a sentence in `why`: of this tuple no subject can be made. */
int nats_subject_write(const char *template, const gale_tuple *tuple, char to[NATS_SUBJECT_MAX], char *why,
                       size_t size);

/* Can something be published there: levels with points between them, no wildcard, no blank? */
bool nats_subject_valid(const char *subject, size_t size);

#endif
