#include "front/builtin.h"
#include "front/table.h"

#include <gale/kit.h>
#if GALE_HAS_SCRIPT
#include <gale_script.h>
#endif

#define KEY_ROW                                                                                                        \
    GX_ROW(FIELD, "key", "", "the field whose values it counts; none: the first. A FIELDS grouping goes by the same",  \
           .also = "field", .roles = GX_PARAM_KEY | GX_PARAM_INPUT, .nth = 1, .example = "word")

#define LINE_ROW                                                                                                       \
    GX_ROW(FIELD, "field", "", "the field that has the lines; none: the first", .also = "key",                         \
           .roles = GX_PARAM_INPUT, .takes = GX_TEXT, .nth = 1, .example = "line")

static const gx_param split_params[] = {
    GX_ROW(BOOL, "lowerCase", "false", "ASCII letters become small"),
    GX_ROW(BOOL, "lettersOnly", "false", "drop all that is no letter from both ends of a word"),
    GX_ROW(WHOLE, "minLetters", "0", "drop shorter words", GX_RANGE(0, 1000000), .unit = "letters"),
    GX_ROW(TEXT, "stopWords", "", "drop these words, separated by blanks", .example = "the a of"),
    LINE_ROW,
};

static int make_split(const gx_args *args, gale_bolt *ret, gale_error *error) {
    gale_split_options options = { .size = sizeof options,
                                   .lower_case = gx_args_flag(args, "lowerCase"),
                                   .letters_only = gx_args_flag(args, "lettersOnly"),
                                   .min_letters = (uint32_t)gx_args_whole(args, "minLetters"),
                                   .stop_words = gx_args_text(args, "stopWords"),
                                   .field = gx_args_text(args, "field") };
    return gale_split_bolt(&options, ret, error);
}

static const gx_param count_params[] = {
    GX_ROW(WORD, "emit", "each", "'each': the new count for every input; 'finish': all totals at the end",
           .words = "each finish"),
    KEY_ROW,
};

static int make_count(const gx_args *args, gale_bolt *ret, gale_error *error) {
    int32_t emit = gx_args_is(args, "emit", "finish") ? GALE_COUNT_EMIT_FINISH : GALE_COUNT_EMIT_EACH;
    return gale_field_count_bolt(gx_args_text(args, "key"), emit, ret, error);
}

/* The defaults are Storm's. What these numbers may be, the kit says. */
static const gx_param rolling_params[] = {
    GX_ROW(WHOLE, "windowLengthInSeconds", "300", "the length of the sliding window", .unit = "seconds"),
    GX_ROW(WHOLE, "emitFrequencyInSeconds", "60", "how often the counts of the window are emitted", .unit = "seconds"),
    KEY_ROW,
};

static int make_rolling(const gx_args *args, gale_bolt *ret, gale_error *error) {
    return gale_field_rolling_count_bolt(gx_args_text(args, "key"), gx_args_whole(args, "windowLengthInSeconds"),
                                         gx_args_whole(args, "emitFrequencyInSeconds"), ret, error);
}

static int make_rolling_agg(const gx_args *args, gale_bolt *ret, gale_error *error) {
    (void)args;
    return gale_rolling_count_agg_bolt(ret, error);
}

static const gx_param ranking_params[] = {
    GX_ROW(WHOLE, "topN", "10", "how many objects are ranked"),
    GX_ROW(WHOLE, "emitFrequencyInSeconds", "2", "how often the rankings are emitted", .unit = "seconds"),
};

static const gx_param intermediate_params[] = {
    GX_ROW(WHOLE, "topN", "10", "how many objects are ranked"),
    GX_ROW(WHOLE, "emitFrequencyInSeconds", "2", "how often the rankings are emitted", .unit = "seconds"),
    GX_ROW(FIELD, "key", "", "the field that is ranked; none: the first", .roles = GX_PARAM_INPUT, .example = "host"),
    GX_ROW(FIELD, "value", "", "the field that it is ranked by, whole numbers; none: the second",
           .roles = GX_PARAM_INPUT, .takes = "int", .nth = 2, .example = "bytes"),
    GX_ROW(FIELDS, "fields", "",
           "the fields that follow in the ranking; none: all others, or with `key` or `value` none",
           .roles = GX_PARAM_INPUT, .example = "[agent]"),
};

