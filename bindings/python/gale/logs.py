"""Where gale's messages for people go."""

import logging

from . import _c
from ._library import gale

_LEVELS = {_c.LogLevel.TRACE: 5, _c.LogLevel.DEBUG: logging.DEBUG, _c.LogLevel.INFO: logging.INFO,
           _c.LogLevel.WARN: logging.WARNING, _c.LogLevel.ERROR: logging.ERROR}


def _level_of(logger):
    """The lowest of gale's levels that the logger wants."""
    return next((level for level, number in _LEVELS.items() if logger.isEnabledFor(number)), _c.LogLevel.OFF)


def _to_logger(logger):
    def write(_user, level, component, text):
        try:
            name, text = (component or b"").decode("utf-8", "replace"), text.decode("utf-8", "replace")
            logger.log(_LEVELS.get(level, logging.INFO), "%s", f"{name}: {text}" if name else text)
        except Exception:  # a message is not worth more
            pass
    return _c.Logger(level=_level_of(logger), write=_c.LOG(write))


def logger_of(log):
    """A _c.Logger of what an application says: a level's name ("info": to the standard error), a logging.Logger, or
    None."""
    if log is None:
        return None
    if isinstance(log, (logging.Logger, logging.LoggerAdapter)):
        return _to_logger(log)
    try:
        return gale.logger_stderr(_c.LogLevel[log.upper()])
    except (KeyError, AttributeError):
        levels = ", ".join(each.name.lower() for each in _c.LogLevel)
        raise ValueError(f"log is a logging.Logger, or one of {levels}, not {log!r}") from None
