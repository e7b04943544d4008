"""`Run`: read, pause, resume, stop and annotate a run of a store, from notebook, page or command line."""

from __future__ import annotations

import math
import os
import sys
import time
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.data.html import facts
from workbench.errors import InputError, nearest_or_all, shown
from workbench.runs.execution.memory_check import check_room, unfinished
from workbench.runs.execution.topic_edits import branch_of_topics
from workbench.runs.execution.worker import launch
from workbench.runs.progress import decimals
from workbench.runs.spec import SpecError
from workbench.runs.store.branching import branch, branch_before
from workbench.runs.store.edition import (
    Edition,
    EditionError,
    arranges,
    edit_topics,
    edition_in,
    read_edition,
    redo_edit,
    replace_edition,
    takes_editions,
    undo_edit,
    with_edition,
)
from workbench.runs.store.layout import CAPACITY, StoreError
from workbench.runs.store.notes import Notes, annotate, label_topic, read_notes
from workbench.runs.store.places import default_store, is_run, run_paths
from workbench.runs.store.provenance import other_kernels_warning
from workbench.runs.store.reader import RunReader
from workbench.runs.store.status import (
    FAILED,
    FINISHED,
    LOST,
    PAUSED,
    RUNNING,
    STOPPED,
    read_ending,
    read_spec,
    request,
    requested,
    set_end,
)
from workbench.runs.store.turning import ask, requested_changes, user_name
from workbench.runs.store.writer import create_run, remove_run

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

ENDING = 1.5
"""Seconds within which a worker usually ends after a stop is requested."""
ENDED = (FINISHED, STOPPED, FAILED, LOST)


def find_run(run, store: Path | None = None) -> Path:
    """Return the folder of a run given as a `Run`, a path, or a name in the store.

    If there is none, StoreError is raised with the nearest name.
    """
    if isinstance(run, Run):
        return run.path
    if not isinstance(run, (str, os.PathLike)):
        raise StoreError(
            f"a run is a Run, a path, or a name in the store; got {type(run).__name__}"
        )
    home = Path(store) if store is not None else default_store()
    for path in (Path(run), home / str(run)):
        if is_run(path):
            return path
    name = shown(run)
    names = [path.name for path in run_paths(home)]
    advice = f"{home} holds {len(names)} runs; choose another store with --store"
    raise StoreError(f"no run '{name}' in {home}; {nearest_or_all(run, names, advice, 0.3)}")


