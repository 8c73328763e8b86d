#!/usr/bin/env python3
"""`gale ps`, `top`, `stats`, `activate`, `deactivate`, `drain`, `kill` and `log-level`: against topologies that run, and against who is none and
answers as he likes.

usage: control_test.py GALE ROOT
"""

import fcntl
import json
import os
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(sys.argv[2]) / "test" / "serve"))
import rig  # noqa: E402

GALE = str(Path(sys.argv[1]).resolve())
rig.Case.gale = GALE
PATIENCE = rig.PATIENCE


class Ended:
    def __init__(self, done):
        self.code, self.out, self.err = done.returncode, done.stdout.decode(), done.stderr.decode()


def gale(runtime, *words, env=None, stdin=subprocess.DEVNULL):
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(runtime), "LC_ALL": "C.UTF-8", "TERM": "xterm", **(env or {})}
    environment.pop("NO_COLOR", None) if not env or "NO_COLOR" not in env else None
    return Ended(subprocess.run([GALE, *map(str, words)], capture_output=True, timeout=PATIENCE, env=environment, stdin=stdin))


class Window:
    """A program on a terminal of so many columns and rows."""

    def __init__(self, test, runtime, columns, rows, *words, env=None):
        environment = {**os.environ, "XDG_RUNTIME_DIR": str(runtime), "LC_ALL": "C.UTF-8", "TERM": "xterm", **(env or {})}
        if not env or "NO_COLOR" not in env:
            environment.pop("NO_COLOR", None)
        self.ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process = subprocess.Popen([GALE, *words], stdin=theirs, stdout=theirs, stderr=theirs, env=environment,
                                        preexec_fn=lambda: (os.setsid(), fcntl.ioctl(0, termios.TIOCSCTTY, 0)))
        self.theirs = theirs  # kept, so that its modes can be read when the program has ended
        self.text = ""
        test.addCleanup(os.close, self.ours)
        test.addCleanup(os.close, theirs)
        test.addCleanup(self.process.wait)
        test.addCleanup(self.process.kill)

    def read(self):
        if select.select([self.ours], [], [], 0.02)[0]:
            self.text += os.read(self.ours, 65536).decode("utf-8", "replace")
        return self.text

    def shows(self, pattern):
        return rig.until(lambda: re.search(pattern, self.read()), f"{pattern!r} on the terminal")

    def press(self, keys):
        os.write(self.ours, keys.encode())

    def end(self):
        def ended():
            self.read()  # or it would wait for room
            return self.process.poll() is not None
        rig.until(ended, "its end")
        while select.select([self.ours], [], [], 0)[0]:
            self.read()
        return self.process.returncode

    def frames(self):
        """What was drawn, each time, without colours."""
        plain = re.sub(r"\x1b\[[0-9;]*m", "", self.text).replace("\r\n", "\n")
        return [frame for frame in re.split(r"\r?\x1b\[\d+A(?:\x1b\[K\x1b\[B)*\x1b\[K\x1b\[\d+A", plain) if frame.strip()]

    def echoes(self):
        return bool(termios.tcgetattr(self.theirs)[3] & termios.ECHO) and bool(termios.tcgetattr(self.theirs)[3] & termios.ICANON)


class Control(rig.Case):
    def started(self, *options, **more):
        run = self.run_words(*options, listen=False, **more)
        # The socket has its path a moment before somebody listens at it.
        rig.until(lambda: json.loads(gale(run.runtime, "ps", "--json").out)["running"], "the run")
        return run

    def now(self, run):
        """What its socket says, as soon as its lines are counted."""
        def counted():
            done = gale(run.runtime, "stats", "--json")
            assert done.code == 0, done.err
            told = json.loads(done.out)
            return told if told["trees"]["acked"] >= 3 else None
        return rig.until(counted, "three acks")

    def said(self, runtime, *words, code=2):
        done = gale(runtime, *words)
        self.assertEqual((done.code, done.out), (code, ""), done.err)
        return done.err


LINES = ("one two three", "four", "five six")


