"""Figures of a run. What C counts in nanoseconds is seconds here."""

import ctypes
import types

from . import _c
from ._library import gale
from .errors import check
from .metrics import kind_name

_SECONDS = {"complete_p50", "complete_p99", "complete_max", "elapsed", "age", "time", "took", "held_p50", "held_p99",
            "took_p50", "took_p99", "took_max", "wall", "since"}
_CHECKPOINT_SECONDS = _SECONDS | {"held", "held_max", "owed"}
_ENUMS = {"phase": _c.Phase, "place": _c.Place}


def _plain(from_c, seconds=_SECONDS):
    """An object with the structure's fields."""
    figures = types.SimpleNamespace()
    for name, *_type in from_c._fields_[1:]:
        value = getattr(from_c, name)
        if isinstance(value, bytes):
            value = value.decode("utf-8", "replace")
        elif name in seconds:
            value /= _c.SECOND
        elif name.endswith("nanoseconds") or name.endswith("nanoseconds_max"):
            name, value = name.replace("nanoseconds", "seconds"), value / _c.SECOND
        setattr(figures, name, _ENUMS[name](value) if name in _ENUMS else value)
    return figures


def of_run(runtime):
    stats = _c.RunStats()
    gale.runtime_stats(runtime, stats)
    return _plain(stats)


def of_tasks(runtime):
    tasks = []
    for number in range(1, gale.runtime_task_count(runtime) + 1):
        stats = _c.TaskStats()
        if gale.runtime_task_stats(runtime, number, stats):
            tasks.append(_plain(stats))
    return tasks


def _labels(stats):
    return tuple((stats.labels[i].name, stats.labels[i].value) for i in range(stats.label_count))


def _series_of(runtime, task):
    """Their names and labels."""
    stats, index = _c.MetricStats(), 0
    while gale.runtime_metric_stats(runtime, task, index, stats):
        yield stats.name, _labels(stats)
        index += 1


def _metric(runtime, component, name, labels):
    """Of all the component's tasks."""
    stats, given = _c.MetricStats(), (_c.MetricLabel * len(labels))(*labels)
    check(gale.runtime_metric_series(runtime, component, name, given, len(labels), None, 0, None, stats))
    figures = _plain(stats)
    figures.component, figures.kind = component.decode("utf-8", "replace"), kind_name(stats.kind)
    figures.labels = {each.decode(): value.decode("utf-8", "replace") for each, value in labels}
    del figures.label_count
    return figures


def of_metrics(runtime):
    found, task = {}, _c.TaskStats()
    for number in range(1, gale.runtime_task_count(runtime) + 1):
        if gale.runtime_task_stats(runtime, number, task):
            found |= dict.fromkeys((task.component, *series) for series in _series_of(runtime, number))
    return [_metric(runtime, *each) for each in found]


def of_checkpoints(runtime):
    stats = _c.CheckpointStats()
    return _plain(stats, _CHECKPOINT_SECONDS) if gale.runtime_checkpoint_stats(runtime, stats) else None


def open_trees(runtime, most, seconds):
    trees = (_c.OpenTree * min(most, _c.OPEN_TREES_MAX))()
    trees[0].size = ctypes.sizeof(_c.OpenTree)
    count = check(gale.runtime_open_trees(runtime, trees, len(trees), round(seconds * _c.SECOND)))
    return [_plain(tree) for tree in trees[:count]]


def unwell(runtime):
    tasks = (_c.Unwell * max(gale.runtime_task_count(runtime), 1))()
    tasks[0].size = ctypes.sizeof(_c.Unwell)
    count = check(gale.runtime_unwell(runtime, tasks, len(tasks)))
    return [_plain(task) for task in tasks[:count]]
