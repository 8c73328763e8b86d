/* A line of a tap (/api/gale/v1/tap), for people: "split[3] default  word=sea". What it says is another process's: nothing of it can
 * steer a terminal.
 *
 * What:    text that could be mistaken for something else (empty, with a space, a quotation mark, an equals sign) stands as a string of JSON, as do
 *          lists and maps. What was dropped before is told behind: "(17 dropped before)".
 * Threads: any. Errors: GALE_INVALID: it is no line of a tap.
 */
#ifndef GX_CLI_TAP_LINE_H
#define GX_CLI_TAP_LINE_H

#include "base/buf.h"

#include <gale/error.h>

/* Appends it, with its end. 1: a tuple; 0: nothing, the line is empty. GALE_COMPONENT: the tap says what is wrong, which goes to `error`. */
int gx_tap_line_add(gale_str line, gx_buf *out, gale_error *error);

#endif
