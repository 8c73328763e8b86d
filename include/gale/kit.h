/* gale/kit.h: ready-made spouts and bolts.
 *
 * What:    what users would write themselves, built on gale/component.h alone. Each function checks its arguments and
 *          fills a definition to hand to gale_topology_add_spout or gale_topology_add_bolt, which then owns it.
 * Threads: any thread.
 * Owner:   arguments are copied. A definition that is not added must be given back: d.free_user(d.user).
 * Errors:  GALE_INVALID with a report that names the argument; GALE_UNSUPPORTED for an option of a newer gale;
 *          GALE_NO_MEMORY.
 * Misuse:  every function checks. Options are refused when their size was not set; NULL is all defaults.
 * Durable: in a durable run (gale/state.h) each part goes on where it was: what it counted, ranked, remembered or was about to
 *          emit again, and its random numbers. Another number of tasks takes over what a task had where it is grouped by
 *          the fields that it counts, ranks or remembers; of spouts that make things up, each task has a sequence of its
 *          own, and their number stays. A sample bolt's counter and a rate limit bolt's buckets begin anew.
 */
#ifndef GALE_KIT_H
#define GALE_KIT_H

#include <gale/component.h>

GALE_BEGIN

/* Storm's TestWordSpout: every 100 ms one of nathan, mike, jackson, golda, bertels, chosen uniformly. Not tracked.
 * Output: (word). `distributed` false allows one task only. */
GALE_API GALE_MUST_USE int gale_word_spout(bool distributed, gale_spout *ret_spout, gale_error *error);

/* Lines of made-up text, the same for the same seed and task. Tracked; a line that fails is emitted again, until it has
 * been tried `max_attempts` times. Output: (line). Obeys `gale.rate`. */
typedef struct gale_generator_options {
    size_t size;
    uint64_t lines;        /* a task emits this many; 0: without end */
    uint32_t words;        /* a line; 0: 10 */
    uint32_t vocabulary;   /* different words; 0: 10000. Frequencies follow Zipf's law */
    uint64_t seed;         /* any number */
    uint32_t max_attempts; /* 0: 3 */
} gale_generator_options;
GALE_API GALE_MUST_USE int gale_generator_spout(const gale_generator_options *options, gale_spout *ret_spout,
                                                gale_error *error);

/* An access log of a made-up web server, in the Combined Log Format, the same for the same seed and task. Tracked; a
 * line that fails is emitted again, until it has been tried `max_attempts` times. Some visitors come far more often
 * than others; two share each address and differ in their agent; time zones are mixed. One line in fifty is late by up
 * to `late_seconds`, one in a hundred comes twice, one in a thousand is cut off. Output: (line). Obeys `gale.rate`,
 * which moves the lines, not the log's own clock. */
typedef struct gale_access_log_spout_options {
    size_t size;
    uint64_t lines;          /* a task emits this many; 0: without end */
    uint32_t visitors;       /* 0: 1000 */
    uint32_t lines_a_minute; /* by the log's clock; 0: 600 */
    uint32_t late_seconds;   /* at most 1000000; 0: 240 */
    int64_t start;           /* the log's clock, seconds since 1970 UTC; 0: 1767225600, the beginning of 2026 */
    uint64_t seed;           /* any number */
    uint32_t max_attempts;   /* 0: 3 */
} gale_access_log_spout_options;
GALE_API GALE_MUST_USE int gale_access_log_spout(const gale_access_log_spout_options *options, gale_spout *ret_spout,
                                                 gale_error *error);

/* Splits the first value (string or bytes) at white space (ASCII: blank, tab, newline, return, vertical tab, form feed)
 * into words, one tuple a word. A word that is not UTF-8 comes out as bytes. Output: (word). Simple. */
typedef struct gale_split_options {
    size_t size;
    bool lower_case;        /* ASCII letters */
    bool letters_only;      /* drop everything that is not a letter from both ends of a word */
    uint32_t min_letters;   /* drop shorter words */
    const char *stop_words; /* drop these, separated by blanks; NULL: none */
    const char *field;      /* the field that has the lines; NULL or "": the first */
} gale_split_options;
GALE_API GALE_MUST_USE int gale_split_bolt(const gale_split_options *options, gale_bolt *ret_bolt, gale_error *error);

