"""Runs of several engines, each in a process of its own: what each was predicted to take of memory, and what it took.

A script: ``python peaks.py STORE`` prints one JSON line for each line of JSON that it is given. The processes are forked from
one that has the packages and the corpus, so that a run costs what it costs and not the two seconds of a start.
"""

import json
import os
import sys
import traceback
from functools import partial
from pathlib import Path

import workbench as wb
from workbench.corpus import Corpus
from workbench.runs.execution.fit import fit
from workbench.runs.execution.memory_check import Planned, predict_memory
from workbench.runs.spec import make_spec

LIBRARIES = 100 * 2**20
"""Bytes of libraries in memory, usually. After an installation the page cache gives a process 70 MB more of them."""


def peak_bytes() -> int:
    """The most that this process has held, its pages of files, which it shares with others, counted as usual.

    `getrusage` would tell what the process that started it had held, if that was more.
    """
    fields = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    peak, of_files = (int(fields[name].split()[0]) * 2**10 for name in ("VmHWM", "RssFile"))
    return peak - of_files + LIBRARIES


def split_of(**sizes) -> tuple[Corpus, Corpus]:
    """Training and test corpus drawn with these sizes."""
    return wb.hold_out_tokens(wb.load_corpus("zipf", **sizes))


def forked(work):
    """What ``work`` returns, done in a process of its own."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(theirs, json.dumps(work()).encode())
        except BaseException:
            traceback.print_exc()  # which nobody else would tell
        finally:
            os._exit(0)
    os.close(theirs)
    with os.fdopen(ours) as answers:
        answer = answers.read()
    os.waitpid(child, 0)
    return json.loads(answer)


def measured(train, test, store, engine, n_topics, options, n_iterations=2) -> dict:
    """One run to its end; bytes predicted and taken."""
    settings = {
        "test": test,
        "n_topics": n_topics,
        "n_iterations": n_iterations,
        "snapshot_every": 1,
        "options": options,
    }
    prediction = predict_memory(
        Planned(make_spec(train, engine, **settings), train, test), stored=store is not None
    )
    fit(train, engine, store=store, progress=False, **settings)
    about = {"engine": engine, "options": options, "stored": store is not None}
    return about | {"parts": prediction, "predicted": prediction.total, "taken": peak_bytes()}


def compiled(engine, n_topics, options) -> None:
    """Puts the kernels of a run into the cache: the compiler takes more, but only the first time."""
    train, test = split_of(n_documents=20, n_words=30)
    fit(
        train, engine, n_topics=n_topics, n_iterations=1, test=test, options=options, progress=False
    )


def main() -> None:
    store, (sizes, *wanted) = Path(sys.argv[1]), map(json.loads, sys.stdin)
    train, test = forked_corpora(store, sizes)
    for number, (engine, n_topics, options, kept) in enumerate(wanted):
        home = store / str(number) if kept else None
        forked(partial(compiled, engine, n_topics, options))
        print(
            json.dumps(forked(partial(measured, train, test, home, engine, n_topics, options))),
            flush=True,
        )


def forked_corpora(store: Path, sizes: dict) -> tuple[Corpus, Corpus]:
    """The corpora, drawn in another process: what drawing takes is no part of a run."""
    from workbench.runs.store.archive import CORPORA, get_corpus

    hashes = forked(
        lambda: [part.save(store / CORPORA) and part.content_hash for part in split_of(**sizes)]
    )
    return tuple(get_corpus(store, one) for one in hashes)


if __name__ == "__main__":
    main()