class Running(Control):
    def test_ps_lists_who_runs(self):
        run = self.started(lines=LINES)
        self.now(run)
        done = gale(run.runtime, "ps")
        self.assertRegex(done.out, rf"^ *PID +NAME +UP +STATE +ACKED +FAILED +TIMED OUT +REJECTED +STOPPED  PROBLEM\n"
                                   rf" *{run.process.pid} +served +\d+ s +running +3 +0 +0 +0 +0")
        told = json.loads(gale(run.runtime, "ps", "--json").out)["running"]
        self.assertEqual([(one["name"], one["pid"], one["phase"], one["acked"]) for one in told],
                         [("served", run.process.pid, "running", 3)])
        self.assertEqual(told[0]["socket"], str(run.control()))

    def test_where_nobody_runs_that_is_said(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(gale(folder, "ps").out, "you run no topology that can be reached\n")
            self.assertEqual(json.loads(gale(folder, "ps", "--json").out), {"running": []})
            for words in ["top"], ["stats"], ["drain", "x"], ["log-level", "x"]:
                self.assertEqual(self.said(folder, *words), "gale: you run no topology that can be reached (gale ps)\n")
            self.assertEqual(list(Path(folder).iterdir()), [])

    def test_stats_are_those_of_the_input(self):
        run = self.started(lines=LINES)
        now = self.now(run)
        self.assertEqual(now["trees"]["acked"], 3)
        table = gale(run.runtime, "stats").out
        self.assertRegex(table, rf"^served  pid {run.process.pid}, up \d+ s, running\ntrees: 3 acked, 0 failed, 0 open")
        self.assertRegex(table, r"\nCOMPONENT  TASKS  EMITTED  TRANSFERRED  EXECUTED  CAPACITY  EXECUTE  PROCESS  ACKED  FAILED  QUEUE\n")
        self.assertRegex(table, r"\ncount +3 +6 +0 +6 ")
        self.assertRegex(table, r"\nlines +1 +3 +3 +- +- +- +- +3 +0 +-\n")

    def test_spouts_pause_and_go_on(self):
        run = self.started(lines=LINES)
        self.now(run)
        self.assertEqual(gale(run.runtime, "deactivate", "served").code, 0)
        self.assertRegex(gale(run.runtime, "stats").out, r"up \d+ s, paused\n")
        self.assertRegex(gale(run.runtime, "ps").out, r" paused ")
        self.assertEqual(gale(run.runtime, "activate", "served").code, 0)
        self.assertRegex(gale(run.runtime, "stats").out, r"up \d+ s, running\n")

    def test_the_logs_level_is_told_and_set(self):
        run = self.started()
        level = gale(run.runtime, "log-level", "served").out
        self.assertIn(level.strip(), ("warn", "info"))
        done = gale(run.runtime, "log-level", "served", "debug")
        self.assertEqual((done.code, done.out, done.err), (0, "", ""))
        self.assertEqual(gale(run.runtime, "log-level", "served").out, "debug\n")
        self.assertEqual(self.said(run.runtime, "log-level", "served", "loud"),
                         "gale: level must be trace, debug, info, warn, error or off\n")

    def test_drain_ends_it_in_order(self):
        run = self.started(lines=LINES)
        self.now(run)
        self.assertEqual(gale(run.runtime, "drain", "served", "--wait").code, 0)
        self.assertEqual(run.process.wait(PATIENCE), 0)
        self.assertEqual(gale(run.runtime, "ps").out, "you run no topology that can be reached\n")
        self.assertEqual(list(run.runtime.glob("gale/*")), [])

    def test_who_waits_for_the_end_learns_how_it_was(self):
        run = self.started(lines=LINES)
        self.now(run)
        done = gale(run.runtime, "drain", "served", "--wait")
        self.assertEqual((done.code, done.out, done.err),
                         (0, "served has ended: all in flight was finished, or is in the state (exit code 0)\n", ""))
        run = self.started(lines=LINES)
        done = gale(run.runtime, "kill", "served", "--wait")
        self.assertEqual((done.code, done.out), (0, "served has ended: a signal cut it short (exit code 143)\n"), done.err)

    def test_a_drain_has_the_exit_code_of_the_run(self):
        run = self.started("--exit-by-signal", lines=LINES)
        self.now(run)
        self.assertEqual(gale(run.runtime, "drain", "served", "--wait").code, 143)
        self.assertEqual(run.process.wait(PATIENCE), 143)

    def test_a_run_that_is_killed_meanwhile_has_not_said_how_it_ended(self):
        run = self.started(lines=LINES)
        self.now(run)
        run.process.send_signal(signal.SIGSTOP)
        env = dict(os.environ, XDG_RUNTIME_DIR=str(run.runtime))
        waits = subprocess.Popen([GALE, "drain", "served", "--wait"], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(waits.kill)
        rig.until(lambda: Path(f"/proc/{waits.pid}/stat").read_text().rpartition(")")[2].split()[0] == "S", "its wait")
        run.process.kill()
        out, err = waits.communicate(timeout=PATIENCE)
        self.assertEqual((waits.returncode, out), (1, ""), err)

    def test_kill_ends_it_at_once(self):
        run = self.started()
        done = gale(run.runtime, "kill", str(run.process.pid), "-w")
        self.assertEqual((done.code, done.err), (0, ""))
        self.assertEqual(run.process.wait(PATIENCE), 128 + signal.SIGTERM)


    def test_a_folder_that_is_too_long_for_a_socket_is_told_by_who_runs_and_who_looks(self):
        sentence = "the path of the folder for sockets, $XDG_RUNTIME_DIR/gale, is too long for a socket"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder)
            (path / "in.txt").write_text("one\n")
            (path / "served.yaml").write_text(rig.WORDS.format(config="a: 1").replace(", { name: follow, value: true }", ""))
            done = subprocess.run([GALE, "run", "served.yaml", "--until-drained"], cwd=path, capture_output=True, text=True, timeout=PATIENCE,
                                  env={**os.environ, "XDG_RUNTIME_DIR": str(path / ("x" * 120))})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stderr, rf"WARN other commands \(gale top\) cannot reach this run: {re.escape(sentence)}")
            self.assertIn(sentence, gale(path / ("x" * 120), "ps").err)


