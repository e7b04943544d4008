"""Types that describe a paper's figures: their runs, the paper's numbers and claims, and texts of the caption."""

from collections.abc import Callable
from dataclasses import dataclass, field

from workbench.corpus import data_sets

ALL, EACH, ONE = "0.1 in all", "0.1 each", "1 each"
"""The alpha of LDA: summed over topics, or of each."""
HOLDOUT = 0.1
"""Default share of held-out tokens or documents."""
DRAW, SEQUENCE = "draw", "sequence"
"""What a seed sets besides the initial state: the drawn counts of a data set (its option of this name), or the number of the
sequence."""
HITS = "hits"
"""Name of the drawing: a table of hits by year."""
NO_TOPICS = (0,)
"""Numbers of topics of a figure of models without topics."""
START = 2.0
"""Start-up time of a worker, seconds."""


@dataclass(frozen=True)
class Claim:
    """A claim of a paper that compares two methods, two models, or a larger and a smaller number of topics.

    ``kind`` is the claim about the first: its final perplexity is ``lower``, or on a ``level`` with the second's (see
    `workbench.papers.verdicts.LEVEL`); its final state has the ``same`` perplexity; it reaches its own final perplexity (or
    bound, or log joint) ``sooner``, in iterations (or ``steps``, iterations times topics), or takes ``twice`` or a ``hundred``
    times as long; test words are ``likelier``, or its ``bound`` is higher, per token. For whole rows it predicts more of the
    words at the ``top`` or at the ``bottom``, or equally many (``top level``, ``bottom level``); its ``gain`` over training
    frequencies is higher, also of ``seen`` words alone, or about the same (``seen level``). Without a second the gain is
    positive over a base of frequencies: ``over clipped``, ``over added``, ``over seen``.
    """

    says: str
    kind: str
    first: str
    second: str


def claims(kind: str, says: str, *pairs: tuple[str, str]) -> tuple[Claim, ...]:
    """Return several claims of the same kind and text, one for each pair of methods."""
    return tuple(Claim(says, kind, *pair) for pair in pairs)


@dataclass(frozen=True)
class Method:
    """An inference method of a paper: the paper's name for it, our engine and options, and the style of the curve."""

    label: str
    engine: str
    colour: str = ""
    line: str = "-"
    marker: str = "o"
    options: dict = field(default_factory=dict)
    alpha: str = ""  # of LDA: ALL, EACH or ONE
    visit: float = 1e-8  # seconds of an iteration per token and topic, scoring included
    samples: bool = False
    n_topics: int = 0  # initial number of topics, if the method infers it
    # mean number of topics in that case, to set half of the steps as burn-in
    typical: int = 0
    start: str = ""  # label of the method whose last state is the initial state


@dataclass(frozen=True)
class Extent:
    """The extent of a figure's runs: numbers of seeds, topics, iterations; run s has seed s for split and initial state."""

    n_seeds: int
    n_topics: tuple[int, ...]
    n_iterations: int | None = None  # iterations of every run
    # alternatively: iterations of deterministic methods, and of samplers
    sweeps: tuple[int, int] | None = None
    steps: int | None = None  # alternatively: number of topics summed over iterations
    n_documents: int | None = None  # drawn at random; None for all
    # label → iterations of methods with another length
    lengths: dict[str, int] = field(default_factory=dict)
    without: tuple[str, ...] = ()  # labels of methods that are left out

    def iterations(self, method: Method, n_topics: int) -> int:
        """Return the number of iterations of a run; an upper limit if the method infers topics within a budget of steps."""
        if method.label in self.lengths:
            return self.lengths[method.label]
        if self.steps:
            return self.steps if method.n_topics else max(1, round(self.steps / n_topics))
        return self.n_iterations or self.sweeps[method.samples]

    def half(self, method: Method, n_topics: int) -> int:
        """Return half of the expected number of iterations, which is the length of burn-in."""
        if self.steps:
            return max(1, self.steps // (2 * (method.typical or n_topics)))
        return self.iterations(method, n_topics) // 2


@dataclass(frozen=True)
class Figure:
    """A figure or table of a paper: which runs it needs, the paper's claims and numbers, and the caption."""

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
    models: tuple[str, ...] = ("",)  # networks, if several are compared
    # computations per token, to estimate the cost
    weight: Callable = lambda model, n_topics, samples: n_topics
    holdout: float = HOLDOUT  # held-out share of tokens or documents
    # settings of `workbench.corpus.prepare`; None: documents are held out
    split: dict | None = field(default_factory=dict)
    beta: float = 0.1  # prior of each word
    beta_total: float | None = None  # sum over words, instead of beta
    burn_in: int | None = 10  # None: half of the iterations
    n_records: int | None = None  # maximum of recorded iterations of a run; None: every iteration
    # (corpus, label) → (topics, standard error) in the paper
    inferred_topics: dict = field(default_factory=dict)
    # label → (log p of a test word, bound per token or None, tolerance)
    specified_numbers: dict = field(default_factory=dict)
    published: dict = field(default_factory=dict)  # (model, topics, label) → the paper's numbers
    note: str = ""  # differences of our data and settings from the paper's
    # labels of the paper's methods, if the figure has further ones
    of_paper: tuple[str, ...] = ()
    where: str = ""  # place in the paper
    about: str = ""  # meaning of the numbers
    of_seed: str = ""  # DRAW or SEQUENCE, if each seed has its own corpus
    held_out: str = ""  # description of the held-out tokens
    paired: str = ""  # description of the pairs
    documents: str = "{n} documents"
    each: str = "each"  # unit of the number of runs

    @property
    def title(self) -> str:
        return f"{self.name}: {self.what}."

    @property
    def corpus(self) -> str:
        return ", ".join(self.corpora)

    def grid(self, extent: Extent) -> list[tuple[str, Method, int]]:
        """Return the (model, method, number of topics) of each run that is made per corpus and seed."""
        cells = [
            (model, method, n_topics)
            for model in self.models
            for method in self.methods
            if method.label not in extent.without
            for n_topics in ((method.n_topics,) if method.n_topics else extent.n_topics)
        ]
        return (
            cells
            if len(self.models) == 1
            else sorted(cells, key=lambda cell: (self.models.index(cell[0]), cell[2]))
        )

    def n_runs(self, extent: Extent) -> int:
        """Return the number of runs that the figure needs in a given extent."""
        return extent.n_seeds * len(self.corpora) * len(self.grid(extent))

    def cost(self, extent: Extent) -> float:
        """Return the estimated time in seconds of all runs of the figure, on two cores."""
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


@dataclass(frozen=True)
class Drawing:
    """A figure of a paper that a function computes directly, without runs of engines."""

    name: str
    what: str
    paper: str
    # quick (a coarser grid, fewer steps) → `workbench.views.Picture`, and of each claim its text, whether it holds, and the
    # computed numbers as a text
    draw: Callable[[bool], tuple]
    where: str = ""  # place in the paper
    about: str = ""  # description
    note: str = ""  # differences of ours from the paper's
    less: str = "a coarser grid and fewer steps"  # the reduction of --quick

    @property
    def title(self) -> str:
        return f"{self.name}: {self.what}."