/* A number that is wrong must not become the default that 0 stands for. */
static int64_t not_zero(int64_t number) {
    return number ? number : -1;
}

static int make_named_rankings(const gx_args *args, gale_bolt *ret, gale_error *error) {
    gale_rankings_options options = { .size = sizeof options,
                                      .key = gx_args_text(args, "key"),
                                      .value = gx_args_text(args, "value"),
                                      .fields = gx_args_text(args, "fields"),
                                      .top_n = not_zero(gx_args_whole(args, "topN")),
                                      .emit_seconds = not_zero(gx_args_whole(args, "emitFrequencyInSeconds")) };
    return gale_field_rankings_bolt(&options, ret, error);
}

static int make_intermediate(const gx_args *args, gale_bolt *ret, gale_error *error) {
    if (gx_args_text(args, "key") || gx_args_text(args, "value") || gx_args_text(args, "fields"))
        return make_named_rankings(args, ret, error);
    return gale_intermediate_rankings_bolt(gx_args_whole(args, "topN"), gx_args_whole(args, "emitFrequencyInSeconds"),
                                           ret, error);
}

static int make_total(const gx_args *args, gale_bolt *ret, gale_error *error) {
    return gale_total_rankings_bolt(gx_args_whole(args, "topN"), gx_args_whole(args, "emitFrequencyInSeconds"), ret,
                                    error);
}

static const gx_param access_log_params[] = {
    GX_ROW(FIELD, "field", "", "the field that has the lines; none: the first", .roles = GX_PARAM_INPUT,
           .takes = GX_TEXT, .nth = 1, .example = "line"),
    GX_ROW(FIELDS, "keep", "", "fields that go out before those of the line", .roles = GX_PARAM_INPUT | GX_PARAM_PASSES,
           .example = "[file]"),
};

static int make_access_log(const gx_args *args, gale_bolt *ret, gale_error *error) {
    gale_access_log_options options = { .size = sizeof options,
                                        .field = gx_args_text(args, "field"),
                                        .keep = gx_args_text(args, "keep") };
    return gale_access_log_bolt(&options, ret, error);
}

static const gx_param dedupe_params[] = {
    GX_ROW(FIELDS, "key", NULL, "the fields that duplicates have in common",
           .roles = GX_PARAM_KEY | GX_PARAM_INPUT | GX_PARAM_PASSES, .example = "[host, agent]"),
    GX_ROW(FIELDS, "output", "", "the fields that it emits; none: those of the key",
           .roles = GX_PARAM_INPUT | GX_PARAM_OUTPUT | GX_PARAM_PASSES, .example = "[host, agent, time]"),
    GX_ROW(FIELDS, "identity", "", "fields that tell a tuple that is replayed from a duplicate",
           .roles = GX_PARAM_INPUT, .example = "[offset]"),
    GX_ROW(SECONDS, "horizonSeconds", "600", "how long a key is remembered", .roles = GX_PARAM_ABOVE,
           GX_RANGE(0, 1000000000), .example = "10m"),
    GX_ROW(WHOLE, "buckets", "3", "of the rotating map; more forget more exactly", GX_RANGE(2, 253)),
    GX_ROW(WORD, "keep", "exact", "'exact': keys themselves; 'fingerprint': 128 bits of each",
           .words = "exact fingerprint"),
};

