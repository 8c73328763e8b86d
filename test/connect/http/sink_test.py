#!/usr/bin/env python3
"""gale.bolt.HttpSink, by gale's command line, against a server of Python's.

usage: sink_test.py GALE PLUGINS [CLASS...]
"""

import email.utils
import hashlib
import hmac
import json
import re
import shutil
import ssl
import subprocess
import sys
import threading
import time
import unittest
import urllib.parse

from case import Case, main, properties
from peer import Handler, cut_off, endless, endless_headers, hang, say

WRITE = """
name: write
config: {{topology.message.timeout.secs: 30, topology.state.checkpoint.interval.ms: {interval}}}
spouts:
  - {{id: lines, className: gale.spout.File, properties: [{{name: path, value: in.txt}}, {{name: emit, value: [line, number]}}, {{name: maxAttempts, value: 1}}{spout}]}}
bolts:
{bolts}
  - id: sink
    className: gale.bolt.HttpSink
    properties:
{sink}
streams:
{streams}
  - {{from: {last}, to: sink, grouping: {{type: SHUFFLE}}}}
"""

JSON = """  - id: fields
    className: gale.bolt.Json
    properties: [{name: fields, value: [user, n]}]
"""
TO_JSON = "  - {from: lines, to: fields, grouping: {type: SHUFFLE}}"


class Sink(Case):
    def write(self, lines, parsed=False, follow=False, interval=50, **sink):
        text = "\n".join(lines) + "\n" if lines else ""
        (self.path / "in.txt").write_text(text)
        self.configure(parsed, follow, interval, **sink)

    def configure(self, parsed=False, follow=False, interval=50, **sink):
        spout = ", {name: follow, value: true}" if follow else ""
        bolts, streams, last = (JSON, TO_JSON, "fields") if parsed else ("", "", "lines")
        (self.path / "topology.yaml").write_text(WRITE.format(bolts=bolts, streams=streams, last=last, spout=spout, interval=interval,
                                                              sink=properties(**sink)))


