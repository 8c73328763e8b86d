/* Bytes, read as a table of the format that the first says: it is read or refused with a place, the same at once and by pieces; and
 * what it has under a key is valid. */
#include "bolt.h"

#include "script/lookup_table.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST = 8192 };

static void put(gx_lookup_shape *shape, uint32_t index, const char *name, int32_t type, bool typed) {
    gx_lookup_column *column = index < GX_LOOKUP_COLUMNS ? &shape->by[index] : &shape->add[index - GX_LOOKUP_COLUMNS];
    *column = (gx_lookup_column){ .from = gx_str(name), .type = type, .typed = typed };
    expect(gx_json_paths_add(&shape->paths, column->from, index, GX_JSON_DIGITS));
}

static int read_all(gx_lookup_load *load, const gx_lookup_shape *shape, gx_heap *heap, uint64_t seed,
                    gale_error *error) {
    int rc = gx_lookup_load_begin(load, shape, heap, seed, error);
    while (rc == 0) rc = gx_lookup_load_step(load, error);
    expect(rc == 1 || rc == GALE_SYNTAX || rc == GALE_TOO_LARGE);
    expect(rc == 1 || error->text[0]);
    return rc;
}

static void look_up(gx_lookup_load *load, gx_heap *heap) {
    static const char *const keys[] = { "", "a", "1", "true", "k" };
    gx_buf key = GX_BUF_INIT(heap);
    gale_value list;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        gale_value value = gale_text(keys[i]);
        expect(gx_lookup_key(&value, 1, &key) == GALE_OK);
        if (!gx_lookup_rows_find(&load->rows, (gale_str){ key.data, key.size }, &list)) continue;
        gale_value values[2] = { gale_list_at(&list, 0), gale_list_at(&list, 1) };
        expect(list.size == 2 && gx_body_measure(values, 2) > 0);
        expect(values[1].type == GALE_TYPE_I64 || values[1].type == GALE_TYPE_NULL);
    }
    gx_buf_fini(&key);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static gx_lookup_load load, again;
    gale_error error = GALE_ERROR_INIT, other = GALE_ERROR_INIT;
    fuzz_input in = { data, size < MOST ? size : MOST };
    uint8_t how = fuzz_byte(&in);
    char path[40];
    int fd = memfd_create("table", 0);
    expect(fd >= 0 && write(fd, in.data, in.size) == (ssize_t)in.size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    gx_lookup_shape shape = { .path = path,
                              .format = (gx_lookup_format)(how % 3),
                              .csv = { how & 4 ? ';' : ',', '"' },
                              .by_count = 1,
                              .add_count = 2,
                              .max_rows = 100,
                              .max_bytes = MOST };
    gx_json_paths_init(&shape.paths, shape.nodes);
    put(&shape, 0, "a", 0, false);
    put(&shape, GX_LOOKUP_COLUMNS, "b", 4, how & 8);
    put(&shape, GX_LOOKUP_COLUMNS + 1, "c", 1, true);
    gx_heap heap;
    gx_heap_init(&heap, NULL);
    int rc = read_all(&load, &shape, &heap, 1, &error);
    expect(read_all(&again, &shape, &heap, 2, &other) == rc && strcmp(error.text, other.text) == 0);
    if (rc == 1) expect(gx_lookup_rows_count(&load.rows) == gx_lookup_rows_count(&again.rows));
    if (rc == 1) look_up(&load, &heap);
    gx_lookup_load_end(&load);
    gx_lookup_load_end(&again);
    expect(gx_heap_reserved(&heap) == 0);
    close(fd);
    return 0;
}