static int make_dedupe(const gx_args *args, gale_bolt *ret, gale_error *error) {
    bool fingerprint = gx_args_is(args, "keep", "fingerprint");
    gale_dedupe_options options = { .size = sizeof options,
                                    .key = gx_args_text(args, "key"),
                                    .output = gx_args_text(args, "output"),
                                    .identity = gx_args_text(args, "identity"),
                                    .horizon_seconds = gx_args_number(args, "horizonSeconds"),
                                    .buckets = (uint32_t)gx_args_whole(args, "buckets"),
                                    .keep = fingerprint ? GALE_DEDUPE_FINGERPRINT : GALE_DEDUPE_EXACT };
    return gale_dedupe_bolt(&options, ret, error);
}

#define TIME_ROW                                                                                                       \
    GX_ROW(FIELD, "time", "time", "the field that has a tuple's time, in seconds since 1970, perhaps with a fraction", \
           .roles = GX_PARAM_INPUT | GX_PARAM_TIME, .takes = GX_NUMBER)

static const gx_param event_time_params[] = {
    GX_ROW(FIELDS, "output", NULL, "the fields that it emits",
           .roles = GX_PARAM_INPUT | GX_PARAM_OUTPUT | GX_PARAM_PASSES, .example = "[time, host]"),
    TIME_ROW,
    GX_ROW(WHOLE, "latenessSeconds", "0", "how far a tuple may be behind the newest one", .unit = "seconds"),
};

static int make_event_time(const gx_args *args, gale_bolt *ret, gale_error *error) {
    gale_event_time_options options = { .size = sizeof options,
                                        .time = gx_args_text(args, "time"),
                                        .output = gx_args_text(args, "output"),
                                        .lateness_seconds = gx_args_whole(args, "latenessSeconds") };
    return gale_event_time_bolt(&options, ret, error);
}

static const gx_param unique_params[] = {
    GX_ROW(FIELDS, "key", NULL, "the fields that are counted", .roles = GX_PARAM_KEY | GX_PARAM_INPUT,
           .example = "[host, agent]"),
    TIME_ROW,
    GX_ROW(TEXT, "windows", "60", "the lengths of the windows in seconds, separated by commas", .example = "'60, 300'"),
    GX_ROW(WHOLE, "emitFrequencyInSeconds", "1", "how often what is new is emitted", GX_RANGE(1, INT32_MAX),
           .unit = "seconds"),
};

static int make_unique(const gx_args *args, gale_bolt *ret, gale_error *error) {
    gale_unique_options options = { .size = sizeof options,
                                    .key = gx_args_text(args, "key"),
                                    .time = gx_args_text(args, "time"),
                                    .windows = gx_args_text(args, "windows"),
                                    .emit_seconds = (uint32_t)gx_args_whole(args, "emitFrequencyInSeconds") };
    return gale_unique_bolt(&options, ret, error);
}

static const gx_param unique_total_params[] = {
    GX_ROW(WHOLE, "emitFrequencyInSeconds", "1", "how often the stream 'now' tells of windows that are not over",
           .unit = "seconds"),
};

static int make_unique_total(const gx_args *args, gale_bolt *ret, gale_error *error) {
    return gale_unique_total_bolt(gx_args_whole(args, "emitFrequencyInSeconds"), ret, error);
}

