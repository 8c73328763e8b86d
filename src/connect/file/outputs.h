/* The files that a sink writes to: one, or as many as its tuples name. Lines gather for each, and are written in one go.
 *
 * What:    a bounded number is open; the one that got a line longest ago is written and closed when another is needed. Of
 *          those that were closed the name stays known: they are opened again and gone on with. In a durable run somebody
 *          else knows them (connect/file/made.h), and is asked before one is closed.
 * Threads: one at a time. Owner: memory comes from the heap; gx_outputs_fini gives it back.
 * Limits:  a name that is known takes its bytes and about 40 more for as long as the run lasts.
 */
#ifndef GX_CONNECT_FILE_OUTPUTS_H
#define GX_CONNECT_FILE_OUTPUTS_H

#include "base/buf.h"
#include "connect/file/output.h"
#include "ds/bytes_map.h"

typedef struct gx_outputs_file {
    gx_file_output output;
    gx_buf lines;         /* that are not written yet */
    const gx_buf *header; /* is written before the first of them, where the file holds nothing; NULL: none. Borrowed */
    bool again;           /* it was closed, and is to be gone on with */
    bool unsynced;        /* lines were written since the disk was waited for */
    bool changed;         /* since the last checkpoint of a durable run */
    gx_file_output successor; /* open, when it was renamed and is to be changed for this one */
    gx_file_swap swap;
    uint64_t next_number; /* that it gets when it is full (connect/file/rotation.h); 0: not known yet */
    uint64_t forgotten;   /* the next number when files were to go the last time */
    int64_t period;       /* of its lines */
    int64_t looked;       /* when somebody's changes were looked for, by the context's clock */
    bool renamed;         /* by somebody, which was logged */
    bool listed;          /* among those that a flush looks at */
    struct gx_outputs_file *newer, *older; /* by their last line */
    struct gx_outputs_file *next;          /* of those that are listed */
    size_t size;                           /* of this block */
    char path[];
} gx_outputs_file;

/* Of a name. */
typedef struct gx_outputs_known {
    gx_outputs_file *file; /* NULL: it is closed */
    int64_t plain, size;   /* that it had then */
} gx_outputs_known;

/* Is told of a file that all lines are written of, before it is closed. An error keeps it open. */
typedef int gx_outputs_closing_fn(void *user, gx_outputs_file *file, gale_error *error);

typedef struct gx_outputs {
    gx_heap *heap;
    const gale_file_codec *codec; /* of all files that are added; or NULL */
    const gx_buf *header;         /* the same */
    gx_bytes_map *known;          /* names to what is known of them; made with the first that is found */
    gx_outputs_file *newest, *oldest, *listed;
    uint32_t open, most;
    gx_outputs_closing_fn *closing; /* NULL: what is closed is known here */
    void *closing_user;
} gx_outputs;

/* At most `most` are open, which is not 0. */
void gx_outputs_init(gx_outputs *outputs, gx_heap *heap, uint32_t most);

/* Adds one that is not looked for by its name, and is not opened yet. NULL: memory is out. */
gx_outputs_file *gx_outputs_add(gx_outputs *outputs, gale_str path);

/* The file of this name, as the last one that got a line. One that is not open is still to be begun (output.begun).
 * GALE_NO_MEMORY; GALE_IO and what else writing says: `*ret_other` is the file that was to be closed for it, and is not. */
int gx_outputs_find(gx_outputs *outputs, gale_str path, uint64_t seed, bool sync, gx_outputs_file **ret_file,
                    gx_outputs_file **ret_other, gale_error *error);

/* Its lines are to be written by the next flush. */
GX_INLINE void gx_outputs_list(gx_outputs *outputs, gx_outputs_file *file) {
    if (GX_LIKELY(file->listed)) return;
    file->listed = true;
    file->next = outputs->listed;
    outputs->listed = file;
}

/* Writes its header, if the file holds nothing. What gx_file_output_write says. */
int gx_outputs_write_header(gx_outputs_file *file, gale_error *error);

/* Writes the first `size` bytes of its lines, which are whole lines; the rest stays. What gx_file_output_write says. */
int gx_outputs_write(gx_outputs_file *file, size_t size, gale_error *error);

/* Writes all lines of all files; `sync`: waits until the disk has them. */
int gx_outputs_flush(gx_outputs *outputs, bool sync, gale_error *error);

/* Opens its path anew, which another file has by now, to be written to behind what that holds. What gx_file_output_open and
 * gx_file_output_begin say: then lines go where they went. */
int gx_outputs_open_successor(gx_outputs_file *file, gale_error *error);

/* Closes it, and goes on with the next one, to which the lines go that are not written. What writing and closing say. */
int gx_outputs_change(gx_outputs_file *file, bool sync, gale_error *error);

/* Somebody has cut it: it is gone on with behind what it holds, whose half line or half member is mended. What gx_file_output_begin says. */
int gx_outputs_begin_again(gx_outputs_file *file, gx_file_torn *ret_torn, gale_error *error);

/* Closes all; the first error is told. What was not written is lost. */
int gx_outputs_close(gx_outputs *outputs, gale_error *error);

/* Gives all memory back; they are closed. */
void gx_outputs_fini(gx_outputs *outputs);

#endif
