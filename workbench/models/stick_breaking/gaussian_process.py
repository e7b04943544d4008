"""Models of counts in documents with inputs (e.g. year and place): Gaussian processes over the inputs, and a baseline."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from workbench.corpus import Corpus
from workbench.errors import Named
from workbench.kernels.stick_breaking.gaussian_process import Inputs, Kernel
from workbench.models.model import Model, ModelError, tiny_bag
from workbench.models.options import option
from workbench.models.stick_breaking.orders import Ordered, word_order_option
from workbench.models.stick_breaking.scores import GAINS, HITS
from workbench.models.variables import Variable

TIMES = ("year", "time", "date")
"""Names of inputs that are taken as the time by default."""
PROBABILITY = Variable(
    "probability",
    ("document", "word"),
    "",
    "probability of each word in each document, mean of the draws averaged; of documents without tokens its prediction",
)
DEVIATION = Variable(
    "probability_deviation", ("document", "word"), "", "standard deviation of these draws"
)
RUNNING = (
    Variable(
        "running_probability",
        ("snapshot", "document", "word"),
        "",
        "probability of each word in each document so far",
    ),
    Variable(
        "running_deviation",
        ("snapshot", "document", "word"),
        "",
        "standard deviation of the draws so far",
    ),
)
KERNEL = tuple(
    Variable(name, ("iteration",), "", meaning)
    for name, meaning in (
        ("length_time", "length of the covariance in time, in units of the input"),
        ("length_space", "length of the covariance in space, in units of the inputs"),
        ("scale", "variance of the Gaussian processes"),
        ("noise", "variance of the noise of the sticks of shares that the kernel is fitted to"),
    )
)


@dataclass(frozen=True)
class StaticRows(Model):
    """The static baseline: a document without tokens is predicted by the last earlier document at the same place.

    p = (x + 1) / (N + W) of that document; documents with tokens are predicted by their own counts. At most one input of a
    corpus is the ``time``; the others are the place.

    Parameters
    ----------
    time : "auto", "none" or the name of an input
        Which input is the time: the first named year, time or date; none; or the one of this name.

    Raises
    ------
    ModelError

    Linderman, Johnson & Adams (2015), table 3: static.
    """

    scores = (GAINS, HITS)

    time: str = option(
        "auto",
        "input that is time: auto = the first named year, time or date; none; or a name",
        choices=("auto", "none"),
        otherwise=str,
    )

    def for_data(self, corpus: Corpus):
        """Return the model itself; raise ModelError if inputs are missing or constant."""
        self.inputs(corpus)
        return self

    def inputs(self, corpus: Corpus) -> Inputs:
        """Return the documents' inputs as time and space; raise ModelError without inputs, or if one is constant."""
        names = corpus.input_names
        if not names:
            raise ModelError(
                f"a process over inputs needs a number for each document, as its year; {corpus.name!r} has none; give inputs=… "
                "to the corpus",
                value=corpus.name,
            )
        time = (
            next((name for name in names if name.lower() in TIMES), None)
            if self.time == "auto"
            else self.time
        )
        if time not in (*names, None, "none"):
            raise ModelError(
                Named("time", self.time),
                f" is none of the inputs of {corpus.name!r}, which are {', '.join(names)}; choose "
                "one, or auto, or none",
            )
        for name in names:
            values = corpus.input(name)
            if corpus.n_documents > 1 and np.ptp(values) == 0.0:
                raise ModelError(
                    f"the input {name!r} must differ between documents; it is {values[0]:g} in all {corpus.n_documents}; "
                    "leave it out",
                    value=name,
                )
        time_columns = [i for i, name in enumerate(names) if name == time]
        space_columns = [i for i, name in enumerate(names) if name != time]
        return Inputs(corpus.inputs[:, time_columns], corpus.inputs[:, space_columns])

    def recorded(self, options) -> tuple[Variable, ...]:
        """Return the variables that a run records: the word probabilities."""
        return (*RUNNING[:1], PROBABILITY)

    def estimates(self, last: Mapping, corpus: Corpus) -> dict[str, np.ndarray]:
        """Return ``probability`` (document, word) and, for samplers, the ``probability_deviation`` of its draws."""
        means = {"probability": np.asarray(last["running_probability"])}
        return means | (
            {"probability_deviation": np.asarray(last["running_deviation"])}
            if "running_deviation" in last
            else {}
        )

    def tiny(self, most: int = 9) -> Corpus:
        """Return a corpus of two documents with inputs, for compiling kernels."""
        name = "year" if self.time in ("auto", "none") else self.time
        return tiny_bag(most, inputs={name: [2000.0, 2001.0], "place": [0.0, 1.0]})


