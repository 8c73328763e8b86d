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
#define PARAMS(table) table, sizeof(table) / sizeof(table)[0]

static const char *text_of(const gale_value *value) {
    return value->type == GALE_TYPE_STRING ? value->as.string : NULL;
}

static bool is_word(const gale_value *value, const char *word) {
    return value->type == GALE_TYPE_STRING && strcmp(value->as.string, word) == 0;
}

/* --- Spouts ---------------------------------------------------------------------------------------------------------
 */

#define ATTEMPTS                                                                                                       \
    WHOLE("maxAttempts", "3", 1, UINT32_MAX, "how often a line is tried before it is reported and given up")

static const gx_param file_spout_params[] = {
    TEXT("path", NULL, "the file to read, or '-' for the standard input"),
    ATTEMPTS,
    FLAG("repeat", "false", "begin again at the end, without end"),
};

static int make_file_spout(const gale_value *v, gale_spout *ret, gale_error *error) {
    gale_file_spout_options options = { sizeof options, text_of(&v[0]), (uint32_t)v[1].as.i64, v[2].as.boolean };
    return gale_file_spout(&options, ret, error);
}

static const gx_param stdin_spout_params[] = { ATTEMPTS };

static int make_stdin_spout(const gale_value *v, gale_spout *ret, gale_error *error) {
    gale_file_spout_options options = { sizeof options, "-", (uint32_t)v[0].as.i64, false };
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

static const gx_param words_params[] = {
    FLAG("distributed", "true", "false allows one task only"),
};

static int make_words(const gale_value *v, gale_spout *ret, gale_error *error) {
    return gale_word_spout(v[0].as.boolean, ret, error);
}

/* --- Bolts ----------------------------------------------------------------------------------------------------------
 */

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
};

static int make_count(const gale_value *v, gale_bolt *ret, gale_error *error) {
    return gale_count_bolt(is_word(&v[0], "finish") ? GALE_COUNT_EMIT_FINISH : GALE_COUNT_EMIT_EACH, ret, error);
}

/* The defaults are Storm's. What these numbers may be, the kit says. */
static const gx_param rolling_params[] = {
    WHOLE("windowLengthInSeconds", "300", 0, 0, "the length of the sliding window"),
    WHOLE("emitFrequencyInSeconds", "60", 0, 0, "how often the counts of the window are emitted"),
};

static int make_rolling(const gale_value *v, gale_bolt *ret, gale_error *error) {
    return gale_rolling_count_bolt(v[0].as.i64, v[1].as.i64, ret, error);
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

static const gx_param sink_params[] = {
    TEXT("path", NULL, "the file to write, or '-' for the standard output"),
    WORD("format", "tsv", "tsv json", "'tsv': values with tabs between them; 'json': an object a line"),
    FLAG("append", "false", "keep what the file holds"),
};

static int make_sink(const gale_value *v, gale_bolt *ret, gale_error *error) {
    gale_file_sink_options options = { sizeof options, text_of(&v[0]),
                                       is_word(&v[1], "json") ? GALE_FILE_JSON : GALE_FILE_TSV, v[2].as.boolean };
    return gale_file_sink_bolt(&options, ret, error);
}

enum { STANDARD_OUTPUT = 1 };

static int make_printer(const gale_value *v, gale_bolt *ret, gale_error *error) {
    (void)v;
    return gale_printer_bolt(STANDARD_OUTPUT, ret, error);
}

static int make_log(const gale_value *v, gale_bolt *ret, gale_error *error) {
    (void)v;
    return gale_log_bolt(ret, error);
}

static int make_null(const gale_value *v, gale_bolt *ret, gale_error *error) {
    (void)v;
    return gale_null_bolt(ret, error);
}

/* --- Values, for `components` ---------------------------------------------------------------------------------------
 */

static const gx_param value_params[] = {
    { "value", GALE_TYPE_NULL, NULL, 0, 0, NULL, "a string, a number, true or false" },
};

/* --- The table ------------------------------------------------------------------------------------------------------
 */

#define SPOUT GX_CLASS_SPOUT
#define BOLT GX_CLASS_BOLT

static const gx_class classes[] = {
    { "gale.spout.File",
      { NULL },
      SPOUT,
      PARAMS(file_spout_params),
      "gale.input gale.rate",
      "emits the lines of a file, tracked: (line)",
      make_file_spout,
      NULL },
    { "gale.spout.Stdin",
      { NULL },
      SPOUT,
      PARAMS(stdin_spout_params),
      "gale.input gale.rate",
      "emits the lines of the standard input, tracked: (line)",
      make_stdin_spout,
      NULL },
    { "gale.spout.Generator",
      { NULL },
      SPOUT,
      PARAMS(generator_params),
      "gale.rate",
      "emits lines of made-up text, tracked: (line)",
      make_generator,
      NULL },
    { "gale.spout.Words",
      { "org.apache.storm.testing.TestWordSpout" },
      SPOUT,
      PARAMS(words_params),
      NULL,
      "emits one of five names every 100 ms, untracked: (word)",
      make_words,
      NULL },
    { "gale.bolt.Split",
      { NULL },
      BOLT,
      PARAMS(split_params),
      NULL,
      "splits a line into words: (word)",
      NULL,
      make_split },
    { "gale.bolt.Count",
      { "org.apache.storm.testing.TestWordCounter" },
      BOLT,
      PARAMS(count_params),
      NULL,
      "counts equal first values: (word, count)",
      NULL,
      make_count },
    { "gale.bolt.RollingCount",
      { "org.apache.storm.starter.bolt.RollingCountBolt" },
      BOLT,
      PARAMS(rolling_params),
      NULL,
      "counts over a sliding window: (obj, count, actualWindowLengthInSeconds)",
      NULL,
      make_rolling },
    { "gale.bolt.IntermediateRankings",
      { "org.apache.storm.starter.bolt.IntermediateRankingsBolt" },
      BOLT,
      PARAMS(ranking_params),
      NULL,
      "ranks what one task sees: (rankings)",
      NULL,
      make_intermediate },
    { "gale.bolt.TotalRankings",
      { "org.apache.storm.starter.bolt.TotalRankingsBolt" },
      BOLT,
      PARAMS(ranking_params),
      NULL,
      "merges rankings into one: (rankings)",
      NULL,
      make_total },
    { "gale.bolt.FileSink",
      { NULL },
      BOLT,
      PARAMS(sink_params),
      "gale.output",
      "writes each tuple as a line",
      NULL,
      make_sink },
    { "gale.bolt.Printer", { NULL }, BOLT, NULL, 0, NULL, "prints each tuple as a JSON line", NULL, make_printer },
    { "gale.bolt.Log",
      { "org.apache.storm.flux.wrappers.bolts.LogInfoBolt" },
      BOLT,
      NULL,
      0,
      NULL,
      "logs each tuple, level info",
      NULL,
      make_log },
    { "gale.bolt.Null", { NULL }, BOLT, NULL, 0, NULL, "takes everything and does nothing", NULL, make_null },
    { "gale.Value",
      { "java.lang.String", "java.lang.Integer", "java.lang.Long", "java.lang.Boolean" },
      GX_CLASS_VALUE,
      PARAMS(value_params),
      NULL,
      "a value that arguments can refer to",
      NULL,
      NULL },
};

const gx_registry *gx_registry_builtin(void) {
    static const gx_registry registry = { classes, sizeof classes / sizeof classes[0] };
    return &registry;
}
