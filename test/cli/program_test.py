#!/usr/bin/env python3
"""The program as users meet it: exact messages, exit codes, signals, real and broken input.

usage: program_test.py GALE EXAMPLES
"""

import codecs
import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import unittest
import urllib.request
from pathlib import Path

GALE = str(Path(sys.argv[1]).resolve())
EXAMPLES = Path(sys.argv[2]).resolve()
WORD_COUNT = str(EXAMPLES / "word-count" / "topology.yaml")

# On two executors: a printer whose reader is slow, and words that wait for it.
STUCK = """
name: stuck
spouts:
  - {id: words, className: gale.spout.Generator, config: {gale.executor: 0}}
bolts:
  - {id: printer, className: gale.bolt.Printer, config: {gale.executor: 1}}
streams:
  - {from: words, to: printer, grouping: {type: SHUFFLE}}
"""

WHOLE = """\
name: "t"
spouts:
  - id: "lines"
    className: "gale.spout.File"
    constructorArgs: ["-"]
bolts:
  - id: "split"
    className: "gale.bolt.Split"
    parallelism: 2
streams:
  - from: "lines"
    to: "split"
    grouping: {type: SHUFFLE}
"""


class Result:
    def __init__(self, process, out, err):
        self.code = process.returncode
        self.out = out
        self.err = err.decode("utf-8", "replace")
        # Log lines begin with the time of day.
        self.said = "".join(l for l in self.err.splitlines(True) if not re.match(r"\d\d:\d\d:\d\d\.\d\d\d ", l))


class Screen:
    """As much of a terminal as the program draws with. What scrolls out at the top, or is cleared all at once (as tmux
    does), is kept in `past`."""

    def __init__(self, rows):
        self.decoder = codecs.getincrementaldecoder("utf-8")()  # a read may end in the middle of a character
        self.rows, self.past, self.rest = [""] * rows, [], ""
        self.row, self.painted = 0, False

    def take(self, text):
        text = self.rest + text
        whole = re.match(r"(?:\x1b\[\d*[A-Za-z]|[^\x1b])*", text).end()
        self.rest = text[whole:]
        for times, letter, character in re.findall(r"\x1b\[(\d*)([A-Za-z])|([^\x1b])", text[:whole]):
            self.control(letter, int(times or 1)) if letter else self.put(character)

    def control(self, letter, times):
        if letter == "A":
            self.row = max(self.row - times, 0)
        elif letter == "B":
            self.row = min(self.row + times, len(self.rows) - 1)
        elif letter == "K":
            self.rows[self.row] = ""
        elif letter == "J":
            if self.row == 0:
                self.past += self.rows
            self.rows[self.row:] = [""] * (len(self.rows) - self.row)
        elif letter == "m":
            self.painted = True
        else:
            raise AssertionError(f"what does ESC [ {letter} do?")

    def put(self, character):
        if character == "\n" and self.row == len(self.rows) - 1:
            self.past.append(self.rows.pop(0))
            self.rows.append("")
        elif character == "\n":
            self.row += 1
        elif character != "\r":
            self.rows[self.row] += character


