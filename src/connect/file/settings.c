#include "connect/file/settings.h"

#include "connect/file/blocks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SECONDS_MAX = 1000000 };

static int check_seconds(const char *what, double seconds, gale_error *error) {
    if (seconds >= 0 && seconds <= SECONDS_MAX) return 0;
    return gale_error_set(error, GALE_INVALID, "file spout: %s is %g, must be 0 to %d seconds", what, seconds,
                          SECONDS_MAX);
}

static int check_state(const gale_file_spout_options *given, gale_error *error) {
    if (!given->state) return 0;
    if (!*given->state || strcmp(given->state, "-") == 0) {
        return gale_error_set(error, GALE_INVALID, "file spout: state is \"%s\", must be the path of a file",
                              given->state);
    }
    if (given->repeat) {
        return gale_error_set(error, GALE_INVALID,
                              "file spout: repeat and state exclude each other: what is read "
                              "without end has no place to go on from");
    }
    return 0;
}

/* What is for files that are followed, and for those that are not. */
static int check_follow(const gale_file_spout_options *given, gale_error *error) {
    const char *lone = given->from_end           ? "from: end"
                       : given->rotate_wait != 0 ? "rotateWait"
                       : given->max_open         ? "maxOpen"
                                                 : NULL;
    if (!given->follow) return lone ? gale_error_set(error, GALE_INVALID, "file spout: %s needs `follow`", lone) : 0;
    if (given->repeat)
        return gale_error_set(error, GALE_INVALID,
                              "file spout: follow and repeat exclude each other: what is followed has "
                              "no end to begin again at");
    if (given->state)
        return gale_error_set(
            error, GALE_INVALID,
            "file spout: `state` has the place in one file; what is followed is kept by a durable run "
            "(topology.state.dir, gale run --state)");
    if (strcmp(given->path, "-") == 0)
        return gale_error_set(error, GALE_INVALID,
                              "file spout: the standard input is read as it comes; leave `follow` out");
    return check_seconds("rotate_wait", given->rotate_wait, error);
}

static int check(const gale_file_spout_options *given, gale_error *error) {
    if (!given->path || !*given->path) {
        return gale_error_set(error, GALE_INVALID, "file spout: options.path is not set; \"-\" is the standard input");
    }
    if (given->longest > GALE_LINE_MAX)
        return gale_error_set(error, GALE_INVALID, "file spout: longest is %" PRIu64 " bytes, at most %zu",
                              given->longest, GALE_LINE_MAX);
    int rc = check_seconds("state_interval", given->state_interval, error);
    if (rc == 0) rc = check_state(given, error);
    return rc == 0 ? check_follow(given, error) : rc;
}

static gx_file_settings *copy(const gale_file_spout_options *given, const gx_file_row *row) {
    size_t path_size = strlen(given->path) + 1, state_size = given->state ? strlen(given->state) + 1 : 0;
    gx_file_settings *made = malloc(sizeof *made + path_size + state_size);
    if (!made) return NULL;
    *made = (gx_file_settings){ .options = *given };
    made->options.path = made->options.emit = NULL;
    made->row = *row;
    made->rule.longest = given->longest ? (size_t)given->longest : GALE_LINE_MAX;
    made->rule.drops = given->drop_long;
    made->block = GX_FILE_BLOCK;
    made->output = (gale_output){ NULL, made->row.fields };
    made->state_interval = given->state_interval > 0 ? (int64_t)(given->state_interval * GALE_SECOND) : GALE_SECOND;
    made->rotate_wait = given->rotate_wait > 0 ? (int64_t)(given->rotate_wait * GALE_SECOND) : 5 * GALE_SECOND;
    memcpy(made->paths, given->path, path_size);
    if (given->state) made->options.state = memcpy(made->paths + path_size, given->state, state_size);
    return made;
}

int gx_file_settings_make(const gale_file_spout_options *given, gx_file_settings **ret_settings, gale_error *error) {
    gx_file_row row;
    int rc = check(given, error);
    if (rc == 0) rc = gx_file_row_parse(given->emit, &row, error);
    if (rc < 0) return rc;
    *ret_settings = copy(given, &row);
    return *ret_settings ? 0 : gale_error_set(error, GALE_NO_MEMORY, "file spout: out of memory");
}
