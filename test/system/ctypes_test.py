#!/usr/bin/env python3
"""Spouts and bolts in a language that includes no C header: Python calls libgale.so through ctypes, without a line of C in
between. Everything that the headers define inline is called as the function of the same name that the library exports.

usage: ctypes_test.py LIBGALE.SO
"""

import ctypes as c
import sys
import unittest

gale = None  # the library

STOPPED, SETTLED, FIELDS = -4, -10, -11
NEXT_EMITTED, NEXT_DONE = 0, 4
SIMPLE, MANUAL = 0, 1
NULL, BOOL, I64, F64, STRING, BYTES, LIST, MAP = range(8)


class Value(c.Structure):
    """gale_value; `bits` is its union, as a number. (ctypes passes no unions; as eight bytes it is the same to the ABI.)"""
    _fields_ = [("type", c.c_uint8), ("encoded", c.c_uint8), ("reserved", c.c_uint16), ("size", c.c_uint32),
                ("bits", c.c_uint64)]

    def bytes(self):
        return c.string_at(self.bits, self.size)


class Str(c.Structure):
    _fields_ = [("data", c.c_void_p), ("size", c.c_size_t)]


class Error(c.Structure):
    _fields_ = [("size", c.c_size_t), ("code", c.c_int32), ("length", c.c_uint32), ("text", c.c_char * 1000)]

    def __init__(self):
        super().__init__(size=c.sizeof(Error))


class Clock(c.Structure):
    _fields_ = [("size", c.c_size_t), ("now", c.c_void_p), ("user", c.c_void_p)]


class Grouping(c.Structure):
    _fields_ = [("size", c.c_size_t), ("kind", c.c_int32), ("fields", c.c_char_p), ("custom", c.c_void_p),
                ("user", c.c_void_p), ("free_user", c.c_void_p), ("drop", c.c_int32)]


class Output(c.Structure):
    _fields_ = [("stream", c.c_char_p), ("fields", c.c_char_p)]


class Definition(c.Structure):
    """gale_spout and gale_bolt."""
    _fields_ = [("size", c.c_size_t), ("ops", c.c_void_p), ("user", c.c_void_p), ("free_user", c.c_void_p),
                ("outputs", c.POINTER(Output)), ("output_count", c.c_size_t), ("settings", c.c_void_p),
                ("setting_count", c.c_size_t)]


class RuntimeOptions(c.Structure):
    _fields_ = [("size", c.c_size_t), ("allocator", c.c_void_p), ("logger", c.c_void_p), ("clock", c.POINTER(Clock)),
                ("seed", c.c_uint64), ("executors", c.c_uint32), ("spins", c.c_uint32), ("ring_memory", c.c_uint64),
                ("until_drained", c.c_bool), ("inactive", c.c_bool), ("queue_limit", c.c_uint64),
                ("inline_blocking", c.c_bool)]


void, pointer, u32, u64, i64 = None, c.c_void_p, c.c_uint32, c.c_uint64, c.c_int64
values = c.POINTER(Value)
OPEN = c.CFUNCTYPE(c.c_int, pointer, pointer, pointer, c.POINTER(pointer))
NEXT = c.CFUNCTYPE(c.c_int, pointer, pointer, pointer)
EXECUTE = c.CFUNCTYPE(c.c_int, pointer, pointer, pointer)
ACK = c.CFUNCTYPE(void, pointer, u64)
FAIL = c.CFUNCTYPE(void, pointer, u64, pointer)
EMIT = c.CFUNCTYPE(c.c_int, pointer, u32, values, c.c_size_t)


class SpoutOps(c.Structure):
    _fields_ = [("size", c.c_size_t), ("name", c.c_char_p), ("open", OPEN), ("activate", pointer), ("next", NEXT),
                ("ack", ACK), ("fail", FAIL), ("deactivate", pointer), ("close", pointer)]


class BoltOps(c.Structure):
    _fields_ = [("size", c.c_size_t), ("name", c.c_char_p), ("kind", c.c_int32), ("prepare", pointer),
                ("execute", EXECUTE), ("finish", pointer), ("cleanup", pointer)]


class CollectorOps(c.Structure):
    _fields_ = [("size", c.c_size_t), ("emit", EMIT)] + [(f"unused{i}", pointer) for i in range(14)]


