#!/usr/bin/env python3
"""A tool that says what a loss of power may do is worth what it catches: programs that keep their promises rightly pass
every image, programs that leave out one sync are caught, and what the shim cannot see is refused.

usage: power_test.py SHIM VICTIM
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import images  # noqa: E402
import recording as rec  # noqa: E402
from power import Lab, Refused  # noqa: E402
from recording import Unexplained  # noqa: E402

SHIM, VICTIM = (str(Path(word).resolve()) for word in sys.argv[1:3])
SIZE = 1500


def last_told(told):
    return int(told.split()[-1]) if told.split() else None


# --- What each kind of program promises: functions of the folder and of what was told ---


def version(path):
    """The digit of which it consists; None when it is not there, or is of anything else."""
    content = path.read_bytes() if path.exists() else b""
    return content[0] - ord("0") if len(content) == SIZE and len(set(content)) == 1 else None


def state_is_whole(folder, told):
    found, least = version(folder / "state"), last_told(told)
    assert found is not None or (least is None and not (folder / "state").exists()), "'state' is no whole version"
    assert least is None or found >= least, f"'state' is {found}, {least} was told"


def one_place_is_whole(folder, told):
    found = [version(folder / f"place-{i}") or 0 for i in (0, 1)]
    assert max(found) >= (last_told(told) or 0), f"{found}, and {last_told(told)} was told"


def lines_are_there(folder, told):
    path = folder / "lines"
    text = path.read_text(errors="replace") if path.exists() else ""
    whole = re.match(r"(?:line \d 0{59}\d\n)*", text).group().splitlines()
    numbers = [int(line.split()[1]) for line in whole]
    assert numbers == list(range(1, len(numbers) + 1)), numbers
    assert len(numbers) >= (last_told(told) or 0), f"{numbers}, and {last_told(told)} was told"


def lines_are_gone_when_that_was_told(folder, told):
    if last_told(told) == 0:
        assert (folder / "lines").read_bytes() == b""
    else:
        assert (folder / "lines").exists() or not told


def folders_are_there(folder, told):
    assert not told or version(folder / "a/b/state") == 1, "told, and not there"


def index_fits(folder, told):
    index, data = folder / "index", folder / "data"
    number = int(index.read_text().strip("\0") or 0) if index.exists() else 0
    content = data.read_bytes() if number else b""
    for digit in range(1, number + 1):
        part = content[(digit - 1) * SIZE:digit * SIZE]
        assert part == bytes([ord("0") + digit]) * SIZE, f"the index says {number}, and part {digit} is not there"


class WithLab(unittest.TestCase):
    def setUp(self):
        base = "/dev/shm" if os.access("/dev/shm", os.W_OK) and "TMPDIR" not in os.environ else None
        self.place = tempfile.TemporaryDirectory(dir=base)
        self.lab = Lab(SHIM, Path(self.place.name) / "folder")

    def tearDown(self):
        self.place.cleanup()

    def ask(self, how, check, sync_ms=0):
        recording = self.lab.record([VICTIM, how], sync_ms)
        return self.lab.ask_all((image for seed in range(3) for image in images.every(recording, seed)), check)


class Programs(WithLab):
    def passes(self, how, check, least=5, sync_ms=0):
        self.assertGreaterEqual(self.ask(how, check, sync_ms), least)

    def is_caught(self, how, check, saying):
        with self.assertRaisesRegex(Refused, saying):
            self.ask(how, check)
        self.assertTrue((self.lab.work / "failed").exists())

    def test_who_syncs_file_and_folder_passes(self):
        self.passes("replace_well", state_is_whole)

    def test_a_rename_before_the_file_was_synced_is_caught(self):
        self.is_caught("replace_without_sync", state_is_whole, "(lost|in part) .*write 1500 bytes")

    def test_a_rename_whose_folder_is_never_synced_is_caught(self):
        self.is_caught("replace_without_folder_sync", state_is_whole, "lost .*rename 'state.new' to 'state'")

    def test_telling_before_the_folder_is_synced_is_caught(self):
        self.is_caught("replace_told_early", state_is_whole, "lost .*rename 'state.new' to 'state'")

    def test_a_sync_of_another_file_is_caught(self):
        self.is_caught("replace_with_sync_of_another", state_is_whole, "no whole version")

    def test_removing_the_old_one_first_is_caught(self):
        self.is_caught("replace_with_a_gap", state_is_whole, "no whole version")

    def test_writing_over_what_is_needed_is_caught(self):
        self.is_caught("write_in_place", state_is_whole, "in part .*write 1500 bytes at 0")

    def test_two_places_that_are_written_in_turn_pass(self):
        self.passes("write_in_turn", one_place_is_whole)

    def test_lines_that_are_synced_before_they_are_told_pass(self):
        self.passes("append_well", lines_are_there, sync_ms=2)
        self.tearDown(), self.setUp()
        self.passes("append_with_synced_writes", lines_are_there)

    def test_lines_that_are_not_synced_are_caught(self):
        self.is_caught("append_without_sync", lines_are_there, "was told")

    def test_lines_that_are_written_after_the_sync_are_caught(self):
        self.is_caught("append_after_sync", lines_are_there, "was told")

    def test_lines_in_a_file_whose_name_may_be_lost_are_caught(self):
        self.is_caught("append_to_a_file_without_a_name", lines_are_there, "lost .*make 'lines'")

    def test_cutting_a_file_lasts_when_it_is_synced(self):
        self.passes("cut_well", lines_are_gone_when_that_was_told)
        self.tearDown(), self.setUp()
        self.is_caught("cut_without_sync", lines_are_gone_when_that_was_told, "lost .*cut to 0 bytes")

    def test_new_folders_are_there_when_each_parent_was_synced(self):
        self.passes("folders_well", folders_are_there, 3)

    def test_each_folder_that_was_not_synced_is_caught(self):
        for how, lost in (("the_top", "make 'a'"), ("the_middle", "make 'b'"), ("the_last", "make 'state'")):
            self.is_caught(f"folders_without_{how}", folders_are_there, f"lost .*{lost}")
            self.tearDown(), self.setUp()

    def test_an_index_that_is_written_behind_its_data_passes(self):
        self.passes("index_well", index_fits)

    def test_an_index_before_its_data_is_caught(self):
        self.is_caught("index_before_data", index_fits, "the index says")


class Unseen(WithLab):
    def test_a_file_that_is_mapped_for_writing_is_refused(self):
        with self.assertRaisesRegex(Unexplained, "maps files for writing"):
            self.lab.record([VICTIM, "map"])

    def test_what_was_written_inside_of_the_c_library_is_refused(self):
        with self.assertRaisesRegex(Unexplained, "'printed' is of 5 bytes"):
            self.lab.record([VICTIM, "print"])

    def test_a_command_that_fails_is_refused_with_its_words(self):
        with self.assertRaisesRegex(Unexplained, "status 2: usage: victim HOW"):
            self.lab.record([VICTIM, "nothing"])


# A program of random calls, in four threads, each with files of its own.
CALLS = r"""
import os, random, sys, threading

