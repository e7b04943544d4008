"""Latent Dirichlet allocation with a response of each document, a category or a number."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from scipy.special import log_expit

from workbench.corpus import Corpus
from workbench.errors import nearest_or_all, shown
from workbench.models.lda import LDA
from workbench.models.model import ModelError
from workbench.models.options import option
from workbench.models.variables import Variable

LABEL = "label"
VARIANCE_SHAPE, VARIANCE_RATE = 2.0, 0.5
"""Inverse gamma prior of sigma^2 of a standard number: its mean is half the variance of the numbers."""


@dataclass(frozen=True, eq=False)
class Responses:
    """The responses of the documents of a corpus.

    Parameters
    ----------
    values : (document,) float64
        The number of its class, or a number with mean 0 and standard deviation 1; NaN for a document without a response.
    names : tuple of str
        The classes, the most frequent first; of numbers the name of their column.
    centre, spread : float
        Mean and standard deviation of the numbers; of classes 0 and 0.
    """

    values: np.ndarray
    names: tuple[str, ...]
    centre: float = 0.0
    spread: float = 0.0

    @property
    def is_number(self) -> bool:
        """Whether the responses are numbers, not classes."""
        return self.spread > 0

    @property
    def n_sticks(self) -> int:
        """Number of rows of eta: one for numbers, one for each class but the last."""
        return max(len(self.names) - 1, 1)

    def in_units(self, weights: np.ndarray) -> np.ndarray:
        """Return the weights (response, topic) of the rows of eta (stick, topic).

        The last of several classes has zeros; those of a number are in its units, since the shares of topics sum to 1.
        """
        if self.is_number:
            return self.centre + self.spread * weights
        return np.vstack([weights, np.zeros_like(weights[:1])])


@dataclass(frozen=True)
class SupervisedLDA(LDA):
    """LDA in which each document also has a response, which depends on the shares of its tokens that the topics have.

    With zbar_d = n_d / N_d, the shares of the topics among the tokens of document d, and one eta_j ~ N(0, tau^2 I)::

        number     y_d ~ N(eta' zbar_d, sigma^2),  sigma^2 ~ inverse gamma(2, 1/2),  y with mean 0 and standard deviation 1
        class      p(y_d = c) = s(m_c) prod_{j < c} (1 - s(m_j)),  m_j = eta_j' zbar_d,  s(m) = 1 / (1 + exp(-m))

    The last class takes what the others leave, so that two classes are a logistic regression. Documents without a response, or
    without a token, are those of LDA.

    Parameters
    ----------
    n_topics, alpha, beta, seed_words, seed_weight
        As in `LDA`.
    response : str, default "label"
        The column of the documents: their label, an input, or a column of the corpus's table. A corpus without labels
        has no response by default, and the model is LDA.
    response_type : "auto", "categories" or "numbers"
        With "auto" a column is of numbers if all its values are, and they are more than two.
    weight_scale : float, default 5
        tau. A document of one topic then has odds of a class within exp(±10), nearly for sure.
    responses : Responses, optional
        What `for_data` fills in; without it the model is LDA.

    Raises
    ------
    ModelError

    McAuliffe & Blei (2007), *Supervised topic models*; the sticks of classes as of Linderman, Johnson & Adams (2015), sec. 2.
    """

    response: str = option(
        LABEL,
        "column of the documents that the shares of topics predict, categories or numbers; a corpus without labels has none "
        "by default",
        choices=(LABEL,),
        otherwise=str,
        example="year",
    )
    response_type: str = option(
        "auto",
        "whether the response is categories or numbers; auto: numbers, if all values are, and they are more than two",
        choices=("auto", "categories", "numbers"),
    )
    weight_scale: float = option(
        5.0,
        "standard deviation of the normal prior of a topic's weight in the response",
        low=1e-3,
        high=1e3,
        label="Scale of the weights",
    )
    responses: Responses | None = field(default=None, repr=False, compare=False)

    @property
    def reads_columns(self) -> bool:
        """Whether the model needs the columns of the documents."""
        return self.response != LABEL

    def for_data(self, corpus: Corpus) -> Self:
        """Return the model with the responses of the documents; raise ModelError if the column is no response."""
        labels = {} if corpus.labels is None else {LABEL: corpus.labels}
        inputs = {name: corpus.input(name) for name in corpus.input_names}
        table = {} if corpus.table is None else corpus.table.metadata
        columns = table | inputs | labels
        if self.response in columns:
            values = columns[self.response]
            responses = responses_of(self.response, values, self.response_type)
            return replace(super().for_data(corpus), responses=responses)
        if self.response == LABEL:
            return super().for_data(corpus)
        advice = nearest_or_all(self.response, columns) if columns else "it has none"
        raise ModelError(
            f"{corpus.name!r} has no column {shown(self.response)!r} of responses; {advice}",
            field="response",
            value=self.response,
        )

    def dims(self, data=None) -> dict[str, int]:
        """Return dimension → length of a run's Dataset; without ``data`` only of dimensions set by the model."""
        if data is None:
            return super().dims(data)
        responses = self.responses or self.for_data(data).responses
        return super().dims(data) | {"response": len(responses.names) if responses else 0}

    def coords(self, data) -> dict[str, tuple]:
        """Return the coordinates of a run's Dataset, with the classes of the response, or the name of its column."""
        if self.responses is None:
            return super().coords(data)
        meaning = "number" if self.responses.is_number else "class"
        return super().coords(data) | {
            "response": (self.responses.names, f"{meaning} that {self.response} has")
        }

    def recorded(self, options: object) -> tuple[Variable, ...]:
        """Return the variables that a run records: those of LDA, and the weights of topics in the response."""
        weights = "snapshot", "response", "topic"
        return (
            *super().recorded(options),
            Variable(
                "response_log_likelihood",
                ("iteration",),
                "nats",
                "mean log probability (density) of a response given the topics of its document and the weights; 0 without any",
                better="higher",
            ),
            Variable(
                "response_weights",
                weights,
                "",
                "weights eta as drawn: of classes, log odds of the class against all after it in a document of one topic; "
                "of numbers, the number in such a document",
            ),
            Variable(
                "response_weights_mean",
                weights,
                "",
                "mean of the weights as drawn so far, in which those of sweep t have the weight t",
            ),
            Variable(
                "response_deviation",
                ("snapshot", "response"),
                "",
                "standard deviation of a number about its expectation: sigma as drawn; of classes 0",
            ),
        )


def responses_of(name: str, column: Sequence, response_type: str) -> Responses:
    """Return the responses in a column (document,); None, NaN and "" are no response.

    Raises ModelError if it has fewer than two values, values that are neither numbers nor categories, or too large numbers.
    """
    values = [None if value is None or value != value or value == "" else value for value in column]
    known_values = [value for value in values if value is not None]
    n_of_value = Counter(map(_text, known_values))
    if len(n_of_value) < 2:
        found = (
            f"is {shown(next(iter(n_of_value)))!r} in all documents"
            if n_of_value
            else "is missing in all documents"
        )
        raise ModelError(
            f"the response {shown(name)!r} {found}; choose a column with two values or more",
            field="response",
        )
    numbers = [*map(_number, known_values)]
    are_numbers = None not in numbers
    if response_type == "numbers" and not are_numbers:
        wrong = known_values[numbers.index(None)]
        raise ModelError(
            f"the response {shown(name)!r} has the value {shown(wrong)!r}, which is no number; set response_type=categories, "
            "or choose another column",
            field="response_type",
        )
    if are_numbers and (
        response_type == "numbers" or (response_type == "auto" and len({*numbers}) > 2)
    ):
        with np.errstate(over="ignore", invalid="ignore"):
            centre, spread = float(np.mean(numbers)), float(np.std(numbers))
        if not math.isfinite(spread):
            raise ModelError(
                f"the response {shown(name)!r} has numbers too large for a standard deviation; give it in a larger unit, or "
                "choose another column",
                field="response",
            )
        if spread > 0:
            standard = iter((np.array(numbers) - centre) / spread)
            standards = [math.nan if value is None else next(standard) for value in values]
            return Responses(np.array(standards), (name,), centre, spread)
    if 2 * len(n_of_value) > len(known_values):
        raise ModelError(
            f"the response {shown(name)!r} has {len(n_of_value):,} different values in {len(known_values):,} documents, which "
            "are neither numbers nor categories of two documents each; choose another column",
            field="response",
        )
    names = sorted(n_of_value, key=lambda text: (-n_of_value[text], text))
    number_of = {text: float(number) for number, text in enumerate(names)}
    classes = [math.nan if value is None else number_of[_text(value)] for value in values]
    return Responses(np.array(classes), tuple(names))


def _text(value: object) -> str:
    """Return the name of a category: a whole number without a point."""
    number = _number(value) if isinstance(value, float) else None
    return str(value) if number is None or number != int(number) else str(int(number))


def _number(value: object) -> float | None:
    """Return a value as a finite number; None if it is none."""
    if isinstance(value, bool | np.bool_):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def class_probabilities(fits: np.ndarray) -> np.ndarray:
    """Return the probabilities (…, class) of classes given m (…, stick) of each but the last."""
    stays = np.cumsum(log_expit(-fits), axis=-1)
    before = np.concatenate([np.zeros_like(stays[..., :1]), stays], axis=-1)
    return np.exp(
        before + np.concatenate([log_expit(fits), np.zeros_like(stays[..., :1])], axis=-1)
    )
