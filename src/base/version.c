/* In a file of its own: the libraries beside libgale take all else of this floor along, and ask libgale for this. */
#include <gale/base.h>

const char *gale_version(void) {
    return GALE_VERSION_TEXT;
}
