#!/usr/bin/env python3
"""The page, tried in a browser on a stand-in for the process (mock.py), which can be stuck, gone, or lack what others have.

usage: page_test.py        (script/web test fetches what it needs)
"""

import os
import pathlib
import re
import tempfile
import time
import unittest

import mock
from browser import CONTRAST, NARROW, WIDE, Browser, counted
from playwright.sync_api import expect

PICTURES = pathlib.Path(os.environ.get("GALE_PICTURES") or tempfile.mkdtemp())
VIEWS = ["", "components", "component/parse", "component/requests", "trees", "failures", "tap", "state", "configuration"]


class Page(Browser):
    def setUp(self):
        super().setUp()
        self.mock = mock.Mock()
        self.server = mock.Server(self.mock)
        self.addCleanup(self.server.shutdown)
        self.addCleanup(self.server.server_close)

    def show(self, view="", **options):
        return self.open(self.server.address, view, **options)

    def freeze(self):
        self.mock.frozen = time.time()
        return self.mock.now()

    def component(self, now, name):
        return next(item for item in now["components"] if item["name"] == name)


class Figures(Page):
    def test_the_first_screen_has_the_process_s_figures(self):
        now = self.freeze()
        page = self.show()
        expect(page.locator("h1")).to_have_text("access-log")
        expect(self.figure(page, "acked").locator(".below")).to_have_text(counted(now["trees"]["acked"]) + " in all")
        expect(self.figure(page, "open").locator("b")).to_have_text(counted(now["trees"]["open"]))
        expect(self.figure(page, "failed").locator("b")).to_have_text("245")  # 228 failed, 17 rejected
        expect(self.figure(page, "letters").locator("b")).to_have_text("3")
        expect(self.figure(page, "memory").locator("b")).to_have_text("18.0 MiB")
        expect(page.locator("[data-health]")).to_have_text("live, ready")

    def test_problems_are_said_before_all_else(self):
        page = self.show()
        expect(page.locator("main > :first-child h2")).to_have_text("Problems")
        expect(page.locator("#hurts li")).to_contain_text("parse fails 0.03 % of its tuples")

    def test_a_component_s_row_has_its_figures(self):
        now = self.freeze()
        page = self.show("components")
        for name in ("requests", "parse", "report"):
            wanted = self.component(now, name)
            for key in ("emitted", "transferred", "executed", "acked", "failed"):
                expect(self.cell(page, name, key)).to_have_text(counted(wanted[key]))
        expect(self.cell(page, "parse", "execute")).to_have_text("25.8 µs")
        expect(self.cell(page, "parse", "process99")).to_have_text("143 µs")
        expect(self.cell(page, "parse", "capacity")).to_contain_text(f"{round(self.component(now, 'parse')['capacity'] * 100)} %")

    def test_a_component_shows_tasks_inputs_streams_reasons_and_metrics(self):
        now = self.freeze()
        page = self.show("component/parse")
        task = next(item for item in now["tasks"] if item["component"] == "parse")
        expect(self.cell(page, task["task"], "executed", "#tasks")).to_have_text(counted(task["executed"]))
        expect(self.cell(page, 0, "executed", "#inputs")).to_have_text(counted(now["edges"][0]["executed"]))
        expect(self.cell(page, 0, "from", "#inputs")).to_have_text("requests")
        stream = next(item for item in now["streams"] if item["stream"] == "broken")
        expect(self.cell(page, "broken", "emitted", "#streams")).to_have_text(counted(stream["emitted"]))
        expect(self.cell(page, "exception", "count", "#reasons")).to_have_text("211")
        expect(self.cell(page, "lines_skipped", "value", "#metrics")).to_have_text("30")
        expect(self.cell(page, "lines_skipped", "help", "#metrics")).to_have_text("Lines that are <none>.")
        expect(self.cell(page, r'asked{method=\"GET\", url=\"/b\"}', "value", "#metrics")).to_have_text("8")
        expect(self.cell(page, "line_bytes", "p99", "#metrics")).to_have_text("411")
        expect(self.cell(page, "never", "value", "#metrics")).to_have_text("–")

    def test_open_trees_are_told_with_their_places(self):
        page = self.show("trees")
        expect(page.locator("#trees tbody tr")).to_have_count(12)
        expect(page.locator("#trees tbody tr").first).to_contain_text("12.5 s")
        expect(page.locator("#trees tbody tr").first).to_contain_text("waits in the queue of alerts[1]")

    def test_failures_are_counted_by_reason(self):
        page = self.show("failures")
        expect(self.cell(page, "parse exception", "count")).to_have_text("211")
        expect(self.cell(page, "parse rejected", "count")).to_have_text("17")

    def test_checkpoints_executors_and_memory_are_shown(self):
        page = self.show("state")
        for name, text in (("took_p99", "9.30 ms"), ("bytes", "37.2 KiB"), ("complete", "yes")):
            expect(page.locator(f"#checkpoints [data-fact={name}]")).to_have_text(text)
        expect(self.cell(page, 0, "busy", "#executors")).to_contain_text("(60 %)")
        expect(self.cell(page, "trees", "bytes", "#memory")).to_have_text("5.00 MiB")

    def test_the_configuration_can_be_filtered_and_tells_no_secret(self):
        page = self.show("configuration")
        expect(self.cell(page, "smtp.password", "value")).to_have_text("***")
        page.locator("input[type=search]").fill("SPOUT pending")
        expect(page.locator("#configuration tbody tr")).to_have_count(1)
        expect(self.cell(page, "topology.max.spout.pending", "value")).to_have_text("4096")
        page.locator("input[type=search]").fill("no such key")
        expect(page.locator("#configuration .quiet")).to_have_text("No key has that.")

    def test_columns_sort_both_ways_and_back(self):
        page = self.show("components")
        names = page.locator("tbody tr")
        order = [part[0] for part in mock.PARTS]
        head = page.get_by_role("button", name="Executed")
        head.click()
        expect(names.first).to_have_attribute("data-row", "parse")
        expect(page.locator("th[aria-sort=descending]")).to_have_count(1)
        head.click()
        expect(names.first).to_have_attribute("data-row", "requests")
        page.get_by_role("button", name="Component").click()
        expect(names.first).to_have_attribute("data-row", min(order))
        page.get_by_role("button", name="Component").click()
        expect(names.first).to_have_attribute("data-row", max(order))
        page.get_by_role("button", name="Component").click()
        expect(names.first).to_have_attribute("data-row", order[0])


