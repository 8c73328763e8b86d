#!/usr/bin/env python3
"""What the documents show works as it stands: the README's C program compiles by the command beside it and counts words,
its YAML topology runs; so do the programs of docs/maps and of docs/api/component.md, and the example of docs/semantics/replay.md; and the files that the
documents link to are there.

usage: readme_test.py ROOT BUILD CC
"""

import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

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
    return {word: int(count) for word, count in (line.split(b"\t") for line in table.splitlines())}


EXPECTED = dict(collections.Counter(TEXT.split()))


def check_c(readme, root, build, compiler, folder):
    (folder / "text").write_bytes(TEXT)
    (folder / "word-count.c").write_text(block(readme, "c"))
    run([compiler, f"-I{root}/include", folder / "word-count.c", build / "libgale.a", "-o", folder / "word-count"])
    found = counts_of(run([folder / "word-count", folder / "text"]))
    assert found == EXPECTED, f"the README's C program counted {found}"


def check_yaml(readme, build, folder):
    (folder / "topology.yaml").write_text(block(readme, "yaml"))
    run([build / "gale", "run", folder / "topology.yaml", "--input", folder / "text", "--output", folder / "counts",
         "--until-drained", "-q"])
    found = counts_of((folder / "counts").read_bytes())
    assert found == EXPECTED, f"the README's topology counted {found}"


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
        check_yaml(readme, build, pathlib.Path(folder))
        check_pages(root, build, compiler, pathlib.Path(folder))
        check_replay(root, build, pathlib.Path(folder))
    return 1 if links else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
