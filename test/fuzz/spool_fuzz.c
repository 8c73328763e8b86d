/* A segment of a disk buffer, of records and whatever lies between them: each record that is whole comes, in order, and what is missing
 * by the numbers is counted. Then bytes as they are, which may hold nothing, and are read to their end. */
#include "fuzz.h"

#include "connect/spool/reader.h"
#include "sim/disk.h"
#include "tuple/body.h"

#include <string.h>

static const char segment_name[] = GX_SIM_DISK "/00000000000000000001.spool";

typedef struct wanted {
    uint64_t numbers[256];
    size_t count;
    uint64_t next, missing;
} wanted;

static void put_record(gx_buf *out, uint64_t number, uint8_t more) {
    char body[512], text[256], head[GX_SPOOL_HEAD];
    memset(text, 'x', sizeof text);
    const gale_value values[] = { gale_i64((int64_t)number), gale_string(text, more) };
    int64_t size = gx_body_measure(values, 2);
    expect(size > 0 && size <= (int64_t)sizeof body);
    gx_body_encode(values, 2, body);
    gx_spool_head_write(head, number, body, (size_t)size);
    gx_buf_add(out, head, sizeof head);
    gx_buf_add(out, body, (size_t)size);
}

/* Bytes by eights, which are no record: nobody guesses a sum. */
static void put_junk(gx_buf *out, fuzz_input *in, size_t words) {
    for (; words; words--) {
        uint64_t word = fuzz_word(in);
        gx_buf_add(out, &word, sizeof word);
    }
}

static void write_segment(gx_buf *out, fuzz_input *in, wanted *w) {
    char head[GX_SPOOL_SEGMENT_HEAD];
    gx_spool_segment_head_write(head, &(gx_spool_segment_head){ 1, 0, 1 });
    gx_buf_add(out, head, sizeof head);
    w->next = 1;
    while (in->size && w->count < 256) {
        uint8_t what = fuzz_byte(in);
        if (what % 4 == 0) put_junk(out, in, 1u + what / 4);
        if (what % 4 == 1) { /* one is missing, and enough junk in its place */
            put_junk(out, in, 4u + what / 4);
            w->next++;
            w->missing++;
        }
        if (what % 4 < 2) continue;
        put_record(out, w->next, what);
        w->numbers[w->count++] = w->next++;
    }
}

static void read_all(gx_heap *heap, const gx_buf *bytes, const wanted *w) {
    gx_spool_segment segment = { .first = 1, .size = (int64_t)bytes->size, .safe = (int64_t)bytes->size, .fd = -1 };
    gx_spool_log log = { .heap = heap, .path = GX_SIM_DISK, .segments = &segment, .count = 1 };
    gx_spool_reader reader;
    gx_spool_record record;
    size_t count = 0;
    uint64_t last = 0;
    int rc;
    log.safe = log.written = log.next = w ? w->next : 1000;
    expect(gx_monitor_init(&log.monitor));
    gx_spool_reader_init(&reader, &log, 1, NULL, NULL);
    while ((rc = gx_spool_reader_next(&reader, &record, NULL)) > 0) {
        expect(record.number > last && gx_body_fits(record.body, record.size));
        expect(!w || (count < w->count && record.number == w->numbers[count]));
        last = record.number;
        count++;
    }
    expect(rc == 0 && reader.number == log.safe && count + reader.lost == log.safe - 1);
    expect(!w || (count == w->count && reader.lost == w->missing));
    gx_spool_reader_fini(&reader);
    gx_monitor_fini(&log.monitor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_input in = { data, size };
    gx_sim_disk disk;
    gx_heap heap;
    wanted w = { .count = 0 };
    gx_heap_init(&heap, NULL);
    gx_sim_disk_init(&disk, &heap);
    gx_sim_disk_begin(&disk, (gx_random){ 0 }, 0, 0);
    gx_sim_file *file = gx_sim_disk_file(&disk, segment_name, true);
    expect(file != NULL);
    write_segment(&file->bytes, &in, &w);
    read_all(&heap, &file->bytes, &w);
    gx_buf_reset(&file->bytes);
    gx_buf_add(&file->bytes, data, size / 8 * 8);
    read_all(&heap, &file->bytes, NULL);
    gx_sim_disk_end(&disk);
    gx_sim_disk_fini(&disk);
    expect(gx_heap_reserved(&heap) == 0);
    return 0;
}