class Run(RunReader):
    """A run in a store, read and controlled through the files of its folder.

    ``run.dataset()`` returns the committed iterations; ``pause``, ``resume`` and ``stop`` return at once;
    ``wait`` returns when the run has ended, and ``watch`` shows it live.
    """

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def state(self) -> str:
        """The state of the run: waiting, running, paused, stopped, finished, failed or interrupted."""
        return self.status()["state"]

    @property
    def notes(self) -> Notes:
        """The ``note``, ``tags`` and topic ``labels`` that people wrote; see `workbench.runs.store.notes`."""
        return read_notes(self.path)

    def annotate(self, note: str | None = None, tags: Iterable[str] | None = None) -> Notes:
        """Replace the note, the tags or both, and return all notes; None keeps the old value, "" or [] deletes it."""
        return annotate(self.path, note, tags)

    def label(self, topic: int, text: str) -> Notes:
        """Set the label of a topic, a Dataset's ``topic_label``, or remove it with ""; return all notes."""
        return label_topic(self.path, self.dataset(), topic, text)

    @property
    def edition(self) -> Edition:
        """The users' edits of topics: ``edits`` in effect, and ``undone`` ones; see `workbench.runs.store.edition`."""
        return read_edition(self.path)

    def edit(self, *edits: str, who: str = "") -> Edition:
        """Merge, hide or order the shown topics, as ``edit("merge 3 7", "hide 5", "order 4 2")``; return all edits.

        ``edit("colour 3 #1f77b4", "describe 3 'what it is about'")`` gives a topic a colour and a description; '' removes the
        description. The run itself stays as it is. ``who`` is the author, by default the user of this process.

        Raises EditionError for an invalid edit, a topic that is not shown, or topics that cannot be merged.
        """
        topics = self._topics(any(map(arranges, edits)))
        return edit_topics(self.path, topics, edits, who or user_name())

    def undo_edit(self) -> Edition:
        """Undo the last edit of the topics; return all edits. Raises EditionError if there is none."""
        return undo_edit(self.path)

    def redo_edit(self) -> Edition:
        """Redo the edit of the topics that was undone last; return all edits. Raises EditionError if there is none."""
        return redo_edit(self.path)

    def import_edition(self, file: str | os.PathLike) -> Edition:
        """Replace the edits of topics by those of a file, such as another run's ``edition.json``; return the new edits.

        Raises EditionError if the file is damaged, or names a topic that this run has not.
        """
        edition = edition_in(Path(file))
        topics = self._topics(any(map(arranges, edition.texts)))
        return replace_edition(self.path, topics, edition)

    def edited(self) -> xr.Dataset:
        """Return the run's Dataset with topics as edited by `edit`; measures and views accept it."""
        return with_edition(self.dataset(), self.edition.texts)

    def _topics(self, arranged: bool = True) -> list[int]:
        """Return the numbers of the topics; raise EditionError if there are none, or none that can be ``arranged``."""
        dataset = self.dataset()
        if "topic" not in dataset.coords:
            raise EditionError(
                f"{self.name} has no topics; its model has none, or it has no snapshot"
            )
        if arranged and not takes_editions(dataset):
            raise EditionError(
                f"topics of {self.name} cannot be merged or hidden: it has none yet, or theta has no Dirichlet prior"
            )
        return dataset["topic"].values.tolist()

    @property
    def interventions(self) -> pd.DataFrame:
        """Table of settings changed while the run ran: iteration (NaN if not yet in effect), setting, value, who, when."""
        import pandas as pd

        log = [*read_ending(self.path).spec.interventions, *requested_changes(self.path)]
        rows = [
            (intervention.iteration or math.nan, name, value, intervention.who, intervention.when)
            for intervention in log
            for name, value in intervention.changes.items()
        ]
        return pd.DataFrame(rows, columns=["iteration", "setting", "value", "who", "when"])

    def retune(self, who: str | None = None, **changes: float) -> dict[str, float]:
        """Ask a run to change settings, as ``retune(r=2, alpha=0.05)``, before its next step; return without waiting.

        Its chain continues from the same counts, and its running average begins anew. A paused or stopped run takes them when
        it is resumed. ``who`` asks, by default the user. Returns the values as they were understood.

        Raises
        ------
        OptionError
            For a setting that cannot be turned while the run runs, or an invalid value.
        StoreError
            The run has finished, or its folder cannot be written.
        """
        return ask(self.path, changes, who)

    def branch(self, *edits: str, **changes: float) -> Run:
        """Start and return a new run from the present state, with settings changed, as ``branch(r=2)``, or topics edited.

        It has the bits of this run up to now, so that both can be compared; this run is left as it is. With edits of topics,
        as ``branch("merge 3 7", "drop 5", "split 2", "add 1")``, it starts from the edited counts of the last snapshot; so it
        does without words or documents, as ``branch("omit said mr", "omit-document 3 17")``.

        Raises
        ------
        OptionError, SpecError, StoreError, CorpusError
        """
        if edits:
            planned = branch_of_topics(self.path, edits, changes)
            return _resume_run(make_runs(self.path.parent, [planned])[0].path)
        return _resume_run(branch(self.path, changes, user_name()))

    def undo(self) -> Run:
        """Start a run from the state before this run's last change of settings, and return the new run.

        Raises
        ------
        StoreError
        """
        return _resume_run(branch_before(self.path))

    def pause(self) -> None:
        """Request a pause after the present step, and return at once."""
        request(self.path, PAUSED)

    def stop(self) -> None:
        """Request a stop after the present step; the run can be resumed."""
        request(self.path, STOPPED)

    def resume(self, n_iterations: int | None = None) -> None:
        """Continue a paused or ended run, up to iteration ``n_iterations`` if given."""
        extend(self.path, n_iterations)
        stop_requested = requested(self.path) == STOPPED
        request(self.path, RUNNING)
        if stop_requested:
            self.wait(timeout=ENDING)  # its worker may be about to end
        status = self.status()
        # a killed run has computed more iterations than it has committed
        is_short = status["iteration"] < status["n_iterations"] or status["state"] == LOST
        if status["state"] in ENDED and is_short:
            warn_of_other_kernels([self])
            launch(self.path)

    def remove(self) -> None:
        """Delete the run, unless a worker is writing it."""
        remove_run(self.path)

    def watch(self, axis: str = "iterations", measure: str | None = None):
        """Show the run live: a view in a notebook, text bars in a terminal; see `workbench.watch`."""
        # runs must not import views: the name is found in the package's list
        import workbench

        return workbench.watch(self, axis=axis, measure=measure)

    def wait(self, timeout: float | None = None) -> str:
        """Block until the run has ended or ``timeout`` seconds have passed, and return its state."""
        start = time.monotonic()
        while self.state not in ENDED and (timeout is None or time.monotonic() - start < timeout):
            time.sleep(0.1)
        return self.state

    def _repr_html_(self) -> str:
        """Return the run's state, settings and last perplexity as HTML for a notebook."""
        spec, rows = self.spec, self.progress()
        scores = [
            rows[name]
            for name in ("test_perplexity", "train_perplexity")
            if name in rows and rows.sizes["iteration"]
        ]
        facts_of_scores = [
            (score.attrs["long_name"], f"{float(score[-1]):,.{decimals(float(score[-1]))}f}")
            for score in scores[:1]
        ]
        return facts(
            self.name,
            [
                ("state", self._state_text()),
                ("engine", spec.label()),
                ("corpus", spec.corpus),
                ("K", spec.n_topics),
                ("seed", str(spec.seed)),
                *facts_of_scores,
                ("message", self.status()["message"]),
            ],
        )

    def __repr__(self) -> str:
        return f"Run({self.name!r}, {self._state_text()})"

    def _state_text(self) -> str:
        """Return the state and iteration as text; for an imported model, the program that it comes from."""
        status, spec = self.status(), self.spec
        if not spec.length:
            return f"imported from {spec.model['program']}"
        return f"{status['state']}, iteration {status['iteration']:,} of {status['n_iterations']:,}"


