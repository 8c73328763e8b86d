#include "connect/spool/sink.h"
#include "connect/spool/spout.h"
#include "front/builtin.h"
#include "front/table.h"

/* --- The bolt -------------------------------------------------------------------------------------------------------- */

static const gx_param sink_params[] = {
    GX_ROW(TEXT, "path", NULL, "the folder, which has one for each task; it is made where it is not there",
           .example = "/var/lib/gale/orders"),
    GX_ROW(BYTES, "disk", NULL, "so much of the disk each task takes at the most; who feeds it waits then",
           GX_RANGE(64 << 10, INT64_MAX), .example = "10 GB"),
    GX_ROW(BYTES, "memory", "16 MiB", "so much waits in memory for the disk at the most", GX_RANGE(1, INT64_MAX),
           .example = "64 MiB"),
};

static int make_sink(const gx_args *args, gale_bolt *ret, gale_error *error) {
    const gx_spool_sink_options options = { .path = gx_args_text(args, "path"),
                                            .disk = gx_args_whole(args, "disk"),
                                            .memory = (uint64_t)gx_args_whole(args, "memory") };
    return gx_spool_sink(&options, ret, error);
}

/* --- The spout ------------------------------------------------------------------------------------------------------- */

static const gx_param spout_params[] = {
    GX_ROW(TEXT, "path", NULL, "the folder, as the bolt has it", .example = "/var/lib/gale/orders"),
    GX_ROW(FIELDS, "fields", NULL, "the fields of what the bolt is given", .roles = GX_PARAM_OUTPUT,
           .example = "[id, text]"),
    GX_ROW(BYTES, "memory", "8 MiB", "so much is out and not answered at the most", GX_RANGE(1, INT64_MAX),
           .example = "64 MiB"),
    GX_ROW(WHOLE, "maxAttempts", "0", "how often a tuple is emitted until it is given up; 0: without end",
           GX_RANGE(0, UINT32_MAX), .example = "10"),
};

static int make_spout(const gx_args *args, gale_spout *ret, gale_error *error) {
    const gx_spool_spout_options options = { .path = gx_args_text(args, "path"),
                                             .fields = gx_args_text(args, "fields"),
                                             .memory = (uint64_t)gx_args_whole(args, "memory"),
                                             .attempts = (uint32_t)gx_args_whole(args, "maxAttempts") };
    return gx_spool_spout(&options, ret, error);
}

/* clang-format off */
static const gx_class spouts[] = {
    { .name = "gale.spout.DiskBuffer", .kind = GX_CLASS_SPOUT, GX_PARAMS(spout_params), .keys = "gale.rate",
      .text = "emits what gale.bolt.DiskBuffer has put into a folder, in order", .make_spout = make_spout },
};
static const gx_class sinks[] = {
    { .name = "gale.bolt.DiskBuffer", .kind = GX_CLASS_BOLT, GX_PARAMS(sink_params),
      .text = "keeps tuples in a folder, for gale.spout.DiskBuffer to emit", .make_bolt = make_sink },
};
/* clang-format on */

const gx_class_table gx_builtin_spool = { spouts, sizeof spouts / sizeof *spouts };
const gx_class_table gx_builtin_spool_sinks = { sinks, sizeof sinks / sizeof *sinks };
