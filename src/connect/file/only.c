#include "connect/file/only.h"

#include "base/log.h"
#include "connect/file/meddled.h"

#include <inttypes.h>
#include <stdlib.h>

/* --- Saving --- */

/* Files that are not kept go when the checkpoint lasts, which needs none that has a number. */
typedef struct forgetting {
    uint64_t number;
    char path[];
} forgetting;

static int forget(void *pledge, gale_error *error) {
    const forgetting *f = pledge;
    return gx_rotation_forget(f->path, f->number, error);
}

static const gale_pledge_ops forget_ops = { .size = sizeof forget_ops, .commit = forget, .drop = free };

static int pledge_to_forget(const gx_only *only, uint64_t next, gale_saver *to) {
    const char *path = only->file->path;
    uint64_t last = gx_rotation_last_forgotten(only->rotation, next);
    if (!last || next == only->file->forgotten) return 0;
    size_t size = strlen(path) + 1;
    forgetting *f = malloc(sizeof *f + size);
    if (!f) return GALE_NO_MEMORY;
    f->number = last;
    memcpy(f->path, path, size);
    only->file->forgotten = next;
    return gale_save_pledge(to, &forget_ops, f);
}

static int open_successor(const gx_only *only, gale_error *error) {
    gx_outputs_file *file = only->file;
    gale_error why = GALE_ERROR_INIT;
    file->swap = (gx_file_swap)GX_FILE_SWAP_INIT;
    int rc = gx_file_swap_is_due(file->output.fd, file->path, error);
    if (rc <= 0) return rc;
    if (gx_outputs_open_successor(file, &why) < 0) {
        gx_rotation_tell_change(only->context, file->path, &why);
        return 0;
    }
    file->swap.asked = true;
    return gx_file_swap_announce(&file->swap, file->successor.fd, file->path, error);
}

/* What somebody has renamed is changed for the file that has its path, when the checkpoint before was told of that. */
static int follow_path(const gx_only *only, gale_error *error) {
    gx_outputs_file *file = only->file;
    if (!file->swap.asked || !file->output.regular) return 0;
    if (file->successor.fd < 0) return open_successor(only, error);
    int rc = gx_outputs_write(file, file->lines.size, error);
    if (rc == 0) rc = gx_outputs_change(file, true, error);
    if (rc == 0) gx_rotation_tell_change(only->context, file->path, NULL);
    return rc;
}

int gx_only_save(const gx_only *only, gale_saver *to, gale_error *error) {
    gx_outputs_file *file = only->file;
    int rc = follow_path(only, error);
    if (rc == 0) rc = gx_meddled_look(only->context, file, false, error);
    if (rc < 0) return rc;
    gx_file_turns turns = { .period = file->period, .swap = file->swap };
    bool rotates = gx_rotation_is_on(only->rotation) && file->output.regular;
    rc = rotates ? gx_rotation_next(file, &turns.next, error) : 0;
    if (rc == 0) rc = gx_file_output_save(&file->output, turns, to, error);
    return rc == 0 ? pledge_to_forget(only, turns.next, to) : rc;
}

/* --- Going on --- */

static void tell_found(const gx_only *only, const gx_file_end_found *found) {
    const gale_context *context = only->context;
    const char *path = only->file->output.path;
    if (found->elsewhere)
        gale_log(context->logger, GALE_LOG_WARN, context->component,
                 "%s: was renamed to '%s' since, and is gone on with there", only->file->path, path);
    gale_log(context->logger, GALE_LOG_INFO, context->component, "%s: goes on behind %" PRId64 " bytes%s", path,
             found->size, found->copied && found->size ? ", in a copy of the file" : "");
    if (found->cut)
        gale_log(context->logger, GALE_LOG_INFO, context->component,
                 "%s: %" PRId64 " bytes that were written since the checkpoint were cut off", path, found->cut);
}

static int undo_turns(const gx_only *only, gx_file_turns turns, gale_error *error) {
    const gale_context *context = only->context;
    const char *path = only->file->path;
    bool undone;
    int rc = gx_rotation_undo(path, turns.next, &undone, error);
    if (rc == 0 && undone)
        gale_log(context->logger, GALE_LOG_INFO, context->component,
                 "%s: has its name again, and files that were begun since the checkpoint are removed", path);
    return rc;
}

/* What was written since to the file that had the path. */
static int undo_swap(const gx_only *only, const gx_file_swap *announced, gale_error *error) {
    const gale_context *context = only->context;
    const char *path = only->file->path;
    int64_t cut;
    if (!announced->announced) return 0;
    int rc = gx_file_swap_undo(announced, path, &cut, error);
    if (rc == 0)
        gale_log(context->logger, GALE_LOG_WARN, context->component,
                 "%s: the file that took the place of a renamed one is gone: what it was given comes again", path);
    if (cut)
        gale_log(context->logger, GALE_LOG_INFO, context->component,
                 "%s: %" PRId64 " bytes that were written since the checkpoint were cut off", path, cut);
    only->file->swap.asked = true;
    return rc < 0 ? rc : 0;
}

int gx_only_restore(const gx_only *only, gale_saved *from, gale_error *error) {
    gx_outputs_file *file = only->file;
    gx_file_end_found found;
    gx_file_turns turns;
    bool is_file;
    int rc = gx_file_output_saved(from, file->path, &is_file, &turns, error);
    if (rc < 0 || !is_file) return rc;
    if (turns.next) rc = undo_turns(only, turns, error);
    /* What the checkpoint was to forget when it lasted, and a crash kept: after the last one nobody else would. */
    if (rc == 0) rc = gx_rotation_forget(file->path, gx_rotation_last_forgotten(only->rotation, turns.next), error);
    if (rc == 0) rc = gx_file_output_restore(&file->output, from, &found, error);
    if (rc < 0) return rc;
    file->next_number = turns.next;
    file->period = turns.period;
    file->output.plain = turns.plain > 0 ? turns.plain : 0;
    tell_found(only, &found);
    return undo_swap(only, &turns.swap, error);
}
