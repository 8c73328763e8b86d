#!/usr/bin/env python3
"""gale.bolt.Protobuf and gale.bolt.ProtobufFormat, beside protoc.

usage: protobuf_test.py GALE PLUGINS
"""

import json
import shutil
import subprocess
import sys
import unittest

import case
from case import Case

SHOP = """
syntax = "proto3";
package shop;
import "kinds.proto";
message Item { string sku = 1; int32 count = 2; Item part = 3; }
message All {
  double d = 1; float f = 2; int64 i64 = 3; uint64 u64 = 4; int32 i32 = 5; fixed64 f64 = 6; fixed32 f32 = 7; bool yes = 8;
  string text = 9; bytes raw = 10; uint32 u32 = 11; kinds.State state = 12; sfixed32 sf32 = 13; sfixed64 sf64 = 14; sint32 s32 = 15;
  sint64 s64 = 16; Item item = 17; repeated int32 numbers = 18; repeated string words = 19; repeated Item items = 20;
  map<string, int64> counts = 21; map<int32, Item> by_id = 22; optional int32 maybe = 23; oneof either { string left = 24; int32 right = 25; }
  repeated double reals = 26; repeated kinds.State states = 27; map<bool, string> flags = 28; repeated sint64 loose = 29 [packed = false];
  map<uint64, kinds.State> by_hash = 30; repeated fixed32 fixes = 31; uint32 far = 5000;
}
message Order { int64 id = 1; Item item = 2; string note = 3; }
"""
KINDS = """
syntax = "proto3";
package kinds;
enum State { option allow_alias = true; NEW = 0; PAID = 1; SETTLED = 1; LOST = -1; }
"""
OLD = """
syntax = "proto2";
package old;
message Old {
  enum Level { LOW = 3; HIGH = 4; }
  required int32 id = 1; optional string name = 2 [default = "nobody"]; optional int32 age = 3 [default = -7]; optional Level level = 4 [default = HIGH];
  optional bool on = 5 [default = true]; optional double part = 6 [default = 0.5]; repeated int32 loose = 7; repeated int32 tight = 8 [packed = true];
  optional group Inside = 9 { optional int32 x = 1; } optional string last = 10; optional Level plain = 11; map<string, int32> counts = 12; optional float tenth = 13 [default = 0.1];
}
"""
FULL = """
d: 0.1 f: 0.5 i64: -9223372036854775808 u64: 18446744073709551615 i32: -5 f64: 7 f32: 4294967295 yes: true text: "gr\\303\\274n" raw: "\\000\\377" u32: 4294967295
state: PAID sf32: -2147483648 sf64: -3 s32: -2147483648 s64: -9223372036854775808 item { sku: "a" count: 2 part { sku: "b" } } numbers: [1, -1, 300]
words: ["x", ""] items { sku: "c" } items { count: 9 } counts { key: "k" value: 5 } counts { key: "" value: -1 } by_id { key: -3 value { sku: "e" } }
maybe: 0 right: 4 reals: [1.5, -2.5] states: [NEW, LOST] flags { key: true value: "t" } loose: [-1, 1] by_hash { key: 18446744073709551615 value: LOST } fixes: [1, 2]
far: 12
"""


def item(sku="", count=0, part=None):
    return {"sku": sku, "count": count, "part": part}


FULL_ROW = {
    "d": 0.1, "f": 0.5, "i64": -2**63, "u64": -1, "i32": -5, "f64": 7, "f32": 2**32 - 1, "yes": True, "text": "grün", "u32": 2**32 - 1, "state": "PAID",
    "sf32": -2**31, "sf64": -3, "s32": -2**31, "s64": -2**63, "item": item("a", 2, item("b")), "numbers": [1, -1, 300], "words": ["x", ""],
    "items": [item("c"), item("", 9)], "counts": {"k": 5, "": -1}, "by_id": {"-3": item("e")}, "maybe": 0, "left": None, "right": 4, "reals": [1.5, -2.5],
    "states": ["NEW", "LOST"], "flags": {"true": "t"}, "loose": [-1, 1], "by_hash": {"18446744073709551615": "LOST"}, "fixes": [1, 2], "far": 12,
}
EMPTY_ROW = {
    "d": 0.0, "f": 0.0, "i64": 0, "u64": 0, "i32": 0, "f64": 0, "f32": 0, "yes": False, "text": "", "u32": 0, "state": "NEW", "sf32": 0, "sf64": 0, "s32": 0,
    "s64": 0, "item": None, "numbers": [], "words": [], "items": [], "counts": {}, "by_id": {}, "maybe": None, "left": None, "right": None, "reals": [],
    "states": [], "flags": {}, "loose": [], "by_hash": {}, "fixes": [], "far": 0,
}
NAMES = list(FULL_ROW)