/* Counts equal first values. Output: (word, count), count is i64. Simple. */
typedef enum gale_count_emit {
    GALE_COUNT_EMIT_EACH,  /* the new count, for every input */
    GALE_COUNT_EMIT_FINISH /* all totals, when the topology has drained */
} gale_count_emit;
GALE_API GALE_MUST_USE int gale_count_bolt(int32_t emit, gale_bolt *ret_bolt, gale_error *error);

/* Counts equal values of `field` (NULL or "": of the first), which every stream that comes in must have. A fields
 * grouping must go by the same field: else equal values are counted in several tasks. GALE_INVALID for two names. */
GALE_API GALE_MUST_USE int gale_field_count_bolt(const char *field, int32_t emit, gale_bolt *ret_bolt,
                                                 gale_error *error);

/* storm-starter's RollingCountBolt: counts over a sliding window of `window_seconds`, emitted every `emit_seconds`
 * (window / emit slots, by integer division, at least 2). Output: (obj, count, actualWindowLengthInSeconds). An object
 * whose count fell to zero is reported once with 0. Inputs are acked at once; what is emitted is not anchored. When the
 * topology has drained, what the window holds is emitted once more. */
GALE_API GALE_MUST_USE int gale_rolling_count_bolt(int64_t window_seconds, int64_t emit_seconds, gale_bolt *ret_bolt,
                                                   gale_error *error);

/* The same of `field`, as gale_field_count_bolt. */
GALE_API GALE_MUST_USE int gale_field_rolling_count_bolt(const char *field, int64_t window_seconds,
                                                         int64_t emit_seconds, gale_bolt *ret_bolt, gale_error *error);

/* storm-starter's RollingCountAggBolt, behind several counters of the same objects (partial key grouping): keeps the
 * last count of each object and source task, and emits the object with the sum of these for every input, at once and
 * not anchored. Input: (obj, count, ...), count is i64. Output: (obj, count). Keys and sources are never removed, but
 * for this: an object whose last counts are all 0 has been reported with 0, and takes no memory from then on.
 * Simple. */
GALE_API GALE_MUST_USE int gale_rolling_count_agg_bolt(gale_bolt *ret_bolt, gale_error *error);

/* storm-starter's IntermediateRankingsBolt and TotalRankingsBolt: the `top_n` objects with the highest counts, emitted
 * every `emit_seconds` as one tuple. Input of the first: (obj, count, ...); of the second: the rankings of the first.
 * Output: (rankings): a list of lists [obj, count, the other fields...], best first. Equal counts rank by object,
 * ascending (gale_value_compare); Storm leaves their order to chance. When the topology has drained, the rankings are
 * emitted once more. */
GALE_API GALE_MUST_USE int gale_intermediate_rankings_bolt(int64_t top_n, int64_t emit_seconds, gale_bolt *ret_bolt,
                                                           gale_error *error);
/* The first of them, by names: `key` (NULL: the first field) is ranked by `value` (NULL: the second), and `fields` (NULL:
 * none) follow in the ranking. Every stream that comes in must have them. */
typedef struct gale_rankings_options {
    size_t size;
    const char *key;
    const char *value;
    const char *fields;   /* "host, agent" */
    int64_t top_n;        /* 0: 10 */
    int64_t emit_seconds; /* 0: 2 */
} gale_rankings_options;
GALE_API GALE_MUST_USE int gale_field_rankings_bolt(const gale_rankings_options *options, gale_bolt *ret_bolt,
                                                    gale_error *error);
GALE_API GALE_MUST_USE int gale_total_rankings_bolt(int64_t top_n, int64_t emit_seconds, gale_bolt *ret_bolt,
                                                    gale_error *error);

/* Lines of a web server's access log (Common or Combined Log Format) to fields. Input: a string or
 * bytes. Output: the fields of `keep`, then (host, user, time, request, status, bytes, referer, agent, method, path, query, protocol). `time` is
 * in seconds since 1970 UTC, the log's offset applied; status and bytes are i64, bytes 0 where the log has "-"; user,
 * request, referer and agent are null where the log has "-" or, as the Common Log Format does, nothing; a text that is
 * no UTF-8 is bytes. Of a request "GET /find?a=b HTTP/1.1" the path is "/find" and the query "a=b"; all four are null
 * where the request is no such thing, the query where there is no '?', the protocol where none is named. Escapes stay
 * as the server wrote them. What is no such line goes to the stream "bad": (line, problem); when nobody subscribes to
 * it, the first is logged, and how many there were at the end. Simple. */
