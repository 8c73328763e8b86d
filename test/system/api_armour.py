#!/usr/bin/env python3
"""Writes a C program that calls every function of include/gale with what it must not be given: NULL, objects of another kind
and freed ones, sizes of zero and sizes that lie, huge counts, numbers that are no member of their enum, text that is not
UTF-8, values that are none. api_armour.h runs it, a process for each function.

What a parameter may be given follows from its type, and now and then from its name: the tables below. Which parameters an
inline function only asserts stands in the head of its header ("assert only: `out`, `context`."). A parameter of an unknown
type, or a function that libgale.so exports and no header declares, ends the script: nothing is left out silently.

usage: api_armour.py ROOT write FILE.C
       api_armour.py ROOT covers LIBGALE.SO
"""

import collections
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "meta"))
sys.dont_write_bytecode = True

import headers  # noqa: E402

Parameter = collections.namedtuple("Parameter", "type name")
Function = collections.namedtuple("Function", "header inline returns name parameters asserted")

# --- Reading the headers ----------------------------------------------------------------------------------------------


def pieces(text):
    """Splits at the commas that are in no bracket."""
    depth, at = 0, 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            yield text[at:i].strip()
            at = i + 1
    yield text[at:].strip()


def parameter(text):
    if text == "...":
        return Parameter("...", "")
    pointer = re.fullmatch(r"(.*\(\*)(\w+)(\).*)", text)
    if pointer:
        return Parameter(pointer[1] + pointer[3], pointer[2])
    array = re.fullmatch(r"(.*?)(\w+)\[\w+\]", text)
    if array:
        return Parameter(array[1].strip() + " *", array[2])
    kind, name = re.fullmatch(r"(.*?)(\w+)", text).groups()
    return Parameter(kind.strip(), name)


def functions_of(path):
    """The public functions of a header."""
    text = path.read_text()
    head = " ".join(line.strip(" *") for line in text[:text.index("*/")].splitlines())
    said = re.search(r"asserts? only: ((?:`\w+`(?:, )?)+)", head)
    asserted = set(re.findall(r"`(\w+)`", said[1])) if said else set()
    for mark, returns, name, given in re.findall(r"^(GALE_API|GALE_INLINE) ([^;({]*?)(\w+)\(((?:[^()]|\([^()]*\))*)\)",
                                                 headers.without_comments(text), flags=re.M):
        parameters = [] if given.strip() == "void" else [parameter(" ".join(p.split())) for p in pieces(given)]
        inline = mark == "GALE_INLINE"
        yield Function(path.name, inline, returns.replace("GALE_MUST_USE", "").strip(), name, parameters,
                       asserted if inline else set())


STRUCT = re.compile(r"typedef struct (\w+) \{\n(    size_t size;\n.*?)\n\} \1;", re.S)


def structs_of(root):
    """The structures that begin with their size: their fields' types by name."""
    found = {}
    for path in headers.public_headers(root):
        for name, body in STRUCT.findall(headers.without_comments(path.read_text())):
            fields = [parameter(" ".join(f.split())) for f in body.split(";") if re.search(r"\w$", f) and "(*" not in f]
            found[name] = {f.name: f.type for f in fields}
    return found


# --- What there is to give --------------------------------------------------------------------------------------------

C = collections.namedtuple("C", "code shown asserted for_checks", defaults=(False, False))
TEXTS = [C('"key"', '"key"'), C("NULL", "NULL"), C('""', '""'), C(r'"\xff\xfe\x80"', "text that is not UTF-8"),
         C(r'"a\nb\x1b[2J"', "control characters"), C("long_text()", "100,000 letters")]


def numbers(good, *others):
    return [C(f"({n})", n) for n in (good, *others)]


NUMBERS = {
    "int": numbers("0", "1", "-1", "7", "INT32_MAX", "INT32_MIN"),
    "int32_t": numbers("0", "1", "-1", "7", "999", "INT32_MAX", "INT32_MIN"),
    "int64_t": numbers("1", "0", "-1", "60", "INT64_MAX", "INT64_MIN"),
    "uint8_t": numbers("0", "255"),
    "uint16_t": numbers("0", "65535"),
    "uint32_t": numbers("1", "0", "2", "UINT32_MAX"),
    "uint64_t": numbers("1", "0", "UINT64_MAX"),
    "size_t": numbers("0", "1", "2", "SIZE_MAX / 64", "SIZE_MAX"),
    "double": numbers("1.0", "0.0", "-1.0", "1e-300", "1e300", "NAN", "INFINITY", "-INFINITY"),
    "bool": numbers("true", "false"),
}

