#!/usr/bin/env python3
"""The page of running topologies: what it shows is what REST says, and what the input makes it.

usage: live_test.py        (script/web test builds and fetches what it needs; GALE is the program)
"""

import collections
import os
import signal
import subprocess
import sys
import unittest
from pathlib import Path

from browser import Browser, counted
from playwright.sync_api import expect

ROOT = Path(__file__).resolve().parents[2]
GALE = os.environ.get("GALE") or str(ROOT / "build" / "gale")
FATE = str(ROOT / "build" / "test" / "plugins" / "fate" / "gale-fate.so")
sys.path.append(str(ROOT / "test" / "serve"))

import known  # noqa: E402
import rig  # noqa: E402

LINES = [f"the wind turns {number % 7} and the sea rises" for number in range(20_000)]
COUNTS = collections.Counter(word for line in LINES for word in line.split())
WORDS = sum(COUNTS.values())

# The sink writes where nobody reads: its call does not come back.
STUCK = """\
name: stuck
spouts:
  - id: lines
    className: gale.spout.File
    properties: [{{ name: path, value: in.txt }}, {{ name: follow, value: true }}]
bolts:
  - id: split
    className: gale.bolt.Split
  - id: sink
    className: gale.bolt.FileSink
    properties: [{{ name: path, value: fifo }}]
    config: {{ gale.blocking: {blocking} }}
streams:
  - {{ from: lines, to: split, grouping: {{ type: SHUFFLE }} }}
  - {{ from: split, to: sink, grouping: {{ type: GLOBAL }} }}
"""


class Live(Browser):
    def start(self, text, *options, **more):
        run = rig.Run(self, GALE, text, *options, **more)
        # A page that is left by its context while it asks is no complaint of the page.
        self.allowed = ["Failed to load resource"]
        return run

    def words(self, *options, lines=LINES, **more):
        return self.start(rig.WORDS.format(config="sink.password: hidden, a: 1"), *options, lines=lines, **more)

    def now(self, run):
        return run.json("/api/gale/v1/now")

    def component(self, run, name):
        return next(item for item in self.now(run)["components"] if item["name"] == name)

    def visit(self, run, page, view):
        page.goto(f"http://127.0.0.1:{run.port}/#/{view}")

    def whole(self):
        """A run that has done all of its input, and waits for more."""
        run = self.words()
        run.acked(len(LINES))
        return run, self.open(run.url)


