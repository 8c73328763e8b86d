/* The page's files: those of web/dist, which are put into the program when it is built (cmake/page.cmake).
 * Threads: any. Static storage. */
#ifndef GX_SERVE_PAGE_FILES_H
#define GX_SERVE_PAGE_FILES_H

#include <stddef.h>

enum { GX_PAGE_INDEX, GX_PAGE_SCRIPT, GX_PAGE_STYLE, GX_PAGE_FILES };

typedef struct gx_page_file {
    const char *name; /* "index.html" */
    const unsigned char *bytes;
    size_t size;
} gx_page_file;

extern const gx_page_file gx_page_files[GX_PAGE_FILES];

#endif
