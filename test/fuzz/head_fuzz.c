/* The head of a request, read in place as libmicrohttpd does: whatever it is, nothing behind it is read, and one that
 * is taken has at most one length or coding. Then the same bytes as a chunk's line. */
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

/* A chunk whose line is taken ends with a return, and has nothing of a line in it. */
static void read_chunk(const uint8_t *data, size_t size) {
    const char *body = (const char *)data;
    if (size < 2 || head_chunk(body, body + size)) return;
    assert(body[size - 2] == '\r' && body[size - 1] == '\n');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *bytes = malloc(size + 1), *rest = bytes, *line;
    head_check check;
    memcpy(bytes, data, size);
    bytes[size] = '\0';
    line = cut(&rest, "\n");
    char *method = strsep(&line, " "), *target = line ? strsep(&line, " ") : NULL;
    if (target && line) {
        const head_target place = head_look_at_target(target);
        head_begin(&check, method, &place, line, size % 2);
        while ((line = cut(&rest, "\n"))) {
            char *name = strsep(&line, ":");
            head_line(&check, name, line ? line + strspn(line, " \t") : NULL);
        }
        if (!head_end(&check, size)) assert((check.seen & 3) != 3);
    }
    read_chunk(data, size);
    free(bytes);
    return 0;
}