class Names(Control):
    def second(self, first):
        """Another one of the same name, in the same folder of sockets."""
        process = subprocess.Popen([GALE, "run", "served.yaml", "--quiet"], cwd=first.path, stdout=first.said, stderr=subprocess.STDOUT,
                                   env={**os.environ, "XDG_RUNTIME_DIR": str(first.runtime)})
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        rig.until(lambda: len(json.loads(gale(first.runtime, "ps", "--json").out)["running"]) == 2, "the second one")
        return process.pid

    def test_two_of_one_name_need_the_number(self):
        run = self.started()
        one, two = sorted([run.process.pid, self.second(run)])
        which = f"gale: which one of 2? served.{one}, served.{two}\n"
        self.assertEqual(self.said(run.runtime, "stats"), which)
        self.assertEqual(self.said(run.runtime, "drain", "served"), which)
        for word in str(one), f"served.{two}":
            self.assertIn(f"pid {word[-len(str(two)):]},", gale(run.runtime, "stats", word).out)
        self.assertEqual(len(json.loads(gale(run.runtime, "ps", "--json").out)["running"]), 2)

    def test_the_nearest_name_is_told(self):
        run = self.started()
        self.assertEqual(self.said(run.runtime, "stats", "serve"),
                         "gale: you run no topology 'serve'; did you mean 'served'? (gale ps lists them)\n")
        self.assertEqual(self.said(run.runtime, "kill", "1"), "gale: you run no topology '1' (gale ps lists them)\n")

    def test_a_name_completes(self):
        run = self.started()
        for command in "drain", "top", "stats", "log-level":
            self.assertEqual(gale(run.runtime, "help", "--complete", command, "ser").out, "served\n")
        self.assertIn("debug\n", gale(run.runtime, "help", "--complete", "log-level", "served", "").out)


