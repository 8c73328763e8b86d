#!/usr/bin/env python3
"""Times by formats: gale.bolt.Timestamp reads what Python's datetime writes, and what Python's strptime reads, as Python does.

usage: times_test.py GALE
"""

import datetime
import json
import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

GALE = str(Path(sys.argv[1]).resolve())
UTC = datetime.timezone.utc
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=UTC)

FILE = """\
name: t
spouts:
  - {id: in, className: gale.spout.Stdin}
bolts:
  - {id: at, className: gale.bolt.Timestamp, properties: {field: line, unit: ns, format: FORMAT}}
  - {id: out, className: gale.bolt.FileSink, properties: {path: "-", format: json}}
  - {id: bad, className: gale.bolt.FileSink, properties: {path: bad.json, format: json, append: true}}
streams:
  - {from: in, to: at, grouping: {type: SHUFFLE}}
  - {from: at, to: out, grouping: {type: SHUFFLE}}
  - {from: at, to: bad, grouping: {type: SHUFFLE, streamId: bad}}
"""

DATES = ["%Y-%m-%d", "%d.%m.%Y", "%d/%b/%Y", "%B %d, %Y", "%y%m%d", "%Y %j", "%a %d %b %Y", "%A, %d-%B-%y", "%m/%d/%y", "%F"]
CLOCKS = ["%H:%M:%S", "%T", "%I:%M:%S %p", "%p %I.%M.%S", "%H:%M:%S.%f", "%I:%M:%S.%f %p", "%H:%M", "%I %p", ""]
ZONES = ["", " %z", " UTC"]


def moments(seed):
    """Around everything that has an edge: years, leap days, noon, midnight, 1970, two digits of a year."""
    drawn = random.Random(seed)
    found = [datetime.datetime(*one, tzinfo=UTC) for one in (
        (1970, 1, 1), (1969, 12, 31, 23, 59, 59, 999999), (2000, 2, 29, 12), (1999, 12, 31, 23, 59, 59), (2024, 2, 29, 0, 0, 1), (2068, 12, 31, 12, 30),
        (1969, 1, 1), (2026, 11, 28, 0, 30), (2026, 11, 28, 12, 30), (1900, 3, 1), (2100, 2, 28, 11, 59, 59, 1), (1972, 12, 31))]
    found += [EPOCH + datetime.timedelta(seconds=drawn.randint(-10 ** 9, 3 * 10 ** 9), microseconds=drawn.choice([0, 1, 500000, 999999])) for _ in range(12)]
    return found


def nanoseconds(moment):
    return (moment - EPOCH) // datetime.timedelta(microseconds=1) * 1000


