"""What a partition changes: held-out perplexity and log joint beside the exact chain's, and what it costs and gains.

    python benchmarks/partition.py quality [--engine cgs] [--parts 1,4,8] [--seeds 3] [--topics 10] [--iterations 300]
    python benchmarks/partition.py speed   [--engine cgs] [--parts 1,2,4,8] [--topics 10]

`quality` runs seeds 0, 1, … of one split and prints means with standard errors, and differences to partition=1 in pairs of
runs with one seed; state and log joint (or bound) are means over the last hundred iterations, each tenth; online is the
running average of p(w|d). `speed` takes sweeps of each partition in turns and prints medians of CPU and wall time relative
to partition=1 on one thread (`--parts 1` for engines that need no partition). The corpus is
`kos` where it is on this machine, else the bundled one.
"""

import argparse
import itertools
import time

import numpy as np

import workbench as wb
from workbench.corpus import data_sets, load_corpus, prepare
from workbench.engines import get_engine
from workbench.engines.engine import StepContext
from workbench.engines.options import make_options
from workbench.models import LDA

N_ROUNDS, SWEEPS_A_ROUND, RECORD_EVERY, LAST = 9, 2, 10, 10


def quality(corpus, engine, parts, n_topics, n_seeds, n_iterations):
    """Prints a row for each number of parts."""
    train, test, split = prepare(corpus, 0.1, 0)
    objective = (
        "log_joint" if "log_joint" in get_engine(engine).watches else get_engine(engine).watches[0]
    )
    found = {}
    for n_parts, seed in itertools.product(parts, range(n_seeds)):
        run = wb.fit(
            train,
            engine,
            n_topics,
            n_iterations=n_iterations,
            seed=seed,
            test=test,
            split=split,
            progress=False,
            options={"partition": n_parts},
            record_every=RECORD_EVERY,
            snapshot_every=n_iterations,
        )
        found.setdefault(n_parts, []).append(
            [
                float(run["test_perplexity_state"][-LAST:].mean()),
                float(run["test_perplexity_average"][-1]),
                float(run[objective][-LAST:].mean()) / train.n_tokens,
            ]
        )
    print(f"{engine}, K={n_topics}, {n_iterations} iterations, {n_seeds} seeds; {train!r}")
    print(f"{'parts':>5} {'state':>18} {'online':>18} {objective + ' / token':>22}")
    for n_parts, rows in found.items():
        print(f"{n_parts:>5} " + " ".join(f"{text:>18}" for text in means(np.array(rows))))
    for n_parts, rows in found.items():
        if n_parts != parts[0]:
            print(
                f"{n_parts:>3}-{parts[0]} "
                + " ".join(f"{text:>18}" for text in means(np.array(rows) - found[parts[0]]))
            )


def means(rows):
    """mean ± standard error of each column."""
    errors = (
        rows.std(axis=0, ddof=1) / np.sqrt(len(rows))
        if len(rows) > 1
        else np.full(rows.shape[1], np.nan)
    )
    return [
        f"{mean:.2f} ± {error:.2f}"
        if abs(mean) > 100 or error > 0.05
        else f"{mean:.5f} ± {error:.5f}"
        for mean, error in zip(rows.mean(axis=0), errors, strict=True)
    ]


def speed(corpus, engine, parts, n_topics, threads=(1, 2)):
    """Prints CPU and wall time of a sweep over those of the whole corpus on one thread."""
    ways = [
        (n_parts, n_threads)
        for n_parts in parts
        for n_threads in threads
        if n_threads == 1 or not get_engine(engine).idle(options_of(engine, n_parts))
    ]
    sweeps = {way: sweeping(corpus, engine, n_topics, *way) for way in ways}
    seconds = {way: [] for way in ways}
    for round_ in range(N_ROUNDS + 1):
        for way, sweep in sweeps.items():
            cpu, wall = time.process_time(), time.perf_counter()
            sweep()
            if round_:  # the first compiles and leaves the random start
                seconds[way].append((time.process_time() - cpu, time.perf_counter() - wall))
    whole = np.array(seconds[ways[0]])
    print(f"{engine}, K={n_topics}, {corpus!r}")
    for way, values in seconds.items():
        values = np.array(values)
        cpu, wall = np.median(values / whole, axis=0)
        milliseconds = np.median(values, axis=0) / SWEEPS_A_ROUND * 1e3
        print(
            f"partition={way[0]:<2} threads={way[1]}  CPU {milliseconds[0]:8.2f} ms, x{cpu:.3f}   "
            f"wall x{wall:.3f}, fastest rounds x{values[:, 1].min() / whole[:, 1].min():.3f}"
        )


def sweeping(corpus, engine, n_topics, n_parts, n_threads):
    """A function that goes on with a state of its own for one round of sweeps."""
    options, engine, model, steps = (
        options_of(engine, n_parts),
        get_engine(engine),
        LDA(n_topics),
        itertools.count(1),
    )
    state = engine.init(corpus, model, options, StepContext(0, 0))

    def sweep():
        nonlocal state
        for _ in range(SWEEPS_A_ROUND):
            state, _ = engine.step(
                corpus, model, options, state, StepContext(0, next(steps), n_threads)
            )

    return sweep


def options_of(engine, n_parts):
    """The options of an engine with so many parts; engines that need no partition have parts=1 alone."""
    return make_options(get_engine(engine), {"partition": n_parts} if n_parts > 1 else {})


def whole_numbers(text):
    return [int(number) for number in text.split(",")]


if __name__ == "__main__":
    asked = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    asked.add_argument("what", choices=("quality", "speed"))
    asked.add_argument("--engine", default="cgs")
    asked.add_argument("--parts", type=whole_numbers)
    asked.add_argument("--topics", type=int, default=10)
    asked.add_argument("--seeds", type=int, default=3)
    asked.add_argument("--iterations", type=int, default=300)
    given = asked.parse_args()
    kos = load_corpus("kos" if data_sets()["kos"].folder() else "docstrings")
    if given.what == "quality":
        quality(
            kos, given.engine, given.parts or [1, 4, 8], given.topics, given.seeds, given.iterations
        )
    else:
        speed(kos, given.engine, given.parts or [1, 2, 4, 8], given.topics)
