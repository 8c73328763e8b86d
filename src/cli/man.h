/* The manual page, gale(1), from the tables that help is printed from: `gale help --man`.
 * Threads: one. */
#ifndef GX_CLI_MAN_H
#define GX_CLI_MAN_H

#include "cli/command.h"

void gx_man_page(const gx_command *const *commands, size_t count, gx_buf *out);

#endif
