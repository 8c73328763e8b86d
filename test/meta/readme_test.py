#!/usr/bin/env python3
"""What the README shows works as it stands: its C program compiles by the command beside it and counts words, its YAML
topology runs; and the files that the documents link to are there.

usage: readme_test.py ROOT BUILD CC
"""

import collections
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
    return 1 if links else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
