#include "connect/file/sink_options.h"

#include "base/options.h"
#include "connect/file/template.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int gx_sink_refuse_packed(gale_error *error) {
    return gale_error_set(error, GALE_INVALID, "file sink: the standard output cannot be packed");
}

static int check_lines(const gale_file_sink_options *given, gx_fields *ret_fields, gale_error *error) {
    if (given->format < GALE_FILE_TSV || given->format > GALE_FILE_TEXT)
        return gale_error_set(error, GALE_INVALID,
                              "file sink: format is %d, which is none of TSV (%d), JSON (%d), CSV (%d) and TEXT (%d)",
                              given->format, GALE_FILE_TSV, GALE_FILE_JSON, GALE_FILE_CSV, GALE_FILE_TEXT);
    if (given->header && given->format != GALE_FILE_CSV && given->format != GALE_FILE_TSV)
        return gale_error_set(error, GALE_INVALID,
                              "file sink: header is of the formats csv and tsv, whose lines have columns");
    ret_fields->count = 0;
    if (!given->fields || !*given->fields) return 0;
    if (given->format == GALE_FILE_TEXT)
        return gx_fields_parse_one(given->fields, "file sink: fields, of which format text writes one,", ret_fields,
                                   error);
    return gx_fields_parse(given->fields, "file sink: fields", ret_fields, error);
}

static int check_rotation(const gale_file_sink_options *given, gale_error *error) {
    double every = given->rotate_every;
    bool rotates = given->rotate_bytes || every != 0;
    if (every != 0 && !(every >= 1e-3 && every <= 1e9))
        return gale_error_set(error, GALE_INVALID,
                              "file sink: rotate_every is %g seconds, must be 0 or in 0.001 to 1e9", every);
    if (given->rotate_bytes > INT64_MAX)
        return gale_error_set(error, GALE_INVALID, "file sink: rotate_bytes is %" PRIu64 ", at most %" PRId64,
                              given->rotate_bytes, INT64_MAX);
    if (given->keep && !rotates)
        return gale_error_set(error, GALE_INVALID,
                              "file sink: keep says how many full files stay, and none ever is: give rotate_bytes "
                              "(rotateBytes) or rotate_every (rotateEvery)");
    if (rotates && strcmp(given->path, "-") == 0)
        return gale_error_set(error, GALE_INVALID, "file sink: the standard output cannot be rotated");
    const gale_file_codec *codec = given->codec;
    bool whole = !codec || (codec->size >= sizeof *codec && codec->ending && codec->open && codec->pack &&
                            codec->close && codec->mend);
    if (!whole) return gale_error_set(error, GALE_INVALID, "file sink: options.codec is not whole");
    return codec && strcmp(given->path, "-") == 0 ? gx_sink_refuse_packed(error) : 0;
}

static int check(const gale_file_sink_options *given, gx_fields *ret_fields, gale_error *error) {
    gx_template path;
    if (!given->path || !*given->path) {
        return gale_error_set(error, GALE_INVALID, "file sink: options.path is not set; \"-\" is the standard output");
    }
    int rc = gx_template_parse(gx_str(given->path), "file sink: path", &path, error);
    if (rc == 0) rc = check_lines(given, ret_fields, error);
    if (rc == 0) rc = check_rotation(given, error);
    if (rc < 0) return rc;
    if (given->append && given->overwrite) {
        return gale_error_set(error, GALE_INVALID,
                              "file sink: append and overwrite exclude each other: what the file holds stays or goes");
    }
    if (given->max_open > GX_SINK_OPEN_MAX)
        return gale_error_set(error, GALE_INVALID, "file sink: max_open is %u, at most %d", given->max_open,
                              GX_SINK_OPEN_MAX);
    if (given->clock && !given->clock->now)
        return gale_error_set(error, GALE_INVALID, "file sink: options.clock has no function");
    return 0;
}

int gx_sink_options_make(const gale_file_sink_options *options, gx_sink_options **ret_made, gale_error *error) {
    gale_file_sink_options given;
    gx_fields fields;
    int rc = gx_options_take(&given, sizeof given, options, "file sink: options", error);
    if (rc == 0) rc = check(&given, &fields, error);
    if (rc < 0) return rc;
    size_t path_size = strlen(given.path) + 1;
    gx_sink_options *made = malloc(sizeof *made + path_size);
    if (!made) return gale_error_set(error, GALE_NO_MEMORY, "file sink: out of memory");
    made->given = given;
    made->given.path = made->given.fields = NULL;
    made->given.clock = NULL;
    made->wall = given.clock ? *given.clock : gale_clock_wall();
    made->fields = fields;
    memcpy(made->path, given.path, path_size);
    *ret_made = made;
    return 0;
}