static const gx_param window_params[] = {
    GX_ROW(TEXT, "aggregates", "count",
           "what is told of a window: count, sum, avg, min, max, first, last, distinct, percentile, top",
           .roles = GX_PARAM_AGGREGATES,
           .example = "'count, sum(bytes) as bytes, percentile(ms, 0.99), top(path, 10)'"),
    GX_ROW(SECONDS, "length", "60", "how long a window is", .example = "1m"),
    GX_ROW(SECONDS, "slide", "", "how long after the one before it the next window ends; by default its length",
           .example = "10s"),
    GX_ROW(FIELDS, "key", "", "the fields whose values have windows of their own; by default one window is for all",
           .roles = GX_PARAM_KEY | GX_PARAM_KEYLESS | GX_PARAM_INPUT | GX_PARAM_PASSES, .example = "[path]"),
    GX_ROW(FIELD, "time", "",
           "the field of the tuples' own time, in seconds since 1970, perhaps with a fraction; by default windows go "
           "by the clock",
           .roles = GX_PARAM_INPUT | GX_PARAM_TIME, .takes = GX_NUMBER, .example = "time"),
    GX_ROW(WORD, "emit", "close", "each window once when it has ended, or its row whenever it changes, at ticks",
           .words = "close change"),
    GX_ROW(TEXT, "having", "", "an expression over a row's fields; rows of which it is not true are not told",
           .example = "errors / count > 0.05"),
    GX_ROW(SECONDS, "tick", "", "how often it is looked what has ended or changed; by default the slide, at most 1 s"),
    GX_ROW(WHOLE, "exact", "4096", "how many different values `distinct` counts exactly", GX_RANGE(1, 1000000)),
    GX_ROW(WHOLE, "counters", "1000", "a count of `top` is too low by a share of one in so many at most",
           GX_RANGE(1, 1000000)),
    GX_ROW(WHOLE, "maxKeys", "1000000", "a task's keys in windows at a time; tuples of others fail",
           GX_RANGE(1, INT64_MAX)),
    GX_ROW(WHOLE, "maxBytes", "1073741824", "memory of a task's windows; tuples that need more fail",
           GX_RANGE(1, INT64_MAX), .unit = "bytes"),
    GX_ROW(WHOLE, "work", "3000000", "what `having` may do for one row", GX_RANGE(1, 1000000000000),
           .unit = "steps of about 10 ns"),
    GX_ROW(WHOLE, "memory", "1048576", "what it may take for one row", GX_RANGE(4096, 268435456), .unit = "bytes"),
};

#if GALE_HAS_SCRIPT
static int add_having(const gx_args *args, gale_window_options *window, gale_error *error) {
    gale_having_options options = { .size = sizeof options,
                                    .expression = gx_args_text(args, "having"),
                                    .work = (uint64_t)gx_args_whole(args, "work"),
                                    .memory = (uint64_t)gx_args_whole(args, "memory") };
    return options.expression ? gale_window_having(&options, window, error) : GALE_OK;
}
#else
static int add_having(const gx_args *args, gale_window_options *window, gale_error *error) {
    (void)window;
    if (!gx_args_text(args, "having")) return GALE_OK;
    return gale_error_set(error, GALE_UNSUPPORTED, "having: this gale was built without expressions");
}
#endif

static int make_window(const gx_args *args, gale_bolt *ret, gale_error *error) {
    gale_window_options options = { .size = sizeof options,
                                    .key = gx_args_text(args, "key"),
                                    .aggregates = gx_args_text(args, "aggregates"),
                                    .length = gx_args_number(args, "length"),
                                    .slide = gx_args_number(args, "slide"),
                                    .time = gx_args_text(args, "time"),
                                    .emit = gx_args_is(args, "emit", "change") ? GALE_WINDOW_EMIT_CHANGE
                                                                               : GALE_WINDOW_EMIT_CLOSE,
                                    .tick = gx_args_number(args, "tick"),
                                    .exact = (uint32_t)gx_args_whole(args, "exact"),
                                    .counters = (uint32_t)gx_args_whole(args, "counters"),
                                    .max_keys = (uint64_t)gx_args_whole(args, "maxKeys"),
                                    .max_bytes = (uint64_t)gx_args_whole(args, "maxBytes") };
    int rc = add_having(args, &options, error);
    if (rc < 0) return rc;
    rc = gale_window_bolt(&options, ret, error);
    if (rc < 0 && options.free_having_user) options.free_having_user(options.having_user);
    return rc;
}

#define BOLT .kind = GX_CLASS_BOLT