def names(mine, rng):
    return f"{mine}/{rng.randrange(5)}"

def one(rng, mine, flags):
    fd = os.open(names(mine, rng), flags, 0o600)
    for _ in range(rng.randrange(4)):
        what = rng.randrange(6)
        data = bytes([rng.randrange(256)]) * rng.randrange(1, 2000)
        if what == 0: os.pwrite(fd, data, rng.randrange(3000))
        elif what == 1: os.ftruncate(fd, rng.randrange(4000))
        elif what == 2: os.writev(fd, [data, b"x", data])
        elif what == 3: os.fsync(fd)
        elif what == 4: os.posix_fallocate(fd, rng.randrange(1000), rng.randrange(1, 3000))
        else: os.write(fd, data)
    os.close(fd)

def change(rng, mine):
    what = rng.randrange(9)
    if what < 3: one(rng, mine, os.O_WRONLY | os.O_CREAT | rng.choice([0, os.O_TRUNC, os.O_APPEND, os.O_DSYNC]))
    elif what == 3: os.rename(names(mine, rng), names(mine, rng))
    elif what == 4: os.unlink(names(mine, rng))
    elif what == 5: os.link(names(mine, rng), names(mine, rng))
    elif what == 6: os.mkdir(names(mine, rng))
    elif what == 7: os.rmdir(names(mine, rng))
    else: os.symlink("somewhere", names(mine, rng))

def live(number):
    rng, mine = random.Random(number), f"thread-{number}"
    os.mkdir(mine)
    for _ in range(400):
        try: change(rng, mine)
        except OSError: pass

