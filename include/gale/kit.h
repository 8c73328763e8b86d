/* gale/kit.h: ready-made spouts and bolts.
 *
 * What:    what users would write themselves, built on gale/component.h alone. Each function checks its arguments and
 *          fills a definition to hand to gale_topology_add_spout or gale_topology_add_bolt, which then owns it.
 * Threads: any thread.
 * Owner:   arguments are copied. A definition that is not added must be given back: d.free_user(d.user).
 * Errors:  GALE_INVALID with a report that names the argument; GALE_NO_MEMORY.
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

/* storm-starter's RollingCountBolt: counts over a sliding window of `window_seconds`, emitted every `emit_seconds`
 * (window / emit slots, by integer division, at least 2). Output: (obj, count, actualWindowLengthInSeconds). An object
 * whose count fell to zero is reported once with 0. Inputs are acked at once; what is emitted is not anchored. When the
 * topology has drained, what the window holds is emitted once more. */
GALE_API GALE_MUST_USE int gale_rolling_count_bolt(int64_t window_seconds, int64_t emit_seconds, gale_bolt *ret_bolt,
                                                   gale_error *error);

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
