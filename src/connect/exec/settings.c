#include "connect/exec/settings.h"

#include "base/options.h"
#include "base/visible.h"

#include <gale/clock.h>
#include <stdlib.h>
#include <string.h>

enum { WAIT = 1, WAIT_MAX = 60, STOP_WAIT = 5, SECONDS_MAX = 1000000 };

/* --- What is wrong with it ------------------------------------------------------------------------------------------- */

int gx_exec_settings_check(const char *who, const char *what, double seconds, gale_error *error) {
    if (seconds >= 0 && seconds <= SECONDS_MAX) return 0;
    return gale_error_set(error, GALE_INVALID, "%s: %s is %g, must be 0 to %d seconds", who, what, seconds,
                          SECONDS_MAX);
}

static int check_environment(const char *who, const char *const *settings, gale_error *error) {
    for (; settings && *settings; settings++)
        if (!**settings || **settings == '=')
            return gale_error_set(error, GALE_INVALID, "%s: '%s' in the environment has no name", who, *settings);
    return 0;
}

static int check_words(const char *who, const gale_exec_command *given, gale_error *error) {
    bool has_command = given->command && *given->command;
    bool has_words = given->words && given->words[0] && *given->words[0];
    if (has_command && given->words)
        return gale_error_set(error, GALE_INVALID, "%s: command and words exclude each other: with a shell, or without",
                              who);
    if (!has_command && !has_words) return gale_error_set(error, GALE_INVALID, "%s: there is no command to run", who);
    if (given->folder && !*given->folder) return gale_error_set(error, GALE_INVALID, "%s: the folder has no name", who);
    return 0;
}

static int check_choices(const char *who, const gale_exec_command *given, gale_error *error) {
    if (given->restart < GALE_EXEC_NEVER || given->restart > GALE_EXEC_ALWAYS)
        return gale_error_set(error, GALE_INVALID,
                              "%s: restart is %d, which is none of NEVER (%d), FAILURE (%d) and ALWAYS (%d)", who,
                              given->restart, GALE_EXEC_NEVER, GALE_EXEC_FAILURE, GALE_EXEC_ALWAYS);
    if (given->errors < GALE_EXEC_LOG || given->errors > GALE_EXEC_DROP)
        return gale_error_set(error, GALE_INVALID, "%s: errors is %d, which is none of LOG (%d) and DROP (%d)", who,
                              given->errors, GALE_EXEC_LOG, GALE_EXEC_DROP);
    bool waits = given->restart_wait != 0 || given->restart_wait_max != 0 || given->restart_max;
    if (waits && given->restart == GALE_EXEC_NEVER)
        return gale_error_set(error, GALE_INVALID,
                              "%s: it is never started again, so that there is nothing to wait for or to count: give "
                              "`restart`, or leave the rest out",
                              who);
    return 0;
}

static int check_waits(const char *who, const gale_exec_command *given, gale_error *error) {
    int rc = gx_exec_settings_check(who, "restart_wait", given->restart_wait, error);
    if (rc == 0) rc = gx_exec_settings_check(who, "restart_wait_max", given->restart_wait_max, error);
    if (rc == 0) rc = gx_exec_settings_check(who, "stop_wait", given->stop_wait, error);
    return rc;
}

static int check(const char *who, const gale_exec_command *given, gale_error *error) {
    int rc = check_words(who, given, error);
    if (rc == 0) rc = check_environment(who, given->environment, error);
    if (rc == 0) rc = check_choices(who, given, error);
    return rc == 0 ? check_waits(who, given, error) : rc;
}

/* --- Copying --------------------------------------------------------------------------------------------------------- */

static size_t count_of(const char *const *list) {
    size_t count = 0;
    while (list && list[count]) count++;
    return count;
}

static size_t text_size(const char *text) {
    return text ? strlen(text) + 1 : 0;
}

static size_t texts_size(const char *const *list) {
    size_t size = 0;
    for (; list && *list; list++) size += text_size(*list);
    return size;
}

/* The places behind the head: of lists first, since they want to lie well. */
typedef struct places {
    const char **list;
    char *text;
} places;

static const char *copy_text(places *to, const char *text) {
    size_t size = text_size(text);
    if (!text) return NULL;
    char *made = memcpy(to->text, text, size);
    to->text += size;
    return made;
}

static const char *const *copy_list(places *to, const char *const *list) {
    size_t count = count_of(list);
    const char **made = to->list;
    if (!list) return NULL;
    for (size_t i = 0; i < count; i++) made[i] = copy_text(to, list[i]);
    made[count] = NULL;
    to->list += count + 1;
    return made;
}

static void copy(gx_exec_settings *to, const gale_exec_command *given, places at) {
    to->run = *given;
    to->run.words = copy_list(&at, given->words);
    to->run.environment = copy_list(&at, given->environment);
    to->run.command = given->words ? NULL : copy_text(&at, given->command);
    to->run.folder = copy_text(&at, given->folder);
    to->changes = count_of(given->environment);
}

static void name_it(gx_exec_settings *settings) {
    char plain[GX_EXEC_NAME * 2] = "";
    const gale_exec_command *run = &settings->run;
    size_t used = 0;
    for (const char *const *word = run->words; word && *word; word++) {
        size_t size = strlen(*word), room = sizeof plain - 1 - used;
        if (used && room) plain[used++] = ' ', room--;
        if (size > room) size = room;
        memcpy(plain + used, *word, size);
        used += size;
    }
    plain[used] = 0;
    (void)gx_visible_copy(settings->name, sizeof settings->name, run->words ? plain : run->command);
}

int64_t gx_exec_settings_time(double seconds, int fallback) {
    return seconds > 0 ? (int64_t)(seconds * (double)GALE_SECOND) : fallback * GALE_SECOND;
}

int gx_exec_settings_make(const gale_exec_command *given, const char *who, size_t size, void *ret_block,
                          gale_error *error) {
    gale_exec_command run;
    int rc = gx_options_take(&run, sizeof run, given, "options.run", error);
    if (rc == 0) rc = check(who, &run, error);
    if (rc < 0) return rc;
    size = (size + alignof(max_align_t) - 1) / alignof(max_align_t) * alignof(max_align_t);
    size_t lists = (count_of(run.words) + count_of(run.environment) + 2) * sizeof(char *);
    size_t texts = texts_size(run.words) + texts_size(run.environment) + text_size(run.command) + text_size(run.folder);
    gx_exec_settings *made = calloc(1, size + lists + texts);
    if (!made) return gale_error_set(error, GALE_NO_MEMORY, "%s: out of memory", who);
    char *rest = (char *)made + size;
    copy(made, &run, (places){ (const char **)(void *)rest, rest + lists });
    name_it(made);
    made->wait = gx_exec_settings_time(run.restart_wait, WAIT);
    made->wait_max = gx_exec_settings_time(run.restart_wait_max, WAIT_MAX);
    if (made->wait_max < made->wait) made->wait_max = made->wait;
    made->stop_wait = gx_exec_settings_time(run.stop_wait, STOP_WAIT);
    memcpy(ret_block, &made, sizeof made);
    return 0;
}