class KnownInput(Live):
    def test_the_first_screen_counts_every_line(self):
        run, page = self.whole()
        self.assertNotIn("token", page.url)
        expect(page.locator("h1")).to_have_text("served")
        expect(self.figure(page, "acked").locator(".below")).to_have_text(counted(len(LINES)) + " in all")
        expect(self.figure(page, "open").locator("b")).to_have_text("0")
        expect(self.figure(page, "open").locator(".below")).to_have_text(counted(len(LINES)) + " begun")
        expect(self.figure(page, "failed").locator("b")).to_have_text("0")
        expect(page.locator("#hurts .verdict")).to_have_text("All is well")
        expect(page.locator("[data-health]")).to_have_text("live, ready")

    def test_components_count_every_word(self):
        run, page = self.whole()
        self.visit(run, page, "components")
        wanted = {"lines": ("emitted", len(LINES)), "split": ("emitted", WORDS), "count": ("executed", WORDS)}
        for name, (key, number) in wanted.items():
            expect(self.cell(page, name, key)).to_have_text(counted(number))
        for name in wanted:
            rest = self.component(run, name)
            for key in ("emitted", "transferred", "executed", "acked", "failed"):
                expect(self.cell(page, name, key)).to_have_text(counted(rest[key]))

    def test_failures_and_replays_of_a_known_input_are_those_of_rest(self):
        run = self.start(known.TOPOLOGY, "--plugin", FATE, "--log-level", "error", lines=known.LINES)
        rig.until(lambda: known.is_done(self.now(run)), "the end of the input")
        page = self.open(run.url)
        expect(self.figure(page, "acked").locator(".below")).to_have_text(counted(known.GOOD) + " in all")
        expect(self.figure(page, "failed").locator("b")).to_have_text(counted(known.BAD))
        expect(self.figure(page, "failed").locator(".below")).to_contain_text(counted(known.TREES["replayed"]) + " replayed")
        for key, title in ("failed", "failed"), ("timed_out", "timed out"), ("rejected", "rejected"):
            expect(self.figure(page, "failed").locator(".below")).to_contain_text(f"{counted(known.ENDED[key])} {title}")
        self.visit(run, page, "components")
        for name, wanted in known.COMPONENTS.items():
            self.assertEqual(known.part(self.component(run, name)), wanted)
            for key in ("executed", "emitted", "transferred", "acked", "failed", "timed_out", "rejected"):
                expect(self.cell(page, name, key)).to_have_text(counted(wanted[key]))
        self.visit(run, page, "component/fate")
        lost = sum(known.COMPONENTS["fate"][key] for key in known.OUTCOMES)
        expect(self.figure(page, "failed").locator("b")).to_have_text(counted(lost))
        self.visit(run, page, "failures")
        for component, trees in ("check", known.AT_CHECK), ("fate", known.AT_FATE):
            for reason, count in known.failures(trees).items():
                expect(self.cell(page, f"{component} {reason}", "count")).to_have_text(counted(count))

    def test_a_component_s_tasks_and_streams_are_those_of_rest(self):
        run, page = self.whole()
        self.visit(run, page, "component/count")
        now = self.now(run)
        tasks = [task for task in now["tasks"] if task["component"] == "count"]
        self.assertEqual(sum(task["executed"] for task in tasks), WORDS)
        for task in tasks:
            for key in ("executed", "emitted", "acked"):
                expect(self.cell(page, task["task"], key, "#tasks")).to_have_text(counted(task[key]))
            expect(self.cell(page, task["task"], "executor", "#tasks")).to_have_text(str(task["executor"]))
        for stream in (item for item in now["streams"] if item["component"] == "count"):
            expect(self.cell(page, stream["stream"], "emitted", "#streams")).to_have_text(counted(stream["emitted"]))

    def test_the_configuration_is_that_of_the_file_and_hides_what_is_secret(self):
        run, page = self.whole()
        self.visit(run, page, "configuration")
        rest = run.json("/api/gale/v1/topology")
        expect(self.cell(page, "sink.password", "value")).to_have_text("***")
        expect(self.cell(page, "a", "value")).to_have_text("1")
        expect(page.locator("#configuration tbody tr")).to_have_count(len(rest["configuration"]))
        expect(page.locator("[data-fact=Process]")).to_have_text(str(run.process.pid))
        expect(page.locator("[data-fact=File]")).to_have_text("served.yaml")

    def test_open_trees_failures_and_state_of_a_run_that_is_well(self):
        run, page = self.whole()
        self.visit(run, page, "trees")
        expect(page.locator("#trees")).to_contain_text("No tree is open.")
        self.visit(run, page, "failures")
        expect(page.locator("#reasons")).to_contain_text("Nothing has failed.")
        self.visit(run, page, "state")
        expect(page.locator("#checkpoints")).to_contain_text("This run keeps no state")
        expect(page.locator("#executors tbody tr")).to_have_count(len(self.now(run)["executors"]))

    def test_the_tap_shows_each_tuple_as_it_passes(self):
        run, page = self.whole()
        self.visit(run, page, "tap?component=split&stream=default")
        page.get_by_label("Where").fill('word:find("^sand") and #word < 9')
        page.get_by_label("At most").select_option("1000")
        page.get_by_role("button", name="Start").click()
        expect(page.get_by_text("Waiting for a tuple")).to_be_visible()

        def shown():
            with open(run.path / "in.txt", "a") as file:
                file.write("sandbank sea sandpaper\n")
            return page.locator("#tap .tuples li").count()
        rig.until(shown, "a tuple")
        expect(page.locator("#tap .tuples li").first).to_contain_text("word sandbank")
        expect(page.locator("#tap .tuples")).not_to_contain_text("sandpaper")
        page.get_by_label("Where").fill("wrod == 1")
        page.get_by_role("button", name="Start again").click()
        expect(page.locator("#tap .said")).to_contain_text("there is no field 'wrod'; did you mean 'word'?")

    def test_checkpoints_of_a_durable_run(self):
        run = self.words("--state", "state")
        run.acked(len(LINES))
        page = self.open(run.url, "state")
        expect(page.locator("#checkpoints [data-fact=number]")).to_be_visible()
        before = run.json("/api/gale/v1/checkpoints")["number"]
        page.get_by_role("button", name="Make a checkpoint now").click()
        page.get_by_role("dialog").get_by_role("button", name="Make one").click()
        rig.until(lambda: run.json("/api/gale/v1/checkpoints")["number"] > before, "a checkpoint")
        expect(page.locator("#checkpoints [data-fact=number]")).not_to_have_text(counted(before))

    def test_what_comes_while_the_page_is_open_is_counted_to_the_last(self):
        run, page = self.whole()
        with open(run.path / "in.txt", "a") as file:
            file.writelines(line + "\n" for line in LINES)
        expect(self.figure(page, "acked").locator(".below")).to_have_text(counted(2 * len(LINES)) + " in all")
        self.visit(run, page, "component/count")
        expect(self.figure(page, "executed").locator(".below")).to_have_text(counted(2 * WORDS) + " in all")