typedef struct gale_access_log_options {
    size_t size;
    const char *field; /* the field that has the lines; NULL or "": the first */
    const char *keep;  /* fields that go out before those of the line: "file, offset"; NULL or "": none */
} gale_access_log_options;
/* `options` may be NULL. */
GALE_API GALE_MUST_USE int gale_access_log_bolt(const gale_access_log_options *options, gale_bolt *ret_bolt,
                                                gale_error *error);

/* --- Parsers and shapers: docs/reference/parsers.md shows what they make of what --- */

/* A text of CSV that leaves a quote open: joined with the next ones, or a record alone. */
typedef enum gale_csv_newlines {
    GALE_CSV_NEWLINES_AUTO, /* with one task, whose lines come in their order */
    GALE_CSV_NEWLINES_JOIN,
    GALE_CSV_NEWLINES_ALONE /* each text is a record */
} gale_csv_newlines;

/* One text is one record of CSV (RFC 4180): columns to fields. Input: `field`, string or bytes. Output: the fields of
 * `keep`, as they came, then `fields`, in the order of the columns, each perhaps with a type behind its name: "host,
 * status int, ms float, ok bool". A type is string (the default), int (i64), float (f64), bool (true or false), or
 * auto: the first of int, float and bool that the text is, else string; then "0049" and a whole number beyond 64 bits
 * are strings. All of the text must be it. A text that is empty is null, but for string; a string that is no UTF-8 is
 * bytes. At most 256 fields.
 *
 * What is no such record (a quote that is not closed, fewer or more columns, a text that is not of its type) goes to
 * the stream "bad": (line, problem); when nobody subscribes to it, the first is logged, and how many there were at the
 * end. One end of a line (\n, \r\n, \r) behind a record is dropped.
 *
 * A quoted column may hold newlines. A text that leaves a quote open waits for the next texts of its source's task,
 * which go on with the record (`newlines`); the record is anchored to all of them. If the quote is not closed within
 * `max_lines` and `max_bytes`, nothing comes for `timeout` seconds, the input ends, or a text does not go on with it,
 * the first text is bad, and those behind it are read again. In a durable run checkpoints have what waits. Simple. */
typedef struct gale_csv_options {
    size_t size;
    const char *field;     /* the field that has the record; NULL or "": the first */
    const char *fields;    /* "host, status int" */
    const char *keep;      /* "offset, file"; NULL or "": none */
    const char *separator; /* one character of ASCII; NULL: "," */
    const char *quote;     /* one character of ASCII; NULL: "\""; "": none, then no separator is inside a column */
    bool header;           /* passed over (acked) are records that are the names of `fields` and, where the input has
                              `file` and `number`, those of number 1 */
    bool ragged;           /* columns that are missing are null, those beyond `fields` are dropped */
    int32_t newlines;      /* gale_csv_newlines */
    const char *key;       /* "file": lines of which these fields differ do not mix; NULL or "": none */
    double timeout;        /* seconds that a record with an open quote waits for its next line; 0: 1 */
    uint32_t max_lines;    /* of a record; 0: 500 */
    uint64_t max_bytes;    /* of a record of several lines; 0: 1 MiB */
    uint64_t max_keys;     /* records of so many keys are open in a task; 0: 1000 */
} gale_csv_options;
GALE_API GALE_MUST_USE int gale_csv_bolt(const gale_csv_options *options, gale_bolt *ret_bolt, gale_error *error);

/* Pairs of a key and a value in one text (logfmt: `a=1 b="two words\n" c`) to fields. `field`, `keep`, `fields` with
 * their types and the stream "bad" are those of a csv bolt; the names of `fields` are the keys that are wanted, and
 * what is not there is null. Of a key that comes twice the last value counts; a key alone says "true". A value in
 * quotes may have \" \\ \/ \n \r \t \b \f and \uXXXX; one without ends at the separator. With a separator other than a
 * blank, blanks around pairs are none of them. `rest` names one field more, behind the others: a map of all other keys,
 * at most 512, and their values as strings. Keeps nothing. Simple. */
typedef struct gale_key_value_options {
    size_t size;
    const char *field;     /* the field that has the text; NULL or "": the first */
    const char *fields;    /* "level, ms float"; NULL or "": none */
    const char *keep;      /* "offset, file"; NULL or "": none */
    const char *rest;      /* NULL: other keys are dropped; without `fields`, it is "rest" */
    const char *separator; /* one character of ASCII; NULL: " " */
    const char *assign;    /* one character of ASCII; NULL: "=" */
} gale_key_value_options;
GALE_API GALE_MUST_USE int gale_key_value_bolt(const gale_key_value_options *options, gale_bolt *ret_bolt,
                                               gale_error *error);

