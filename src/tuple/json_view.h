/* Beside <gale/json.h>: what the library needs of it that is not public. Threads: any. */
#ifndef GX_TUPLE_JSON_VIEW_H
#define GX_TUPLE_JSON_VIEW_H

#include <gale/json.h>

typedef struct gx_json_problem {
    size_t line, column; /* from 1; columns count characters */
    const char *what;    /* the end of a sentence, in static storage */
} gx_json_problem;

/* As gale_json_check. `*ret_problem` is set where it is false. */
bool gx_json_check(gale_str text, gale_str *ret_json, gx_json_problem *ret_problem);

/* The value of a member; of a name that comes twice, the last one. Names have at most 255 bytes. False: it has none. */
bool gx_json_member(gale_str object, gale_str name, gale_str *ret_value);

/* As gale_json_is. `text` has at most 255 bytes. */
bool gx_json_string_is(gale_str json, gale_str text);

#endif
