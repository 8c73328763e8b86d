#!/usr/bin/env python3
"""gale.bolt.Avro and gale.bolt.AvroFormat, beside an encoder of Python's.

usage: avro_test.py GALE PLUGINS
"""

import json
import struct
import sys
import unittest

from case import Case

ITEM = {"type": "record", "name": "Item", "fields": [{"name": "sku", "type": "string"}, {"name": "part", "type": ["null", "Item"], "default": None}]}
ALL = {
    "type": "record", "name": "All", "namespace": "shop", "fields": [
        {"name": "n", "type": "null"}, {"name": "yes", "type": "boolean"}, {"name": "i", "type": "int"}, {"name": "l", "type": "long"},
        {"name": "f", "type": "float"}, {"name": "d", "type": "double"}, {"name": "b", "type": "bytes"}, {"name": "s", "type": "string"},
        {"name": "item", "type": ITEM}, {"name": "state", "type": {"type": "enum", "name": "State", "symbols": ["NEW", "PAID"]}},
        {"name": "list", "type": {"type": "array", "items": "long"}}, {"name": "map", "type": {"type": "map", "values": "shop.Item"}},
        {"name": "maybe", "type": ["null", "long", "string", "State", {"type": "array", "items": "Item"}]},
        {"name": "four", "type": {"type": "fixed", "name": "Four", "size": 4}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    ]}
ORDER = {"type": "record", "name": "Order", "fields": [
    {"name": "id", "type": "long"}, {"name": "note", "type": ["null", "string"], "default": None}, {"name": "level", "type": "int", "default": 3},
    {"name": "raw", "type": "bytes", "default": "\u00ff"}, {"name": "item", "type": ["null", ITEM], "default": None}]}


def long(number):
    number = (number << 1 ^ number >> 63) % 2**64
    out = b""
    while number >= 0x80:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def text(value):
    value = value.encode() if isinstance(value, str) else value
    return long(len(value)) + value


def item(sku, part=None):
    return text(sku) + (long(0) if part is None else long(1) + part)


WHOLE = [b"", b"\x01", long(-2**31), long(-2**63), struct.pack("<f", 0.5), struct.pack("<d", 0.1), text(b"\x00\xff"), text("grün"), item("a", item("b")), long(1),
         long(2) + long(1) + long(-300) + long(-1) + long(10) + long(2**63 - 1) + long(0), long(1) + text("k") + item("c") + long(0), long(3) + long(0), b"\x01\x02\x03\xff",
         long(1700000000000)]
MESSAGE = b"".join(WHOLE)
ROW = {"n": None, "yes": True, "i": -2**31, "l": -2**63, "f": 0.5, "d": 0.1, "s": "grün", "item": {"sku": "a", "part": {"sku": "b", "part": None}}, "state": "PAID",
       "list": [1, -300, 2**63 - 1], "map": {"k": {"sku": "c", "part": None}}, "maybe": "NEW", "at": 1700000000000}


class Avro(Case):
    READER, WRITER = "gale.bolt.Avro", "gale.bolt.AvroFormat"

    def setUp(self):
        super().setUp()
        for name, schema in (("all", ALL), ("order", ORDER)):
            (self.path / f"{name}.avsc").write_text(json.dumps(schema))

    def schema(self, fields):
        """A record with these fields' types, in a file."""
        schema = {"type": "record", "name": "R", "fields": [{"name": name, "type": kind} for name, kind in fields.items()]}
        (self.path / "own.avsc").write_text(json.dumps(schema))
        return "own.avsc"


class Reads(Avro):
    def test_every_type(self):
        good, bad = self.read([MESSAGE], schema="all.avsc", fields=list(ROW))
        self.assertEqual((good, bad), ([ROW], []))

    def test_each_branch_of_a_union(self):
        kinds = ["null", "boolean", "int", "double", "bytes", "string", {"type": "map", "values": "null"}, {"type": "record", "name": "Empty", "fields": []}]
        values = [b"", b"\x00", long(-5), struct.pack("<d", -1e300), text(b"x"), text("x"), long(1) + text("k") + long(0), b""]
        good, bad = self.read([long(at) + value for at, value in enumerate(values)], schema=self.schema({"u": kinds}))
        self.assertEqual(bad, [])
        self.assertEqual([row["u"] for row in good], [None, False, -5, -1e300, good[4]["u"], "x", {"k": None}, {}])

    def test_paths_framing_and_what_is_kept(self):
        order = long(7) + long(1) + text("n") + long(1) + text(b"") + long(1) + item("a", item("b"))
        good, bad = self.read([b"\x00\x00\x00\x00\x09" + order, order, b"\x00\x00", b""], schema="order.avsc", framing="confluent", keep="line",
                              fields=["id", "item.part.sku as inner", "note"])
        self.assertEqual([(row["id"], row["inner"], row["note"]) for row in good], [(7, "b", "n")])
        self.assertEqual([problem for _, problem in bad], ["it does not begin with a byte 0 and a schema's number (framing: confluent)"] * 3)

    def test_keys_that_come_twice(self):
        twice = long(2) + text("k") + long(1) + text("a") + long(2) + long(1) + text("k") + long(3) + long(0)
        self.assertEqual(self.read([twice], schema=self.schema({"m": {"type": "map", "values": "int"}})), ([{"m": {"k": 3, "a": 2}}], []))


class Refuses(Avro):
    def test_each_cut_message(self):
        cuts = [MESSAGE[:size] for size in range(1, len(MESSAGE))] + [MESSAGE + b"\x00"]
        good, bad = self.read(cuts, schema="all.avsc", fields=["s"])
        self.assertEqual((good, [message for message, _ in bad]), ([], cuts))
        self.assertEqual(bad[-1][1], "1 bytes stand behind it")

    def test_what_lies(self):
        kinds = {"bytes": [long(-1), long(2**40) + b"x", long(2**63 - 1), long(-2**63), b"\xff" * 11],
                 "boolean": [b"\x02"], "int": [long(2**31)], "float": [b"123"],
                 "list": [long(2**62), long(-2**63), long(-2**40) + long(-1), long(-1), long(2) + long(1)],
                 "nulls": [long(2**40) + long(0), long(-2**62) + long(0) + long(0)] + [(long(9000) + b"") * 3 + long(0)],
                 "map": [long(2**50), long(1) + text(b"\xff") + long(0) + long(0)],
                 "enum": [long(2), long(-1)], "union": [long(2), long(-1), long(2**40)], "fixed": [b"123"]}
        types = {"list": {"type": "array", "items": "long"}, "nulls": {"type": "array", "items": "null"}, "map": {"type": "map", "values": "null"},
                 "enum": {"type": "enum", "name": "E", "symbols": ["A", "B"]}, "union": ["null", "int"], "fixed": {"type": "fixed", "name": "F", "size": 4}}
        for kind, lies in kinds.items():
            good, bad = self.read(lies, schema=self.schema({"x": types.get(kind, kind)}))
            self.assertEqual((good, [message for message, _ in bad]), ([], lies), kind)

    def test_depth_and_size(self):
        deep = item("x")
        for _ in range(100):
            deep = item("x", deep)
        endless = {"type": "record", "name": "E", "fields": [{"name": "e", "type": "E"}]}
        good, bad = self.read([long(1) + text(b"") + long(1) + deep], schema="order.avsc")
        self.assertEqual(good, [])
        self.assertEqual(len(bad), 1)
        self.assertIn("more than 32 deep", self.read([deep], schema=self.schema({"i": ITEM}))[1][0][1])
        self.assertIn("more than 32 deep", self.read([b"x"], schema=self.schema({"e": endless}))[1][0][1])
        self.assertIn("at most 10", self.read([MESSAGE], schema="all.avsc", maxBytes=10)[1][0][1])

    def test_words(self):
        for schema, words in (
            ("{", "schema: 1:2: expected a name"), ('{"type": "record", "type": "record"}', "two members of an object have one name"), ('"long"', "it is to be a record, and is"), (json.dumps({"type": "recrd", "name": "R"}), "there is no type 'recrd'"),
            (json.dumps({"type": "record", "name": "R", "fields": [{"name": "a", "type": "lng"}]}), "there is no type 'lng' yet where it is used; did you mean 'long'?"),
            (json.dumps({"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}] * 2}), "two fields of a record have one name: 'a'"),
            (json.dumps({"type": "record", "name": "R", "fields": [{"name": "a,b", "type": "int"}]}), "a field has no name"),
            (json.dumps({"type": "record", "name": "R", "fields": [{"name": "a", "type": [["null"]]}]}), "stands in another one"),
            ('{"type": ' * 100 + '"int"' + "}" * 100, "too deep"), (json.dumps({"type": "record", "name": "R", "fields": []}), "no fields"),
        ):
            (self.path / "own.avsc").write_text(schema)
            self.assertIn(words, self.refused(schema="own.avsc"))
        self.assertIn("fields: 'nte': the schema has no field 'nte' there; did you mean 'note'?", self.refused(schema="order.avsc", fields=["nte"]))
        self.assertIn("fields: 'item.ski': the schema has no field 'ski' there; did you mean 'sku'?", self.refused(schema="order.avsc", fields=["item.ski as s"]))


class Writes(Avro):
    def test_every_type_and_back(self):
        rows = {**ROW, "b": "AP8=", "four": "AQID/w=="}
        messages, bad = self.write([rows], list(rows), binary={"b": "base64.decode(b)", "four": "base64.decode(four)"}, schema="all.avsc")
        self.assertEqual(bad, [])
        # A list or a map in one block, whatever it came in; a text that is a symbol's is a string where a union has both.
        one_block = long(3) + long(1) + long(-300) + long(2**63 - 1) + long(0)
        self.assertEqual(messages, [b"".join([*WHOLE[:10], one_block, WHOLE[11], long(2) + text("NEW"), *WHOLE[13:]])])
        self.assertEqual(self.read(messages, schema="all.avsc", fields=list(ROW)), ([ROW], []))

    def test_defaults_and_framing(self):
        messages, bad = self.write([{"id": 1}], ["id"], schema="order.avsc", framing="confluent", schemaId=258)
        self.assertEqual((messages, bad), ([b"\x00\x00\x00\x01\x02" + long(1) + long(0) + long(3) + text(b"\xff") + long(0)], []))

    def test_words(self):
        for properties in ({"framing": "confluent"}, {"schemaId": 5}):
            with self.assertRaises(AssertionError) as caught:
                self.write([{"id": 1}], ["id"], schema="order.avsc", **properties)
            self.assertIn("schemaId: it is given with 'framing: confluent', and only then", str(caught.exception))

    def test_what_does_not_fit(self):
        for row, words in (
            ({"id": "x"}, "field id: string is no long"), ({"id": 1, "level": 2**31}, "field level: 2147483648 is no int"), ({"id": None}, "field id: null is no long"),
            ({"note": "x"}, "field id is not there, and has no default"), ({"id": 1, "note": 5}, "field note: no branch of its union takes this i64"),
            ({"id": 1, "item": {"skuu": "x"}}, "field item: no branch of its union takes this map"),
        ):
            messages, bad = self.write([row], list(row), schema="order.avsc")
            self.assertEqual((messages, [one["line"] for one in bad]), ([], [row]))
            self.assertIn(words, bad[0]["problem"])
        _, bad = self.write([{"s": "PAYD"}], ["s"], schema=self.schema({"s": {"type": "enum", "name": "E", "symbols": ["NEW", "PAID"]}}))
        self.assertIn("field s: 'PAYD' is none of E; did you mean 'PAID'?", bad[0]["problem"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
