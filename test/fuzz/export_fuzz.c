/* Bytes, read as an export of a state. What is accepted is exported again, and that is an export, too, of the same pairs. */
#include "fuzz.h"

#include "base/str.h"
#include "front/saved_lines.h"

typedef struct pairs {
    gx_changes all;
} pairs;

static int put(void *user, gale_str key, gale_str value, gale_error *error) {
    pairs *to = user;
    (void)error;
    gx_changes_put(&to->all, key, value);
    expect(!to->all.bytes.failed);
    return GALE_OK;
}

/* Reads line by line. 1: all was accepted. */
static int read_all(gale_str text, pairs *to) {
    gx_saved_import import;
    gale_error error = GALE_ERROR_INIT;
    int rc = GALE_OK;
    to->all = (gx_changes)GX_CHANGES_INIT(NULL);
    gx_saved_import_begin(&import, "export", put, to);
    while (rc == GALE_OK && text.size) {
        const char *end = memchr(text.data, '\n', text.size);
        size_t size = end ? (size_t)(end - text.data) : text.size, taken = size + (end != NULL);
        rc = gx_saved_import_line(&import, (gale_str){ text.data, size }, &error);
        text = (gale_str){ text.data + taken, text.size - taken };
    }
    if (rc == GALE_OK) rc = gx_saved_import_finish(&import, &error);
    expect((rc < 0) == (error.length > 0));
    gx_saved_import_fini(&import);
    return rc == GALE_OK;
}

/* What an import has put is what a store may have. */
static void write_all(const pairs *from, gx_buf *out) {
    gx_saved_reader reader = GX_SAVED_READER_INIT;
    gale_error error = GALE_ERROR_INIT;
    gx_change change;
    for (size_t at = 0; gx_changes_next(&from->all, &at, &change);) {
        gx_saved_pair pair;
        expect(gx_saved_pair_read(&reader, change.key, change.value, &pair, &error) == GALE_OK);
        expect(gx_saved_lines_add(&pair, out, &error) == GALE_OK);
    }
    gx_saved_lines_end(out);
    gx_saved_reader_fini(&reader);
}

static void expect_same(const gx_changes *a, const gx_changes *b) {
    gx_change one, two;
    size_t at_one = 0, at_two = 0;
    expect(a->count == b->count);
    while (gx_changes_next(a, &at_one, &one)) {
        expect(gx_changes_next(b, &at_two, &two));
        expect(gx_str_equal(one.key, two.key) && gx_str_equal(one.value, two.value));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    pairs first, second;
    gx_buf out = GX_BUF_INIT(NULL);
    if (read_all((gale_str){ (const char *)data, size }, &first)) {
        write_all(&first, &out);
        expect(read_all((gale_str){ out.data, out.size }, &second));
        expect_same(&first.all, &second.all);
        gx_changes_fini(&second.all);
    }
    gx_changes_fini(&first.all);
    gx_buf_fini(&out);
    return 0;
}