class Sends(Sink):
    def test_each_tuple_is_a_request(self):
        peer = self.peer()
        self.write(["a", 'b"ä', ""], url=peer.url + "/in?x=1", headers={"X-Source": "gale", "X-Empty": ""})
        self.run_it()
        self.assertEqual(sorted(map(json.loads, peer.bodies), key=lambda one: one["number"]),
                         [{"line": "a", "number": 1}, {"line": 'b"ä', "number": 2}, {"line": "", "number": 3}])
        one = peer.requests[0]
        self.assertEqual((one.method, one.path, one.headers["Content-Type"], one.headers["X-Source"], one.headers["X-Empty"]),
                         ("POST", "/in?x=1", "application/json", "gale", ""))
        self.assertEqual(len({request.headers["Idempotency-Key"] for request in peer.requests}), 3)

    def test_batches_of_lines_and_arrays(self):
        for form, read in (("lines", lambda body: list(map(json.loads, body.splitlines()))), ("array", json.loads)):
            peer = self.peer()
            self.write(map(str, range(1000)), url=peer.url, format=form, batch=100, linger=0.3)
            self.run_it()
            batches = [read(body) for body in peer.bodies]
            self.assertEqual(sorted(int(one["line"]) for batch in batches for one in batch), list(range(1000)))
            self.assertEqual(len(batches), 10)

    def test_batches_are_closed_by_bytes_and_by_time(self):
        peer = self.peer()
        self.write(["x" * 100] * 10, url=peer.url, body="line", format="raw", batch=1000, batchBytes=350, linger=0.2)
        began = time.monotonic()
        self.start("--keep-running")  # at the end of its input a run waits for no time
        self.wait_for(lambda: len(peer.bodies) == 4)
        self.assertGreater(time.monotonic() - began, 0.2)
        self.end()
        self.assertEqual(sorted(body.count("x") for body in peer.bodies), [100, 300, 300, 300])
        self.assertEqual(sorted(peer.bodies)[1], "\n".join(["x" * 100] * 3))

    def test_a_batch_that_waits_goes_out_at_the_end_of_the_input(self):
        peer = self.peer()
        self.write(["x"] * 10, url=peer.url, body="line", format="raw", batch=1000, linger=600)
        self.run_it()
        self.assertEqual([body.count("x") for body in peer.bodies], [10])

    def test_a_field_as_it_is(self):
        peer = self.peer()
        self.write(["one", '{"a": 1}'], url=peer.url, body="line", method="PUT", contentType="text/plain")
        self.run_it()
        self.assertEqual(sorted(peer.bodies), ["one", '{"a": 1}'])
        self.assertEqual({(one.method, one.headers["Content-Type"]) for one in peer.requests}, {("PUT", "text/plain")})

    def test_a_field_that_is_json_is_checked(self):
        peer = self.peer()
        self.write(['{"a": 1}', '{"broken": ', '[2]'], url=peer.url, body="line", format="array", linger=0.2)
        self.assertIn("field line is no JSON", self.run_it(code=1))
        self.assertEqual(json.loads(peer.bodies[0]), [{"a": 1}, [2]])

    def test_a_field_that_is_json_goes_unchanged_with_all_its_digits(self):
        peer = self.peer()
        texts = ["123456789012345678901234567890", "1e999", '{"a":"\\ud800"}']
        self.write(texts, url=peer.url, body="line", format="lines", linger=0.2)
        self.run_it()
        self.assertEqual(sorted("".join(peer.bodies).splitlines()), sorted(texts))

    def test_addresses_have_fields(self):
        peer = self.peer()
        self.write(["a b/c", "..", "ü"], url=peer.url + "/things/{line}?n={number}&p={+line}", body="line")
        self.assertIn("url: field line is empty, has more than 1,024 bytes, or is '.' or '..'", self.run_it(code=1))
        self.assertEqual(sorted(one.path for one in peer.requests), ["/things/%C3%BC?n=3&p=%C3%BC", "/things/a%20b%2Fc?n=1&p=a%20b/c"])

    def test_many_are_on_their_way_at_once_and_no_more_than_that(self):
        counts, lock, now = [], threading.Lock(), [0]

        def slow(handler, body):
            with lock:
                now[0] += 1
                counts.append(now[0])
            time.sleep(0.05)
            with lock:
                now[0] -= 1
            say(200)(handler, body)
        peer = self.peer(always=slow)
        self.write(map(str, range(60)), url=peer.url, inFlight=4)
        self.run_it()
        self.assertEqual((len(peer.requests), max(counts)), (60, 4))

    def test_one_key_goes_in_order(self):
        def sometimes(number, handler, body):
            return say(503) if number % 5 == 1 else say(200)
        peer = self.peer(choose=sometimes)
        self.write([json.dumps({"user": f"u{n % 7}", "n": n}) for n in range(70)], parsed=True, url=peer.url, key="user")
        self.run_it()
        self.check_order(peer)

    def test_one_key_goes_in_order_in_batches(self):
        peer = self.peer(say(500), say(200), say(429), say(200))
        self.write([json.dumps({"user": f"u{n % 7}", "n": n}) for n in range(700)], parsed=True, url=peer.url, key="user", format="lines", batch=20)
        self.run_it()
        self.check_order(peer, 100)

    def check_order(self, peer, each=10):
        found, seen = {}, set()
        for request in peer.requests:
            for line in request.body.decode().splitlines():
                one = json.loads(line)
                if (request.headers["Idempotency-Key"], one["n"]) not in seen:
                    found.setdefault(one["user"], []).append(one["n"])
                seen.add((request.headers["Idempotency-Key"], one["n"]))
        self.assertEqual({user: sorted(ns) for user, ns in found.items()}, found)
        self.assertEqual({len(ns) for ns in found.values()}, {each})


