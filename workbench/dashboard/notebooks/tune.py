"""Sliders in a notebook cell for r, K and the priors of a run, a Start button, and the live view of the started runs."""

from __future__ import annotations

from pathlib import Path

import panel as pn

from workbench.corpus import Corpus
from workbench.dashboard.compare.starting import Started, mark_busy, start_runs
from workbench.dashboard.compare.wording import label_of
from workbench.dashboard.notebooks.live_view import LiveView
from workbench.dashboard.notebooks.setup import Cell
from workbench.dashboard.shared.background import in_background, in_notebook, sentence_of
from workbench.dashboard.shared.form import Steps
from workbench.dashboard.shared.shell import button, column, in_form, text
from workbench.engines import ENGINES, get_engine
from workbench.runs.execution.run import default_store
from workbench.runs.execution.worker import SLOTS
from workbench.runs.request import RunRequest, request_fields
from workbench.runs.settings import DEFAULT_HYBRID
from workbench.runs.spec import SpecError

PRIORS = {f"{value:g}": value for value in (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)}
"""Values of alpha and beta on their sliders: two in each decade."""
SPLITS = {"0": 0, "1": 1, "2": 2, "3": 3, "5": 5, "10": 10, "∞": "inf"}
"""Values of r on its slider: the largest count in a document of words that are sampled."""


def tune(
    corpus: Corpus | str | Path,
    engine: str = DEFAULT_HYBRID,
    store: str | Path | None = None,
) -> Tune:
    """Return sliders for a notebook cell; each press of Start starts a run in the store and draws it live below.

    Parameters
    ----------
    corpus : Corpus, name or path
        A tenth of its tokens is held out, the same for every run, so that the curves can be compared.
    engine : str
        Engine chosen first; the menu has the others.
    store : path, optional
        Store for the runs; default ``WORKBENCH_STORE`` or ``./runs``.

    Raises
    ------
    ValueError
        There is no such engine, or this is no notebook.
    """
    get_engine(engine)
    if not in_notebook():
        raise SpecError(
            "sliders need a notebook, and this is none; in a terminal see workbench sweep --help"
        )
    return Tune(corpus, engine, default_store() if store is None else Path(store))


class Tune:
    """The sliders, with the live view below them."""

    def __init__(self, corpus: Corpus | str | Path, engine: str, store: Path):
        self._corpus, self._store, known = corpus, store, request_fields()
        self.engine = in_form(
            pn.widgets.Select(label="Engine", options=list(ENGINES), value=engine)
        )
        self.sliders = {
            "r": in_form(Steps(label="r", options=SPLITS, value=1)),
            "n_topics": in_form(
                pn.widgets.IntSlider(
                    label=label_of("n_topics"),
                    start=2,
                    end=100,
                    value=known["n_topics"].default,
                )
            ),
        } | {
            name: in_form(Steps(label=label_of(name), options=PRIORS, value=known[name].default))
            for name in ("alpha", "beta")
        }
        self.numbers = {
            name: in_form(
                pn.widgets.IntInput(
                    label=label_of(name),
                    value=known[name].default,
                    step=1,
                    description=known[name].field.metadata["help"],
                )
            )
            for name in ("n_iterations", "seed")
        }
        self.start = button("Start", color="primary", sizing_mode="stretch_width")
        self.said = text(sizing_mode="stretch_width", visible=False)
        self.watch = LiveView([])
        self.engine.param.watch(self._show_sliders, "value")
        self.start.on_click(self._start)
        self._show_sliders()
        self._lay_out()

    def _lay_out(self) -> None:
        fields = column(
            self.engine, *self.sliders.values(), *self.numbers.values(), kind="wb-fields wb-sliders"
        )
        self.watch.card.visible = bool(self.watch.names)
        self.view = Cell(
            column(fields, self.start, self.said, kind="wb-card"), self.watch.card, kind="wb-main"
        )

    def _show_sliders(self, event=None) -> None:
        """Show the sliders for the settings that the engine has."""
        used = RunRequest(engines=(self.engine.value,)).used_fields()
        for name, slider in self.sliders.items():
            slider.visible = name in used

    def request(self) -> RunRequest:
        """Return the request that the sliders describe."""
        slid = {name: slider.value for name, slider in self.sliders.items() if slider.visible}
        engine, options = self.engine.value, {"r": slid.pop("r")} if "r" in slid else {}
        return RunRequest(
            corpus=self._corpus,
            engines=(engine,),
            options={engine: options},
            jobs=SLOTS,
            **slid,
            **{name: field.value for name, field in self.numbers.items()},
        )

    def _start(self, event) -> None:
        mark_busy(self.start, True)

        def then(result: Started, error: Exception | None) -> None:
            mark_busy(self.start, False)
            if error is not None:
                self.said.say(sentence_of(error), "bad")
                return
            self.said.say(result.sentence)
            for run in (*result.runs, *result.finished):
                self.watch.add(run.path)
            self.watch.card.visible = True

        in_background(None, lambda: start_runs(self._store, self.request()), then)

    def _repr_mimebundle_(self, include=None, exclude=None):
        if self.view.is_shown:
            self.watch.make()
            self._lay_out()
        shown = self.view._repr_mimebundle_(include, exclude)
        self.watch.follow()
        return shown
