"""A form and sliders in a notebook cell: Start starts runs; the sliders change r, priors and more in active runs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import panel as pn

from workbench.corpus import Corpus
from workbench.dashboard.compare.fields import field_of
from workbench.dashboard.compare.starting import StartResult, mark_busy, start_runs
from workbench.dashboard.notebooks.live_view import LiveView
from workbench.dashboard.notebooks.setup import Cell
from workbench.dashboard.shared.background import in_background, in_notebook, sentence_of
from workbench.dashboard.shared.form import Fields, Form
from workbench.dashboard.shared.shell import button, column, in_form, text
from workbench.engines import ENGINES, get_engine
from workbench.records import Records
from workbench.runs.execution.run import default_store
from workbench.runs.execution.worker import SLOTS
from workbench.runs.request import RunRequest, written
from workbench.runs.settings import DEFAULT_HYBRID
from workbench.runs.spec import SpecError

SETTINGS = (
    "n_topics",
    "r",
    "alpha",
    "beta",
    "init",
    "learn_alpha",
    "n_iterations",
    "seed",
    "seeds",
)
"""The settings in the form, as far as a chosen engine has them."""


def tune(
    corpus: Corpus | Records | str | Path,
    engines: str | Iterable[str] = DEFAULT_HYBRID,
    store: str | Path | None = None,
) -> Tune:
    """Return a form for a notebook cell that starts runs, and draws them live with sliders for their settings.

    Parameters
    ----------
    corpus : Corpus, Records, name or path
        A tenth of its tokens or cells is held out, the same for every run, so that the curves can be compared.
    engines : str or several
        Engines chosen first; the field has the others that infer from such data.
    store : path, optional
        Store for the runs; default ``WORKBENCH_STORE`` or ``./runs``.

    Raises
    ------
    ValueError
        There is no such engine, or this is no notebook.
    """
    names = [engines] if isinstance(engines, str) else [*engines]
    for engine in names:
        get_engine(engine)
    if not in_notebook():
        raise SpecError(
            "sliders need a notebook, and this is none; in a terminal see workbench retune --help"
        )
    return Tune(corpus, names, default_store() if store is None else Path(store))


class Tune:
    """The form, with the live view and its sliders below it."""

    def __init__(self, corpus: Corpus | Records | str | Path, engines: list[str], store: Path):
        self._corpus, self._store = corpus, store
        kind = Records if isinstance(corpus, Records) else get_engine(engines[0]).model.data
        in_parts = getattr(corpus, "n_parts", 1) > 1
        able = [each for each in map(get_engine, ENGINES) if each.in_parts or not in_parts]
        engine_names = [engine.name for engine in able if engine.model.data is kind]
        self.engines = in_form(
            pn.widgets.MultiChoice(label="Engines", options=engine_names, value=engines)
        )
        self.fields = Fields(field_of)
        self.form = Form(self.fields)
        self.start = button("Start", color="primary", sizing_mode="stretch_width")
        self.status = text(sizing_mode="stretch_width", visible=False)
        self.watch = LiveView([])
        self.engines.param.watch(self._show_fields, "value")
        self.start.on_click(self._start)
        self._show_fields()
        self._lay_out()

    def _lay_out(self) -> None:
        self.watch.card.visible = bool(self.watch.names)
        self.view = Cell(
            column(self.engines, self.form, self.start, self.status, kind="wb-card"),
            self.watch.card,
            kind="wb-main",
        )

    def _show_fields(self, event=None) -> None:
        """Show the settings that the chosen engines have."""
        fields = RunRequest(corpus=self._corpus, engines=tuple(self.engines.value)).used_fields()
        self.form.show([key for key, field in fields.items() if field.field.name in SETTINGS])

    def request(self) -> RunRequest:
        """Return the request that the form describes."""
        texts = {name: written(self.fields[name].value) for name in self.form.seen}
        texts |= {"engines": ",".join(self.engines.value), "jobs": str(SLOTS)}
        return RunRequest.from_query(texts, self._corpus)

    def _start(self, event) -> None:
        mark_busy(self.start, True)

        def on_result(result: StartResult, error: Exception | None) -> None:
            mark_busy(self.start, False)
            if error is not None:
                self.status.say(sentence_of(error), "bad")
                return
            self.status.say(result.sentence)
            for run in (*result.runs, *result.finished):
                self.watch.add(run.path)
            self.watch.card.visible = True

        in_background(None, lambda: start_runs(self._store, self.request()), on_result)

    def _repr_mimebundle_(self, include=None, exclude=None):
        if self.view.is_shown:
            self.watch.make()
            self._lay_out()
        bundle = self.view._repr_mimebundle_(include, exclude)
        self.watch.follow()
        return bundle