class Retries(Sink):
    def test_what_fails_is_sent_again_under_the_same_key(self):
        kinds, met = [say(503, "busy"), say(500), cut_off, say(408), say(425), say(429)], {}

        def choose(number, handler, body):
            n = json.loads(body)["number"]
            met[n] = met.get(n, 0) + 1
            return kinds[n - 1] if met[n] < 3 else say(200)
        peer = self.peer(choose=choose)
        self.write("abcdef", url=peer.url)
        words = self.run_it()
        self.assertEqual(met, {n: 3 for n in range(1, 7)})
        self.assertEqual(len({(one.headers["Idempotency-Key"], one.body) for one in peer.requests}), 6)
        self.assertEqual(len({one.headers["Idempotency-Key"] for one in peer.requests}), 6)
        self.assertIn(f"http {peer.url}: 503: busy", words)

    def test_a_server_that_is_away_is_waited_for(self):
        peer = self.peer()
        peer.close()
        self.write(["a", "b"], url=peer.url)
        self.start()
        self.wait_for(lambda: "Couldn't connect" in self.log() or "refused" in self.log() or "Failed to connect" in self.log())
        again = self.peer(port=peer.port)
        self.assertEqual(self.process.wait(20), 0, self.log())
        self.assertEqual(len(again.requests), 2)

    def test_a_server_that_hangs_is_asked_again(self):
        peer = self.peer(hang(), hang())
        self.write(["a", "b"], url=peer.url, timeout=0.3)
        words = self.run_it()
        self.assertIn("timed out", words)
        self.assertEqual(sorted(json.loads(body)["line"] for body in peer.bodies)[-2:], ["b", "b"] if len(peer.bodies) > 3 else ["a", "b"])

    def test_retry_after_as_a_date(self):
        def date(handler, body):
            say(503, Retry_After=email.utils.formatdate(int(time.time()) + 2, usegmt=True))(handler, body)
        peer = self.peer(date)
        self.write(["a"], url=peer.url)
        self.run_it()
        first, second = peer.requests
        self.assertGreater(second.begun - first.begun, 0.95)
        self.assertLess(second.begun - first.begun, 30)

    def test_nobody_else_asks_while_the_server_wants_to_be_left_alone(self):
        peer = self.peer(say(503, Retry_After="1"))
        self.write(map(str, range(20)), url=peer.url, inFlight=1)
        self.run_it()
        self.assertGreater(peer.requests[1].begun - peer.requests[0].begun, 0.95)

    def test_attempts_have_an_end_where_that_is_asked_for(self):
        peer = self.peer(always=say(500, "broken"))
        self.write(["a"], url=peer.url, maxAttempts=3)
        words = self.run_it(code=1)
        self.assertIn("500: broken", words)
        self.assertEqual(len(peer.requests), 3)

    def test_what_is_refused_is_rejected_with_words(self):
        def choose(number, handler, body):
            return say(422, "no\nsuch   thing") if b'"b"' in body else say(302, Location="http://127.0.0.1:1/") if b'"c"' in body else say(200)
        peer = self.peer(choose=choose)
        self.write(["a", "b", "c"], url=peer.url)
        words = self.run_it(code=1)
        self.assertIn("422: no such thing", words)
        self.assertIn("rejected", words)
        self.assertEqual(len(peer.requests), 3)

    def test_an_untracked_tuple_that_is_refused_is_logged_with_its_values(self):
        peer = self.peer(choose=lambda number, handler, body: say(400, "no") if b"bad" in body else say(200))
        self.write(["good", "bad"], url=peer.url)
        path = self.path / "topology.yaml"
        text = path.read_text().replace("bolts:\n", """bolts:
  - {id: count, className: gale.bolt.Count, properties: [{name: field, value: line}, {name: emit, value: finish}]}
""").replace("streams:\n", """streams:
  - {from: lines, to: count, grouping: {type: FIELDS, args: [line]}}
""").replace("from: lines, to: sink", "from: count, to: sink")
        path.write_text(text)
        words = self.run_it(code=1)
        self.assertIn('WARN sink: rejected: 400: no; the tuple is untracked and has no dead letter: {"word":"bad","count":1}', words)

    def test_what_is_too_large_is_sent_in_halves(self):
        taken = []

        def choose(number, handler, body):
            if body.count(b"\n") > 3 or b"toolarge" in body:
                return say(413, "too large")
            taken.append((handler.headers["Idempotency-Key"], [json.loads(line)["line"] for line in body.splitlines()]))
            return say(200)
        peer = self.peer(choose=choose)
        self.write([*map(str, range(10)), "toolarge", *map(str, range(10, 16))], url=peer.url, format="lines", linger=0.3, inFlight=1)
        self.assertIn("413: too large", self.run_it(code=1))
        self.assertEqual(sorted(int(line) for _, lines in taken for line in lines), list(range(16)))
        self.assertEqual(len({key for key, _ in taken}), len(taken))

    def test_halves_go_in_order(self):
        def choose(number, handler, body):
            return say(413) if body.count(b"\n") > 3 else say(200)
        peer = self.peer(choose=choose)
        self.write([json.dumps({"user": "u", "n": n}) for n in range(40)], parsed=True, url=peer.url, format="lines", key="user", linger=0.3)
        self.run_it()
        taken = [json.loads(line)["n"] for body in peer.bodies if body.count("\n") <= 3 for line in body.splitlines()]
        self.assertEqual(taken, list(range(40)))

    def test_a_huge_answer_is_not_read(self):
        Handler.sent[0] = 0
        peer = self.peer(endless)
        self.write(["a", "b"], url=peer.url, maxAnswer="1 MiB")
        began = time.monotonic()
        self.run_it()
        self.assertLess(time.monotonic() - began, 5)
        self.assertLess(Handler.sent[0], 64 << 20)
        self.assertEqual(len(peer.requests), 2)

    def test_headers_without_an_end_are_a_failure(self):
        Handler.sent[0] = 0
        peer = self.peer(endless_headers)
        self.write(["a"], url=peer.url)
        self.assertIn("not well", self.run_it())
        self.assertLess(Handler.sent[0], 64 << 20)
        self.assertEqual(len(peer.requests), 2)

    def test_who_feeds_it_is_held_back(self):
        peer = self.peer(always=hang())
        self.write(["x" * 1000] * 100000, url=peer.url, memory="1 MiB")
        self.start("--end-within", "1")
        self.wait_for(lambda: len(peer.server.requests) + peer.server.count >= 8)
        time.sleep(0.5)
        with open(f"/proc/{self.process.pid}/status") as status:
            peak = int(re.search(r"VmHWM:\s+(\d+)", status.read()).group(1))
        self.assertLess(peak, 300 << 10)
        self.kill()

    def test_what_the_end_does_not_wait_for_is_said(self):
        peer = self.peer(always=say(503))
        self.write(["a"], url=peer.url, finishWait=0.3)
        self.start("--end-within", "1")
        self.wait_for(lambda: peer.requests)
        self.process.terminate()
        self.assertNotEqual(self.process.wait(20), 0, self.log())


