/* Bytes, read as all that the connector http reads: lines of a body, targets, addresses, tokens, Retry-After, charsets.
 * Lines lie in order in what was given, and are never empty. A charset that is refused has a reason. */
#include "fuzz.h"

#include "connect/http/charset.h"
#include "connect/http/parse.h"

#include <string.h>

static void read_lines(gale_str body) {
    gale_str rest = body, line;
    const char *behind = body.data;
    while (http_next_line(&rest, &line)) {
        expect(line.size && line.data >= behind && line.data + line.size <= body.data + body.size);
        expect(!memchr(line.data, '\n', line.size));
        behind = line.data + line.size;
    }
    expect(!rest.size);
}

static void read_target(gale_str target) {
    gale_str path, query;
    http_target_cut(target, &path, &query);
    expect(path.size + query.size <= target.size && path.size + query.size + 1 >= target.size);
    expect(!path.size || !memchr(path.data, '?', path.size));
    expect(!http_path_is_of(path, "/in") || (path.size >= 3 && (path.size == 3 || path.data[3] == '/')));
}

static void read_texts(const char *text) {
    gale_error error = GALE_ERROR_INIT;
    http_address address;
    char why[100] = "";
    (void)http_address_read(text, &address, &error);
    (void)http_bearer_is(text, "sesame");
    expect(http_charset_is_read(text, (gale_str){ "\xff", 1 }, why, sizeof why) == !*why);
    expect(http_charset_is_read(text, (gale_str){ "", 0 }, why, sizeof why));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    gale_str all = { size ? (const char *)data : "", size };
    char text[600];
    read_lines(all);
    read_target(all);
    int64_t seconds = http_retry_after(all, 1000000000);
    expect(seconds >= -1 && seconds < INT64_C(400000000000));
    size_t length = size < sizeof text ? size : sizeof text - 1;
    memcpy(text, all.data, length);
    text[length] = '\0';
    read_texts(text);
    return 0;
}