OBJECTS = {  # a good one's maker, other good ones, the maker of a freed one, and whether another kind shows in every build
    "gale_config": (["a_config"], "freed_config", True),
    "gale_topology": (["a_topology"], "freed_topology", True),
    "gale_runtime": (["a_runtime", "a_running_runtime", "a_closed_runtime"], "freed_runtime", True),
    "gale_manual_clock": (["a_clock"], "freed_clock", True),
    "gale_value_owned": (["an_owned"], "freed_owned", True),
    "gale_rotating_map": (["a_map", "a_bytes_map"], "freed_map", False),
    "gale_time_cache_map": (["a_cache", "a_bytes_cache"], "freed_cache", False),
}


def objects(kind):
    makers, freed, marked = OBJECTS[kind]
    good = [C(f"{maker}(w)", maker.replace("_", " ")) for maker in makers]
    return good + [C("NULL", "NULL"), C(f"another(w, {makers[0]}(w))", "an object of another kind", False, not marked),
                   C(f"{freed}(w)", freed.replace("_", " "), False, True)]


VALUES = [C('gale_text("text")', "a text"), C("gale_null()", "null"), C("gale_i64(INT64_MIN)", "INT64_MIN"),
          C("gale_f64(NAN)", "NaN"), C("gale_bool(true)", "true"), C(r'gale_text("\xff\xfe")', "text that is not UTF-8"),
          C("strange_value(200, 0, 0, NULL)", "a value of type 200"),
          C("strange_value(200, 1, 9, NULL)", "an encoded value of type 200"),
          C("strange_value(GALE_TYPE_STRING, 0, 9, NULL)", "a text of 9 bytes at NULL"),
          C("strange_value(GALE_TYPE_BYTES, 0, UINT32_MAX, NULL)", "4 GiB of bytes at NULL"),
          C("strange_value(GALE_TYPE_LIST, 0, 9, NULL)", "a list of 9 at NULL"),
          C("strange_value(GALE_TYPE_LIST, 1, 9, NULL)", "an encoded list of 9 at NULL"),
          C("strange_value(GALE_TYPE_MAP, 1, 0, NULL)", "an encoded map of 0 at NULL"),
          C("strange_value(GALE_TYPE_MAP, 0, UINT32_MAX, NULL)", "a map of 2^32 - 1 at NULL"),
          C("bad_map(0)", "a map with a number for a key"), C("bad_map(1)", "a map with a key at NULL"),
          C("bad_map(2)", "a map with a key that comes twice"), C("deep_value(32)", "lists 32 deep"),
          C("deep_value(60)", "lists 60 deep")]
HANDLES = [C("current(w)", "the current tuple"), C("0", "no tuple"), C("w->settled", "a settled tuple"),
           C("UINT64_MAX", "all ones"), C("current(w) ^ 1", "another generation"),
           C("current(w) + (UINT64_C(1) << 48)", "another task's")]


def by_value(kind, good, *changes):
    """A structure that is handed over by value, and what may be wrong with it: (field, C expression)."""
    whole = [C(good, f"a {kind}")]
    for field, value in changes:
        whole.append(C(f"({{ {kind} v = {good}; v.{field} = {value}; v; }})", f"a {kind} with {field} {value}"))
    return whole


DEFINITION = [("size", "0"), ("size", "8"), ("size", "SIZE_MAX"), ("ops", "NULL"), ("outputs", "NULL"),
              ("output_count", "0"), ("output_count", "SIZE_MAX"), ("setting_count", "3"), ("setting_count", "SIZE_MAX")]
SIZED = {
    "gale_spout": by_value("gale_spout", "a_spout(w)", *DEFINITION, ("ops", "&spouts_ops[0]"),
                           ("ops", "&spouts_ops[1]"),
                           ("ops", "&spouts_ops[2]"),
                           ("settings", "strange_settings, v.setting_count = 2"),
                           ("outputs", "strange_outputs")),
    "gale_bolt": by_value("gale_bolt", "a_bolt(w)", *DEFINITION, ("ops", "&bolts_ops[0]"),
                          ("ops", "&bolts_ops[1]"),
                          ("ops", "&bolts_ops[2]"),
                          ("outputs", "strange_outputs + 2")),
    "gale_hook": by_value("gale_hook", "(gale_hook){ .size = sizeof(gale_hook) }", ("size", "0"), ("size", "8"),
                          ("size", "SIZE_MAX")),
    "gale_grouping": by_value("gale_grouping", "gale_shuffle()", ("size", "0"), ("size", "SIZE_MAX"), ("kind", "-1"),
                              ("kind", "INT32_MAX"), ("kind", "GALE_GROUPING_FIELDS"), ("kind", "GALE_GROUPING_CUSTOM"),
                              ("drop", "-1"), ("drop", "77"),
                              ("kind", "GALE_GROUPING_FIELDS, v.fields = long_text()"),
                              ("kind", "GALE_GROUPING_CUSTOM, v.custom = &strange_custom")),
    "gale_clock": [C("gale_clock_wall()", "a clock")],
    "gale_str": [C('((gale_str){ "k", 1 })', "a text"), C(r'((gale_str){ "{\"k\":[7,\"a\\n\"]}", 15 })', "JSON"),
                 C('((gale_str){ "7", 1 })', "a number"), C("((gale_str){ NULL, 0 })", "no text"),
                 C("((gale_str){ NULL, 9 })", "9 bytes at NULL")],
    "gale_value": VALUES,
    "gale_handle": HANDLES,
    "gale_watch": numbers("0", "1", "(UINT64_C(1) << 32) + 1", "UINT64_MAX"),
    "gale_tap": numbers("1", "0", "UINT64_MAX"),
}