class Deeds(Live):
    def test_without_the_token_there_is_no_page(self):
        run = self.words(lines=["one"])
        context = self.chromium.new_context()
        self.addCleanup(context.close)
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{run.port}/")
        expect(page.locator("body")).to_contain_text("A token is needed")

    def test_deactivated_spouts_emit_nothing_until_they_are_activated(self):
        run, page = self.whole()
        page.get_by_role("button", name="Deactivate").click()
        page.get_by_role("dialog").get_by_role("button", name="Deactivate").click()
        expect(page.locator("[data-phase]")).to_have_text("inactive")
        self.assertFalse(self.now(run)["active"])
        with open(run.path / "in.txt", "a") as file:
            file.write("one more\n")
        page.get_by_role("button", name="Activate").click()
        page.get_by_role("dialog").get_by_role("button", name="Activate").click()
        expect(page.locator("[data-phase]")).to_have_text("running")
        expect(self.figure(page, "acked").locator(".below")).to_have_text(counted(len(LINES) + 1) + " in all")

    def test_drain_ends_the_run_and_the_last_figures_stay(self):
        run, page = self.whole()
        below = self.figure(page, "acked").locator(".below")
        expect(below).to_have_text(counted(len(LINES)) + " in all")
        page.get_by_role("button", name="Drain").click()
        page.get_by_role("dialog").get_by_role("button", name="Drain and end").click()
        self.assertEqual(run.process.wait(rig.PATIENCE), 0)
        expect(page.locator(".banner")).to_contain_text("The process has gone")
        expect(below).to_have_text(counted(len(LINES)) + " in all")

    def test_a_page_goes_on_when_its_process_is_started_again(self):
        token = lambda path: (path / "token").write_text("0123456789abcdef-token\n")  # noqa: E731
        run = self.words("--listen-token-file", "token", before=token, lines=["one"])
        page = self.open(f"http://127.0.0.1:{run.port}/?token=0123456789abcdef-token", "configuration")
        expect(page.locator("[data-fact=Process]")).to_have_text(str(run.process.pid))
        run.end(signal.SIGKILL)
        expect(page.locator(".banner")).to_contain_text("The process has gone")
        again = self.words("--listen", f":{run.port}", "--listen-token-file", "token", before=token, lines=["one"], listen=False)
        expect(page.locator("[data-fact=Process]")).to_have_text(str(again.process.pid))
        expect(page.locator(".banner")).to_have_count(0)


class Trouble(Live):
    def test_a_dead_letter_is_shown_and_replayed(self):
        run = self.start(rig.LETTERS, lines=["5", "0", "<b>bold</b>"])
        rig.until(lambda: self.now(run)["trees"]["dead_letters"] == 2, "two letters")
        page = self.open(run.url, "failures")
        expect(self.cell(page, "number failed", "count")).to_have_text("2")
        expect(page.locator("#letters tbody tr")).to_have_count(2)
        expect(page.locator("#letters [data-key=values]").first).to_have_text("<b>bold</b>")
        expect(page.locator("#letters [data-key=text]").last).to_contain_text("divide by zero")
        page.locator("#letters input[type=checkbox]").last.check()
        page.get_by_role("button", name="Replay the chosen").click()
        page.get_by_role("dialog").get_by_role("button", name="Replay").click()
        expect(page.locator("#letters [role=status]")).to_have_text("Asked to replay 1 dead letter.")
        expect(page.locator("#letters tbody tr")).to_have_count(3)  # given up once more
        expect(page.locator("#letters [data-key=values]").first).to_have_text("0")
        self.assertEqual(self.now(run)["trees"]["dead_letters"], 3)

    def stuck(self, blocking):
        opened = []

        def make(path):
            os.mkfifo(path / "fifo")
            opened.append(os.open(path / "fifo", os.O_RDWR))  # its buffer is all that is written

        run = self.start(STUCK.format(blocking=blocking), lines=LINES, before=make)
        self.addCleanup(lambda: [os.close(fd) for fd in opened])
        return run

    def test_a_stuck_bolt_is_found_from_the_first_screen_in_two_clicks(self):
        for blocking in ("true", "false"):  # on an executor of its own; on that of its spout
            run = self.stuck(blocking)
            page = self.open(run.url)
            expect(page.locator("#hurts .verdict")).to_have_text("In trouble")
            expect(page.locator("#hurts a").first).to_contain_text("sink has been in one call for")
            expect(page.locator("[data-component=sink].box.bad .words")).to_contain_text("in a call")
            page.locator("#hurts a").first.click()
            expect(page.locator("#component-title")).to_have_text("sink")
            expect(page.locator("#tasks tr.stuck [data-key=index]")).to_have_text("sink[0]")
            call = next(item["in_call"] for item in self.now(run)["executors"] if item["in_call"])
            self.assertEqual(call["component"], "sink")
            run.process.kill()


class Pictures(Live):
    """Those of a run; page_test.py has those that show what a run seldom does."""

    @unittest.skipUnless(os.environ.get("GALE_PICTURES"), "script/web pictures")
    def test_the_first_screen_of_an_access_log_that_is_followed(self):
        example = ROOT / "examples" / "access-log"
        run = self.start((example / "topology.yaml").read_text(), "-q", before=lambda path: (path / "access.log").touch())
        server = subprocess.Popen([sys.executable, example / "server.py", "access.log"], cwd=run.path)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        page = self.open(run.url, color_scheme="light")
        run.acked(2000 * 100)
        page.screenshot(path=Path(os.environ["GALE_PICTURES"]) / "page-running.png")


if __name__ == "__main__":
    unittest.main()
