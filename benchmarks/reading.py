"""What does it cost to read a corpus, and to split it, in memory and in shards?

Words by Zipf's law over a vocabulary of 30,000, documents of 100 tokens: as JSON lines of texts, and as a UCI bag of words.
Each contender reads the file in a process of its own: CPU time of it and of the processes that it starts, per token, and the
peak of its memory beyond what it has once its modules are imported (of several processes that of the largest). Splits hold out
a tenth of the tokens. Texts are not kept (`keep_text=False`). Linux only: the peak is read from /proc. To measure another
version of the package: `python benchmarks/reading.py --source FOLDER`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

NAME = "reading"
TITLE = "Reading in memory and in shards"
SIZES = (10**6, 10**7)
N_WORDS, LENGTH = 30_000, 100
ROUNDS = 3
CONTENDERS = {
    "text, in memory": ("read", "texts.jsonl"),
    "text, shards, one process": ("stream", "texts.jsonl", 1),
    "text, shards, two processes": ("stream", "texts.jsonl", 2),
    "UCI, in memory": ("read", "docword.zipf.txt"),
    "UCI, shards": ("stream", "docword.zipf.txt", 1),
    "hold-out, in memory": ("split", "docword.zipf.txt"),
    "hold-out, shards": ("split shards", "shards"),
}
CHILD = """
import json, resource, shutil, sys, time
folder, what, name, *processes = json.loads(sys.argv[1])
def seconds():
    return sum(getattr(resource.getrusage(who), f"ru_{kind}time") for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
               for kind in "us")
def memory(kind):
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith(kind))
def main():
    import scipy.sparse, sklearn.feature_extraction.text
    from workbench.corpus import hold_out_tokens, load_corpus, read_corpus
    options = {"keep_text": False} if name.endswith("jsonl") else {}
    place, done = f"{folder}/made", None
    if what == "split":
        done = read_corpus(f"{folder}/{name}")
        done.document_tokens, done.documents
    if what == "split shards":
        done = load_corpus(f"{folder}/{name}")
    if what == "stream":
        from workbench.corpus.shards.streaming import read_shards
    open("/proc/self/clear_refs", "w").write("5")
    before, began, wall = memory("VmRSS"), seconds(), time.perf_counter()
    if what == "read":
        done = read_corpus(f"{folder}/{name}", **options)
    elif what == "stream":
        done = read_shards(f"{folder}/{name}", place, *processes)
    elif what == "split":
        done = hold_out_tokens(done)[1]
    else:
        done = hold_out_tokens(done, folder=place)[1]
    cpu, wall = seconds() - began, time.perf_counter() - wall
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 - before
    print(json.dumps({"cpu": cpu, "wall": wall, "peak": max(memory("VmHWM") - before, largest), "before": before,
                      "hash": done.content_hash}))
    shutil.rmtree(place, ignore_errors=True)
if __name__ == "__main__":
    main()
"""


def cells(plan):
    """(name, rough seconds, what measures it)."""
    for n_tokens in SIZES[:1] if plan.quick else SIZES:
        yield (
            f"{n_tokens:,} tokens",
            n_tokens / 3e5,
            lambda n_tokens=n_tokens: measure(n_tokens, min(plan.rounds, ROUNDS)),
        )


def measure(
    n_tokens: int, n_rounds: int, contenders=tuple(CONTENDERS), source: Path | None = None
) -> list[dict]:
    """A row for each contender and round."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="workbench-reading-") as folder:
        write_files(Path(folder), n_tokens)
        (Path(folder) / "child.py").write_text(CHILD)
        if source is None:
            from workbench.corpus.shards.streaming import read_shards

            read_shards(Path(folder) / "docword.zipf.txt", Path(folder) / "shards")
        for round_ in range(n_rounds):
            for contender in contenders:
                asked = json.dumps([folder, *CONTENDERS[contender]])
                paths = os.pathsep.join(
                    map(str, filter(None, [source, os.environ.get("PYTHONPATH")]))
                )
                done = subprocess.run(
                    [sys.executable, f"{folder}/child.py", asked],
                    env=os.environ | {"PYTHONPATH": paths},
                    cwd=source,
                    check=True,
                    stdout=subprocess.PIPE,
                    text=True,
                )
                rows.append(
                    {"contender": contender, "round": round_, "n_tokens": n_tokens}
                    | json.loads(done.stdout)
                )
        rows[0]["file"] = (Path(folder) / "texts.jsonl").stat().st_size
    return rows