class Alive(Page):
    def test_figures_move(self):
        page = self.show()
        below = self.figure(page, "acked").locator(".below")
        first = below.text_content()
        expect(below).not_to_have_text(first)
        expect(self.figure(page, "acked").locator("b")).to_have_text(re.compile(r"^\d+\.?\d*k$"))

    def test_dots_move_along_the_lines_that_carry_something(self):
        page = self.show()
        self.until(page, "Number(document.querySelector('[data-edge=\"requests parse\"] .dots').dataset.speed) > 0")
        first = page.evaluate("document.querySelector('[data-edge=\"requests parse\"] .dots').style.strokeDashoffset")
        self.until(page, f"document.querySelector('[data-edge=\"requests parse\"] .dots').style.strokeDashoffset !== '{first}'")

    def test_a_line_that_carries_more_is_wider(self):
        page = self.show()
        self.until(page, "Number(document.querySelector('[data-edge=\"rank report\"] .dots').dataset.speed) > 0")
        wide, thin = (float(page.locator(f'[data-edge="{edge}"] .pipe').get_attribute("stroke-width")) for edge in ("requests parse", "rank report"))
        self.assertGreater(wide, 1.5 * thin)

    def test_who_wants_no_motion_has_none(self):
        page = self.show(reduced_motion="reduce")
        below = self.figure(page, "acked").locator(".below")
        first = below.text_content()
        expect(below).not_to_have_text(first)
        dots = page.locator('[data-edge="requests parse"] .dots')
        self.assertEqual(dots.evaluate("(path) => path.style.strokeDashoffset + getComputedStyle(path).stroke"), "none")

    def test_figures_keep_their_places(self):
        page = self.show()
        where = "[...document.querySelectorAll('.big')].map((box) => box.getBoundingClientRect().left).join()"
        before = page.evaluate(where)
        below = self.figure(page, "acked").locator(".below")
        expect(below).not_to_have_text(below.text_content())
        self.assertEqual(page.evaluate(where), before)

    def test_what_waits_stands_on_the_line_to_it(self):
        self.mock.stuck = True
        page = self.show()
        expect(page.locator("[data-queue=alerts]")).to_contain_text("256 KiB")

    def test_charts_have_ten_minutes_and_go_on(self):
        page = self.show()
        expect(page.locator(".chart canvas")).to_have_count(3)
        expect(page.locator(".legend").first).to_contain_text("acked")

    def test_a_process_that_has_gone_is_told_of_and_comes_back(self):
        self.allowed = ["Failed to load resource", "net::ERR"]
        page = self.show()
        self.mock.gone = True
        expect(page.locator(".banner")).to_contain_text("The process has gone")
        expect(page.locator("[data-phase]")).to_have_text("gone")
        expect(page.get_by_role("button", name="Drain")).to_be_disabled()
        self.mock.gone = False
        expect(page.locator(".banner")).to_have_count(0)
        expect(page.locator("[data-phase]")).to_have_text("running")

    def test_another_process_in_its_place_is_read_anew(self):
        self.allowed = ["Failed to load resource", "net::ERR"]
        page = self.show("configuration")
        expect(page.locator("[data-fact=Process]")).to_have_text("4711")
        self.mock.pid, self.mock.began = 4712, time.time() - 10
        expect(page.locator("[data-fact=Process]")).to_have_text("4712")

    def test_a_token_that_is_no_longer_right_is_told_of(self):
        self.allowed = ["Failed to load resource"]
        page = self.show()
        self.mock.refused = True
        expect(page.locator(".banner")).to_contain_text("Open the address that gale printed")

    def test_the_token_does_not_stay_in_the_address(self):
        page = self.open(self.server.address + "?token=secret", "components")
        self.assertEqual(page.evaluate("location.search + location.hash"), "#/components")

    def test_what_a_process_does_not_offer_is_a_sentence(self):
        self.allowed = ["404"]
        self.mock.absent = {"/history", "/open-trees", "/dead-letters", "/checkpoints", "/tap"}
        page = self.show()
        expect(page.locator("#history .quiet")).to_have_text("This process keeps no history.")
        for view, words in (("trees", "open trees"), ("failures", "dead letters"), ("state", "checkpoints")):
            page.goto(self.server.address + "#/" + view)
            expect(page.get_by_text(f"This process does not offer {words}.")).to_be_visible()
        page.goto(self.server.address + "#/tap")
        page.get_by_role("button", name="Start").click()
        expect(page.get_by_text("This process does not offer a tap there.")).to_be_visible()