POINTERS = {
    "const gale_logger *": [C("&loggers[0]", "a silent logger"),
                            C("NULL", "NULL"), C("&loggers[1]", "a logger without a size")],
    "gale_error *": [C("&w->error", "a report"), C("NULL", "NULL"),
                     C("strange_error(0, UINT32_MAX)", "a report with a length of 2^32 - 1"),
                     C("strange_error(SIZE_MAX, GALE_ERROR_TEXT - 1)", "a report that is full")],
    "const gale_value *": [C("two_values(w, gale_text(\"second\"))", "a number"), C("NULL", "NULL")] +
                          [C(f"two_values(w, {v.code}) + 1", v.shown) for v in VALUES],
    "gale_collector *": [C("w->out", "a collector"), C("NULL", "NULL", True)],
    "gale_saver *": [C("NULL", "NULL")],  # only `save` and `restore` are given them
    "const gale_saver *": [C("NULL", "NULL")],
    "gale_saved *": [C("NULL", "NULL")],
    "const gale_saved *": [C("NULL", "NULL")],
    "const gale_metric_label *": [C("eight_labels", "eight labels"), C("NULL", "NULL")],
    "gale_metric *": [C("w->metric", "a metric"), C("NULL", "NULL")],
    "gale_state *": [C("w->state", "a state"), C("NULL", "NULL")],
    "gale_intake *": [C("w->intake", "an intake"), C("NULL", "NULL")],
    "const gale_intake *": [C("w->intake", "an intake"), C("NULL", "NULL")],
    "gale_positions *": [C("w->positions", "positions"), C("NULL", "NULL")],
    "const gale_positions *": [C("w->positions", "positions"), C("NULL", "NULL")],
    "gale_dispatch *": [C("w->dispatch", "a dispatch"), C("NULL", "NULL")],
    "const gale_dispatch *": [C("w->dispatch", "a dispatch"), C("NULL", "NULL")],
    "char *": [C("strdup(\"secret\")", "a secret"), C("NULL", "NULL")],  # freed by the call
    "gale_epochs *": [C("w->epochs", "epochs"), C("NULL", "NULL")],
    "gale_epoch *": [C("NULL", "NULL")],  # only `commit` is given one
    "const gale_epoch *": [C("NULL", "NULL")],
    "gale_backoff *": [C("memset(w->inputs[@], 0, ROOM)", "a backoff"), C("NULL", "NULL")],
    "gale_intake_each_fn *": [C("on_kept", "a function"), C("NULL", "NULL")],
    "const char *const *": [C("some_names", "names"), C("NULL", "NULL")],
    "gale_json_item *": [C("memcpy(w->inputs[@], &(gale_json_item)GALE_JSON_FIRST(((gale_str){ \"[1,{}]\", 6 })), "
                           "sizeof(gale_json_item))", "a first item"), C("NULL", "NULL"),
                         C("memset(w->inputs[@], 0, ROOM)", "an item of zeros")],
    "gale_wait *": [C("memset(w->inputs[@], 0, ROOM)", "a wait"), C("NULL", "NULL")],
    "gale_is_lost_fn *": [C("on_lost", "a function"), C("NULL", "NULL")],
    "gale_dispatch_drive_fn *": [C("on_drive", "a function"), C("NULL", "NULL")],
    "gale_dispatch_send_fn *": [C("on_send", "a function"), C("NULL", "NULL")],
    "const gale_pledge_ops *": [C("&strange_pledge", "a table without a size"), C("NULL", "NULL")],
    "gale_watch_fn *": [C("on_watch", "a function"), C("NULL", "NULL")],
    "gale_state_each_fn *": [C("on_pair", "a function"), C("NULL", "NULL")],
    "const gale_args *": [C("&no_args", "arguments"), C("&tableless_args", "arguments without a table"), C("NULL", "NULL")],
    "gale_batch *": [C("&no_tuples", "tuples"), C("NULL", "NULL", True)],
    "gale_remote *": [C("a_remote(w)", "a remote"), C("NULL", "NULL"), C("closed_remote(w)", "a closed remote", False, True)],
    "const gale_context *": [C("w->context", "a context"), C("NULL", "NULL", True)],
    "const gale_targets *": [C("w->targets", "targets"), C("NULL", "NULL", True)],
    "const gale_tuple *": [C("w->tuple", "a tuple"), C("NULL", "NULL", True)],
    "const gale_body *": [C("w->tuple->body", "a body"), C("NULL", "NULL", True)],
    "const gale_custom_ops *": [C("&chooser_ops", "a table"), C("NULL", "NULL"),
                                C("&strange_custom", "a table with a size of SIZE_MAX")],
    "gale_rotating_map_expired_fn *": [C("on_dead", "a function"), C("NULL", "NULL")],
    "int (*)(void *user, const gale_tuple *tuple)": [C("on_tuple", "a function"), C("NULL", "NULL")],
    "void (*)(void *user, const gale_event *event)": [C("on_event", "a function"), C("NULL", "NULL")],
    "void (*)(void *user)": [C("NULL", "NULL"), C("count_free", "a function")],
    "gale_rotating_map_cursor *": [C("memset(w->inputs[@], 0, 24)", "a new cursor"), C("NULL", "NULL"),
                                   C("memset(w->inputs[@], 255, 24)", "a cursor of ones")],
    "size_t *": [C("&emitted_rows", "a number"), C("NULL", "NULL")],
    "const uint64_t *": [C("message_ids", "message ids"), C("NULL", "NULL")],
    "const void *": [C("w->inputs[@]", "a place"), C("NULL", "NULL")],
    "const char *": TEXTS,
}

