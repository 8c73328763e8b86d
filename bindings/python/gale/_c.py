"""The C side as ctypes sees it: structures, functions and numbers of the public headers, and nothing else.

Each structure is named after its C type (SpoutOps is gale_spout_ops) and has its fields, in its order. A test
(test/python/layout_test.py) compiles the headers and compares every size, offset, number and prototype that stands
here.
"""

import ctypes as c
import enum

pointer, text = c.c_void_p, c.c_char_p
size, i32, i64, u8, u16, u32, u64 = c.c_size_t, c.c_int32, c.c_int64, c.c_uint8, c.c_uint16, c.c_uint32, c.c_uint64


class Sized(c.Structure):
    """A structure that begins with its size, which says how much of it there is."""

    def __init__(self, **fields):
        super().__init__(size=c.sizeof(type(self)), **fields)


# --- Numbers ---------------------------------------------------------------------------------------------------------


class ErrorCode(enum.IntEnum):
    """What went wrong, as libgale counts it."""
    NO_MEMORY = -1
    INVALID = -2
    AGAIN = -3
    STOPPED = -4
    NOT_FOUND = -5
    EXISTS = -6
    TOPOLOGY = -7
    CONFIG = -8
    SYNTAX = -9
    SETTLED = -10
    FIELDS = -11
    TYPE = -12
    TOO_LARGE = -13
    IO = -14
    COMPONENT = -15
    UNSUPPORTED = -16
    STATE = -17
    TIMED_OUT = -18
    THREAD = -19
    CLOSED_PIPE = -20
    DAMAGED = -21


class Reason(enum.IntEnum):
    """Why a tuple failed. Numbers from USER are the application's own."""
    FAILED = 0
    REJECTED = 1
    TIMEOUT = 2
    DEADLINE = 3
    OVERFLOW = 4
    STOPPED = 5
    NO_MEMORY = 6
    CHILD_EXITED = 7
    SOURCE_LOST = 8
    USER = 1000


class Phase(enum.IntEnum):
    """How far a runtime is."""
    NEW = 0
    OPENING = 1
    RUNNING = 2
    DRAINING = 3
    FINISHING = 4
    CLOSING = 5
    CLOSED = 6


class WatchEvent(enum.IntFlag):
    """What happened to a watch. READ and WRITE can be asked for."""
    READ = 1
    WRITE = 2
    TIME = 4
    HANGUP = 8


class MetricKind(enum.IntEnum):
    COUNTER = 0
    GAUGE = 1
    HISTOGRAM = 2


class Place(enum.IntEnum):
    """Where a tuple of an open tree was found."""
    UNKNOWN = 0
    QUEUED = 1
    PARKED = 2
    FORGOTTEN = 3
    HELD = 4
    EXECUTING = 5
    WAITING = 6


class Type(enum.IntEnum):
    NULL = 0
    BOOL = 1
    I64 = 2
    F64 = 3
    STRING = 4
    BYTES = 5
    LIST = 6
    MAP = 7


class Next(enum.IntEnum):
    EMITTED = 0
    NOTHING = 1
    UNTIL = 2
    READABLE = 3
    DONE = 4
    WATCHED = 5


class BoltKind(enum.IntEnum):
    SIMPLE = 0
    MANUAL = 1


class GroupingKind(enum.IntEnum):
    SHUFFLE = 0
    FIELDS = 1
    ALL = 2
    GLOBAL = 3
    NONE = 4
    DIRECT = 5
    LOCAL_OR_SHUFFLE = 6
    PARTIAL_KEY = 7
    CUSTOM = 8


class Drop(enum.IntEnum):
    NOTHING = 0
    OLDEST = 1
    NEWEST = 2


class LogLevel(enum.IntEnum):
    TRACE = 0
    DEBUG = 1
    INFO = 2
    WARN = 3
    ERROR = 4
    OFF = 5


class TestOrder(enum.IntEnum):
    IN_ORDER = 0
    ANY_ORDER = 1
    CONTAINS = 2


class TestState(enum.IntEnum):
    """What became of a tuple that was fed."""
    WAITS = 0
    OPEN = 1
    ACKED = 2
    FAILED = 3


