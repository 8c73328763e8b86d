#!/usr/bin/env python3
"""What can come next on gale's command line, as gale says it, and as bash, zsh and fish show it when they are there; and the
manual page, with what man and mandoc say of it when they are there.

usage: complete_test.py GALE ROOT
"""

import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(sys.argv[2]) / "test" / "serve"))
import rig  # noqa: E402

GALE = ROOT = None
PATIENCE = 120  # seconds


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, timeout=PATIENCE, **options)


def told(*words, **options):
    """What gale says can come next: candidates without their texts."""
    done = run(GALE, "help", "--complete", *words, **options)
    assert (done.returncode, done.stderr) == (0, b""), done
    return [line.split("\t")[0] for line in done.stdout.decode().splitlines()]


class Told(unittest.TestCase):
    def commands(self):
        return re.findall(r"^  (\w[\w-]*) ", run(GALE, "help").stdout.decode(), re.M)

    def test_commands_come_first(self):
        self.assertEqual(told(""), self.commands())
        self.assertEqual(told("che"), ["check", "checkpoint"])
        self.assertEqual(told("--v"), ["--version"])
        self.assertEqual(told("nothing"), [])

    def test_all_options_of_every_command_are_offered(self):
        for command in self.commands()[:-1]:
            text = run(GALE, "help", command).stdout.decode()
            self.assertEqual(sorted(told(command, "--")), sorted(re.findall(r"^  (?:-\w,|   ) (--[\w-]+)", text, re.M)))

    def test_an_options_words_are_offered(self):
        self.assertEqual(told("run", "--log-level", "w"), ["warn"])
        self.assertEqual(told("run", "--log-level=w"), ["--log-level=warn"])
        self.assertIn("topology.max.spout.pending=", told("run", "-c", "topology.max"))
        self.assertIn("--config=topology.max.spout.pending=", told("run", "--config=topology.max"))
        self.assertEqual(told("dead-letters", "show", "f", "--reason", "t"), ["timeout"])
        self.assertEqual(told("simulate", "--faults", "sl"), ["slow="])
        self.assertEqual(told("run", "--rate", ""), [])

    def test_files_and_folders_are_left_to_the_shell(self):
        self.assertEqual(told("run", "--input", ""), [":files"])
        self.assertEqual(told("run", "--state", "x"), [":folders"])
        self.assertEqual(told("run", ""), [":yaml"])
        self.assertEqual(told("run", "-q", "--rate", "3", ""), [":yaml"])
        self.assertEqual(told("run", "t.yaml", ""), [])
        self.assertEqual(told("check", "a.yaml", ""), [":yaml"])
        self.assertEqual(told("test", "a.test.yaml", ""), [":yaml"])

    def test_words_of_the_usage_are_offered_in_their_places(self):
        self.assertEqual(told("demo", ""), ["top-words", "word-count", "unique-visitors"])
        self.assertEqual(told("demo", "word-count", ""), [])
        self.assertEqual(told("state", ""), ["show", "export", "reset", "import"])
        self.assertEqual(told("state", "show", ""), [":folders"])
        self.assertEqual(told("state", "show", "d", ""), [])
        self.assertEqual(told("state", "import", "d", ""), [":files"])

    def test_classes_are_offered_for_help(self):
        self.assertEqual(told("help", "sim"), ["simulate"])
        self.assertIn("classes", told("help", ""))
        self.assertEqual(told("help", "gale.spout.Fil"), ["gale.spout.File"])
        listed = run(GALE, "help", "classes").stdout.decode()
        self.assertEqual(sorted(told("help", "classes", "")), sorted(re.findall(r"^  ([a-z]+\.\S+)", listed, re.M)))

    def test_nothing_is_no_error(self):
        self.assertEqual(told(), [])
        self.assertEqual(told("unknown", ""), [])


# `sink` emits nothing.
TOPOLOGY = rig.WORDS.format(config="a: 1").replace("streams:\n", """\
  - id: sink
    className: gale.bolt.Null
streams:
  - { from: count, to: sink, grouping: { type: GLOBAL } }
""")


class Running(unittest.TestCase):
    def setUp(self):
        self.one = rig.Run(self, GALE, TOPOLOGY, listen=False)
        self.one.begun()

    def told(self, *words):
        return told(*words, env=dict(os.environ, XDG_RUNTIME_DIR=str(self.one.runtime)))

    def test_topologies_that_run_are_offered_by_name(self):
        self.assertEqual(self.told("tap", ""), ["served"])
        self.assertEqual(self.told("top", "ser"), ["served"])

    def test_and_behind_one_its_components_that_emit(self):
        self.assertEqual(self.told("tap", "served", ""), ["count", "lines", "split"])
        self.assertEqual(self.told("tap", "--rate", "5", "served", "s"), ["split"])
        self.assertEqual(self.told("tap", str(self.one.process.pid), "c"), ["count"])
        self.assertEqual(self.told("tap", "served", "split", ""), [])

    def test_of_what_does_not_run_there_are_none(self):
        self.assertEqual(self.told("tap", "other", ""), [])
        self.one.end()
        self.assertEqual(self.told("tap", "served", ""), [])