class Bulk(Sink):
    def test_documents_are_answered_one_by_one(self):
        seen = []

        def bulk(number, handler, body):
            lines = body.decode().splitlines()
            items = []
            for action, document in zip(lines[::2], lines[1::2]):
                name, n = json.loads(action)["index"], json.loads(document)["number"]
                self.assertEqual((name["_index"], name["_id"]), ("logs", str(n)))
                seen.append(n)
                status = 400 if n == 3 else 429 if n == 5 and seen.count(5) < 3 else 503 if n == 6 and seen.count(6) < 2 else 201
                error = {"error": {"type": "mapper_parsing_exception", "reason": "failed to parse"}} if status == 400 else {}
                items.append({"index": {"_index": "logs", "status": status, **error}})
            return say(200, json.dumps({"took": 1, "errors": True, "items": items}))
        peer = self.peer(choose=bulk)
        self.write(map(str, range(1, 11)), url=peer.url + "/_bulk", format="bulk", index="logs", id="number", linger=0.2)
        words = self.run_it(code=1)
        self.assertEqual({n: seen.count(n) for n in set(seen)}, {**{n: 1 for n in range(1, 11)}, 5: 3, 6: 2})
        self.assertIn("400: mapper_parsing_exception: failed to parse", words)
        self.assertEqual({one.headers["Content-Type"] for one in peer.requests}, {"application/x-ndjson"})

    def test_an_answer_that_is_none_has_all_sent_again(self):
        peer = self.peer(say(200, "<html>"), say(200, '{"items": []}'), say(200, '{"items": [{"index": {"status": "x"}}]}'),
                         always=say(200, '{"items": [{"index": {"status": 201}}]}'))
        self.write(["a"], url=peer.url, format="bulk")
        words = self.run_it()
        self.assertIn("the answer is not one to _bulk", words)
        self.assertEqual(len(peer.requests), 4)

    def test_an_answer_that_is_too_long_is_not_read(self):
        Handler.sent[0] = 0
        peer = self.peer(endless, always=say(200, '{"items": [{"index": {"status": 201}}]}'))
        self.write(["a"], url=peer.url, format="bulk", maxAnswer="1 MiB")
        self.assertIn("the answer has more than maxAnswer", self.run_it())
        self.assertLess(Handler.sent[0], 64 << 20)


