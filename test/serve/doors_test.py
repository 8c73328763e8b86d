#!/usr/bin/env python3
"""A run is reached at its doors: the owner's socket, and an address with a token (gale run --listen).

usage: doors_test.py GALE
"""

import json
import os
import stat
import subprocess
import sys
import unittest
from pathlib import Path

import rig

rig.Case.gale = GALE = str(Path(sys.argv[1]).resolve())


class Owner(rig.Case):
    def test_the_socket_is_its_owners_alone_and_goes_with_the_run(self):
        run = self.run_words(listen=False)
        path = run.control()
        self.assertEqual(path.name, f"served.{run.process.pid}.sock")
        self.assertEqual(stat.S_IMODE(path.parent.stat().st_mode), 0o700)
        rig.until(lambda: stat.S_IMODE(path.stat().st_mode) == 0o600, "its mode, which is set when it is there")
        topology = run.json("/api/gale/v1/topology", connection=rig.UnixConnection(path))
        self.assertEqual((topology["name"], topology["pid"]), ("served", run.process.pid))
        run.begun()
        self.assertEqual(run.end(), 0)
        self.assertFalse(path.parent.exists())

    def test_the_folder_stays_while_another_runs_socket_is_in_it(self):
        run = self.run_words(listen=False)
        other = run.control().parent / "other.1.sock"
        run.begun()
        other.touch()
        self.assertEqual(run.end(), 0)
        self.assertEqual(list(other.parent.iterdir()), [other])

    def test_no_control_is_none(self):
        run = self.run_words("--no-control")
        run.acked(1)
        self.assertFalse((run.runtime / "gale").exists())

    def test_a_folder_that_others_may_enter_is_not_used(self):
        def before(path):
            (path / "runtime" / "gale").mkdir(mode=0o755)
            (path / "runtime" / "gale").chmod(0o755)
        run = self.run_words("--log-level", "debug", before=before)
        run.acked(1)
        self.assertEqual(list((run.runtime / "gale").iterdir()), [])
        self.assertIn("is not its owner's alone", run.text())

    def test_one_request_of_http_1_0_and_the_body_until_the_end(self):
        run = self.run_words(listen=False)
        connection = rig.UnixConnection(run.control())
        connection._http_vsn, connection._http_vsn_str = 10, "HTTP/1.0"
        self.assertEqual(run.json("/api/gale/v1/topology", connection=connection)["name"], "served")


