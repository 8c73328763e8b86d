#!/usr/bin/env python3
"""Runs a command in a folder, writes down what it does to its files, and asks of many folders that a loss of power could
have left whether another command is content with them.

usage: power.py --shim SHIM --folder FOLDER [--images N] [--seed N] [--sync-ms N] [--timeout S] [--recorded] [--only N]
                RUN CHECK

RUN and CHECK are given to sh, in FOLDER. RUN must end by itself, with status 0. CHECK finds an image in FOLDER (its files
have the inodes that they had), in the file $POWER_TOLD what RUN had told on its standard output before the power went, and
ends with status 0 when all is as it must be. FOLDER.power keeps what was recorded; when an image is refused,
FOLDER.power/failed has a copy of it, and `--recorded --only NUMBER` makes that image again. Without the refusal
FOLDER is left as RUN left it. Images that are the same are looked at once.

Status: 0 all is well; 1 an image was refused; 2 RUN failed, or did what the shim does not see.
"""

import argparse
import hashlib
import os
import pickle
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import images
from recording import Recording, Unexplained, look_at


class Refused(Exception):
    """CHECK is not content with an image."""


def empty(folder):
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path)
        else:
            os.unlink(entry.path)


class Lab:
    """A folder, and beside it what is needed to record a command and to make images. The shelf has another name of each
    file that there was, so that an image's files have their inodes."""

    def __init__(self, shim, folder):
        self.shim, self.folder = str(Path(shim).resolve()), Path(folder).resolve()
        self.work = self.folder.with_name(self.folder.name + ".power")
        self.shelf, self.log, self.told = self.work / "shelf", self.work / "log", self.work / "told"
        self.shelf.mkdir(parents=True, exist_ok=True)
        self.folder.mkdir(exist_ok=True)

    def put_on_shelf(self):
        for path in self.folder.rglob("*"):
            about = path.lstat()
            if stat.S_ISREG(about.st_mode) and not (self.shelf / str(about.st_ino)).exists():
                os.link(path, self.shelf / str(about.st_ino))

    def record(self, command, sync_ms=0, timeout=600, env=None, status=0):
        """Runs it in the folder as it is. A list, or a line for sh."""
        self.put_on_shelf()
        begin = look_at(self.folder)
        (self.work / "begin").write_bytes(pickle.dumps(begin))
        self.log.write_bytes(b"")
        about = {**os.environ, **(env or {}), "LD_PRELOAD": self.shim, "POWER_LOG": str(self.log),
                 "POWER_SHELF": str(self.shelf), "POWER_SYNC_MS": str(sync_ms)}
        ended = subprocess.run(command, shell=isinstance(command, str), cwd=self.folder, env=about, timeout=timeout,
                               stdin=subprocess.DEVNULL, capture_output=True)
        if ended.returncode != status:
            raise Unexplained(f"{command} ended with status {ended.returncode}: {ended.stderr.decode()[-2000:]}")
        recording = Recording(begin, self.log.read_bytes())
        recording.check(self.folder)
        return recording

    def recorded(self):
        return Recording(pickle.loads((self.work / "begin").read_bytes()), self.log.read_bytes())

    def put(self, recording, picture):
        """Makes the folder that."""
        empty(self.folder)
        for path, number in picture.paths():
            self.put_one(self.folder / path, picture.modes[number], picture.content.get(number, b""),
                         self.shelf / str(recording.inode(number)))

    @staticmethod
    def put_one(path, mode, content, shelved):
        if stat.S_ISDIR(mode):
            path.mkdir()
        elif stat.S_ISLNK(mode):
            path.symlink_to(os.fsdecode(bytes(content)))
        elif stat.S_ISREG(mode):
            with open(shelved, "r+b") as file:
                file.truncate(0)
                file.write(content)
            os.link(shelved, path)
        else:
            os.mkfifo(path)

    def ask(self, image, check, timeout=600):
        """Makes an image, and raises Refused when `check` is not content: a command, or a function of the folder and of
        what was told, which raises AssertionError."""
        self.put(image.recording, image.picture())
        try:
            if callable(check):
                check(self.folder, image.told())
            else:
                self.run_check(image, check, timeout)
        except (AssertionError, subprocess.TimeoutExpired) as why:
            self.keep(image)
            raise Refused(f"{image}\n{why}") from why

    def run_check(self, image, check, timeout):
        self.told.write_bytes(image.told())
        about = {**os.environ, "POWER_TOLD": str(self.told), "POWER_IMAGE": str(image.number)}
        ended = subprocess.run(check, shell=isinstance(check, str), cwd=self.folder, env=about, timeout=timeout,
                               stdin=subprocess.DEVNULL, capture_output=True)
        said = (ended.stdout + ended.stderr).decode(errors="replace")[-2000:]
        assert ended.returncode == 0, f"{check} ended with status {ended.returncode}: {said}"

    def keep(self, image):
        """A copy of what was refused, as it was before somebody looked at it."""
        failed = self.work / "failed"
        self.put(image.recording, image.picture())
        shutil.rmtree(failed, ignore_errors=True)
        shutil.copytree(self.folder, failed, symlinks=True)

    def ask_all(self, drawn, check, timeout=600):
        """How many different images there were."""
        seen = set()
        for image in drawn:
            key = digest(image.picture(), image.told())
            if key not in seen:
                seen.add(key)
                self.ask(image, check, timeout)
        return len(seen)


def digest(picture, told):
    sum_of = hashlib.blake2b(told)
    for path, number in picture.paths():
        content = bytes(picture.content.get(number, b""))
        sum_of.update(f"{len(path)} {path} {picture.modes[number]} {len(content)} ".encode(errors="surrogateescape"))
        sum_of.update(content)
    return sum_of.digest()


def parse():
    words = argparse.ArgumentParser(description="Would it survive a loss of power?")
    words.add_argument("--shim", required=True)
    words.add_argument("--folder", required=True)
    words.add_argument("--images", type=int, default=1000)
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--sync-ms", type=int, default=0, help="how long a sync takes, in which others write")
    words.add_argument("--timeout", type=float, default=300)
    words.add_argument("--recorded", action="store_true", help="do not run RUN again")
    words.add_argument("--only", type=int, help="only the image of that number")
    words.add_argument("run")
    words.add_argument("check")
    return words.parse_args()


def main():
    asked = parse()
    lab = Lab(asked.shim, asked.folder)
    try:
        recording = lab.recorded() if asked.recorded else lab.record(asked.run, asked.sync_ms, asked.timeout)
        numbers = range(asked.images) if asked.only is None else [asked.only]
        drawn = (images.draw(recording, number, asked.seed) for number in numbers)
        different = lab.ask_all(drawn, asked.check, asked.timeout)
    except Unexplained as why:
        print(f"power: {why}", file=sys.stderr)
        return 2
    except Refused as why:
        print(f"power: {why}\npower: a copy is in {lab.work}/failed", file=sys.stderr)
        return 1
    lab.put(recording, recording.picture(len(recording.ops), {}))
    print(f"{len(recording.ops)} operations, {different} different folders, all well")
    return 0


if __name__ == "__main__":
    sys.exit(main())