PROTOTYPES = {
    "gale_null": (Value,), "gale_bool": (Value, c.c_bool), "gale_i64": (Value, i64), "gale_f64": (Value, c.c_double),
    "gale_string": (Value, c.c_char_p, c.c_size_t), "gale_text": (Value, c.c_char_p),
    "gale_bytes": (Value, c.c_char_p, c.c_size_t), "gale_list": (Value, values, c.c_size_t),
    "gale_map": (Value, values, c.c_size_t), "gale_value_equal": (c.c_bool, values, values),
    "gale_list_at": (Value, values, c.c_size_t), "gale_map_get": (c.c_bool, values, Str, values),
    "gale_tuple_size": (c.c_size_t, pointer), "gale_tuple_value": (Value, pointer, c.c_size_t),
    "gale_tuple_handle": (u64, pointer), "gale_tuple_component": (c.c_char_p, pointer),
    "gale_emit": (c.c_int, pointer, u32, values, c.c_size_t),
    "gale_emit_anchored": (c.c_int, pointer, u32, values, c.c_size_t, c.POINTER(u64), c.c_size_t),
    "gale_emit_tracked": (c.c_int, pointer, u32, values, c.c_size_t, u64),
    "gale_ack": (c.c_int, pointer, u64), "gale_fail": (c.c_int, pointer, u64, c.c_int32, c.c_char_p),
    "gale_tuple_hold": (c.c_int, pointer, u64, c.POINTER(u64)), "gale_held": (pointer, pointer, u64),
    "gale_pending": (u64, pointer), "gale_context_now": (i64, pointer), "gale_context_random": (u64, pointer),
    "gale_fields": (Grouping, c.c_char_p), "gale_shuffle": (Grouping,), "gale_all": (Grouping,),
    "gale_global": (Grouping,), "gale_none": (Grouping,), "gale_direct": (Grouping,),
    "gale_local_or_shuffle": (Grouping,), "gale_partial_key": (Grouping, c.c_char_p),
    "gale_drop_oldest": (Grouping, Grouping), "gale_time_cache_map_seconds": (i64, c.c_double),
    "gale_topology_new": (pointer, c.c_char_p), "gale_topology_free": (void, pointer),
    "gale_topology_add_spout": (c.c_int, pointer, c.c_char_p, Definition, u32),
    "gale_topology_add_bolt": (c.c_int, pointer, c.c_char_p, Definition, u32),
    "gale_topology_subscribe": (c.c_int, pointer, c.c_char_p, c.c_char_p, c.c_char_p, Grouping),
    "gale_topology_set": (c.c_int, pointer, c.c_char_p, c.c_char_p, Value),
    "gale_topology_check": (c.c_int, pointer, c.POINTER(Error)),
    "gale_runtime_new": (c.c_int, pointer, c.POINTER(RuntimeOptions), c.POINTER(pointer), c.POINTER(Error)),
    "gale_runtime_step": (i64, pointer), "gale_runtime_free": (c.c_int, pointer, i64, c.POINTER(Error)),
    "gale_manual_clock_new": (pointer, i64), "gale_manual_clock_free": (void, pointer),
    "gale_manual_clock_handle": (Clock, pointer), "gale_count_bolt": (c.c_int, c.c_int32, c.POINTER(Definition), pointer),
}


def load(path):
    library = c.CDLL(path)
    for name, (result, *arguments) in PROTOTYPES.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


def array(*items):
    return (Value * len(items))(*items)


def spout(next_, ack=None, open_=None):
    ops = SpoutOps(size=c.sizeof(SpoutOps), name=b"python", next=NEXT(next_))
    if ack:
        ops.ack = ACK(lambda self, message: ack(message))
    if open_:
        ops.open = OPEN(open_)
    return ops


def bolt(kind, execute):
    return BoltOps(size=c.sizeof(BoltOps), name=b"python", kind=kind,
                   execute=EXECUTE(lambda self, tuple_, out: execute(tuple_, out)))


