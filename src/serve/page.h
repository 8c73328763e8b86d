/* The page: files that are part of this program, at / and below.
 *
 * Threads: any. */
#ifndef GX_SERVE_PAGE_H
#define GX_SERVE_PAGE_H

#include "serve/served.h"

/* GET /: the page, or for who has no token a word about it. */
gx_call_fn gx_page_index;

/* What it asks for by a name that has the version, so that a browser may keep it. */
gx_call_fn gx_page_script, gx_page_style;

#endif
