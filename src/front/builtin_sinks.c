#include "front/builtin.h"
#include "front/table.h"

#include <gale/file.h>
#include <gale/kit.h>
#include <gale_gzip.h>

static const gx_param file_params[] = {
    GX_ROW(TEXT, "path", NULL,
           "the file to write, or '-' for the standard output; {host}, {time:%Y-%m-%d}, {now:%Y-%m-%d} and {task} "
           "stand for "
           "a field, its date, today's, and the task's number",
           .roles = GX_PARAM_WRITES | GX_PARAM_TEMPLATE, .example = "'out/{host}/{now:%Y-%m-%d}.tsv'"),
    GX_ROW(WORD, "format", "tsv",
           "'tsv': values with tabs between them; 'json': an object a line; 'csv': as RFC 4180 has it; 'text': one "
           "value as it "
           "is",
           .words = "tsv json csv text"),
    GX_ROW(BOOL, "append", "",
           "lines go behind what the file holds; left out: where a spout goes on from an earlier run",
           .roles = GX_PARAM_STAYS),
    GX_ROW(BOOL, "sync", "false", "tuples are acked when the disk has their lines, not when the system has them"),
    GX_ROW(BOOL, "overwrite", "false",
           "what the file holds is replaced by a run that begins anew; else that is refused"),
    GX_ROW(FIELDS, "fields", "", "what is written, in this order; none: all, of format text the first",
           .roles = GX_PARAM_INPUT, .example = "[path, count]"),
    GX_ROW(BYTES, "rotateBytes", "0",
           "a file that would become larger gets a number, counts.tsv.000001, and another begins; 0: never",
           GX_RANGE(0, INT64_MAX), .example = "100 MB"),
    GX_ROW(SECONDS, "rotateEvery", "0",
           "so does one with lines of an earlier multiple of that since 1970 in UTC, an hour or a day; 0: never",
           GX_RANGE(0, 1000000000), .example = "1d"),
    GX_ROW(WHOLE, "keep", "0", "so many files with numbers stay, the last ones; 0: all", GX_RANGE(0, UINT32_MAX),
           .unit = "files"),
    GX_ROW(
        BOOL, "header", "false",
        "of formats csv and tsv: the first line of each file names its columns; a file that holds something gets none"),
    GX_ROW(BOOL, "gzip", "false", "files are packed, and their names end with .gz"),
    GX_ROW(WHOLE, "maxOpen", "64", "how many files a task has open at once", GX_RANGE(1, 10000), .unit = "files"),
};

static int32_t format_of(const gx_args *args) {
    static const char *const words[] = { "tsv", "json", "csv", "text" };
    static const int32_t formats[] = { GALE_FILE_TSV, GALE_FILE_JSON, GALE_FILE_CSV, GALE_FILE_TEXT };
    size_t i = 0;
    while (i < 3 && !gx_args_is(args, "format", words[i])) i++;
    return formats[i];
}

static int make_file(const gx_args *args, gale_bolt *ret, gale_error *error) {
    gale_file_sink_options options = { .size = sizeof options,
                                       .path = gx_args_text(args, "path"),
                                       .format = format_of(args),
                                       .append = gx_args_flag(args, "append"),
                                       .sync = gx_args_flag(args, "sync"),
                                       .overwrite = gx_args_flag(args, "overwrite"),
                                       .fields = gx_args_text(args, "fields"),
                                       .max_open = (uint32_t)gx_args_whole(args, "maxOpen"),
                                       .rotate_bytes = (uint64_t)gx_args_whole(args, "rotateBytes"),
                                       .rotate_every = gx_args_number(args, "rotateEvery"),
                                       .keep = (uint32_t)gx_args_whole(args, "keep"),
                                       .header = gx_args_flag(args, "header"),
                                       .codec = gx_args_flag(args, "gzip") ? gale_gzip() : NULL };
    return gale_file_sink_bolt(&options, ret, error);
}

static bool file_prints(const gx_args *args) {
    return gx_args_is(args, "path", "-");
}

enum { STANDARD_OUTPUT = 1 };

static int make_printer(const gx_args *args, gale_bolt *ret, gale_error *error) {
    (void)args;
    return gale_printer_bolt(STANDARD_OUTPUT, ret, error);
}

static bool always_prints(const gx_args *args) {
    (void)args;
    return true;
}

static int make_log(const gx_args *args, gale_bolt *ret, gale_error *error) {
    (void)args;
    return gale_log_bolt(ret, error);
}

static int make_null(const gx_args *args, gale_bolt *ret, gale_error *error) {
    (void)args;
    return gale_null_bolt(ret, error);
}

/* clang-format off */
static const gx_class classes[] = {
    { .name = "gale.bolt.FileSink", .kind = GX_CLASS_BOLT, GX_PARAMS(file_params),
      .keys = "gale.append gale.output gale.overwrite",
      .text = "writes each tuple as a line", .make_bolt = make_file, .prints = file_prints },
    { .name = "gale.bolt.Printer", .kind = GX_CLASS_BOLT,
      .text = "prints each tuple as a JSON line", .make_bolt = make_printer, .prints = always_prints },
    { .name = "gale.bolt.Log", .aliases = { "org.apache.storm.flux.wrappers.bolts.LogInfoBolt" },
      .kind = GX_CLASS_BOLT, .text = "logs each tuple, level info", .make_bolt = make_log },
    { .name = "gale.bolt.Null", .kind = GX_CLASS_BOLT,
      .text = "takes everything and does nothing", .make_bolt = make_null },
};
/* clang-format on */

const gx_class_table gx_builtin_sinks = { classes, sizeof classes / sizeof *classes };
