#include "base/buf.h"
#include "front/builtin.h"
#include "front/long_rows.h"
#include "front/table.h"

#include <gale/exec.h>
#include <inttypes.h>

#define COMMAND                                                                                                        \
    GX_ROW(ANY, "command", NULL,                                                                                       \
           "what is run: a text for /bin/sh, or a list of words, a program and its arguments, without a shell",        \
           .example = "'tail -F access.log | grep --line-buffered POST'"),                                             \
        GX_ROW(TEXT, "dir", "", "the folder that it works in; none: that of the run", .example = "/var/lib/app"),      \
        GX_ROW(MAP, "env", "", "changes to its environment; null: without it", .example = "{ LANG: C, DEBUG: null }")

#define RESTART                                                                                                        \
    GX_ROW(WORD, "restart", "never",                                                                                   \
           "when a child that has ended is started again; one that failed and is not stops the run",                   \
           .words = "never failure always"),                                                                           \
        GX_ROW(SECONDS, "restartWait", "1",                                                                            \
               "time before that, between half of it and all by chance; twice as long after each failure in a row",    \
               GX_RANGE(0, 1000000), .roles = GX_PARAM_ABOVE, .example = "100ms"),                                     \
        GX_ROW(SECONDS, "restartWaitMax", "60", "the longest such time; a child that has run so long begins anew",     \
               GX_RANGE(0, 1000000), .roles = GX_PARAM_ABOVE, .example = "5m"),                                        \
        GX_ROW(WHOLE, "restartMax", "0",                                                                               \
               "so many failures in a row are made good, the next one stops the run; 0: all", GX_RANGE(0, UINT32_MAX), \
               .unit = "failures"),                                                                                    \
        GX_ROW(WORD, "stderr", "log", "what it says on its standard error is logged, or dropped",                      \
               .words = "log drop"),                                                                                   \
        GX_ROW(SECONDS, "stopWait", "5",                                                                               \
               "time that it has behind SIGTERM, before SIGKILL; and before that, where it has closed the pipe; a "    \
               "sink's at most 1.5 s where the run is cut short",                                                      \
               GX_RANGE(0, 1000000), .roles = GX_PARAM_ABOVE, .example = "500ms")

/* --- The command ----------------------------------------------------------------------------------------------------- */

enum { WORDS_MAX = 1000, CHANGES_MAX = 1000 };

/* Lists of texts, as long as a component is made. */
typedef struct texts {
    gx_buf bytes;
    size_t places[WORDS_MAX + CHANGES_MAX];
    size_t count;
    const char *words[WORDS_MAX + 1];
    const char *changes[CHANGES_MAX + 1];
    gale_exec_command run;
} texts;

static void add_scalar(gx_buf *to, const gale_value *value) {
    char number[GALE_NUMBER_TEXT];
    gale_str text;
    if (gale_value_text(value, number, &text)) gx_buf_add(to, text.data, text.size);
}

static bool is_scalar(const gale_value *value) {
    bool text = value->type == GALE_TYPE_STRING && !(value->size && memchr(value->as.string, 0, value->size));
    return text || value->type == GALE_TYPE_I64 || value->type == GALE_TYPE_F64 || value->type == GALE_TYPE_BOOL;
}

static void begin_text(texts *t) {
    t->places[t->count++] = t->bytes.size;
}

static void end_text(texts *t) {
    gx_buf_add_byte(&t->bytes, 0);
}

/* Texts move while they are added. */
static void place(const texts *t, size_t from, size_t count, const char **list) {
    for (size_t i = 0; i < count; i++) list[i] = t->bytes.data + t->places[from + i];
    list[count] = NULL;
}

static int take_words(const gale_value *list, texts *t, gale_error *error) {
    for (size_t i = 0; i < list->size; i++) {
        gale_value word = gale_list_at(list, i);
        if (i == WORDS_MAX) return gale_error_set(error, GALE_TOO_LARGE, "command: more than %d words", WORDS_MAX);
        if (!is_scalar(&word))
            return gale_error_set(error, GALE_TYPE, "command: word %zu must be a text, is %s", i + 1,
                                  gale_type_name(word.type));
        begin_text(t);
        add_scalar(&t->bytes, &word);
        end_text(t);
    }
    if (!t->count) return gale_error_set(error, GALE_INVALID, "command: the list has no words");
    return 0;
}

