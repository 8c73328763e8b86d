/* Text that the machine has: licences, documentation, manual pages, unpacked if need be, read line by line.
 *
 * What:    a set of paths found below some roots, and a reader over one of them at a time. Manual pages are stripped of
 *          their macros, roughly.
 * Threads: a set is constant once found. A reader belongs to one thread.
 * Owner:   the caller, of both; a reader borrows its set.
 * Limits:  at most GX_DOCUMENTS_MAX documents and a bounded number of directory entries are looked at; a line is cut at
 *          4096 bytes and its rest is the next line.
 */
#ifndef GX_CLI_DOCUMENTS_H
#define GX_CLI_DOCUMENTS_H

#include "base/random.h"

#include <gale/base.h>
#include <gale/error.h>

enum { GX_DOCUMENTS_MAX = 5000, GX_DOCUMENT_LINE = 4096 };

typedef struct gx_documents {
    char **paths; /* in byte order; "" is the text that the program carries with it */
    size_t count;
} gx_documents;

/* What lies at `paths` (files, or directories to look through). GALE_IO for what is not there or cannot be read,
 * GALE_NOT_FOUND when no text is below it. */
int gx_documents_find(const char *const *paths, size_t path_count, gx_documents *ret_documents, gale_error *error);

/* What the machine has; gale's own documents when it has nothing. GALE_NO_MEMORY. */
int gx_documents_find_any(gx_documents *ret_documents, gale_error *error);
void gx_documents_fini(gx_documents *documents);

typedef struct gx_reader gx_reader;

/* Goes through the documents in an order drawn from `seed`: once, or (`repeat`) again and again in a new order each
 * time. NULL when memory is out. */
gx_reader *gx_reader_new(const gx_documents *documents, uint64_t seed, bool repeat);
void gx_reader_free(gx_reader *reader);

/* Opens the first document, which may block (a named pipe), before the first line is asked for. */
void gx_reader_begin(gx_reader *reader);

/* The next line, without its end; false at the end of all. What cannot be read is passed over. Borrowed until the next
 * call. `ret_document` is the index of the document that it comes from. */
bool gx_reader_next(gx_reader *reader, gale_str *ret_line, size_t *ret_document);

#endif