/* A text or a number that says when, to whole seconds, milliseconds or nanoseconds since 1970 UTC. Input: tuples that
 * have `fields`. Output: the same, the time under the name `as` in place of a field that is called so, or behind the
 * others. What is no time, null too, goes to the stream "bad" (line, problem), as those of a csv bolt; a number where
 * the format has none, and what is neither, fails its tuple: GALE_TYPE.
 *
 *     iso8601    "2026-11-22T19:00:05.25+01:00" (RFC 3339); the time, its seconds, their fraction and the zone may be missing
 *     epoch      seconds since 1970, text or number, perhaps with a fraction; epoch_ms: milliseconds
 *     clf        "10/Oct/2000:13:55:36 -0700"
 *     syslog     "Oct 11 22:14:15"
 *     a pattern  with %Y %y %m %d %e %j %H %I %p %M %S %f %L %b %B %a %A %z %Z %s %F %T %% as strptime
 *                has them, %f and %L a fraction, in English, a blank standing for blanks; what it does not have is that
 *                of January 1st, 00:00
 *
 * A text without a zone is taken to be of `zone`; there is no data base of time zones. One whose format has no year
 * takes the year that brings it nearest to now: the wall clock, or the run's where that is moved by a test or a
 * simulation. Times are those of the years 0 to 9999, a leap second is the one after it, and a unit that is too coarse
 * rounds down. Keeps nothing. Simple. */
typedef enum gale_timestamp_unit { GALE_TIMESTAMP_S, GALE_TIMESTAMP_MS, GALE_TIMESTAMP_NS } gale_timestamp_unit;
typedef struct gale_timestamp_options {
    size_t size;
    const char *fields; /* that come in, and go out: "host, time" */
    const char *field;  /* which has the time; NULL or "": the first */
    const char *format; /* NULL or "": "iso8601" */
    const char *as;     /* NULL or "": the field itself */
    const char *zone;   /* "+02:00", "-0730", "Z"; NULL: UTC */
    int32_t unit;       /* a gale_timestamp_unit */
} gale_timestamp_options;
GALE_API GALE_MUST_USE int gale_timestamp_bolt(const gale_timestamp_options *options, gale_bolt *ret_bolt,
                                               gale_error *error);

/* Fields to one text. Input: tuples that have `fields`. Output: the fields of `keep`, as they came, then the text under
 * the name `as`; bytes, where something in it is no UTF-8.
 *
 *     GALE_FORMAT_TEXT   `template_`, "{path} had {errors} errors": a field's name in braces stands for its value, {{ and }}
 *                        for a brace. Strings and bytes are as they are, null is nothing, all else as in JSON
 *     GALE_FORMAT_JSON   an object of `fields`; bytes are {"base64": "..."}, NaN and infinities null
 *     GALE_FORMAT_CSV    a record of `fields` (RFC 4180), without an end of line; null is nothing, an empty string ""
 *
 * A template has at most 4095 bytes and 128 pieces. Keeps nothing. Simple. */
typedef enum gale_format_form { GALE_FORMAT_TEXT, GALE_FORMAT_JSON, GALE_FORMAT_CSV } gale_format_form;
typedef struct gale_format_options {
    size_t size;
    const char *fields;    /* that come in, and are written or may be named: "path, errors" */
    int32_t form;          /* a gale_format_form */
    const char *template_; /* of GALE_FORMAT_TEXT, else NULL */
    const char *as;        /* NULL or "": "line" */
    const char *keep;      /* "offset, file"; NULL or "": none */
} gale_format_options;
GALE_API GALE_MUST_USE int gale_format_bolt(const gale_format_options *options, gale_bolt *ret_bolt, gale_error *error);

/* A part of what comes; the rest is dropped (acked). Input: tuples that have `fields`. Output: the same. By `share`,
 * each passes with that chance, by the task's own random numbers, which a seeded run repeats; by `every`, the last of
 * so many that come to a task, whose counter begins anew with each run, durable ones too. With `key`, all tuples of a
 * share of keys pass (of one in `every`), chosen by a hash that is the same in every task, run and version: the same
 * keys, and of two bolts with the same key the smaller share's are among the larger's. Keeps nothing. Simple. */
