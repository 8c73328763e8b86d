/* gale/kit.h: ready-made spouts and bolts.
 *
 * What:    what users would write themselves, built on gale/component.h alone. Each function checks its arguments and
 *          fills a definition to hand to gale_topology_add_spout or gale_topology_add_bolt, which then owns it.
 * Threads: any thread.
 * Owner:   arguments are copied. A definition that is not added must be given back: d.free_user(d.user).
 * Errors:  GALE_INVALID with a report that names the argument; GALE_UNSUPPORTED for an option of a newer gale;
 *          GALE_NO_MEMORY.
 * Misuse:  every function checks. Options are refused when their size was not set; NULL is all defaults.
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
GALE_API GALE_MUST_USE int gale_total_rankings_bolt(int64_t top_n, int64_t emit_seconds, gale_bolt *ret_bolt,
                                                    gale_error *error);

/* Lines of a web server's access log (Common or Combined Log Format) to fields. Input: the first value, string or
 * bytes. Output: (host, user, time, request, status, bytes, referer, agent). `time` is in seconds since 1970 UTC, the
 * log's offset applied; status and bytes are i64, bytes 0 where the log has "-"; user, request, referer and agent are null
 * where the log has "-" or, as the Common Log Format does, nothing; a text that is no UTF-8 is bytes. Escapes stay as
 * the server wrote them. What is no such line goes to the stream "bad": (line, problem); when nobody subscribes to it,
 * the first is logged, and how many there were at the end. Simple. */
GALE_API GALE_MUST_USE int gale_access_log_bolt(gale_bolt *ret_bolt, gale_error *error);

/* Passes a tuple on when its key is new, and drops (acks) it while a rotating map (gale/rotating_map.h) remembers the
 * key: for `horizon_seconds` after it passed at the least, n / (n - 1) times as long at the most, n being `buckets`. A
 * duplicate does not renew. Time is the context's clock. Each task has a map of its own: group by the key. Simple.
 *
 * Failures: a tuple that cannot be emitted fails, and its key is forgotten. When one fails further down, this bolt is
 * not told; the spout emits it again, and here it looks like a duplicate. `identity` names fields that tell one tuple
 * from its duplicates (a place in a file, an offset): the tuple that passed for a key passes again, as often as it
 * comes. Without `identity` a replayed tuple is dropped: then what stands behind must not fail, or must tell its
 * failures another way. A restart forgets everything. */
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

/* Tells what is late, by the time that tuples carry (i64, seconds). A tuple whose time is at most `lateness_seconds`
 * behind the newest that came before it, or with it, goes on. A later one goes to the stream "late", with two fields
 * more: how many seconds it is behind, and how many late ones there were, this one included; when nobody subscribes,
 * their number is logged at the end. Whenever the newest time moves, the stream "watermark" says so before that tuple:
 * (mark, newest): from now on no tuple that is older than `mark` goes on. It must be one task, and decides by the order
 * in which tuples come: a clock that runs ahead in the input makes all others late. A late tuple that is replayed is
 * told again. Simple. */
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

/* Writes each tuple as a JSON line {"component":..,"stream":..,"task":..,"values":{..}} to a descriptor, which stays
 * the caller's. No outputs. Simple. */
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
