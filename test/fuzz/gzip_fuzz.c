/* Bytes, read as a packed file that a killed run has left. What is accepted can be made whole as it is said: cut, with the tail
 * behind it, it unpacks to so many bytes, which end with a line. */
#include "fuzz.h"

#include <gale/error.h>
#include <gale_gzip.h>
#include <zlib.h>

static int64_t get(void *user, void *bytes, size_t size) {
    fuzz_input *in = user;
    if (size > in->size) size = in->size;
    if (size) memcpy(bytes, in->data, size);
    in->data += size;
    in->size -= size;
    return (int64_t)size;
}

static int64_t unpack(uint8_t *bytes, size_t size) {
    static uint8_t out[1 << 16];
    int64_t plain = 0;
    z_stream stream = { .next_in = bytes, .avail_in = (uInt)size };
    expect(inflateInit2(&stream, 16 + MAX_WBITS) == Z_OK);
    for (int rc = Z_STREAM_END; stream.avail_in || rc == Z_OK;) {
        if (rc == Z_STREAM_END) inflateReset(&stream);
        stream.next_out = out;
        stream.avail_out = sizeof out;
        rc = inflate(&stream, Z_NO_FLUSH);
        expect(rc == Z_OK || rc == Z_STREAM_END);
        plain += (int64_t)(sizeof out - stream.avail_out);
        expect(rc == Z_STREAM_END || stream.avail_in || !stream.avail_out);
    }
    inflateEnd(&stream);
    return plain;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input in = { data, size };
    gale_file_mended mended;
    int rc = gale_gzip()->mend(get, &in, &mended);
    if (rc < 0) return 0;
    expect(mended.size >= 0 && (size_t)mended.size <= size && mended.tail_size <= GALE_FILE_TAIL);
    size_t whole = (size_t)mended.size;
    uint8_t *bytes = malloc(whole + GALE_FILE_TAIL);
    expect(bytes != NULL);
    if (whole) memcpy(bytes, data, whole);
    memcpy(bytes + whole, mended.tail, mended.tail_size);
    expect(unpack(bytes, whole + mended.tail_size) == mended.plain_size);
    free(bytes);
    return 0;
}