class Topology:
    """A topology, and what its C side points to."""

    def __init__(self):
        self.kept, self.topology = [], gale.gale_topology_new(b"python")
        self.clock = gale.gale_manual_clock_new(0)

    def definition(self, ops, fields):
        outputs = (Output * 1)(Output(None, fields))
        self.kept += [ops, outputs]
        return Definition(size=c.sizeof(Definition), ops=c.addressof(ops), outputs=outputs,
                          output_count=1 if fields else 0)

    def add_spout(self, name, ops, fields):
        return gale.gale_topology_add_spout(self.topology, name, self.definition(ops, fields), 1)

    def add_bolt(self, name, ops, fields, source, grouping, tasks=1):
        rc = gale.gale_topology_add_bolt(self.topology, name, self.definition(ops, fields), tasks)
        return rc or gale.gale_topology_subscribe(self.topology, name, source, None, grouping)

    def run(self):
        error, runtime = Error(), pointer()
        clock = gale.gale_manual_clock_handle(self.clock)
        options = RuntimeOptions(size=c.sizeof(RuntimeOptions), clock=c.pointer(clock), seed=1, executors=2,
                                 until_drained=True)
        rc = gale.gale_runtime_new(self.topology, c.byref(options), c.byref(runtime), c.byref(error))
        assert rc == 0, error.text
        for _ in range(100000):
            if gale.gale_runtime_step(runtime) == STOPPED:
                break
        else:
            raise AssertionError("it does not end")
        assert gale.gale_runtime_free(runtime, -1, c.byref(error)) == 0, error.text
        gale.gale_topology_free(self.topology)
        gale.gale_manual_clock_free(self.clock)


class Numbers:
    """A spout of the numbers below `count`, tracked; remembers what it hears."""

    def __init__(self, count):
        self.at, self.count, self.acked = 0, count, []
        self.ops = spout(self.next, self.acked.append)

    def next(self, self_, out, wait):
        if self.at == self.count:
            return NEXT_DONE
        rc = gale.gale_emit_tracked(out, 0, array(gale.gale_i64(self.at % 3), gale.gale_i64(self.at)), 2, self.at)
        self.at += 1
        return rc if rc < 0 else NEXT_EMITTED


class Case(unittest.TestCase):
    """What is raised inside a callback cannot pass through C: it is gathered, and fails the test."""

    def setUp(self):
        self.raised, sys.unraisablehook = [], lambda what: self.raised.append(what.exc_value)

    def tearDown(self):
        sys.unraisablehook = sys.__unraisablehook__
        for error in self.raised:
            raise error


class Values(Case):
    def test_values_of_all_types_are_made(self):
        self.assertEqual(gale.gale_null().type, NULL)
        self.assertEqual((gale.gale_bool(True).type, gale.gale_bool(True).bits), (BOOL, 1))
        self.assertEqual(c.c_int64(gale.gale_i64(-7).bits).value, -7)
        self.assertEqual(gale.gale_f64(1.0).bits, 0x3ff0000000000000)
        text = b"gr\xc3\xbcn"
        self.assertEqual((gale.gale_text(text).type, gale.gale_text(text).bytes()), (STRING, text))
        self.assertEqual((gale.gale_bytes(b"\0\xff", 2).type, gale.gale_bytes(b"\0\xff", 2).size), (BYTES, 2))

    def test_lists_and_maps_are_read_back(self):
        pairs = array(gale.gale_text(b"one"), gale.gale_i64(1), gale.gale_text(b"two"), gale.gale_i64(2))
        made = gale.gale_map(pairs, 2)
        found, key = Value(), c.create_string_buffer(b"two")
        self.assertTrue(gale.gale_map_get(c.byref(made), Str(c.addressof(key), 3), c.byref(found)))
        self.assertEqual(found.bits, 2)
        made = gale.gale_list(pairs, 4)
        self.assertEqual(gale.gale_list_at(c.byref(made), 0).bytes(), b"one")
        self.assertEqual(gale.gale_list_at(c.byref(made), 4).type, NULL)
        self.assertTrue(gale.gale_value_equal(c.byref(made), c.byref(made)))

    def test_seconds_are_nanoseconds(self):
        self.assertEqual(gale.gale_time_cache_map_seconds(1.5), 1500000000)

    def test_groupings_say_what_they_are(self):
        kinds = [gale.gale_shuffle(), gale.gale_fields(b"a"), gale.gale_all(), gale.gale_global(), gale.gale_none(),
                 gale.gale_direct(), gale.gale_local_or_shuffle(), gale.gale_partial_key(b"b")]
        self.assertEqual([grouping.kind for grouping in kinds], list(range(8)))
        self.assertEqual([grouping.size for grouping in kinds], [c.sizeof(Grouping)] * 8)
        self.assertEqual((kinds[1].fields, kinds[7].fields), (b"a", b"b"))
        self.assertEqual(gale.gale_drop_oldest(gale.gale_all()).drop, 1)

    def test_a_collector_may_be_pythons_own(self):
        emitted = []

        def emit(out, stream, given, count):
            emitted.append((stream, [given[i].bits for i in range(count)]))
            return 1
        ops = CollectorOps(size=c.sizeof(CollectorOps), emit=EMIT(emit))
        collector = c.pointer(ops)  # struct gale_collector { const gale_collector_ops *ops; }
        self.assertEqual(gale.gale_emit(c.addressof(collector), 3, array(gale.gale_i64(5), gale.gale_i64(6)), 2), 1)
        self.assertEqual(emitted, [(3, [5, 6])])