# A pointer and what counts behind it, which the caller must not overstate: (of the first, of the second).
PAIRS = {
    ("values", "count"): [C("two_values(w, gale_text(\"v\")), 2", "two values"), C("NULL, 0", "NULL, 0"),
                          C("NULL, 2", "NULL, 2", True), C("two_values(w, gale_null()), 1", "one value"),
                          C("two_values(w, gale_null()), SIZE_MAX", "SIZE_MAX values")] +
                         [C(f"two_values(w, {v.code}), 2", f"two values, of which {v.shown}") for v in VALUES[1:]],
    ("anchors", "anchor_count"): [C("handles(w, current(w), 0), 1", "the current tuple"), C("NULL, 0", "none"),
                                  C("NULL, 1", "one at NULL"), C("NULL, SIZE_MAX", "SIZE_MAX at NULL"),
                                  C("handles(w, current(w), current(w)), 2", "the current tuple twice"),
                                  C("handles(w, current(w), 0), 2", "the current tuple and none"),
                                  C("handles(w, w->settled, 0), 1", "a settled tuple"),
                                  C("handles(w, UINT64_MAX, 0), 1", "all ones"),
                                  C("handles(w, current(w), 0), SIZE_MAX", "SIZE_MAX tuples"),
                                  C("handles(w, current(w), 0), SIZE_MAX / 8", "SIZE_MAX / 8 tuples")],
    ("text", "size"): [C('"text", 4', "a text"), C("NULL, 0", "NULL, 0"), C("NULL, 9", "NULL, 9"),
                       C(r'"\xff\xfe", 2', "text that is not UTF-8"), C('"text", 0', "no text")],
    ("bytes", "size"): [C('"text", 4', "bytes"), C("NULL, 0", "NULL, 0"), C("NULL, SIZE_MAX", "NULL, SIZE_MAX")],
    ("key", "key_size"): [C('"key", 3', "a key"), C("NULL, 0", "NULL, 0"), C("NULL, 9", "NULL, 9"),
                          C("NULL, SIZE_MAX", "NULL, SIZE_MAX"), C("long_text(), 100000", "100,000 bytes"),
                          C('"", 0', "no bytes")],
    ("message_ids", "count"): [C("message_ids, 2", "two message ids"), C("NULL, 0", "NULL, 0"), C("NULL, 9", "NULL, 9"),
                               C("NULL, SIZE_MAX", "NULL, SIZE_MAX")],
    ("bounds", "bound_count"): [C("memset(w->inputs[@], 0, ROOM), 2", "two bounds"),
                                C("NULL, 0", "NULL, 0"), C("NULL, 3", "NULL, 3"), C("NULL, UINT32_MAX", "2^32 - 1 at NULL")],
    ("to", "room"): [C("(char *)w->inputs[@], 9", "room for nine"), C("NULL, 0", "NULL, 0"), C("NULL, 9", "NULL, 9"),
                     C("(char *)w->inputs[@], 0", "no room")],
    ("ret_trees", "room"): [C("an_output(w, @), 1", "room for one"), C("NULL, 0", "NULL, 0"), C("NULL, 9", "NULL, 9"),
                            C("memset(w->inputs[@], 0, ROOM), 1", "trees without a size"),
                            C("(void *)(w->inputs[@][0] = sizeof(gale_open_tree) & 255, "
                              "w->inputs[@][1] = sizeof(gale_open_tree) >> 8, w->inputs[@]), 2", "room for two")],
}
PAIRS["items", "count"] = PAIRS["pairs", "count"] = [C(c.code, c.shown) for c in PAIRS["values", "count"]]

