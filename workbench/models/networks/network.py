"""Networks of mixture levels: topic models whose levels each draw one variable given variables drawn before.

A token of a document walks through the levels in order. Each level draws the value of one variable from one of its rows, and
which row that is depends on variables drawn before, or on the document; the last variable is the word. Rows are Dirichlet,
point estimates, or known. LDA, in which documents draw topics and topics draw words, is the network of two levels::

    theta : document -> topic      phi : topic -> word

Heinrich & Goesele (2009), sec. 2 and eq. 1-3, there "generic topic models"; spec of the networks, D.1.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from difflib import get_close_matches

import numpy as np

from workbench.corpus import Corpus
from workbench.models.files import check_table
from workbench.models.model import ModelError, TopicModel, bag_coords, tiny_bag
from workbench.models.networks.checks import check, check_corpus
from workbench.models.networks.estimates import equivalent_priors, nodes, posterior_means
from workbench.models.networks.labels import caution_about_labels, label_names, with_label_names
from workbench.models.networks.leaves import leaves_of
from workbench.models.networks.levels import (
    AUTHORS,
    DOCUMENT,
    LABELS,
    PREFIXES,
    WORD,
    Level,
    Rows,
    Variable,
    level_of,
    part,
    sizes_of,
    variables_of,
)
from workbench.models.networks.shipped import SHIPPED, description_of, shipped
from workbench.models.networks.simulation import simulate
from workbench.models.variables import VARIABLES

__all__ = ["AUTHORS", "DOCUMENT", "LABELS", "WORD", "Level", "Network", "Rows", "Variable"]


@dataclass(frozen=True)
class Network(TopicModel):
    """A network of mixture levels, checked on creation.

    Parameters
    ----------
    name : str
    variables : tuple of Variable
    levels : tuple of Level
        In the order in which a token visits them; the last draws the word. Variables, levels and rows can be dicts.
    n_topics : int, optional
        Number of rows of the level that draws the word; if given, it must be that of the levels. None as long as it depends on
        the authors of a corpus.

    Raises
    ------
    ModelError
    """

    is_network = True
    takes = ("n_topics", "alpha", "beta", "model", "sizes")
    live = ("alpha", "beta")

    name: str
    variables: tuple[Variable, ...]
    levels: tuple[Level, ...]
    n_topics: int | None = None

    def __post_init__(self):
        fix = object.__setattr__
        fix(self, "variables", tuple(part(Variable, entry) for entry in self.variables))
        if not isinstance(self.name, str) or not self.name:
            raise ModelError(f'a network has a name, as "lda"; got {self.name!r}')
        fix(self, "levels", tuple(level_of(entry, self.variables) for entry in self.levels))
        if self.labelled is not None and self.labelled.size == LABELS:
            self.with_labels(("a label", "another"))  # which is checked
            return
        check(self)
        if any(self.is_open(name) for rows in self.levels[-1].rows for name in rows.by):
            return
        n_topics = self.n_rows(self.levels[-1])
        if self.n_topics not in (None, n_topics):
            raise ModelError(
                f"network '{self.name}' has {n_topics} rows over words; got n_topics={self.n_topics}"
            )
        fix(self, "n_topics", n_topics)

    @classmethod
    def of(
        cls,
        model="lda",
        n_topics: int | None = None,
        sizes: Mapping[str, int] | None = None,
        alpha=None,
        beta=None,
    ) -> Network:
        """Return a network from a Network, a dict, the name of a shipped model or the path of a file.

        Parameters
        ----------
        model : Network, dict, str or path
        n_topics : int, optional
            Size of the variable "topic"; in hierarchical pachinko models the number of sub-topics.
        sizes : dict, optional
            Name → size of variables; "super" and "sub" of shipped models do not count the value for stopping.
        alpha, beta : float, optional
            Prior of every Dirichlet level but the last (alpha), and of the last (beta).

        Raises
        ------
        ModelError
        """
        sizes = dict(sizes or {})
        if isinstance(model, str) and model in SHIPPED:
            network = cls(**shipped(model, n_topics, sizes))
        else:
            network = model if isinstance(model, cls) else cls._from_description(model)
            if n_topics is not None:
                names = [variable.name for variable in network.variables]
                if "topic" not in names:
                    raise ModelError(
                        f"network '{network.name}' has no variable 'topic' for n_topics to set; set the size of one of "
                        f"{', '.join(names) or 'none'} by its name"
                    )
                sizes.setdefault("topic", n_topics)
        return network.with_sizes(sizes).with_priors(alpha, beta)

    @classmethod
    def _from_description(cls, description) -> Network:
        prefix, parts = description_of(description)
        try:
            check_table(parts, cls, "a network", ("variables", "levels"))
            return cls(**parts)
        except ModelError as error:
            raise error.within(prefix) from None

    @property
    def network_name(self) -> str:
        """Name of the network."""
        return self.name

    @property
    def document_dims(self) -> set[str]:
        """Names of the dimensions whose entries are single documents, or authors."""
        return {"document"} | ({self.author.name} if self.author else set())

    def level(self, name: str) -> Level:
        """Return the level called ``name``."""
        return next(level for level in self.levels if level.name == name)

    def variable(self, name: str) -> Variable:
        """Return the variable called ``name``."""
        return next(candidate for candidate in self.variables if candidate.name == name)

    def size(self, name: str) -> int:
        """Return the number of values of a hidden variable."""
        return self.variable(name).size

    @property
    def author(self) -> Variable | None:
        """The variable whose values are the authors of documents; None if there is none."""
        return next(
            (self.variable(level.draws) for level in self.levels if level.table == AUTHORS), None
        )

    @property
    def labelled(self) -> Variable | None:
        """The variable whose values belong to labels of documents; None if there is none."""
        return next((variable for variable in self.variables if variable.is_labelled), None)

    @property
    def leaves(self) -> tuple[str, ...] | str:
        """The leaves of the level that draws the word; empty if each row is one distribution."""
        return self.levels[-1].leaves

    def is_author(self, name: str) -> bool:
        """Return whether the values of a variable are the authors of the corpus."""
        return self.author is not None and self.author.name == name

    def is_open(self, name: str) -> bool:
        """Return whether a variable's size is still unknown, as the authors or labels of a corpus determine it."""
        return name != DOCUMENT and self.size(name) in (AUTHORS, LABELS)

    def span(self, rows: Rows, name: str) -> tuple[int, int]:
        """Return the first and last value that a variable can have on paths to a block of rows."""
        limits = [(first, last) for limited, first, last in rows.when if limited == name]
        return limits[0] if limits else (0, self.size(name) - 1)

    def shape(self, rows: Rows) -> tuple[int, ...]:
        """Return the number of rows of a block along each variable that numbers rows, without documents."""
        spans = [self.span(rows, name) for name in rows.by if name != DOCUMENT]
        return tuple(last - first + 1 for first, last in spans)

    def n_rows(self, level: Level) -> int:
        """Return the number of rows of a level, per document if each document has its own."""
        return sum(math.prod(self.shape(rows)) for rows in level.rows)

    def row_numbers(
        self, level: Level, rows: Rows, spans: Mapping[str, tuple[int, int]] | None = None
    ) -> np.ndarray:
        """Return the index in the level of each row of a block, with an axis for each variable that numbers rows.

        spans : variable → (first value, last value), optional: only rows for these values
        """
        n_before = sum(
            math.prod(self.shape(block)) for block in level.rows[: level.rows.index(rows)]
        )
        numbers, index = (
            n_before + np.arange(math.prod(self.shape(rows))).reshape(self.shape(rows)),
            [],
        )
        for name in (name for name in rows.by if name != DOCUMENT):
            start, (first, last) = (
                self.span(rows, name)[0],
                (spans or {}).get(name, self.span(rows, name)),
            )
            index.append(slice(first - start, last + 1 - start))
        return numbers[tuple(index)]

    def assignments(
        self, rows: Rows, names: tuple[str, ...] | None = None
    ) -> Iterator[dict[str, int]]:
        """Yield, for each row of a block, variable -> value, for the variables (or those in ``names``) that index rows."""
        by = [name for name in rows.by if name != DOCUMENT and (names is None or name in names)]
        spans = [self.span(rows, name) for name in by]
        for values in itertools.product(*(range(first, last + 1) for first, last in spans)):
            yield dict(zip(by, values, strict=True))

    def group_keys(self, level: Level) -> list[tuple[int, ...]]:
        """Return, for each prior of a level, the values of the level's ``groups`` variables, in the order of rows."""
        return list(dict.fromkeys(self._keys_of_rows(level, level.groups)))

    def row_groups(self, level: Level) -> list[int]:
        """Return the index in `group_keys` of the prior of each row of a level."""
        number = {key: i for i, key in enumerate(self.group_keys(level))}
        return [number[key] for key in self._keys_of_rows(level)]

    def _keys_of_rows(self, level: Level, names=None) -> Iterator[tuple[int, ...]]:
        assigned = (values for rows in level.rows for values in self.assignments(rows, names))
        return (tuple(values[name] for name in level.groups) for values in assigned)

    def n_groups(self, level: Level) -> int:
        """Return the number of priors of a level, one for each combination of values of its ``groups``."""
        return len(self.group_keys(level))

    def value_name(self, name: str, value: int) -> str:
        """Return the name of a variable's value; for unnamed values a text such as "super 2"."""
        names = self.variable(name).values
        return names[value] if names else f"{name} {value}"

    def for_data(self, corpus: Corpus) -> Network:
        """Return the network with the names of the corpus's authors and labels filled in, if it has such variables.

        Raises
        ------
        ModelError
            If there are no authors, a document with tokens has none or one twice, or an author is not in the network; for
            labels see `workbench.models.networks.labels.label_names`.
        """
        if self.labelled is not None:
            names = label_names(f"network '{self.name}'", corpus)
            if self.labelled.labels and set(self.labelled.labels) - {""} != set(names):
                raise ModelError(
                    f"network '{self.name}' has other labels than {corpus.name!r}; leave them out, and it takes those"
                )
            return self.with_labels(names)._for_authors(corpus)
        return self._for_authors(corpus)

    def cautions(self, corpus: Corpus) -> list[str]:
        """Return a sentence on labels of fewer than two documents, if the network has labels and there are such."""
        return [] if self.labelled is None else caution_about_labels(corpus)

    def _for_authors(self, corpus: Corpus) -> Network:
        check_corpus(self, corpus)
        if self.author is None:
            return self
        names = tuple(sorted({name for names in corpus.authors for name in names or ()}))
        if self.author.size not in (AUTHORS, len(names)):
            raise ModelError(
                f"network '{self.name}' has {self.author.size} authors; {corpus.name!r} has {len(names)}"
            )
        return self.with_authors(names)

    def with_authors(self, names) -> Network:
        """Return the network with the names of authors replaced by ``names``."""
        return self._with_variables(
            {self.author.name: replace(self.author, size=len(names), values=tuple(names))}
        )

    def with_labels(self, names) -> Network:
        """Return the network whose labelled variable has values for these labels."""
        return self._with_variables({self.labelled.name: with_label_names(self.labelled, names)})

    def with_sizes(self, sizes: Mapping[str, int]) -> Network:
        """Return the network with other sizes of some variables; limits at a last value move with the size.

        Raises
        ------
        ModelError
            For an unknown variable, one whose values have names, or a prior that no longer fits.
        """
        new_variables, names = {}, [variable.name for variable in self.variables]
        for name, size in sizes.items():
            if name not in names:
                matches = get_close_matches(name, names, 1, 0.5)
                hint = (
                    f"did you mean '{matches[0]}'?"
                    if matches
                    else f"there are {', '.join(names) or 'none'}"
                )
                raise ModelError(f"network '{self.name}' has no variable '{name}'; {hint}")
            if self.is_author(name):
                raise ModelError(
                    f"network '{self.name}': the corpus determines the number of '{name}'; leave the size out"
                )
            if self.variable(name).is_labelled:
                raise ModelError(
                    f"network '{self.name}': the labels of the corpus determine the number of '{name}'; leave it out"
                )
            if self.variable(name).values and size != self.size(name):
                raise ModelError(
                    f"network '{self.name}': '{name}' has {self.size(name)} values with names; leave its size out"
                )
            new_variables[name] = replace(self.variable(name), size=size)
        return self._with_variables(new_variables)

    def with_priors(self, alpha=None, beta=None) -> Network:
        """Return the network with prior ``alpha`` for Dirichlet levels above the last, ``beta`` for the last."""
        priors = [alpha] * (len(self.levels) - 1) + [beta]
        return replace(
            self,
            levels=tuple(
                level if prior is None or level.kind != "dirichlet" else replace(level, prior=prior)
                for level, prior in zip(self.levels, priors, strict=True)
            ),
        )

    def _with_variables(self, new_variables: Mapping[str, Variable]) -> Network:
        def new_limit(limit):
            name, first, last = limit
            return (
                limit
                if name not in new_variables or self.is_open(name) or last < self.size(name) - 1
                else (name, first, new_variables[name].size - 1)
            )

        levels = tuple(
            replace(
                level,
                rows=tuple(
                    replace(rows, when=tuple(map(new_limit, rows.when))) for rows in level.rows
                ),
            )
            for level in self.levels
        )
        return Network(
            self.name,
            tuple(new_variables.get(variable.name, variable) for variable in self.variables),
            levels,
        )

    def turned(self, **priors: float) -> Network:
        """Return the network with other priors (alpha, beta); raise ModelError for a prior that is fixed in no level."""
        for name in priors:
            if math.isnan(self.live_value(name)):
                raise ModelError(
                    f"network '{self.name}' has no {name} that is fixed, so none to turn"
                )
        return self.with_priors(**priors)

    def live_value(self, name: str) -> float:
        """Return the mean fixed prior of the levels above the last (alpha) or of the last (beta); NaN if there is none."""
        levels = self.levels[:-1] if name == "alpha" else self.levels[-1:]
        fixed = [level for level in levels if level.kind == "dirichlet" and level.learn == "none"]
        return float(np.mean([np.mean(level.prior) for level in fixed])) if fixed else math.nan

    simulate = simulate
    priors = equivalent_priors
    estimates = posterior_means

    def dims(self, corpus: Corpus | None = None) -> dict[str, int]:
        """Return dimension → length of a run's Dataset; without ``corpus`` only of dimensions set by the model."""
        return super().dims(corpus) | sizes_of(self) | {"topic": self.n_topics}

    def coords(self, corpus: Corpus) -> dict[str, tuple]:
        """Return the coordinates of a run's Dataset: documents, words, values of variables, and last-level rows.

        If the last level has several blocks, ``node`` (topic) names its rows, such as "root" or "super 2".
        """
        names = {
            variable.name: (variable.values or range(variable.size), "")
            for variable in self.variables
            if variable.name != "topic"
        }
        if self.labelled is not None and self.labelled.name == "topic":
            names["topic_label"] = (self.labelled.values, "label of documents", "topic")
        if len(self.levels[-1].rows) > 1:
            names["node"] = (nodes(self), "what the row over words is of", "topic")
        if self.leaves:
            prefixes, numbers = leaves_of(self.leaves, corpus.vocabulary)
            names["word_leaf"] = ([prefixes[i] for i in numbers], "prefix of the leaf", "word")
        return bag_coords(corpus) | names

    def with_coords(self, coords) -> Network:
        """Return the network with the authors in the coordinates of a stored run."""
        has_authors = self.author is not None and self.author.name in coords
        return (
            self.with_authors(np.asarray(coords[self.author.name]).tolist())
            if has_authors
            else self
        )

    def recorded(self, options) -> tuple:
        """Return the variables that a run records: counts of every level, and the learnt priors."""
        return (VARIABLES["n_k"], VARIABLES["n_kw"], VARIABLES["n_dk"], *variables_of(self))

    def tiny(self, most: int = 9) -> Corpus:
        """Return a corpus of two documents, with authors if the network names some, for compiling kernels."""
        return tiny_bag(
            most,
            **(
                {"authors": (self.author.values[:2], self.author.values[:1])} if self.author else {}
            ),
            labels=None if self.labelled is None else (self.labelled.labels[-1:], ()),
            vocabulary=("w", "leaf:w" if self.leaves == PREFIXES else f"{self.leaves[0]}w")
            if self.leaves
            else None,
        )

    def describe(self) -> list[tuple[str, str]]:
        """Return (label, text) pairs for captions: the sizes of variables, and the texts of `describe_levels`."""
        sizes = ", ".join(f"{variable.name} {variable.size}" for variable in self.variables)
        return [
            (f"network {self.name}", sizes),
            *((f"level {name}", text) for name, text in self.describe_levels()),
        ]

    def describe_levels(self) -> list[tuple[str, str]]:
        """Return (level, text) pairs, such as ("theta1", "document, super → topic, prior 0.1 for each super, learnt")."""
        lines = []
        for level in self.levels:
            rows = " or ".join(map(self._format_rows, level.rows))
            prior = f"{level.prior:g}" if np.ndim(level.prior) == 0 else "of many numbers"
            group_text = f" for each {', '.join(level.groups)}" if level.groups else ""
            learning = {"none": "", "scalar": ", learnt", "vector": ", learnt for each value"}[
                level.learn
            ]
            about = {
                "dirichlet": f"prior {prior}{group_text}{learning}",
                "point": "estimated",
                "observed": "known",
            }[level.kind]
            of = (
                " of its labels"
                if level.draws != WORD and self.variable(level.draws).is_labelled
                else ""
            )
            if level.leaves:
                of = " of each prefix"
                of += "" if level.leaves == PREFIXES else f" {', '.join(level.leaves)} and of none"
            lines.append((level.name, f"{rows} → {level.draws}{of}, {about}"))
        return lines

    def _format_rows(self, rows: Rows) -> str:
        """Return the variables that number a block of rows, with limits, as text: "super (where topic 1 to 5)"."""
        spans = []
        for name, first, last in rows.when:
            values = self.variable(name).values or range(last + 1)
            spans.append(
                f"{name} {values[first]}" + (f" to {values[last]}" if last > first else "")
            )
        return (", ".join(rows.by) or "all") + (f" (where {', '.join(spans)})" if spans else "")

    def settings(self) -> dict:
        """Return the network as a JSON-compatible dict for a run's spec, without names of authors."""
        plain = json.loads(json.dumps(asdict(self)))
        for variable in plain["variables"]:
            if self.is_author(variable["name"]):
                variable["values"] = []
            if not self.variable(variable["name"]).is_labelled:
                del variable["per_label"], variable["background"], variable["labels"]
        for level in plain["levels"]:
            if not level["leaves"]:
                del level["leaves"]
        return plain
