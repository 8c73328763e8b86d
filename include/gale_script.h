/* gale_script.h: bolts made of expressions and patterns. In libgale-script, which needs libgale, Lua 5.4 and PCRE2.
 *
 * What:    an expression is one of Lua 5.4, over the fields of the tuple: "status >= 500 and bytes > 0", or a block that returns
 *          something. What it can call, and what it cannot, stands in docs/reference/expressions.md. `fields` are the names that
 *          expressions may use; each stream that comes in must have them.
 * Threads: any thread.
 * Owner:   arguments are copied. A definition that is not added must be given back: d.free_user(d.user).
 * Errors:  GALE_INVALID with a report that names the argument; GALE_SYNTAX with "what:line:column" for an expression that is
 *          none, or that uses a field that is not there; GALE_TOO_LARGE beyond a limit; GALE_NO_MEMORY. While it runs: an
 *          expression that fails, or that takes more than its bounds, fails the tuple with a report that names the
 *          expression, the line and the values of the fields that it uses.
 * Bounds:  `work` for a tuple, in units of about ten nanoseconds (0: 3,000,000), and `memory` in bytes (0: 1 MiB, at most 256
 *          MiB).
 * Durable: they keep nothing from one tuple to the next, but for what says otherwise.
 */
#ifndef GALE_SCRIPT_H
#define GALE_SCRIPT_H

#include <gale/kit.h>

GALE_BEGIN

enum { GALE_SCRIPT_FIELDS_MAX = 32, GALE_SCRIPT_EXPRESSIONS_MAX = 32 };

/* A name, and the types that its values may have: the bit 1 << type for each gale_type, null left out. */
typedef struct gale_typed_name {
    gale_str name;
    uint32_t types;
} gale_typed_name;

/* The types that the values of an expression may have, as far as they can be derived from the text; all bits but null's
 * where they cannot, as of a block, or of no expression. Of two names that are equal the later one counts. Any thread.
 * */
GALE_API uint32_t gale_expression_types(const char *expression, const gale_typed_name *names, size_t count);

/* Passes on what is so: all but null and false. Output: the fields. Simple. */
typedef struct gale_filter_options {
    size_t size;
    const char *fields; /* "status, path": what comes in, and what goes out */
    const char *where;  /* an expression */
    uint64_t work;
    uint64_t memory;
} gale_filter_options;
GALE_API GALE_MUST_USE int gale_filter_bolt(const gale_filter_options *options, gale_bolt *ret_bolt, gale_error *error);

/* Sends a tuple to the first stream whose expression is true, or to all of them; to the default stream when none is. Output of
 * each: the fields. Simple. */
typedef struct gale_route {
    const char *stream;
    const char *where;
} gale_route;
typedef struct gale_route_options {
    size_t size;
    const char *fields;
    const gale_route *routes;
    size_t route_count; /* at most GALE_SCRIPT_EXPRESSIONS_MAX */
    bool all;           /* of the streams whose expression is true, not the first alone */
    uint64_t work;
    uint64_t memory;
} gale_route_options;
GALE_API GALE_MUST_USE int gale_route_bolt(const gale_route_options *options, gale_bolt *ret_bolt, gale_error *error);

/* Computes fields. Output: those of `keep`, or all but those of `drop`, under new names where `rename` says so; then what is
 * set, in that order; what is set under a name that is there takes its place. An expression may use what was set before it.
 * Simple. */
typedef struct gale_assignment {
    const char *field;
    const char *expression;
} gale_assignment;
typedef struct gale_map_options {
    size_t size;
    const char *fields;
    const gale_assignment *set;
    size_t set_count;   /* at most GALE_SCRIPT_EXPRESSIONS_MAX */
    const char *keep;   /* "path, bytes"; may name what is set; NULL: all */
    const char *drop;   /* NULL: none; not together with `keep` */
    const char *rename; /* "path as page, bytes as size"; NULL: none */
    uint64_t work;
    uint64_t memory;
} gale_map_options;
GALE_API GALE_MUST_USE int gale_map_bolt(const gale_map_options *options, gale_bolt *ret_bolt, gale_error *error);

/* One tuple for each item of the list that an expression returns (null: none). Output: the fields of `keep`, then `as`: an item
 * is the value of the one field, or a list or a map with the values of several. Simple. */
