"""Predict the memory that runs need, and refuse runs that do not fit, before anything is created.

The peak memory of a run is predicted from sizes alone::

    process + corpora + the largest of   reading:  temporary memory while a corpus is read
                                         working:  state + indices + the largest of step, measuring, snapshot
                                         ending:   theta, phi and the counts that they are computed from

Each engine predicts its own part (`engines.engine`); `benchmarks/memory.py` compares predictions with measurements.
"""

import contextlib
import ctypes
import tempfile
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import NamedTuple

from workbench.corpus import Corpus
from workbench.data.available_memory import available_memory
from workbench.engines import ENGINES, get_engine
from workbench.engines.engine import DOUBLE, Data, Engine, Memory, Options
from workbench.engines.options import options_of, split_options
from workbench.kernels.simd.vectors import padded
from workbench.models.model import Model
from workbench.models.options import OptionError
from workbench.numbers import GIB, MIB, format_size
from workbench.runs.parts.crew import LocalParts
from workbench.runs.parts.laying_out import InMemoryData, ShardedData
from workbench.runs.spec import RunSpec, SpecError
from workbench.runs.store.places import is_run
from workbench.runs.store.status import FINISHED, read_ending, read_status
from workbench.runs.store.writer import array_bytes

PROCESS = 250 * MIB
"""Bytes of an interpreter with the imported packages and the compiled kernels of a run."""
READING, MEASURING = 28, DOUBLE
"""Temporary bytes per pair: of a corpus while it is read and checked; of the probabilities of pairs."""
WRITING, ENDING = 2, 2
"""Numbers of temporary copies: of the largest array of a snapshot; of theta and phi at the end."""
BY_WORD = 6
"""Arrays (word, topic) in memory while the bound over a corpus in parts is computed: two each of a part, a group, and all."""
LARGE = GIB
"""Bytes from which on `fit` prints the predicted memory of a run."""


class Planned(NamedTuple):
    """A run that is not yet created: its spec, training corpus and test corpus."""

    spec: RunSpec
    train: Corpus
    test: Corpus | None
    key_values: dict | None = None  # for a cell of a grid: key → value


class Prediction(NamedTuple):
    """The predicted peak memory of a run in bytes, split by use."""

    process: int  # interpreter, packages, compiled kernels
    corpora: int  # training and test corpus, with arrays derived from them
    # state, indices and whatever else is in memory between steps; 0 if the peak is while a corpus is read
    resident: int
    temporary: int  # temporary memory at the peak

    @property
    def total(self) -> int:
        return sum(self)


def predict_memory(planned: Planned, stored: bool = True) -> Prediction:
    """Predict the peak memory of a run; for a corpus in shards, the least memory with which the run can be computed."""
    return (
        predict_out_of_core(planned)
        if planned.train.n_parts > 1
        else predict_whole(planned, stored)
    )


