/* gale checkpoint NAME --state DIR */
#include "cli/command.h"
#include "cli/session.h"
#include "cli/signals.h"
#include "cli/state_folder.h"

#include "base/os/folder.h"
#include "base/os/time.h"
#include "front/saved_pair.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

typedef struct choices {
    const char *state;
    uint64_t wait;
} choices;

static const gx_option options[] = {
    { 0, "state", "DIR", GX_OPTION_TEXT, offsetof(choices, state), 0, 0,
      "the folder of the run whose checkpoint is kept" },
    { 0, "wait", "SECONDS", GX_OPTION_WHOLE, offsetof(choices, wait), 1, 1000000,
      "how long to wait until a run that is going on has begun to make the copy (default: 60)" },
};

/* For a run that has the folder. */
typedef struct waiting {
    char part[GX_FILE_NAME_SIZE]; /* what the copy is called while it is being made */
    int64_t until;
    int signal;
} waiting;

static bool waits(void *user) {
    waiting *w = user;
    if (!w->signal) w->signal = gx_signals_asked();
    if (w->signal) return false;
    return gx_os_monotonic() < w->until || gx_folder_look(w->part, NULL) == GALE_OK;
}

static int tell_kept(const char *folder, const char *kept, gx_buf *out, gale_error *error) {
    gale_store store;
    gx_saved_head head;
    int rc = gx_state_folder_look(kept, true, &store, error);
    if (rc < 0) return rc;
    rc = gx_saved_head_read(&store, &head, error);
    store.close(store.self);
    if (rc == GALE_NOT_FOUND) { /* it was begun, and was killed before its first checkpoint */
        static const char *const none[] = { NULL };
        if (gx_state_folder_remove(kept, NULL) == GALE_OK) (void)gx_folder_remove(kept, none, NULL);
        return gale_error_set(error, rc, "there is no checkpoint in '%s' yet", folder);
    }
    if (rc < 0) return rc;
    gx_buf_format(out, "kept checkpoint %" PRIu64 " in '%s'; gale run FILE --state %s goes on from it\n",
                  head.checkpoint, kept, kept);
    gx_saved_head_fini(&head);
    return GALE_OK;
}

/* Returns the exit code. */
static int keep(const choices *c, const char *name, gx_terminal *errors) {
    gale_error error = GALE_ERROR_INIT;
    char kept[GX_FILE_NAME_SIZE];
    waiting w = { .until = gx_os_monotonic() + (int64_t)(c->wait ? c->wait : 60) * GALE_SECOND };
    gx_buf out = GX_BUF_INIT(NULL);
    int rc = gx_state_folder_kept(c->state, name, kept, &error);
    if (rc == GALE_OK) rc = gx_file_beside(kept, ".part", w.part, &error);
    if (rc == GALE_OK) rc = gx_state_folder_keep(c->state, kept, waits, &w, &error);
    if (w.signal) return GX_EXIT_SIGNAL + w.signal;
    if (rc == GALE_NOT_FOUND) gale_error_set(&error, rc, "there is no state of a run in '%s'", c->state);
    if (rc == GALE_STOPPED)
        gale_error_add(&error, "a run makes it with its next checkpoint, and this one has made none in time; "
                               "--wait SECONDS waits longer");
    if (rc == GALE_OK) rc = tell_kept(c->state, kept, &out, &error);
    if (rc < 0) return gx_session_refuse(errors, &error, rc == GALE_STOPPED ? GX_EXIT_FAILED : gx_session_exit(rc));
    return gx_session_print(errors, &out);
}

static int run(int argc, char **argv, gx_terminal *errors) {
    gale_error error = GALE_ERROR_INIT;
    choices c = { 0 };
    gx_words words = { .count = 0 };
    int rc = gx_options_read(options, sizeof options / sizeof *options, argc, argv, &c, &words, &error);
    if (rc == 0 && (words.count != 1 || !c.state || !*c.state))
        rc = gale_error_set(&error, GALE_INVALID, "checkpoint takes one name and a folder: gale %s",
                            gx_cmd_checkpoint.usage);
    if (rc < 0) return gx_session_refuse(errors, &error, GX_EXIT_USAGE);
    return keep(&c, words.items[0], errors);
}

const gx_command gx_cmd_checkpoint = {
    .name = "checkpoint",
    .usage = "checkpoint NAME --state DIR",
    .text = "keep the last checkpoint of a durable run under a name",
    .more =
        "Copies the folder to DIR.NAME, from which a run can go on as from DIR: its sinks' files are cut back to "
        "what they\n"
        "were then. A run that is going on makes the copy itself, of its next checkpoint, and is waited for.\n"
        "gale run FILE --state DIR --from NAME begins DIR anew from it, and leaves it as it is.\n"
        "Exit codes: 0 kept; 1 the run made no checkpoint in time; 2 usage, no state, or there is one of that name;\n"
        "3 input or output; 128 + signal.\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run,
};
