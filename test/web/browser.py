"""A browser without a window, and a page in it that must not do what a page of gale never does."""

import shutil
import time
import unittest

from playwright.sync_api import expect, sync_playwright

PATIENCE = 120_000  # ms: a test waits for what it expects, on a machine of any speed
FLAGS = ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--no-first-run", "--disable-dev-shm-usage"]
WIDE = {"width": 1280, "height": 900}
NARROW = {"width": 390, "height": 844}

expect.set_options(timeout=PATIENCE)


class Browser(unittest.TestCase):
    """Each test has a context of its own; what a page says in the console, or asks of another machine, fails it."""

    @classmethod
    def setUpClass(cls):
        cls.driver = sync_playwright().start()
        program = shutil.which("chromium") or shutil.which("chromium-browser")
        cls.chromium = cls.driver.chromium.launch(executable_path=program, args=FLAGS)

    @classmethod
    def tearDownClass(cls):
        cls.chromium.close()
        cls.driver.stop()

    def setUp(self):
        self.complaints = []
        self.allowed = []  # words of the console that this test provokes

    def tearDown(self):
        rest = [text for text in self.complaints if not any(word in text for word in self.allowed)]
        self.assertEqual(rest, [], "the page complained, or asked somebody else")

    def open(self, address, view="", size=WIDE, **options):
        context = self.chromium.new_context(viewport=size, **options)
        self.addCleanup(context.close)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda message: message.type in ("error", "warning") and self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        origin = address.split("?")[0]
        page.on("request", lambda request: self.note_request(request.url, origin))
        page.goto(address + (f"#/{view}" if view else ""))
        expect(page.locator("[data-phase]")).to_be_visible()
        return page

    def until(self, page, script):
        """Waits until the script is true. The driver's own way would need eval in the page, which its rules forbid."""
        patience = time.monotonic() + PATIENCE / 1000
        while not page.evaluate(script):
            self.assertLess(time.monotonic(), patience, script)
            page.wait_for_timeout(20)

    def note_request(self, url, origin):
        if not url.startswith((origin, "data:")):
            self.complaints.append(f"asked {url}")

    def assert_fits(self, page):
        wide, shown = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
        self.assertLessEqual(wide, shown, f"{page.url} has to be moved sideways")

    def figure(self, page, name):
        return page.locator(f"[data-figure={name}]")

    def cell(self, page, row, key, table=""):
        return page.locator(f'{table} [data-row="{row}"] [data-key={key}]')


def counted(number):
    return f"{number:,}"


# The contrast of each text on the page with what is behind it (WCAG 2): what is below 4.5, or 3 where it is large.
CONTRAST = """() => {
  const paint = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const parse = (colour) => { paint.clearRect(0, 0, 1, 1); paint.fillStyle = colour; paint.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = paint.getImageData(0, 0, 1, 1).data; return [r, g, b, a / 255]; };
  const over = (top, under) => top.slice(0, 3).map((c, i) => c * top[3] + under[i] * (1 - top[3])).concat(1);
  const ground = (node) => { const layers = [];
    for (let at = node; at; at = at.parentElement) {
      const body = at.querySelector?.(':scope > .body, :scope > rect');
      const style = getComputedStyle(body && at.namespaceURI.includes('svg') && at.tagName !== 'svg' ? body : at);
      layers.push(parse(body && at.tagName !== 'svg' && at.namespaceURI.includes('svg') ? style.fill : style.backgroundColor)); }
    return layers.reverse().reduce((under, top) => over(top, under), [255, 255, 255, 1]); };
  const light = ([r, g, b]) => { const part = (c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b); };
  const bad = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = walk.nextNode(); text; text = walk.nextNode()) {
    const node = text.parentElement;
    if (!text.data.trim() || !node.checkVisibility() || node.closest('.sr, .skip, noscript, title, option, :disabled, .gone')) continue;
    const style = getComputedStyle(node);
    const behind = ground(node);
    const ink = over(parse(node.namespaceURI.includes('svg') ? style.fill : style.color), behind);
    const [a, b] = [light(ink), light(behind)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    const least = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.6 && style.fontWeight >= 700) ? 3 : 4.5;
    if (ratio < least) bad.push(`${text.data.trim().slice(0, 40)}: ${ratio.toFixed(2)}`);
  }
  return bad;
}"""