def write_files(folder: Path, n_tokens: int) -> None:
    """The texts and the bag of words, made a million tokens at a time."""
    random = np.random.default_rng(0)
    names = np.array([_name(w) for w in range(N_WORDS)])
    chances = np.cumsum(1 / np.arange(1, N_WORDS + 1))
    n_documents, n_pairs = 0, 0
    with open(folder / "texts.jsonl", "w") as texts, open(folder / "rows", "w") as rows:
        for n in [10**6] * (n_tokens // 10**6) or [n_tokens]:
            words = np.searchsorted(chances, random.random(n) * chances[-1]).reshape(-1, LENGTH)
            texts.writelines(
                f'{{"text": "{" ".join(document)}"}}\n' for document in names[words].tolist()
            )
            documents = np.repeat(np.arange(len(words)), LENGTH)
            cells, counts = np.unique(documents * N_WORDS + words.ravel(), return_counts=True)
            columns = cells // N_WORDS + n_documents + 1, cells % N_WORDS + 1, counts
            rows.writelines(
                f"{d} {w} {count}\n"
                for d, w, count in zip(*(column.tolist() for column in columns), strict=True)
            )
            n_documents, n_pairs = n_documents + len(words), n_pairs + len(cells)
    with open(folder / "docword.zipf.txt", "w") as out, open(folder / "rows") as rows:
        out.write(f"{n_documents}\n{N_WORDS}\n{n_pairs}\n")
        out.writelines(rows)
    (folder / "rows").unlink()
    (folder / "vocab.zipf.txt").write_text("\n".join(names.tolist()))


def _name(word: int) -> str:
    """Letters for a number, the more the rarer the word; none is a stop word."""
    letters = "xz"
    while word or len(letters) < 4:
        word, letter = divmod(word, 20)
        letters += "bcdfghjklmnpqrstvwxz"[letter]
    return letters


def told(rows: pd.DataFrame) -> str:
    from records import markdown

    parts = [__doc__.split("\n\n", 1)[1].strip()]
    sizes = list(dict.fromkeys(rows["cell"]))
    for what, unit, scale in (
        ("cpu", "CPU microseconds a token", 1e6),
        ("peak", "Peak beyond the start, MB", None),
    ):
        lines = []
        for contender, own in rows.groupby("contender", sort=False):
            of = dict(list(own.groupby("cell")))
            divisors = {
                cell: each["n_tokens"] / scale if scale else 1e6 for cell, each in of.items()
            }
            values = [
                (of[cell][what] / divisors[cell]).median() if cell in of else None for cell in sizes
            ]
            lines.append(
                [contender, *("" if value is None else f"{value:.3g}" for value in values)]
            )
        parts.append(markdown([unit, *sizes], lines))
    return "\n\n".join(parts)


def main() -> None:
    """Measures some sizes, of this or of another version of the package, as a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tokens", type=float, nargs="+", default=SIZES)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument(
        "--source",
        type=Path,
        help="folder with another version of the package; of it what reads in memory",
    )
    given = parser.parse_args()
    import pandas as pd

    contenders = [name for name in CONTENDERS if given.source is None or "in memory" in name]
    found = [
        row | {"cell": f"{int(n):,} tokens"}
        for n in given.tokens
        for row in measure(int(n), given.rounds, contenders, given.source)
    ]
    print(told(pd.DataFrame(found)))


if __name__ == "__main__":
    main()
