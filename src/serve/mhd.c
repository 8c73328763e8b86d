#include "serve/mhd.h"

#include "base/os/library.h"

#include <pthread.h>
#include <string.h>

/* The name that the system's loader knows it by, since 2012; what is loaded has the types of the header that this was built with. */
static const char soname[] = "libmicrohttpd.so.12";

static gx_mhd table;
static int loaded; /* 1, or a negative error code */
static char missing[64];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void find(void *library, const char *name, void *to) {
    gx_library_fn *function = gx_library_function(library, name);
    memcpy(to, &function, sizeof function);
    if (!function && !*missing) strncpy(missing, name, sizeof missing - 1);
}

static void load(void) {
    void *library;
    loaded = gx_library_can() ? gx_library_load(soname, &library, NULL) : GALE_UNSUPPORTED;
    if (loaded < 0) return;
#define GX_MHD_FIND(name) find(library, "MHD_" #name, &table.name);
    GX_MHD_FUNCTIONS(GX_MHD_FIND)
#undef GX_MHD_FIND
    loaded = *missing ? GALE_UNSUPPORTED : 1;
}

int gx_mhd_load(const gx_mhd **ret_mhd, gale_error *error) {
    pthread_once(&once, load);
    *ret_mhd = &table;
    if (loaded > 0) return 0;
    if (!gx_library_can())
        return gale_error_set(error, GALE_UNSUPPORTED,
                              "this gale is linked statically, and serves nothing: use one that is not");
    if (*missing)
        return gale_error_set(error, GALE_UNSUPPORTED, "%s has no %s: install libmicrohttpd 0.9.75 or later", soname,
                              missing);
    return gale_error_set(error, GALE_UNSUPPORTED,
                          "%s is not there, which serves: install it (Debian: libmicrohttpd12)", soname);
}
