/* What is shown of a configuration: its secrets are not.
 *
 * What:    a key that is called after a secret (base/secret.h) has the value "***", and so have lists and maps below it; of a map's keys the
 *          same holds. So has a key whose value came from the environment (${ENV-NAME}). A text with a secret in it (base/secret.h: a
 *          URL's password, ?token=...) keeps all but that.
 * Threads: any. Errors: none.
 */
#ifndef GX_SERVE_REDACT_H
#define GX_SERVE_REDACT_H

#include "base/json.h"
#include "base/str.h"

#include <gale/config.h>

/* Writes a value that stands behind `key`, or "***" for it. */
void gx_redact_value(gx_json *json, gale_str key, const gale_value *value);

/* Writes a member: a key that is set, and its value. */
void gx_redact_member(gx_json *json, const gale_config *config, gale_str key, const gale_value *value);

/* Writes an object of all keys that are set. */
void gx_redact_config(gx_json *json, const gale_config *config);

#endif