# How the constants of an enum begin in C.
PREFIXES = {ErrorCode: "GALE_", Reason: "GALE_REASON_", Phase: "GALE_PHASE_", WatchEvent: "GALE_WATCH_",
            MetricKind: "GALE_METRIC_", Place: "GALE_PLACE_", Type: "GALE_TYPE_", Next: "GALE_NEXT_",
            BoltKind: "GALE_BOLT_", GroupingKind: "GALE_GROUPING_", Drop: "GALE_DROP_", LogLevel: "GALE_LOG_",
            TestOrder: "GALE_TEST_", TestState: "GALE_TEST_"}

SECOND = 1000000000
ERROR_TEXT = 1000
FAILURE_TEXT = 200
MORE = 2 ** 30
OPEN_TREES_MAX = 1000
METRICS_MAX = 64
METRIC_NAMES_MAX = 1024
VALUE_DEPTH = 32
DURABLE_STATELESS = 2
DURABLE_KEYED = 4
FOREVER = 2 ** 63 - 1  # INT64_MAX

# --- Values and tuples -----------------------------------------------------------------------------------------------


class Str(c.Structure):
    _fields_ = [("data", pointer), ("size", size)]


class Value(c.Structure):
    """`bits` is the union `as`: ctypes passes no unions, and to the ABI eight bytes are eight bytes."""
    _fields_ = [("type", u8), ("encoded", u8), ("reserved", u16), ("size", u32), ("bits", u64)]


class Tuple(c.Structure):
    _fields_ = [("body", u64), ("head", u64), ("schema", u64), ("handle", u64), ("source", u32), ("stream", u32)]


# --- Components ------------------------------------------------------------------------------------------------------


class Error(Sized):
    _fields_ = [("size", size), ("code", i32), ("length", u32), ("text", c.c_char * ERROR_TEXT)]


class Clock(c.Structure):
    _fields_ = [("size", size), ("now", pointer), ("user", pointer)]


class Context(c.Structure):
    _fields_ = [("size", size), ("topology", text), ("component", text), ("task", u32), ("task_index", u32),
                ("task_count", u32), ("config", pointer), ("allocator", pointer), ("logger", pointer), ("clock", Clock),
                ("random", pointer), ("inputs", pointer), ("engine", pointer), ("durable", c.c_bool),
                ("resumes", c.c_bool), ("rate", c.c_double)]


class Failure(c.Structure):
    _fields_ = [("size", size), ("reason", i32), ("task", u32), ("component", text), ("text", text), ("attempts", u32),
                ("final", c.c_bool)]


class Wait(c.Structure):
    _fields_ = [("until", i64), ("fd", i32)]


OPEN = c.CFUNCTYPE(c.c_int, pointer, pointer, pointer, c.POINTER(pointer))
TELL = c.CFUNCTYPE(None, pointer)
NEXT = c.CFUNCTYPE(c.c_int, pointer, pointer, c.POINTER(Wait))
ACK = c.CFUNCTYPE(None, pointer, u64)
FAIL = c.CFUNCTYPE(None, pointer, u64, c.POINTER(Failure))
ACK_BATCH = c.CFUNCTYPE(None, pointer, pointer, size)
EXECUTE = c.CFUNCTYPE(c.c_int, pointer, pointer, pointer)
FLUSH = c.CFUNCTYPE(c.c_int, pointer, pointer)
SAVE = c.CFUNCTYPE(c.c_int, pointer, pointer)
RESTORE = c.CFUNCTYPE(c.c_int, pointer, pointer, pointer)
MIGRATE = c.CFUNCTYPE(c.c_int, pointer, u32, pointer, pointer)
COMMITTED = c.CFUNCTYPE(None, pointer, u64)
WATCH = c.CFUNCTYPE(c.c_int, pointer, pointer, u64, i32)
EACH = c.CFUNCTYPE(c.c_int, pointer, pointer, pointer)
LOG = c.CFUNCTYPE(None, pointer, i32, text, text)


class DurableOps(Sized):
    _fields_ = [("size", size), ("version", u32), ("flags", u32), ("save", SAVE), ("restore", RESTORE),
                ("migrate", MIGRATE), ("committed", COMMITTED)]


class SpoutOps(Sized):
    _fields_ = [("size", size), ("name", text), ("open", OPEN), ("activate", TELL), ("next", NEXT), ("ack", ACK),
                ("fail", FAIL), ("deactivate", TELL), ("close", TELL), ("ack_batch", ACK_BATCH),
                ("durable", c.POINTER(DurableOps))]