class Times(unittest.TestCase):
    def read(self, form, texts):
        """What gale reads; None for what is bad."""
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "t.yaml").write_text(FILE.replace("FORMAT", json.dumps(form)))
            done = subprocess.run([GALE, "run", "t.yaml", "-q", "--no-control"], cwd=folder, input="".join(text + "\n" for text in texts),
                                  capture_output=True, text=True, timeout=120)
            self.assertEqual(done.returncode, 0, f"{form}: {done.stderr}")
            bad = Path(folder) / "bad.json"
            refused = [json.loads(line)["line"] for line in bad.read_text().splitlines()] if bad.exists() else []
        good = iter([json.loads(line)["line"] for line in done.stdout.splitlines()])
        return [None if text in refused else next(good) for text in texts]

    def compare(self, form, python, texts):
        wanted = []
        for text in texts:
            try:
                read = datetime.datetime.strptime(text, python)
                wanted.append(nanoseconds(read if read.tzinfo else read.replace(tzinfo=UTC)))
            except ValueError:
                wanted.append(None)
        for text, gale, right in zip(texts, self.read(form, texts), wanted):
            self.assertEqual(gale, right, f"{form}: {text!r}")

    def test_what_python_writes_is_read_as_python_reads_it(self):
        for number, date in enumerate(DATES):
            for clock in CLOCKS:
                zone = ZONES[(number + CLOCKS.index(clock)) % len(ZONES)]
                form = " ".join(piece for piece in (date, clock) if piece) + zone
                python = form.replace("%T", "%H:%M:%S").replace("%F", "%Y-%m-%d")
                shift = datetime.timezone(datetime.timedelta(minutes=random.Random(form).choice([0, 330, -570, 60, -30, 825])))
                texts = [moment.astimezone(shift if "%z" in zone else UTC).strftime(python) for moment in moments(form)]
                with self.subTest(form=form):
                    self.compare(form, python, list(dict.fromkeys(texts)))

    def test_hours_of_two_halves(self):
        texts = [f"2026-11-28 {hour}:05 {half}" for hour in range(0, 25) for half in ("AM", "PM", "am", "pM")]
        self.compare("%Y-%m-%d %I:%M %p", "%Y-%m-%d %I:%M %p", texts)
        self.compare("%Y-%m-%d %I:%M", "%Y-%m-%d %I:%M", [f"2026-11-28 {hour}:05" for hour in range(0, 25)])
        # A day of 24 hours and its half must agree: Python does not look.
        read = self.read("%F %H:%M %p", [f"2026-11-28 {hour:02}:00 {half}" for hour in range(24) for half in ("AM", "PM")])
        self.assertEqual([one is not None for one in read], [(half == "PM") == (hour >= 12) for hour in range(24) for half in ("AM", "PM")])

    def test_days_of_a_year(self):
        for year in (1999, 2000, 2024, 2100):
            days = 366 if year in (2000, 2024) else 365
            read = self.read("%Y-%j", [f"{year}-{day:03}" for day in range(0, 368)])
            self.assertEqual(read[0], None)
            self.assertEqual(read[1 : days + 1], [nanoseconds(datetime.datetime(year, 1, 1, tzinfo=UTC) + datetime.timedelta(day)) for day in range(days)])
            self.assertEqual(set(read[days + 1 :]), {None})

    def test_years_of_two_digits(self):
        self.compare("%y-%m-%d", "%y-%m-%d", [f"{year:02}-06-15" for year in range(100)])

    def test_seconds_and_their_fraction_have_one_sign(self):
        texts, wanted = [], []
        for second in (0, 1, 59, 1500000000, 6000000000):
            for fraction in ("0", "5", "25", "000001", "999999999", "1234567891"):
                for sign in ("", "-"):
                    texts.append(f"{sign}{second}.{fraction}")
                    wanted.append((-1 if sign else 1) * (second * 10 ** 9 + int(fraction[:9].ljust(9, "0"))))
        self.assertEqual(self.read("%s.%f", texts), wanted)
        self.assertEqual(self.read("%s,%L", [text.replace(".", ",") for text in texts]), wanted)
        self.assertEqual(self.read("[%s]", ["[-1]", "[0]", "[-0]"]), [-(10 ** 9), 0, 0])
        # A zone says nothing about seconds since 1970.
        self.assertEqual(self.read("%s.%f %z", ["-1.5 +0100", "1.5 -0700"]), [-1500000000, 1500000000])

    def test_what_is_out_of_range_is_bad(self):
        self.assertEqual(self.read("%s", ["999999999999", "-999999999999", "1234567890123", "--1", "+1", ""]), [None] * 6)
        self.assertEqual(self.read("%F %T", ["2026-02-29 00:00:00", "2026-00-01 00:00:00", "2026-13-01 00:00:00", "2026-11-31 00:00:00", "2026-11-28 24:00:00",
                                             "2026-11-28 00:60:00", "2026-11-28 00:00:61", "2026-11-28 0:0:0"]), [None] * 8)

    def test_a_leap_second_is_the_one_behind_it(self):
        after = nanoseconds(datetime.datetime(2017, 1, 1, tzinfo=UTC))
        self.assertEqual(self.read("%F %T.%f", ["2016-12-31 23:59:60.0", "2016-12-31 23:59:60.5"]), [after, after + 5 * 10 ** 8])

    def test_digits_that_nothing_separates_are_refused(self):
        for form in ("%s%f", "%s%L", "%f%H", "%s%s", "%L0", "%F %T.%f%y"):
            with tempfile.TemporaryDirectory() as folder:
                (Path(folder) / "t.yaml").write_text(FILE.replace("FORMAT", json.dumps(form)))
                done = subprocess.run([GALE, "check", "t.yaml"], cwd=folder, capture_output=True, text=True, timeout=120)
                self.assertIn("nothing separates the digits", done.stdout + done.stderr, form)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