typedef struct gale_sample_options {
    size_t size;
    const char *fields; /* that come in, and go out: "user, ms" */
    double share;       /* above 0, at most 1; 0: not given */
    uint64_t every;     /* 0: not given. One of the two must be */
    const char *key;    /* fields, "user"; NULL or "": none */
} gale_sample_options;
GALE_API GALE_MUST_USE int gale_sample_bolt(const gale_sample_options *options, gale_bolt *ret_bolt, gale_error *error);

/* Passes no more than `rate` tuples a second, and `burst` at once after a pause: a token bucket, by the run's clock.
 * Input: tuples that have `fields`. Output: the same. What is above the rate is dropped (acked), and how much that was
 * is logged at the end, or goes to the stream "over" with the same fields. Each task, and with `key` each key in it,
 * has a bucket of its own: group by the key. A bucket that is full is forgotten. Of more than `max_keys` others those
 * that were quiet for the longest time are forgotten, too, and begin anew, which is logged at the end. Rates are kept
 * to 0.05 %. Keeps nothing: with each run, durable ones too, buckets are full. Simple. */
typedef enum gale_rate_limit_over { GALE_RATE_LIMIT_DROP, GALE_RATE_LIMIT_STREAM } gale_rate_limit_over;
typedef struct gale_rate_limit_options {
    size_t size;
    const char *fields; /* that come in, and go out: "user, ms" */
    double rate;        /* tuples a second, above 0, at most 1e6 */
    uint32_t burst;     /* at most 1e9 seconds' worth; 0: those of one second, at least 1 */
    int32_t over;       /* a gale_rate_limit_over */
    const char *key;    /* fields, "user"; NULL or "": one bucket for all */
    uint64_t max_keys;  /* of a task; 0: 100000 */
} gale_rate_limit_options;
GALE_API GALE_MUST_USE int gale_rate_limit_bolt(const gale_rate_limit_options *options, gale_bolt *ret_bolt,
                                                gale_error *error);

/* Passes a tuple on when its key is new, and drops (acks) it while a rotating map (gale/rotating_map.h) remembers the
 * key: for `horizon_seconds` after it passed at the least, n / (n - 1) times as long at the most, n being `buckets`. A
 * duplicate does not renew. Time is the context's clock. Each task has a map of its own: group by the key. Simple.
 *
 * Failures: a tuple that cannot be emitted fails, and its key is forgotten. When one fails further down, this bolt is
 * not told; the spout emits it again, and here it looks like a duplicate. `identity` names fields that tell one tuple
 * from its duplicates (a place in a file, an offset): the tuple that passed for a key passes again, as often as it
 * comes. Without `identity` a replayed tuple is dropped: then what stands behind must not fail, or must tell its
 * failures another way. A restart forgets everything, unless the run is durable (gale/state.h): then keys go with their
 * grouping to another number of tasks, too, fingerprints do not. */
typedef enum gale_dedupe_keep {
    GALE_DEDUPE_EXACT,      /* the key itself, at most 64 KiB: no mistakes */
    GALE_DEDUPE_FINGERPRINT /* 128 bits of it (XXH3, randomly seeded). Two of n keys alike: n^2 / 2^129, 1.5e-25 for ten
                               million, 1.5e-21 for a billion; then a new key is dropped. The hash is no cipher: where
                               keys come from people who mean harm, keep them exactly */
} gale_dedupe_keep;
typedef struct gale_dedupe_options {
    size_t size;
    const char *key;        /* fields, "host, agent" */
    const char *output;     /* the fields that it emits; NULL: those of the key */
    const char *identity;   /* fields, or NULL */
    double horizon_seconds; /* at most 1e9; 0: 600 */
    uint32_t buckets;       /* 2 to 253; 0: 3 */
    int32_t keep;           /* a gale_dedupe_keep */
} gale_dedupe_options;
GALE_API GALE_MUST_USE int gale_dedupe_bolt(const gale_dedupe_options *options, gale_bolt *ret_bolt, gale_error *error);