class BoltOps(Sized):
    _fields_ = [("size", size), ("name", text), ("kind", i32), ("prepare", OPEN), ("execute", EXECUTE),
                ("finish", FLUSH), ("cleanup", TELL), ("flush", FLUSH), ("execute_batch", EXECUTE),
                ("durable", c.POINTER(DurableOps)), ("reopen", FLUSH), ("drain", FLUSH)]


class Output(c.Structure):
    _fields_ = [("stream", text), ("fields", text)]


class Setting(c.Structure):
    _fields_ = [("key", text), ("value", Value)]


class Spout(Sized):
    _fields_ = [("size", size), ("ops", c.POINTER(SpoutOps)), ("user", pointer), ("free_user", TELL),
                ("outputs", c.POINTER(Output)), ("output_count", size), ("settings", c.POINTER(Setting)),
                ("setting_count", size)]


class Bolt(Sized):
    _fields_ = [("size", size), ("ops", c.POINTER(BoltOps)), ("user", pointer), ("free_user", TELL),
                ("outputs", c.POINTER(Output)), ("output_count", size), ("settings", c.POINTER(Setting)),
                ("setting_count", size)]


class WatchOptions(Sized):
    _fields_ = [("size", size), ("fd", i32), ("events", i32), ("at", i64), ("always", c.c_bool), ("call", WATCH),
                ("user", pointer)]


class MetricLabel(c.Structure):
    _fields_ = [("name", text), ("value", text)]


class MetricOptions(Sized):
    _fields_ = [("size", size), ("name", text), ("kind", i32), ("help", text), ("labels", c.POINTER(MetricLabel)),
                ("label_count", u32)]


class StateOptions(Sized):
    _fields_ = [("size", size), ("name", text), ("time_to_live", c.c_double), ("route", u32)]


# --- Topologies ------------------------------------------------------------------------------------------------------


class Targets(c.Structure):
    _fields_ = [("size", size), ("source", text), ("stream", text), ("consumer", text), ("source_task", u32),
                ("first_task", u32), ("task_count", u32), ("random", pointer), ("engine", pointer)]


PREPARE_GROUPING = c.CFUNCTYPE(c.c_int, pointer, c.POINTER(Targets), c.POINTER(pointer))
CHOOSE = c.CFUNCTYPE(c.c_int, pointer, c.POINTER(Targets), pointer, size, c.POINTER(u32))


class CustomOps(Sized):
    _fields_ = [("size", size), ("name", text), ("prepare", PREPARE_GROUPING), ("choose", CHOOSE), ("release", TELL)]


class Grouping(Sized):
    _fields_ = [("size", size), ("kind", i32), ("fields", text), ("custom", c.POINTER(CustomOps)), ("user", pointer),
                ("free_user", TELL), ("drop", i32)]


class TopologyFileOptions(Sized):
    _fields_ = [("size", size), ("properties", text), ("environment", c.c_bool), ("settings", c.POINTER(Setting)),
                ("setting_count", size), ("sets", c.POINTER(text)), ("set_count", size), ("logger", pointer),
                ("plugins", c.POINTER(text)), ("plugin_count", size), ("open", c.c_bool)]


# --- Runtimes --------------------------------------------------------------------------------------------------------


class Logger(Sized):
    _fields_ = [("size", size), ("level", i32), ("write", LOG), ("user", pointer)]


class Store(c.Structure):
    _fields_ = [("size", size), ("self", pointer), ("get", pointer), ("iterate", pointer), ("put", pointer),
                ("remove", pointer), ("commit", pointer), ("abandon", pointer), ("tidy", pointer), ("about", pointer),
                ("close", TELL)]


class StoreOptions(Sized):
    _fields_ = [("size", size), ("folder", text), ("topology", text), ("create", c.c_bool), ("cache_bytes", u64),
                ("log_bytes", u64), ("allocator", pointer), ("read_only", c.c_bool)]


class ServerOptions(Sized):
    _fields_ = [("size", size), ("hidden", c.c_bool), ("listen", text), ("token_file", text), ("certificate", text),
                ("key", text), ("file", text)]


class RuntimeOptions(Sized):
    _fields_ = [("size", size), ("allocator", pointer), ("logger", c.POINTER(Logger)), ("clock", pointer),
                ("seed", u64), ("executors", u32), ("spins", u32), ("ring_memory", u64), ("until_drained", c.c_bool),
                ("inactive", c.c_bool), ("queue_limit", u64), ("inline_blocking", c.c_bool),
                ("store", c.POINTER(Store)), ("checkpoint_interval", i64), ("state_memory", u64),
                ("adopt", c.POINTER(text)), ("adopt_count", u32)]