def varint(number):
    out = b""
    number %= 2**64
    while number >= 0x80:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def piece(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def number(field, value):
    return varint(field << 3) + varint(value)


class Protobuf(Case):
    READER, WRITER = "gale.bolt.Protobuf", "gale.bolt.ProtobufFormat"

    def setUp(self):
        super().setUp()
        for name, text in (("shop", SHOP), ("kinds", KINDS), ("old", OLD)):
            (self.path / f"{name}.proto").write_text(text)
        for name in ("shop", "old"):
            subprocess.run(["protoc", "--include_imports", "-o", f"{name}.pb", f"{name}.proto"], cwd=self.path, check=True)

    def protoc(self, what, data, message="shop.All", file="shop.proto"):
        return subprocess.run(["protoc", f"--{what}={message}", file], cwd=self.path, check=True, input=data, capture_output=True).stdout

    def read_all(self, *messages, message="shop.All", **more):
        return self.read(messages, schema="shop.pb" if message.startswith("shop") else "old.pb", message=message, **more)

    def write_all(self, *rows, fields=None, message="shop.All", **more):
        return self.write(rows, fields or list(rows[0]), schema="shop.pb" if message.startswith("shop") else "old.pb", message=message, **more)

    def without_raw(self, rows):
        return [{name: value for name, value in row.items() if name != "raw"} for row in rows]


class Reads(Protobuf):
    def test_every_type(self):
        good, bad = self.read_all(self.protoc("encode", FULL.encode()), b"", fields=NAMES)
        self.assertEqual((good, bad), ([FULL_ROW, EMPTY_ROW], []))

    def test_all_fields_go_out_in_their_order(self):
        good, bad = self.read_all(number(1, 7) + piece(3, b"n"), message="shop.Order")
        self.assertEqual((list(good[0].items()), bad), ([("id", 7), ("item", None), ("note", "n")], []))

    def test_paths_and_names(self):
        message = self.protoc("encode", FULL.encode())
        good, _ = self.read_all(message, b"", keep="line", fields=["item.part.sku as inner", "items.1.count as second", "counts.k as k", "words.7 as none"])
        self.assertEqual([{**row, "line": ""} for row in good], [
            {"line": "", "inner": "b", "second": 9, "k": 5, "none": None}, {"line": "", "inner": None, "second": None, "k": None, "none": None}])

    def test_unknown_fields_are_skipped(self):
        unknown = number(99, 5) + piece(100, b"abc") + varint(101 << 3 | 1) + bytes(8) + varint(102 << 3 | 5) + bytes(4)
        group = varint(103 << 3 | 3) + number(1, 1) + varint(104 << 3 | 3) + varint(104 << 3 | 4) + varint(103 << 3 | 4)
        other_wire = piece(1, b"no number") + number(3, 5)
        good, bad = self.read_all(unknown + number(1, 7) + group + other_wire, message="shop.Order")
        self.assertEqual((good, bad), ([{"id": 7, "item": None, "note": ""}], []))

    def test_packed_or_not_and_merged_and_last(self):
        twice = piece(17, piece(1, b"a")) + piece(17, number(2, 3)) + piece(9, b"one") + piece(9, b"two")
        mixed = number(18, 1) + piece(18, varint(2) + varint(3)) + number(18, 4) + piece(29, varint(1) + varint(2))
        entries = piece(21, piece(1, b"k") + number(2, 1)) + piece(21, number(2, 8)) + piece(21, piece(1, b"k") + number(2, 2)) + piece(22, number(1, 4))
        good, bad = self.read_all(twice + mixed + entries, fields=["item", "text", "numbers", "loose", "counts", "by_id"])
        self.assertEqual((good, bad), ([{"item": item("a", 3), "text": "two", "numbers": [1, 2, 3, 4], "loose": [-1, 1], "counts": {"k": 2, "": 8},
                                         "by_id": {"4": item()}}], []))

    def test_open_enumerations_and_text_that_is_none(self):
        good, bad = self.read_all(number(12, 77) + piece(9, b"\xff"), number(12, -1), fields=["state"])
        self.assertEqual((good, bad), ([{"state": 77}, {"state": "LOST"}], []))

    def test_proto2(self):
        text = b'id: 1 loose: [1, 2] tight: [3, 4] Inside { x: 5 } last: "z"'
        good, bad = self.read_all(self.protoc("encode", text, "old.Old", "old.proto"), b"", piece(12, piece(1, b"k")), message="old.Old")
        first = {"id": 1, "name": "nobody", "age": -7, "level": "HIGH", "on": True, "part": 0.5, "loose": [1, 2], "tight": [3, 4], "last": "z", "plain": None, "counts": {},
                 "tenth": 0.10000000149011612}
        empty = {**first, "id": None, "loose": [], "tight": [], "last": None}
        self.assertEqual((good, bad), ([first, empty, {**empty, "counts": {"k": 0}}], []))


    def test_durable_runs(self):
        good, bad = self.read([number(1, 7), b"x"], "--state", "run.state", schema="shop.pb", message="shop.Order", fields=["id"])
        self.assertEqual((good, [message for message, _ in bad]), ([{"id": 7}], [b"x"]))

    def test_nobody_hears_what_is_bad(self):
        (self.path / "in.txt").write_text("eA==\neA==\n")
        topology = case.READ.format(name=self.READER, properties=json.dumps({"field": "value", "schema": "shop.pb", "message": "shop.Order"}))
        (self.path / "topology.yaml").write_text("\n".join(line for line in topology.splitlines() if "problems" not in line and "id: bad" not in line))
        code, said, words = self.gale("run", "topology.yaml")
        self.assertEqual(code, 0, said + words)
        self.assertIn("no protobuf message, shop.Order ends too early, or is none", words)
        self.assertIn("2 tuples were no protobuf message; who subscribes to the stream 'bad' gets them", words)


class Refuses(Protobuf):
    def test_each_cut_message(self):
        """Cut behind whole items it is a message; elsewhere it is none, and all of it goes to `bad`."""
        whole = self.protoc("encode", FULL.encode())
        cuts = [whole[:size] for size in range(1, len(whole))]
        good, bad = self.read_all(*cuts, fields=["text"])
        self.assertEqual(len(good) + len(bad), len(cuts))
        self.assertGreater(len(bad), len(good))
        for message, problem in bad:
            self.assertIn(message, cuts)
            self.assertIn("ends too early, or is none", problem)

    def test_what_lies(self):
        lies = [piece(9, b"abc")[:2] + b"\xff\xff\xff\xff\x0f", varint(9 << 3 | 2) + varint(2**64 - 1) + b"x", b"\x00\x00", varint(1 << 3 | 6), varint(1 << 3 | 4),
                b"\x80" * 11, varint(3 << 3) + b"\xff" * 9 + b"\x02", piece(17, piece(1, b"x")[:-1] + b""), piece(18, b"\x80"), piece(26, bytes(7)),
                varint(50 << 3 | 3), varint(50 << 3 | 3) * 40, varint(50 << 3 | 3) + varint(51 << 3 | 4), piece(21, piece(1, b"\xff")), number(2**29, 1)]
        good, bad = self.read_all(*lies, fields=["text"])
        self.assertEqual(good, [])
        self.assertEqual([message for message, _ in bad], lies)

    def test_depth_and_size(self):
        deep = b""
        for _ in range(100):
            deep = piece(3, deep)
        almost = b""
        for _ in range(31):
            almost = piece(3, almost)
        good, bad = self.read_all(piece(2, deep), piece(2, almost), number(1, 1) + piece(3, bytes(200)), message="shop.Order", maxBytes=150)
        self.assertEqual(len(good), 1)
        self.assertEqual([problem for _, problem in bad if "deep" in problem], [])
        self.assertTrue(all("at most 150" in problem for _, problem in bad))
        good, bad = self.read_all(piece(2, deep), message="shop.Order")
        self.assertIn("more than 32 deep", bad[0][1])

    def test_words(self):
        for properties, words in (
            ({"message": "shop.Ordr"}, "message: the schema has no message 'shop.Ordr'; did you mean 'shop.Order'?"),
            ({"message": "shop.Order", "fields": ["nte"]}, "fields: 'nte': the schema has no field 'nte' there; did you mean 'note'?"),
            ({"message": "shop.Order", "fields": ["item.ski as s"]}, "fields: 'item.ski': the schema has no field 'ski' there; did you mean 'sku'?"),
            ({"message": "shop.Order", "fields": ["id", "note as id"]}, "fields: 'id' goes out already"),
            ({"message": "shop.Order", "fields": ["item..sku"]}, "none of them empty"),
            ({"message": "shop.Order", "schema": "shop.proto"}, "schema: "),
            ({"message": "shop.Order", "schema": "none.pb"}, "none.pb"),
        ):
            self.assertIn(words, self.refused(**{"schema": "shop.pb", **properties}))
        subprocess.run(["protoc", "-o", "lone.pb", "shop.proto"], cwd=self.path, check=True)
        self.assertIn("is not in it: was it made without --include_imports?", self.refused(schema="lone.pb", message="shop.All"))

    def test_schemas_that_are_cut(self):
        whole = (self.path / "old.pb").read_bytes()
        for size in range(0, len(whole), 17):
            (self.path / "cut.pb").write_bytes(whole[:size])
            self.assertIn("schema: ", self.refused(schema="cut.pb", message="old.Old"))


class Writes(Protobuf):
    def test_every_type_and_back(self):
        messages, bad = self.write_all(FULL_ROW, {**EMPTY_ROW})
        self.assertEqual(bad, [])
        self.assertEqual(messages[1], b"")
        wanted = self.protoc("decode", self.protoc("encode", FULL.replace('raw: "\\000\\377"', "").encode()))
        self.assertEqual(sorted(self.protoc("decode", messages[0]).splitlines()), sorted(wanted.splitlines()))
        self.assertEqual(self.read_all(messages[0], fields=NAMES), ([FULL_ROW], []))

    def test_bytes(self):
        messages, bad = self.write_all({"raw": "AP8="}, binary={"raw": "base64.decode(raw)"})
        self.assertEqual((messages, bad), ([piece(10, b"\x00\xff")], []))

    def test_proto2(self):
        messages, _ = self.write_all({"id": 0, "loose": [1, 2], "tight": [3, 4], "level": "LOW"}, message="old.Old")
        self.assertEqual(messages, [number(1, 0) + number(4, 3) + number(7, 1) + number(7, 2) + piece(8, varint(3) + varint(4))])

    def test_names_that_differ(self):
        messages, _ = self.write([{"a": 5, "b": "n"}], ["a", "b"], schema="shop.pb", message="shop.Order", fields=["a as id"], keep="b")
        self.assertEqual(messages, [number(1, 5)])

    def test_words(self):
        for fields, words in ((["ida as id"], "fields: 'ida' does not come in from rows; did you mean 'id'?"), (["id as idd"], "the schema has no field 'idd'; did you mean 'id'?"),
                              (["id", "note as id"], "fields: 'id' is there twice")):
            with self.assertRaises(AssertionError) as caught:
                self.write([{"id": 1, "note": ""}], ["id", "note"], schema="shop.pb", message="shop.Order", fields=fields)
            self.assertIn(words, str(caught.exception))

    def test_what_does_not_fit(self):
        for row, words in (
            ({"i32": 2**31}, "field i32: 2147483648 is no int32"), ({"u32": -1}, "field u32: -1 is no uint32"), ({"i64": "5"}, "field i64: string is no int64"),
            ({"text": 5}, "field text: i64 is no string"), ({"state": "PAYD"}, "field state: 'PAYD' is none of kinds.State; did you mean 'PAID'?"),
            ({"item": {"skuu": "x"}}, "shop.Item has no field 'skuu'; did you mean 'sku'?"), ({"numbers": 5}, "field numbers: i64 is no list"),
            ({"counts": [1]}, "field counts: list is no map"), ({"by_id": {"x": {}}}, "field by_id: the key 'x' is no int32"), ({"yes": 1}, "field yes: i64 is no bool"),
            ({"d": "1"}, "field d: string is no double"), ({"numbers": [None]}, "field numbers"),
        ):
            messages, bad = self.write_all(row)
            self.assertEqual((messages, [one["line"] for one in bad]), ([], [row]))
            self.assertIn(words, bad[0]["problem"])


if __name__ == "__main__":
    if not shutil.which("protoc"):
        print("left out: there is no protoc (apt install protobuf-compiler)")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
