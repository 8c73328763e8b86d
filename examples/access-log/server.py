#!/usr/bin/env python3
"""The log of a made-up web server: 2,000 lines a second, rotated by rename as logrotate does it. Each line's time is up to two
seconds behind, and now and then a part of the site fails.

usage: server.py LOG [--lines N] [--rate LINES_A_SECOND] [--rotate LINES] [--seed N]
"""

import argparse
import itertools
import os
import random
import time

A_SECOND = 2000  # lines of the log's own time
BEGIN = 1795370400  # 2026-11-22T18:00:00Z
MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()


def line(drawn, number, path=None):
    moment = time.gmtime(BEGIN + number // A_SECOND - drawn.choice((0, 0, 0, 1, 2)))
    stamp = f"{moment.tm_mday:02}/{MONTHS[moment.tm_mon - 1]}/{moment.tm_year}:{moment.tm_hour:02}:{moment.tm_min:02}:{moment.tm_sec:02}"
    page = min(int(drawn.paretovariate(0.7)), 400)
    bad = number // (7 * A_SECOND) % 4 == 3 and page % 3 == 0
    status = drawn.choice((500, 502, 503)) if bad or drawn.random() < 0.002 else drawn.choice((200, 200, 200, 304, 404))
    query = f"?visit={drawn.randrange(1000)}" if page % 5 == 0 else ""
    return (f'10.0.{drawn.randrange(8)}.{drawn.randrange(250)} - - [{stamp} +0000] "GET {path or f"/page/{page}"}{query} HTTP/1.1" '
            f'{status} {drawn.randrange(20000)} "-" "Mozilla/5.0"\n')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("log")
    parser.add_argument("--lines", type=int, default=0, help="0: without end")
    parser.add_argument("--rate", type=float, default=A_SECOND, help="0: as fast as it can")
    parser.add_argument("--rotate", type=int, default=60 * A_SECOND, help="lines of a file")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    drawn = random.Random(given.seed)
    began = time.monotonic()
    log = open(given.log, "a", encoding="ascii")
    for number in itertools.count():
        if number == given.lines and number:
            break
        log.write(line(drawn, number))
        if number % 100 == 99:
            log.flush()
            late = (number + 1) / given.rate - (time.monotonic() - began) if given.rate else 0
            if late > 0:
                time.sleep(late)
        if number % given.rotate == given.rotate - 1:
            log.close()
            os.rename(given.log, f"{given.log}.{number // given.rotate + 1}")
            log = open(given.log, "a", encoding="ascii")
    log.write(line(drawn, given.lines + 3600 * A_SECOND, "/the-end"))  # which ends all windows before
    log.close()


if __name__ == "__main__":
    main()
