#!/usr/bin/env python3
"""What the documents show works as it stands: the README's C program compiles by the command beside it and counts words,
its YAML topology and its commands run; so do the programs of docs/maps and of docs/api/component.md, and the example of docs/semantics/replay.md; and the files that the
documents link to are there.

usage: readme_test.py ROOT BUILD CC
"""

import collections
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

PATIENCE = 120
TEXT = b"streams of tuples, streams\nof acknowledged tuples\n\tacknowledged streams in topologies \n"


def block(text, language):
    """The first code block of a language."""
    return re.search(rf"^```{language}\n(.*?)^```$", text, flags=re.M | re.S).group(1)


def run(command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, timeout=60, **options)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stderr.decode()}")
    return done.stdout


def counts_of(table):
    """Of TSV, in which a backslash is two; no word of the texts here has a tab or a newline."""
    rows = (line.split(b"\t") for line in table.splitlines())
    return {word.replace(b"\\\\", b"\\"): int(count) for word, count in rows}


EXPECTED = dict(collections.Counter(TEXT.split()))


def check_c(readme, root, build, compiler, folder):
    (folder / "text").write_bytes(TEXT)
    (folder / "word-count.c").write_text(block(readme, "c"))
    run([compiler, f"-I{root}/include", folder / "word-count.c", build / "libgale.a", "-o", folder / "word-count"])
    found = counts_of(run([folder / "word-count", folder / "text"]))
    assert found == EXPECTED, f"the README's C program counted {found}"


def request(number):
    """Half of all requests fail, those of /page/1."""
    return (f'10.0.0.{number} - - [22/Nov/2026:18:00:{number:02} +0000] "GET /page/{number % 2} HTTP/1.1" '
            f'{500 if number % 2 else 200} 10 "-" "test"\n')


def wait_for(condition, what):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise SystemExit(f"the README's topology did not write {what}")
        time.sleep(0.05)


def check_failures(commands, folder):
    """The file is checked, and run until it has written its alert, by the commands that stand below it."""
    check, start = (line.split("#")[0].split() for line in commands.splitlines())
    (folder / "access.log").write_text("".join(request(number) for number in range(20)))
    said = run(check, cwd=folder)
    assert said == b"failures.yaml: nothing is wrong\n", said
    process = subprocess.Popen(start, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: (folder / "alerts.csv").exists() and (folder / "alerts.csv").read_text().count("\n") > 1, "an alert")
    finally:
        process.send_signal(signal.SIGINT)
        code = process.wait(PATIENCE)
    rows = [line.split(",") for line in (folder / "alerts.csv").read_text().splitlines()]
    assert code == 0 and rows[0] == ["path", "start", "end", "count"], (code, rows)
    assert {row[0] for row in rows[1:]} == {"/page/1"} and all(int(row[3]) >= 5 for row in rows[1:]), rows


def check_yaml(readme, root, build, folder):
    """Each topology file of the README, by its name; what ends by itself of the commands below."""
    for name in "README.md", "examples":
        (folder / name).symlink_to(root / name)
    (folder / "build").symlink_to(build)
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", readme, flags=re.M | re.S)
    texts = [text for language, text in blocks if language == "yaml"]
    assert [text.splitlines()[0] for text in texts] == ["name: failures"], "a topology of the README that nothing runs"
    (folder / "failures.yaml").write_text(texts[0])
    commands = [text for language, text in blocks if not language and text.startswith("build/gale")]
    assert len(commands) == 3, commands
    check_failures(commands[0], folder)
    ends = [line.split("#")[0].split() for text in commands[1:] for line in text.splitlines()]
    for line in ends:
        for _start in range(2 if "--state" in line else 1): # the same command goes on
            if line[1] not in ("demo", "top", "new"):
                run(line, cwd=folder)
    counts = counts_of((folder / "counts.tsv").read_bytes())
    assert counts == {word: int(count) for word, count in collections.Counter((root / "README.md").read_bytes().split()).items()}


def check_pages(root, build, compiler, folder):
    expected = {"maps/rotating-map.md": b"42 is forgotten\n", "maps/time-cache-map.md": b"a\nb\n",
                "api/component.md": b"3 letters\n"}
    for page, output in expected.items():
        (folder / "page.c").write_text(block((root / "docs" / page).read_text(), "c"))
        run([compiler, "-std=c17", "-Wall", "-Wextra", "-Werror", f"-I{root}/include", folder / "page.c",
             build / "libgale.a", "-o", folder / "page"])
        found = run([folder / "page"], input=b"a\nb\na\n")
        assert found == output, f"{page}: its program printed {found}"


def check_replay(root, build, folder):
    text = (root / "docs" / "semantics" / "replay.md").read_text()
    text = text[text.index("## An example"):]
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.M | re.S)
    log, first, said, second = [text for language, text in blocks if not language][:4]
    (folder / "access.log").write_text(log)
    (folder / "status.yaml").write_text(block(text, "yaml"))
    environment = dict(os.environ, PATH=f"{build}:{os.environ['PATH']}")
    for commands, code, status, words in (first, 1, b"10.0.0.1\t200\n10.0.0.3\t200\n", said), \
                                         (second, 0, b"10.0.0.2\t404\n", "1 tree: 1 acked"):
        done = subprocess.run(["sh", "-c", commands], capture_output=True, timeout=60, cwd=folder, env=environment)
        assert done.returncode == code and done.stdout.endswith(status) and words in done.stderr.decode(), done


def broken_links(root):
    for page in [root / "README.md", root / "CHANGES.md", *sorted((root / "docs").rglob("*.md"))]:
        for number, line in enumerate(page.read_text().splitlines(), 1):
            for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", line):
                if not (page.parent / target).exists():
                    yield f"{page.relative_to(root)}:{number}: links to {target}, which is not there"


def main(root, build, compiler):
    root, build = pathlib.Path(root), pathlib.Path(build)
    readme = (root / "README.md").read_text()
    links = list(broken_links(root))
    print("\n".join(links) or "every link leads somewhere")
    with tempfile.TemporaryDirectory() as folder:
        check_c(readme, root, build, compiler, pathlib.Path(folder))
        check_yaml(readme, root, build, pathlib.Path(folder))
        check_pages(root, build, compiler, pathlib.Path(folder))
        check_replay(root, build, pathlib.Path(folder))
    return 1 if links else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
