/* Bytes as a document of the demo: plain or packed, a text or a manual page. Every line is short and is one line, and
 * reading comes to an end. */
#include "fuzz.h"

#include "cli/documents.h"

#include <stdio.h>
#include <unistd.h>
#include <zlib.h>

enum { PACK = 1, MANUAL = 2, REPEAT = 4, LINES_MAX = 1 << 20 };

static char folder[] = "/tmp/gale-documents-fuzz-XXXXXX";

static void remove_folder(void) {
    rmdir(folder);
}

static void write_file(const char *path, const fuzz_input *in, bool pack) {
    gzFile file = gzopen(path, pack ? "wb1" : "wbT"); /* T: as it is */
    expect(file != NULL);
    if (in->size) expect(gzwrite(file, in->data, (unsigned)in->size) == (int)in->size);
    expect(gzclose(file) == Z_OK);
}

/* Returns how many lines. */
static size_t read_all(const gx_documents *documents, bool repeat) {
    gx_reader *reader = gx_reader_new(documents, 1, repeat);
    gale_str line;
    size_t document, lines = 0, limit = repeat ? 1000 : LINES_MAX;
    expect(reader != NULL);
    while (lines < limit && gx_reader_next(reader, &line, &document)) {
        expect(document == 0 && line.size < GX_DOCUMENT_LINE);
        expect(!line.size || (!memchr(line.data, '\n', line.size) && !memchr(line.data, 0, line.size)));
        lines++;
    }
    gx_reader_free(reader);
    return lines;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static bool made;
    if (!made) {
        expect(mkdtemp(folder) != NULL && atexit(remove_folder) == 0);
        made = true;
    }
    fuzz_input in = { data, size };
    uint8_t how = fuzz_byte(&in);
    char path[200];
    snprintf(path, sizeof path, "%s/text%s.gz", folder, how & MANUAL ? ".1" : "");
    write_file(path, &in, how & PACK);
    gx_documents documents = { NULL, 0 };
    gale_error error = GALE_ERROR_INIT;
    const char *const roots[] = { folder };
    int rc = gx_documents_find(roots, 1, &documents, &error);
    expect((rc < 0) == (error.length > 0));
    if (rc >= 0) {
        expect(documents.count == 1);
        size_t lines = read_all(&documents, false);
        expect(lines < LINES_MAX && read_all(&documents, true) == (lines ? 1000 : 0));
    }
    gx_documents_fini(&documents);
    unlink(path);
    return 0;
}
