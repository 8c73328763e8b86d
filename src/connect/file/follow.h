/* The file spout that follows: gale_file_spout with `follow`. Its user block are gx_file_settings.
 * Threads: constant. */
#ifndef GX_CONNECT_FILE_FOLLOW_H
#define GX_CONNECT_FILE_FOLLOW_H

#include <gale/component.h>

extern const gale_spout_ops gx_file_follow_ops;

#endif
