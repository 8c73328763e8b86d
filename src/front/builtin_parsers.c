#include "front/builtin.h"
#include "front/passing.h"

#include <gale/kit.h>

#define FIELD_ROW(what)                                                                                                \
    GX_ROW(FIELD, "field", "", "the field that has " what "; none: the first", .roles = GX_PARAM_INPUT,                \
           .takes = GX_TEXT, .nth = 1, .example = "line")
#define KEEP_ROW(what)                                                                                                 \
    GX_ROW(FIELDS, "keep", "", "fields of the input that go out before " what,                                         \
           .roles = GX_PARAM_INPUT | GX_PARAM_PASSES, .example = "[offset]")
#define TYPES "; each perhaps with its type: string (the default), int, float, bool, auto"

/* --- Csv --- */

static const gx_param csv_params[] = {
    GX_ROW(FIELDS, "fields", NULL, "the names of the columns, in their order" TYPES,
           .roles = GX_PARAM_OUTPUT | GX_PARAM_COLUMNS, .gives = GX_TEXT, .example = "[host, status int, ms float]"),
    FIELD_ROW("the records"),
    KEEP_ROW("them"),
    GX_ROW(TEXT, "separator", ",", "what stands between two columns, one character", .example = "\"\\t\""),
    GX_ROW(TEXT, "quote", "",
           "what stands around a column that has separators, one character, doubled inside; by default \", '': none",
           .example = "\"'\""),
    GX_ROW(BOOL, "header", "false",
           "pass over lines that are the names of `fields`, and, where the input has `file` and `number`, over the "
           "first line of each file, whatever its names"),
    GX_ROW(BOOL, "ragged", "false", "columns that are missing are null, those beyond `fields` are dropped"),
    GX_ROW(WORD, "newlines", "auto",
           "what a line is that leaves a quote open: joined with the next ones, as quoted columns may hold newlines, "
           "or a record alone; auto: joined, if there is one task",
           .words = "auto join alone"),
    GX_ROW(FIELDS, "key", "", "lines of which these differ do not go on with each other", .roles = GX_PARAM_INPUT,
           .example = "[file]"),
    GX_ROW(SECONDS, "timeout", "1", "a record with an open quote that gets no line for so long is bad",
           .roles = GX_PARAM_ABOVE, GX_RANGE(0, 1000000), .example = "5s"),
    GX_ROW(WHOLE, "maxLines", "500", "the most lines of a record", GX_RANGE(1, UINT32_MAX), .unit = "lines"),
    GX_ROW(WHOLE, "maxBytes", "1048576", "the most bytes of a record of several lines", GX_RANGE(1, INT64_MAX),
           .unit = "bytes"),
    GX_ROW(WHOLE, "maxKeys", "1000", "records of so many keys are open in a task; for another one, the oldest is bad",
           GX_RANGE(1, INT64_MAX)),
};

static int32_t newlines_of(const gx_args *args) {
    if (gx_args_is(args, "newlines", "join")) return GALE_CSV_NEWLINES_JOIN;
    return gx_args_is(args, "newlines", "alone") ? GALE_CSV_NEWLINES_ALONE : GALE_CSV_NEWLINES_AUTO;
}

static bool joins_records(const gx_args *args) {
    return newlines_of(args) == GALE_CSV_NEWLINES_JOIN;
}

static int make_csv(const gx_args *args, gale_bolt *ret, gale_error *error) {
    gale_csv_options options = { .size = sizeof options,
                                 .field = gx_args_text(args, "field"),
                                 .fields = gx_args_text(args, "fields"),
                                 .keep = gx_args_text(args, "keep"),
                                 .separator = gx_args_text(args, "separator"),
                                 .quote = gx_args_text(args, "quote"),
                                 .header = gx_args_flag(args, "header"),
                                 .ragged = gx_args_flag(args, "ragged"),
                                 .newlines = newlines_of(args),
                                 .key = gx_args_text(args, "key"),
                                 .timeout = gx_args_number(args, "timeout"),
                                 .max_lines = (uint32_t)gx_args_whole(args, "maxLines"),
                                 .max_bytes = (uint64_t)gx_args_whole(args, "maxBytes"),
                                 .max_keys = (uint64_t)gx_args_whole(args, "maxKeys") };
    return gale_csv_bolt(&options, ret, error);
}