class RunStats(Sized):
    _fields_ = [("size", size), ("phase", i32), ("trees", u64), ("acked", u64), ("failed", u64), ("timed_out", u64),
                ("stopped", u64), ("open", u64), ("stale", u64), ("executed", u64), ("memory_in_use", u64),
                ("memory_reserved", u64), ("allocations", u64), ("complete_p50", i64), ("complete_p99", i64),
                ("complete_max", i64), ("elapsed", i64), ("rejected", u64), ("replayed", u64), ("given_up", u64),
                ("dead_letters", u64), ("dead_letters_lost", u64), ("retained_bytes", u64)]


class TaskStats(Sized):
    _fields_ = [("size", size), ("task", u32), ("executor", u32), ("component", text), ("spout", c.c_bool),
                ("congested", c.c_bool), ("executed", u64), ("emitted", u64), ("transferred", u64), ("acked", u64),
                ("failed", u64), ("timed_out", u64), ("forgotten", u64), ("misused", u64), ("errors", u64),
                ("ticks", u64), ("held", u64), ("queued_bytes", u64), ("execute_samples", u64),
                ("execute_nanoseconds", u64), ("execute_nanoseconds_max", u64), ("done", c.c_bool), ("held_by", u32),
                ("shed", u64), ("overflowed", u64), ("rejected", u64), ("expired", u64), ("dropped", u64),
                ("queued_bytes_max", u64), ("held_nanoseconds", u64), ("held_mostly_nanoseconds", u64),
                ("held_mostly_by", u32), ("pending_limit", u64), ("pending_nanoseconds", u64),
                ("hold", c.c_int32), ("hold_by", u32), ("hold_since", i64), ("rate", c.c_double), ("stopped", u64)]


class MetricStats(Sized):
    _fields_ = [("size", size), ("name", text), ("help", text), ("kind", i32), ("tasks", u32), ("value", c.c_double),
                ("count", u64), ("max", c.c_double), ("p50", c.c_double), ("p90", c.c_double), ("p99", c.c_double),
                ("labels", c.POINTER(MetricLabel)), ("label_count", u32)]


class CheckpointStats(Sized):
    _fields_ = [("size", size), ("number", u64), ("resumed", u64), ("count", u64), ("put_off", u64), ("time", i64),
                ("took", i64), ("held", i64), ("held_max", i64), ("bytes", u64), ("dropped", u64), ("again", u64),
                ("wall", i64), ("complete", c.c_bool), ("held_p50", i64), ("held_p99", i64), ("took_p50", i64),
                ("took_p99", i64), ("took_max", i64), ("bytes_max", u64), ("owed", i64)]


class Unwell(c.Structure):
    _fields_ = [("size", size), ("component", text), ("task", u32), ("open", c.c_bool), ("since", i64),
                ("text", c.c_char * (FAILURE_TEXT + 1))]


class OpenTree(c.Structure):
    _fields_ = [("size", size), ("spout", text), ("spout_task", u32), ("task", u32), ("message_id", u64), ("age", i64),
                ("component", text), ("place", i32), ("text", c.c_char * (FAILURE_TEXT + 1))]


# --- Tests -----------------------------------------------------------------------------------------------------------


class TestStandIn(c.Structure):
    _fields_ = [("component", text), ("bolt", Bolt)]


class TestEdge(c.Structure):
    _fields_ = [("from", text), ("to", text)]


class TestOptions(Sized):
    _fields_ = [("size", size), ("seed", u64), ("executors", u32), ("faults", text), ("logger", pointer),
                ("stand_ins", c.POINTER(TestStandIn)), ("stand_in_count", size), ("edges", c.POINTER(TestEdge)),
                ("edge_count", size), ("kept", c.POINTER(text)), ("kept_count", size)]


class TestInput(c.Structure):
    _fields_ = [("component", text), ("stream", text), ("fields", text)]


class TestAnswer(Sized):
    _fields_ = [("size", size), ("state", i32), ("reason", i32), ("attempts", u32), ("final", c.c_bool),
                ("component", text), ("text", text)]


# --- Functions -------------------------------------------------------------------------------------------------------

