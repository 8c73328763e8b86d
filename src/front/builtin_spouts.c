#include "front/builtin.h"
#include "front/long_rows.h"
#include "front/table.h"

#include <gale/file.h>
#include <gale/kit.h>

#define ATTEMPTS                                                                                                       \
    GX_ROW(                                                                                                            \
        WHOLE, "maxAttempts", "3",                                                                                     \
        "how often a line is tried before it is reported and given up; topology.replay.attempts says it where that "   \
        "or a file of dead letters is configured",                                                                     \
        GX_RANGE(1, UINT32_MAX))
#define LINES GX_ROW(WHOLE, "lines", "0", "how many lines a task emits; 0: without end", GX_RANGE(0, INT64_MAX))
#define SEED GX_ROW(WHOLE, "seed", "0", "any number; the same seed gives the same lines")

static uint32_t u32(const gx_args *args, const char *name) {
    return (uint32_t)gx_args_whole(args, name);
}

static const gx_param file_params[] = {
    GX_ROW(TEXT, "path", NULL, "the file to read, or '-' for the standard input", .roles = GX_PARAM_READS,
           .example = "access.log"),
    ATTEMPTS,
    GX_ROW(BOOL, "repeat", "false", "begin again at the end, without end"),
    GX_ROW(TEXT, "state", "", "a file to keep the place in, and to go on from after a stop or a crash",
           .roles = GX_PARAM_KEEPS, .example = "access.log.place"),
    GX_ROW(SECONDS, "stateInterval", "1", "time between two writes of that file", .example = "250ms"),
    GX_ROW(FIELDS, "emit", "line", "the fields that go out: line, offset (of its first byte), number (from 1), file",
           .roles = GX_PARAM_OUTPUT, .example = "[line, number, file]"),
    GX_ROW(BOOL, "follow", "false",
           "wait for more at the end, and go on with the next file when it was rotated; the path may be a pattern"),
    GX_ROW(WORD, "from", "start", "follow: where to begin in files that are there when the first run begins",
           .words = "start end"),
    GX_ROW(SECONDS, "rotateWait", "5", "follow: how long a renamed file must be quiet until it is left",
           .example = "1m"),
    GX_ROW(WHOLE, "maxOpen", "128", "follow: how many files a task has open at once", GX_RANGE(1, 1000000)),
    GX_LONGEST_ROW("64 MiB"),
    GX_LONG_ROW,
};

static int make_file(const gx_args *args, gale_spout *ret, gale_error *error) {
    gale_file_spout_options options = { .size = sizeof options,
                                        .path = gx_args_text(args, "path"),
                                        .max_attempts = u32(args, "maxAttempts"),
                                        .repeat = gx_args_flag(args, "repeat"),
                                        .state = gx_args_text(args, "state"),
                                        .state_interval = gx_args_number(args, "stateInterval"),
                                        .emit = gx_args_text(args, "emit"),
                                        .follow = gx_args_flag(args, "follow"),
                                        .from_end = gx_args_is(args, "from", "end"),
                                        .longest = (uint64_t)gx_args_whole(args, "longest"),
                                        .drop_long = gx_args_is(args, "tooLong", "drop") };
    if (gx_args_given(args, "rotateWait")) options.rotate_wait = gx_args_number(args, "rotateWait");
    if (gx_args_given(args, "maxOpen")) options.max_open = u32(args, "maxOpen");
    return gale_file_spout(&options, ret, error);
}

static const gx_param stdin_params[] = { ATTEMPTS, GX_LONGEST_ROW("64 MiB"), GX_LONG_ROW };

static int make_stdin(const gx_args *args, gale_spout *ret, gale_error *error) {
    gale_file_spout_options options = { .size = sizeof options,
                                        .path = "-",
                                        .max_attempts = u32(args, "maxAttempts"),
                                        .longest = (uint64_t)gx_args_whole(args, "longest"),
                                        .drop_long = gx_args_is(args, "tooLong", "drop") };
    return gale_file_spout(&options, ret, error);
}