/* --- KeyValue --- */

static const gx_param key_value_params[] = {
    GX_ROW(FIELDS, "fields", "", "the keys that are wanted; those that are not there are null" TYPES,
           .roles = GX_PARAM_OUTPUT | GX_PARAM_COLUMNS, .gives = GX_TEXT, .example = "[level, ms float]"),
    FIELD_ROW("the pairs"),
    KEEP_ROW("them"),
    GX_ROW(FIELD, "rest", "",
           "one field more: a map of all other keys, at most 512, and their values; without `fields`, it is `rest`",
           .roles = GX_PARAM_OUTPUT, .gives = "map", .example = "others"),
    GX_ROW(TEXT, "separator", "", "what stands between two pairs, one character; by default a blank",
           .example = "\"&\""),
    GX_ROW(TEXT, "assign", "=", "what stands between a key and its value, one character", .example = "\":\""),
};

static int make_key_value(const gx_args *args, gale_bolt *ret, gale_error *error) {
    gale_key_value_options options = { .size = sizeof options,
                                       .field = gx_args_text(args, "field"),
                                       .fields = gx_args_text(args, "fields"),
                                       .keep = gx_args_text(args, "keep"),
                                       .rest = gx_args_text(args, "rest"),
                                       .separator = gx_args_text(args, "separator"),
                                       .assign = gx_args_text(args, "assign") };
    return gale_key_value_bolt(&options, ret, error);
}

/* --- Timestamp --- */

static const gx_param timestamp_params[] = {
    GX_ROW(FIELD, "field", "", "the field that has the time, as text or a number; none: the first",
           .roles = GX_PARAM_INPUT, .takes = GX_TEXT " " GX_NUMBER, .nth = 1, .example = "at"),
    GX_ROW(TEXT, "format", "iso8601",
           "iso8601, epoch, epoch_ms, clf (10/Oct/2000:13:55:36 -0700), syslog (Oct 11 22:14:15, of the year nearest "
           "to now), or a pattern "
           "as strptime has them",
           .example = "'%d.%m.%Y %H:%M'"),
    GX_ROW(FIELD, "as", "", "the field that the time becomes, new or not; by default `field` itself",
           .example = "time"),
    GX_ROW(WORD, "unit", "s", "what is counted since 1970 UTC", .words = "s ms ns"),
    GX_ROW(TEXT, "zone", "", "how far a clock whose text says no zone is ahead of UTC; by default it is UTC",
           .example = "'+02:00'"),
    GX_PASSING_ROW,
};

static bool is_epoch(const gx_args *args) {
    const char *format = gx_args_text(args, "format");
    return format && (strcmp(format, "epoch") == 0 || strcmp(format, "epoch_ms") == 0);
}

/* Formats that count take numbers, too. */
static uint32_t timestamp_takes(const gx_args *args, const gx_param *param) {
    (void)param;
    return is_epoch(args) ? GX_TYPES_TEXT | GX_TYPES_NUMBER : GX_TYPES_TEXT;
}

/* The time is under `as`, or where its text was. */
static bool timestamp_gives(const gx_args *args, gale_str *field, uint32_t *ret_types) {
    const char *as = gx_args_text(args, "as"), *from = gx_args_text(args, "field");
    gale_str name = gx_str(as ? as : from), rest;
    const char *passed = gx_args_text(args, "fields");
    if (!name.size) {
        rest = gx_str(passed ? passed : args->input_count ? args->inputs[0].fields : NULL);
        if (!gx_str_next(&rest, ',', &name)) return false;
    }
    *ret_types = GX_TYPES(GALE_TYPE_I64);
    return gx_str_equal(*field, name);
}

