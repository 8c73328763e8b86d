/* A header Content-Encoding, a NUL, and a body: whatever they are, no more comes out than may, and a body that is
 * unpacked whole is as it
 * was packed. */
#include "fuzz.h"

#include "connect/http/unpack.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input in = { data, size };
    size_t most = 1 + 16 * (size_t)fuzz_byte(&in);
    char *header = fuzz_text(&in), why[100] = "";
    size_t cut = strlen(header) < in.size ? strlen(header) + 1 : in.size;
    http_codings codings = { .count = 0 };
    http_buffer plain = { .data = NULL };
    int rc = http_codings_add(&codings, header, why, sizeof why);
    expect(codings.count <= HTTP_CODINGS_MAX && (rc == 0) == !*why);
    if (rc < 0) codings = (http_codings){ .list = { HTTP_GZIP, HTTP_DEFLATE }, .count = 2 };
    rc = http_unpack(&codings, (gale_str){ header + cut, in.size - cut }, most, &plain);
    expect(plain.size <= most && (rc == 0 || !plain.data));
    http_buffer_fini(&plain);
    free(header);
    return 0;
}