static const gx_param generator_params[] = {
    LINES,
    GX_ROW(WHOLE, "words", "10", "how long a line is", GX_RANGE(1, 10000), .unit = "words"),
    GX_ROW(WHOLE, "vocabulary", "10000", "how many different ones there are; their frequencies follow Zipf's law",
           GX_RANGE(1, 100000000), .unit = "words"),
    SEED,
    ATTEMPTS,
};

static int make_generator(const gx_args *args, gale_spout *ret, gale_error *error) {
    gale_generator_options options = { .size = sizeof options,
                                       .lines = (uint64_t)gx_args_whole(args, "lines"),
                                       .words = u32(args, "words"),
                                       .vocabulary = u32(args, "vocabulary"),
                                       .seed = (uint64_t)gx_args_whole(args, "seed"),
                                       .max_attempts = u32(args, "maxAttempts") };
    return gale_generator_spout(&options, ret, error);
}

static const gx_param made_log_params[] = {
    LINES,
    GX_ROW(WHOLE, "visitors", "1000", "how many different visitors there are", GX_RANGE(1, 1048576)),
    GX_ROW(WHOLE, "linesAMinute", "600", "by the log's clock, which is not that of gale.rate", GX_RANGE(1, UINT32_MAX),
           .unit = "lines a minute"),
    GX_ROW(WHOLE, "lateSeconds", "240", "how late a line is at the most; one in fifty is late", GX_RANGE(1, 1000000),
           .unit = "seconds"),
    GX_ROW(WHOLE, "start", "1767225600", "where the log's clock begins, in seconds since 1970 UTC",
           GX_RANGE(2000000, 4102444800), .unit = "seconds"),
    SEED,
    ATTEMPTS,
};

static int make_made_log(const gx_args *args, gale_spout *ret, gale_error *error) {
    gale_access_log_spout_options options = { .size = sizeof options,
                                              .lines = (uint64_t)gx_args_whole(args, "lines"),
                                              .visitors = u32(args, "visitors"),
                                              .lines_a_minute = u32(args, "linesAMinute"),
                                              .late_seconds = u32(args, "lateSeconds"),
                                              .start = gx_args_whole(args, "start"),
                                              .seed = (uint64_t)gx_args_whole(args, "seed"),
                                              .max_attempts = u32(args, "maxAttempts") };
    return gale_access_log_spout(&options, ret, error);
}

static const gx_param words_params[] = { GX_ROW(BOOL, "distributed", "true", "false allows one task only") };

static int make_words(const gx_args *args, gale_spout *ret, gale_error *error) {
    return gale_word_spout(gx_args_flag(args, "distributed"), ret, error);
}

#define LINE_TYPES "line string bytes, offset int, number int, file string bytes"

/* clang-format off */
static const gx_class classes[] = {
    { .name = "gale.spout.File", .kind = GX_CLASS_SPOUT, GX_PARAMS(file_params), .keys = "gale.input gale.rate",
      .outputs = "line", .types = LINE_TYPES, .text = "emits the lines of a file, tracked", .make_spout = make_file },
    { .name = "gale.spout.Stdin", .kind = GX_CLASS_SPOUT, GX_PARAMS(stdin_params), .keys = "gale.input gale.rate",
      .outputs = "line", .types = LINE_TYPES,
      .text = "emits the lines of the standard input, tracked", .make_spout = make_stdin },
    { .name = "gale.spout.Generator", .kind = GX_CLASS_SPOUT, GX_PARAMS(generator_params), .keys = "gale.rate",
      .outputs = "line", .types = LINE_TYPES,
      .text = "emits lines of made-up text, tracked", .make_spout = make_generator },
    { .name = "gale.spout.Words", .aliases = { "org.apache.storm.testing.TestWordSpout" }, .kind = GX_CLASS_SPOUT,
      GX_PARAMS(words_params),
      .outputs = "word", .types = "word string",
      .text = "emits one of five names every 100 ms, untracked", .make_spout = make_words },
    { .name = "gale.spout.AccessLog", .kind = GX_CLASS_SPOUT, GX_PARAMS(made_log_params), .keys = "gale.rate",
      .outputs = "line", .types = LINE_TYPES, .text = "emits the access log of a made-up web server, tracked",
      .make_spout = make_made_log },
};
/* clang-format on */

const gx_class_table gx_builtin_spouts = { classes, sizeof classes / sizeof *classes };
