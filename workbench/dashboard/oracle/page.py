"""The Oracle page: a toy corpus that can be enumerated, its exact posterior, and every engine of LDA compared with it."""

from functools import partial

import panel as pn

from workbench.dashboard.compare.wording import label_of
from workbench.dashboard.oracle.answers import (
    answer_of,
    answers_shown,
    exact_of,
    exact_shown,
    toy_of,
)
from workbench.dashboard.oracle.counts import Counts
from workbench.dashboard.oracle.microscope import MicroscopeCard
from workbench.dashboard.oracle.toys import MOST_TOPICS, TOYS, Toy, cells_of, name_of, written
from workbench.dashboard.shared.background import LatestTask, sentence_of
from workbench.dashboard.shared.card import Card, Live, Shown, live
from workbench.dashboard.shared.downloads import Handover
from workbench.dashboard.shared.form import Form, line, menu, whole_number
from workbench.dashboard.shared.link import (
    LONGEST,
    Part,
    follow_address,
    widget_part,
    write_address,
)
from workbench.dashboard.shared.shell import (
    begin_session,
    column,
    lay_out,
    message,
    page_or_sentence,
    text,
)
from workbench.errors import InputError
from workbench.measures.against_exact import lda_engines

TITLE = "workbench · Oracle"
OWN = ""
"""Value of the menu for a toy that equals no example."""


class OraclePage:
    """The page of one visitor: each change of the toy is computed at once, in memory, the exact posterior first."""

    def __init__(self):
        self._document, self._latest = pn.state.curdoc, LatestTask()
        # the shown toy, and the results of the engines on it
        self._known, self._answers = None, []
        first = next(iter(TOYS.values()))
        self._counts, self.handover = first.counts, Handover()
        self.fields = _fields(first)
        self.form, self.counts = (
            Form(self.fields),
            Counts(first.counts, self._typed),
        )
        self.said = text(sizing_mode="stretch_width", visible=False)
        self.exact = Card("Exact posterior", self.handover)
        self.engines = Card("Engines beside it", self.handover)
        self.microscope = MicroscopeCard(self.handover)
        own = {name: widget_part(field) for name, field in self.fields.items() if name != "toy"}
        self.parts = (
            {"counts": Part(lambda: self._counts, first.counts, self._take_counts)}
            | own
            | self.microscope.parts
        )
        if refused := follow_address(self.parts):
            self.said.say(refused, "bad")
        self._show_toy()
        self.fields["toy"].param.watch(self._choose, "value")
        for name, field in self.fields.items():
            if name != "toy":
                field.param.watch(self._changed, "value")

    @property
    def toy(self) -> Toy:
        """Return the toy that the fields describe."""
        n_topics, alpha, beta = (self.fields[name].value for name in Toy._fields[1:])
        return Toy(self._counts, n_topics, alpha, beta)

    def tick(self) -> None:
        """Compute the results for the toy if it has changed."""
        self._compute()
        write_address(self.parts)

    # ------------------------------------------------------------------ what the visitor does

    def _typed(self, counts: str) -> None:
        self._counts = counts
        self.counts.show(counts)
        self._changed()

    def _take_counts(self, counts: str) -> bool:
        """Set the counts from a link; return True for any text, since the page shows mistakes in it later."""
        self._counts = written(cells_of(counts[:LONGEST]))
        self.counts.show(self._counts)
        return True

    def _choose(self, event) -> None:
        """Fill the fields with the chosen example."""
        chosen = TOYS.get(self.fields["toy"].value)
        if chosen is None or chosen == self.toy:
            return
        self._take_counts(chosen.counts)
        for name in Toy._fields[1:]:
            self.fields[name].value = getattr(chosen, name)
        self._changed()

    def _changed(self, event=None) -> None:
        self._show_toy()
        self._compute()
        write_address(self.parts)

    def _show_toy(self) -> None:
        self.fields["toy"].value = name_of(self.toy) or OWN

    # ------------------------------------------------------------------ what is computed

    def _compute(self) -> None:
        """Compute the exact posterior of a changed toy in a thread, then each engine; or show what is wrong with the toy."""
        toy = self.toy
        if toy == self._known:
            return
        self._known, self._answers = toy, []
        try:
            toy_of(toy)
        except InputError as error:
            self._latest.reset()
            self._show_wrong(error)
        else:
            self.form.wrong, self.counts.wrong = {}, ""
            self._latest.submit(
                toy, lambda: live(exact_shown(exact_of(toy))), partial(self._take_exact, toy)
            )
        self.microscope.take(None if self.form.wrong or self.counts.wrong else toy)

    def _take_exact(self, toy: Toy, found: Live | None, error: Exception | None) -> None:
        if error is not None:
            self._show_wrong(error)
            self.microscope.take(None)
            return
        self.exact.show(found)
        self._next(toy)

    def _next(self, toy: Toy) -> None:
        """Show the engines that have run, and run the next one."""
        self.engines.show(live(answers_shown(self._answers)))
        engines, n = lda_engines(), len(self._answers)
        if n < len(engines):
            self._latest.submit(
                (toy, engines[n]),
                partial(answer_of, toy, engines[n]),
                partial(self._take_answer, toy),
            )

    def _take_answer(self, toy: Toy, answer, error: Exception | None) -> None:
        if error is not None:
            self.engines.show(None, error)
            return
        self._answers.append(answer)
        self._next(toy)

    def _show_wrong(self, error: Exception) -> None:
        """Show the error under its field, and clear the results."""
        field = getattr(error, "field", None)
        self.form.wrong = {field: sentence_of(error)} if field in self.fields else {}
        self.counts.wrong = "" if self.form.wrong else sentence_of(error)
        self.exact.show(None)
        said = "There is nothing to compute until the toy is mended."
        self.engines.show((Shown(message(said)), []))

    # ------------------------------------------------------------------ the page

    def view(self) -> pn.Column:
        """Return the page, after setting up its session."""
        toy = column(
            text("<h2>Toy corpus</h2>"),
            self.said,
            self.form,
            self.counts,
            text(
                message(
                    "A row for each document, a column for each word. All that is typed is computed at once and kept "
                    "nowhere."
                ),
                sizing_mode="stretch_width",
            ),
            kind="wb-card wb-form",
            width=316,
            sizing_mode=None,
        )
        cards = (self.exact, self.engines, self.microscope)
        main = column(*(card.view for card in cards), self.handover, kind="wb-main")
        begin_session(self, TITLE, [], self.tick)
        return lay_out("workbench", "engines beside the exact answer", [toy, main], [], "oracle")


def page() -> pn.Column:
    """Return the page for one visitor."""
    return page_or_sentence(lambda: OraclePage().view())


def _fields(first: Toy) -> dict[str, pn.widgets.Widget]:
    """Return the fields of the form by their names in the link."""
    return {
        "toy": menu(
            "Toy",
            {"My own": OWN} | {name: name for name in TOYS},
            next(iter(TOYS)),
            "What to begin with.",
            wide=True,
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
