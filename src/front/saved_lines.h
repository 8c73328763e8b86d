/* A checkpoint as JSON lines, and back: what `gale state export` writes and `gale state import` reads. The lines are
 * described in docs/reference/state.md; values are as front/exact_json.h has them.
 *
 *     {"gale_state":1,"format":1,"checkpoint":7, ... ,"components":[ ... ]}      the first
 *     {"component":"count","state":"count","key":"the","value":12}              keyed state; perhaps "task", "expires"
 *     {"component":"lines","task":0,"record":[ ... ]}                           what a task saved, record by record
 *     {"rest":"row","executor":0,"record":[ ... ]}                              what was left of the work
 *     {"dead_letters":[[ ... ]]}    {"begins_anew":"count"}    {"opaque": ... }
 *     {"end":true}                                                              the last
 *
 * What:    an export that is imported and exported again has the same bytes.
 * Threads: one at a time. Owner: memory is malloc's. */
#ifndef GX_FRONT_SAVED_LINES_H
#define GX_FRONT_SAVED_LINES_H

#include "base/json.h"
#include "ds/changes.h"
#include "front/saved_pair.h"

enum { GX_SAVED_LINES_FORMAT = 1 };

/* The names of the head's values and of a component's, in their order in the records; NULL ends them. */
extern const char *const gx_saved_head_names[], *const gx_saved_component_names[];

/* The name of a kind of what was left of the work (engine/rest.h), by its number; NULL: none. */
const char *gx_saved_rest_name(int64_t kind);

/* --- Writing ------------------------------------------------------------------------------------------------------- */

/* Appends the lines of one pair. GALE_DAMAGED. */
int gx_saved_lines_add(const gx_saved_pair *pair, gx_buf *out, gale_error *error);
void gx_saved_lines_end(gx_buf *out);

/* The values of a record, as a list. */
void gx_saved_record_json(gx_json *json, const gale_body *record);

/* --- Reading ------------------------------------------------------------------------------------------------------- */

/* Takes a pair, both parts borrowed for the call. */
typedef int gx_saved_put(void *user, gale_str key, gale_str value, gale_error *error);

typedef struct gx_saved_import {
    const char *name; /* of the file, for errors */
    gx_saved_put *put;
    void *user;
    uint32_t line; /* the number of the last line */
    uint64_t pairs;
    bool begun, ended;
    gx_saved_head head;
    gx_buf prefix;  /* of the keys that records go to; empty: none */
    gx_buf records; /* that were not put yet */
    uint32_t piece; /* of the next of them */
    gx_buf scratch;
    gx_changes change;
} gx_saved_import;

void gx_saved_import_begin(gx_saved_import *import, const char *name, gx_saved_put *put, void *user);

/* The next line, without its end. "name:line:column: what". */
int gx_saved_import_line(gx_saved_import *import, gale_str line, gale_error *error);

/* After the last line. GALE_SYNTAX: the file was cut. */
int gx_saved_import_finish(gx_saved_import *import, gale_error *error);

void gx_saved_import_fini(gx_saved_import *import);

#endif
