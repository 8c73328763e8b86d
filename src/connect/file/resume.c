#include "connect/file/resume.h"

#include "base/os/place.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { STATE_FILE_MAX = 4096 };

/* --- What file is it? --------------------------------------------------------------------------------------------- */

static int check_file(const gx_file_resume *resume, const gx_file_state *found, const gx_file_about *about,
                      gale_error *error) {
    const char *input = resume->reader->path;
    if (about->size < found->offset) {
        return gale_error_set(error, GALE_INVALID,
                              "%s: has %" PRId64 " bytes, but state file '%s' goes on at byte %" PRId64
                              ": the file was truncated; remove the state file to read from the beginning",
                              input, about->size, resume->path, found->offset);
    }
    uint64_t content = 0;
    int rc = gx_place_content(resume->reader->fd, found->offset, input, &content, error);
    if (rc < 0 || content == found->content) return rc;
    return gale_error_set(error, GALE_INVALID,
                          "%s: is not the file that state file '%s' was written for: what lies before byte %" PRId64
                          " differs; remove the state file to read from the beginning",
                          input, resume->path, found->offset);
}

static int check_tasks(const gx_file_resume *resume, const gx_file_state *found, gale_error *error) {
    const gx_file_state *own = &resume->state;
    if (found->task == own->task && found->tasks == own->tasks) return 0;
    return gale_error_set(error, GALE_INVALID,
                          "state file '%s' was written by task %" PRIu32 " of %" PRIu32 ", this is task %" PRIu32
                          " of %" PRIu32
                          ": tasks have blocks of the file; keep the number of tasks, or remove the state "
                          "files",
                          resume->path, found->task + 1, found->tasks, own->task + 1, own->tasks);
}

/* --- Going on ----------------------------------------------------------------------------------------------------- */

/* GALE_NOT_FOUND, with no report, when there is no state file. */
static int read_state(const char *path, gx_file_state *ret_state, gale_error *error) {
    char *bytes;
    size_t size;
    int rc = gx_file_read_own(path, STATE_FILE_MAX, &bytes, &size, error);
    if (rc == GALE_INVALID) gale_error_add(error, "it is named as the state of a file spout");
    if (rc < 0) return rc;
    rc = gx_file_state_parse(path, (gale_str){ bytes, size }, ret_state, error);
    free(bytes);
    return rc;
}

static void tell(const gale_context *context, const gx_file_resume *resume, const gx_file_state *found) {
    bool same = found->device == resume->state.device && found->inode == resume->state.inode;
    const char *moved = same ? "" : "; the file was moved or copied since";
    if (found->tasks > 1)
        gale_log(context->logger, GALE_LOG_INFO, context->component, "%s: goes on at byte %" PRId64 "%s",
                 resume->reader->path, found->offset, moved);
    else
        gale_log(context->logger, GALE_LOG_INFO, context->component, "%s: goes on behind line %" PRIu64 "%s",
                 resume->reader->path, found->lines, moved);
}

static int go_on(gx_file_resume *resume, const gx_file_about *about, const gale_context *context,
                 gx_file_reader *reader, gale_error *error) {
    gx_file_state found;
    int rc = read_state(resume->path, &found, error);
    if (rc == GALE_NOT_FOUND) return 0;
    if (rc == 0) rc = check_tasks(resume, &found, error);
    if (rc == 0) rc = check_file(resume, &found, about, error);
    if (rc == 0) rc = gx_file_reader_behind_end(reader, &found.offset, error);
    if (rc < 0) return rc;
    tell(context, resume, &found);
    resume->found = true;
    gx_file_reader_seek(reader, found.offset, found.lines);
    return 0;
}