/* Tells what is late, by the time that tuples carry (i64 or f64 seconds since 1970, years 1824 to 2115). A tuple whose
 * time is at most `lateness_seconds` behind the newest that came before it, or with it, goes on. A later one goes to
 * the stream "late", with two fields
 * more: how many seconds it is behind (f64 where they are not whole), and how many late ones there were, this one
 *       included; when nobody subscribes, the
 * first is logged at once, and their number at 10, 100, 1,000... and at the end. Whenever the newest time moves, the
 * stream "watermark" says so before that tuple: (mark, newest), whole seconds, rounded down: from now on no tuple that
 * is older than `mark` goes on. It must be one task, and decides by the order in which tuples come: a clock that runs
 * ahead in the input makes all others late. A late tuple that is replayed is told again. Simple. */
typedef struct gale_event_time_options {
    size_t size;
    const char *time;         /* the field; NULL: "time" */
    const char *output;       /* the fields that it emits: "time, host, agent" */
    int64_t lateness_seconds; /* 0: none */
} gale_event_time_options;
GALE_API GALE_MUST_USE int gale_event_time_bolt(const gale_event_time_options *options, gale_bolt *ret_bolt,
                                                gale_error *error);

/* Counts different keys in windows of the tuples' own time: window w holds the times [k w, (k + 1) w), in seconds since
 * 1970. Inputs: tuples that have the key and the time, grouped by the key; and the stream "watermark" of an event time
 * bolt, to all tasks. Output: (window, start, new): so many keys that no tuple before had in this window; every
 * `emit_seconds`, when the watermark passes the window's end, and when the topology has drained; not anchored. The
 * stream "watermark": (mark, task, tasks), behind the counts that it completes. A key that comes again in its window is
 * dropped, and so is a tuple that is replayed, because counting and remembering are one step. A tuple behind the
 * watermark fails. Without a watermark everything is kept until the end. Simple. */
typedef struct gale_unique_options {
    size_t size;
    const char *key;       /* fields, "host, agent" */
    const char *time;      /* the field; NULL: "time" */
    const char *windows;   /* up to 8 lengths in seconds, "60, 300"; NULL: "60" */
    uint32_t emit_seconds; /* 0: 1 */
} gale_unique_options;
GALE_API GALE_MUST_USE int gale_unique_bolt(const gale_unique_options *options, gale_bolt *ret_bolt, gale_error *error);

/* Adds up what the tasks of a unique bolt emit: subscribe it to both of its streams, globally. Output: (window, start,
 * count), each window once, when all tasks' watermarks have passed its end, or when the topology has drained; in the
 * order of their ends. The stream "now" has the same of windows that are not over, every `emit_seconds`, when their
 * count has moved. A window without keys is not told. Not anchored. It must be one task. Simple. */
GALE_API GALE_MUST_USE int gale_unique_total_bolt(int64_t emit_seconds, gale_bolt *ret_bolt, gale_error *error);

/* Aggregates of windows, by key. Input: tuples that have the fields of `key` (none: one window for all, and one task),
 * grouped by them, and those that the aggregates name; by the time that tuples carry, that time and the stream "watermark" of
 * an event time bolt, to all tasks, too. Output: (key's fields, start, end, an aggregate each); not anchored.
 *
 * A window [start, end) ends at each multiple of `slide` and is `length` long; those that hold nothing of a key are not told
 * for it. A tuple is acked once it is counted in, and counts again when it is replayed. What comes is kept in panes, at most
 * two a slide, of a key that has tuples in them: a tuple costs the same however many windows hold it, a row the same however
 * long its window is, and a key that is quiet nothing but its rows; it is forgotten with its last pane.
 *
 * Aggregates: "count, sum(bytes) as bytes, percentile(ms, 0.99), top(path, 10)". Null is left out, as in SQL; what has no
 * value at all is null (count and distinct 0, top an empty list). A value of another type fails its tuple: GALE_TYPE.
 *
 *     count, count(x)   i64. Tuples; those whose x is not null
 *     sum(x)            of i64 alone an i64, exact, or null and a report when none holds it; with an f64 among them an f64
 *     avg(x)            f64
 *     min(x), max(x)    the number as it came; NaN is above all others; of equal ones the earlier
 *     first(x), last(x) any value, by the tuples' time or else by their coming
 *     distinct(x)       i64. Exact up to `exact` different values, above it with a standard error of 1.6 %
 *     percentile(x, p)  f64. The least x that a share p of all is not above; nearer to zero than that by less than 0.4 %, never
 *                       farther; exact for whole numbers up to 512
 *     top(x, n)         a list of lists [x, count], the most frequent first, of equally frequent ones the lesser. Counts are exact
 *                       where no pane has 2 * `counters` different values; else too low by n / `counters` at most, n being
 *                       the tuples of the window
 *     top(x, n, y)      the same, by the sum of y (i64, not below 0) instead of the number of tuples
 *
 * By the clock, the start and the end are seconds since 1970 (i64 where length and slide are whole seconds, else f64) where the
 * run goes by the machine's clock, and that clock's seconds elsewhere; what is open when the topology has drained is told as it is. By the
 * tuples' time they are i64; a tuple behind the watermark fails (GALE_STATE); all windows end when the topology has drained.
 * docs/semantics/windows.md says more, errors and costs above all. Simple. */
