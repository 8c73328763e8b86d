/* Components of a plugin's classes: the arguments as gale/plugin.h shows them, and what comes back, looked at.
 *
 * What:    a component that is made keeps its plugin's rows, and its `open` or `prepare` is called with a note of whose it is
 *          (front/plugin_note.h). Everything else is called straight: a plugin's tuple costs what gale's own does.
 * Threads: making: one at a time.
 * Errors:  the plugin's own; GALE_COMPONENT for what it returned and should not have.
 */
#ifndef GX_FRONT_PLUGIN_MAKE_H
#define GX_FRONT_PLUGIN_MAKE_H

#include "front/plugin_record.h"

/* For the rows of a plugin. */
int gx_plugin_make_spout(const gx_args *args, gale_spout *ret_spout, gale_error *error);
int gx_plugin_make_bolt(const gx_args *args, gale_bolt *ret_bolt, gale_error *error);

#endif
