/* Classes of gale's own connectors, whose plugins are loaded when they are named: no file has to say `plugins:` for them.
 *
 * Threads, Owner: as front/plugins.h.
 * Errors:  one sentence that says what to do, without a place: the caller adds it.
 */
#ifndef GX_FRONT_CONNECTING_H
#define GX_FRONT_CONNECTING_H

#include "front/connector.h"
#include "front/plugins.h"

/* Loads the connector that brings the class `name`, if one does and it is not known yet: 0 then, and for every other name.
 * GALE_NOT_FOUND where that plugin is missing, or is one without the class; GALE_UNSUPPORTED for `plugins` NULL, which loads none; what
 * gx_plugins_load says where it is there and cannot be loaded. */
int gx_connecting_class(gx_plugins *plugins, gale_str name, gale_error *error);

/* Is it in this program, or where it would be found? */
bool gx_connecting_has(const gx_connector *connector);

/* Loads all that are there, for who lists classes; what is wrong with one is told to who names it. */
void gx_connecting_all(gx_plugins *plugins);

#endif