@dataclass(frozen=True)
class RawGaussianProcess(Ordered, StaticRows):
    """The raw Gaussian process: the sticks of smoothed word shares are smooth functions of time and space, plus noise.

    psi^-1((x + .1) / (N + .1 W)) less its mean over documents: f_k + N(0, noise), f_k ~ GP(0, k) for each stick;
    k = scale * Matern-5/2 in time * squared exponential in space. All sticks have the same kernel.

    Parameters
    ----------
    time : see `StaticRows`
    order : "size", "vocabulary", "random", or a permutation of the W words as text
        Order of the words on the stick: most frequent first, as in the vocabulary, random, or ranks by frequency, such as
        "2,0,1". It changes the prior, and how well the raw process predicts.
    order_seed : int
        Seed of the random order.
    length_time, length_space : float, default 30 and 5
        In units of the inputs; the defaults are the paper's initial values, in years and degrees. Fits of the kernel start at
        these and the next two numbers.
    scale, noise : float, default 1 and 1
        Variances of the process and of the noise of sticks.

    Linderman, Johnson & Adams (2015), sec. 4: raw GP; spec C.5.
    """

    order: str = word_order_option()
    order_seed: int = option(
        0, "seed of the random order of the stick", low=0, whole=True, label="Seed of the order"
    )
    length_time: float = option(
        30.0,
        "length scale in time (initial value, if the kernel is fitted)",
        low=1e-6,
        high=1e9,
        label="Length scale in time",
    )
    length_space: float = option(
        5.0,
        "length scale in space (initial value, if the kernel is fitted)",
        low=1e-6,
        high=1e9,
        label="Length scale in space",
    )
    scale: float = option(
        1.0,
        "variance of the processes (initial value, if the kernel is fitted)",
        low=1e-6,
        high=1e6,
        label="Variance",
    )
    noise: float = option(
        1.0,
        "noise variance of raw sticks (initial value, if the kernel is fitted)",
        low=1e-6,
        high=1e6,
        label="Noise variance",
    )

    def for_data(self, corpus: Corpus):
        """Return the model itself; raise ModelError if the order does not fit, or inputs are missing or constant."""
        self.check_order(corpus.n_words, "words")
        return super().for_data(corpus)

    @property
    def kernel(self) -> Kernel:
        """The kernel with the hyperparameters of the model."""
        return Kernel(self.length_time, self.length_space, self.scale, self.noise)

    def dims(self, corpus: Corpus | None = None) -> dict[str, int]:
        """Return dimension → length of a run's Dataset; without ``corpus`` only of dimensions set by the model."""
        return super().dims(corpus) | ({} if corpus is None else {"stick": corpus.n_words - 1})

    def recorded(self, options) -> tuple[Variable, ...]:
        """Return the variables that a run records: hyperparameters of the kernel, and word probabilities."""
        return (*KERNEL, *RUNNING[:1], PROBABILITY)

    def hyperparameters(self, options) -> dict[str, str]:
        """Return name → "fixed" or "sampled" for the hyperparameters of the kernel."""
        how = "sampled" if getattr(options, "kernel", "") == "sampled" else "fixed"
        return {variable.name: how for variable in KERNEL[:3]} | {"noise": "fixed"}


@dataclass(frozen=True)
class GaussianProcess(RawGaussianProcess):
    """The multinomial Gaussian process with stick-breaking: sticks of word probabilities are smooth functions of the inputs.

    psi_k ~ GP(mu_k, k) for each word but the last, over all documents; x_m ~ Mult(N_m, pi(psi_m)) by stick-breaking.
    A document without tokens has no likelihood, and its probabilities are the prediction.

    Parameters
    ----------
    time, order, order_seed, length_time, length_space, scale, noise : see `RawGaussianProcess`
    mean : "empirical" or "paper-code"
        mu: the sticks of the mean over documents of (x + 1) / (N + W); or, as in the authors' program, the mean of the sticks
        under pi ~ Dirichlet(2).

    Linderman, Johnson & Adams (2015), sec. 4; spec C.
    """

    mean: str = option(
        "empirical",
        "mean of the processes: from smoothed shares (empirical), or as in the authors' program (paper-code)",
        choices=("empirical", "paper-code"),
    )

    psi_dim = "stick"
    """Name of the second dimension of psi (document, …)."""

    def recorded(self, options) -> tuple[Variable, ...]:
        """Return the variables that a run records: the kernel's hyperparameters, psi, mu, and word probabilities."""
        return (
            *KERNEL,
            Variable(
                "psi",
                ("snapshot", "document", self.psi_dim),
                "",
                f"{self.psi_dim}s of each document (psi), as drawn",
            ),
            Variable(
                "mu", ("snapshot", self.psi_dim), "", "mean of psi over all documents, in the prior"
            ),
            Variable(
                "stick_words",
                ("snapshot", "word"),
                "",
                "number of the word first on the stick, second, …",
                "int64",
            ),
            *RUNNING,
            PROBABILITY,
            DEVIATION,
        )


@dataclass(frozen=True)
class LogisticNormalProcess(GaussianProcess):
    """The multinomial Gaussian process with softmax: log odds of words are smooth functions of the inputs.

    psi_k ~ GP(mu_k, k) for each word, over all documents; x_m ~ Mult(N_m, softmax(psi_m)). Parameters as in `GaussianProcess`;
    mu is the log of the mean share, or 0 as in the authors' program. The order only affects the fit of the kernel.

    Linderman, Johnson & Adams (2015), sec. 4; spec C.4.
    """

    psi_dim = "word"
