"""Topics as people arrange them, in ``edition.json`` of a run's folder: merged, hidden, in another order, coloured, described.

An edit is a text: ``merge 3 7`` adds topic 7 to topic 3, ``hide 5`` leaves topic 5 out, ``order 4 2`` puts these first,
``colour 3 #1f77b4`` and ``describe 3 'what it is about'`` give topic 3 a colour and a description. Topics keep their numbers,
and the run stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.data.blocks import sum_groups
from workbench.errors import InputError, shown
from workbench.runs.recorded import model_of, priors_of
from workbench.runs.store.notes import plain_text
from workbench.runs.store.status import one_writer, read_json, refusing_damage, replace_json

if TYPE_CHECKING:
    import xarray as xr

FILE = "edition.json"
LEAST = {"merge": 2, "hide": 1, "order": 1}
"""Kind of an edit → smallest number of topics that it needs."""
COLOUR, DESCRIPTION = "colour", "describe"
"""Kinds of edits of one topic that arrange nothing: they have a topic and a value."""
BETWEEN = re.compile(r"[;\n](?=(?:[^']*'[^']*')*[^']*$)")
HEX = re.compile("#[0-9a-fA-F]{6}")
LONGEST_DESCRIPTION = 1000
"""Maximum number of characters of a description."""
SUMMED = ("n_k", "alpha", "n_kw", "n_dk", "theta")
"""Variables that are summed over the topics that are merged."""
TINY = 1e-100
"""Weight of a topic without tokens in the mean of phi: none beside others that have some."""
KEPT = {"iteration", "document", "word"}
"""Dimensions of the variables that do not depend on topics."""


class EditionError(InputError):
    """Raised for an invalid edit of topics, or a list of edits that cannot be read, written or applied."""


class Edit(NamedTuple):
    """An edit of topics, with its author and time (UTC, ISO 8601)."""

    edit: str
    who: str
    when: str


class Edition(NamedTuple):
    """The edits of a run's topics in their order, and the undone ones, of which the last is redone first."""

    edits: tuple[Edit, ...] = ()
    undone: tuple[Edit, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts of the edits in effect."""
        return tuple(each.edit for each in self.edits)

    def as_json(self) -> dict[str, list[dict[str, str]]]:
        """Return the edits and the undone ones as values that JSON has."""
        return {name: [each._asdict() for each in edits] for name, edits in self._asdict().items()}


def read_edition(path: Path) -> Edition:
    """Return the edits of topics of the run in a folder, none by default; raise EditionError if the file is damaged."""
    return _read(Path(path) / FILE)


def edit_topics(path: Path, topics: Sequence[int], edits: Iterable[str], who: str) -> Edition:
    """Add edits to those of a run's topics, and return all; edits that were undone can no longer be redone.

    topics : numbers of the topics of the run; who : the author

    Raises EditionError for an invalid edit, a topic that is not shown, or if the folder cannot be written.
    """
    time = datetime.now(UTC).isoformat(timespec="seconds")
    added_edits = tuple(Edit(" ".join(str(edit).split()), who, time) for edit in edits)

    def with_edits(edition: Edition) -> Edition:
        groups_of(topics, [*edition.texts, *(each.edit for each in added_edits)])
        return Edition(edition.edits + added_edits)

    return _change(path, with_edits)


def undo_edit(path: Path) -> Edition:
    """Undo the last edit of a run's topics, and return the remaining edits; raise EditionError if there is none."""

    def undone(edition: Edition) -> Edition:
        if not edition.edits:
            raise EditionError(f"run '{Path(path).name}' has no edit to undo")
        return Edition(edition.edits[:-1], (*edition.undone, edition.edits[-1]))

    return _change(path, undone)


def redo_edit(path: Path) -> Edition:
    """Redo the edit of a run's topics that was undone last, and return all edits; raise EditionError if there is none."""

    def redone(edition: Edition) -> Edition:
        if not edition.undone:
            raise EditionError(f"run '{Path(path).name}' has no edit to redo")
        return Edition((*edition.edits, edition.undone[-1]), edition.undone[:-1])

    return _change(path, redone)


def edition_in(file: Path) -> Edition:
    """Return the edits of a file, such as a run's ``edition.json``; raise EditionError if it is damaged or has none."""
    edition = _read(file)
    if not edition.edits:
        raise EditionError(f"there is no edit in {file}; `workbench edit RUN --json` writes one")
    return edition


def replace_edition(path: Path, topics: Sequence[int], edition: Edition) -> Edition:
    """Replace the edits of a run's topics, and return the new ones; raise EditionError for a topic that the run has not."""
    groups_of(topics, edition.texts)
    return _change(path, lambda current: edition)


def groups_of(topics: Iterable[int], edits: Iterable[str]) -> dict[int, list[int]]:
    """Return the topics shown after edits, in order: number of the shown topic → numbers of the run's topics merged in it.

    Raises EditionError for an edit that is none, a topic that is not shown, or no topic left.
    """
    groups = {int(topic): [int(topic)] for topic in topics}
    for edit in edits:
        kind, named_topics = split_edit(edit)
        if not arranges(edit):
            named_topics = [_look_of(edit)[1]]
        elif not all(isinstance(topic, int) for topic in named_topics) or len(
            {*named_topics}
        ) < max(len(named_topics), LEAST.get(kind, len(named_topics) + 1)):
            raise EditionError(
                f"an edit is like merge 3 7, hide 5 or order 4 2, each topic once; got '{shown(edit)}'"
                f"{'' if kind in LEAST else '; colour and describe are the other kinds'}"
            )
        if missing_topics := [topic for topic in named_topics if topic not in groups]:
            raise EditionError(
                f"there is no topic {missing_topics[0]} for '{shown(edit)}'; shown are {', '.join(map(str, groups))}"
            )
        if kind == "merge":
            groups[named_topics[0]] += [
                member for topic in named_topics[1:] for member in groups.pop(topic)
            ]
        elif kind == "hide":
            groups = {
                topic: members for topic, members in groups.items() if topic not in named_topics
            }
        elif kind == "order":
            groups = {topic: groups[topic] for topic in dict.fromkeys([*named_topics, *groups])}
    if not groups:
        raise EditionError("no topic is left; hide fewer")
    return groups


def split_edits(text: str) -> list[str]:
    """Return the edits in a text, separated by semicolons or line breaks that are not inside quotes."""
    return [edit.strip() for edit in BETWEEN.split(text) if edit.strip()]


def split_edit(edit: object) -> tuple[str, list[int | str]]:
    """Return the kind of an edit and its topics, as ("merge", [3, 7]); what is no number stays a text."""
    kind, *words = str(edit).replace(",", " ").split() or [""]
    return kind, [int(word) if word.isdecimal() else word for word in words]


def arranges(edit: object) -> bool:
    """Return whether an edit is to merge, hide or order topics, not to give one a colour or a description."""
    return split_edit(edit)[0] not in (COLOUR, DESCRIPTION)


def _look_of(edit: str) -> tuple[str, int, str]:
    """Return the kind of an edit that colours or describes a topic, the topic, and the colour in lower case or the description.

    Raises EditionError for an invalid colour or description, or without a topic.
    """
    kind, topic, value = [*edit.split(maxsplit=2), "", ""][:3]
    if not topic.isdecimal():
        raise EditionError(
            f"colour and describe take one topic, as colour 3 #1f77b4 or describe 3 'the news'; got '{shown(edit)}'"
        )
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        value = value[1:-1]
    if kind == DESCRIPTION:
        value = plain_text("a description", value, LONGEST_DESCRIPTION, EditionError)
    elif value and not HEX.fullmatch(value):
        raise EditionError(
            f"a colour has six hexadecimal digits, as colour {topic} #1f77b4; got '{shown(edit)}'"
        )
    return kind, int(topic), value if kind == DESCRIPTION else value.lower()


def takes_editions(run: xr.Dataset) -> bool:
    """Return whether topics of a Dataset can be merged: it has their counts, and theta has a Dirichlet prior, which adds up."""
    return "n_kw" in run and model_of(run).warm_starts and priors_of(run).of_shares


def with_edition(run: xr.Dataset, edits: Sequence[str]) -> xr.Dataset:
    """Return the Dataset of a run with its topics as the edits arrange them, and the edits as its attribute ``edition``.

    Coordinates ``topic_colour`` and ``topic_description`` have what people gave the topics, "" for none.

    Counts, sizes, priors and theta of merged topics are summed; phi is their mean, weighted by their numbers of tokens. What
    else depends on topics is left out if any are merged, hidden or ordered. The attribute ``first`` has the topics that edits
    put first; all others follow by size wherever topics are listed by size. Unchanged without an edit, or without topics.

    Raises EditionError for an edit of a topic that is not there.
    """
    if not edits or "topic" not in run.coords:
        return run
    groups = groups_of(run["topic"].values.tolist(), edits)
    arranging = [edit for edit in edits if arranges(edit)]
    result = _arranged_run(run, groups, arranging) if arranging else run
    values_by_kind: dict[str, dict[int, str]] = {COLOUR: {}, DESCRIPTION: {}}
    for kind, topic, value in (_look_of(edit) for edit in edits if not arranges(edit)):
        values_by_kind[kind][topic] = value
    for name, kind in (("topic_colour", COLOUR), ("topic_description", DESCRIPTION)):
        values = np.array([values_by_kind[kind].get(topic, "") for topic in groups], dtype=object)
        if values.any():
            result = result.assign_coords({name: ("topic", values)})
    return result.assign_attrs(edition="; ".join(edits))


def _arranged_run(
    run: xr.Dataset, groups: dict[int, list[int]], edits: Sequence[str]
) -> xr.Dataset:
    """Return the Dataset with topics merged, hidden and ordered; ``groups`` is what `groups_of` makes of the edits."""
    # a backend of xarray, which is slow to import
    from workbench.runs.lazy_arrays import Summed, lazy_dataset

    topics = run["topic"].values.tolist()
    positions = np.full(len(topics), -1)
    for new, members in enumerate(groups.values()):
        positions[[topics.index(member) for member in members]] = new
    of_topics = [name for name, values in run.data_vars.items() if not KEPT.issuperset(values.dims)]
    others = run.drop_vars(of_topics).isel(topic=[topics.index(topic) for topic in groups])
    summed_variables = {
        name: (run[name].dims, Summed(run[name].variable, "topic", positions))
        for name in SUMMED
        if name in run and "topic" in run[name].dims
    }
    result = others.assign(lazy_dataset(summed_variables).data_vars)
    if "phi" in run:
        result["phi"] = _mean_phi(run, positions, len(groups))
    if "n_kw" in run and "alpha" not in run:
        alphas = sum_groups(priors_of(run).alphas, positions, len(groups))
        result = result.assign_coords(prior=("topic", alphas))
    if "topic_label" in run:
        result["topic_label"] = run["topic_label"].sel(topic=[*groups])
    for name in set(result.data_vars) & set(run.data_vars):
        result[name].attrs = run[name].attrs
    orders = (topics for kind, topics in map(split_edit, reversed(edits)) if kind == "order")
    first = [topic for topic in dict.fromkeys(chain(*orders)) if topic in groups]
    return result.assign_attrs({"first": first} if first else {})


def _mean_phi(run: xr.Dataset, positions: np.ndarray, n_groups: int) -> tuple:
    """Return phi (topic, word) of groups of topics: the mean of their phi, weighted by the tokens that they have."""
    tokens = run["n_kw"].isel(snapshot=-1).sum("word").values
    weights = (positions == np.arange(n_groups)[:, None]) * np.maximum(tokens, TINY)
    return ("topic", "word"), weights @ run["phi"].values / weights.sum(axis=1, keepdims=True)


def _read(file: Path) -> Edition:
    with refusing_damage(file, f"the edition {file}", EditionError):
        values = read_json(file) or Edition().as_json()
        return Edition(*(tuple(map(_edit_of, values[name])) for name in Edition._fields))


def _edit_of(values: dict) -> Edit:
    """Return the edit that JSON has as a dict."""
    return Edit(*(str(values[name]) for name in Edit._fields))


def _change(path: Path, change: Callable[[Edition], Edition]) -> Edition:
    """Apply ``change`` to the edits of a run's topics, write and return the result; one process at a time."""
    file = Path(path) / FILE
    with one_writer(file, f"the edition of run '{file.parent.name}'", EditionError):
        edition = change(read_edition(path))
        replace_json(file, edition.as_json())
    return edition