class Listening(rig.Case):
    def test_the_address_that_is_printed_opens_the_page_and_leaves_its_token_in_a_cookie(self):
        run = self.run_words()
        status, headers, _ = run.ask(run.url[run.url.index("/?"):], token=False)
        self.assertEqual((status, headers["Location"]), (303, "/"))
        cookie = headers["Set-Cookie"]
        self.assertIn("HttpOnly", cookie)
        self.assertIn("SameSite=Strict", cookie)
        pair = cookie.split(";")[0]
        self.assertEqual(pair, f"gale_token_{run.port}={run.token}")
        status, headers, page = run.ask("/", headers={"Cookie": pair}, token=False)
        self.assertEqual((status, headers["Content-Type"]), (200, "text/html; charset=utf-8"))
        self.assertIn(b"gale", page)
        self.assertNotIn("unsafe", headers["Content-Security-Policy"])

    def test_without_the_token_health_is_a_word_and_all_else_is_refused(self):
        run = self.run_words()
        run.acked(1)
        self.assertEqual(run.ask("/healthz", token=False)[::2], (200, b"ok\n"))
        status, _, page = run.ask("/", token=False)
        self.assertEqual(status, 401)
        self.assertNotIn(b"served", page)
        for path in "/api/gale/v1/topology", "/api/gale/v1/now", "/nothing":
            status, headers, text = run.ask(path, token=False)
            self.assertEqual((status, headers["WWW-Authenticate"]), (401, "Bearer"))
            self.assertIn("token", json.loads(text)["error"])

    def test_each_way_to_show_the_token(self):
        run = self.run_words()
        for path, headers in (("/api/gale/v1/now?token=" + run.token, {}),
                              ("/api/gale/v1/now", {"Authorization": "Bearer " + run.token}),
                              ("/api/gale/v1/now", {"Cookie": f"x=y; gale_token_{run.port}={run.token}"})):
            self.assertEqual(run.ask(path, headers=headers, token=False)[0], 200)

    def test_a_log_that_is_kept_has_the_address_and_no_token(self):
        run = self.run_words("--log-file", "log.txt")
        log = rig.until(lambda: (run.path / "log.txt").read_text(), "the log")
        self.assertIn(f"serves at http://127.0.0.1:{run.port}/", log)
        self.assertNotIn(run.token, log)

    def test_two_runs_have_two_tokens(self):
        one, two = self.run_words(), self.run_words()
        self.assertNotEqual(one.token, two.token)
        self.assertEqual(one.ask("/api/gale/v1/now", headers={"Authorization": "Bearer " + two.token})[0], 401)

    def test_figures_are_those_of_the_input(self):
        run = self.run_words(lines=["a b c"] * 70)
        run.acked(70)
        now = run.json("/api/gale/v1/now")
        by_name = {row["name"]: row for row in now["components"]}
        self.assertEqual(now["phase"], "running")
        self.assertEqual((now["trees"]["trees"], now["trees"]["acked"], now["trees"]["open"]), (70, 70, 0))
        self.assertEqual(by_name["lines"]["emitted"], 70)
        self.assertEqual((by_name["split"]["executed"], by_name["split"]["emitted"]), (70, 210))
        self.assertEqual(by_name["count"]["executed"], 210)
        self.assertEqual([row["executed"] for row in now["tasks"] if row["component"] == "split"], [70])
        self.assertEqual(sum(row["executed"] for row in now["tasks"]), 280)
        self.assertIn({"component": "split", "stream": "default", "emitted": 210, "transferred": 210}, now["streams"])
        self.assertEqual([(e["id"], e["executed"], e["acked"], e["failed"]) for e in now["edges"]], [(0, 70, 70, 0), (1, 210, 210, 0)])
        self.assertEqual(now["complete"]["count"], 70)
        self.assertLessEqual(now["complete"]["p50"], now["complete"]["p99"])
        self.assertEqual(now["health"], {"live": True, "ready": True, "problems": []})
        self.assertEqual(run.json("/api/gale/v1/open-trees"), [])
        self.assertIsNone(run.json("/api/gale/v1/checkpoints"))

    def test_the_topology_is_told_with_its_edges_and_without_its_secrets(self):
        run = self.run_words(config='db.password: hunter2, url: "http://me:hunter2@host/", plain: 7')
        status, _, text = run.ask("/api/gale/v1/topology")
        topology = json.loads(text)
        self.assertEqual((status, topology["file"], topology["durable"]), (200, "served.yaml", False))
        self.assertNotIn(b"hunter2", text)
        self.assertEqual(topology["configuration"]["plain"], 7)
        self.assertEqual([(c["name"], c["kind"], c["tasks"]) for c in topology["components"]],
                         [("count", "bolt", 3), ("lines", "spout", 1), ("split", "bolt", 1)])
        self.assertEqual([(e["id"], e["from"], e["to"], e["grouping"], e["fields"]) for e in topology["edges"]],
                         [(0, "lines", "split", "shuffle", []), (1, "split", "count", "fields", ["word"])])

    def test_what_came_from_the_environment_is_not_told(self):
        os.environ["GALE_TEST_HOST"] = "hunter2.example"
        run = self.run_words("--env-filter", config='host: "${{ENV-GALE_TEST_HOST}}", all: [1, "x ${{ENV-GALE_TEST_HOST}}"], plain: 7'.replace("{{", "{").replace("}}", "}"))
        for path in "/api/gale/v1/topology", "/api/v1/cluster/configuration", "/api/v1/topology/served":
            status, _, text = run.ask(path)
            self.assertEqual(status, 200)
            self.assertNotIn(b"hunter2", text)
        configuration = run.json("/api/gale/v1/topology")["configuration"]
        self.assertEqual((configuration["host"], configuration["all"], configuration["plain"]), ("***", "***", 7))

    def test_the_log_level_is_told_and_changed(self):
        run = self.run_words()
        self.assertEqual(run.json("/api/gale/v1/log-level"), {"level": "info"})
        run.json("/api/gale/v1/log-level", "POST", '{"level": "error"}')
        self.assertEqual(run.json("/api/gale/v1/log-level"), {"level": "error"})
        self.assertEqual(run.json("/api/v1/topology/served/logconfig")["namedLoggerLevels"]["ROOT"]["target_level"], "ERROR")
        self.assertEqual(run.ask("/api/gale/v1/log-level", "POST", '{"level": "loud"}')[0], 400)

    def test_history_grows_a_sample_a_second(self):
        run = self.run_words(lines=["a"] * 10)
        history = rig.until(lambda: (h := run.json("/api/gale/v1/history")) and len(h["times"]) >= 3 and h, "three samples")
        for key in "trees", "acked", "failed", "emitted", "open", "p50", "p99":
            self.assertEqual(len(history[key]), len(history["times"]), key)
        self.assertEqual(sorted(history["times"]), history["times"])
        self.assertIsNone(history["trees"][0])
        self.assertIsNone(history["p99"][0])
        self.assertEqual(set(history["components"]), {"lines", "split", "count"})
        self.assertIn(len(run.json("/api/gale/v1/history?seconds=1")["times"]), (1, 2))
        self.assertEqual(run.ask("/api/gale/v1/history?seconds=0")[0], 400)

    def test_spouts_pause_and_go_on(self):
        run = self.run_words()
        run.acked(1)
        self.assertEqual(run.json("/api/gale/v1/deactivate", "POST"), {"done": "deactivate"})
        self.assertFalse(run.json("/api/gale/v1/now")["active"])
        run.json("/api/gale/v1/activate", "POST")
        self.assertTrue(run.json("/api/gale/v1/now")["active"])
        with open(run.path / "in.txt", "a") as file:
            file.write("more\n")
        run.acked(2)

    def test_a_drain_that_is_asked_for_is_a_success(self):
        run = self.run_words()
        run.acked(1)
        self.assertEqual(run.json("/api/gale/v1/drain", "POST"), {"done": "drain"})
        self.assertEqual(run.process.wait(rig.PATIENCE), 0)
        self.assertIn("1 tree: 1 acked", run.text())

    def test_kill_ends_at_once(self):
        run = self.run_words()
        run.acked(1)
        run.json("/api/gale/v1/kill", "POST")
        self.assertEqual(run.process.wait(rig.PATIENCE), 128 + 15)  # as a second SIGTERM does

    def test_what_is_asked_in_the_wrong_way_is_told_so(self):
        run = self.run_words()
        status, headers, text = run.ask("/api/gale/v1/drain")
        self.assertEqual((status, headers["Allow"]), (405, "POST"))
        self.assertEqual(run.ask("/api/gale/v1/now", "POST")[1]["Allow"], "GET, HEAD")
        self.assertEqual(run.ask("/api/gale/v1/now", "PUT")[0], 405)
        self.assertEqual(run.ask("/api/gale/v1/nothing")[0], 404)
        self.assertEqual(run.ask("/api/gale/v1/checkpoint", "POST")[0], 409)
        self.assertEqual(run.ask("/api/gale/v1/log-level", "POST", body="{")[0], 400)
        status, headers, text = run.ask("/api/gale/v1/now", "HEAD")
        self.assertEqual((status, text), (200, b""))


class Options(unittest.TestCase):
    def refuse(self, *options):
        done = subprocess.run([GALE, "run", "none.yaml", *options], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        return done.stderr

    def test_what_goes_together(self):
        self.assertIn("--listen-token-file is of no use without --listen", self.refuse("--listen-token-file", "x"))
        self.assertIn("--listen-cert is of no use", self.refuse("--listen-cert", "x", "--listen-key", "y"))
        self.assertIn("go together", self.refuse("--listen", ":0", "--listen-cert", "x"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
