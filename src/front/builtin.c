#include "front/builtin.h"

#include <gale/file.h>
#include <gale/kit.h>

/* A parameter of each type. What is whole has bounds; a fallback of NULL says that it must be given. */
#define TEXT(name, fallback, text)                                                                                     \
    { name, GALE_TYPE_STRING, fallback, 0, 0, NULL, text }
#define WORD(name, fallback, choices, text)                                                                            \
    { name, GALE_TYPE_STRING, fallback, 0, 0, choices, text }
#define FLAG(name, fallback, text)                                                                                     \
    { name, GALE_TYPE_BOOL, fallback, 0, 0, NULL, text }
#define WHOLE(name, fallback, min, max, text)                                                                          \
    { name, GALE_TYPE_I64, fallback, min, max, NULL, text }
#define PARAMS(table) .params = (table), .param_count = sizeof(table) / sizeof((table)[0])

static const char *text_of(const gale_value *value) {
    return value->type == GALE_TYPE_STRING ? value->as.string : NULL;
}

static bool is_word(const gale_value *value, const char *word) {
    return value->type == GALE_TYPE_STRING && strcmp(value->as.string, word) == 0;
}

/* --- Spouts ------------------------------------------------------------------------------------------------------- */

#define ATTEMPTS                                                                                                       \
    WHOLE("maxAttempts", "3", 1, UINT32_MAX, "how often a line is tried before it is reported and given up")

static const gx_param file_spout_params[] = {
    TEXT("path", NULL, "the file to read, or '-' for the standard input"),
    ATTEMPTS,
    FLAG("repeat", "false", "begin again at the end, without end"),
    TEXT("state", "", "a file to keep the place in, and to go on from after a stop or a crash"),
    { "stateInterval", GALE_TYPE_NULL, "1", 0, 0, NULL, "seconds between two writes of that file, fractions allowed" },
};

static int seconds_of(const gale_value *value, const char *name, double *ret_seconds, gale_error *error) {
    if (value->type != GALE_TYPE_I64 && value->type != GALE_TYPE_F64)
        return gale_error_set(error, GALE_TYPE, "'%s' must be a number, not %s", name, gale_type_name(value->type));
    *ret_seconds = value->type == GALE_TYPE_I64 ? (double)value->as.i64 : value->as.f64;
    return 0;
}

static int make_file_spout(const gale_value *v, gale_spout *ret, gale_error *error) {
    gale_file_spout_options options = { .size = sizeof options,
                                        .path = text_of(&v[0]),
                                        .max_attempts = (uint32_t)v[1].as.i64,
                                        .repeat = v[2].as.boolean,
                                        .state = text_of(&v[3]) };
    int rc = seconds_of(&v[4], "stateInterval", &options.state_interval, error);
    if (rc < 0) return rc;
    return gale_file_spout(&options, ret, error);
}

static const gx_param stdin_spout_params[] = { ATTEMPTS };

static int make_stdin_spout(const gale_value *v, gale_spout *ret, gale_error *error) {
    gale_file_spout_options options = { .size = sizeof options, .path = "-", .max_attempts = (uint32_t)v[0].as.i64 };
    return gale_file_spout(&options, ret, error);
}

static const gx_param generator_params[] = {
    WHOLE("lines", "0", 0, INT64_MAX, "how many lines a task emits; 0: without end"),
    WHOLE("words", "10", 1, 10000, "words a line"),
    WHOLE("vocabulary", "10000", 1, 100000000, "different words; their frequencies follow Zipf's law"),
    WHOLE("seed", "0", 0, 0, "any number; the same seed gives the same lines"),
    ATTEMPTS,
};

static int make_generator(const gale_value *v, gale_spout *ret, gale_error *error) {
    gale_generator_options options = { sizeof options,        (uint64_t)v[0].as.i64, (uint32_t)v[1].as.i64,
                                       (uint32_t)v[2].as.i64, (uint64_t)v[3].as.i64, (uint32_t)v[4].as.i64 };
    return gale_generator_spout(&options, ret, error);
}

static const gx_param made_log_params[] = {
    WHOLE("lines", "0", 0, INT64_MAX, "how many lines a task emits; 0: without end"),
    WHOLE("visitors", "1000", 1, 1048576, "how many different visitors there are"),
    WHOLE("linesAMinute", "600", 1, UINT32_MAX, "by the log's clock, which is not that of gale.rate"),
    WHOLE("lateSeconds", "240", 1, 1000000, "how late a line is at the most; one in fifty is late"),
    WHOLE("start", "1767225600", 2000000, 4102444800, "where the log's clock begins, in seconds since 1970 UTC"),
    WHOLE("seed", "0", 0, 0, "any number; the same seed gives the same lines"),
    ATTEMPTS,
};

