#include "front/plugin_note.h"

#include "base/os/gathered.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The handler of a signal may look at them: nothing is allocated when this thread first does, in a shared library either. */
#define GX_OF_THREAD static _Thread_local __attribute__((tls_model("initial-exec")))
GX_OF_THREAD char note[GX_PLUGIN_NOTE_SIZE];
GX_OF_THREAD volatile sig_atomic_t note_size;

void gx_plugin_note_begin(const char *who, const char *doing, const char *what) {
    note_size = 0;
    int size = snprintf(note, sizeof note, "gale: the plugin %s crashed while %s%s%s\n", who, doing, *what ? " " : "",
                        what);
    if (size >= (int)sizeof note) {
        size = sizeof note - 1;
        note[size - 1] = '\n';
    }
    note_size = size > 0 ? size : 0;
}

void gx_plugin_note_end(void) {
    note_size = 0;
}

/* --- Crashes ------------------------------------------------------------------------------------------------------ */

static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
enum { SIGNAL_COUNT = sizeof signals / sizeof signals[0] };
static struct sigaction before[SIGNAL_COUNT];

/* What was there before is put back. A fault comes again when this returns, to where it happened; a signal that was sent is sent
 * once more, and delivered then. Calls nothing but what a handler may. */
static void on_crash(int number, siginfo_t *info, void *context) {
    int kept = errno;
    (void)context;
    gx_gathered_crash();
    if (note_size > 0 && write(STDERR_FILENO, note, (size_t)note_size) < 0) errno = kept;
    note_size = 0;
    for (size_t i = 0; i < SIGNAL_COUNT; i++)
        if (signals[i] == number) sigaction(number, &before[i], NULL);
    if (info->si_code <= 0) raise(number);
    errno = kept;
}

static void install(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_crash;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < SIGNAL_COUNT; i++) sigaction(signals[i], &action, &before[i]);
}

void gx_plugin_note_on_crash(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
}
