#!/usr/bin/env python3
"""gale.spout.HttpPoll, by gale's command line, against a server of Python's.

usage: poll_test.py GALE PLUGINS [CLASS...]
"""

import gzip
import json
import time
import zlib
import urllib.parse

from case import Case, main, properties
from peer import Handler, cut_off, endless, hang, say

TAKE = """
name: take
config: {{topology.message.timeout.secs: 30, topology.state.checkpoint.interval.ms: 50}}
spouts:
  - id: answers
    className: gale.spout.HttpPoll
    properties:
{spout}
bolts:
  - {{id: sink, className: gale.bolt.{sink}, properties: [{to}]}}
streams:
  - {{from: answers, to: sink, grouping: {{type: SHUFFLE}}}}
"""


class Poll(Case):
    def write(self, sink="FileSink", to="{name: path, value: out.tsv}", **spout):
        (self.path / "topology.yaml").write_text(TAKE.format(spout=properties(**spout), sink=sink, to=to))


class Takes(Poll):
    def test_the_whole_answer(self):
        peer = self.peer(say(200, "one"), say(200, "two"), say(200, ""))
        self.write(url=peer.url + "/now?x=1", every=1, times=3, headers={"X-Who": "gale"})
        self.run_it()
        self.assertEqual(self.lines(), ["one", "two"])
        self.assertEqual({(one.method, one.path, one.headers["X-Who"]) for one in peer.requests}, {("GET", "/now?x=1", "gale")})
        # Far from the second: what a busy server took to see the first request is not gale's.
        self.assertGreater(peer.requests[1].begun - peer.requests[0].begun, 0.3)

    def test_lines_and_arrays(self):
        peer = self.peer(say(200, "one\r\n\ntwo"))
        self.write(url=peer.url, every=0.05, times=1, format="lines")
        self.run_it()
        self.assertEqual(self.lines(), ["one", "two"])
        (self.path / "out.tsv").unlink()
        peer = self.peer(say(200, '{"data": {"events": [{"b": 1, "a": [1.5, null]}, "x", 3]}}'))
        self.write(url=peer.url, every=0.05, times=1, format="array", items="data.events")
        self.run_it()
        self.assertEqual(self.lines(), ['{"b":1,"a":[1.5,null]}', '"x"', "3"])

    def test_a_wrong_element_of_an_array_is_a_row_and_its_neighbours_are_others(self):
        answer = '[1, 123456789012345678901234567890, 1e999, {"a": "\\ud800"}, NaN, {"b" : [1,\n 2]}, 3]'
        peer = self.peer(say(200, answer))
        self.write(url=peer.url, every=0.05, times=1, format="array")
        self.run_it()
        self.assertEqual(self.lines(), ["1", "123456789012345678901234567890", "1e999", '{"a":"\\\\ud800"}', "NaN", '{"b":[1,2]}', "3"])
        self.assertEqual(len(peer.requests), 1)

    def test_an_answer_without_a_body_has_no_rows_in_any_format(self):
        for form in ("body", "lines", "array"):
            for status in (200, 201, 202, 203, 204, 205, 206):
                with self.subTest(form=form, status=status):
                    (self.path / "out.tsv").unlink(missing_ok=True)
                    peer = self.peer(say(status, ""), say(200, "[7]" if form == "array" else "7"))
                    self.write(url=peer.url, every=0.02, times=2, format=form)
                    words = self.run_it()
                    self.assertEqual(self.lines(), ["7"])
                    self.assertNotIn("WARN", words)
        (self.path / "out.tsv").unlink()
        peer = self.peer(say(200, "\r\n"), say(200, '{"next": null}'))
        self.write(url=peer.url, every=0.02, times=2, format="body", cursor="next")
        self.run_it()
        self.assertEqual(self.lines(), ['{"next": null}'])

    def test_a_packed_answer_is_unpacked_also_when_nobody_asked_for_it(self):
        for form, plain, rows in (("body", "one", ["one"]), ("lines", "one\ntwo\n", ["one", "two"]), ("array", "[1, 2]", ["1", "2"])):
            for coding, pack in (("gzip", gzip.compress), ("deflate", zlib.compress)):
                with self.subTest(form=form, coding=coding):
                    (self.path / "out.tsv").unlink(missing_ok=True)
                    peer = self.peer(say(200, pack(plain.encode()), Content_Encoding=coding))
                    self.write(url=peer.url, every=0.02, times=1, format=form, headers={"Accept-Encoding": "identity"})
                    self.run_it()
                    self.assertEqual(self.lines(), rows)

    def test_a_byte_order_mark_is_skipped(self):
        for form, text, rows in (("lines", "\ufeffone\ntwo", ["one", "two"]), ("array", "\ufeff[1, 2]", ["1", "2"])):
            (self.path / "out.tsv").unlink(missing_ok=True)
            peer = self.peer(say(200, text))
            self.write(url=peer.url, every=0.02, times=1, format=form)
            self.run_it()
            self.assertEqual(self.lines(), rows)

    def test_what_an_answer_has(self):
        peer = self.peer(say(200, "x", ETag='"e1"', Content_Type="text/plain"))
        self.write(url=peer.url, every=0.05, times=1, emit=["etag", "type", "time", "body"],
                   to="{name: path, value: out.tsv}, {name: format, value: json}")
        self.run_it()
        one = json.loads(self.lines()[0])
        self.assertEqual((one["etag"], one["type"], one["body"]), ('"e1"', "text/plain", "x"))
        self.assertLess(abs(one["time"] - time.time() * 1000), 60000)

    def test_what_has_not_changed_is_not_taken_again(self):
        day = "Sun, 06 Nov 1994 08:49:37 GMT"

        def choose(number, handler, body):
            if number == 0:
                return say(200, "one", ETag='"e1"', Last_Modified=day)
            if number < 3 and handler.headers["If-None-Match"] == '"e1"' and handler.headers["If-Modified-Since"] == day:
                return say(304)
            return say(200, "two", ETag='"e2"')
        peer = self.peer(choose=choose)
        self.write(url=peer.url, every=0.05, times=4)
        self.run_it()
        self.assertEqual(self.lines(), ["one", "two"])
        self.assertEqual(len(peer.requests), 4)

    def test_a_cursor_leads_through_pages(self):
        pages = {None: ([1, 2], "a b"), "a b": ([3], 7), "7": ([4, 5], None)}

        def choose(number, handler, body):
            at = urllib.parse.parse_qs(urllib.parse.urlsplit(handler.path).query).get("since", [None])[0]
            rows, following = pages[at]
            return say(200, json.dumps({"rows": rows, "meta": {"next": following}}))
        peer = self.peer(choose=choose)
        self.write(url=peer.url, every=30, times=3, format="array", items="rows", cursor="meta.next", cursorQuery="since")
        began = time.monotonic()
        self.run_it()
        self.assertLess(time.monotonic() - began, 5)
        self.assertEqual(self.lines(), ["1", "2", "3", "4", "5"])

    def test_a_long_answer_is_taken_as_there_is_room(self):
        peer = self.peer(say(200, json.dumps(["x" * 100] * 5000)))
        self.write(url=peer.url, every=0.05, times=1, format="array", memory=20000)
        self.run_it()
        self.assertEqual(len(self.lines()), 5000)