static int make_made_log(const gale_value *v, gale_spout *ret, gale_error *error) {
    gale_access_log_spout_options options = { .size = sizeof options,
                                              .lines = (uint64_t)v[0].as.i64,
                                              .visitors = (uint32_t)v[1].as.i64,
                                              .lines_a_minute = (uint32_t)v[2].as.i64,
                                              .late_seconds = (uint32_t)v[3].as.i64,
                                              .start = v[4].as.i64,
                                              .seed = (uint64_t)v[5].as.i64,
                                              .max_attempts = (uint32_t)v[6].as.i64 };
    return gale_access_log_spout(&options, ret, error);
}

static const gx_param words_params[] = {
    FLAG("distributed", "true", "false allows one task only"),
};

static int make_words(const gale_value *v, gale_spout *ret, gale_error *error) {
    return gale_word_spout(v[0].as.boolean, ret, error);
}

/* --- Bolts -------------------------------------------------------------------------------------------------------- */

static const gx_param split_params[] = {
    FLAG("lowerCase", "false", "ASCII letters become small"),
    FLAG("lettersOnly", "false", "drop all that is no letter from both ends of a word"),
    WHOLE("minLetters", "0", 0, 1000000, "drop shorter words"),
    TEXT("stopWords", "", "drop these words, separated by blanks"),
};

static int make_split(const gale_value *v, gale_bolt *ret, gale_error *error) {
    gale_split_options options = { sizeof options, v[0].as.boolean, v[1].as.boolean, (uint32_t)v[2].as.i64,
                                   text_of(&v[3]) };
    return gale_split_bolt(&options, ret, error);
}

static const gx_param count_params[] = {
    WORD("emit", "each", "each finish", "'each': the new count for every input; 'finish': all totals at the end"),
    TEXT("field", "", "the field whose values it counts; none: the first. A FIELDS grouping goes by the same"),
};

static int make_count(const gale_value *v, gale_bolt *ret, gale_error *error) {
    int32_t emit = is_word(&v[0], "finish") ? GALE_COUNT_EMIT_FINISH : GALE_COUNT_EMIT_EACH;
    return gale_field_count_bolt(text_of(&v[1]), emit, ret, error);
}

/* The defaults are Storm's. What these numbers may be, the kit says. */
static const gx_param rolling_params[] = {
    WHOLE("windowLengthInSeconds", "300", 0, 0, "the length of the sliding window"),
    WHOLE("emitFrequencyInSeconds", "60", 0, 0, "how often the counts of the window are emitted"),
    TEXT("field", "", "the field whose values it counts; none: the first. A FIELDS grouping goes by the same"),
};

static int make_rolling(const gale_value *v, gale_bolt *ret, gale_error *error) {
    return gale_field_rolling_count_bolt(text_of(&v[2]), v[0].as.i64, v[1].as.i64, ret, error);
}

static int make_rolling_agg(const gale_value *v, gale_bolt *ret, gale_error *error) {
    (void)v;
    return gale_rolling_count_agg_bolt(ret, error);
}

static const gx_param ranking_params[] = {
    WHOLE("topN", "10", 0, 0, "how many objects are ranked"),
    WHOLE("emitFrequencyInSeconds", "2", 0, 0, "how often the rankings are emitted"),
};

static int make_intermediate(const gale_value *v, gale_bolt *ret, gale_error *error) {
    return gale_intermediate_rankings_bolt(v[0].as.i64, v[1].as.i64, ret, error);
}

static int make_total(const gale_value *v, gale_bolt *ret, gale_error *error) {
    return gale_total_rankings_bolt(v[0].as.i64, v[1].as.i64, ret, error);
}

static int make_access_log(const gale_value *v, gale_bolt *ret, gale_error *error) {
    (void)v;
    return gale_access_log_bolt(ret, error);
}

static const gx_param dedupe_params[] = {
    TEXT("key", NULL, "the fields that duplicates have in common, separated by commas"),
    TEXT("output", "", "the fields that it emits; none: those of the key"),
    TEXT("identity", "", "fields that tell a tuple that is replayed from a duplicate"),
    { "horizonSeconds", GALE_TYPE_NULL, "600", 0, 0, NULL, "how long a key is remembered, fractions allowed" },
    WHOLE("buckets", "3", 2, 253, "of the rotating map; more forget more exactly"),
    WORD("keep", "exact", "exact fingerprint", "'exact': keys themselves; 'fingerprint': 128 bits of each"),
};

