"""No input gives a traceback, a hang or a full memory: every reader, network files, specs, links, requests of runs.

The long form, on so many processes, for so many minutes at the most::

    python tests/campaigns/test_fuzz.py --number 1000000 --first 0 --seed 1 --jobs 2 --minutes 60

It prints what went wrong, a table of what came out, and where to go on; ``--first N --number 1`` tries one input again.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

FUZZING = Path(__file__).with_name("fuzzing.py")
ROOT = FUZZING.parents[2]
QUICK = 3000
"""Inputs of the quick form."""
COLUMNS = ("accepted", "refused", "wrong")


class Result(NamedTuple):
    """What came of a campaign."""

    wrong: list[str]  # a line for each input that went wrong
    counts: dict[str, Counter]  # of each target
    reached: int  # the inputs before this one were tried


def campaign(
    number: int, first: int = 0, seed: int = 1, jobs: int = 1, minutes: float = 1e6
) -> Result:
    """Tries so many inputs, from the first on, in several processes; one that ends is started again behind its input."""
    wrong, counts, stop, until = [], {}, first + number, time.time() + 60 * minutes
    with tempfile.TemporaryDirectory() as folder:

        def start(job: int, at: int) -> tuple:
            state = Path(folder) / f"state-{job}"
            command = [
                sys.executable,
                FUZZING,
                "--seed",
                seed,
                "--first",
                at,
                "--stop",
                stop,
                "--step",
                jobs,
                "--until",
                until,
                "--state",
                state,
            ]
            paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
            environ = os.environ | {
                "PYTHONPATH": paths,
                "OMP_NUM_THREADS": "1",
                "OPENBLAS_NUM_THREADS": "1",
            }
            return (
                job,
                state,
                subprocess.Popen(
                    [*map(str, command)], stdout=subprocess.PIPE, text=True, env=environ
                ),
            )

        running, reached = [start(job, first + job) for job in range(jobs)], []
        while running:
            job, state, process = running.pop(0)
            told = [json.loads(line) for line in process.communicate()[0].splitlines()]
            lines, figures = (
                [each for each in told if isinstance(each, kind)] for kind in (list, dict)
            )
            for name, found in (figures or [{}])[-1].items():
                counts.setdefault(name, Counter()).update(found)
            if process.returncode == 0:
                reached.append(int(state.read_text()))
            else:  # it goes on behind the input on which it ended
                begun = state.exists() and state.stat().st_size
                assert begun, (
                    f"a process that fuzzes ended with {process.returncode} before its first input"
                )
                at = int(state.read_text())
                hung = process.returncode == -signal.SIGPROF
                lines.append([at, "hung" if hung else "ended", f"by signal {-process.returncode}"])
                running.append(start(job, at + jobs))
            wrong += [" ".join(map(str, line)) for line in lines]
    return Result(wrong, counts, min(reached))


def table(result: Result) -> str:
    """The counts as rows of a Markdown table."""
    rows = [("input", "tried", "accepted", "refused", "wrong", "ms each"), ("---",) + ("--:",) * 5]
    every = sum(result.counts.values(), Counter())
    for name, found in [*result.counts.items(), ("all", every)]:
        n = sum(found[came] for came in COLUMNS)
        each = 1000 * found["seconds"] / max(n, 1)
        rows.append((name, f"{n:,}", *(f"{found[came]:,}" for came in COLUMNS), f"{each:.2f}"))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


@pytest.mark.long
def test_three_thousand_mutated_inputs_give_an_object_or_a_sentence():
    found = campaign(QUICK)
    assert not found.wrong, "\n".join(found.wrong)
    assert found.reached == QUICK
    for name, counts in found.counts.items():
        # of which there are three here
        never_refused = name.endswith(("link", "control")) or name == "bif"
        assert (counts["accepted"] and counts["refused"]) or never_refused, (
            f"{name}: {counts} shows nothing"
        )


def main() -> int:
    about = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, default in (
        ("--number", 10**6),
        ("--first", 0),
        ("--seed", 1),
        ("--jobs", os.cpu_count() or 1),
    ):
        about.add_argument(name, type=int, default=default)
    about.add_argument("--minutes", type=float, default=1e6)
    asked = vars(about.parse_args())
    found = campaign(**asked)
    print("\n".join(found.wrong))
    tried = f"inputs {asked['first']:,} to {found.reached:,}"
    print(f"\nSeed {asked['seed']}, {tried}; {len(found.wrong)} went wrong.\n\n{table(found)}")
    return bool(found.wrong)


if __name__ == "__main__":
    sys.exit(main())
