/* The head of a request, read in place as libmicrohttpd does: whatever it is, nothing behind it is read, and one that
 * is taken has at most one length or coding. */
#include "head/head.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *cut(char **rest, const char *at) {
    char *piece = strsep(rest, at);
    if (piece) piece[strcspn(piece, "\r")] = '\0';
    return piece;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *bytes = malloc(size + 1), *rest = bytes, *line;
    head_check check;
    memcpy(bytes, data, size);
    bytes[size] = '\0';
    line = cut(&rest, "\n");
    char *method = strsep(&line, " "), *target = line ? strsep(&line, " ") : NULL;
    if (target && line) {
        head_begin(&check, method, target, line, size % 2);
        while ((line = cut(&rest, "\n"))) {
            char *name = strsep(&line, ":");
            head_line(&check, name, line ? line + strspn(line, " \t") : NULL);
        }
        if (!head_end(&check, size)) assert(check.lengths + check.codings <= 1 && check.hosts <= 1);
    }
    free(bytes);
    return 0;
}