def shown(shell, begin, line, wanted):
    """The screen of a shell in which a line was typed, and Tab; as soon as it has what is wanted, or at its end."""
    child, terminal = pty.fork()
    if child == 0:
        os.execvp(shell[0], shell)
    screen, ready, ends = b"", False, time.monotonic() + PATIENCE
    os.write(terminal, begin.encode() + b"\necho re''ady\n")
    while wanted not in screen and time.monotonic() < ends:
        if not select.select([terminal], [], [], 1)[0]:
            continue
        try:
            screen += os.read(terminal, 4096)
        except OSError:
            break
        if not ready and b"\nready" in screen:
            ready, screen = True, b""
            os.write(terminal, line.encode() + b"\t\t")
    os.close(terminal)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return screen


class Shells(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="gale-complete-"))
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "topology.yaml").write_text("")
        (self.folder / "other.txt").write_text("")
        self.environment = dict(os.environ, PATH=f"{GALE.parent}:{os.environ['PATH']}", HOME=str(self.folder), TERM="dumb")

    def bash(self, line):
        script = f"""
            cd {self.folder}
            compopt() {{ :; }}  # outside of readline
            source {ROOT}/completion/gale.bash
            COMP_LINE='{line}' COMP_POINT={len(line)}
            _gale
            printf '%s\\n' "${{COMPREPLY[@]}}" """
        done = run("bash", "--norc", "-c", script, env=self.environment)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done.stdout.decode().split()

    @unittest.skipUnless(shutil.which("bash"), "no bash")
    def test_bash_completes(self):
        self.assertEqual(self.bash("gale sim"), ["simulate"])
        self.assertEqual(self.bash("gale run "), ["topology.yaml"])
        self.assertEqual(self.bash("gale run --input o"), ["other.txt"])
        self.assertEqual(self.bash("gale run --input=o"), ["other.txt"])
        self.assertEqual(self.bash("gale run topology.yaml --log-level=w"), ["warn"])
        self.assertEqual(self.bash("gale run -c topology.max.sp"), ["topology.max.spout.pending="])
        self.assertEqual(self.bash("gale help classes gale.spout.W"), ["gale.spout.Words"])
        self.assertEqual(self.bash("gale run --rate "), [])

    @unittest.skipUnless(shutil.which("bash"), "no bash")
    def test_bash_completes_what_is_typed(self):
        os.environ.update(self.environment)
        screen = shown(["bash", "--norc", "--noprofile", "-i"], f"source {ROOT}/completion/gale.bash; cd {self.folder}",
                       "gale run --input o", b"other.txt")
        self.assertIn(b"other.txt", screen)

    @unittest.skipUnless(shutil.which("zsh"), "no zsh")
    def test_zsh_completes_what_is_typed(self):
        os.environ.update(self.environment)
        begin = f"fpath=({ROOT}/completion $fpath); autoload -U compinit; compinit -u -D; cd {self.folder}; PS1='$ '"
        for line, wanted in (("gale simu", b"late"), ("gale run --input o", b"ther.txt"), ("gale run -c topology.max.sp", b"pending="),
                             ("gale run ", b"topology.yaml"), ("gale demo w", b"ord-count")):
            self.assertIn(wanted, shown(["zsh", "-f", "-i"], begin, line, wanted), line)

    @unittest.skipUnless(shutil.which("fish"), "no fish")
    def test_fish_completes(self):
        for line, wanted in (("gale simu", "simulate"), ("gale run --input o", "other.txt"), ("gale demo w", "word-count"),
                             ("gale run ", "topology.yaml"), ("gale run -c topology.max.sp", "topology.max.spout.pending=")):
            script = f"cd {self.folder}; source {ROOT}/completion/gale.fish; complete -C '{line}'"
            done = run("fish", "--no-config", "-c", script, env=self.environment)
            self.assertIn(wanted, [line.split("\t")[0] for line in done.stdout.decode().splitlines()], done)


class Manual(unittest.TestCase):
    def setUp(self):
        self.page = run(GALE, "help", "--man").stdout.decode()

    def test_the_page_has_every_command_and_option(self):
        plain = self.page.replace("\\-", "-")
        for command in re.findall(r"^  (\w[\w-]*) ", run(GALE, "help").stdout.decode(), re.M)[:-1]:
            self.assertIn(f".SS gale {command}\n", plain)
            section = plain.split(f".SS gale {command}\n")[1].split("\n.SS ")[0]
            for option in told(command, "--"):
                if option != "--help":
                    self.assertIn(f"\\fB{option}\\fR", section)

    @unittest.skipUnless(shutil.which("man") and shutil.which("groff"), "no man")
    def test_man_has_no_warning(self):
        with tempfile.NamedTemporaryFile(suffix=".1") as file:
            file.write(self.page.encode())
            file.flush()
            done = run("man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", file.name,
                       env=dict(os.environ, LC_ALL="C.UTF-8", MANROFFSEQ="", MANWIDTH="80"))
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    @unittest.skipUnless(shutil.which("mandoc"), "no mandoc")
    def test_mandoc_has_no_warning(self):
        done = run("mandoc", "-T", "lint", "-W", "warning", input=self.page.encode())
        said = [line for line in done.stdout.decode().splitlines() if "missing date" not in line]  # it changes with each build
        self.assertEqual(said, [])


if __name__ == "__main__":
    GALE, ROOT = (pathlib.Path(word).resolve() for word in (sys.argv.pop(1), sys.argv.pop(1)))
    unittest.main()
