#include "connect/file/outputs.h"

void gx_outputs_init(gx_outputs *outputs, gx_heap *heap, uint32_t most) {
    *outputs = (gx_outputs){ .heap = heap, .most = most };
}

/* --- The order of their last lines --- */

static void unlink_file(gx_outputs *outputs, gx_outputs_file *file) {
    *(file->newer ? &file->newer->older : &outputs->newest) = file->older;
    *(file->older ? &file->older->newer : &outputs->oldest) = file->newer;
}

static void link_newest(gx_outputs *outputs, gx_outputs_file *file) {
    file->newer = NULL;
    file->older = outputs->newest;
    *(file->older ? &file->older->newer : &outputs->oldest) = file;
    outputs->newest = file;
}

static void unlist(gx_outputs *outputs, gx_outputs_file *file) {
    gx_outputs_file **at = &outputs->listed;
    while (*at && *at != file) at = &(*at)->next;
    if (*at) *at = file->next;
    file->listed = false;
}

/* --- Making and forgetting --- */

gx_outputs_file *gx_outputs_add(gx_outputs *outputs, gale_str path) {
    size_t size = sizeof(gx_outputs_file) + path.size + 1;
    gx_outputs_file *file = gx_alloc(outputs->heap, GX_TAG_OTHER, size);
    if (!file) return NULL;
    file->size = size;
    file->lines = (gx_buf)GX_BUF_INIT(outputs->heap);
    file->swap = (gx_file_swap)GX_FILE_SWAP_INIT;
    file->successor.fd = -1;
    memcpy(file->path, path.data, path.size);
    gx_file_output_await(&file->output, file->path);
    file->output.codec = outputs->codec;
    file->header = outputs->header;
    link_newest(outputs, file);
    outputs->open++;
    return file;
}

static void drop(gx_outputs *outputs, gx_outputs_file *file) {
    gale_str path = gx_str(file->path);
    gx_outputs_known *known = outputs->known ? gx_bytes_map_get(outputs->known, path) : NULL;
    if (known) *known = (gx_outputs_known){ .plain = file->output.plain, .size = file->output.size };
    if (known && outputs->closing) gx_bytes_map_remove(outputs->known, path);
    unlink_file(outputs, file);
    unlist(outputs, file);
    outputs->open--;
    gx_buf_fini(&file->lines);
    gx_free(outputs->heap, GX_TAG_OTHER, file, file->size);
}

/* --- Writing --- */

int gx_outputs_write_header(gx_outputs_file *file, gale_error *error) {
    if (!file->header || file->output.size || gx_file_output_plain(&file->output)) return 0;
    int rc = gx_file_output_write(&file->output, (gale_str){ file->header->data, file->header->size }, error);
    if (rc == 0) file->unsynced = file->changed = true;
    return rc;
}

int gx_outputs_write(gx_outputs_file *file, size_t size, gale_error *error) {
    if (!size) return 0;
    int rc = gx_outputs_write_header(file, error);
    if (rc < 0) return rc;
    rc = gx_file_output_write(&file->output, (gale_str){ file->lines.data, size }, error);
    if (rc < 0) return rc;
    file->lines.size -= size;
    if (GX_UNLIKELY(file->lines.size)) memmove(file->lines.data, file->lines.data + size, file->lines.size);
    file->unsynced = file->changed = true;
    return 0;
}

static int write_and_sync(gx_outputs_file *file, bool sync, gale_error *error) {
    int rc = gx_outputs_write(file, file->lines.size, error);
    if (rc == 0) rc = gx_file_output_flush(&file->output, error);
    if (rc < 0 || !sync || !file->unsynced) return rc;
    rc = gx_file_output_sync(&file->output, error);
    if (rc == 0) file->unsynced = false;
    return rc;
}

int gx_outputs_flush(gx_outputs *outputs, bool sync, gale_error *error) {
    while (outputs->listed) {
        gx_outputs_file *file = outputs->listed;
        int rc = write_and_sync(file, sync, error);
        if (rc < 0) return rc;
        outputs->listed = file->next;
        file->listed = false;
    }
    return 0;
}

