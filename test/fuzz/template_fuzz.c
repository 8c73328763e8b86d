/* A path with places, and after a NUL a value for all of them. What is accepted stays below its fixed part, whatever the value
 * is: no name in it is "." or ".." or too long where the template has none of those; what is not, has a sentence. */
#include "fuzz.h"

#include "base/buf.h"
#include "connect/file/template.h"
#include "kit/moment.h"

enum { NAME = 255 };

static bool is_dots(const char *name, size_t size) {
    return (size == 1 && name[0] == '.') || (size == 2 && name[0] == '.' && name[1] == '.');
}

static size_t count_slashes(const char *text, size_t size) {
    size_t count = 0;
    for (size_t i = 0; i < size; i++) count += text[i] == '/';
    return count;
}

/* Slashes that the template itself has. */
static size_t own_slashes(const gx_template *t) {
    size_t count = 0;
    for (uint32_t i = 0; i < t->count; i++)
        count += t->parts[i].kind == GX_TEMPLATE_TASK || t->parts[i].kind == GX_TEMPLATE_VALUE
                     ? 0
                     : count_slashes(t->text + t->parts[i].at, t->parts[i].size);
    return count;
}

/* The value alone, as it would be the whole of a name. */
static void is_harmless(const gx_template_part *part, const gale_value *values) {
    gx_template alone = { .count = 1, .varies = true, .parts = { *part } };
    gx_buf path = GX_BUF_INIT(NULL);
    uint32_t wrong;
    expect(gx_template_write(&alone, values, 0, 0, &path, &wrong) == 0);
    expect(path.size > 0 && path.size <= part->limit && !memchr(path.data, '/', path.size));
    expect(!is_dots(path.data, path.size) && path.data[0] != '.');
    for (size_t i = 0; i < path.size; i++) expect((unsigned char)path.data[i] >= ' ' && path.data[i] != 127);
    gx_buf_fini(&path);
}

static void is_sound(const gx_template *t, const gale_value *value) {
    gale_value values[GX_FIELDS_MAX];
    gx_buf path = GX_BUF_INIT(NULL);
    uint32_t wrong = 0;
    for (int i = 0; i < GX_FIELDS_MAX; i++) values[i] = *value;
    for (uint32_t i = 0; i < t->count; i++)
        if (t->parts[i].kind == GX_TEMPLATE_VALUE) is_harmless(&t->parts[i], values);
    int rc = gx_template_write(t, values, INT64_MIN, 77, &path, &wrong);
    expect(rc == 0 || (rc == GALE_TYPE && wrong < t->fields.count));
    if (rc == 0) {
        expect(path.size <= GX_FILE_PATH_MAX && count_slashes(path.data, path.size) == own_slashes(t));
        const char *at = path.data, *end = path.data + path.size;
        for (size_t size; t->varies && at <= end; at += size + 1) {
            const char *slash = at < end ? memchr(at, '/', (size_t)(end - at)) : NULL;
            size = (size_t)((slash ? slash : end) - at);
            expect(size + GX_TEMPLATE_ENDING <= NAME);
        }
    }
    gx_buf_fini(&path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input in = { data, size };
    char *text = fuzz_text(&in);
    size_t named = strlen(text), rest = size > named ? size - named - 1 : 0;
    gx_template made;
    gale_error error = GALE_ERROR_INIT;
    int rc = gx_template_parse((gale_str){ text, named }, "fuzz", &made, &error);
    expect((rc < 0) == (error.length > 0));
    if (rc == 0) {
        gale_value bytes = gale_bytes(text + (rest ? named + 1 : named), rest), number = gale_i64((int64_t)size << 20);
        is_sound(&made, &bytes);
        is_sound(&made, &number);
    }
    free(text);
    return 0;
}
