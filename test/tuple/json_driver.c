/* Reads texts of JSON for test/tuple/json_judge.py. The input is records: a size and a list of paths ("a.b, c"; ""
 * is the document), a size and a text; each size is four bytes, little-endian. The output is a line a record: a list
 * of what stands at the paths, or "bad LINE:COLUMN: what". */
#include "tuple/json.h"
#include "tuple/json_read.h"

#include <stdio.h>
#include <stdlib.h>

enum { COLUMNS = 64, MOST = 64 << 20 };

static gale_str read_text(void) {
    unsigned char size[4];
    if (fread(size, 1, 4, stdin) != 4) return (gale_str){ NULL, 0 };
    size_t count = size[0] | size[1] << 8 | size[2] << 16 | (size_t)size[3] << 24;
    char *text = count < MOST ? malloc(count ? count : 1)
                              : NULL; /* of just this size, so that a sanitizer sees a step too far */
    if (!text || fread(text, 1, count, stdin) != count) exit(2);
    return (gale_str){ text, count };
}

static void judge(gx_json_reader *reader, gale_str list, gale_str text, gx_json_numbers numbers) {
    gale_value columns[COLUMNS];
    gx_json_node nodes[COLUMNS * GX_JSON_STEPS];
    gx_json_paths paths;
    gale_str rest = list, path;
    uint32_t count = 0;
    gx_json_paths_init(&paths, nodes);
    while (count < COLUMNS && gx_str_next(&rest, ',', &path)) {
        gx_json_numbers kind = path.size ? numbers : GX_JSON_DIGITS;
        if (!gx_json_paths_add(&paths, path, count++, kind)) exit(3);
    }
    gx_buf out = GX_BUF_INIT(NULL);
    int rc = gx_json_read(reader, text, &paths, columns);
    gx_json json = gx_json_to(&out);
    if (rc == 0) gx_json_open(&json, '[');
    for (uint32_t i = 0; rc == 0 && i < count; i++)
        gx_json_value(&json, &columns[i]); /* each is as deep as a value may be */
    if (rc == 0) gx_json_close(&json, ']');
    if (rc < 0) gx_buf_format(&out, "bad %zu:%zu: %s", reader->line, reader->column, reader->wrong);
    puts(gx_buf_text(&out));
    gx_buf_fini(&out);
}

int main(int argc, char **argv) {
    gx_heap heap;
    gx_json_reader reader;
    gx_heap_init(&heap, NULL);
    gx_json_reader_init(&reader, &heap);
    for (gale_str list = read_text(); list.data; list = read_text()) {
        gale_str text = read_text();
        judge(&reader, list, text, argc > 1 ? (gx_json_numbers)atoi(argv[1]) : GX_JSON_NEAREST);
        free((char *)(uintptr_t)list.data);
        free((char *)(uintptr_t)text.data);
    }
    gx_json_reader_fini(&reader);
    return gx_heap_reserved(&heap) != 0;
}
