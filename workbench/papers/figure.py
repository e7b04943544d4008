"""A figure of a paper as one record: what is run for it, what the paper found and claims, and what its caption needs."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from workbench.corpus import data_sets

ALL, EACH, ONE = "0.1 in all", "0.1 each", "1 each"
"""The alpha of LDA: of all topics together, or of each."""
HOLDOUT = 0.1
"""Share of the tokens, or of the documents, that are held out where a figure does not say otherwise."""
DRAW, SEQUENCE = "draw", "sequence"
"""What a seed decides beside the start: which counts of a data set were drawn, by its option of this name; which sequence is
looked at, the one of this number."""
HITS = "hits"
"""What is shown: a table of hits by year."""
NO_TOPICS = (0,)
"""The numbers of topics of a figure whose models have none."""
START = 2.0
"""Seconds that a worker takes to start."""


@dataclass(frozen=True)
class Claim:
    """What a paper says of two methods, of two models, or of more and fewer topics.

    ``kind`` is what is claimed of the first: its final perplexity is ``lower``, on a ``level`` with the second's
    (see `workbench.papers.verdicts.LEVEL`), its final state gives the ``same`` perplexity, it comes to its own final
    perplexity (or bound, or log joint) ``sooner``, in iterations (or ``steps``, iterations times topics), or takes
    ``twice`` as long, or a ``hundred`` times; test words are ``likelier``, or its ``bound`` is higher, per token. Of whole rows
    it hits more of the words at the ``top`` or at the ``bottom``, or about as many (``top level``, ``bottom level``); its
    ``gain`` over training frequencies is higher, of ``seen`` words alone too, or about the same (``seen level``). Without a
    second the gain is above 0: ``over clipped``, ``over added`` and ``over seen`` are the frequencies that it is over.
    """

    says: str
    kind: str
    first: str
    second: str


@dataclass(frozen=True)
class Method:
    """A way to infer, as its paper calls it: an engine with its options, and how its curve looks."""

    label: str
    engine: str
    colour: str = ""
    line: str = "-"
    marker: str = "o"
    options: dict = field(default_factory=dict)
    alpha: str = ""  # of LDA: ALL, EACH or ONE
    visit: float = 1e-8  # seconds of an iteration for each token and topic, measuring included
    samples: bool = False
    n_topics: int = 0  # where the method finds their number: how many it begins with
    # topics that it then has on average, by which half of its steps are burn-in
    typical: int = 0
    start: str = ""  # label of the method whose last state it begins from


@dataclass(frozen=True)
class Extent:
    """How much of a figure is run; seed s decides the split and the start of run s."""

    n_seeds: int
    n_topics: tuple[int, ...]
    n_iterations: int | None = None  # of every run; or
    # of methods that do not sample, and of those that do; or
    sweeps: tuple[int, int] | None = None
    steps: int | None = None  # topics of each iteration, summed over the iterations
    n_documents: int | None = None  # drawn at random; None for all
    # label → iterations of methods that have a length of their own
    lengths: dict[str, int] = field(default_factory=dict)
    without: tuple[str, ...] = ()  # labels of methods that are not run

    def iterations(self, method: Method, n_topics: int) -> int:
        """The length of a run, at most where the number of topics changes."""
        if method.label in self.lengths:
            return self.lengths[method.label]
        if self.steps:
            return self.steps if method.n_topics else max(1, round(self.steps / n_topics))
        return self.n_iterations or self.sweeps[method.samples]

    def half(self, method: Method, n_topics: int) -> int:
        """Half of the length, as far as it is known beforehand: burn-in where the other half is averaged."""
        if self.steps:
            return max(1, self.steps // (2 * (method.typical or n_topics)))
        return self.iterations(method, n_topics) // 2


@dataclass(frozen=True)
class Figure:
    """A figure or table of a paper: its grid of runs, the paper's claims and numbers, and the words of its caption."""

    name: str
    what: str
    paper: str
    # a name of `workbench.views.VIEWS`, TABLE, or (axis, number) of each row of curves
    shows: str | tuple
    corpora: tuple[str, ...]  # names of the catalog
    methods: tuple[Method, ...]
    full: Extent  # as published
    quick: Extent  # less than two minutes on two cores
    claims: tuple[Claim, ...]
    models: tuple[str, ...] = ("",)  # networks, where several are compared
    # what is computed for each token, for an estimate of the cost
    weight: Callable = lambda model, n_topics, samples: n_topics
    holdout: float = HOLDOUT  # share of the tokens, or of the documents, that are held out
    # settings of `workbench.corpus.prepare`; None: documents are held out
    split: dict | None = field(default_factory=dict)
    beta: float = 0.1  # of each word
    beta_total: float | None = None  # of all words together, in the place of beta
    burn_in: int | None = 10  # None: half of the iterations
    n_records: int | None = None  # of a run, at most; None for every iteration
    # (corpus, label) → (topics, standard error) that the paper found
    found: dict = field(default_factory=dict)
    # label → (log p of a test word, bound per token or None, tolerance)
    known: dict = field(default_factory=dict)
    published: dict = field(default_factory=dict)  # (model, topics, label) → the paper's numbers
    note: str = ""  # in what our data and settings differ from the paper's
    # labels of the paper's own methods, where others stand beside them
    of_paper: tuple[str, ...] = ()
    where: str = ""  # in the paper
    about: str = ""  # what the numbers are
    of_seed: str = ""  # DRAW or SEQUENCE, where seed s has a corpus of its own
    held_out: str = ""  # which tokens
    paired: str = ""  # by what runs are paired
    documents: str = "{n} documents"
    each: str = "each"  # so many runs of what

    @property
    def title(self) -> str:
        return f"{self.name}: {self.what}."

    @property
    def corpus(self) -> str:
        return ", ".join(self.corpora)

    def grid(self, extent: Extent) -> list[tuple[str, Method, int]]:
        """(model, method, number of topics) of the runs with one seed on one corpus."""
        found = [
            (model, method, n_topics)
            for model in self.models
            for method in self.methods
            if method.label not in extent.without
            for n_topics in ((method.n_topics,) if method.n_topics else extent.n_topics)
        ]
        return (
            found
            if len(self.models) == 1
            else sorted(found, key=lambda at: (self.models.index(at[0]), at[2]))
        )

    def n_runs(self, extent: Extent) -> int:
        """How many runs there are."""
        return extent.n_seeds * len(self.corpora) * len(self.grid(extent))

    def cost(self, extent: Extent) -> float:
        """About how many seconds the runs take on two cores."""
        seconds = 0.0
        for data in (data_sets()[name] for name in self.corpora):
            tokens = data.n_tokens * min(
                1.0, (extent.n_documents or data.n_documents) / data.n_documents
            )
            for model, method, n_topics in self.grid(extent):
                weight = self.weight(model, method.typical or n_topics, method.samples)
                seconds += START + method.visit * tokens * (
                    extent.steps or weight * extent.iterations(method, n_topics)
                )
        return extent.n_seeds * seconds / 2


class Checked(NamedTuple):
    """What is claimed of a drawing, whether it holds, and the numbers behind that in words."""

    says: str
    holds: bool
    measured: str


@dataclass(frozen=True)
class Drawing:
    """A figure of a paper that needs no run of the store: what draws it, and the words of its caption."""

    name: str
    what: str
    paper: str
    # quick (a coarser grid, fewer steps) → (`workbench.views.Picture`, list of `Checked`)
    draw: Callable
    where: str = ""  # in the paper
    about: str = ""  # what is seen
    note: str = ""  # in what ours differs from the paper's
    less: str = "a coarser grid and fewer steps"  # what is quick

    @property
    def title(self) -> str:
        return f"{self.name}: {self.what}."