class Trouble(Page):
    def test_a_stuck_bolt_is_found_in_two_clicks(self):
        self.mock.stuck = True
        page = self.show()
        expect(page.locator("#hurts .verdict")).to_have_text("In trouble")
        page.locator("#hurts a").first.click()
        expect(page.locator("h2").first).to_have_text("alerts")
        expect(page.locator("tr.stuck")).to_have_count(1)
        expect(page.locator("tr.stuck [data-key=index]")).to_have_text("alerts[1]")
        expect(page.locator("tr.stuck [data-key=call]")).to_have_text("34.2 s")

    def test_the_picture_shows_who_is_stuck_and_who_is_held_and_leads_there(self):
        self.mock.stuck = True
        page = self.show()
        expect(page.locator(".box.bad")).to_have_attribute("data-component", "alerts")
        expect(page.locator(".box.bad .words")).to_have_text("in a call 34 s")
        expect(page.locator(".box.held .words")).to_have_text("held 71 %")
        page.locator(".box.held").click()
        expect(page.locator(".held-by")).to_contain_text("by alerts[1], at present for 34.2 s")
        page.locator(".held-by a").click()
        expect(page.locator("tr.stuck")).to_have_count(1)

    def test_it_is_read_aloud_once_and_not_each_second(self):
        self.mock.well = True
        page = self.show()
        said = page.locator("#hurts [aria-live=polite]")
        expect(page.locator("#hurts .verdict")).to_have_text("All is well")
        self.mock.stuck = True
        expect(said).to_contain_text("alerts[1] has been in a call")
        self.mock.stuck = False
        expect(said).to_have_text("There is no problem any more.")

    def test_dead_letters_are_replayed(self):
        page = self.show("failures")
        expect(page.locator("#letters tbody tr")).to_have_count(3)
        expect(page.get_by_role("button", name="Replay the chosen")).to_be_disabled()
        page.get_by_label("choose dead letter 2").check()
        page.get_by_role("button", name="Replay the chosen").click()
        page.get_by_role("dialog").get_by_role("button", name="Replay").click()
        expect(page.locator("#letters tbody tr")).to_have_count(2)
        expect(page.locator("#letters [role=status]")).to_have_text("Asked to replay 1 dead letter.")
        page.get_by_role("button", name="Replay all").click()
        page.get_by_role("dialog").get_by_role("button", name="Replay").click()
        expect(page.locator("#letters")).to_contain_text("There is no dead letter.")
        self.assertEqual(self.mock.posts, [("/dead-letters/replay", {"ids": ["2"]}), ("/dead-letters/replay", {"all": True})])

    def test_words_of_tuples_are_text_and_nothing_else(self):
        page = self.show("failures")
        expect(page.locator("#letters .values").first).to_contain_text("<img src=x")
        page.goto(self.server.address + "#/configuration")
        expect(self.cell(page, "nasty", "value")).to_contain_text("<script>")
        page.goto(self.server.address + "#/tap")
        page.get_by_role("button", name="Start").click()
        expect(page.get_by_text("<img src=x").first).to_be_visible()
        self.assertIsNone(page.evaluate("window.hurt ?? null"))
        self.assertEqual(page.locator("main img, main script").count(), 0)


