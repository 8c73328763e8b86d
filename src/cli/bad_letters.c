#include "cli/bad_letters.h"

#include "cli/figures.h"
#include "cli/session.h"

enum { TOLD = 10 };

void gx_bad_letters_tell(gx_bad_letters *bad, const gale_error *error) {
    if (bad->count++ < TOLD) gx_session_refuse(bad->errors, error, 0);
}

static void tell(void *user, const gale_error *error) {
    gx_bad_letters_tell(user, error);
}

gx_dead_letter_file_told gx_bad_letters_told(gx_bad_letters *bad) {
    return (gx_dead_letter_file_told){ tell, bad };
}

void gx_bad_letters_end(const gx_bad_letters *bad, const char *name) {
    gale_error error = GALE_ERROR_INIT;
    if (!bad->count) return;
    gale_error_set(&error, GALE_SYNTAX, "%s: %s line%s skipped: no dead letter%s", name,
                   gx_figure_count(bad->count, (char[GX_FIGURE_SIZE]){ 0 }), bad->count == 1 ? " was" : "s were",
                   bad->count == 1 ? "" : "s");
    gx_session_refuse(bad->errors, &error, 0);
}