# Parameters that mean more than their type says: by function (a beginning of its name) and name.
NAMED = {
    ("gale_number_write", "to"): [C("(char *)w->inputs[@]", "room"), C("NULL", "NULL")],
    ("gale_value_text", "number"): [C("(char *)w->inputs[@]", "room"), C("NULL", "NULL")],
    ("gale_json_append", "data"): [C("&w->text", "a text that grows"), C("NULL", "NULL")],
    ("gale_json_append", "size"): [C("&w->text_size", "its size"), C("NULL", "NULL")],
    ("gale_json_append", "room"): [C("&w->text_room", "its room"), C("NULL", "NULL")],
    ("gale_emit_many", "rows"): numbers("1", "0"),
    ("gale_emit_direct", "task"): numbers("3", "0", "1", "2", "4", "70000", "UINT32_MAX"),
    ("gale_emit", "stream"): numbers("0", "1", "2", "65536", "UINT32_MAX"),
    ("gale_remote", "stream"): numbers("0", "1", "2", "65536", "UINT32_MAX"),
    ("gale_topology_subscribe", "bolt"): [C('"work"', '"work"'), C('"source"', '"source"')] + TEXTS[1:],
    ("gale_topology", "source"): [C('"source"', '"source"'), C('"__system"', '"__system"')] + TEXTS[1:],
    ("gale_topology", "stream"): [C("NULL", "NULL"), C('"__dead_letter"', '"__dead_letter"')] + TEXTS[2:],
    ("gale_topology", "component"): [C('"work"', '"work"'), C('"gone"', '"gone"')] + TEXTS[1:],
    ("gale_topology", "key"): [C('"topology.debug"', '"topology.debug"'),
                               C('"topology.tasks"', '"topology.tasks"')] + TEXTS[1:],
    ("gale_runtime", "component"): [C('"work"', '"work"'), C('"gone"', '"gone"')] + TEXTS[1:],
    ("gale_tuple_get", "name"): TEXTS,
    ("gale_config", "key"): [C('"own.key"', '"own.key"'), C('"topology.workers"', '"topology.workers"'),
                             C('"topology.message.timeout.mode"', '"topology.message.timeout.mode"')] + TEXTS[1:],
    ("gale_config", "assignment"): [C('"a=1"', '"a=1"'), C('"=1"', '"=1"'), C('"a="', '"a="'), C('"a"', '"a"')] + TEXTS[1:],
    ("gale_config_text", "fallback"): SIZED["gale_str"],
    ("gale_save_pledge", "pledge"): [C("NULL", "NULL"), C("w->inputs[@]", "a pledge")],
    ("gale_rotating_map_put", "value"): [C("w->inputs[@]", "a value"), C("NULL", "NULL")],
    ("gale_runtime_wait", "nanoseconds"): numbers("0", "1", "-1", "INT64_MAX", "INT64_MIN"),
    ("gale_runtime_free", "nanoseconds"): numbers("-1", "0", "1", "INT64_MAX", "INT64_MIN"),
    ("gale_runtime_step_for", "nanoseconds"): numbers("0", "1", "1000"),  # without a bound it steps for ever
    ("gale_runtime_open_trees", "nanoseconds"): numbers("0", "1", "-1", "INT64_MAX", "INT64_MIN"),
    ("gale_dispatch_finish", "patience"): numbers("0", "1", "-1", "1000", "INT64_MIN"),  # it may hold something for ever
    ("gale_printer_bolt", "fd"): numbers("1", "0", "-1", "INT32_MAX", "INT32_MIN"),
}

