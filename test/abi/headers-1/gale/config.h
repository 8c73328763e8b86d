/* gale/config.h: configuration as Storm spells it.
 *
 * What:    an ordered set of keys and values. Every key that begins with "topology." is known to one table, which says
 *          its type, its default and whether it works, is accepted without effect, or is refused. Other keys are the
 *          components' own and pass. What a component may set for itself is the list of Storm's.
 * Threads: a configuration belongs to one thread until a topology has taken it; then it is frozen and may be read by
 *          all.
 * Misuse:  every function checks. Without a configuration, GALE_INVALID, or nothing is set; what is not wanted may be NULL.
 * Owner:   keys and values are copied in; what is read is borrowed until the next change.
 */
#ifndef GALE_CONFIG_H
#define GALE_CONFIG_H

#include <gale/error.h>
#include <gale/value.h>

GALE_BEGIN

typedef struct gale_config gale_config;

/* An empty configuration, or NULL when memory is out. */
GALE_API GALE_MUST_USE gale_config *gale_config_new(void);

/* Frees what is the caller's own; a topology's is the topology's. NULL is allowed. */
GALE_API void gale_config_free(gale_config *config);

/* Sets `key` to a copy of `value`; what it was before is gone. A "topology." or "gale." key is checked against the
 * table: GALE_CONFIG for an unknown one (with the nearest name), for a value of the wrong type or out of range, for a
 * key that is refused, for an empty key, and for what is no value; GALE_NO_MEMORY. Returns 1 when the key is accepted
 * without effect, so that the caller can warn once. */
GALE_API int gale_config_set(gale_config *config, const char *key, gale_value value, gale_error *error);

/* The same for text from a command line, "key=value": the value is read as YAML's scalars are (true, 12, 1.5, null,
 * else a string). */
GALE_API int gale_config_set_text(gale_config *config, const char *assignment, gale_error *error);

/* The value that was set, or false. */
GALE_API bool gale_config_get(const gale_config *config, const char *key, gale_value *ret_value);

/* The value that was set or, for a key of the table, its default; `fallback` when there is neither or it is null or of
 * another type. `gale_config_f64` takes whole numbers too. `config` may be NULL: nothing is set. */
GALE_API int64_t gale_config_i64(const gale_config *config, const char *key, int64_t fallback);
GALE_API double gale_config_f64(const gale_config *config, const char *key, double fallback);
GALE_API bool gale_config_bool(const gale_config *config, const char *key, bool fallback);
GALE_API gale_str gale_config_text(const gale_config *config, const char *key, gale_str fallback);

/* How many keys are set, and the one at `index`, in the order in which they were first set. */
GALE_API size_t gale_config_size(const gale_config *config);
GALE_API bool gale_config_at(const gale_config *config, size_t index, gale_str *ret_key, gale_value *ret_value);

GALE_END

#endif
