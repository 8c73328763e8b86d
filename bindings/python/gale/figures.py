"""What a Runtime tells of its run."""

from . import stats
from ._library import gale
from .texts import c_text


class Figures:
    """Of a Runtime, whose `_using` guards the handle."""

    @property
    def phase(self):
        return self.stats().phase

    def stats(self):
        """Of the run: trees, acked, failed, open, executed, complete_p99 (seconds), ... as gale_run_stats has them."""
        with self._using() as runtime:
            return stats.of_run(runtime)

    def task_stats(self):
        """A list, of each task, as gale_task_stats has them."""
        with self._using() as runtime:
            return stats.of_tasks(runtime)

    def metrics(self):
        """A list, of each component's own metrics (Collector.metric), as gale_metric_stats has them for all its tasks
        together, with `component`; `kind` is "counter", "gauge" or "histogram"."""
        with self._using() as runtime:
            return stats.of_metrics(runtime)

    def checkpoint_stats(self):
        """As gale_checkpoint_stats has them; None when the run is not durable."""
        with self._using() as runtime:
            return stats.of_checkpoints(runtime)

    def failures(self, component, reason):
        """How many trees failed there (None: the place is not known) for that Reason."""
        with self._using() as runtime:
            return gale.runtime_failures(runtime, c_text(component), reason)

    def open_trees(self, most=100, seconds=1.0):
        """The oldest trees that are open, and where their tuples are. Not from inside a component."""
        with self._using() as runtime:
            return stats.open_trees(runtime, most, seconds)

    def unwell(self):
        """The tasks that are not well: not open yet, or by their own account (`component`, `task`, `open`, `text`)."""
        with self._using() as runtime:
            return stats.unwell(runtime)