class Fails(Poll):
    def test_it_asks_again(self):
        peer = self.peer(say(503, "busy"), cut_off, say(404, "nothing"), say(200, "one"))
        self.write(url=peer.url, every=0.05, times=1)
        words = self.run_it()
        self.assertEqual(self.lines(), ["one"])
        self.assertIn(f"http {peer.url}: 503: busy", words)

    def test_an_answer_of_another_encoding_is_not_passed_on(self):
        good = {"lines": "one", "array": "[1]"}
        for form in good:
            for body, name in ((gzip.compress(b"x"), "gzip data"), ("x".encode("utf-16"), "UTF-16 text")):
                with self.subTest(form=form, name=name):
                    (self.path / "out.tsv").unlink(missing_ok=True)
                    peer = self.peer(say(200, body), say(200, good[form]))
                    self.write(url=peer.url, every=0.02, times=1, format=form)
                    words = self.run_it()
                    self.assertIn(f"the answer is {name}, and its headers do not say so", words)
                    self.assertEqual(len(self.lines()), 1)

    def test_an_answer_that_unpacks_to_more_than_max_body_is_refused(self):
        peer = self.peer(say(200, gzip.compress(bytes(50 << 20)), Content_Encoding="gzip"), say(200, "one"))
        self.write(url=peer.url, every=0.02, times=1, maxBody=1 << 20)
        self.assertIn("longer than maxBody", self.run_it())
        self.assertEqual(self.lines(), ["one"])

    def test_an_answer_of_an_unknown_encoding_is_refused(self):
        peer = self.peer(say(200, "xyz", Content_Encoding="compress"), say(200, "one"))
        self.write(url=peer.url, every=0.02, times=1, format="lines")
        self.assertIn("'compress' is not understood; gzip, deflate are", self.run_it())
        self.assertEqual(self.lines(), ["one"])

    def test_an_answer_of_a_charset_that_is_not_understood_is_refused(self):
        for form, text, rows in (("lines", "one\ntwo", ["one", "two"]), ("array", "[1, 2]", ["1", "2"])):
            for charset in ("utf-16le", "utf-16", "utf-32be", "cp037"):
                with self.subTest(form=form, charset=charset):
                    (self.path / "out.tsv").unlink(missing_ok=True)
                    peer = self.peer(say(200, text.encode(charset), Content_Type=f"text/plain; charset={charset}"),
                                     say(200, text, Content_Type="text/plain; charset=iso-8859-1"))
                    self.write(url=peer.url, every=0.02, times=1, format=form)
                    self.assertIn(f"charset '{charset}' is not understood; utf-8 is", self.run_it())
                    self.assertEqual(self.lines(), rows)

    def test_a_whole_answer_goes_out_whatever_its_charset_is(self):
        peer = self.peer(say(200, "one", Content_Type="text/plain; charset=cp037"))
        self.write(url=peer.url, every=0.02, times=1)
        self.run_it()
        self.assertEqual(self.lines(), ["one"])

    def test_a_packed_answer_that_is_cut_off_has_no_rows(self):
        """libcurl takes what came of it for the whole."""
        lines = b"[1,2,3]\n" * 2000
        packed, deflated = gzip.compress(lines), zlib.compress(lines)
        for coding, body in (("gzip", packed[: len(packed) // 2]), ("gzip", packed[:-8]), ("gzip", packed[:5]), ("deflate", deflated[: len(deflated) // 2]),
                             ("gzip", packed + b"x"), ("br", b"xx"), ("zstd", b"\x28\xb5\x2f\xfd")):
            with self.subTest(coding=coding, size=len(body)):
                (self.path / "out.tsv").unlink(missing_ok=True)
                peer = self.peer(say(200, body, Content_Encoding=coding), say(200, packed, Content_Encoding="gzip"))
                self.write(url=peer.url, every=0.02, times=1, format="lines")
                words = self.run_it()
                self.assertRegex(words, "not what its Content-Encoding says|is not understood")
                self.assertEqual(self.lines(), ["[1,2,3]"] * 2000)

    def test_an_answer_of_blanks_has_no_rows(self):
        for body in (" \r\n", "\t", "\ufeff "):
            with self.subTest(body=body):
                (self.path / "out.tsv").unlink(missing_ok=True)
                peer = self.peer(say(200, body), say(200, "[7]"))
                self.write(url=peer.url, every=0.02, times=2, format="array")
                self.run_it()
                self.assertEqual(self.lines(), ["7"])

    def test_retry_after(self):
        peer = self.peer(say(429, Retry_After="1"), say(200, "one"))
        self.write(url=peer.url, every=0.05, times=1)
        self.run_it()
        first, second = peer.requests
        self.assertGreater(second.begun - first.begun, 0.95)

    def test_a_server_that_hangs(self):
        peer = self.peer(hang(), say(200, "one"))
        self.write(url=peer.url, every=0.05, times=1, timeout=0.3)
        self.assertIn("timed out", self.run_it())
        self.assertEqual(self.lines(), ["one"])

    def test_a_huge_answer_is_not_taken(self):
        Handler.sent[0] = 0
        peer = self.peer(endless, say(200, "one"))
        self.write(url=peer.url, every=0.05, times=1, maxBody="1 MiB")
        self.assertIn("the answer is longer than maxBody", self.run_it())
        self.assertLess(Handler.sent[0], 64 << 20)
        self.assertEqual(self.lines(), ["one"])

    def test_what_is_no_array_is_said(self):
        deep = "[" * 100000
        peer = self.peer(say(200, deep), say(200, "{}"), say(200, '{"rows": 1}'), say(200, '{"rows": [1]}'))
        self.write(url=peer.url, every=0.05, times=1, format="array", items="rows")
        words = self.run_it()
        self.assertIn("the answer is not JSON", words)
        self.assertIn("the answer has no array at rows", words)
        self.assertEqual(self.lines(), ["1"])

    def test_a_token_is_told_nowhere(self):
        (self.path / "token").write_text("open-sesame\n")
        peer = self.peer(say(401, "Bearer open-sesame is none"), say(200, "one"))
        self.write(url=peer.url, every=0.05, times=1, tokenFrom="token")
        words = self.run_it()
        self.assertIn("401", words)
        self.assertNotIn("sesame", words)
        self.assertEqual(peer.requests[1].headers["Authorization"], "Bearer open-sesame")

    def test_words(self):
        for words, given in (("url: a spout has no fields for it", {"url": "http://x/{y}"}), ("an answer has no 'bodi'", {"emit": "bodi"}),
                             ("items: it is of format: array", {"items": "x"}), ("cursor: lines have none", {"format": "lines", "cursor": "x"})):
            self.write(**{"url": "http://127.0.0.1:1/", **given})
            code, text = self.gale("check", "topology.yaml")
            self.assertEqual(code, 2, text)
            self.assertIn(words, text)


class Durable(Poll):
    def test_it_goes_on_where_it_was(self):
        """Pages of ten rows; it is killed in the midst of them."""
        def choose(number, handler, body):
            at = int(urllib.parse.parse_qs(urllib.parse.urlsplit(handler.path).query).get("cursor", [0])[0])
            rows = list(range(at, min(at + 10, 300)))
            return say(200, json.dumps({"rows": rows, "next": at + len(rows)}))
        peer = self.peer(choose=choose)
        self.write(url=peer.url, every=0.05, format="array", items="rows", cursor="next", memory=200)
        for _ in range(3):
            self.start("--state", "state")
            before = len(self.lines())
            self.wait_for(lambda: len(self.lines()) > min(before + 20, 280))
            self.kill()
        self.start("--state", "state")
        self.wait_for(lambda: len(self.lines()) >= 300)
        time.sleep(0.2)
        self.end()
        self.assertEqual([int(line) for line in self.lines()], list(range(300)))


if __name__ == "__main__":
    main()