def decoded(text):
    return urllib.parse.quote(urllib.parse.unquote(text), safe="-._~")


def signature(request, secret, region, service="s3"):
    """AWS's Signature Version 4, as its documents have it."""
    authorization = request.headers["Authorization"]
    found = re.fullmatch(r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/([^/]+)/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})",
                         authorization)
    access, date, in_region, in_service, names, claimed = found.groups()
    headers = {name.lower(): value for name, value in request.headers.items()}
    path, _, query = request.path.partition("?")
    query = "&".join(sorted("=".join(decoded(part) for part in (piece.split("=", 1) + [""])[:2]) for piece in query.split("&") if piece))
    canonical = "\n".join([request.method, "/".join(decoded(part) for part in path.split("/")), query,
                           *[f"{name}:{headers[name].strip()}" for name in names.split(";")], "", names, headers["x-amz-content-sha256"]])
    scope = f"{date}/{region}/{service}/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = f"AWS4{secret}".encode()
    for part in (date, region, service, "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    made = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
    right = made == claimed and (in_region, in_service) == (region, service) and "host" in names.split(";")
    return access, right and headers["x-amz-content-sha256"] == hashlib.sha256(request.body).hexdigest()


class Access(Sink):
    def secret(self, name, text):
        (self.path / name).write_text(text + "\n")
        return name

    def test_s3(self):
        peer = self.peer()
        self.write(["a b", "c=d&e/f", "ü~x"], url=peer.url + "/bucket/dt=2026/{+line}?x-id=PutObject&a=%2F", body="line", method="PUT", sign="s3",
                   region="eu-central-1", accessKeyFrom=self.secret("access", "AKID"), secretKeyFrom=self.secret("secret", "wJalr/K7+MDENG"),
                   sessionFrom=self.secret("session", "FwoG+/x=="))
        words = self.run_it()
        self.assertEqual(len(peer.requests), 3)
        for one in peer.requests:
            self.assertEqual(signature(one, "wJalr/K7+MDENG", "eu-central-1"), ("AKID", True), one)
            self.assertEqual(one.headers["x-amz-security-token"], "FwoG+/x==")
        self.assertEqual({one.path for one in peer.requests}, {f"/bucket/dt=2026/{p}?x-id=PutObject&a=%2F" for p in ("a%20b", "c%3Dd%26e/f", "%C3%BC~x")})
        self.assertNotIn("MDENG", words)

    def test_s3_objects_of_many_tuples_have_the_requests_name(self):
        peer = self.peer(say(503), say(503))
        self.write(map(str, range(100)), url=peer.url + "/bucket/{request}.jsonl", format="lines", method="PUT", sign="s3", linger=0.2,
                   region="eu-central-1", accessKeyFrom=self.secret("access", "AKID"), secretKeyFrom=self.secret("secret", "wJalr/K7+MDENG"))
        self.run_it()
        for one in peer.requests:
            self.assertEqual(one.path, f"/bucket/{one.headers['Idempotency-Key']}.jsonl")
            self.assertTrue(signature(one, "wJalr/K7+MDENG", "eu-central-1")[1])
        objects = {one.path: one.body for one in peer.requests}
        self.assertEqual(sum(len(body.splitlines()) for body in objects.values()), 100)

    def test_wrong_keys_are_waited_out_in_words(self):
        def choose(number, handler, body):
            return say(403, "<Error><Code>SignatureDoesNotMatch</Code></Error>") if number < 2 else say(200)
        peer = self.peer(choose=choose)
        self.write(["a"], url=peer.url + "/b/{line}", body="line", method="PUT", sign="s3", region="r",
                   accessKeyFrom=self.secret("access", "AKID"), secretKeyFrom=self.secret("secret", "wrong-one"))
        words = self.run_it()
        self.assertIn("403: <Error><Code>SignatureDoesNotMatch</Code></Error>", words)
        self.assertNotIn("wrong-one", words)

    def test_a_webhook_is_signed(self):
        peer = self.peer()
        self.write(["a"], url=peer.url, sign="hmac", signFrom=self.secret("hook", "open sesame"), signHeader="X-Signature")
        self.run_it()
        one = peer.requests[0]
        self.assertEqual(one.headers["X-Signature"], "sha256=" + hmac.new(b"open sesame", one.body, hashlib.sha256).hexdigest())

    def test_a_token_that_is_replaced_is_read_again_and_told_nowhere(self):
        def choose(number, handler, body):
            told = handler.headers["Authorization"]
            if told == "Bearer sesame-two":
                return say(200)
            (self.path / "token").write_text("sesame-two\n")
            return say(401, f"no such token: {told}")
        peer = self.peer(choose=choose)
        self.write(["a"], url=peer.url, tokenFile=self.secret("token", "sesame-one"), headersFrom={"X-Api-Key": self.secret("api", "k3y-of-it")})
        words = self.run_it()
        self.assertIn("401: no such token", words)
        self.assertNotIn("sesame", words)
        self.assertEqual([one.headers["Authorization"] for one in peer.requests], ["Bearer sesame-one", "Bearer sesame-two"])
        self.assertEqual(peer.requests[0].headers["X-Api-Key"], "k3y-of-it")

    def test_a_user_and_a_password(self):
        peer = self.peer()
        self.write(["a"], url=peer.url, user="gale", passwordFile=self.secret("password", "open sesame"))
        self.run_it()
        self.assertEqual(peer.requests[0].headers["Authorization"], "Basic Z2FsZTpvcGVuIHNlc2FtZQ==")

    @unittest.skipUnless(shutil.which("openssl"), "there is no openssl")
    def test_tls_with_a_certificate_of_ones_own(self):
        def make(*words):
            subprocess.run(["openssl", *words], cwd=self.path, check=True, capture_output=True)
        for name in ("ca", "client"):
            make("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.pem", "-days", "2",
                 "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1")
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(self.path / "ca.pem", self.path / "ca.key")
        tls.load_verify_locations(self.path / "client.pem")
        tls.verify_mode = ssl.CERT_REQUIRED
        peer = self.peer(tls=tls)
        self.write(["a"], url=peer.url, caFile="ca.pem", certFile="client.pem", keyFile="client.key")
        self.run_it()
        self.assertEqual(len(peer.requests), 1)
        self.write(["a"], url=peer.url, maxAttempts=1, ca="client.pem", certificate="client.pem", certificateKey="client.key")
        self.assertRegex(self.run_it(code=1), "(?i)certificate")
        self.assertEqual(len(peer.requests), 1)


class Durable(Sink):
    def keys(self, peer):
        return [(one.headers["Idempotency-Key"], one.body) for one in peer.requests]

    def test_what_was_open_is_the_same_request_after_a_kill(self):
        peer = self.peer(always=say(503))
        self.write(map(str, range(20)), url=peer.url, format="lines", batch=3)
        self.start("--state", "state")
        self.wait_for(lambda: len(peer.requests) > 14)
        time.sleep(0.4)
        self.kill()
        before = dict(self.keys(peer))
        peer.close()
        again = self.peer()
        self.configure(url=again.url, format="lines", batch=3)
        self.run_it("--state", "state")
        after = dict(self.keys(again))
        self.assertEqual({key: body for key, body in after.items() if key in before}, before)
        self.assertEqual(sorted(json.loads(line)["number"] for body in after.values() for line in body.decode().splitlines()), list(range(1, 21)))

    def test_once_with_a_server_that_knows_keys(self):
        """It is killed again and again; what a key came with first is what it comes with ever after."""
        known, lock = {}, threading.Lock()

        def choose(number, handler, body):
            key = handler.headers["Idempotency-Key"]
            with lock:
                if known.setdefault(key, body) != body:
                    return say(422, "another one")
            return say(503) if number % 7 == 3 else say(200)
        peer = self.peer(choose=choose)
        self.write([], follow=True, url=peer.url, format="lines", batch=10, once=True, key="line", interval=100)
        stopping = threading.Event()

        def feed():
            with open(self.path / "in.txt", "a", buffering=1) as to:
                for n in range(1, 10 ** 6):
                    if stopping.is_set():
                        break
                    to.write(f"{n}\n")
                    time.sleep(0.002)
                written.append(n - 1)
        written = []
        thread = threading.Thread(target=feed, daemon=True)
        thread.start()
        self.start("--state", "state")
        for wait in (0.9, 0.5, 0.7):
            before = len(known)
            self.wait_for(lambda: len(known) > before + 3)
            time.sleep(wait)
            self.kill()
            self.start("--state", "state")
        stopping.set()
        thread.join()
        self.wait_for(lambda: sum(body.count(b"\n") for body in list(known.values())) >= written[0])
        self.end()
        lines = [json.loads(line)["line"] for body in known.values() for line in body.decode().splitlines()]
        self.assertEqual(sorted(map(int, lines)), list(range(1, written[0] + 1)))
        self.assertNotIn("another one", self.log())


class Words(Sink):
    """What is wrong with a file is told before it runs."""

    def wrong(self, words, code=2, command="check", **sink):
        self.write(["a"], **{"url": "http://127.0.0.1:1/", **sink})
        found, text = self.gale(command, "topology.yaml")
        self.assertEqual(found, code, text)
        self.assertIn(words, text)

    def test_parameters(self):
        self.wrong("url: it begins with http:// or https://", url="ftp://x/")
        self.wrong("user and passwordFrom say them", url="http://me:secret@x/")
        self.wrong("url: fields stand behind the host", url="http://{line}/")
        self.wrong("url: a field stands in braces: {name}", url="http://x/{line")
        self.wrong("names 'lin', which 'lines' does not have in stream 'default'; did you mean 'line'?", url="http://x/{line}/{request}/{+lin}")
        self.wrong("batch: a request of json has one tuple", batch=2)
        self.wrong("batch: url has fields", url="http://x/{line}", format="lines", batch=2)
        self.wrong("index: it is of format: bulk", index="x")
        self.wrong("once: a document of _bulk counts once by its id", format="bulk", once=True)
        self.wrong("sign: s3 needs accessKeyFrom", sign="s3")
        self.wrong("sign: hmac needs signFrom", sign="hmac")
        self.wrong("user: it is given without passwordFrom", user="me")
        self.wrong("headers Host: url says it", headers={"Host": "x"})
        self.wrong("'X Y' is no name of a header", headers={"X Y": "x"})
        self.wrong("certificate: it is given without certificateKey", certificate="topology.yaml")
        self.wrong("format", format="jsonn")

    def test_files_that_are_not_there(self):
        self.wrong("ca: nowhere.pem: No such file or directory", command="run", code=3, ca="nowhere.pem")
        (self.path / "empty").write_text("\n")
        self.wrong("tokenFrom: empty has nothing in it", command="run", tokenFrom="empty")


if __name__ == "__main__":
    main()