GALE = {
    "gale_version": (text,),
    "gale_error_text": (text, c.c_int),
    "gale_config_size": (size, pointer),
    "gale_config_at": (c.c_bool, pointer, size, c.POINTER(Str), pointer),
    "gale_topology_new": (pointer, text),
    "gale_topology_free": (None, pointer),
    "gale_topology_name": (text, pointer),
    "gale_topology_add_spout": (c.c_int, pointer, text, Spout, u32),
    "gale_topology_add_bolt": (c.c_int, pointer, text, Bolt, u32),
    "gale_topology_subscribe": (c.c_int, pointer, text, text, text, Grouping),
    "gale_topology_set": (c.c_int, pointer, text, text, Value),
    "gale_topology_check": (c.c_int, pointer, c.POINTER(Error)),
    "gale_logger_stderr": (Logger, i32),
    "gale_runtime_new": (c.c_int, pointer, c.POINTER(RuntimeOptions), c.POINTER(pointer), c.POINTER(Error)),
    "gale_runtime_start": (c.c_int, pointer, c.POINTER(Error)),
    "gale_runtime_step_for": (i64, pointer, i64),
    "gale_runtime_fd": (c.c_int, pointer),
    "gale_runtime_drain": (None, pointer),
    "gale_runtime_stop": (None, pointer),
    "gale_runtime_suspend": (None, pointer),
    "gale_runtime_activate": (None, pointer),
    "gale_runtime_deactivate": (None, pointer),
    "gale_runtime_reopen": (None, pointer),
    "gale_runtime_wait": (c.c_int, pointer, i64, c.POINTER(Error)),
    "gale_runtime_free": (c.c_int, pointer, i64, c.POINTER(Error)),
    "gale_runtime_commit": (c.c_int, pointer, c.POINTER(Error)),
    "gale_runtime_checkpoint": (c.c_int, pointer, i64, c.POINTER(u64)),
    "gale_runtime_checkpoint_stats": (c.c_bool, pointer, c.POINTER(CheckpointStats)),
    "gale_runtime_stats": (None, pointer, c.POINTER(RunStats)),
    "gale_runtime_task_count": (u32, pointer),
    "gale_runtime_task_stats": (c.c_bool, pointer, u32, c.POINTER(TaskStats)),
    "gale_runtime_metric_stats": (c.c_bool, pointer, u32, u32, c.POINTER(MetricStats)),
    "gale_runtime_metric": (c.c_int, pointer, text, text, pointer, u32, pointer, c.POINTER(MetricStats)),
    "gale_runtime_metric_series": (c.c_int, pointer, text, text, c.POINTER(MetricLabel), u32, pointer, u32, pointer,
                                   c.POINTER(MetricStats)),
    "gale_runtime_failures": (u64, pointer, text, i32),
    "gale_runtime_open_trees": (c.c_int, pointer, c.POINTER(OpenTree), u32, i64),
    "gale_runtime_lost": (c.c_bool, pointer),
    "gale_runtime_unwell": (c.c_int, pointer, c.POINTER(Unwell), u32),
    "gale_state_open": (c.c_int, pointer, c.POINTER(StateOptions), c.POINTER(pointer)),
    "gale_state_get": (c.c_int, pointer, pointer, pointer),
    "gale_state_put": (c.c_int, pointer, pointer, pointer),
    "gale_state_remove": (c.c_int, pointer, pointer),
    "gale_state_add": (c.c_int, pointer, pointer, i64, c.POINTER(i64)),
    "gale_state_each": (c.c_int, pointer, EACH, pointer),
    "gale_context_now": (i64, pointer),
    "gale_context_random": (u64, pointer),
    "gale_emit": (c.c_int, pointer, u32, pointer, size),
    "gale_emit_anchored": (c.c_int, pointer, u32, pointer, size, pointer, size),
    "gale_emit_tracked": (c.c_int, pointer, u32, pointer, size, u64),
    "gale_emit_many": (c.c_int, pointer, u32, pointer, size, size, c.POINTER(size)),
    "gale_emit_many_tracked": (c.c_int, pointer, u32, pointer, size, size, pointer, c.POINTER(size)),
    "gale_emit_direct": (c.c_int, pointer, u32, u32, pointer, size),
    "gale_emit_direct_anchored": (c.c_int, pointer, u32, u32, pointer, size, pointer, size),
    "gale_emit_direct_tracked": (c.c_int, pointer, u32, u32, pointer, size, u64),
    "gale_ack": (c.c_int, pointer, u64),
    "gale_fail": (c.c_int, pointer, u64, i32, text),
    "gale_tuple_hold": (c.c_int, pointer, u64, c.POINTER(u64)),
    "gale_held": (pointer, pointer, u64),
    "gale_reset_timeout": (c.c_int, pointer, u64),
    "gale_congest": (c.c_int, pointer, c.c_bool),
    "gale_health": (None, pointer, text),
    "gale_part_is_full": (c.c_bool, pointer),
    "gale_report": (None, pointer, text),
    "gale_pending": (u64, pointer),
    "gale_room": (u64, pointer),
    "gale_stop": (None, pointer, c.c_int, text),
    "gale_batch_next": (pointer, pointer),
    "gale_tuple_size": (size, pointer),
    "gale_tuple_component": (text, pointer),
    "gale_tuple_stream": (text, pointer),
    "gale_tuple_field": (text, pointer, size),
    "gale_watch_new": (c.c_int, pointer, c.POINTER(WatchOptions), c.POINTER(u64)),
    "gale_watch_set": (c.c_int, pointer, u64, i32, i64),
    "gale_watch_free": (c.c_int, pointer, u64),
    "gale_metric_kind_name": (text, i32),
    "gale_metric_new": (c.c_int, pointer, c.POINTER(MetricOptions), c.POINTER(pointer)),
    "gale_metric_note": (c.c_int, pointer, c.c_double),
    "gale_remote_open": (c.c_int, pointer, c.POINTER(pointer)),
    "gale_remote_close": (None, pointer),
    "gale_remote_emit": (c.c_int, pointer, u32, pointer, size, pointer, size),
    "gale_remote_emit_tracked": (c.c_int, pointer, u32, pointer, size, u64),
    "gale_remote_ack": (c.c_int, pointer, u64),
    "gale_remote_fail": (c.c_int, pointer, u64, i32, text),
    "gale_save": (c.c_int, pointer, pointer, size),
    "gale_saved_next": (c.c_int, pointer, c.POINTER(pointer), c.POINTER(size)),
}

