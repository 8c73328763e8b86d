/* libmicrohttpd's functions, found in the library when it is needed first. For serve/http alone.
 *
 * Threads: any. Owner: the table lasts, as the library does (base/os/library.h).
 */
#ifndef GX_SERVE_MHD_H
#define GX_SERVE_MHD_H

#include "base/port.h"

#include <gale/error.h>
#include <microhttpd.h>

#define GX_MHD_FUNCTIONS(X)                                                                                            \
    X(start_daemon)                                                                                                    \
    X(stop_daemon)                                                                                                     \
    X(create_response_from_buffer)                                                                                     \
    X(create_response_from_callback)                                                                                   \
    X(add_response_header)                                                                                             \
    X(queue_response)                                                                                                  \
    X(destroy_response)                                                                                                \
    X(lookup_connection_value)                                                                                         \
    X(get_connection_values)                                                                                           \
    X(get_version)                                                                                                     \
    X(get_connection_info)                                                                                             \
    X(suspend_connection)                                                                                              \
    X(resume_connection)                                                                                               \
    X(set_connection_option)                                                                                           \
    X(is_feature_supported)

typedef struct gx_mhd {
#define GX_MHD_FIELD(name) __typeof__(&MHD_##name) name;
    GX_MHD_FUNCTIONS(GX_MHD_FIELD)
#undef GX_MHD_FIELD
} gx_mhd;

/* GALE_UNSUPPORTED: the library is not there, or lacks a function. */
int gx_mhd_load(const gx_mhd **ret_mhd, gale_error *error);

#endif