static int make_timestamp(const gx_args *args, gale_bolt *ret, gale_error *error) {
    char room[GX_PASSING_TEXT];
    const char *fields;
    int rc = gx_passing_fields(args, room, &fields, error);
    if (rc < 0) return rc;
    gale_timestamp_options options = { .size = sizeof options,
                                       .fields = fields,
                                       .field = gx_args_text(args, "field"),
                                       .format = gx_args_text(args, "format"),
                                       .as = gx_args_text(args, "as"),
                                       .zone = gx_args_text(args, "zone"),
                                       .unit = gx_args_is(args, "unit", "ms")   ? GALE_TIMESTAMP_MS
                                               : gx_args_is(args, "unit", "ns") ? GALE_TIMESTAMP_NS
                                                                                : GALE_TIMESTAMP_S };
    return gale_timestamp_bolt(&options, ret, error);
}

/* --- Format --- */

static const gx_param format_params[] = {
    GX_ROW(TEXT, "template", "", "the text, with names of fields in braces; {{ and }} are braces. Of format text only",
           .roles = GX_PARAM_BRACES, .example = "'{path} had {errors} errors'"),
    GX_ROW(WORD, "format", "",
           "'text': the template; 'json': an object of the fields; 'csv': a record of them; by default text where "
           "there is a "
           "template, else JSON",
           .words = "text json csv"),
    GX_PASSING_ROW,
    GX_ROW(FIELD, "as", "line", "the field that the text becomes", .roles = GX_PARAM_OUTPUT, .gives = GX_TEXT),
    KEEP_ROW("it"),
};

static int32_t form_of(const gx_args *args) {
    if (gx_args_is(args, "format", "csv")) return GALE_FORMAT_CSV;
    bool json = gx_args_is(args, "format", "json") ||
                (!gx_args_text(args, "format") && !gx_args_text(args, "template"));
    return json ? GALE_FORMAT_JSON : GALE_FORMAT_TEXT;
}

static int make_format(const gx_args *args, gale_bolt *ret, gale_error *error) {
    char room[GX_PASSING_TEXT];
    const char *fields;
    int rc = gx_passing_fields(args, room, &fields, error);
    if (rc < 0) return rc;
    gale_format_options options = { .size = sizeof options,
                                    .fields = fields,
                                    .form = form_of(args),
                                    .template_ = gx_args_text(args, "template"),
                                    .as = gx_args_text(args, "as"),
                                    .keep = gx_args_text(args, "keep") };
    return gale_format_bolt(&options, ret, error);
}

/* --- Sample --- */

static const gx_param sample_params[] = {
    GX_ROW(NUMBER, "share", "",
           "the chance of each to pass, or with `key` the share of keys whose tuples all pass; 0.01 without `every`",
           .roles = GX_PARAM_ABOVE, GX_RANGE(0, 1), .example = "0.01"),
    GX_ROW(WHOLE, "every", "", "the last of so many passes, or with `key` one of so many keys", GX_RANGE(1, INT64_MAX),
           .example = "100"),
    GX_ROW(FIELDS, "key", "", "the fields by whose hash it is chosen: the same keys in every task and run",
           .roles = GX_PARAM_INPUT, .example = "[user]"),
    GX_PASSING_ROW,
};

static int make_sample(const gx_args *args, gale_bolt *ret, gale_error *error) {
    char room[GX_PASSING_TEXT];
    const char *fields;
    int rc = gx_passing_fields(args, room, &fields, error);
    if (rc < 0) return rc;
    bool by_default = !gx_args_given(args, "share") && !gx_args_given(args, "every");
    gale_sample_options options = { .size = sizeof options,
                                    .fields = fields,
                                    .share = by_default ? 0.01 : gx_args_number(args, "share"),
                                    .every = (uint64_t)gx_args_whole(args, "every"),
                                    .key = gx_args_text(args, "key") };
    return gale_sample_bolt(&options, ret, error);
}

