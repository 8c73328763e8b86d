"""What tests of killed runs share. No moment is a fixed time after a start, which may take seconds: a life is as long as it
takes to make a checkpoint, or longer than the one before it. Topologies whose results are to be exact give tuples an hour: on
a slow machine half a minute passes, and what was not answered by then is emitted, and counted, again."""

import subprocess
import time


class Lives:
    """Beside unittest.TestCase; self.path is the folder, and the state is in 'state'."""

    def wait_for(self, condition, process, ends=False):
        end = time.monotonic() + 120
        while not condition():
            self.assertTrue(ends or process.poll() is None, "it has ended")
            self.assertLess(time.monotonic(), end)
            time.sleep(0.005)

    def mark(self):
        """Another one after each checkpoint; nothing before the first."""
        mark = self.path / "state" / "commit"
        return mark.read_bytes() if (self.path / "state" / "gale-store").exists() and mark.exists() else b""

    def wait_for_checkpoints(self, process, before, count=1, ends=False):
        """The first one of a run that begins anew has nothing in it yet. `before`: the mark before it was started. `ends`: it
        may come to its end first, which is waited for as well."""
        for _ in range(count):
            self.wait_for(lambda: self.mark() not in (b"", before) or (ends and process.poll() is not None), process, ends)
            before = self.mark()

    def live(self, start, drawn, life, ends=True):
        """One more life: killed at any moment, every other time of those after a checkpoint of its own. What it wrote to its
        standard error, and whether it came to its end."""
        before = self.mark()
        process = start()
        if life % 2:
            while process.poll() is None and self.mark() in (b"", before):
                time.sleep(0.005)
        try:
            err = process.communicate(timeout=drawn.uniform(0, 0.1 * 1.2 ** life))[1]
            self.assertTrue(ends, "it came to its end")
            self.assertEqual(process.returncode, 0, err)
            return err, True
        except subprocess.TimeoutExpired:
            process.kill()
            return process.communicate()[1], False
