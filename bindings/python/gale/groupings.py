"""Groupings of one's own."""

import ctypes
import itertools

from . import _c
from .collector import choosing
from .errors import describe
from .values import from_array

_numbers = itertools.count(1)
choosers = {}  # by the number that C has as `user`


def custom_grouping(choose):
    """A gale_grouping of  choose(values, task_count) -> indices of tasks."""
    number = next(_numbers)
    choosers[number] = choose
    return _c.Grouping(kind=_c.GroupingKind.CUSTOM, custom=ctypes.pointer(_CUSTOM), user=number,
                       free_user=_free_chooser)


@_c.TELL
def _free_chooser(user):
    choosers.pop(user, None)


@_c.CHOOSE
def _choose(self, targets, values, count, ret_indices):
    choosing.now = True
    try:
        chosen = list(choosers[self](from_array(values, count), targets[0].task_count))
        if len(chosen) > targets[0].task_count:
            raise ValueError(f"{len(chosen)} tasks were chosen of {targets[0].task_count}")
        for at, index in enumerate(chosen):
            if not 0 <= index < targets[0].task_count:
                raise ValueError(f"task {index} was chosen of {targets[0].task_count}, which count from 0")
            ret_indices[at] = index
        return len(chosen)
    except BaseException as error:
        describe(error)
        choosing.error = error  # for a Python emitter, whose emit this is a part of; of another's it is in the log
        return int(_c.ErrorCode.COMPONENT)
    finally:
        choosing.now = False


_CUSTOM = _c.CustomOps(name=b"python", choose=_choose)