static int take_command(const gx_args *args, texts *t, gale_error *error) {
    const gale_value *value = gx_args_value(args, "command");
    if (value->type == GALE_TYPE_LIST) return take_words(value, t, error);
    if (!is_scalar(value) || value->type != GALE_TYPE_STRING || !value->size)
        return gale_error_set(error, GALE_TYPE, "command must be a text for /bin/sh, or a list of words");
    begin_text(t);
    add_scalar(&t->bytes, value);
    end_text(t);
    return 0;
}

static int take_change(gale_str name, const gale_value *value, texts *t, gale_error *error) {
    bool named = name.size && !memchr(name.data, '=', name.size) && !memchr(name.data, 0, name.size);
    if (!named) return gale_error_set(error, GALE_INVALID, "env: '%.*s' is no name", (int)name.size, name.data);
    if (value->type != GALE_TYPE_NULL && !is_scalar(value))
        return gale_error_set(error, GALE_TYPE, "env: what stands under '%.*s' must be a text or null, is %s",
                              (int)name.size, name.data, gale_type_name(value->type));
    begin_text(t);
    gx_buf_add(&t->bytes, name.data, name.size);
    if (value->type != GALE_TYPE_NULL) {
        gx_buf_add_byte(&t->bytes, '=');
        add_scalar(&t->bytes, value);
    }
    end_text(t);
    return 0;
}

static int take_changes(const gx_args *args, texts *t, gale_error *error) {
    const gale_value *map = gx_args_value(args, "env");
    gale_str name;
    gale_value value;
    for (size_t i = 0; map->type == GALE_TYPE_MAP && gale_map_at(map, i, &name, &value); i++) {
        if (i == CHANGES_MAX) return gale_error_set(error, GALE_TOO_LARGE, "env: more than %d names", CHANGES_MAX);
        int rc = take_change(name, &value, t, error);
        if (rc < 0) return rc;
    }
    return 0;
}

static void take_times(const gx_args *args, gale_exec_command *run) {
    run->restart = gx_args_is(args, "restart", "always")    ? GALE_EXEC_ALWAYS
                   : gx_args_is(args, "restart", "failure") ? GALE_EXEC_FAILURE
                                                            : GALE_EXEC_NEVER;
    if (gx_args_given(args, "restartWait")) run->restart_wait = gx_args_number(args, "restartWait");
    if (gx_args_given(args, "restartWaitMax")) run->restart_wait_max = gx_args_number(args, "restartWaitMax");
    run->restart_max = (uint32_t)gx_args_whole(args, "restartMax");
    run->errors = gx_args_is(args, "stderr", "drop") ? GALE_EXEC_DROP : GALE_EXEC_LOG;
    run->stop_wait = gx_args_number(args, "stopWait");
}

static int take_run(const gx_args *args, texts *t, gale_error *error) {
    bool listed = gx_args_value(args, "command")->type == GALE_TYPE_LIST;
    int rc = take_command(args, t, error);
    size_t words = t->count;
    if (rc == 0) rc = take_changes(args, t, error);
    if (rc == 0 && t->bytes.failed) rc = gale_error_set(error, GALE_NO_MEMORY, "command: out of memory");
    if (rc < 0) return rc;
    place(t, 0, words, t->words);
    place(t, words, t->count - words, t->changes);
    t->run = (gale_exec_command){ .size = sizeof t->run, .environment = t->changes };
    if (listed)
        t->run.words = t->words;
    else
        t->run.command = t->words[0];
    t->run.folder = gx_args_text(args, "dir");
    take_times(args, &t->run);
    return 0;
}

/* --- The spout ------------------------------------------------------------------------------------------------------- */

static const gx_param spout_params[] = {
    COMMAND,
    GX_ROW(WORD, "records", "lines", "what its output is cut into: lines, or records that a NUL ends",
           .words = "lines nul"),
    GX_ROW(BYTES, "maxRecord", "1 MiB", "a longer record is cut, or dropped, and counted", GX_RANGE(1, 64 << 20),
           .example = "64 KB"),
    GX_LONG_ROW,
    GX_ROW(FIELDS, "emit", "line", "the fields that go out: line, number (from 1)", .roles = GX_PARAM_OUTPUT,
           .example = "[line, number]"),
    GX_ROW(
        WHOLE, "maxAttempts", "3",
        "how often a record is tried before it is reported and given up; topology.replay.attempts says it where that "
        "or a file of dead letters is configured",
        GX_RANGE(1, UINT32_MAX)),
    RESTART,
};

