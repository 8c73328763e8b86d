/* A tuple in a message, and out of it again, each value as it was: what a stream is between two processes.
 *
 * What:    packing makes two texts: the key, of the fields that a grouping goes by (of one field its text, of several a list of
 *          JSON), and the value, an object of JSON with the fields (front/exact_json.h). Unpacking makes the fields of the
 *          object again; what is none, or lacks a field, is rejected in words.
 * Threads: the functions any thread; instances belong to their task. Owner: texts are copied.
 * Limits:  those of kit/fields.h.
 */
#ifndef GX_FRONT_PACKING_H
#define GX_FRONT_PACKING_H

#include "base/port.h"

#include <gale/component.h>
#include <gale/error.h>

/* Emits `key` and `value`. GALE_INVALID: names that are none. */
int gx_packing_bolt(const char *fields, const char *key, gale_bolt *ret_bolt, gale_error *error);

/* `field` names what has the object; NULL: the first. */
int gx_unpacking_bolt(const char *fields, const char *field, gale_bolt *ret_bolt, gale_error *error);

#endif
