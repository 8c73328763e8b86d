"""Errors, from C to Python and back."""

import logging
import os
import traceback

from . import _c
from ._library import gale

log = logging.getLogger("gale")
_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep


class GaleError(Exception):
    """What libgale refused or could not do: `code` is an ErrorCode, `text` says it in words."""

    def __init__(self, code, text=""):
        try:
            code = _c.ErrorCode(code)
        except ValueError:
            pass  # of a newer libgale
        self.code, self.text = code, text or gale.error_text(code).decode()
        super().__init__(self.text)

    def __reduce__(self):
        return type(self), (self.code, self.text)


class NotNow(GaleError):
    """Raised by `open` or `prepare`: what it needs is away. It is asked again after a pause that grows; meanwhile the
    run goes on without the task, which is not well, with these words."""

    def __init__(self, text=""):
        super().__init__(_c.ErrorCode.AGAIN, text)

    def __reduce__(self):
        return type(self), (self.text,)


class FailedForGood(GaleError):
    """A run has ended, and something failed for good: rejected tuples, and what nobody emits again. `stats` are the
    run's. A program that lets it through ends with 1, as `gale run` does."""

    def __init__(self, stats):
        counts = [(stats.failed, "failed"), (stats.timed_out, "timed out"), (stats.rejected, "rejected"),
                  (stats.given_up, "given up"), (stats.dead_letters_lost, "lost as dead letters")]
        said = ", ".join(f"{count} {what}" for count, what in counts if count)
        super().__init__(_c.ErrorCode.COMPONENT, "the run has ended, and something failed for good: "
                         + (f"of {stats.trees} trees {said}" if said else "the log says what"))
        self.stats = stats

    def __reduce__(self):
        return type(self), (self.stats,)


def check(code, report=None):
    """`code`, unless it is an error; `report` is the _c.Error that tells more."""
    if code >= 0:
        return code
    raise GaleError(code, report.text.decode("utf-8", "replace") if report is not None and report.code else "")


def _is_the_applications(file):
    """Neither this package's, nor Python's own without a file."""
    return not file.startswith("<frozen ") and not os.path.abspath(file).startswith(_FOLDER)


def _place(error, at):
    """Where it was raised, or where this package was called from then: "words.py:12"; `at` is the frame to name where
    that was no code of the application's, or None."""
    frames = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    own = [frame for frame in frames if _is_the_applications(frame[0])]
    if not own and at is not None:
        own = [(at.f_code.co_filename, at.f_lineno)]
    file, line = (own or frames or [("?", 0)])[-1]
    return f"{os.path.basename(file)}:{line}"


def _cut(text, room):
    """As many whole characters as fit into so many bytes of UTF-8."""
    return text.encode("utf-8", "replace")[:max(room, 0)].decode("utf-8", "ignore")


def _text(error):
    try:
        return str(error)
    except Exception:
        return "?"


def describe(error, at=None):
    """An exception as one line that a failure has room for: "ValueError: no number (words.py:12)"."""
    what = f"{type(error).__name__}: {_text(error)}".rstrip(": ").replace("\n", " ")
    where = f" ({_place(error, at)})"
    log.debug("%s%s", what, where, exc_info=error)
    return _cut(what, _c.FAILURE_TEXT - len(where.encode("utf-8", "replace"))) + where


def code_of(error):
    """What C is told of it."""
    return int(error.code) if isinstance(error, GaleError) and error.code < 0 else int(_c.ErrorCode.COMPONENT)