threads = [threading.Thread(target=live, args=(n,)) for n in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
fd = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o600)
os.write(fd, b"without a name at first")
os.link(f"/proc/self/fd/{fd}", "named", src_dir_fd=fd, follow_symlinks=True)
"""


class Recordings(WithLab):
    def test_what_was_noted_of_random_calls_in_threads_explains_the_folder(self):
        (self.lab.folder / "before").write_text("was there")
        recording = self.lab.record([sys.executable, "-c", CALLS])  # which looks itself
        self.assertGreater(len(recording.ops), 1000)
        inode = (self.lab.folder / "before").stat().st_ino
        named = (self.lab.folder / "named").stat().st_ino
        self.lab.put(recording, recording.picture(len(recording.ops), {}))
        recording.check(self.lab.folder)
        self.assertEqual(inode, (self.lab.folder / "before").stat().st_ino)
        self.assertEqual(named, (self.lab.folder / "named").stat().st_ino)

    def test_every_image_of_random_calls_can_be_made(self):
        recording = self.lab.record([sys.executable, "-c", CALLS])
        for number in range(100):
            image = images.draw(recording, number, 1)
            self.lab.put(recording, image.picture())
            self.assertEqual(rec.described(image.picture()), rec.described(rec.look_at(self.lab.folder)))

    def test_an_image_is_drawn_the_same_again(self):
        recording = self.lab.record([VICTIM, "append_without_sync"])
        again = self.lab.recorded()
        for number in range(50):
            one, two = images.draw(recording, number, 3), images.draw(again, number, 3)
            self.assertEqual((one.end, one.style, one.fates), (two.end, two.style, two.fates))

    def test_a_life_after_a_loss_of_power_can_lose_power_again(self):
        first = self.lab.record([VICTIM, "replace_well"])
        for number in range(5):
            self.lab.put(first, images.draw(first, number, 1).picture())
            before = version(self.lab.folder / "state")
            second = self.lab.record([VICTIM, "replace_well"])

            def is_whole(folder, told):
                found = version(folder / "state")
                assert found or before is None and not told
                assert not told or found >= last_told(told)

            self.assertGreater(self.lab.ask_all(images.every(second), is_whole), 3)


def packed(kind, file=0, folder=0, other=0, other_folder=0, name=b"", other_name=b"", offset=0, data=b"", mode=0):
    size = rec.HEAD.size + len(name) + len(other_name) + len(data)
    return rec.HEAD.pack(size, kind, file, folder, other, other_folder, offset, mode, len(name), len(other_name),
                         len(data)) + name + other_name + data


class Syncs(unittest.TestCase):
    FILE = packed(rec.MAKE, 5, 1, name=b"file", mode=0o100600)

    def loose(self, *records):
        return rec.Recording(rec.Picture(1), b"".join(records)).loose(len(records))

    def test_what_is_written_while_a_sync_is_under_way_may_be_lost(self):
        write = packed(rec.WRITE, 5, data=b"1")
        begins, ends = packed(rec.SYNC_BEGINS, 5, other=1), packed(rec.SYNC, 5, other=1)
        self.assertEqual(self.loose(self.FILE, write, begins, write, ends), [0, 3])

    def test_a_sync_that_is_not_over_makes_nothing_last(self):
        write = packed(rec.WRITE, 5, data=b"1")
        self.assertEqual(self.loose(self.FILE, write, packed(rec.SYNC_BEGINS, 5, other=1)), [0, 1])

    def test_a_rename_lasts_when_either_folder_is_synced(self):
        other = packed(rec.MAKE, 7, 1, name=b"sub", mode=0o040700)
        move = packed(rec.RENAME, 5, 1, other_folder=7, name=b"file", other_name=b"file")
        self.assertEqual(self.loose(self.FILE, other, move, packed(rec.SYNC, 7)), [0, 1])
        self.assertEqual(self.loose(self.FILE, other, move, packed(rec.SYNC, 1)), [])

    def test_a_sync_of_everything_is_one(self):
        self.assertEqual(self.loose(self.FILE, packed(rec.WRITE, 5, data=b"1"), packed(rec.SYNC)), [])

    def test_an_inode_that_is_used_again_is_another_file(self):
        gone, again = packed(rec.UNLINK, 5, 1, name=b"file"), packed(rec.MAKE, 5, 1, name=b"new", mode=0o100600)
        write = packed(rec.WRITE, 5, data=b"1")
        recording = rec.Recording(rec.Picture(1), self.FILE + write + packed(rec.SYNC, 5) + gone + again)
        made = recording.picture(5, {3: rec.LOST})
        self.assertEqual({path: content for path, (_, content) in rec.described(made).items()},
                         {"file": b"1", "new": b""})


class Command(WithLab):
    def run_power(self, how, check):
        return subprocess.run([sys.executable, str(HERE / "power.py"), "--shim", SHIM, "--folder", str(self.lab.folder),
                               "--images", "200", f"'{VICTIM}' {how}", check], capture_output=True, text=True)

    def test_the_command_says_how_many_folders_were_well(self):
        ended = self.run_power("replace_well", "test ! -s $POWER_TOLD || test -s state")
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertRegex(ended.stdout, r"^\d+ operations, \d+ different folders, all well\n$")

    def test_the_command_says_what_was_lost_and_makes_the_same_image_again(self):
        ended = self.run_power("replace_without_sync", "test ! -e state || test -s state")
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertRegex(ended.stderr, r"image \d+ .*the power goes before (.|\n)*a copy is in ")
        number = re.search(r"image (\d+)", ended.stderr).group(1)
        again = subprocess.run([sys.executable, str(HERE / "power.py"), "--shim", SHIM, "--folder", str(self.lab.folder),
                                "--recorded", "--only", number, "", "test ! -e state || test -s state"],
                               capture_output=True, text=True)
        self.assertEqual((again.returncode, again.stderr), (1, ended.stderr))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