class Deeds(Page):
    def test_deactivate_asks_first_and_esc_leaves_it(self):
        page = self.show("components")
        page.get_by_role("button", name="Deactivate").click()
        expect(page.get_by_role("dialog")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
        self.assertEqual(self.mock.posts, [])
        self.assertTrue(page.url.endswith("#/components"))

    def test_deactivate_and_activate(self):
        page = self.show()
        page.get_by_role("button", name="Deactivate").click()
        page.get_by_role("dialog").get_by_role("button", name="Deactivate").click()
        expect(page.locator("[data-phase]")).to_have_text("inactive")
        page.get_by_role("button", name="Activate").click()
        page.get_by_role("dialog").get_by_role("button", name="Activate").click()
        expect(page.locator("[data-phase]")).to_have_text("running")
        self.assertEqual([path for path, _ in self.mock.posts], ["/deactivate", "/activate"])

    def test_drain_asks_first(self):
        page = self.show()
        page.get_by_role("button", name="Drain").click()
        self.assertEqual(self.mock.posts, [])
        page.get_by_role("dialog").get_by_role("button", name="Drain and end").click()
        expect(page.get_by_role("dialog")).to_have_count(0)
        self.assertEqual(self.mock.posts, [("/drain", {})])

    def test_what_is_refused_is_said_where_it_was_asked(self):
        self.allowed = ["501"]
        self.mock.absent = {"/drain"}
        page = self.show()
        page.get_by_role("button", name="Drain").click()
        page.get_by_role("dialog").get_by_role("button", name="Drain and end").click()
        expect(page.get_by_role("alert")).to_have_text("This process does not offer that.")

    def test_the_tap_shows_what_passes_and_keeps_the_newest(self):
        page = self.show("tap?component=errors&stream=default")
        page.get_by_label("Where").fill("status >= 500")
        page.get_by_label("At most").select_option("1000")
        page.get_by_role("button", name="Start").click()
        expect(page.locator(".tuples li").first).to_contain_text("/articles/")
        expect(page.locator("#tap-seen")).to_contain_text("the newest 200 are shown")
        self.assertLessEqual(page.locator(".tuples li").count(), 200)
        page.get_by_role("button", name="Stop").click()
        expect(page.get_by_text("Stopped.")).to_be_visible()
        wanted = {"component": "errors", "stream": "default", "rate": "1000", "where": "status >= 500"}
        self.assertEqual(self.mock.taps, [wanted])

    def test_a_checkpoint_can_be_made(self):
        page = self.show("state")
        page.get_by_role("button", name="Make a checkpoint now").click()
        page.get_by_role("dialog").get_by_role("button", name="Make one").click()
        expect(page.get_by_role("dialog")).to_have_count(0)
        self.assertEqual(self.mock.posts, [("/checkpoint", {})])


class Looks(Page):
    def test_each_view_fits_a_phone_and_a_desk(self):
        self.mock.stuck = True
        for size in (NARROW, WIDE):
            page = self.show(size=size)
            for view in VIEWS:
                page.goto(self.server.address + "#/" + view)
                page.wait_for_timeout(50)
                expect(page.locator("main .panel").first).to_be_visible()
                self.assert_fits(page)

    def test_the_picture_fits_a_phone(self):
        page = self.show(size=NARROW)
        expect(page.locator(".picture svg")).to_be_visible()
        wide, shown = page.locator(".picture").evaluate("(frame) => [frame.scrollWidth, frame.clientWidth]")
        self.assertLessEqual(wide, shown)

    def test_text_stands_out_in_light_and_dark(self):
        self.mock.stuck = True
        for scheme in ("light", "dark"):
            page = self.show(color_scheme=scheme)
            for view in VIEWS:
                page.goto(self.server.address + "#/" + view)
                expect(page.locator("main .panel").first).to_be_visible()
                self.until(page, "!document.querySelector('main').innerText.includes('Asking')")
                self.assertEqual(page.evaluate(CONTRAST), [], f"{scheme} {view}")

    def test_the_switch_turns_light_to_dark_and_is_remembered(self):
        page = self.show(color_scheme="light")
        ground = "getComputedStyle(document.body).backgroundColor"
        light = page.evaluate(ground)
        page.get_by_role("button", name="Switch to dark").click()
        dark = page.evaluate(ground)
        self.assertNotEqual(light, dark)
        page.reload()
        expect(page.get_by_role("button", name="Switch to light")).to_be_visible()
        self.assertEqual(page.evaluate(ground), dark)

    def test_all_can_be_done_with_the_keyboard_alone(self):
        self.mock.stuck = True
        page = self.show()
        page.keyboard.press("Tab")
        expect(page.locator(".skip")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator("main")).to_be_focused()
        page.keyboard.press("Tab")
        expect(page.locator("#hurts a").first).to_be_focused()
        self.assertNotEqual(page.locator("#hurts a").first.evaluate("(link) => getComputedStyle(link).outlineStyle"), "none")
        for _ in range(2):
            page.keyboard.press("Tab")
        expect(page.locator(".box").first).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator("h2").first).to_have_text("requests")
        link = page.locator("a[href='#/component/alerts']").first
        expect(link).to_be_visible()
        for _ in range(20):  # the box that had the focus has gone: Tab goes on from where it was, or from the top
            page.keyboard.press("Tab")
            if link.evaluate("(link) => link === document.activeElement"):
                break
        expect(link).to_be_focused()
        page.keyboard.press("Escape")
        expect(page.locator("#hurts h2")).to_be_visible()

    def test_each_control_has_a_name(self):
        page = self.show()
        for view in VIEWS:
            page.goto(self.server.address + "#/" + view)
            expect(page.locator("main .panel").first).to_be_visible()
            nameless = page.evaluate(
                "[...document.querySelectorAll('a, button, input, select')].filter((item) => !item.ariaLabel && !item.labels?.length "
                "&& !item.textContent.trim() && !item.getAttribute('aria-label')).map((item) => item.outerHTML)"
            )
            self.assertEqual(nameless, [])


class Pictures(Page):
    """What docs/dashboard.md shows."""

    def take(self, name, view="", **options):
        page = self.show(view, **options)
        expect(page.locator("main .panel").first).to_be_visible()
        self.until(page, "!document.querySelector('main').innerText.includes('Asking')")
        below = page.locator(".big .below").first
        if below.count():
            for _ in range(3):  # rates are known from the second reading on, and steady from the fourth
                expect(below).not_to_have_text(below.text_content())
        rate = page.locator("[data-key=rate]").first
        if rate.count():
            expect(rate).to_have_text(re.compile("/s$"))
        page.screenshot(path=PICTURES / f"{name}.png", full_page=True)

    def test_the_pictures_of_the_documents(self):
        self.take("page-phone", size=NARROW, color_scheme="dark")
        self.take("page-components", "components", color_scheme="dark")
        self.mock.stuck = True
        self.take("page-hurts", color_scheme="dark")
        self.take("page-stuck", "component/alerts?task=12")


if __name__ == "__main__":
    unittest.main()