class CommandLine(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name)

    def gale(self, *arguments, stdin=b"", **more):
        process = subprocess.Popen([GALE, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, cwd=self.folder.name, **more)
        out, err = process.communicate(stdin, timeout=600)
        return Result(process, out, err)

    def run_text(self, text, *arguments, **more):
        data = text if isinstance(text, bytes) else text.encode()
        (self.path / "t.yaml").write_bytes(data)
        return self.gale("run", "t.yaml", *arguments, **more)

    def refuses(self, text, message, code=2):
        result = self.run_text(text, "--until-drained")
        self.assertEqual(result.said, f"gale: {message}\n")
        self.assertEqual(result.code, code)
        self.assertEqual(result.out, b"")

    def count(self, *arguments, **more):
        return self.gale("run", WORD_COUNT, "--until-drained", "-q", *arguments, **more)

    # --- The program itself

    def test_version(self):
        result = self.gale("--version")
        self.assertEqual((result.code, result.out, result.err), (0, b"gale 0.1.0\n", ""))

    def test_help_of_every_command(self):
        listed = self.gale("help")
        self.assertEqual(listed.code, 0)
        commands = re.findall(r"^  (\w[\w-]*) ", listed.out.decode(), re.M)
        self.assertEqual(commands, ["run", "check", "graph", "checkpoint", "state", "dead-letters", "demo", "simulate", "test", "new", "plugins", "ps",
                                    "top", "stats", "activate", "deactivate", "drain", "kill", "tap", "log-level", "set", "reload", "restart",
                                    "help"])
        for name in commands[:-1]:
            result = self.gale(name, "--help")
            self.assertEqual(result.code, 0)
            self.assertTrue(result.out.startswith(f"gale {name}: ".encode()))
            self.assertIn(f"usage: gale {name} ".encode(), result.out)
            self.assertEqual(self.gale("help", name).out, result.out)
            self.assertEqual(self.gale(name, "-h").out, result.out)

    def test_texts_of_help_stand_in_one_column(self):
        for name in ("run", "dead-letters", "demo", "simulate"):
            lines = self.gale(name, "--help").out.decode().splitlines()
            options = [i for i, line in enumerate(lines) if re.match(r"  (-\w,|   ) --", line)]
            self.assertTrue(options)
            for i in options:
                if not re.match(r".{28} \S", lines[i]):  # too long for the column: the text is below
                    self.assertNotIn(" ", lines[i].split("--")[1].split(" ", 1)[1])
                    self.assertRegex(lines[i + 1], r"^ {29}\S")

    def test_no_command_prints_help_and_is_a_usage_error(self):
        result = self.gale()
        self.assertEqual(result.code, 2)
        self.assertIn(b"usage: gale COMMAND", result.out)

    def test_unknown_command_names_the_nearest(self):
        result = self.gale("rnu")
        self.assertEqual(result.code, 2)
        self.assertEqual(result.err, "gale: unknown command 'rnu'; did you mean 'run'? (gale help lists the commands)\n")

    def test_options_are_checked(self):
        cases = {
            ("--josn",): "unknown option '--josn'; did you mean '--json'?",
            ("-x",): "unknown option '-x'",
            ("--input",): "--input needs a value: --input PATH",
            ("-j", "0"): "--executors must be a whole number from 1 to 256, not '0'",
            ("-jx",): "--executors must be a whole number from 1 to 256, not 'x'",
            ("--rate=0",): "--rate must be a number above 0, not '0'",
            ("--json=1",): "--json takes no value",
            ("--log-level", "wran"): "--log-level must be trace, debug, info, warn, error or off, not 'wran'; "
                                     "did you mean 'warn'?",
            ("-c", "x"): "-c wants key=value; 'x' has no '='",
            ("-c", "topology.max.spout.pendin=1"): "unknown key 'topology.max.spout.pendin'; "
                                                   "did you mean 'topology.max.spout.pending'?",
            ("-c", "nonsense=5"): "unknown key 'nonsense'",
            ("-c", "count.parallelism=3"): f"unknown key 'count.parallelism': -c sets keys of the whole topology; what is "
                                           f"'count's own ({WORD_COUNT}:16:9) is set with --set count.parallelism=...",
            ("--set", "cuont.parallelism=3"): "--set cuont.parallelism: there is no spout or bolt 'cuont'; did you mean 'count'?",
            ("--set", "count.parallelism"): "--set wants id.name=value; 'count.parallelism' has no '='",
            ("--filter", "none.properties"): "cannot open 'none.properties': No such file or directory",
        }
        for arguments, message in cases.items():
            result = self.gale("run", WORD_COUNT, *arguments)
            self.assertEqual((result.code, result.err), (2, f"gale: {message}\n"))

    def test_an_empty_value_is_an_empty_text_and_null_the_classs_own(self):
        text = """
name: cut
spouts:
  - {id: lines, className: gale.spout.Stdin}
bolts:
  - {id: fields, className: gale.bolt.Csv, properties: {fields: "a, b", separator: ";"}}
  - {id: out, className: gale.bolt.FileSink, properties: {path: "-"}}
streams:
  - {from: lines, to: fields, grouping: {type: SHUFFLE}}
  - {from: fields, to: out, grouping: {type: SHUFFLE}}
"""
        self.assertEqual(self.run_text(text, "-q", stdin=b"1,2;3\n").out, b"1,2\t3\n")
        self.assertEqual(self.run_text(text, "-q", "--set", "fields.separator=null", stdin=b"1,2;3\n").out, b"1\t2;3\n")
        empty = self.run_text(text, "-q", "--set", "fields.separator=", stdin=b"1,2;3\n")
        self.assertEqual((empty.code, empty.err),
                         (2, "gale: --set fields.separator: csv bolt: separator must be one character of ASCII, and no end of a line\n"))

    def test_run_wants_one_file(self):
        for arguments in ([], ["a", "b"]):
            result = self.gale("run", *arguments)
            self.assertEqual(result.code, 2)
            self.assertEqual(result.err, f"gale: run takes one topology file, not {len(arguments)}: "
                                         "gale run FILE.yaml [options]\n")

    # --- What a topology file can name

    def test_classes_are_listed(self):
        result = self.gale("help", "classes")
        self.assertEqual((result.code, result.err), (0, ""))
        for line in (r"^  gale\.bolt\.Split  +splits a line into words$", r"^  gale\.Value  ",
                     r"^  - topologySource and workerHooks"):
            self.assertRegex(result.out.decode(), re.compile(line, re.M))

    def test_a_class_is_described_whatever_it_is_called(self):
        result = self.gale("help", "classes", "org.apache.storm.testing.TestWordCounter")
        self.assertEqual(result.out.decode(), """\
gale.bolt.Count: counts equal values of a field

  kind         bolt
  also called  org.apache.storm.testing.TestWordCounter
  output       (word, count)

Properties, in the order of constructorArgs:
  emit  one of: each finish; default each
        'each': the new count for every input; 'finish': all totals at the end
  key   field; default none
        the field whose values it counts; none: the first. A FIELDS grouping goes by the same
        also called field
        as in {name: key, value: word}
""")
        self.assertEqual(self.gale("help", "Count").out, result.out)
        self.assertEqual(self.gale("help", "classes", "Count").out, result.out)
        self.assertEqual(self.gale("help", "count").err, "gale: unknown command 'count' (gale help lists the commands)\n")

    def test_an_unknown_class_is_refused_by_help_too(self):
        cases = {"gale.bolt.Cuont": "; did you mean 'gale.bolt.Count'?",
                 "gale.bolt.Tcp": "; did you mean 'gale.bolt.TcpSink'?",
                 "gale.bolt.Stdin": "; did you mean 'gale.spout.Stdin'?",
                 "gale.spout.Carrier": "; `gale help classes` lists them",
                 "gale.spout.Pulsar": "; `gale help classes` lists them",
                 "gale.bolt.Cassandra": "; `gale help classes` lists them"}
        for name, hint in cases.items():
            result = self.gale("help", "classes", name)
            self.assertEqual((result.code, result.err), (2, f"gale: unknown class '{name}'{hint}\n"))
        result = self.gale("help", "classes", "a", "b")
        self.assertEqual((result.code, result.err), (2, "gale: help classes takes one name, not 2\n"))

    def test_help_says_what_to_do_without_a_class_of_storm(self):
        for words in (["help"], ["help", "classes"]):
            result = self.gale(*words, "org.apache.storm.kafka.spout.KafkaSpout")
            self.assertEqual(result.code, 2)
            self.assertTrue(result.err.startswith("gale: gale has no counterpart of 'org.apache.storm.kafka.spout.KafkaSpout': with a KafkaSpoutConfig$Builder "
                                                  "in the file a KafkaSpout is read as gale.spout.Kafka. Without one it is written gale.spout.Kafka { brokers: "), result.err)

    def test_the_reference_of_classes_is_what_the_program_says(self):
        page = EXAMPLES.parent / "docs" / "reference" / "classes.md"
        result = self.gale("help", "classes", "--markdown")
        self.assertTrue(page.read_bytes() == result.out,
                        f"{page} is not up to date: renew it with gale help classes --markdown > {page}")

    # --- Topologies that are wrong

    def test_unknown_class(self):
        self.refuses(WHOLE.replace("bolt.Split", "bolt.Splitt"),
                     "t.yaml:8:16: unknown class 'gale.bolt.Splitt'; did you mean 'gale.bolt.Split'?")

    def test_missing_field(self):
        self.refuses(WHOLE.replace('    className: "gale.bolt.Split"\n', ""),
                     "t.yaml:7:5: a bolt needs the field 'className'")

    def test_wrong_type(self):
        self.refuses(WHOLE.replace("parallelism: 2", "parallelism: two"),
                     "t.yaml:9:18: 'parallelism' of a bolt must be a whole number, not a string")

    def test_tab(self):
        self.refuses(WHOLE.replace("    parallelism", "\tparallelism"),
                     "t.yaml:9:1: found a tab character where an indentation space is expected")

    def test_unknown_grouping(self):
        self.refuses(WHOLE.replace("SHUFFLE", "SHUFLE"),
                     "t.yaml:13:22: unknown grouping 'SHUFLE'; did you mean 'SHUFFLE'?")

    def test_binary_file_as_topology(self):
        self.refuses(b"\x7fELF\x02\x01\x01\0", "t.yaml:1:1: this is not a text file: it holds byte 0x7f")
        self.refuses(b"PK\x03\x04", "t.yaml: this is a zip archive: unpack it first")
        self.refuses(b"PX\x03\x04", "t.yaml:1:3: this is not a text file: it holds byte 0x03")
        self.refuses(b"name: \x8b\n", "t.yaml:1:7: this is not UTF-8 text: it holds byte 0x8b")

    def test_topology_file_that_cannot_be_read(self):
        self.assertEqual(self.gale("run", "no.yaml").err, "gale: cannot open 'no.yaml': No such file or directory\n")
        result = self.gale("run", ".")
        self.assertEqual((result.code, result.err), (2, "gale: '.' is a directory\n"))

    def test_input_that_nothing_reads(self):
        text = WHOLE.replace("gale.spout.File", "gale.spout.Words").replace('    constructorArgs: ["-"]\n', "")
        result = self.run_text(text, "--input", "x")
        self.assertEqual(result.code, 2)
        self.assertEqual(result.err,
                         "gale: t.yaml: no component reads gale.input (gale.spout.File, gale.spout.Stdin would)\n")

    # --- Input and output

    def test_counts_words(self):
        result = self.count(stdin=b"a b a\n\nb a\r\n")
        self.assertEqual((result.code, sorted(result.out.splitlines())), (0, [b"a\t3", b"b\t2"]))
        self.assertEqual(result.err, "")

    def test_empty_input_is_counted_and_done(self):
        result = self.count()
        self.assertEqual((result.code, result.out, result.err), (0, b"", ""))

    def test_files_instead_of_the_standard_streams(self):
        (self.path / "in.txt").write_text("x y x\n" * 1000)
        for executors in "124":
            result = self.count("--input", "in.txt", "--output=out.tsv", "--overwrite", "-j", executors)
            self.assertEqual((result.code, result.out, result.err), (0, b"", ""))
            self.assertEqual(sorted((self.path / "out.tsv").read_text().splitlines()), ["x\t2000", "y\t1000"])

    def test_invalid_utf8_becomes_bytes(self):
        result = self.count(stdin=b"caf\xe9 \xc3\xa9 caf\xe9\n")
        self.assertEqual((result.code, sorted(result.out.splitlines())), (0, [b"caf\xe9\t2", b"\xc3\xa9\t1"]))
        text = WHOLE.replace("gale.bolt.Split", "gale.bolt.Printer")
        result = self.run_text(text, "--until-drained", "-q", stdin=b"caf\xe9\n")
        self.assertEqual((result.code, json.loads(result.out)["values"]), (0, {"line": {"base64": "Y2Fm6Q=="}}))

    def test_line_of_ten_megabytes_is_counted(self):
        word = b"x" * (10 << 20)
        result = self.count(stdin=word + b"\nend\n")
        self.assertEqual((result.code, sorted(result.out.splitlines())), (0, [b"end\t1", word + b"\t1"]))

    def test_line_over_64_megabytes_is_cut_with_its_number_in_the_log(self):
        with open(self.path / "big", "wb") as big:
            big.write(b"ok\n" + b"x" * ((64 << 20) + 1) + b"\nend\n")
        result = self.count("--input", "big")
        self.assertEqual((result.code, sorted(len(line) for line in result.out.splitlines())), (0, [4, 5, (64 << 20) + 2]))
        self.assertIn("big:2: the line has more than 67108864 bytes (longest), and is cut", result.err)

    def test_directory_as_input(self):
        result = self.count("--input", ".")
        self.assertEqual((result.code, result.said),
                         (3, "gale: '.' is a directory\n  spout 'lines' (task 3) could not be opened\n"))

    def test_input_and_output_that_cannot_be_opened(self):
        result = self.count("--input", "no.txt")
        self.assertEqual((result.code, re.sub("task 4", "task 3", result.said)),
                         (3, "gale: cannot open 'no.txt': No such file or directory\n"
                             "  spout 'lines' (task 3) could not be opened\n"))
        result = self.count("--output", "no/out")
        self.assertEqual((result.code, result.said),
                         (3, "gale: cannot open 'no/out' for writing: No such file or directory\n"
                             "  bolt 'sink' (task 5) could not be prepared\n"))

    def test_closed_pipe_on_output(self):
        read, write = os.pipe()
        os.close(read)
        process = subprocess.Popen([GALE, "run", WORD_COUNT, "--until-drained", "-q"], stdin=subprocess.PIPE,
                                   stdout=write, stderr=subprocess.PIPE)
        os.close(write)
        _, err = process.communicate(b"a b c\n", timeout=600)
        result = Result(process, b"", err)
        self.assertEqual(result.code, 3)
        self.assertIn("gale: cannot write 'standard output': its reader has gone\n", result.err)

    def test_a_file_is_not_read_and_written_at_once(self):
        text = "a b\nc a\n"
        (self.path / "inout.txt").write_text(text)
        os.symlink("inout.txt", self.path / "link")
        os.link(self.path / "inout.txt", self.path / "hard")
        for output in ("inout.txt", "./inout.txt", "link", "hard"):
            result = self.count("--input", "inout.txt", "--output", output)
            self.assertEqual((result.code, result.out, result.err),
                             (2, b"", f"gale: {WORD_COUNT}: 'sink' would write to the file that 'lines' reads: "
                                      "'inout.txt'\n"))
        with open(self.path / "inout.txt", "rb") as input:
            process = subprocess.Popen([GALE, "run", WORD_COUNT, "--output", "link"], stdin=input,
                                       stderr=subprocess.PIPE, cwd=self.folder.name)
            err = process.communicate(timeout=600)[1]
        self.assertEqual(process.returncode, 2)
        self.assertTrue(err.endswith(b"'sink' would write to the file that 'lines' reads: 'standard input'\n"))
        self.assertEqual((self.path / "inout.txt").read_text(), text)

    def unwritable(self, *arguments, stdin=b""):
        """Runs with a standard output that is full, then with none at all."""
        for redirection, why in ((">/dev/full", "No space left on device"), (">&-", "Bad file descriptor")):
            process = subprocess.Popen(["sh", "-c", f'exec "$@" {redirection}', "sh", GALE, *arguments],
                                       stdin=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder.name)
            err = process.communicate(stdin, timeout=600)[1].decode()
            self.assertEqual((process.returncode, err), (3, f"gale: cannot write to standard output: {why}\n"))

    def test_a_standard_output_that_takes_nothing_is_an_error(self):
        for arguments in (["help"], ["help", "run"], ["help", "classes"], ["--version"], [],
                          ["run", WORD_COUNT, "--plan"]):
            self.unwritable(*arguments)
        self.unwritable("run", WORD_COUNT, "--until-drained", "--json", "--output", "out.tsv", "--overwrite",
                        stdin=b"a a\n")
        self.assertEqual((self.path / "out.tsv").read_bytes(), b"a\t2\n")

    def test_a_full_output_is_incomplete(self):
        with open("/dev/full", "wb") as full:
            process = subprocess.Popen([GALE, "run", WORD_COUNT, "--until-drained"], stdin=subprocess.PIPE,
                                       stdout=full, stderr=subprocess.PIPE)
            result = Result(process, b"", process.communicate(b"a b\n", timeout=600)[1])
        self.assertEqual(result.code, 3)
        self.assertTrue(result.said.startswith("gale: cannot write 'standard output': No space left on device\n"
                                               "  it is incomplete: what it lacks was not acked, but for what came from a finish\n"))
        self.assertTrue(result.said.endswith("\nthe output is incomplete\n"))

    def test_the_end_of_a_finite_input_is_said_once(self):
        process = subprocess.Popen([GALE, "run", WORD_COUNT, "--keep-running", "-q", "--output", "out.tsv"],
                                   stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=self.folder.name)
        line = process.stderr.readline().decode()
        self.assertRegex(line, r"INFO the input has ended; Ctrl-C ends the run \(without --keep-running it does so by itself\)\n$")
        process.send_signal(signal.SIGINT)
        self.assertEqual((process.communicate(timeout=600)[1], process.returncode), (b"", 0))

    def test_a_run_ends_by_itself_when_a_finite_input_has_been_answered(self):
        result = self.gale("run", WORD_COUNT, "-q", stdin=b"a b a\n")
        self.assertEqual((result.code, sorted(result.out.split(b"\n"))), (0, [b"", b"a\t2", b"b\t1"]))

    def test_to_keep_running_and_to_end_with_the_input_contradict_each_other(self):
        for other in (["--until-drained"], ["--replay-dead-letters", "letters.jsonl"]):
            result = self.gale("run", WORD_COUNT, "--keep-running", *other)
            self.assertEqual(result.code, 2)
            self.assertIn(f"--keep-running and {other[0]} contradict each other", result.said)

    # --- What a run says

    def test_json_summary(self):
        result = self.count("--json", "--output", "out.tsv", stdin=b"a b a\n")
        summary = json.loads(result.out)
        self.assertEqual((summary["exit_code"], summary["trees"], summary["acked"], summary["open"]), (0, 1, 1, 0))
        rows = {row["component"]: row for row in summary["components"]}
        self.assertEqual(rows["split"]["executed"], 1)
        self.assertEqual(rows["count"]["executed"], 3)
        self.assertEqual(rows["count"]["tasks"], 2)

    def test_json_summary_leaves_an_output_on_the_standard_output_alone(self):
        result = self.count("--json", "--output", "-", stdin=b"a\n")
        self.assertEqual(result.out, b"a\t1\n")
        self.assertEqual(json.loads(result.err)["trees"], 1)

    def test_table_at_the_end(self):
        result = self.gale("run", WORD_COUNT, "--until-drained", stdin=b"a b a\n")
        lines = result.err.splitlines()
        self.assertEqual(lines[0].split(), "component tasks executed emitted acked execute".split())
        self.assertEqual([l.split()[0] for l in lines[1:5]], ["count", "lines", "sink", "split"])
        self.assertEqual(lines[5], "1 tree: 1 acked, 0 failed, 0 timed out, 0 stopped, 0 open")
        self.assertRegex(lines[6], r"^complete latency p50 [\d.]+ \w+, p99 [\d.]+ \w+, max [\d.]+ \w+$")
        self.assertRegex(lines[7], r"^[\d.]+ s: [\d.,]+ trees/s, [\d.,]+ tuples/s$")

    def test_a_bolt_that_cannot_finish_fails_the_run_and_says_why(self):
        text = WHOLE.replace("streams:", '''  - {id: count, className: gale.bolt.Count, properties: [{name: emit, value: finish}]}
  - {id: sink, className: gale.bolt.FileSink, constructorArgs: [out.tsv]}
streams:
  - {from: split, to: count, grouping: {type: FIELDS, args: [word]}}
  - {from: count, to: sink, grouping: {type: DIRECT}}''').replace('"-"', "in.txt")
        (self.path / "in.txt").write_text("a b\n")
        result = self.run_text(text, "--until-drained", "-q")
        self.assertEqual(result.code, 1)
        self.assertIn("a consumer of this stream has direct grouping, but the tuple was not emitted directly", result.err)
        self.assertIn("bolt 'count' (task 1) could not finish: what it had not emitted yet is lost", result.err)

    def test_plan_says_which_inputs_drop(self):
        result = self.run_text(WHOLE.replace("SHUFFLE}", "SHUFFLE, drop: newest}"), "--plan")
        self.assertEqual(result.code, 0)
        self.assertIn(b"lines --SHUFFLE--> split (drops the newest)", result.out)

    def test_plan_prints_and_runs_nothing(self):
        result = self.gale("run", WORD_COUNT, "--plan", "-j", "2", "--output", "out.tsv")
        self.assertEqual((result.code, result.err), (0, ""))
        lines = result.out.decode().splitlines()
        self.assertEqual(lines[0], "word-count: 7 tasks on 2 executors")
        self.assertEqual([l.split()[2] for l in lines[3:10]], ["count"] * 2 + ["lines"] * 2 + ["sink"] + ["split"] * 2)
        self.assertEqual([l.split(maxsplit=3)[3].split(":")[0] for l in lines[3:10]],
                         ["spread"] * 4 + ["with its spout"] + ["spread"] * 2)
        self.assertIn("one task, beside the first spout that reaches it", lines[7])
        self.assertEqual(lines[11:], ["lines --SHUFFLE--> split: stays on its executor while that keeps up",
                                      "split --FIELDS(word)--> count: 50 % to another executor",
                                      "count --GLOBAL--> sink: 50 % to another executor"])
        self.assertFalse((self.path / "out.tsv").exists())

    def test_plan_says_when_shuffle_stays_and_which_executor_has_nothing_to_do(self):
        together = WHOLE.replace("parallelism: 2", "config: {gale.executor: 0}")
        result = self.run_text(together, "--plan", "-j", "2")
        self.assertEqual((result.code, result.err), (0, ""))
        self.assertIn("executor 1 has no task, and sleeps: more tasks (parallelism) would use it", result.out.decode())
        result = self.run_text(WHOLE, "--plan", "-j", "2")
        self.assertIn("lines --SHUFFLE--> split: stays on its executor while that keeps up", result.out.decode())
        self.assertNotIn("sleeps", result.out.decode())
        even = "config: {topology.disable.loadaware.messaging: true}\n" + WHOLE
        result = self.run_text(even, "--plan", "-j", "2")
        self.assertIn("lines --SHUFFLE--> split: 50 % to another executor", result.out.decode())

    def test_plan_as_json(self):
        text = WHOLE.replace("SHUFFLE}", "SHUFFLE, drop: newest}").replace("parallelism: 2", "config: {gale.executor: 1}")
        text = text.replace("streams:", """  - {id: count, className: gale.bolt.Count, parallelism: 2}
streams:
  - {from: split, to: count, grouping: {type: FIELDS, args: [word]}}""")
        result = self.run_text(text, "--plan", "--json", "-j", "2")
        self.assertEqual((result.code, result.err, result.out.count(b"\n")), (0, "", 1))
        plan = json.loads(result.out)
        self.assertEqual((plan["topology"], plan["executors"]), ("t", 2))
        self.assertEqual([(t["task"], t["component"], t["because"]) for t in plan["tasks"]],
                         [(1, "count", "spread"), (2, "count", "spread"), (3, "lines", "with its spout"),
                          (4, "split", "gale.executor")])
        self.assertEqual(plan["tasks"][3]["executor"], 1)
        self.assertEqual(plan["streams"], [
            {"from": "lines", "stream": "default", "to": "split", "grouping": "shuffle", "fields": [],
             "drop": "newest", "crosses": 1},
            {"from": "split", "stream": "default", "to": "count", "grouping": "fields", "fields": ["word"],
             "drop": None, "crosses": 0.5}])

    def test_a_field_is_counted_that_it_is_grouped_by(self):
        text = """
name: requests
spouts: [{id: lines, className: gale.spout.AccessLog, properties: [{name: lines, value: 2000}, {name: seed, value: 1}]}]
bolts:
  - {id: parse, className: gale.bolt.AccessLog}
  - id: count
    className: gale.bolt.Count
    parallelism: 4
    properties: [{name: emit, value: finish}, {name: field, value: status}]
  - {id: sink, className: gale.bolt.FileSink, constructorArgs: ["-"]}
streams:
  - {from: lines, to: parse, grouping: {type: SHUFFLE}}
  - {from: parse, to: count, grouping: {type: FIELDS, args: [status]}}
  - {from: count, to: sink, grouping: {type: GLOBAL}}
"""
        result = self.run_text(text, "--until-drained", "-q")
        self.assertEqual(result.code, 0, result.err)
        rows = [line.split(b"\t") for line in result.out.splitlines()]
        self.assertTrue({b"200", b"404"} <= {row[0] for row in rows}, rows)
        self.assertEqual(len(rows), len({row[0] for row in rows}))
        self.assertGreater(sum(int(row[1]) for row in rows), 1900)

    def test_key_without_effect_is_warned_about(self):
        result = self.run_text(WHOLE + "config:\n  topology.workers: 2\n", "--until-drained", "-q")
        self.assertEqual(result.code, 0)
        self.assertRegex(result.err, r"^\d\d:\d\d:\d\d\.\d\d\d WARN t\.yaml:15:3: topology\.workers has no effect here: there is one process\n$")

    def test_lines_given_up_make_exit_code_1(self):
        # A ranking of words alone: no count is there, so every line fails until it is given up.
        text = WHOLE.replace("gale.bolt.Split", "gale.bolt.IntermediateRankings")
        result = self.run_text(text, "--until-drained", "--json", stdin=b"a b\nc\n")
        summary = json.loads(result.out)
        self.assertEqual((result.code, summary["exit_code"]), (1, 1))
        self.assertEqual((summary["trees"], summary["acked"], summary["failed"]), (6, 0, 6))

    def test_a_spout_that_waits_for_answers_says_so(self):
        text = WHOLE + "config: {topology.max.spout.pending: 1}\n"
        text = text.replace("parallelism: 2", "config: {gale.executor: 1}")
        result = self.run_text(text, "--until-drained", "-j", "2", stdin=b"a b\n" * 1000)
        self.assertEqual(result.code, 0)
        self.assertRegex(result.err, r"(?m)^lines waited \d+ % of the time for answers: 1 of 1 pending$")
        result = self.run_text(text, "--until-drained", "-j", "2", "--json", stdin=b"a b\n" * 1000)
        rows = {row["component"]: row for row in json.loads(result.out)["components"]}
        self.assertTrue(0 < rows["lines"]["waited_for_answers_seconds"] <= json.loads(result.out)["seconds"])

    def test_what_is_dropped_is_counted(self):
        text = WHOLE.replace("gale.bolt.Split", "gale.bolt.FileSink").replace(
            "parallelism: 2", "constructorArgs: [out.txt]\n    config: {gale.executor: 1}")
        for policy in "oldest", "newest":
            result = self.run_text(text.replace("SHUFFLE", "SHUFFLE, drop: " + policy), "--until-drained", "--json",
                                   "--overwrite", "-j", "2", stdin=b"".join(b"%d\n" % i for i in range(100000)))
            summary = json.loads(result.out)
            (dropped,) = summary["dropped"]
            numbers = [int(line) for line in (self.path / "out.txt").read_text().split()]
            self.assertEqual(numbers, sorted(set(numbers)))
            self.assertEqual(len(numbers) + dropped["count"], 100000)
            self.assertEqual((dropped["from"], dropped["to"], dropped["drop"]), ("lines", "split", policy))
            self.assertEqual((result.code, summary["acked"]), (0, 100000))

    def test_untracked_tuples_are_counted_as_such(self):
        text = WHOLE.replace("gale.spout.File", "gale.spout.Words").replace('    constructorArgs: ["-"]\n', "")
        (self.path / "t.yaml").write_text(text.replace("gale.bolt.Split", "gale.bolt.Printer"))
        for arguments in ([], ["--json"]):
            process = subprocess.Popen([GALE, "run", "t.yaml", *arguments], stdout=subprocess.PIPE,
                                       stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=self.folder.name)
            self.wait_for_line(process)
            process.send_signal(signal.SIGINT)
            err = process.communicate(timeout=600)[1].decode()
            if arguments:
                summary = json.loads(err)
                self.assertEqual(summary["trees"], 0)
                self.assertGreater(summary["untracked"], 0)
            else:
                self.assertRegex(err, r"\nno tracked tuples; \d+ emitted by spouts\n[\d.]+ s: [\d.]+ tuples/s\n$")

    def test_the_table_of_storms_example_fits_a_narrow_terminal(self):
        process = subprocess.Popen([GALE, "run", str(EXAMPLES / "storm" / "rolling-top-words.yaml")],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while b"log: " not in process.stderr.readline():
            self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        err = process.communicate(timeout=600)[1].decode()
        self.assertLessEqual(max(len(line) for line in err[err.index("component "):].splitlines()), 100)

    def test_a_stream_of_a_route_that_nobody_takes_is_logged_once(self):
        if "gale.bolt.Route" not in str(self.gale("help", "classes").out):
            self.skipTest("it has no expressions")
        text = """\
name: t
spouts:
  - {id: lines, className: gale.spout.Stdin}
bolts:
  - {id: route, className: gale.bolt.Route, properties: {routes: {a: 'line == "a"', b: 'line == "b"'}}}
  - {id: out, className: gale.bolt.Printer}
streams:
  - {from: lines, to: route, grouping: SHUFFLE}
  - {from: route, to: out, grouping: {type: SHUFFLE, streamId: a}}
"""
        result = self.run_text(text, stdin=b"a\nb\nb\na\nb\n")
        self.assertEqual((result.code, result.err.count("nobody subscribes to the stream 'b': its tuples go nowhere")), (0, 1), result.err)
        self.assertNotIn("stream 'a'", str(result.err))

    def test_storms_own_class_names(self):
        result = self.gale("run", str(EXAMPLES / "storm" / "rolling-top-words.yaml"), "--plan")
        self.assertEqual(result.code, 0)
        self.assertEqual(result.out.decode().splitlines()[0].split(":")[0], "slidingWindowCounts")
        self.assertEqual(result.err, "")  # topology.workers: 1 is what is

    # --- Dead letters

    LETTERS = "".join(json.dumps({"component": "lines", "stream": "default", "message_id": i, "tuple": [f"a{i} b"],
                                  "reason": reason, "text": "no\n\u00fc", "place": "split", "task": 2,
                                  "attempts": 3}, ensure_ascii=False) + "\n"
                      for i, reason in enumerate(["failed", "timeout", "failed"]))

    def letters(self, *arguments, text=LETTERS, name="letters"):
        (self.path / name).write_text(text)
        return self.gale("dead-letters", *arguments)

    def test_dead_letters_are_shown_with_counts_by_reason(self):
        result = self.letters("show", "letters")
        self.assertEqual((result.code, result.err), (0, ""))
        self.assertEqual(result.out.decode(), """\
spout  stream   message  attempts  reason   place           text  tuple
lines  default  0        3         failed   split (task 2)  no \u00fc  ["a0 b"]
lines  default  1        3         timeout  split (task 2)  no \u00fc  ["a1 b"]
lines  default  2        3         failed   split (task 2)  no \u00fc  ["a2 b"]

3 dead letters: 2 failed, 1 timeout
""")

    def test_dead_letters_of_one_reason_are_shown_alone_or_as_they_are(self):
        result = self.letters("show", "letters", "--reason", "timeout")
        self.assertTrue(result.out.decode().endswith("\n\n1 dead letter: 1 timeout\n"), result.out)
        result = self.letters("show", "letters", "--reason", "timeout", "--json")
        self.assertEqual(result.out.decode(), self.LETTERS.splitlines(True)[1])
        self.assertEqual(self.letters("show", "letters", "--reason", "rejected").out, b"0 dead letters\n")
        self.assertEqual(self.letters("show", "letters", text="").out, b"0 dead letters\n")

    def test_dead_letters_that_cannot_be_read_are_said_where(self):
        cases = {
            ("show",): (2, "dead-letters wants 'show' and one file: gale dead-letters show FILE [options]"),
            ("list", "letters"): (2, "dead-letters knows no 'list': gale dead-letters show FILE [options]"),
            ("shwo",): (2, "dead-letters knows no 'shwo'; did you mean 'show'?"),
            ("show", "letters", "--reason", "foo"):
                (2, "there is no reason 'foo'\n  the reasons are failed, rejected, timeout, deadline, overflow, stopped, "
                    "no memory, child exited, source lost, user"),
            ("show", "letters", "--reason", "time out"): (2, "there is no reason 'time out'; did you mean 'timeout'?"),
            ("show", "nix"): (3, "cannot open 'nix': No such file or directory"),
        }
        for arguments, (code, message) in cases.items():
            result = self.letters(*arguments)
            self.assertEqual((result.code, result.err), (code, f"gale: {message}\n"))

    def test_what_is_no_dead_letter_file_is_refused_alike_by_show_and_replay(self):
        text = "to be or\n" * 3000
        message = "gale: letters:{}:1: this is no line of a dead-letter file: expected a value\n"
        messages = "".join(message.format(number) for number in range(1, 11))
        messages += "gale: letters: 3,000 lines were skipped: no dead letters\n"
        for result in (self.letters("show", "letters", text=text), self.letters("show", "letters", "--json", text=text),
                       self.replay(text=text)):
            self.assertEqual((result.code, result.out, result.err), (2, b"", messages))

    def test_a_line_that_is_no_dead_letter_is_said_and_skipped(self):
        whole = self.LETTERS.splitlines(True)
        text = whole[0] + '{"a"\n' + whole[1] + whole[2].replace("tuple", "tupel") + whole[2] + whole[0][:50]
        messages = ("gale: letters:2:5: this is no line of a dead-letter file: expected ':'\n"
                    "gale: letters:4:62: a dead letter has no field 'tupel'; did you mean 'tuple'?\n"
                    "gale: letters:6:45: this is no line of a dead-letter file: the string does not end\n"
                    "gale: letters: 3 lines were skipped: no dead letters\n")
        result = self.letters("show", "letters", text=text)
        self.assertEqual((result.code, result.err), (1, messages))
        self.assertTrue(result.out.decode().endswith("\n\n3 dead letters: 2 failed, 1 timeout\n"), result.out)
        result = self.letters("show", "letters", "--json", text=text)
        self.assertEqual((result.code, result.out.decode(), result.err), (1, self.LETTERS, messages))
        result = self.replay(text=text)
        self.assertEqual((result.code, result.err), (1, messages))
        self.assertEqual(sorted(result.out.splitlines()), [b"a0\t1", b"a1\t1", b"a2\t1", b"b\t3"])
        mended = self.letters("show", "letters", text=self.LETTERS.rstrip("\n"))
        self.assertEqual((mended.code, mended.err), (0, ""))

    def test_the_columns_of_many_dead_letters_grow_as_they_are_read(self):
        letter = json.loads(self.LETTERS.splitlines()[0])
        lines = [json.dumps(letter | {"message_id": 10 ** 9 * (number > 1000)}) + "\n" for number in range(2500)]
        out = self.letters("show", "letters", text="".join(lines)).out.decode().splitlines()
        self.assertEqual(len(out), 2500 + 3)
        for number, row in enumerate(out[1:-2]):
            self.assertEqual(row.index("failed"), out[0].index("reason") if number < 1000 else 38)
        self.assertEqual(out[-1], "2,500 dead letters: 2,500 failed")
        reasons = "".join(json.dumps(letter | {"reason": f"r{number % 40}"}) + "\n" for number in range(80))
        last = self.letters("show", "letters", text=reasons).out.decode().splitlines()[-1]
        self.assertTrue(last.startswith("80 dead letters: 2 r0, 2 r1, "), last)
        self.assertTrue(last.endswith(", 2 r30, 18 for other reasons"), last)

    def replay(self, *arguments, text=LETTERS):
        (self.path / "letters").write_text(text)
        return self.count("--replay-dead-letters", "letters", *arguments)

    def test_dead_letters_are_emitted_again_into_the_streams_that_they_came_from(self):
        result = self.replay()
        self.assertEqual((result.code, result.err), (0, ""))
        self.assertEqual(sorted(result.out.splitlines()), [b"a0\t1", b"a1\t1", b"a2\t1", b"b\t3"])

    def test_dead_letters_that_do_not_fit_are_refused_before_the_run(self):
        cases = {
            ("lines", "linse"): "letters:1: the topology has no spout 'linse'; did you mean 'lines'?",
            ("default", "defautl"): "letters:1: spout 'lines' has no stream 'defautl'; did you mean 'default'?",
            ('["a0 b"]', '[1, 2]'): "letters:1: the tuple has 2 values, and stream 'default' of 'lines' has 1 field",
        }
        for (old, new), message in cases.items():
            result = self.replay(text=self.LETTERS.replace(old, new, 1))
            self.assertEqual((result.code, result.err, result.out), (2, f"gale: {message}\n", b""))

    def test_dead_letters_are_not_read_from_where_they_are_written(self):
        result = self.replay("-c", "topology.dead_letters.file=./letters")
        self.assertEqual(result.code, 2)
        self.assertIn("topology.dead_letters.file would write to the file that --replay-dead-letters reads: 'letters'; "
                      "move it first", result.err)
        result = self.replay("--input", "x")
        self.assertEqual((result.code, result.err),
                         (2, "gale: --input is of no use with --replay-dead-letters: no spout reads it\n"))

    def test_a_dead_letter_file_that_cannot_be_made_is_an_error_of_output(self):
        result = self.count("-c", "topology.dead_letters.file=no/such/letters", stdin=b"a\n")
        self.assertEqual(result.code, 3)
        self.assertIn("cannot open 'no/such/letters' for writing: No such file or directory", result.err)

    def test_a_bolt_may_subscribe_to_the_dead_letters_of_a_spout(self):
        text = WHOLE + """\
  - {from: "lines", to: "split", grouping: {type: SHUFFLE, streamId: __dead_letter}}
"""
        result = self.run_text(text, "--until-drained", "-q", stdin=b"a b\n")
        self.assertEqual((result.code, result.err), (0, ""))
        self.refuses(text.replace("__dead_letter", "__dead_leter"),
                     "t.yaml:14:70: 'lines' has no stream '__dead_leter'; did you mean '__dead_letter'?")

    # --- The event log

    def events(self, name="events.jsonl"):
        return [json.loads(line) for line in (self.path / name).read_text().splitlines()]

    def test_the_event_log_has_each_tuple_once_and_changes_no_result(self):
        lines = [f"w{n % 7} x{n} \u00e9\"{n % 3}" for n in range(3000)]
        (self.path / "in.txt").write_text("\n".join(lines) + "\n")
        for executors in "14":
            plain = self.count("--input", "in.txt", "-j", executors)
            name = f"events{executors}"
            logged = self.count("--input", "in.txt", "-j", executors, "--events-file", name, "--log-events", "split",
                                "--log-events", "lines=100")
            self.assertEqual((logged.code, logged.err), (0, ""))
            self.assertEqual(sorted(logged.out.splitlines()), sorted(plain.out.splitlines()))
            events = self.events(name)
            words = [e["values"][0] for e in events if e["component"] == "split"]
            self.assertEqual(sorted(words), sorted(word for line in lines for word in line.split()))
            roots = [e["values"][0] for e in events if e["component"] == "lines"]
            self.assertEqual(sorted(roots), sorted(lines))
            self.assertEqual(len(events), len(words) + len(roots))
            for event in events:
                self.assertRegex(event["time"], r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$")
                self.assertEqual((event["stream"], "id" in event), ("default", event["component"] == "lines"))

    def test_the_event_log_may_be_a_sample_and_goes_behind_what_is_there(self):
        (self.path / "events.jsonl").write_text('{"values": "before"}\n')
        result = self.count("--log-events", "split=10", "--seed", "1", stdin=b"a b c d e f g h i j\n" * 1000)
        self.assertEqual((result.code, result.err), (0, ""))
        events = self.events()
        self.assertEqual(events[0], {"values": "before"})
        self.assertTrue(800 < len(events) < 1200, len(events))  # 1000 expected, deviation 30

    def test_the_event_log_can_go_to_the_standard_output(self):
        result = self.count("--log-events", "split", "--events-file", "-", "--output", "out.tsv", stdin=b"a\xe9 b\n")
        self.assertEqual((result.code, [json.loads(line)["values"] for line in result.out.splitlines()]),
                         (0, [[{"base64": "Yek="}], ["b"]]))

    def test_the_event_log_is_written_while_the_topology_runs(self):
        os.mkfifo(self.path / "pipe")
        text = WHOLE.replace("gale.spout.File", "gale.spout.Words").replace('    constructorArgs: ["-"]\n', "")
        (self.path / "t.yaml").write_text(text)
        process = subprocess.Popen([GALE, "run", "t.yaml", "-q", "--log-events", "lines", "--events-file", "pipe"],
                                   stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=self.folder.name)
        with open(self.path / "pipe") as pipe:
            event = json.loads(pipe.readline())
            self.assertEqual((event["component"], len(event["values"])), ("lines", 1))
            process.send_signal(signal.SIGINT)
            for line in pipe:
                self.assertEqual(json.loads(line)["component"], "lines")
        self.assertEqual((process.communicate(timeout=600)[1], process.returncode), (b"", 0))

    def test_what_is_wrong_with_an_event_log_is_said_before_anything_runs(self):
        cases = {
            ("--log-events", "splt"): (2, "--log-events: there is no component 'splt'; did you mean 'split'?"),
            ("--log-events", "=5"): (2, "--log-events: there is no component ''"),
            ("--log-events", "split", "--log-events", "conut=5"):
                (2, "--log-events: there is no component 'conut'; did you mean 'count'?"),
            ("--log-events", "split", "--events-file", "no/x"):
                (3, "cannot open 'no/x' for writing: No such file or directory"),
            ("--log-events", "split", "--events-file", "."): (3, "'.' is a directory"),
            ("--events-file", "x"): (2, "--events-file is of no use without --log-events"),
        }
        for percent in ("", "x", "0", "-1", "100.1", "nan", "5%"):
            cases[("--log-events", "split=" + percent)] = \
                (2, f"--log-events: a percentage is above 0 and at most 100, not '{percent}'")
        for arguments, (code, message) in cases.items():
            result = self.count("--output", "out.tsv", *arguments, stdin=b"a\n")
            self.assertEqual((result.code, result.out, result.err), (code, b"", f"gale: {message}\n"))
        self.assertFalse((self.path / "out.tsv").exists())

    def test_an_event_log_that_cannot_be_written_ends_and_the_run_goes_on(self):
        result = self.count("--log-events", "split", "--events-file", "/dev/full", stdin=b"a b a\n" * 50000)
        self.assertEqual((result.code, sorted(result.out.splitlines())), (3, [b"a\t100000", b"b\t50000"]))
        self.assertEqual(result.err, "gale: cannot write '/dev/full': No space left on device\n")
        result = self.gale("run", WORD_COUNT, "--until-drained", "--log-events", "split", "--events-file", "/dev/full",
                           stdin=b"a b a\n")
        self.assertEqual(result.code, 3)
        self.assertTrue(result.said.endswith("\nthe event log is incomplete\n"), result.said)

    def test_an_event_log_of_a_component_without_outputs_is_warned_about(self):
        result = self.count("--log-events", "sink", stdin=b"a\n")
        self.assertEqual((result.code, result.out), (0, b"a\t1\n"))
        self.assertRegex(result.err, r"^\S+ WARN --log-events: 'sink' has no outputs: it emits nothing to be logged\n$")

    # --- What terminals obey

    HOSTILE = "a\x1b[2Jb\x9b2Jc\x7fd\u202ee\u2066f"  # clears the screen, twice; deletes; turns the rest of the line

    def no_controls(self, text):
        found = re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", text)
        self.assertEqual(found, [], text)

    def test_nothing_that_others_wrote_steers_the_terminal(self):
        quoted = json.dumps(self.HOSTILE)
        cases = [self.run_text(WHOLE.replace("gale.bolt.Split", quoted[1:-1])),
                 self.run_text(WHOLE.replace("SHUFFLE", quoted)),
                 self.run_text(WHOLE.replace("parallelism", quoted)),
                 self.run_text(WHOLE.replace("parallelism: 2", "config: {topology.workers: 1, topology.%s: 2}"
                                             % quoted[1:-1])),
                 self.run_text(WHOLE.replace('id: "split"', "id: " + quoted)),
                 self.run_text(WHOLE.replace('["-"]', f"[{quoted}]"), "--until-drained"),
                 self.run_text("name: " + quoted),
                 self.gale("run", self.HOSTILE),
                 self.gale("run", b"caf\xe9\x9b2J"),
                 self.gale(self.HOSTILE),
                 self.gale("run", WORD_COUNT, "--" + self.HOSTILE),
                 self.gale("run", WORD_COUNT, "-c", self.HOSTILE),
                 self.gale("run", WORD_COUNT, "--input", self.HOSTILE),
                 self.gale("demo", self.HOSTILE),
                 self.gale("demo", "word-count", "--input", self.HOSTILE),
                 self.gale("simulate", WORD_COUNT, "--faults", self.HOSTILE),
                 self.letters("show", self.HOSTILE),
                 self.letters("show", "letters", "--reason", self.HOSTILE),
                 self.letters("show", "letters", text="{\x1b[2J"),
                 self.letters("show", "letters", text=self.LETTERS.replace("reason", self.HOSTILE))]
        for result in cases:
            self.assertNotEqual(result.code, 0)
            self.assertRegex(result.err, r"^gale: |\ngale: ")
            self.no_controls(result.err)
        self.assertEqual(self.gale("run", b"caf\xe9\x9b2J\xc3\xa9").err,
                         "gale: cannot open 'caf\\xe9\\x9b2J\u00e9': No such file or directory\n")
        self.assertTrue(cases[9].err.startswith(
            r"gale: unknown command 'a\u001b[2Jb\u009b2Jc\u007fd\u202ee\u2066f' (gale help"))

    def test_a_log_line_does_not_steer_the_terminal(self):
        text = WHOLE.replace('id: "split"', 'id: "a\\u009b2Jb"').replace('to: "split"', 'to: "a\\u009b2Jb"')
        result = self.run_text(text.replace("gale.bolt.Split", "gale.bolt.IntermediateRankings"), "--until-drained",
                               stdin=b"a\n")
        self.assertEqual(result.code, 1)
        self.assertIn("a\\u009b2Jb", result.err)
        self.no_controls(result.err)

    def test_dead_letters_do_not_steer_the_terminal(self):
        letter = json.loads(self.LETTERS.splitlines()[0])
        letter.update(component=self.HOSTILE, reason=self.HOSTILE, text=self.HOSTILE, place=self.HOSTILE,
                      stream=self.HOSTILE, tuple=[self.HOSTILE])
        line = json.dumps(letter, ensure_ascii=False) + "\n"
        out = self.letters("show", "letters", text=line).out.decode()
        self.no_controls(out)
        self.assertIn("a [2Jb 2Jc d e f", out)
        self.assertEqual(self.letters("show", "letters", "--json", text=line).out.decode(), line)
        shown = self.on_terminal("dead-letters", "show", "letters", "--json").replace("\r\n", "\n")
        self.no_controls(shown)
        self.assertEqual(json.loads(shown), letter)

    def on_terminal(self, *arguments):
        """What a terminal is sent that is the standard output."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen([GALE, *arguments], stdin=subprocess.DEVNULL, stdout=theirs, cwd=self.folder.name,
                                   stderr=subprocess.PIPE)
        os.close(theirs)
        sent = b""
        try:
            while piece := os.read(ours, 65536):
                sent += piece
        except OSError:  # what Linux says when the other end is closed
            pass
        os.close(ours)
        self.no_controls(process.communicate(timeout=600)[1].decode())
        self.assertEqual(process.returncode, 0)
        return sent.decode()

    def test_a_demo_does_not_steer_the_terminal(self):
        (self.path / "in.txt").write_text(f"x {self.HOSTILE} x\n")
        result = self.gale("demo", "word-count", "--input", "in.txt")
        self.assertEqual(result.code, 0)
        self.no_controls(result.out.decode())
        self.assertTrue(result.out.endswith(b"| x 2, a?[2Jb?2Jc?d?e?f 1\n"), result.out)
        os.rename(self.path / "in.txt", self.path / self.HOSTILE)
        sent = self.on_terminal("demo", "word-count", "--input", self.HOSTILE)
        self.assertIn(r"a\u001b[2Jb\u009b2J", sent)
        self.no_controls(re.sub(r"\r|\x1b\[\d*[ABKm]", "", sent))  # but for what the program itself draws with

    # --- Signals

    def wait_for_line(self, process):
        self.assertTrue(process.stdout.readline())

    def endless(self, *arguments, **more):
        text = WHOLE.replace("gale.spout.File", "gale.spout.Generator").replace('    constructorArgs: ["-"]\n', "")
        (self.path / "t.yaml").write_text(text.replace("gale.bolt.Split", "gale.bolt.Printer"))
        more.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.Popen([GALE, "run", "t.yaml", "--rate", "500", *arguments], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, cwd=self.folder.name, **more)

    def endless_on_terminal(self, *arguments, **more):
        """One whose standard input is a terminal: its other end, and the process, which runs."""
        terminal, theirs = pty.openpty()
        process = self.endless(*arguments, stdin=theirs, **more)
        os.close(theirs)
        self.wait_for_line(process)
        return terminal, process

    def end_by(self, number, *arguments):
        """SIGHUP comes from a terminal that was closed."""
        terminal, process = self.endless_on_terminal(*arguments)
        os.close(terminal)
        process.send_signal(number)
        return process

    SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def ends_drained(self, process, code):
        out, err = process.communicate(timeout=600)
        self.assertEqual(process.returncode, code, err)
        match = re.search(rb"(\S+) trees?: (\S+) acked, 0 failed, 0 timed out, 0 stopped, 0 open", err)
        self.assertIsNotNone(match, err)
        self.assertEqual(match.group(1), match.group(2))

    def test_a_run_that_only_a_signal_ends_drains_and_exits_with_0(self):
        for number in self.SIGNALS:
            self.ends_drained(self.end_by(number), 0)

    def test_a_run_until_drained_that_a_signal_ends_before_its_input_gives_128_and_its_number(self):
        for number in self.SIGNALS:
            self.ends_drained(self.end_by(number, "--until-drained"), 128 + number)

    def test_a_signal_gives_128_and_its_number_where_that_was_asked_for(self):
        for number in self.SIGNALS:
            self.ends_drained(self.end_by(number, "--exit-by-signal"), 128 + number)
        self.assertEqual(self.count("--exit-by-signal", stdin=b"a\n").code, 0)

    def test_what_failed_for_good_is_told_by_the_exit_code_of_a_drain_too(self):
        text = WHOLE.replace("gale.spout.File", "gale.spout.Generator").replace('    constructorArgs: ["-"]\n', "")
        (self.path / "t.yaml").write_text(text.replace("gale.bolt.Split", "gale.bolt.IntermediateRankings"))
        process = subprocess.Popen([GALE, "run", "t.yaml", "--rate", "100", "-q"], stdin=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, cwd=self.folder.name)
        while b"given up" not in process.stderr.readline():
            self.assertIsNone(process.poll())
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=600)
        self.assertEqual(process.returncode, 1)

    def test_several_hangups_are_one(self):
        # Printing is slower than the signals are sent: the drain is still going on when the last one comes.
        terminal, process = self.endless_on_terminal("--rate", "100000000", pipesize=4096)
        os.close(terminal)
        for _ in range(20):
            process.send_signal(signal.SIGHUP)
            try:
                process.wait(0.03)
            except subprocess.TimeoutExpired:
                pass
        self.ends_drained(process, 0)

    def test_what_nohup_ignores_stays_ignored(self):
        process = self.endless(preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.wait_for_line(process)
        process.send_signal(signal.SIGHUP)
        for _ in range(500):  # a second of the rate: a drain would long have ended it
            self.wait_for_line(process)
        process.send_signal(signal.SIGTERM)
        self.ends_drained(process, 0)

    def test_a_terminal_that_closes_begins_a_drain_and_does_not_end_it(self):
        text = WHOLE.replace("gale.spout.File", "gale.spout.Generator").replace('    constructorArgs: ["-"]\n', "")
        text = text.replace("gale.bolt.Split", "gale.bolt.FileSink").replace("parallelism: 2",
                                                                             "constructorArgs: [out.txt]")
        (self.path / "t.yaml").write_text(text)
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.folder.name)
            os.execv(GALE, [GALE, "run", "t.yaml", "--rate", "500", "--log-events", "lines", "--events-file",
                            "events", "--log-level", "debug"])
        shown = b""
        while not re.search(rb"  [1-9][\d,]* trees  ", shown):
            shown += os.read(terminal, 65536)
        os.close(terminal)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        emitted = self.events("events")
        self.assertEqual(len((self.path / "out.txt").read_text().splitlines()), len(emitted))
        self.assertGreater(len(emitted), 0)

    def test_a_second_signal_stops_what_does_not_drain(self):
        # The printer fills a small pipe that nobody reads any more, and stays in its write.
        process = self.endless("--rate", "100000000", pipesize=4096)
        self.wait_for_line(process)
        while process.poll() is None:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(0.5)
            except subprocess.TimeoutExpired:
                pass
        self.assertEqual(process.returncode, 130)
        process.communicate()

    def test_a_drain_that_is_given_up_says_what_is_open_and_where(self):
        (self.path / "t.yaml").write_text(STUCK)
        process = subprocess.Popen([GALE, "run", "t.yaml", "-j", "2"], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder.name,
                                   pipesize=4096)
        self.wait_for_line(process)
        while process.poll() is None:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(0.5)
            except subprocess.TimeoutExpired:
                pass
        err = process.stderr.read().decode()
        process.communicate()
        self.assertRegex(err, r"giving up with \d+ open; the oldest:\n  words #\d+, \S+ s old: .*'printer' \(task 1\)")

    def test_a_signal_ends_a_start_that_hangs(self):
        # Nobody writes to this pipe, so that opening it does not return.
        os.mkfifo(self.path / "pipe")
        process = subprocess.Popen([GALE, "run", WORD_COUNT, "--input", "pipe"], stdin=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, cwd=self.folder.name)
        blocked = re.compile(r"^SigBlk:\s*[0-9a-f]*[4-7c-f][0-9a-f]{3}$", re.M)  # SIGTERM among them
        while not blocked.search(Path(f"/proc/{process.pid}/status").read_text()):
            self.assertIsNone(process.poll())
        process.send_signal(signal.SIGTERM)
        err = process.communicate(timeout=600)[1]
        self.assertEqual(process.returncode, 143)
        self.assertRegex(err.decode(), r"\ngale: executor \d is still in a call of 'lines' \(task 3\)\n")

    # --- Demonstrations

    def test_demo_word_count_of_a_file(self):
        (self.path / "in.txt").write_text("one two two\nthree three three\n")
        result = self.gale("demo", "word-count", "--input", "in.txt")
        self.assertEqual(result.code, 0)
        last = result.out.decode().splitlines()[-1]
        self.assertTrue(last.endswith("| three 3, two 2, one 1"))
        # Rates of the whole run, not of the microseconds since the line before: six words for two lines, two times.
        rates = re.search(r"2 lines  (\S+) lines/s  (\S+) tuples/s", last).groups()
        if rates != ("-", "-"):
            lines, tuples = (float(rate.replace(",", "")) for rate in rates)
            self.assertAlmostEqual(tuples / lines, 7, delta=0.5)

    def test_a_demo_serves_its_page_when_that_is_asked_for(self):
        run = subprocess.Popen([GALE, "demo", "unique-visitors", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.path)
        self.addCleanup(run.communicate)
        self.addCleanup(run.kill)
        url = re.search(rb"http://\S+", run.stderr.readline()).group().decode()
        address, token = url.split("/?token=")
        request = urllib.request.Request(f"{address}/api/gale/v1/topology", headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(request, timeout=120) as answer:
            self.assertEqual(json.load(answer)["name"], "unique-visitors")
        refused = self.gale("demo", "top-words", "--listen", "*:0")
        self.assertEqual(refused.code, 2)
        self.assertIn("--listen-token-file", refused.err)

    def test_demo_top_words_prints_a_line_at_once_and_ends_with_a_summary(self):
        (self.path / "in.txt").write_text("gale gale gale storm storm tuple\n")
        process = subprocess.Popen([GALE, "demo", "top-words", "--input", "in.txt"], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder.name)
        self.assertIn(b"(no ranking yet)", process.stdout.readline())
        while b"| gale" not in process.stdout.readline():
            self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=600)
        self.assertEqual(process.returncode, 0)
        self.assertIn(b"0 failed, 0 timed out, 0 stopped, 0 open", err)

    def demo_in_window(self, rows):
        """A demonstration on a terminal of 80 columns."""
        text = self.path / "in.txt"
        if not text.exists():
            text.write_text(" ".join(f"word{letter}" for letter in "abcdefghijklmno") + "\n")
        ours, theirs = pty.openpty()
        fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 80, 0, 0))
        process = subprocess.Popen([GALE, "demo", "top-words", "--input", "in.txt", "--rate", "100"],
                                   stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, cwd=self.folder.name)
        os.close(theirs)
        self.addCleanup(process.kill)  # nothing once it was waited for
        return ours, process

    def see(self, terminal, screen, is_so):
        pieces = 0
        while not is_so(screen.rows):
            pieces += 1
            self.assertLess(pieces, 200, screen.rows)
            screen.take(screen.decoder.decode(os.read(terminal, 65536)))
            self.assertEqual([line for line in screen.past if line], [])

    def leave(self, terminal, process):
        process.send_signal(signal.SIGHUP)
        os.close(terminal)
        process.wait(60)

    def test_a_demo_fits_its_window(self):
        def ranked(rows):
            return len([row for row in rows if re.match(r" +\d+  word. +[\d,]+  ", row)])
        windows = ((12, 6, True), (8, 4, False), (5, 3, False), (30, 10, True))
        demos = [self.demo_in_window(rows) for rows, _, _ in windows]
        for (terminal, process), (height, ranks, hint) in zip(demos, windows):
            screen = Screen(height)
            # a read may end anywhere in a picture: in its first line, which the next one begins with, above the hint, in its words
            self.see(terminal, screen, lambda rows: rows[0].startswith("top-words: ") and ranked(rows) == ranks and
                     ("Ctrl-C ends it" in rows) == hint)
            self.assertEqual(screen.painted, not os.environ.get("NO_COLOR"))
            self.leave(terminal, process)

    def test_a_demo_follows_its_window(self):
        terminal, process = self.demo_in_window(12)
        screen = Screen(12)
        self.see(terminal, screen, lambda rows: rows[10] == "Ctrl-C ends it")
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 80, 0, 0))
        screen.rows += [""] * 8
        self.see(terminal, screen, lambda rows: rows[0].startswith("top-words: ") and rows[14] == "Ctrl-C ends it")
        self.leave(terminal, process)

    def test_demo_over_what_the_machine_has(self):
        result = self.gale("demo", "top-words", "--seconds", "1")
        self.assertEqual(result.code, 0)
        self.assertGreaterEqual(len(result.out.splitlines()), 2)

    def test_demo_unique_visitors_of_a_log(self):
        line = '10.0.0.%d - - [10/Oct/2000:13:%02d:36 -0700] "GET / HTTP/1.0" 200 2326 "-" "curl"\n'
        log = [line % (1, 55), line % (2, 55), line % (1, 55), line % (1, 56), line % (3, 59), line % (4, 55)]
        (self.path / "in.log").write_text("".join(log))
        result = self.gale("demo", "unique-visitors", "--input", "in.log")
        self.assertEqual(result.code, 0, result.err)
        last = result.out.decode().splitlines()[-1]
        self.assertIn(" 1 late  | 20:55 UTC, 5 min 3, 20:59 UTC, 1 min 1, 20:56 UTC, 1 min 1, 20:55 UTC, 1 min 2", last)

    def test_demo_unique_visitors_counts_lines_that_are_none_of_a_log(self):
        (self.path / "in.txt").write_text("to be or\nnot to be\n")
        result = self.gale("demo", "unique-visitors", "--input", "in.txt")
        self.assertEqual(result.code, 0, result.err)
        self.assertIn(" 2 bad  | (no ranking yet)", result.out.decode().splitlines()[-1])
        self.assertRegex(result.err, r"(?m)^bad +1 +2 ")

    def test_demo_unique_visitors_makes_a_log(self):
        result = self.gale("demo", "unique-visitors", "--seconds", "1", "--seed", "1")
        self.assertEqual(result.code, 0, result.err)
        self.assertRegex(result.out.decode().splitlines()[-1], r"00:00 UTC, 5 min [1-9]\d")

    def test_demo_is_checked(self):
        cases = {
            (): "demo takes one name, not 0: gale demo top-words|word-count|unique-visitors [options]",
            ("top-word",): "unknown demo 'top-word'; did you mean 'top-words'?",
            ("foo",): "unknown demo 'foo': gale demo top-words|word-count|unique-visitors [options]",
            ("word-count", "--input", "-"): "demo reads files and folders, not the standard input (gale run does)",
            ("top-words", "--second", "1"): "unknown option '--second'; did you mean '--seconds'?",
        }
        for arguments, message in cases.items():
            result = self.gale("demo", *arguments)
            self.assertEqual((result.code, result.err), (2, f"gale: {message}\n"))
        result = self.gale("demo", "top-words", "--input", "no.txt")
        self.assertEqual((result.code, result.err), (3, "gale: cannot open 'no.txt': No such file or directory\n"))
        os.mkdir(self.path / "empty")
        result = self.gale("demo", "top-words", "--input", "empty")
        self.assertEqual((result.code, result.err), (3, "gale: there is no text in 'empty'\n"))

    def test_demo_into_a_closed_pipe_ends(self):
        read, write = os.pipe()
        os.close(read)
        process = subprocess.Popen([GALE, "demo", "top-words"], stdin=subprocess.DEVNULL, stdout=write,
                                   stderr=subprocess.PIPE)
        os.close(write)
        process.communicate(timeout=600)
        self.assertEqual(process.returncode, 3)

    def test_demo_into_a_full_device_says_so(self):
        with open("/dev/full", "wb") as full:
            process = subprocess.Popen([GALE, "demo", "top-words"], stdin=subprocess.DEVNULL, stdout=full,
                                       stderr=subprocess.PIPE)
            err = process.communicate(timeout=600)[1]
        self.assertEqual(process.returncode, 3)
        self.assertTrue(err.endswith(b"gale: cannot write to standard output: No space left on device\n"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