/* clang-format off */
static const gx_class classes[] = {
    { .name = "gale.bolt.Split", BOLT, GX_PARAMS(split_params),
      .outputs = "word", .types = "word string bytes", .text = "splits a line into words", .make_bolt = make_split },
    { .name = "gale.bolt.Count", .aliases = { "org.apache.storm.testing.TestWordCounter" }, BOLT,
      GX_PARAMS(count_params),
      .outputs = "word, count", .types = "word @key, count int",
      .text = "counts equal values of a field", .make_bolt = make_count, .remembers = true },
    { .name = "gale.bolt.RollingCount", .aliases = { "org.apache.storm.starter.bolt.RollingCountBolt" }, BOLT,
      GX_PARAMS(rolling_params),
      .outputs = "obj, count, actualWindowLengthInSeconds",
      .types = "obj @key, count int, actualWindowLengthInSeconds int", .text = "counts over a sliding window",
      .make_bolt = make_rolling, .remembers = true },
    { .name = "gale.bolt.RollingCountAgg", .aliases = { "org.apache.storm.starter.bolt.RollingCountAggBolt" }, BOLT,
      .outputs = "obj, count", .types = "count int", .text = "sums what several rolling counters say of an object",
      .make_bolt = make_rolling_agg, .remembers = true },
    { .name = "gale.bolt.IntermediateRankings", .aliases = { "org.apache.storm.starter.bolt.IntermediateRankingsBolt" },
      BOLT, GX_PARAMS(intermediate_params),
      .outputs = "rankings", .types = "rankings list",
      .text = "ranks what one task sees", .make_bolt = make_intermediate, .remembers = true },
    { .name = "gale.bolt.TotalRankings", .aliases = { "org.apache.storm.starter.bolt.TotalRankingsBolt" }, BOLT,
      GX_PARAMS(ranking_params),
      .outputs = "rankings", .types = "rankings list",
      .text = "merges rankings into one", .make_bolt = make_total, .remembers = true },
    { .name = "gale.bolt.AccessLog", BOLT, GX_PARAMS(access_log_params),
      .outputs = "host, user, time, request, status, bytes, referer, agent, method, path, query, protocol",
      .types = "host string bytes, user string bytes, time int, request string bytes, status int, bytes int, "
               "referer string bytes, "
               "agent string bytes, method string bytes, path string bytes, query string bytes, protocol string bytes, "
               "bad.line string bytes, bad.problem string",
      .text = "reads lines of an access log; what is none goes to the stream `bad` (line, problem)",
      .make_bolt = make_access_log },
    { .name = "gale.bolt.Dedupe", BOLT, GX_PARAMS(dedupe_params),
      .text = "passes a tuple on when its key is new", .make_bolt = make_dedupe, .remembers = true },
    { .name = "gale.bolt.EventTime", BOLT, GX_PARAMS(event_time_params),
      .types = "late.behind int float, late.late int, watermark.mark int, watermark.newest int",
      .text = "sends what is late by its own time to the stream `late`, and tells the stream `watermark`",
      .make_bolt = make_event_time, .remembers = true },
    { .name = "gale.bolt.Unique", BOLT, GX_PARAMS(unique_params), .apart = "watermark",
      .outputs = "window, start, new",
      .types = "window int, start int, new int, watermark.mark int, watermark.task int, watermark.tasks int",
      .text = "counts different keys in windows of the tuples' own time",
      .make_bolt = make_unique, .remembers = true },
    { .name = "gale.bolt.UniqueTotal", BOLT, GX_PARAMS(unique_total_params),
      .outputs = "window, start, count",
      .types = "window int, start int, count int, now.window int, now.start int, now.count int",
      .text = "adds up what the tasks of a Unique bolt say, each window once",
      .make_bolt = make_unique_total, .remembers = true },
    { .name = "gale.bolt.Window", BOLT, GX_PARAMS(window_params), .apart = "watermark",
      .outputs = "start, end, count", .types = "start int float, end int float",
      .text = "aggregates of tumbling and sliding windows, by key; the key's fields, start, end, then one for each aggregate",
      .make_bolt = make_window, .remembers = true },
};
/* clang-format on */

const gx_class_table gx_builtin_bolts = { classes, sizeof classes / sizeof *classes };