class Topologies(Case):
    def test_fields_go_to_one_task_and_every_tuple_is_acked(self):
        numbers, topology, sums = Numbers(300), Topology(), {}

        def pass_on(tuple_, out):
            self.assertEqual(gale.gale_tuple_size(tuple_), 2)
            self.assertEqual(gale.gale_tuple_component(tuple_), b"numbers")
            key, number = gale.gale_tuple_value(tuple_, 0), gale.gale_tuple_value(tuple_, 1)
            rc = gale.gale_emit(out, 0, array(key, gale.gale_i64(2 * number.bits)), 2)
            return min(rc, 0)

        def add(tuple_, out):
            key = gale.gale_tuple_value(tuple_, 0).bits
            sums[key] = sums.get(key, 0) + gale.gale_tuple_value(tuple_, 1).bits
            return 0
        self.assertEqual(topology.add_spout(b"numbers", numbers.ops, b"key, number"), 0)
        self.assertEqual(topology.add_bolt(b"double", bolt(SIMPLE, pass_on), b"key, number", b"numbers",
                                           gale.gale_fields(b"key"), 3), 0)
        self.assertEqual(topology.add_bolt(b"sum", bolt(SIMPLE, add), None, b"double", gale.gale_global()), 0)
        topology.run()
        self.assertEqual(sums, {key: sum(2 * n for n in range(300) if n % 3 == key) for key in range(3)})
        self.assertEqual(sorted(numbers.acked), list(range(300)))

    def test_a_manual_bolt_holds_anchors_and_answers(self):
        numbers, topology, seen, second = Numbers(20), Topology(), [], []

        def answer(tuple_, out):
            held = u64()
            self.assertEqual(gale.gale_tuple_hold(out, gale.gale_tuple_handle(tuple_), c.byref(held)), 0)
            kept = gale.gale_held(out, held)
            values_ = array(gale.gale_tuple_value(kept, 1))
            self.assertEqual(gale.gale_emit_anchored(out, 0, values_, 1, c.byref(held), 1), 1)
            self.assertEqual(gale.gale_emit(out, 0, values_, 2), FIELDS) if values_[0].bits == 7 else None
            self.assertEqual(gale.gale_ack(out, held), 0)
            second.append(gale.gale_ack(out, held))
            return 0

        def take(tuple_, out):
            seen.append(gale.gale_tuple_value(tuple_, 0).bits)
            return 0
        topology.add_spout(b"numbers", numbers.ops, b"key, number")
        topology.add_bolt(b"answer", bolt(MANUAL, answer), b"number", b"numbers", gale.gale_shuffle())
        topology.add_bolt(b"take", bolt(SIMPLE, take), None, b"answer", gale.gale_all())
        topology.run()
        self.assertEqual(sorted(seen), list(range(20)))
        self.assertEqual(second, [SETTLED] * 20)
        self.assertEqual(sorted(numbers.acked), [n for n in range(20) if n != 7])  # its second emit did not fit

    def test_a_component_asks_its_context(self):
        found, topology = {}, Topology()

        def open_(user, context, out, ret_self):
            found.update(now=gale.gale_context_now(context), random=gale.gale_context_random(context),
                         pending=gale.gale_pending(out))
            return 0
        topology.add_spout(b"source", spout(lambda self_, out, wait: NEXT_DONE, open_=open_), b"x")
        topology.add_bolt(b"take", bolt(SIMPLE, lambda tuple_, out: 0), None, b"source", gale.gale_shuffle())
        topology.run()
        self.assertEqual((found["now"], found["pending"]), (0, 0))
        self.assertNotEqual(found["random"], 0)


if __name__ == "__main__":
    gale = load(sys.argv.pop(1))
    unittest.main()
