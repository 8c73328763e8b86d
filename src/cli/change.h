/* What is asked of a run while it goes on: to read its topology file again, with other numbers laid over it, and to go on with that; and to
 * end, in order or at once, which goes before.
 *
 *      idle --ask--> asked --take--> checked --> stopping --> starting --> done
 *                                       |                        |
 *                                       +--- the file is wrong --+--- it cannot run --> refused: the old topology goes on
 *
 * What:    one change at a time, and none any more once the end was asked for. Whoever asked looks how far it is; what became of the last one stays to be looked at.
 * Threads: any asks and looks; one takes and tells.
 * Owner:   what is asked is copied.
 */
#ifndef GX_CLI_CHANGE_H
#define GX_CLI_CHANGE_H

#include "cli/options.h"
#include "serve/served.h"

#include <pthread.h>

typedef enum gx_ending { GX_ENDING_NONE, GX_ENDING_IN_ORDER, GX_ENDING_NOW } gx_ending;

typedef struct gx_change {
    pthread_mutex_t mutex;
    gx_changing now;
    gx_buf words; /* of the wish, each with a NUL behind it */
    gx_words settings, sets, adopt;
    bool forget;
    gx_ending ending;
} gx_change;

/* Words that were laid over a command line's, which may be pointed to until the end. */
typedef struct gx_change_words {
    char **items;
    size_t count;
} gx_change_words;

/* Lays copies of `more` over `words`: one that gives a name another value takes the place of the one before. GALE_TOO_LARGE;
 * GALE_NO_MEMORY. */
int gx_change_lay(gx_change_words *kept, const gx_words *more, gx_words *words, gale_error *error);
void gx_change_words_free(gx_change_words *kept);

void gx_change_init(gx_change *change);
void gx_change_fini(gx_change *change);

/* GALE_AGAIN: another one is on its way, or the end is; GALE_NO_MEMORY. */
int gx_change_ask(gx_change *change, const gx_wish *wish, gale_error *error);

/* Is there one that nobody has taken? Its words are good until it is done or refused. */
bool gx_change_take(gx_change *change);

/* How far it is. `text` NULL: nothing is to be said. */
void gx_change_tell(gx_change *change, gx_changing_state state, const char *text, int64_t stood_still);

/* From what the run that is begun goes on. */
void gx_change_begun(gx_change *change, gx_changing_begun begun);

/* What is laid over the file by now (NULL: nothing). Its secrets are not kept. */
void gx_change_laid(gx_change *change, const char *words);

/* The end: what was asked for stays asked for, and the harder one holds. A change that nobody has taken is refused. */
void gx_change_end(gx_change *change, gx_ending how);
gx_ending gx_change_ending(gx_change *change);

/* A copy. */
void gx_change_look(gx_change *change, gx_changing *ret_now);

#endif
