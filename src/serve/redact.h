/* What is shown of a configuration: its secrets are not.
 *
 * What:    a key that is called after a secret (password, passwd, secret, token, credential, private key, api key, ... anywhere in
 *          it, in either case) has the value "***", and so have lists and maps below it; of a map's keys the same holds. A URL
 *          with a password in it keeps all but that.
 * Threads: any. Errors: none.
 */
#ifndef GX_SERVE_REDACT_H
#define GX_SERVE_REDACT_H

#include "base/json.h"
#include "base/str.h"

#include <gale/config.h>

/* Is what stands behind this key not to be shown? */
bool gx_redact_is_secret(gale_str key);

/* Writes a value that stands behind `key`, or "***" for it. */
void gx_redact_value(gx_json *json, gale_str key, const gale_value *value);

/* Writes an object of all keys that are set. */
void gx_redact_config(gx_json *json, const gale_config *config);

#endif
