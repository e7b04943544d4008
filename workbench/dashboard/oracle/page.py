"""The Oracle page: a toy corpus that can be enumerated, its exact posterior, and every engine of LDA compared with it."""

from functools import partial

import panel as pn

from workbench.dashboard.compare.wording import label_of
from workbench.dashboard.oracle.answers import (
    answer_of,
    answers_card,
    exact_card,
    exact_of,
    toy_of,
)
from workbench.dashboard.oracle.microscope import MicroscopeCard
from workbench.dashboard.oracle.toys import MOST_TOPICS, TOYS, Toy, cells_of
from workbench.dashboard.shared.background import LatestTask, sentence_of
from workbench.dashboard.shared.card import Card, CardContent, LiveContent, live_content
from workbench.dashboard.shared.downloads import Handover
from workbench.dashboard.shared.form import WIDE, Form, line, menu, whole_number
from workbench.dashboard.shared.link import (
    LONGEST,
    follow_address,
    widget_parameter,
    write_address,
)
from workbench.dashboard.shared.shell import (
    column,
    in_form,
    lay_out,
    message,
    page_or_sentence,
    text,
)
from workbench.errors import InputError
from workbench.measures.exact import lda_engines

OWN_TOY = ""
"""Value of the menu for a toy that equals no example."""


class OraclePage:
    """The page of one visitor: each change of the toy starts the computations anew, the exact posterior first."""

    def __init__(self):
        self._document, self._latest = pn.state.curdoc, LatestTask()
        # the shown toy, and the results of the engines on it
        self._toy_computed, self._answers = None, []
        first = next(iter(TOYS.values()))
        self.fields, self.handover = _fields(first), Handover()
        self.form = Form(self.fields)
        self.status = text(sizing_mode="stretch_width", visible=False)
        self.exact = Card("Exact posterior", self.handover)
        self.engines = Card("Engines beside it", self.handover)
        self.microscope = MicroscopeCard(self.handover)
        parameters_of_fields = {
            name: widget_parameter(field) for name, field in self.fields.items() if name != "toy"
        }
        self.parameters = parameters_of_fields | self.microscope.parameters
        if link_error := follow_address(self.parameters):
            self.status.say(link_error, "bad")
        self._show_toy()
        self.fields["toy"].param.watch(self._choose, "value")
        for name, field in self.fields.items():
            if name != "toy":
                field.param.watch(self._changed, "value")

    @property
    def toy(self) -> Toy:
        """Return the toy that the fields describe."""
        counts, *others = (self.fields[name].value for name in Toy._fields)
        return Toy(";".join(map(",".join, cells_of(counts))), *others)

    def tick(self) -> None:
        """Compute the results for the toy if it has changed."""
        self._compute()
        write_address(self.parameters)

    # ------------------------------------------------------------------ what the visitor does

    def _choose(self, event) -> None:
        """Fill the fields with the chosen example."""
        example = TOYS.get(self.fields["toy"].value)
        if example is None or example == self.toy:
            return
        for name, value in (
            example._replace(counts=example.counts.replace(";", "\n"))._asdict().items()
        ):
            self.fields[name].value = value
        self._changed()

    def _changed(self, event=None) -> None:
        self._show_toy()
        self._compute()
        write_address(self.parameters)

    def _show_toy(self) -> None:
        names = (name for name, example in TOYS.items() if example == self.toy)
        self.fields["toy"].value = next(names, OWN_TOY)

    # ------------------------------------------------------------------ what is computed

    def _compute(self) -> None:
        """Compute the exact posterior of a changed toy in a thread, then each engine; or show what is wrong with the toy."""
        toy = self.toy
        if toy == self._toy_computed:
            return
        self._toy_computed, self._answers = toy, []
        try:
            toy_of(toy)
        except InputError as error:
            self._latest.reset()
            self._show_wrong(error)
        else:
            self.form.wrong = {}
            self._latest.submit(
                toy,
                lambda: live_content(exact_card(exact_of(toy))),
                partial(self._take_exact, toy),
            )
        self.microscope.take(None if self.form.wrong else toy)

    def _take_exact(self, toy: Toy, content: LiveContent | None, error: Exception | None) -> None:
        if error is not None:
            self._show_wrong(error)
            self.microscope.take(None)
            return
        self.exact.show(content)
        self._next(toy)

    def _next(self, toy: Toy, answer=None, error: Exception | None = None) -> None:
        """Add the result of an engine, show all results so far, and run the next engine; or show the error."""
        if error is not None:
            self.engines.show(None, error)
            return
        self._answers += [] if answer is None else [answer]
        self.engines.show(live_content(answers_card(self._answers)))
        for engine in lda_engines()[len(self._answers) :][:1]:
            work = partial(answer_of, toy, engine)
            self._latest.submit((toy, engine), work, partial(self._next, toy))

    def _show_wrong(self, error: Exception) -> None:
        """Show the error under its field, and clear the results."""
        field = getattr(error, "field", None)
        self.form.wrong = {field if field in self.fields else "counts": sentence_of(error)}
        self.exact.show(None)
        sentence = "There is nothing to compute until the toy is mended."
        self.engines.show((CardContent(message(sentence)), []))

    # ------------------------------------------------------------------ the page

    def view(self) -> pn.Column:
        """Return the page, after setting up its session."""
        toy = column(
            text("<h2>Toy corpus</h2>"),
            self.status,
            self.form,
            text(message("All that is typed is computed at once and kept nowhere.")),
            kind="wb-card wb-form",
            width=316,
            sizing_mode=None,
        )
        cards = (self.exact, self.engines, self.microscope)
        main = column(*(card.view for card in cards), self.handover, kind="wb-main")
        return lay_out(self, "oracle", "engines beside the exact answer", toy, main)


def page() -> pn.Column:
    """Return the page for one visitor."""
    return page_or_sentence(lambda: OraclePage().view())


def _fields(first: Toy) -> dict[str, pn.widgets.Widget]:
    """Return the fields of the form by their names in the page's address."""
    return {
        "toy": menu(
            "Toy",
            {"My own": OWN_TOY} | {name: name for name in TOYS},
            next(iter(TOYS)),
            "What to begin with.",
            wide=True,
        ),
        "counts": in_form(
            pn.widgets.TextAreaInput(
                label="Counts",
                value=first.counts.replace(";", "\n"),
                description="A row for each document, in it a count for each word, separated by commas or blanks.",
                rows=3,
                auto_grow=True,
                max_length=LONGEST,
                css_classes=[WIDE],
            )
        ),
        "n_topics": whole_number(label_of("n_topics"), first.n_topics, f"From 1 to {MOST_TOPICS}."),
        "alpha": line(
            label_of("alpha"),
            first.alpha,
            "The Dirichlet prior of each topic in a document: one number, or one for "
            "each topic, separated by commas. Different values make topics distinguishable.",
        ),
        "beta": line(label_of("beta"), first.beta, "The Dirichlet prior of each word in a topic."),
    }