typedef struct gale_flat_map_options {
    size_t size;
    const char *fields;
    const char *each; /* an expression */
    const char *as;   /* "word", or "word, place" */
    const char *keep; /* NULL: none */
    uint64_t work;
    uint64_t memory;
} gale_flat_map_options;
GALE_API GALE_MUST_USE int gale_flat_map_bolt(const gale_flat_map_options *options, gale_bolt *ret_bolt,
                                              gale_error *error);

/* A pattern of PCRE2 with named groups makes fields of a text: "^(?<host>\\S+) (?<status>\\d+)". Input: the field that has the text,
 * a string or bytes. Output: the fields of `keep`, then those of `fields`, each perhaps with a type as gale_csv_bolt has them: names of groups;
 * without `fields`, all groups that have names, as text. A group that took no part is null. A text that the pattern is not found
 * in, that is of another type, or on which a search takes more than 1,000,000 steps of about 10 ns, goes to the stream "bad":
 * (line, problem); when nobody subscribes to it, the first is logged, and how many there were at the end. Simple. */
typedef struct gale_regex_options {
    size_t size;
    const char *field;   /* that has the text; NULL or "": the first */
    const char *pattern; /* at most 2048 bytes, 100 groups */
    const char *fields;  /* "host, status int"; NULL or "": all named groups */
    const char *keep;    /* fields of the input that go out before them; NULL or "": none */
} gale_regex_options;
GALE_API GALE_MUST_USE int gale_regex_bolt(const gale_regex_options *options, gale_bolt *ret_bolt, gale_error *error);

/* JSON to fields. Input: the field that has the text, a string or bytes. Output: the fields of `keep`, those of `fields`, then
 * `document`. A field is a path of names and, from 0, places in lists, with points between them: "user.name"; then perhaps
 * "as NAME" (else the last of the path is its name), and perhaps a type: what is of another type is bad, but text that says a number or
 * a truth value is taken for it, and a whole number for a float. Without a type, a value is what JSON says: numbers without point and
 * exponent are i64, others f64, objects are maps. What is not there is null. What is no JSON, more than
 * GALE_VALUE_DEPTH deep in what goes out, too large, or lacks one of `required`, goes to the stream "bad": (line, problem), as
 * gale_regex_bolt's. Whole numbers beyond 64 bits are bad. Of a name that comes twice in an object the last one counts. Simple. */
typedef struct gale_json_options {
    size_t size;
    const char *field;    /* that has the text; NULL or "": the first */
    const char *fields;   /* "user.name as name, status int, tags.0 as first"; NULL or "": none */
    const char *document; /* a field for the whole document; NULL or "": none, or "doc" where there are no `fields` */
    const char *required; /* names of `fields` that must be there, and not null; NULL or "": none */
    const char *keep;     /* fields of the input that go out before them; NULL or "": none */
    uint64_t max_bytes;   /* of a text; 0: 16 MiB, at most 1 GiB */
} gale_json_options;
GALE_API GALE_MUST_USE int gale_json_bolt(const gale_json_options *options, gale_bolt *ret_bolt, gale_error *error);

/* Fields from a table in a file. Input: tuples that have `fields` and those of `key`. Output: `fields`, then the columns of `add` of
 * the row that has the key; or what `missing` says where there is none. A key is text, a whole number or a truth value, and
 * compared as text; another one, or null, has no row. A table is CSV with a line of names, or JSON: an array of objects, an object of
 * objects by their key, or an object a line. Columns of JSON are paths, "geo.city". Types as gale_csv_bolt's and gale_json_bolt's.
 * A key that comes twice is an error. Simple.
 *
 * Each task has the table in memory. What stops the start: a file that is not there, that cannot be read or is too large
 * (GALE_IO, GALE_TOO_LARGE), a row that is wrong (GALE_SYNTAX with file:line:column). The file is looked at every `refresh`
 * seconds and read again when it is another one or has changed (inode, size, time): put a new one in its place by renaming. It
 * is read by pieces, one with each tuple and tick, what is small at once, and a document of JSON is parsed in one go; until all of it is read the old table
 * serves. One that cannot be read leaves the old table, and is logged, once.
 * Durable: it keeps nothing; a tuple that comes again may meet another table. */