int gx_outputs_open_successor(gx_outputs_file *file, gale_error *error) {
    gx_file_torn torn;
    file->successor = (gx_file_output){ .codec = file->output.codec };
    int rc = gx_file_output_open(&file->successor, file->path, error);
    if (rc == 0) rc = gx_file_output_begin(&file->successor, GX_FILE_BEHIND, &torn, error);
    if (rc < 0) (void)gx_file_output_close(&file->successor, NULL);
    return rc;
}

int gx_outputs_change(gx_outputs_file *file, bool sync, gale_error *error) {
    int rc = gx_file_output_end(&file->output, error);
    if (rc == 0 && sync) rc = gx_file_output_sync(&file->output, error);
    if (rc == 0) rc = gx_file_output_close(&file->output, error);
    if (rc < 0) return rc;
    file->output = file->successor;
    file->successor = (gx_file_output){ .fd = -1 };
    file->swap = (gx_file_swap)GX_FILE_SWAP_INIT;
    file->unsynced = false;
    return 0;
}

int gx_outputs_begin_again(gx_outputs_file *file, gx_file_torn *ret_torn, gale_error *error) {
    int64_t modified = file->output.modified;
    int rc = gx_file_output_begin(&file->output, GX_FILE_BEHIND, ret_torn, error);
    file->output.modified = modified;
    return rc;
}

int gx_outputs_close(gx_outputs *outputs, gale_error *error) {
    int rc = 0;
    for (gx_outputs_file *file = outputs->newest; file; file = file->older) {
        int closed = gx_file_output_close(&file->output, rc == 0 ? error : NULL);
        if (rc == 0) rc = closed;
        (void)gx_file_output_close(&file->successor, NULL); /* nothing was written to it */
    }
    return rc;
}

void gx_outputs_fini(gx_outputs *outputs) {
    while (outputs->newest) drop(outputs, outputs->newest);
    if (outputs->known) gx_bytes_map_free(outputs->known);
}

/* --- Finding one --- */

/* Its lines are answered for by the next flush, which will not see it. */
static int make_room(gx_outputs *outputs, bool sync, gx_outputs_file **ret_other, gale_error *error) {
    while (outputs->open >= outputs->most) {
        gx_outputs_file *oldest = *ret_other = outputs->oldest;
        int rc = write_and_sync(oldest, sync, error);
        if (rc == 0 && outputs->closing) rc = outputs->closing(outputs->closing_user, oldest, error);
        if (rc == 0) rc = gx_file_output_close(&oldest->output, error);
        if (rc < 0) return rc;
        drop(outputs, oldest);
    }
    *ret_other = NULL;
    return 0;
}

static gx_outputs_file *get(const gx_outputs *outputs, gale_str path) {
    const gx_outputs_known *known = outputs->known ? gx_bytes_map_get(outputs->known, path) : NULL;
    return known ? known->file : NULL;
}

/* Room in the map is made first, so that what was made is found. */
static int make_file(gx_outputs *outputs, gale_str path, gx_outputs_file **ret_file) {
    bool made;
    gx_outputs_known *known = gx_bytes_map_put(outputs->known, path, &made);
    if (!known) return GALE_NO_MEMORY;
    gx_outputs_file *file = gx_outputs_add(outputs, path);
    if (!file) {
        if (made) gx_bytes_map_remove(outputs->known, path);
        return GALE_NO_MEMORY;
    }
    file->again = !made;
    file->output.plain = known->plain;
    file->output.size = known->size;
    *ret_file = known->file = file;
    return 0;
}

static void touch(gx_outputs *outputs, gx_outputs_file *file) {
    if (outputs->newest == file) return;
    unlink_file(outputs, file);
    link_newest(outputs, file);
}

int gx_outputs_find(gx_outputs *outputs, gale_str path, uint64_t seed, bool sync, gx_outputs_file **ret_file,
                    gx_outputs_file **ret_other, gale_error *error) {
    *ret_other = NULL;
    if (outputs->newest && gx_str_is(path, outputs->newest->path)) {
        *ret_file = outputs->newest;
        return 0;
    }
    if (!outputs->known && !(outputs->known = gx_bytes_map_new(outputs->heap, sizeof(gx_outputs_known), seed)))
        return GALE_NO_MEMORY;
    gx_outputs_file *file = get(outputs, path);
    if (file) {
        touch(outputs, file);
        *ret_file = file;
        return 0;
    }
    int rc = make_room(outputs, sync, ret_other, error);
    return rc < 0 ? rc : make_file(outputs, path, ret_file);
}
