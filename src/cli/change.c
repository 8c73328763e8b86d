#include "cli/change.h"

#include "base/secret.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

void gx_change_init(gx_change *change) {
    *change = (gx_change){ .words = GX_BUF_INIT(NULL) };
    pthread_mutex_init(&change->mutex, NULL);
}

void gx_change_fini(gx_change *change) {
    gx_buf_fini(&change->words);
    pthread_mutex_destroy(&change->mutex);
}

/* --- Words ---------------------------------------------------------------------------------------------------------- */

static void add_words(gx_buf *words, const gx_wish_words *from) {
    for (size_t i = 0; i < from->count; i++) gx_buf_add(words, from->items[i], strlen(from->items[i]) + 1);
}

/* The buffer grows no more. */
static const char *point(const char *at, size_t count, gx_words *to) {
    to->count = 0;
    for (; to->count < count; at += strlen(at) + 1) to->items[to->count++] = at;
    return at;
}

static int take_words(gx_change *change, const gx_wish *wish, gale_error *error) {
    if (wish->settings.count > GX_WORDS_MAX || wish->sets.count > GX_WORDS_MAX || wish->adopt.count > GX_WORDS_MAX)
        return gale_error_set(error, GALE_TOO_LARGE, "more than %d words of a kind", GX_WORDS_MAX);
    gx_buf_reset(&change->words);
    change->forget = wish->forget;
    add_words(&change->words, &wish->settings);
    add_words(&change->words, &wish->sets);
    add_words(&change->words, &wish->adopt);
    if (change->words.failed) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
    const char *at = point(change->words.data, wish->settings.count, &change->settings);
    at = point(at, wish->sets.count, &change->sets);
    point(at, wish->adopt.count, &change->adopt);
    return 0;
}

static bool names_the_same(const char *a, const char *b) {
    size_t size = strcspn(a, "=");
    return size == strcspn(b, "=") && memcmp(a, b, size) == 0;
}

/* The same word twice is kept once: whoever asks for the same over and over takes no memory. */
static const char *keep(gx_change_words *kept, const char *word) {
    for (size_t i = 0; i < kept->count; i++)
        if (strcmp(kept->items[i], word) == 0) return kept->items[i];
    char **items = realloc(kept->items, (kept->count + 1) * sizeof *items);
    if (!items) return NULL;
    kept->items = items;
    char *copy = strdup(word);
    if (copy) kept->items[kept->count++] = copy;
    return copy;
}

int gx_change_lay(gx_change_words *kept, const gx_words *more, gx_words *words, gale_error *error) {
    for (size_t i = 0; i < more->count; i++) {
        const char *word = keep(kept, more->items[i]);
        size_t at = 0;
        if (!word) return gale_error_set(error, GALE_NO_MEMORY, "out of memory");
        while (at < words->count && !names_the_same(words->items[at], word)) at++;
        if (at == GX_WORDS_MAX)
            return gale_error_set(error, GALE_TOO_LARGE, "too many words at '%s': at most %d of a kind", word,
                                  GX_WORDS_MAX);
        words->items[at] = word;
        if (at == words->count) words->count++;
    }
    return 0;
}

void gx_change_words_free(gx_change_words *kept) {
    for (size_t i = 0; i < kept->count; i++) free(kept->items[i]);
    free(kept->items);
}

/* --- States --------------------------------------------------------------------------------------------------------- */

static bool is_over(const gx_changing *now) {
    return now->state == GX_CHANGING_NONE || now->state == GX_CHANGING_DONE || now->state == GX_CHANGING_REFUSED;
}

static int check_free(const gx_change *change, gale_error *error) {
    if (change->ending) return gale_error_set(error, GALE_AGAIN, "the run is ending, and is not changed any more");
    return is_over(&change->now) ? 0 : gale_error_set(error, GALE_AGAIN, "another one is on its way; ask again");
}

/* What is laid over the file stays so until another one is done. */
static void begin(gx_changing *now) {
    now->number++;
    now->state = GX_CHANGING_ASKED;
    now->begun = GX_BEGUN_NOT;
    now->stood_still = 0;
    *now->text = 0;
}

int gx_change_ask(gx_change *change, const gx_wish *wish, gale_error *error) {
    pthread_mutex_lock(&change->mutex);
    int rc = check_free(change, error);
    if (rc == 0) rc = take_words(change, wish, error);
    if (rc == 0) begin(&change->now);
    pthread_mutex_unlock(&change->mutex);
    return rc;
}

bool gx_change_take(gx_change *change) {
    pthread_mutex_lock(&change->mutex);
    bool asked = change->now.state == GX_CHANGING_ASKED;
    if (asked) change->now.state = GX_CHANGING_CHECKING;
    pthread_mutex_unlock(&change->mutex);
    return asked;
}

static void tell(gx_change *change, gx_changing_state state, const char *text, int64_t stood_still) {
    change->now.state = state;
    change->now.stood_still = stood_still;
    gx_utf8_copy(change->now.text, sizeof change->now.text, text);
}

void gx_change_tell(gx_change *change, gx_changing_state state, const char *text, int64_t stood_still) {
    pthread_mutex_lock(&change->mutex);
    tell(change, state, text, stood_still);
    pthread_mutex_unlock(&change->mutex);
}

void gx_change_begun(gx_change *change, gx_changing_begun begun) {
    pthread_mutex_lock(&change->mutex);
    change->now.begun = begun;
    pthread_mutex_unlock(&change->mutex);
}

void gx_change_laid(gx_change *change, const char *words) {
    pthread_mutex_lock(&change->mutex);
    gx_utf8_copy(change->now.laid, sizeof change->now.laid, words);
    gx_secret_mask(change->now.laid);
    pthread_mutex_unlock(&change->mutex);
}

void gx_change_end(gx_change *change, gx_ending how) {
    pthread_mutex_lock(&change->mutex);
    if (how > change->ending) change->ending = how;
    if (change->now.state == GX_CHANGING_ASKED) tell(change, GX_CHANGING_REFUSED, "the run is ending", 0);
    pthread_mutex_unlock(&change->mutex);
}

gx_ending gx_change_ending(gx_change *change) {
    pthread_mutex_lock(&change->mutex);
    gx_ending ending = change->ending;
    pthread_mutex_unlock(&change->mutex);
    return ending;
}

void gx_change_look(gx_change *change, gx_changing *ret_now) {
    pthread_mutex_lock(&change->mutex);
    *ret_now = change->now;
    pthread_mutex_unlock(&change->mutex);
}
