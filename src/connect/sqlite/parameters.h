/* The parameters of a statement that a user wrote: `:name`, `@name`, `$name`, `#name`, also `?` and `?3`, by the rules by which SQLite cuts SQL into words: what is in
 * quotes or in a comment is none.
 * Threads: any. */
#ifndef GALE_CONNECT_SQLITE_PARAMETERS_H
#define GALE_CONNECT_SQLITE_PARAMETERS_H

#include <gale/base.h>
#include <gale/value.h>
#include <stdbool.h>

/* The next one, with its sign: ":name"; `*at` goes behind it. False: there is none. */
bool lite_parameter_next(const char **at, gale_str *ret_parameter);

/* Its name; the size is 0 for `?` and `?3`, which have none. */
gale_str lite_parameter_name(gale_str parameter);

#endif