# What options must say to be good; a field that is named here is not varied to NULL by chance alone.
GOOD = {
    "gale_file_spout_options": {"path": '"no such file"'},
    "gale_file_sink_options": {"path": '"no such file"'},
    "gale_net_spout_options": {"listen": '"127.0.0.1:0"'},
    "gale_net_sink_options": {"connect": '"127.0.0.1:9"'},
    "gale_dedupe_options": {"key": '"number"'},
    "gale_event_time_options": {"output": '"number"'},
    "gale_unique_options": {"key": '"number"'},
    "gale_time_cache_map_options": {"expiration": "GALE_SECOND", "shards": "2"},
    "gale_runtime_options": {"executors": "1"},
    "gale_watch_options": {"call": "on_watch"},
    "gale_metric_options": {"name": '"rows"'},
    "gale_tap_options": {"component": '"work"', "on_event": "on_event"},
}
LIES = [("0", "a size of 0"), ("4", "a size of 4"), ("SIZE_MAX", "a size of SIZE_MAX"), ("1u << 20", "a size of 1 MiB")]
UNLIKE = {"spins": ["UINT32_MAX"], "executors": ["0", "257", "UINT32_MAX"], "inactive": ["true"]}


def options(struct, fields):
    """Pointers to options: good, NULL, with a size that lies, of a newer header, and with each field wrong in turn."""
    good = {"size": f"sizeof({struct})", **GOOD.get(struct, {})}

    def made(**more):
        said = ", ".join(f".{k} = {v}" for k, v in {**good, **more}.items())
        return f"memcpy(memset(w->inputs[@], 0, ROOM), &(const {struct}){{ {said} }}, sizeof({struct}))"
    found = [C(made(), "options"), C("NULL", "NULL")]
    found += [C(made(size=size), f"options with {shown}") for size, shown in LIES]
    newer = made(size=f"sizeof({struct}) + 64")
    found.append(C(newer, "options of a newer header"))
    found.append(C(f"({newer}, w->inputs[@][sizeof({struct}) + 8] = 1, (void *)w->inputs[@])",
                   "options of a newer header, with more set"))
    for field, kind in fields.items():
        if field == "size":
            continue
        wrong = UNLIKE.get(field) or [c.code for c in (TEXTS if kind == "const char *" else NUMBERS.get(kind, []))]
        found += [C(made(**{field: value}), f"options with {field} {value}".replace('"', "'")) for value in wrong]
    return found


def outputs(kind, sized):
    """Places for an output. One that begins with its size has it set, in all the ways there are."""
    base = [C("an_output(w, @)", "a place"), C("NULL", "NULL")]
    if not sized:
        return base
    sizes = [(f"sizeof({kind})", "its size"), ("0", "size 0"), ("4", "size 4"), ("40", "size 40"), ("SIZE_MAX", "SIZE_MAX")]
    return [C(f"({{ size_t size = {size}; memcpy(w->inputs[@], &size, sizeof size); (void *)w->inputs[@]; }})",
              f"a place with {shown}") for size, shown in sizes] + base[1:]


# --- The candidates of a parameter ------------------------------------------------------------------------------------


def candidates(function, p, structs):
    for (beginning, name), found in NAMED.items():
        if p.name == name and function.name.startswith(beginning):
            return found
    bare = re.sub(r"^const ", "", p.type).removesuffix(" *")
    if p.type.endswith(" *") and bare in OBJECTS:
        return objects(bare)
    if p.type in SIZED:
        return SIZED[p.type]
    if p.name.startswith("ret_") and p.type.endswith("*"):
        return outputs(bare, bare in structs and not bare.endswith(("spout", "bolt")))
    if p.type in POINTERS:
        return POINTERS[p.type]
    if p.type in NUMBERS:
        return NUMBERS[p.type]
    if bare in structs and p.type.startswith("const "):
        return options(bare, structs[bare])
    if p.type == "void *" and p.name == "user":
        return [C("&freed_users", "a user")]
    raise SystemExit(f"{function.header}: {function.name}: what may be given for '{p.type}' {p.name}? Say so in {__file__}")


def slots(function, structs):
    """Lists of candidates: one a parameter, or one for a pointer and its count."""
    at = 0
    while at < len(function.parameters):
        p = function.parameters[at]
        both = (p.name, function.parameters[at + 1].name) if at + 1 < len(function.parameters) else None
        if p.type == "...":
            return
        pair = both in PAIRS
        found = PAIRS[both] if pair else candidates(function, p, structs)
        asserted = p.name in function.asserted
        yield at, 2 if pair else 1, [c._replace(code=c.code.replace("@", str(at)), asserted=c.asserted and asserted)
                                     for c in found]
        at += 2 if pair else 1