typedef enum gale_window_emit {
    GALE_WINDOW_EMIT_CLOSE, /* each window of each key once, when it has ended */
    GALE_WINDOW_EMIT_CHANGE /* a key's row of the window that ends next, when it is not what was told, at each tick and before that
                               window ends; of windows that overlap, an empty one at last when a key has left them */
} gale_window_emit;
typedef struct gale_window_options {
    size_t size;
    const char *key;        /* fields, "host, path"; NULL or "": none */
    const char *aggregates; /* at most 32 */
    double length;          /* seconds, 0.001 to 1e9; whole ones by the tuples' time */
    double slide;           /* at most the length; 0: the length */
    const char *time;       /* the field of the tuples' time (i64 or f64, seconds); NULL: by the clock */
    int32_t emit;           /* a gale_window_emit */
    double
        tick; /* seconds between two ticks, at which it is looked what has ended or changed; 0: the slide, 1 at most */
    /* Is a row told? 1, 0, or an error code, with a text in `error` where there is more to say: then it is not, and that is
     * reported. `row` is as it would be emitted, borrowed. NULL: all are. gale_window_having (gale_script.h) makes these of an
     * expression.
     * `self` is what `having_open` made when the task began, whose alone it is; `having_close` (may be NULL) ends it. Without
     * `having_open` it is `having_user`, of which several tasks ask at a time. An error of `having_open` stops the start.
     * `having_begin` (below, may be NULL) is told the task's collector once `having_open` has made it: for its metrics.
     * `free_having_user` (may be NULL) is called when the definition is freed, and not when it could not be made. */
    int (*having)(void *self, const gale_value *row, size_t count, gale_error *error);
    int (*having_open)(void *user, const gale_context *context, void **ret_self, gale_error *error);
    void (*having_close)(void *self);
    void *having_user;
    void (*free_having_user)(void *user);
    uint32_t exact;    /* different values that distinct knows exactly, at most 1000000; 0: 4096 */
    uint32_t counters; /* of top, at most 1000000; 0: 1000 */
    uint64_t max_keys; /* in windows at a time, of a task; 0: 1000000. The tuple of another one fails: GALE_TOO_LARGE */
    uint64_t max_bytes; /* of a task's windows; 0: 1 GiB. A tuple that needs one more pane fails: GALE_TOO_LARGE */
    void (*having_begin)(void *self, gale_collector *out);
} gale_window_options;
GALE_API GALE_MUST_USE int gale_window_bolt(const gale_window_options *options, gale_bolt *ret_bolt, gale_error *error);

/* Writes each tuple as a JSON line {"component":..,"stream":..,"task":..,"values":{..}} to a descriptor, which stays
 * the caller's. Lines gather, up to 64 KiB, until all that was there to execute is executed; then they are written together
 * and their tuples acked. Lines of several printers and file sinks with one descriptor are never mixed. No outputs. Simple. */
GALE_API GALE_MUST_USE int gale_printer_bolt(int fd, gale_bolt *ret_bolt, gale_error *error);

/* Storm's LogInfoBolt: each tuple as one line of JSON to the runtime's logger, level info. No outputs. Simple. */
GALE_API GALE_MUST_USE int gale_log_bolt(gale_bolt *ret_bolt, gale_error *error);

/* Hands each tuple to `on_tuple` (returns 0, or an error code that fails the tuple), on the thread of its task, of
 * which there may be several. No outputs. Simple. */
GALE_API GALE_MUST_USE int gale_callback_bolt(int (*on_tuple)(void *user, const gale_tuple *tuple), void *user,
                                              gale_bolt *ret_bolt, gale_error *error);

/* Takes everything and does nothing. No outputs. Simple. */
GALE_API GALE_MUST_USE int gale_null_bolt(gale_bolt *ret_bolt, gale_error *error);

GALE_END

#endif
