/* Whose code was running when the process crashes: a plugin's, which is not gale's to answer for.
 *
 * What:    while a plugin is loaded, and while one of its components is made, opened or prepared, a note of this thread says so. When
 *          the process then dies of SIGSEGV, SIGBUS, SIGFPE, SIGILL or SIGABRT in that thread, the note is written to the standard
 *          error, with one write, behind the lines that printers have gathered, and what happened at that signal before happens: a core dump, a sanitizer's report.
 * Threads: any; a note belongs to its thread.
 * Owner:   the signals are the program's: only who asks for it (gx_plugin_note_on_crash) has them handled. A library does not.
 * Limits:  a note of GX_PLUGIN_NOTE_SIZE bytes; a stack that has run over leaves no room for the handler, and nothing is said.
 */
#ifndef GX_FRONT_PLUGIN_NOTE_H
#define GX_FRONT_PLUGIN_NOTE_H

#include "base/port.h"

enum { GX_PLUGIN_NOTE_SIZE = 512 };

/* From now on a crash of this thread says "gale: the plugin WHO crashed while DOING WHAT". `what` may be "". */
void gx_plugin_note_begin(const char *who, const char *doing, const char *what);
void gx_plugin_note_end(void);

/* Has crashes of this process told, from now on. Once is enough. */
void gx_plugin_note_on_crash(void);

#endif