/* --- RateLimit --- */

static const gx_param rate_limit_params[] = {
    GX_ROW(NUMBER, "rate", "1000", "how many pass", .roles = GX_PARAM_ABOVE, GX_RANGE(0, 1000000), .unit = "a second",
           .example = "0.5"),
    GX_ROW(WHOLE, "burst", "", "how many pass at once after a pause; by default those of one second, at least 1",
           GX_RANGE(1, UINT32_MAX)),
    GX_ROW(FIELDS, "key", "",
           "the fields whose values have rates of their own; by default one rate is for all of a task",
           .roles = GX_PARAM_KEY | GX_PARAM_INPUT, .example = "[user]"),
    GX_ROW(WORD, "over", "drop", "what is above the rate is dropped, or goes to the stream `over`",
           .words = "drop stream"),
    GX_ROW(WHOLE, "maxKeys", "100000", "of a task; of more, those that were quiet for the longest time begin anew",
           GX_RANGE(1, INT64_MAX)),
    GX_PASSING_ROW,
};

static int make_rate_limit(const gx_args *args, gale_bolt *ret, gale_error *error) {
    char room[GX_PASSING_TEXT];
    const char *fields;
    int rc = gx_passing_fields(args, room, &fields, error);
    if (rc < 0) return rc;
    gale_rate_limit_options options = { .size = sizeof options,
                                        .fields = fields,
                                        .rate = gx_args_number(args, "rate"),
                                        .burst = (uint32_t)gx_args_whole(args, "burst"),
                                        .over = gx_args_is(args, "over", "stream") ? GALE_RATE_LIMIT_STREAM
                                                                                   : GALE_RATE_LIMIT_DROP,
                                        .key = gx_args_text(args, "key"),
                                        .max_keys = (uint64_t)gx_args_whole(args, "maxKeys") };
    return gale_rate_limit_bolt(&options, ret, error);
}

#define BOLT .kind = GX_CLASS_BOLT

/* clang-format off */
static const gx_class classes[] = {
    { .name = "gale.bolt.Csv", BOLT, GX_PARAMS(csv_params),
      .text = "reads records of CSV, whose quoted columns may hold newlines; what is none goes to the stream `bad` (line, problem)",
      .types = "bad.line string bytes, bad.problem string",
      .joins = joins_records, .make_bolt = make_csv },
    { .name = "gale.bolt.KeyValue", BOLT, GX_PARAMS(key_value_params), .outputs = "rest", .types = "bad.line string bytes, bad.problem string",
      .text = "reads pairs of keys and values (logfmt); what is none goes to the stream `bad` (line, problem)",
      .make_bolt = make_key_value },
    { .name = "gale.bolt.Timestamp", BOLT, GX_PARAMS(timestamp_params),
      .text = "reads when something was; passes all fields on, and what is no time to the stream `bad` (line, problem)",
      .types = "bad.line any, bad.problem string", .gives = timestamp_gives, .takes = timestamp_takes,
      .make_bolt = make_timestamp },
    { .name = "gale.bolt.Format", BOLT, GX_PARAMS(format_params),
      .outputs = "line", .text = "writes fields as one text, JSON or CSV", .make_bolt = make_format },
    { .name = "gale.bolt.Sample", BOLT, GX_PARAMS(sample_params),
      .text = "passes a part of the tuples on, by chance, by counting or by key", .make_bolt = make_sample },
    { .name = "gale.bolt.RateLimit", BOLT, GX_PARAMS(rate_limit_params),
      .text = "passes so many tuples a second on, of all or of each key", .make_bolt = make_rate_limit },
};
/* clang-format on */

const gx_class_table gx_builtin_parsers = { classes, sizeof classes / sizeof *classes };
