/* gale_gzip.h: files of a sink packed with gzip. In libgale-gzip, which needs libgale and zlib.
 *
 * What:    a codec for gale_file_sink_options (<gale/file.h>). Each batch of lines that is written is flushed, so that what was
 *          acked can be read; a member ends with the file, when it is closed, and in a durable run at each checkpoint that
 *          something was written before.
 * Threads: any thread.
 * Limits:  a file that is open takes about 270 KiB.
 */
#ifndef GALE_GZIP_H
#define GALE_GZIP_H

#include <gale/file.h>

GALE_BEGIN

/* Static storage. */
GALE_API const gale_file_codec *gale_gzip(void);

GALE_END

#endif