def _resume_run(path: Path) -> Run:
    run = Run(path)
    run.resume()
    return run


def warn_of_other_kernels(runs: list[Run]) -> None:
    """Warn on stderr of runs that will resume with other versions of the kernels than they were computed by."""
    if sentence := other_kernels_warning([run.name for run in runs if run.by_other_kernels()]):
        print(sentence, file=sys.stderr)


def extend(path: Path, n_iterations: int | None) -> None:
    """Set the last iteration of a run to ``n_iterations``; do nothing for None."""
    if n_iterations is None:
        return
    spec = read_spec(path)
    if not spec.length:
        raise StoreError(
            f"run '{path.name}' is a model imported from {spec.model['program']}, which cannot be resumed; fit an engine "
            "with start= it instead"
        )
    spec.refuse_missing()
    set_end(path, SpecError.whole("iterations", n_iterations, 1, CAPACITY))


def make_runs(store: Path, planned: list, jobs: int = 1, here: bool = False) -> list[Run]:
    """Create in the store, or reopen, the run of each `Planned`; return the list of `Run` objects.

    If several are the same run, it gets the largest number of iterations. Raises SpecError, and creates nothing, if ``jobs`` of
    them do not fit into memory together; 0 jobs: other machines compute them and check their own memory. here : whether the
    runs are computed in this process.
    """
    longest = longest_of_each(planned)
    check_room(unfinished(store, longest), jobs, here)
    runs = {
        item.spec.name: Run(create_run(store, item.spec, item.train, item.test)) for item in longest
    }
    return [runs[item.spec.name] for item in planned]


def longest_of_each(planned: list) -> list:
    """Return one `Planned` per run: of those with the same name, the one with the most iterations."""
    longest: dict[str, object] = {}
    for plan in planned:
        candidate = longest.get(plan.spec.name, plan)
        longest[plan.spec.name] = max(candidate, plan, key=lambda item: item.spec.n_iterations)
    return list(longest.values())


def open_runs(store: str | os.PathLike | None = None) -> list[Run]:
    """Return all runs of a store (default: ``WORKBENCH_STORE`` or ``./runs``), oldest first; warn of unreadable ones."""
    runs = []
    for path in run_paths(default_store() if store is None else Path(store)):
        try:
            runs.append(Run(path))
        except InputError as error:
            warnings.warn(str(error), stacklevel=2)
    return runs


def open_run(run: Run | str | os.PathLike, store: str | os.PathLike | None = None) -> xr.Dataset:
    """Return the Dataset of a run given by path, by name in the store, or as a `Run`."""
    return RunReader(find_run(run, store)).dataset()