static int make_spout(const gx_args *args, gale_spout *ret, gale_error *error) {
    texts t = { .bytes = GX_BUF_INIT(NULL) };
    int rc = take_run(args, &t, error);
    gale_exec_spout_options options = { .size = sizeof options,
                                        .run = &t.run,
                                        .max_attempts = (uint32_t)gx_args_whole(args, "maxAttempts"),
                                        .emit = gx_args_text(args, "emit"),
                                        .records = gx_args_is(args, "records", "nul") ? GALE_EXEC_NUL : GALE_EXEC_LINES,
                                        .max_record = (uint64_t)gx_args_whole(args, "maxRecord"),
                                        .drop_long = gx_args_is(args, "tooLong", "drop") };
    if (rc == 0) rc = gale_exec_spout(&options, ret, error);
    gx_buf_fini(&t.bytes);
    return rc;
}

/* --- The sink -------------------------------------------------------------------------------------------------------- */

static const gx_param sink_params[] = {
    COMMAND,
    GX_ROW(WORD, "format", "tsv", "how a tuple becomes a line, as with gale.bolt.FileSink",
           .words = "tsv json csv text"),
    GX_ROW(FIELDS, "fields", "", "what is written, in this order; none: all, of format text the first",
           .roles = GX_PARAM_INPUT, .example = "[path, count]"),
    GX_ROW(BYTES, "maxBytes", "1 MiB", "so much waits for it at the most; who feeds it is held back then",
           GX_RANGE(1, INT64_MAX), .example = "64 KB"),
    RESTART,
    GX_ROW(SECONDS, "finishWait", "60",
           "at the end, when no tuple waits for an answer any more, how long it may read nothing of what waits, and "
           "then take to "
           "end once its input has ended",
           GX_RANGE(0, 1000000), .roles = GX_PARAM_ABOVE, .example = "10m"),
};

static int32_t format_of(const gx_args *args) {
    static const char *const words[] = { "tsv", "json", "csv", "text" };
    static const int32_t formats[] = { GALE_EXEC_TSV, GALE_EXEC_JSON, GALE_EXEC_CSV, GALE_EXEC_TEXT };
    size_t i = 0;
    while (i < 3 && !gx_args_is(args, "format", words[i])) i++;
    return formats[i];
}

static int make_sink(const gx_args *args, gale_bolt *ret, gale_error *error) {
    texts t = { .bytes = GX_BUF_INIT(NULL) };
    int rc = take_run(args, &t, error);
    gale_exec_sink_options options = { .size = sizeof options,
                                       .run = &t.run,
                                       .format = format_of(args),
                                       .fields = gx_args_text(args, "fields"),
                                       .max_bytes = (uint64_t)gx_args_whole(args, "maxBytes"),
                                       .finish_wait = gx_args_number(args, "finishWait") };
    if (rc == 0) rc = gale_exec_sink_bolt(&options, ret, error);
    gx_buf_fini(&t.bytes);
    return rc;
}

/* clang-format off */
static const gx_class spouts[] = {
    { .name = "gale.spout.Exec", .kind = GX_CLASS_SPOUT, GX_PARAMS(spout_params), .keys = "gale.rate",
      .outputs = "line", .types = "line string bytes, number int",
      .text = "emits the lines that a command writes, tracked", .make_spout = make_spout },
};
static const gx_class sinks[] = {
    { .name = "gale.bolt.ExecSink", .kind = GX_CLASS_BOLT, GX_PARAMS(sink_params),
      .text = "writes each tuple as a line to a command's input", .make_bolt = make_sink },
};
/* clang-format on */

const gx_class_table gx_builtin_exec = { spouts, sizeof spouts / sizeof *spouts };
const gx_class_table gx_builtin_exec_sinks = { sinks, sizeof sinks / sizeof *sinks };
