"""The card *One count*: the exact distribution of a count, and approximations of expectations under it."""

from functools import partial
from typing import NamedTuple

import numpy as np
import panel as pn
import xarray as xr
from markupsafe import Markup

from workbench.dashboard.oracle.answers import answer_of
from workbench.dashboard.oracle.toys import Toy, model_of
from workbench.dashboard.shared.background import sentence_of
from workbench.dashboard.shared.card import Card, CardContent, LiveContent
from workbench.dashboard.shared.downloads import Handover
from workbench.dashboard.shared.form import Form, line, menu, whole_number
from workbench.dashboard.shared.link import widget_parameter
from workbench.dashboard.shared.shell import message, text
from workbench.errors import InputError
from workbench.measures.count_expectations import APPROXIMATIONS, FUNCTIONS, count_expectations
from workbench.measures.exact import lda_engines
from workbench.models.word_priors import LARGEST_PRIOR, SMALLEST_PRIOR
from workbench.numbers import format_number, parse_number
from workbench.tables import Column, Table
from workbench.views.count_expectations import FORMULAS, NAMES, microscope_picture

TYPED = "typed"
COUNTS = {"Document": "document", "Word": "word", "All tokens": "all", "Typed": TYPED}
OF_ENGINE = ("responsibilities", "which", "topic")
"""Fields for a count of an engine."""
MOST_TYPED = 500
"""Maximum number of typed probabilities."""
EXPLANATION = (
    "A count is a sum over tokens, each in the topic with its own probability q: n_dk of a document, n_wk of a word, n_k of "
    "all tokens. Updates need the expectation of a function of a + n, where a is the prior: exact by the Poisson-binomial "
    "distribution of n, here beside what engines take for it."
)


class CountRequest(NamedTuple):
    """The chosen toy corpus, and the values of the card's fields in the order in which the card has them."""

    toy: Toy | None
    kind: str
    engine: str
    which: int
    topic: int
    typed: str
    prior: str
    function: str


class MicroscopeCard(Card):
    """The card *One count*, on the distribution of a topic count; ``parameters``: its parameters in the page's address."""

    def __init__(self, handover: Handover):
        self.fields, self._toy = microscope_fields(), None
        self.parameters = {name: widget_parameter(field) for name, field in self.fields.items()}
        self.form = Form(self.fields)
        explanation = text(f'<p class="muted">{EXPLANATION}</p>', sizing_mode="stretch_width")
        super().__init__("One count", handover, components=(explanation, self.form))
        for field in self.fields.values():
            field.param.watch(self.look, "value")

    def take(self, toy: Toy | None) -> None:
        """Set the toy whose counts can be shown; None if the present toy is invalid."""
        self._toy = toy
        self.look()

    def look(self, event=None) -> None:
        """Compute the distribution of the count that the fields describe, in a thread."""
        kind = self.fields["count"].value
        hidden = OF_ENGINE if kind == TYPED else ("q", "which") if kind == "all" else ("q",)
        self.form.show([name for name in self.fields if name not in hidden])
        values = [field.value for field in self.fields.values()]
        request = CountRequest(None if kind == TYPED else self._toy, *values)
        self.bring(request, partial(count_card, request))

    def show(self, content: LiveContent | None, error: Exception | None = None) -> None:
        """Show the result, or the error under its field."""
        field = getattr(error, "field", None)
        self.form.wrong = {field: sentence_of(error)} if field in self.fields else {}
        super().show(content, None if self.form.wrong else error)


def microscope_fields() -> dict[str, pn.widgets.Widget]:
    """Return the fields of the card by their names in the page's address."""
    engines = {name: name for name in lda_engines()}
    return {
        "count": menu(
            "Count",
            COUNTS,
            "document",
            "Whose tokens are counted, or the probabilities that are typed.",
        ),
        "responsibilities": menu(
            "Engine",
            engines,
            "cvb",
            "Whose responsibilities, of its best start at its end. Of a token "
            "that is sampled they are 0 and 1.",
        ),
        "which": whole_number("Number", 1, "Of the document, or of the word."),
        "topic": whole_number("Topic", 1),
        "q": line(
            "Probabilities",
            "0.9, 0.5, 0.1, 0.1",
            "One per token, from 0 to 1, separated by commas; 0.1*20 stands for twenty tokens.",
            wide=True,
        ),
        "a": line(
            "Prior a",
            "",
            "What is added to the count: that of the toy where nothing is typed, else 0.1.",
        ),
        "function": menu("Function", {FORMULAS[name]: name for name in FORMULAS}, "digamma"),
    }


