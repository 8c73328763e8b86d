#include "base/os/entropy.h"

#include "base/os/time.h"
#include "base/random.h"

#include <sys/random.h>

uint64_t gx_os_entropy(void) {
    uint64_t seed = 0;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) == (ssize_t)sizeof seed) return seed;
    return gx_random_mix((uint64_t)gx_os_monotonic() ^ gx_random_mix((uint64_t)gx_os_wall()));
}

bool gx_os_secret(void *bytes, size_t size) {
    return getrandom(bytes, size, 0) == (ssize_t)size;
}