static bool name_path(gx_file_resume *resume, const char *path, uint32_t index) {
    size_t size = strlen(path) + sizeof ".4294967295";
    resume->path = gx_alloc(resume->heap, GX_TAG_OTHER, size);
    if (!resume->path) return false;
    resume->path_size = size;
    if (index > 0) {
        snprintf(resume->path, size, "%s.%" PRIu32, path, index);
    } else {
        memcpy(resume->path, path, strlen(path) + 1);
    }
    return true;
}

/* Neither the state file nor what stands beside it may be the input, which would be replaced or removed. */
static int check_apart(const char *path, const gx_file_about *input, const char *input_path, gale_error *error) {
    static const char *const endings[] = { "", ".new", ".lock" };
    char name[GX_FILE_NAME_SIZE];
    gx_file_about about;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        int rc = gx_file_beside(path, endings[i], name, error);
        if (rc < 0) return rc;
        rc = gx_file_about_path(name, &about, error);
        if (rc < 0 && rc != GALE_NOT_FOUND) return rc;
        if (rc == 0 && about.device == input->device && about.inode == input->inode)
            return gale_error_set(error, GALE_INVALID, "%s: is read, and '%s' would be written to keep the place in it",
                                  input_path, name);
    }
    return 0;
}

/* Takes the place that was kept, with the lock that says whose it is. */
static int take_place(gx_file_resume *resume, const gx_file_about *about, const gale_context *context,
                      gx_file_reader *reader, gale_error *error) {
    int rc = check_apart(resume->path, about, reader->path, error);
    if (rc == 0) rc = gx_lock_take(&resume->lock, resume->path, error);
    if (rc == GALE_STATE) gale_error_add(error, "a state file belongs to one run at a time");
    if (rc == 0) rc = go_on(resume, about, context, reader, error);
    return rc < 0 ? rc : gx_file_resume_write(resume, gx_file_reader_next_at(reader), reader->number, error);
}

int gx_file_resume_open(gx_file_resume *resume, gx_heap *heap, const char *path, int64_t interval,
                        const gale_context *context, gx_file_reader *reader, gale_error *error) {
    gx_file_about about;
    int rc = gx_file_about_open(reader->fd, reader->path, &about, error);
    if (rc < 0) return rc;
    if (!reader->regular) {
        return gale_error_set(error, GALE_INVALID, "%s: only a regular file can be gone on with; leave `state` out",
                              strcmp(reader->path, "-") == 0 ? "standard input" : reader->path);
    }
    gx_file_resume made = { .heap = heap, .reader = reader, .interval = interval };
    made.state = (gx_file_state){ .device = about.device, .inode = about.inode, .offset = -1 };
    made.state.task = context->task_index;
    made.state.tasks = context->task_count;
    if (!name_path(&made, path, context->task_index)) return GALE_NO_MEMORY;
    rc = take_place(&made, &about, context, reader, error);
    if (rc < 0) {
        gx_file_resume_fini(&made);
        return rc;
    }
    made.due = gale_context_now(context) + interval;
    *resume = made;
    return 0;
}

void gx_file_resume_fini(gx_file_resume *resume) {
    if (!resume->path) return;
    gx_lock_release(&resume->lock, resume->path);
    gx_free(resume->heap, GX_TAG_OTHER, resume->path, resume->path_size);
    resume->path = NULL;
}

void gx_file_resume_end(gx_file_resume *resume) {
    if (resume->path && !resume->found && resume->state.offset == 0) (void)remove(resume->path);
}

int gx_file_resume_write(gx_file_resume *resume, int64_t offset, uint64_t lines, gale_error *error) {
    if (offset == resume->state.offset) return 0;
    gx_file_state next = resume->state;
    next.offset = offset;
    next.lines = lines;
    int rc = gx_place_content(resume->reader->fd, offset, resume->reader->path, &next.content, error);
    if (rc < 0) return rc;
    char text[GX_FILE_STATE_TEXT];
    gale_str line = gx_file_state_format(&next, text);
    rc = gx_file_replace(resume->path, line.data, line.size, error);
    if (rc == 0) resume->state = next;
    return rc;
}
