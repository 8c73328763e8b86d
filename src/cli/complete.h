/* What can come next on a command line: for the completion of bash, zsh and fish, whose scripts (completion/) ask for it by
 * `gale help --complete WORD...`.
 *
 * What:    from the tables of options, the words of their arguments (LEVEL, KEY=VALUE: known by how help calls them), the
 *          usage of commands ("demo top-words|word-count", "FILE.yaml") and the classes; what runs, and the components of it, are
 *          asked for at its socket.
 * Threads: one.
 */
#ifndef GX_CLI_COMPLETE_H
#define GX_CLI_COMPLETE_H

#include "cli/command.h"

/* A line a candidate, "word" or "word<tab>what it is"; where files fit, the first line is ":files", ":yaml" or ":folders".
 * `words` follow "gale"; the last of them is being written, and may be empty. */
void gx_complete(const gx_command *const *commands, size_t count, char *const *words, size_t word_count, gx_buf *out);

#endif