static int make_dedupe(const gale_value *v, gale_bolt *ret, gale_error *error) {
    gale_dedupe_options options = { .size = sizeof options,
                                    .key = text_of(&v[0]),
                                    .output = text_of(&v[1]),
                                    .identity = text_of(&v[2]),
                                    .buckets = (uint32_t)v[4].as.i64,
                                    .keep = is_word(&v[5], "fingerprint") ? GALE_DEDUPE_FINGERPRINT
                                                                          : GALE_DEDUPE_EXACT };
    int rc = seconds_of(&v[3], "horizonSeconds", &options.horizon_seconds, error);
    if (rc == 0 && options.horizon_seconds == 0)
        rc = gale_error_set(error, GALE_INVALID, "'horizonSeconds' must be above 0");
    if (rc < 0) return rc;
    return gale_dedupe_bolt(&options, ret, error);
}

static const gx_param event_time_params[] = {
    TEXT("output", NULL, "the fields that it emits, separated by commas"),
    TEXT("time", "time", "the field that has a tuple's time, in seconds"),
    WHOLE("latenessSeconds", "0", 0, 0, "how far a tuple may be behind the newest one"),
};

static int make_event_time(const gale_value *v, gale_bolt *ret, gale_error *error) {
    gale_event_time_options options = { sizeof options, text_of(&v[1]), text_of(&v[0]), v[2].as.i64 };
    return gale_event_time_bolt(&options, ret, error);
}

static const gx_param unique_params[] = {
    TEXT("key", NULL, "the fields that are counted, separated by commas"),
    TEXT("time", "time", "the field that has a tuple's time, in seconds"),
    TEXT("windows", "60", "the lengths of the windows in seconds, separated by commas"),
    WHOLE("emitFrequencyInSeconds", "1", 1, INT32_MAX, "how often what is new is emitted"),
};

static int make_unique(const gale_value *v, gale_bolt *ret, gale_error *error) {
    gale_unique_options options = { sizeof options, text_of(&v[0]), text_of(&v[1]), text_of(&v[2]),
                                    (uint32_t)v[3].as.i64 };
    return gale_unique_bolt(&options, ret, error);
}

static const gx_param unique_total_params[] = {
    WHOLE("emitFrequencyInSeconds", "1", 0, 0, "how often the stream 'now' tells of windows that are not over"),
};

static int make_unique_total(const gale_value *v, gale_bolt *ret, gale_error *error) {
    return gale_unique_total_bolt(v[0].as.i64, ret, error);
}

static const gx_param sink_params[] = {
    TEXT("path", NULL, "the file to write, or '-' for the standard output"),
    WORD("format", "tsv", "tsv json", "'tsv': values with tabs between them; 'json': an object a line"),
    FLAG("append", "",
         "true keeps what the file holds, false replaces it; left out: kept where a spout goes on from an earlier run"),
    FLAG("sync", "false", "tuples are acked when the disk has their lines, not when the system has them"),
};

static int make_sink(const gale_value *v, gale_bolt *ret, gale_error *error) {
    gale_file_sink_options options = { .size = sizeof options,
                                       .path = text_of(&v[0]),
                                       .format = is_word(&v[1], "json") ? GALE_FILE_JSON : GALE_FILE_TSV,
                                       .append = v[2].type == GALE_TYPE_BOOL && v[2].as.boolean,
                                       .sync = v[3].as.boolean };
    return gale_file_sink_bolt(&options, ret, error);
}

static bool sink_prints(const gale_value *v) {
    return is_word(&v[0], "-");
}

enum { STANDARD_OUTPUT = 1 };

static int make_printer(const gale_value *v, gale_bolt *ret, gale_error *error) {
    (void)v;
    return gale_printer_bolt(STANDARD_OUTPUT, ret, error);
}

static bool always_prints(const gale_value *v) {
    (void)v;
    return true;
}

static int make_log(const gale_value *v, gale_bolt *ret, gale_error *error) {
    (void)v;
    return gale_log_bolt(ret, error);
}

static int make_null(const gale_value *v, gale_bolt *ret, gale_error *error) {
    (void)v;
    return gale_null_bolt(ret, error);
}

/* --- Values, for `components` ------------------------------------------------------------------------------------- */

static const gx_param value_params[] = {
    { "value", GALE_TYPE_NULL, NULL, 0, 0, NULL, "a string, a number, true or false" },
};

/* --- The table ---------------------------------------------------------------------------------------------------- */

#define SPOUT GX_CLASS_SPOUT
#define BOLT GX_CLASS_BOLT