def predict_whole(planned: Planned, stored: bool = True) -> Prediction:
    """Predict the peak memory of a run with its corpus in memory, and with its snapshots too unless it is ``stored``.

    For an engine that adds topics (g-hdp) it is the memory with 1.5 times the initial number of topics.
    """
    spec, train, test = planned.spec, planned.train, planned.test
    engine, model, options = spec.parts(train)
    memory = with_table(engine_memory(engine, model, options, train), model, train)
    arrays = array_bytes(spec, train)
    corpora, sizes = train.memory_bytes + (test.memory_bytes if spec.test else 0), model.dims(train)
    dense = sizes.get("topic", 0) * (sizes.get("document", 0) + sizes.get("word", 0)) * DOUBLE
    snapshots = 0 if stored else sum(arrays) * -(-spec.n_iterations // spec.snapshot_every)
    start_bytes = dense + 4 * train.n_items if spec.start else 0
    working = memory.state + memory.indices + snapshots + start_bytes
    peaks = {
        (0, READING * train.n_entries if stored else 0),
        (
            working,
            max(memory.step, memory.look + max(MEASURING * train.n_entries, WRITING * max(arrays))),
        ),
        (2 * snapshots, ENDING * dense),
    }
    return Prediction(PROCESS, corpora, *max(peaks, key=sum))


def engine_memory(engine: Engine, model: Model, options: Options, data: Data) -> Memory:
    """Return an engine's memory by use; over shards, sums of state and indices (counts by word once), the largest step."""
    first, *others = memories = [engine.memory(part, model, options) for part in data.parts()]
    if not others:
        return first
    word_bytes = data.n_words * padded(model.n_topics) * DOUBLE
    state, indices = (
        sum(memory.state for memory in memories) - len(others) * word_bytes,
        sum(memory.indices for memory in memories),
    )
    look = max(memory.look for memory in memories) + _arrays_by_word(engine) * word_bytes
    return Memory(state, indices, max(memory.step for memory in memories), look)


def with_table(memory: Memory, model: Model, data: Data) -> Memory:
    """Return the memory with that of a prior (topic, word): as given, in the state, and added to counts in a step."""
    if not getattr(model, "has_table", False):
        return memory
    n_bytes = data.n_words * padded(model.n_topics) * DOUBLE
    state, indices, step, look = memory
    return Memory(state + 2 * n_bytes, indices, step + n_bytes, look + n_bytes)


def _arrays_by_word(engine: Engine) -> int:
    """Return how many extra arrays (word, topic) the diagnostics over a corpus in shards need besides the state's."""
    return BY_WORD if "collapsed_bound" in engine.watches else 0


def predict_out_of_core(planned: Planned) -> Prediction:
    """Predict the peak memory of a run over a corpus in shards, with the arrays of one part in memory at a time."""
    spec, train, test = planned.spec, planned.train, planned.test
    engine, model, options = spec.parts(train)
    largest = max(train.parts(), key=lambda part: part.n_pairs)
    memory = with_table(engine.memory(largest, model, options), model, train)
    word_bytes = train.n_words * padded(model.n_topics) * DOUBLE
    sums = word_bytes * max(2 + train.n_parts.bit_length(), _arrays_by_word(engine))
    corpora = largest.memory_bytes + (test.memory_bytes if spec.test else 0)
    return Prediction(
        PROCESS, corpora, memory.state + memory.indices + sums, max(memory.step, memory.look)
    )


@contextlib.contextmanager
def laid_out(
    planned: Planned, folder: Path | None = None, crew: Callable = LocalParts
) -> Iterator[InMemoryData | ShardedData]:
    """Yield a run's data for the loop: `InMemoryData` if the corpus is in memory, `ShardedData` if it is in shards.

    The document arrays of parts are in memory if they fit or other processes have them, else in files in ``folder`` (default:
    the folder for temporary files), which are deleted at the end.
    """
    spec, train, test = planned.spec, planned.train, planned.test
    if train.n_parts == 1:
        yield InMemoryData(spec, train.in_memory(), test and test.in_memory())
        return
    fits = crew is not LocalParts or predict_whole(planned).total <= available_memory().n_bytes
    scratch = None if fits else folder or tempfile.gettempdir()
    test = test if spec.test else None
    with contextlib.closing(ShardedData(spec, train, test, scratch, crew)) as data:
        yield data


def memory_forecast(planned: list[Planned], jobs: int = 1, stored: bool = True) -> str:
    """Describe the memory that the ``jobs`` largest runs need together: "about 1.2 GB of memory"."""
    more = (
        ", more if more topics are found"
        if any(run.spec.parts()[0].grows for run in planned)
        else ""
    )
    return f"about {format_size(at_a_time(planned, jobs, stored))} of memory{more}"


def at_a_time(planned: list[Planned], jobs: int, stored: bool = True) -> int:
    """Return the predicted bytes of memory that the ``jobs`` largest runs need together."""
    return sum(sorted((predict_memory(run, stored).total for run in planned), reverse=True)[:jobs])


def unfinished(store: Path, planned: list[Planned]) -> list[Planned]:
    """Return the planned runs that are not finished in the store."""

    def is_finished(path: Path, n_iterations: int) -> bool:
        status = read_status(path) if is_run(path) else {"state": None}
        return status["state"] == FINISHED and (
            status["iteration"] >= n_iterations or bool(read_ending(path).settled)
        )

    return [
        run
        for run in planned
        if not is_finished(Path(store) / run.spec.name, run.spec.n_iterations)
    ]


def check_room(
    planned: list[Planned], jobs: int = 1, here: bool = False, stored: bool = True
) -> None:
    """Raise SpecError, with a proposal that fits, if the ``jobs`` largest runs do not fit into memory together.

    here : whether the runs are computed in this process, which already has their corpora in memory
    """
    if not planned:
        return
    n_bytes, available = at_a_time(planned, jobs, stored), available_memory()
    largest = max(planned, key=lambda run: predict_memory(run, stored).total)
    own_bytes = (
        0
        if not here or available.limit.startswith("WORKBENCH")
        else PROCESS + predict_memory(largest, stored).corpora
    )
    free = available.n_bytes + own_bytes
    if n_bytes <= free:
        return
    n_fit = next(
        (
            n
            for n in range(min(jobs, len(planned)) - 1, 0, -1)
            if at_a_time(planned, n, stored) <= free
        ),
        0,
    )
    if n_fit:
        subject, proposal = (
            f"{min(jobs, len(planned))} runs at a time need",
            f"start at most {n_fit} at a time",
        )
    else:
        subject = (
            " with ".join(filter(None, [largest.spec.engine, largest.spec.size_text])) + " needs"
        )
        proposal = _join(
            [
                alternative
                for alternative, run in _smaller(largest)
                if predict_memory(run, stored).total <= free
            ]
        )
        fewer = _most_topics(largest, free, stored)
        proposal = _join(
            [
                alternative
                for alternative in (proposal, f"at most {fewer} topics" if fewer else "")
                if alternative
            ]
        )
        proposal = (
            f"take {proposal}"
            if proposal
            else "nothing smaller of it fits: take fewer documents or words, or more memory"
        )
    raise SpecError(
        f"{subject} about {format_size(n_bytes)} of memory and {available.describe()}; {proposal}"
    )


def _smaller(run: Planned) -> Iterator[tuple[str, Planned]]:
    """Yield (description, run) of alternatives to a run that need less memory: another option or engine."""
    spec = run.spec
    engine, _, options = spec.parts()
    names = options_of(engine)
    for option, value in {"precision": "single", "schedule": "parallel"}.items():
        if option in names and getattr(options, option) != value:
            with contextlib.suppress(OptionError):  # other options may exclude it
                beliefs, changed = split_options(engine, spec.options | {option: value})
                yield (
                    f"the option {option}={value}",
                    run._replace(spec=replace(spec, options=beliefs | asdict(changed))),
                )
    for name in ENGINES:
        other = get_engine(name)
        if name != engine.name and (other.model, other.kind) == (engine.model, engine.kind):
            yield f"{name} instead", run._replace(spec=replace(spec, engine=name, options={}))


def _most_topics(run: Planned, free: int, stored: bool) -> int:
    """Return the largest number of topics below the run's that fits into ``free`` memory; 0 if none does."""
    spec, model = run.spec, run.spec.parts()[1]
    # no topics, or a network with several sizes
    if spec.n_topics is None or model.is_network:
        return 0

    def too_large(n_topics: int) -> bool:
        model = (
            spec.model | {"n_topics": n_topics} | ({"alpha": 0.1} if "alpha" in spec.model else {})
        )
        return predict_memory(run._replace(spec=replace(spec, model=model)), stored).total > free

    return bisect_left(range(1, spec.n_topics), True, key=too_large)


def _join(alternatives: list[str]) -> str:
    """Join alternatives as in "this, that or the other"."""
    return " or ".join(
        [", ".join(alternatives[:-1]), alternatives[-1]] if len(alternatives) > 1 else alternatives
    )


TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3
"""Parameter numbers of mallopt, from malloc.h."""
SMALLEST_MAPPED = 8 * 2**20
"""Bytes from which on malloc maps an array separately; for smaller arrays, reused pages are cheaper than new ones."""


def give_back_freed() -> None:
    """Make glibc return freed memory of large arrays to the system; do nothing without glibc.

    glibc maps a large array separately and unmaps it when it is freed, but each time it raises the size from which on it does
    so, up to 32 MiB. Smaller arrays stay with the process and fragment its heap: a run with arrays of 30 MiB then holds half as
    much memory again as it uses, varying from run to run.
    """
    mallopt = getattr(ctypes.pythonapi, "mallopt", None)
    if mallopt is not None:
        mallopt(MMAP_THRESHOLD, SMALLEST_MAPPED)
        mallopt(TRIM_THRESHOLD, 2 * SMALLEST_MAPPED)
