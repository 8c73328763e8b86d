"""Folds warnings that are alike: of one level and component, the same but for numbers and what stands in quotes.

SHOWN of a second pass; of the others the last is written with how many there were, as `gale run` does it. KINDS of them
are known at a time.
"""

import re
import threading
import time

from . import _c

SHOWN, SECOND, KINDS = 10, 1.0, 8
_VARIES = re.compile(r"\d+|(?<!\w)'.*?'(?!\w)|(?<!\w)\".*?\"(?!\w)")


class _Kind:
    def __init__(self, now, shown):
        self.since, self.shown, self.more, self.last = now, shown, 0, None

    def take_last(self):
        """The line that stands for those that wait, or None."""
        more, last, self.more, self.last = self.more, self.last, 0, None
        if last and more > 1:
            level, name, text = last
            last = level, name, f"{text} (and {more - 1} more like it)"
        return last


class Fold:
    """Any thread may call it. `write(level, name, text)` is called without the lock."""

    def __init__(self, write, now=time.monotonic):
        self._write, self._now, self._lock, self._kinds = write, now, threading.Lock(), {}

    def add(self, level, name, text):
        lines = [(level, name, text)]
        if level >= _c.LogLevel.WARN:
            with self._lock:
                lines = self._due() + self._take(*lines[0])
        for line in lines:
            self._write(*line)

    def flush(self, all=False):
        """Writes what has waited for a second; `all`: what waits."""
        with self._lock:
            lines = self._due(all)
        for line in lines:
            self._write(*line)

    def _take(self, level, name, text):
        """[] where the line waits; else it, and before it what the place of its kind had."""
        shape, now, lines = (level, name, _VARIES.sub("0", text)), self._now(), []
        kind = self._kinds.get(shape)
        if kind is None or now - kind.since >= SECOND:
            goes_on = kind is not None and kind.shown > SHOWN
            if kind is None and len(self._kinds) == KINDS:
                oldest = min(self._kinds, key=lambda each: self._kinds[each].since)
                lines = [self._kinds.pop(oldest).take_last()]
            kind = self._kinds[shape] = _Kind(now, SHOWN - 1 if goes_on else 0)
        kind.shown += 1
        if kind.shown <= SHOWN:
            return [line for line in lines if line] + [(level, name, text)]
        kind.more, kind.last = kind.more + 1, (level, name, text)
        return [line for line in lines if line]

    def _due(self, all=False):
        now = self._now()
        lines = [kind.take_last() for kind in self._kinds.values() if all or now - kind.since >= SECOND]
        return [line for line in lines if line]
