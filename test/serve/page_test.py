#!/usr/bin/env python3
"""The page's files, as a running topology serves them. What the page does in a browser: test/web.

usage: page_test.py GALE
"""

import sys
import unittest
from pathlib import Path

import rig

rig.Case.gale = str(Path(sys.argv[1]).resolve())

DIST = Path(__file__).resolve().parents[2] / "web" / "dist"
FILES = {"/": "text/html; charset=utf-8", "/page.js": "text/javascript; charset=utf-8", "/page.css": "text/css; charset=utf-8"}


def made(path):
    return (DIST / (path[1:] or "index.html")).read_bytes()


class PageFiles(rig.Case):
    def test_each_file_is_that_of_web_dist(self):
        run = self.run_words()
        for path, kind in FILES.items():
            status, headers, body = run.ask(path)
            self.assertEqual((status, headers["Content-Type"]), (200, kind))
            self.assertEqual(body, made(path))
            self.assertEqual(headers["Cache-Control"], "no-store")

    def test_what_is_asked_for_with_its_version_may_be_kept(self):
        run = self.run_words()
        for path in "/page.js", "/page.css":
            _, headers, body = run.ask(path + "?v=123")
            self.assertIn("max-age", headers["Cache-Control"])
            self.assertEqual(body, made(path))

    def test_nobody_gets_it_without_the_token(self):
        run = self.run_words()
        for path in FILES:
            status, _, body = run.ask(path, token=False)
            self.assertEqual(status, 401)
            self.assertNotIn(made(path)[:200], body)

    def test_there_are_no_other_files(self):
        run = self.run_words()
        for path in "/index.html", "/package.json", "/../page.js":
            self.assertIn(run.ask(path)[0], (400, 404))

    def test_nothing_in_it_needs_what_the_policy_forbids(self):
        index = made("/").decode()
        self.assertNotIn("style=", index)
        self.assertNotRegex(index, r"<script(?![^>]*\bsrc=)|\bon\w+=")
        script = made("/page.js").decode()
        for word in "eval(", "new Function", "document.write", "insertAdjacentHTML":
            self.assertNotIn(word, script)

    def test_its_sources_make_no_html_of_a_text(self):
        for path in (DIST.parent / "src").rglob("*.js*"):
            self.assertNotRegex(path.read_text(), "(inner|outer|SetInner)HTML|insertAdjacent", path)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