# --- Writing the program ----------------------------------------------------------------------------------------------

INSIDE = {"gale_collector *": "1u << SPOUT | 1u << BOLT", "gale_state *": "1u << SPOUT | 1u << BOLT", "gale_metric *": "1u << SPOUT | 1u << BOLT",
          **{f"{const}gale_{name} *": "1u << SPOUT | 1u << BOLT" for const in ("", "const ") for name in ("intake", "positions", "dispatch", "epochs")},
          "gale_remote *": "1u << SPOUT | 1u << BOLT",
          "const gale_context *": "1u << SPOUT | 1u << BOLT", "const gale_tuple *": "1u << BOLT",
          "const gale_body *": "1u << BOLT", "const gale_targets *": "1u << GROUPING"}
FROM_INSIDE_TOO = re.compile(r"gale_runtime_(?!new)")  # what a component should not do, and does


def roles(function):
    for p in function.parameters:
        if p.type in INSIDE:
            return INSIDE[p.type]
    return "1u << NOBODY | 1u << BOLT" if FROM_INSIDE_TOO.match(function.name) else "1u << NOBODY"


def declaration(p, name):
    if "(*)" in p.type:
        return p.type.replace("(*)", f"(*{name})")
    return f"{p.type}{'' if p.type.endswith('*') else ' '}{name}"


def split(code):
    """The two expressions of a pair."""
    *first, second = pieces(code)
    return ", ".join(first), second


def choices(function, place, count, found):
    """C that gives arguments `place` to `place + count` what was picked."""
    lines = [f"    switch (pick[{place[0]}]) {{"]
    for i, c in enumerate(found):
        codes = split(c.code) if count == 2 else [c.code]
        given = " ".join(f"a{place[1] + k} = {code};" for k, code in enumerate(codes))
        if c.for_checks:
            given = f"if (CHECKS) {{ {given} }}"
        lines.append(f"    case {i}: {given} break;")
    return lines + ["    }"]


def afterwards(function):
    """What is looked at when the call has returned."""
    lines = []
    coded = function.returns in ("int", "int64_t") and not function.name.endswith(("_compare", "_advance", "_field"))
    failed = "rc < 0" if coded else "!rc" if function.returns == "bool" else "false"
    if coded and "config" not in function.header and "gale_error" not in function.name and "log" != function.name:
        lines.append("    look_at_code(rc);")
    for i, p in enumerate(function.parameters):
        if p.type == "gale_error *" and "gale_error" not in function.name:
            answer = "rc ? 0 : w->error.code" if function.returns.endswith("*") else "rc"
            lines.append(f"    look_at_error(w, {answer}, a{i});")
        if p.name.startswith("ret_") and failed != "false":
            lines.append(f"    look_at_output(w, {i}, {failed});")
    return lines + owned(function)


MADE = {"gale_config *": "gale_config_free(rc)", "gale_topology *": "gale_topology_free(rc)",
        "gale_manual_clock *": "gale_manual_clock_free(rc)", "gale_positions *": "gale_positions_free(rc)", "char *": "gale_secret_free(rc)", "gale_value_owned *": "gale_value_owned_free(rc)"}
GIVEN = {"gale_rotating_map **": "gale_rotating_map_free(*a{})", "gale_time_cache_map **": "gale_time_cache_map_free(*a{})",
         "gale_runtime **": "(void)gale_runtime_free(*a{}, -1, NULL)", "gale_remote **": "gale_remote_close(*a{})",
         "gale_intake **": "gale_intake_free(*a{})", "gale_dispatch **": "gale_dispatch_free(*a{})",
         "gale_epochs **": "gale_epochs_free(*a{})",
         "gale_spout *": "give_back_spout(*a{})", "gale_bolt *": "give_back_bolt(*a{})"}
HELD_BY_WORLD = ["config", "topology", "runtime", "clock", "numbers", "bytes", "cache", "bytes_cache", "owned", "remote", "intake", "positions",
                 "dispatch", "epochs"]


def owned(function):
    """Frees what the call made, and forgets what it freed."""
    lines = [f"    {MADE[function.returns]};"] if function.returns in MADE else []
    for i, p in enumerate(function.parameters):
        if p.type in GIVEN and p.name.startswith("ret_"):
            lines.append(f"    if (rc == 0 && a{i}) {GIVEN[p.type].format(i)};")
        if p.name == "ret_held":
            lines.append(f"    if (rc == 0 && a{i}) w->held = *a{i};")
        if p.name == "ret_id":
            lines.append(f"    if (rc == 0 && a{i}) (void)gale_dispatch_ack(a0, *a{i});")
    if function.name.endswith(("_free", "_close")) and "const" not in function.parameters[0].type:
        done = "rc == 0 && " if function.returns == "int" else ""
        lines += [f"    if ({done}(void *)a0 == (void *)w->{name}) w->{name} = NULL;" for name in HELD_BY_WORLD]
    return lines