typedef enum gale_lookup_missing {
    GALE_LOOKUP_NULL,  /* the columns are null */
    GALE_LOOKUP_DROP,  /* the tuple is acked */
    GALE_LOOKUP_FAIL,  /* it fails: GALE_NOT_FOUND */
    GALE_LOOKUP_STREAM /* it goes to the stream "missing": `fields` */
} gale_lookup_missing;
typedef struct gale_lookup_options {
    size_t size;
    const char *table;  /* the path */
    const char *fields; /* "ip, path": what comes in, and goes out */
    const char *key;    /* fields, "ip" */
    const char *by;     /* the table's columns, in the order of the key's; NULL or "": they have the key's names */
    const char *add;    /* "city, country as land, asn int" */
    const char
        *format; /* "csv", "json" or "jsonl"; NULL or "": .json, .jsonl and .ndjson are what they say, others csv */
    const char *separator; /* of CSV, one character; NULL: a tab for .tsv, else a comma */
    int32_t missing;       /* a gale_lookup_missing */
    double refresh;        /* seconds, 0.01 to 1e6; 0: 1 */
    uint64_t max_rows;     /* 0: 1000000 */
    uint64_t max_bytes;    /* of the file; 0: 64 MiB */
} gale_lookup_options;
GALE_API GALE_MUST_USE int gale_lookup_bolt(const gale_lookup_options *options, gale_bolt *ret_bolt, gale_error *error);

/* Lines that belong together (a stack trace, a statement of several lines) become one tuple. Exactly one pattern of PCRE2 says
 * which: a line that `start` is found in begins an event; one that `go_on` is found in belongs to the one before; one that
 * `end` is found in is the last of its event. Input: tuples that have `fields`, the lines being strings or bytes; what comes
 * without a beginning begins an event by itself. Output: `fields`: the joined text, bytes when the lines are no UTF-8, and of
 * all others what the event's first line has. Lines of different `key`s do not mix; group by it, and in order: a shuffle mixes
 * lines. Manual.
 *
 * Lines are held until their event is whole: it is anchored to all of them, and they are acked when it is emitted; so an event
 * that fails comes again with its lines. What gets no more for `timeout` is emitted then (and half as long behind it at most,
 * or a second); at the end of the input, too: a drain waits for it. The timeouts of open lines' trees begin anew in time. A limit cuts an
 * event, which goes on as another one; that is logged. An event that cannot be emitted fails its lines.
 * Bounds: a task holds `max_keys` events of `max_lines` lines and `max_bytes` bytes; a longer line is an event by itself. A
 * search takes 1,000,000 steps of about 10 ns; a line on which it takes more counts as not matching, which is logged.
 * Durable: what is open goes on; the number of its tasks must stay while lines are open. */
typedef struct gale_join_lines_options {
    size_t size;
    const char *fields;    /* "file, line": what comes in, and what goes out */
    const char *field;     /* that has the lines; NULL or "": the first of them */
    const char *key;       /* fields, "file"; NULL or "": all lines are of one */
    const char *start;     /* "^\S": a pattern, or NULL */
    const char *go_on;     /* "^\s": "continue" in topology files */
    const char *end;       /* ";$" */
    const char *separator; /* at most 63 bytes; NULL: a newline */
    double timeout;        /* seconds, 0.01 to 1e6; 0: 1 */
    uint32_t max_lines;    /* 0: 500 */
    uint64_t max_bytes;    /* of an event; 0: 1 MiB */
    uint64_t
        max_keys; /* that have open events at a time; 0: 1000. For another one, the event that has waited longest is emitted */
} gale_join_lines_options;
GALE_API GALE_MUST_USE int gale_join_lines_bolt(const gale_join_lines_options *options, gale_bolt *ret_bolt,
                                                gale_error *error);

/* Lets a window tell the rows alone of which an expression over its fields (the key's, start, end, the aggregates) is true:
 * sets what `having` is made of in `window`, whose key and aggregates are read here, and must not change until
 * gale_window_bolt is given it. A window that is not made must give it back: window.free_having_user(window.having_user).
 * Each task computes in memory of its own. An expression that fails, or takes more than its bounds, leaves out its row, with
 * a report that names the expression, the line and the values. As gale_window_bolt where the key or the aggregates are wrong. */
typedef struct gale_having_options {
    size_t size;
    const char *expression; /* "errors / count > 0.05" */
    uint64_t work;          /* for a row */
    uint64_t memory;
} gale_having_options;
GALE_API GALE_MUST_USE int gale_window_having(const gale_having_options *options, gale_window_options *window,
                                              gale_error *error);

GALE_END

#endif
