/* gzip for the files of a sink: gale_gzip. A batch is flushed to a border of bytes (Z_SYNC_FLUSH), so that what a killed run has
 * written can be unpacked up to there; the next one finds the last such border behind an end of line, cuts what follows, and
 * ends the member that was left open: an empty last block, and the sums of what it holds (RFC 1951, 1952). */
#include "base/port.h"

#include <gale/error.h>
#include <gale_gzip.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { GZIP = 16 + MAX_WBITS, ROOM = 32 << 10, LEVEL = 6, MEMORY = 8 };

typedef struct packer {
    z_stream stream;
    bool begun; /* its member has something */
    unsigned char room[ROOM];
} packer;

static void *open_packer(void) {
    packer *made = calloc(1, sizeof *made);
    if (made && deflateInit2(&made->stream, LEVEL, Z_DEFLATED, GZIP, MEMORY, Z_DEFAULT_STRATEGY) == Z_OK) return made;
    free(made);
    return NULL;
}

static void close_packer(void *self) {
    packer *p = self;
    if (!p) return;
    (void)deflateEnd(&p->stream);
    free(p);
}

/* All that deflate has to say about what it was given. */
static int drain(packer *p, int flush, gale_file_put_fn *put, void *user) {
    do {
        p->stream.next_out = p->room;
        p->stream.avail_out = ROOM;
        if (deflate(&p->stream, flush) == Z_STREAM_ERROR) return GALE_INVALID;
        size_t size = ROOM - p->stream.avail_out;
        int rc = size ? put(user, p->room, size) : 0;
        if (rc < 0) return rc;
    } while (p->stream.avail_out == 0);
    return 0;
}

static int pack(void *self, const void *bytes, size_t size, bool ends, gale_file_put_fn *put, void *user) {
    packer *p = self;
    const unsigned char *at = bytes;
    int rc = 0;
    p->begun |= size > 0;
    if (!p->begun) return 0;
    while (size && rc == 0) {
        uInt piece = size < (1u << 30) ? (uInt)size : 1u << 30;
        p->stream.next_in = (unsigned char *)(uintptr_t)at;
        p->stream.avail_in = piece;
        at += piece;
        size -= piece;
        rc = drain(p, size || ends ? Z_NO_FLUSH : Z_SYNC_FLUSH, put, user);
    }
    if (rc < 0 || !ends) return rc;
    p->stream.avail_in = 0;
    rc = drain(p, Z_FINISH, put, user);
    p->begun = false;
    return rc == 0 && deflateReset(&p->stream) != Z_OK ? GALE_INVALID : rc;
}

/* --- What a run has left ------------------------------------------------------------------------------------------ */

typedef struct reading {
    z_stream stream;
    gale_file_get_fn *get;
    void *user;
    int64_t at;             /* of what was got, where the bytes in `in` end */
    uLong crc, plain;       /* of the member */
    unsigned char last;     /* byte that was unpacked */
    gale_file_mended whole; /* up to the last border; its tail ends the member */
    int64_t before;         /* plain bytes of the members before */
    unsigned char in[ROOM], out[ROOM];
} reading;

static int64_t place(const reading *r) {
    return r->at - r->stream.avail_in;
}

static void put_32(unsigned char *to, uLong number) {
    for (int i = 0; i < 4; i++) to[i] = (unsigned char)(number >> (8 * i));
}

/* An empty block with fixed codes, which is the last one; then the sums. */
static void note_border(reading *r) {
    gale_file_mended *w = &r->whole;
    *w = (gale_file_mended){ .size = place(r), .plain_size = r->before + (int64_t)r->plain };
    if (!r->plain) return;
    w->tail[0] = 3;
    put_32(w->tail + 2, r->crc);
    put_32(w->tail + 6, r->plain);
    w->tail_size = 10;
}

static void note_end(reading *r) {
    r->before += (int64_t)r->plain;
    r->whole = (gale_file_mended){ .size = place(r), .plain_size = r->before };
    r->crc = crc32(0, NULL, 0);
    r->plain = 0;
    (void)inflateReset(&r->stream);
}

/* Takes account of what inflate has said. */
static void take_out(reading *r) {
    size_t size = ROOM - r->stream.avail_out;
    r->stream.next_out = r->out;
    r->stream.avail_out = ROOM;
    if (!size) return;
    r->crc = crc32(r->crc, r->out, (uInt)size);
    r->plain += size;
    r->last = r->out[size - 1];
}

/* At a border of bytes between blocks, behind an end of line. */
static bool is_border(const reading *r) {
    bool between = (r->stream.data_type & 128) != 0 && (r->stream.data_type & 64) == 0;
    return between && (r->stream.data_type & 7) == 0 && r->plain && r->last == '\n';
}

/* Goes through what was got, until nothing comes of it any more. */
static int go_through(reading *r) {
    for (;;) {
        int rc = inflate(&r->stream, Z_BLOCK);
        take_out(r);
        if (rc == Z_BUF_ERROR) return 0;
        if (rc == Z_STREAM_END)
            note_end(r);
        else if (rc != Z_OK)
            return rc == Z_MEM_ERROR ? GALE_NO_MEMORY : GALE_INVALID;
        else if (is_border(r))
            note_border(r);
    }
}

static int read_all(reading *r, gale_file_mended *ret_mended) {
    int64_t got;
    int rc = 0;
    while (rc == 0 && (got = r->get(r->user, r->in, sizeof r->in)) != 0) {
        if (got < 0) return (int)got;
        r->at += got;
        r->stream.next_in = r->in;
        r->stream.avail_in = (uInt)got;
        rc = go_through(r);
    }
    if (rc < 0) return rc;
    *ret_mended = r->whole;
    return 0;
}

static int mend(gale_file_get_fn *get, void *user, gale_file_mended *ret_mended) {
    reading *r = calloc(1, sizeof *r);
    int rc = GALE_NO_MEMORY;
    if (!r) return rc;
    r->get = get;
    r->user = user;
    r->crc = crc32(0, NULL, 0);
    r->stream.next_out = r->out;
    r->stream.avail_out = ROOM;
    if (inflateInit2(&r->stream, GZIP) == Z_OK) {
        rc = read_all(r, ret_mended);
        (void)inflateEnd(&r->stream);
    }
    free(r);
    return rc;
}

const gale_file_codec *gale_gzip(void) {
    static const gale_file_codec codec = {
        .size = sizeof codec, .ending = ".gz", .open = open_packer, .pack = pack, .close = close_packer, .mend = mend
    };
    return &codec;
}