class Sockets:
    """Sockets of a test's own, in a folder of its own."""

    def folder(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        (Path(folder.name) / "gale").mkdir(mode=0o700)
        return Path(folder.name)

    def bind(self, path, listens):
        sock = socket.socket(socket.AF_UNIX)
        self.addCleanup(sock.close)
        sock.bind(str(path))
        if listens:
            sock.listen()
        return sock


class Strangers(Control, Sockets):
    def test_the_socket_of_who_has_gone_is_removed(self):
        folder = self.folder()
        gone = subprocess.Popen(["true"])
        gone.wait()
        self.bind(folder / "gale" / f"left.{gone.pid}.sock", False)
        self.bind(folder / "gale" / f"mine.{os.getpid()}.sock", False)  # about to listen
        (folder / "gale" / "notes.txt").write_text("not ours")
        (folder / "gale" / "x.12z.sock").write_text("not ours")
        self.assertEqual(gale(folder, "ps").out, "you run no topology that can be reached\n")
        self.assertEqual(sorted(path.name for path in (folder / "gale").iterdir()),
                         [f"mine.{os.getpid()}.sock", "notes.txt", "x.12z.sock"])

    def test_a_folder_that_others_may_enter_is_not_used(self):
        folder = self.folder()
        (folder / "gale").chmod(0o755)
        self.assertIn(str(folder / "gale"), self.said(folder, "ps"))


class Top(Control):
    def test_without_a_terminal_it_says_lines(self):
        run = self.started(lines=LINES)
        self.now(run)
        done = gale(run.runtime, "top", "--times", "2", "--every", "0.1")
        self.assertEqual(done.code, 0)
        self.assertRegex(done.out, r"^served: running, trees: 3 acked, 0 failed, 0 open[^\n]*\n"
                                   r"served: running, trees: 0 acked a second, 0 failed a second, 0 open[^\n]*\n$")

    def test_q_quits_and_leaves_the_terminal_as_it_was(self):
        run = self.started(lines=LINES)
        self.now(run)
        window = Window(self, run.runtime, 80, 24, "top", "--every", "0.05")
        window.shows(r"EXECUTED/s")
        self.assertFalse(window.echoes())
        window.press("q")
        self.assertEqual(window.end(), 0)
        self.assertTrue(window.echoes())
        self.assertIn("\x1b[1mserved\x1b[0m", window.text)
        self.assertRegex(window.text, r"\n$")

    def test_a_signal_ends_it_and_leaves_the_terminal_as_it_was(self):
        run = self.started()
        for how in "\x03", signal.SIGTERM:
            window = Window(self, run.runtime, 80, 24, "top", "--every", "1000")
            window.shows("q quits")
            window.press(how) if how == "\x03" else window.process.send_signal(how)
            self.assertEqual(window.end(), 0)
            self.assertTrue(window.echoes())

    def test_it_ends_with_the_topology(self):
        run = self.started()
        window = Window(self, run.runtime, 80, 24, "top", "--every", "0.05")
        window.shows(r"EXECUTED/s")
        self.assertEqual(gale(run.runtime, "drain", "served", "--wait").code, 0)
        self.assertEqual(window.end(), 0, window.text[-300:])
        self.assertRegex(window.text, "gale: it has ended\r\n$")

    def test_no_color_is_kept(self):
        run = self.started()
        window = Window(self, run.runtime, 80, 24, "top", "--times", "2", "--every", "0.05", env={"NO_COLOR": "1"})
        self.assertEqual(window.end(), 0)
        self.assertIn("served", window.text)
        self.assertNotRegex(window.text, r"\x1b\[[0-9;]*m|[\x01-\x06\x0e]")

    def test_it_fits_the_window(self):
        run = self.started(lines=LINES)
        self.now(run)
        for columns, rows in (200, 50), (80, 24), (60, 12), (40, 8), (20, 4), (10, 2):
            window = Window(self, run.runtime, columns, rows, "top", "--times", "2", "--every", "0.05")
            self.assertEqual(window.end(), 0)
            frames = window.frames()
            self.assertEqual(len(frames), 2, window.text)
            for frame in frames:
                lines = frame.splitlines()
                self.assertLess(max(map(len, lines)), columns)
                self.assertLess(len(lines), rows)
            if columns >= 80:
                self.assertRegex(frames[1], r"COMPONENT +TASKS +EMITTED/s .*EXECUTED/s +CAPACITY ")
                self.assertEqual(re.findall(r"^(count|lines|split) ", frames[1], re.M), ["count", "lines", "split"])

    def test_arrows_move_through_the_components(self):
        run = self.started()
        window = Window(self, run.runtime, 80, 7, "top", "--every", "1000")
        window.shows("q quits; up and down: 0 more above, 2 below")
        window.press("\x1b[B")
        window.shows("1 more above, 1 below")
        window.press("j")
        window.shows("2 more above, 0 below")
        window.press("\x1b[A")
        window.shows("(?s)2 more above.*1 more above, 1 below")
        window.press("q")
        self.assertEqual(window.end(), 0)


class Answering(Control, Sockets):
    """Who listens is none of gale, and says what a test wants."""

    def serve(self, answers):
        """`answers`: bytes, or bytes by the path that is asked for."""
        folder = self.folder()
        sock = self.bind(folder / "gale" / f"fake.{os.getpid()}.sock", True)
        self.asked = []

        def answer():
            while True:
                try:
                    peer, _ = sock.accept()
                except OSError:
                    return
                with peer:
                    said = b""
                    try:
                        while b"\r\n\r\n" not in said and (piece := peer.recv(65536)):
                            said += piece
                        if not said:
                            continue  # who only looked whether somebody listens
                        self.asked.append(said)
                        path = said.split(b" ")[1].decode()
                        peer.sendall(answers if isinstance(answers, bytes) else answers.get(path, b"HTTP/1.0 404 No\r\n\r\n{}"))
                    except OSError:
                        pass

        threading.Thread(target=answer, daemon=True).start()
        self.addCleanup(sock.shutdown, socket.SHUT_RDWR)
        return folder

    def refused(self, answer):
        return self.said(self.serve(answer), "log-level", "fake")

    def good(self, value):
        text = json.dumps(value).encode()
        return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nX-Any: thing\r\n\r\n" % len(text) + text

    def test_what_is_no_http_is_refused(self):
        for answer in (b"", b"hello\r\n\r\n", b"HTTP/2 200 OK\r\n\r\n", b"HTTP/1.1 20 OK\r\n\r\n", b"HTTP/1.1 200 OK\r\n",
                       b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n{}", b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n{}",
                       b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
                       b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 10000 + b"\r\n{}"):
            self.assertRegex(self.refused(answer), r"^gale: '.*/fake\.\d+\.sock' does not answer by HTTP\n$")

    def test_an_answer_that_is_cut_off_is_refused(self):
        self.assertIn("is cut off", self.refused(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}"))

    def test_what_is_no_json_is_refused(self):
        for body in b"", b"{", b"{}x", b"\xff", b"[" * 100000:
            self.assertRegex(self.refused(b"HTTP/1.0 200 OK\r\n\r\n" + body), "does not answer with JSON|cannot be read")

    def test_a_refusal_is_told_in_its_words_and_they_steer_no_terminal(self):
        self.assertEqual(self.refused(b"HTTP/1.0 409 No\r\n\r\n" + json.dumps({"error": "not \x1b[31mnow"}).encode()),
                         "gale: not \\u001b[31mnow\n")
        self.assertIn("answers with status 500", self.refused(b"HTTP/1.0 500 No\r\n\r\n{}"))

    def test_the_request_is_one_of_http_1_0(self):
        folder = self.serve(self.good({"done": "log-level"}))
        self.assertEqual(gale(folder, "log-level", "fake", 'a"b').code, 0)
        self.assertEqual(self.asked[0], b"POST /api/gale/v1/log-level HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                                        b"Content-Length: 16\r\n\r\n" + b'{"level":"a\\"b"}')

    def test_figures_that_are_none_are_shown_as_not_known(self):
        topology = {"name": "a\x1b[2Jb\u202e", "pid": "x", "components": [{"name": "\x01\x02日本語" * 20, "kind": 3, "tasks": -1}, 7, None]}
        for now in ({}, [], {"trees": 3, "hurts": {"a": 1}, "components": [1, 2]},
                    {"phase": "\x1b]0;x\x07", "uptime": 1e300, "time": "x", "trees": {"acked": -5, "failed": 2**63 - 1, "open": 1.5},
                     "hurts": [{"level": "bad", "text": "it \x03hurts\n\x1b[5m"}, 5], "complete": {"mean": 1e9, "p99": -1},
                     "components": [{"capacity": 1e30, "failed": 3, "queued_bytes": 2**62, "execute": {"mean": "x"}}]}):
            folder = self.serve({"/api/gale/v1/topology": self.good(topology), "/api/gale/v1/now": self.good(now)})
            for words in ["stats"], ["top", "--times", "2", "--every", "0.01"], ["ps"], ["ps", "--json"]:
                done = gale(folder, *words)
                self.assertEqual(done.code, 0, done.err)
                self.assertNotRegex(done.out, r"[\x00-\x09\x0b-\x1f\u202e]")
            window = Window(self, folder, 80, 24, "top", "--times", "2", "--every", "0.01")
            self.assertEqual(window.end(), 0)
            self.assertNotRegex(re.sub(r"\x1b\[(\d*m|\d*A|K|B)", "", window.text), r"[\x00-\x09\x0b\x0c\x0e-\x1f\u202e]")


class Words(Control):
    def test_words_that_do_not_fit_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            for words, text in {("ps", "x"): "ps takes no words: gale ps [options]",
                                ("drain",): "drain wants one topology that runs: gale drain TOPOLOGY [options]",
                                ("kill", "a", "b"): "kill wants one topology that runs: gale kill TOPOLOGY [options]",
                                ("top", "a", "b"): "top takes one topology, not 2: gale top [TOPOLOGY] [options]"}.items():
                self.assertEqual(self.said(folder, *words), f"gale: {text}\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