def count_card(request: CountRequest) -> CardContent:
    """Return what the card shows: distribution, moments and expectations of the count.

    Raises
    ------
    InputError
        One sentence, with the wrong field if it is known.
    """
    q, prior, name = (
        _typed_probabilities(request)
        if request.kind == TYPED
        else _probabilities_of_engine(request)
    )
    if request.prior.strip():
        prior = _prior(request.prior)
    expectations = count_expectations(q, prior)
    picture, n = microscope_picture(expectations, request.function), len(q)
    sentence = f"{name}: {n} token{'s' if n != 1 else ''}, mean {expectations.attrs['mean']:.4g}, "
    sentence += f"variance {expectations.attrs['variance']:.4g}, prior a = {float(prior):g}."
    return CardContent(message(sentence), picture, _table(expectations))


def _probabilities_of_engine(request: CountRequest) -> tuple[np.ndarray, float, str]:
    """Return an engine's p(topic) for each counted token, the prior added to the count, and the name of the count."""
    if request.toy is None:
        raise InputError(
            "there is no toy whose tokens could be counted; mend it, or type probabilities"
        )
    answer = answer_of(request.toy, request.engine)
    model = model_of(request.toy.n_topics, request.toy.alpha, request.toy.beta)
    _check("topic", request.topic, model.n_topics, "topic")
    q = answer["token_topic"].values[:, request.topic - 1]
    if request.kind == "all":
        return (
            q,
            answer.sizes["word"] * model.beta,
            f"n_k of topic {request.topic}, {request.engine}",
        )
    _check("which", request.which, answer.sizes[request.kind], request.kind)
    is_counted = (
        answer[f"token_{request.kind}"].values == answer[request.kind].values[request.which - 1]
    )
    if not is_counted.any():
        raise InputError(
            f"{request.kind} {request.which} has no token, so its counts are 0; take another",
            field="which",
        )
    prior = model.alphas[request.topic - 1] if request.kind == "document" else model.beta
    symbol = "n_dk" if request.kind == "document" else "n_wk"
    return (
        q[is_counted],
        float(prior),
        f"{symbol} of {request.kind} {request.which} and topic {request.topic}, {request.engine}",
    )


def _typed_probabilities(request: CountRequest) -> tuple[list[float], float, str]:
    """Return the typed probabilities, the default prior and a name; 0.1*20 stands for twenty probabilities."""
    probabilities: list[float] = []
    for term in request.typed.split(","):
        value, times, copies = term.partition("*")
        q, n = parse_number(value), parse_number(copies) if times else 1
        if (
            isinstance(q, str)
            or not 0 <= q <= 1
            or not isinstance(n, int)
            or not 1 <= n <= MOST_TYPED
        ):
            complaint = f"got {term.strip()!r}" if term.strip() else "there is none beside a comma"
            raise InputError(
                f"probabilities are numbers from 0 to 1, separated by commas, 0.1*20 for twenty tokens; {complaint}",
                field="q",
            )
        probabilities += [float(q)] * n
    if len(probabilities) > MOST_TYPED:
        raise InputError(
            f"a count has at most {MOST_TYPED} tokens here; these are {len(probabilities):,}",
            field="q",
        )
    return probabilities, 0.1, "Typed probabilities"


def _prior(prior_text: str) -> float:
    prior = parse_number(prior_text)
    if isinstance(prior, str) or not SMALLEST_PRIOR <= prior <= LARGEST_PRIOR:
        raise InputError(
            f"the prior a must be a number from {SMALLEST_PRIOR:g} to {LARGEST_PRIOR:g}; got {prior_text!r}",
            field="a",
        )
    return float(prior)


def _check(field: str, value, most: int, name: str) -> None:
    if value is None or not 1 <= value <= most:
        complaint = "the field is empty" if value is None else f"got {value:g}"
        raise InputError(
            f"the number of the {name} must be from 1 to {most}; {complaint}", field=field
        )


def _table(expectations: xr.Dataset) -> str:
    """Return an HTML table of expectations, a row for each function, with each approximation and its error."""
    columns = [
        Column("Expectation of"),
        *(
            Column(NAMES[name], kind="number", meaning=meaning)
            for name, meaning in APPROXIMATIONS.items()
        ),
    ]
    rows = []
    for name in FUNCTIONS:
        of_function = expectations.sel(function=name)
        (exact, *others), (_, *errors) = (
            of_function["expectation"].values,
            of_function["error"].values,
        )
        cells = (
            Markup("{}<br><small>{}{:.1e}</small>").format(
                format_number(value, 5), "−" if error < 0 else "+", abs(error)
            )
            for value, error in zip(others, errors, strict=True)
        )
        rows.append((FORMULAS[name], format_number(exact, 5), *cells))
    return Table(columns, rows, "expectations over the count").html()