def write_function(function, structs):
    lists = list(slots(function, structs))
    name = function.name
    lines = [f"/* --- {name} */", ""]
    for i, (_, _, found) in enumerate(lists):
        shown = ", ".join('"' + c.shown.replace("\\", "\\\\").replace('"', '\\"') + '"' for c in found)
        lines.append(f"static const char *const names_{name}_{i}[] = {{ {shown} }};")
    lines += [f"static void call_{name}(world *w, const unsigned *pick) {{", "    (void)w, (void)pick;"]
    for i, p in enumerate(function.parameters):
        if p.type != "...":
            whole = p.type in SIZED and p.type != "gale_handle"
            lines.append(f"    {declaration(p, f'a{i}')} = {'{ 0 }' if whole else '0'};")
    for i, (at, count, found) in enumerate(lists):
        lines += choices(function, (i, at), count, found)
    given = ", ".join(f"a{i}" for i, p in enumerate(function.parameters) if p.type != "...")
    if function.returns == "void":
        lines.append(f"    {name}({given});")
    else:
        lines += [f"    {declaration(Parameter(function.returns, 'rc'), 'rc')} = {name}({given});", "    (void)rc;"]
    lines += afterwards(function) + ["}", ""]
    return lines


def bits(found, which):
    return sum(1 << i for i, c in enumerate(found) if getattr(c, which))


def write_entry(function, structs):
    lists = [found for _, _, found in slots(function, structs)]
    name = function.name

    def row(kind, items):
        return f"(const {kind}[]){{ {', '.join(items) or '0'} }}"
    names = row("char *const *const", [f"names_{name}_{i}" for i in range(len(lists))])
    return (f'    {{ "{name}", call_{name}, {roles(function)}, {len(lists)}, '
            f"{row('unsigned', [str(len(found)) for found in lists])},\n      {names},\n      "
            f"{row('unsigned', [str(bits(found, 'asserted')) for found in lists])}, "
            f"{row('unsigned', [str(bits(found, 'for_checks')) for found in lists])} }},")


HEAD = """/* Written by test/system/api_armour.py from the headers. */
#include "api_armour.h"

#pragma GCC diagnostic ignored "-Wformat-security"
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-zero-length"
#pragma GCC diagnostic ignored "-Wunused-value"
#pragma GCC diagnostic ignored "-Wpointer-sign"
"""
# A definition is added to a topology too, and given back if it cannot be.
GIVE_BACK = """
static void give_back_spout(gale_spout spout) {
    gale_topology *topology = gale_topology_new("made");
    gale_topology_add_spout(topology, "made", spout, 1);
    gale_topology_free(topology);
}

static void give_back_bolt(gale_bolt bolt) {
    gale_topology *topology = gale_topology_new("made");
    gale_topology_add_bolt(topology, "made", bolt, 1);
    gale_topology_free(topology);
}
"""
TAIL = """
int main(int argc, char **argv) {
    return run_functions(functions, sizeof functions / sizeof *functions, argc > 1 ? argv[1] : NULL);
}
"""


def functions(root):
    return [f for path in headers.public_headers(root) for f in functions_of(path)]


def write(root, target):
    structs, found = structs_of(root), functions(root)
    lines = [HEAD, GIVE_BACK]
    for function in found:
        lines += write_function(function, structs)
    lines += ["static const function functions[] = {"] + [write_entry(f, structs) for f in found] + ["};", TAIL]
    text = "\n".join(lines)
    path = pathlib.Path(target)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
    return 0


def covers(root, library):
    """Everything that the library exports is among the functions that are called, and nothing else is."""
    listed = subprocess.run(["nm", "-D", "--defined-only", "--format=posix", library], capture_output=True, text=True)
    functions_of_it = {line.split()[0] for line in listed.stdout.splitlines() if line.split()[1:2] == ["T"]}
    exported = {name.split("@")[0] for name in functions_of_it if name.startswith("gale_")}
    called = {f.name for f in functions(root)}
    for name in sorted(exported - called):
        print(f"{name} is exported, but no call of it was written")
    for name in sorted(called - exported):
        print(f"{name} is called, but not exported")
    print(f"{len(called)} functions are called, {len(exported)} exported")
    return 0 if exported == called and exported else 1


if __name__ == "__main__":
    root_, what, path_ = sys.argv[1:]
    sys.exit({"write": write, "covers": covers}[what](root_, path_))
