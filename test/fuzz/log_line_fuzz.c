/* Bytes, read as a line of an access log. What is accepted must lie within the line, and have a time that its text can
 * say. */
#include "fuzz.h"

#include "kit/log_line.h"

#include <gale/error.h>

static void inside(gale_str piece, gale_str line) {
    if (piece.data) expect(piece.data >= line.data && piece.data + piece.size <= line.data + line.size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    gale_str text = { (const char *)data, size };
    gx_log_line line = { .time = -1 };
    const char *problem = NULL;
    int code = gx_log_line_parse(text, &line, &problem);
    expect((code < 0) == (problem != NULL));
    if (code < 0) return 0;
    inside(line.host, text);
    inside(line.user, text);
    inside(line.request, text);
    inside(line.referer, text);
    inside(line.agent, text);
    inside(line.method, line.request);
    inside(line.path, line.request);
    inside(line.query, line.request);
    inside(line.protocol, line.request);
    expect(line.host.size > 0 && line.bytes >= 0 && line.status >= 0 && line.status <= 999);
    expect(line.time >= INT64_C(-62167219200) - 86400 && line.time <= INT64_C(253402300799) + 86400);
    return 0;
}
