"""Where gale's messages for people go."""

import logging

from . import _c
from ._library import gale
from .alike import Fold

_LEVELS = {_c.LogLevel.TRACE: 5, _c.LogLevel.DEBUG: logging.DEBUG, _c.LogLevel.INFO: logging.INFO,
           _c.LogLevel.WARN: logging.WARNING, _c.LogLevel.ERROR: logging.ERROR}


def _level_of(logger):
    """The lowest of gale's levels that the logger wants."""
    return next((level for level, number in _LEVELS.items() if logger.isEnabledFor(number)), _c.LogLevel.OFF)


def _folded(level, write):
    """A _c.Logger that hands on lines to `write(level, name, text)`. At DEBUG and below each is shown."""
    fold = None if level <= _c.LogLevel.DEBUG else Fold(write)

    def add(_user, level, component, text):
        try:
            (fold.add if fold else write)(level, (component or b"").decode("utf-8", "replace"),
                                          text.decode("utf-8", "replace"))
        except Exception:  # a message is not worth more
            pass
    logger = _c.Logger(level=level, write=_c.LOG(add))
    logger.fold = fold
    return logger


def _to_logger(logger):
    def write(level, name, text):
        logger.log(_LEVELS.get(level, logging.INFO), "%s", f"{name}: {text}" if name else text)
    return _folded(_level_of(logger), write)


def _to_stderr(level):
    inner = gale.logger_stderr(level)

    def write(level, name, text):
        inner.write(inner.user, level, name.encode() or None, text.encode())
    return _folded(level, write)


def flush(logger, all=False):
    """Writes lines of a _c.Logger (or None) that were folded a second ago; `all`: all that were."""
    if logger is not None and logger.fold is not None:
        try:
            logger.fold.flush(all)
        except Exception:  # a message is not worth more
            pass


def logger_of(log):
    """A _c.Logger of what an application says: a level's name ("info": to the standard error), a logging.Logger, or
    None."""
    if log is None:
        return None
    if isinstance(log, (logging.Logger, logging.LoggerAdapter)):
        return _to_logger(log)
    try:
        return _to_stderr(_c.LogLevel[log.upper()])
    except (KeyError, AttributeError):
        levels = ", ".join(each.name.lower() for each in _c.LogLevel)
        raise ValueError(f"log is a logging.Logger, or one of {levels}, not {log!r}") from None