SIM = {
    "gale_test_new": (c.c_int, pointer, c.POINTER(TestOptions), c.POINTER(pointer), c.POINTER(Error)),
    "gale_test_new_for_bolt": (c.c_int, Bolt, c.POINTER(TestInput), size, c.POINTER(TestOptions), c.POINTER(pointer),
                               c.POINTER(Error)),
    "gale_test_new_for_spout": (c.c_int, Spout, c.POINTER(TestOptions), c.POINTER(pointer), c.POINTER(Error)),
    "gale_test_free": (None, pointer),
    "gale_test_feed": (i64, pointer, text, text, pointer, size, c.POINTER(Error)),
    "gale_test_settle": (c.c_int, pointer, c.POINTER(Error)),
    "gale_test_advance": (c.c_int, pointer, i64, c.POINTER(Error)),
    "gale_test_finish": (c.c_int, pointer, c.POINTER(Error)),
    "gale_test_now": (i64, pointer),
    "gale_test_differs": (text, pointer, text, text, i32, pointer, size, size),
    "gale_test_take": (c.c_int, pointer, text, text, c.POINTER(pointer), c.POINTER(size)),
    "gale_test_report": (text, pointer, text, size),
    "gale_test_answer_of": (c.c_int, pointer, u64, c.POINTER(TestAnswer)),
    "gale_test_not_acked": (text, pointer),
    "gale_test_not_failed": (text, pointer, u64, i32, text),
}

FRONT = {
    "gale_topology_from_file": (c.c_int, text, c.POINTER(TopologyFileOptions), c.POINTER(pointer), c.POINTER(Error)),
    "gale_topology_from_text": (c.c_int, text, Str, c.POINTER(TopologyFileOptions), c.POINTER(pointer),
                                c.POINTER(Error)),
}

SERVE = {
    "gale_server_start": (c.c_int, c.POINTER(ServerOptions), pointer, pointer, c.POINTER(Logger), c.POINTER(pointer),
                          c.POINTER(Error)),
    "gale_server_url": (text, pointer),
    "gale_server_stop": (c.c_bool, pointer, c.c_int),
}

STORE = {
    "gale_store_open": (c.c_int, c.POINTER(StoreOptions), c.POINTER(Store), c.POINTER(Error)),
}