/* clang-format off */
static const gx_class classes[] = {
    { .name = "gale.spout.File", .kind = SPOUT, PARAMS(file_spout_params), .keys = "gale.input gale.rate",
      .reads = 1, .keeps = 4, .outputs = "line", .text = "emits the lines of a file, tracked",
      .make_spout = make_file_spout },
    { .name = "gale.spout.Stdin", .kind = SPOUT, PARAMS(stdin_spout_params), .keys = "gale.input gale.rate",
      .outputs = "line", .text = "emits the lines of the standard input, tracked", .make_spout = make_stdin_spout },
    { .name = "gale.spout.Generator", .kind = SPOUT, PARAMS(generator_params), .keys = "gale.rate",
      .outputs = "line", .text = "emits lines of made-up text, tracked", .make_spout = make_generator },
    { .name = "gale.spout.Words", .aliases = { "org.apache.storm.testing.TestWordSpout" }, .kind = SPOUT,
      PARAMS(words_params),
      .outputs = "word", .text = "emits one of five names every 100 ms, untracked", .make_spout = make_words },
    { .name = "gale.spout.AccessLog", .kind = SPOUT, PARAMS(made_log_params), .keys = "gale.rate",
      .outputs = "line", .text = "emits the access log of a made-up web server, tracked",
      .make_spout = make_made_log },
    { .name = "gale.bolt.Split", .kind = BOLT, PARAMS(split_params),
      .outputs = "word", .text = "splits a line into words", .make_bolt = make_split },
    { .name = "gale.bolt.Count", .aliases = { "org.apache.storm.testing.TestWordCounter" }, .kind = BOLT,
      PARAMS(count_params), .key = 2,
      .outputs = "word, count", .text = "counts equal values of a field", .make_bolt = make_count },
    { .name = "gale.bolt.RollingCount", .aliases = { "org.apache.storm.starter.bolt.RollingCountBolt" }, .kind = BOLT,
      PARAMS(rolling_params), .key = 3,
      .outputs = "obj, count, actualWindowLengthInSeconds", .text = "counts over a sliding window",
      .make_bolt = make_rolling },
    { .name = "gale.bolt.RollingCountAgg", .aliases = { "org.apache.storm.starter.bolt.RollingCountAggBolt" },
      .kind = BOLT,
      .outputs = "obj, count", .text = "sums what several rolling counters say of an object",
      .make_bolt = make_rolling_agg },
    { .name = "gale.bolt.IntermediateRankings", .aliases = { "org.apache.storm.starter.bolt.IntermediateRankingsBolt" },
      .kind = BOLT, PARAMS(ranking_params),
      .outputs = "rankings", .text = "ranks what one task sees", .make_bolt = make_intermediate },
    { .name = "gale.bolt.TotalRankings", .aliases = { "org.apache.storm.starter.bolt.TotalRankingsBolt" }, .kind = BOLT,
      PARAMS(ranking_params),
      .outputs = "rankings", .text = "merges rankings into one", .make_bolt = make_total },
    { .name = "gale.bolt.AccessLog", .kind = BOLT,
      .outputs = "host, user, time, request, status, bytes, referer, agent",
      .text = "reads lines of an access log; what is none goes to the stream `bad` (line, problem)",
      .make_bolt = make_access_log },
    { .name = "gale.bolt.Dedupe", .kind = BOLT, PARAMS(dedupe_params), .key = 1,
      .text = "passes a tuple on when its key is new", .make_bolt = make_dedupe },
    { .name = "gale.bolt.EventTime", .kind = BOLT, PARAMS(event_time_params),
      .text = "sends what is late by its own time to the stream `late`, and tells the stream `watermark`",
      .make_bolt = make_event_time },
    { .name = "gale.bolt.Unique", .kind = BOLT, PARAMS(unique_params), .key = 1,
      .outputs = "window, start, new", .text = "counts different keys in windows of the tuples' own time",
      .make_bolt = make_unique },
    { .name = "gale.bolt.UniqueTotal", .kind = BOLT, PARAMS(unique_total_params),
      .outputs = "window, start, count", .text = "adds up what the tasks of a Unique bolt say, each window once",
      .make_bolt = make_unique_total },
    { .name = "gale.bolt.FileSink", .kind = BOLT, PARAMS(sink_params), .keys = "gale.output",
      .writes = 1, .stays = 3, .text = "writes each tuple as a line", .make_bolt = make_sink, .prints = sink_prints },
    { .name = "gale.bolt.Printer", .kind = BOLT,
      .text = "prints each tuple as a JSON line", .make_bolt = make_printer, .prints = always_prints },
    { .name = "gale.bolt.Log", .aliases = { "org.apache.storm.flux.wrappers.bolts.LogInfoBolt" }, .kind = BOLT,
      .text = "logs each tuple, level info", .make_bolt = make_log },
    { .name = "gale.bolt.Null", .kind = BOLT,
      .text = "takes everything and does nothing", .make_bolt = make_null },
    { .name = "gale.Value",
      .aliases = { "java.lang.String", "java.lang.Integer", "java.lang.Long", "java.lang.Boolean" },
      .kind = GX_CLASS_VALUE, PARAMS(value_params),
      .text = "a value that arguments can refer to" },
};
/* clang-format on */

const gx_registry *gx_registry_builtin(void) {
    static const gx_registry registry = { classes, sizeof classes / sizeof classes[0] };
    return &registry;
}
