"""The topics of one run as a table: how large each is, and its words; as of the last snapshot."""

from __future__ import annotations

from functools import partial
from html import escape
from urllib.parse import urlencode

import panel as pn
import xarray as xr

from workbench.dashboard.shared.background import LOOKS, in_background, sentence_of
from workbench.dashboard.shared.run_monitor import Reading
from workbench.dashboard.shared.shell import STYLE, column, dressed, message, text
from workbench.dashboard.shared.snapshots import Moment, counts_of, labels_now, moment_of, written
from workbench.measures import top_words, topic_sizes, topics_by_size

MOST_WORDS = 50
NEWEST = "the newest run"
CSS = (STYLE / "topics.css").read_text(encoding="utf-8")


class Topics:
    """The card. It shows the newest run until one is picked, here or with a click on a row of the table."""

    def __init__(self):
        self.run = dressed(pn.widgets.Select(label="Topics of", options={NEWEST: ""}, value="", width=330))
        self.n_words = dressed(pn.widgets.IntInput(label="Words", value=10, start=1, end=MOST_WORDS, width=64))
        self.relevance = dressed(pn.widgets.FloatSlider(label="Relevance λ", value=1.0, start=0, end=1, step=0.05, width=150))
        self.said = text(sizing_mode="stretch_width")
        self.table = text(sizing_mode="stretch_width")
        self.table.stylesheets = [*self.table.stylesheets, CSS]
        self.picked = ""                          # by hand; empty: the newest run
        self._readings: dict[str, Reading] = {}   # every readable run, newest first
        self._shown, self._busy, self._moving, self._document = None, False, False, pn.state.curdoc
        self.run.param.watch(self._choose, "value")
        for widget in (self.n_words, self.relevance):
            widget.param.watch(lambda event: self.refresh(), "value")

    def show(self, readings: tuple[Reading, ...]) -> None:
        """Takes in what the runs have reached; `refresh` then reads the counts, if the run that is shown has newer ones."""
        self._readings = {reading.name: reading for reading in readings if reading.spec is not None}
        options = {NEWEST: ""} | {name: name for name in self._readings}
        wanted = self.picked if self.picked in self._readings else ""
        if options != self.run.options or wanted != self.run.value:
            self._moving = True
            self.run.param.update(options=options, value=wanted)
            self._moving = False

    def pick(self, name: str) -> None:
        """Shows the topics of the run."""
        self.picked = name
        if name in self._readings:
            self.run.value = name

    def _choose(self, event) -> None:
        """Another run in the menu: picked by hand, unless we did it."""
        if not self._moving:
            self.picked = event.new
            self.refresh()

    def refresh(self) -> None:
        """Makes the table anew if something else is to be shown; one at a time, the latest wish last."""
        seen = self._readings.get(self.run.value or next(iter(self._readings), ""))
        moment = moment_of(seen) if seen else None
        wanted = moment, written(moment), self.n_words.value, self.relevance.value
        if self._busy or wanted == self._shown:
            return
        self._busy = True

        def then(result, error) -> None:
            self._busy, self._shown = False, wanted
            said, table = result if error is None else (message(sentence_of(error), "bad"), "")
            self.said.object, self.table.object = said, table
            self.refresh()

        in_background(self._document, partial(_told, *wanted), then, LOOKS)

    def view(self) -> pn.Column:
        """The card."""
        choices = column(self.run, self.n_words, self.relevance, kind="wb-bar")
        return column(text("<h2>Topics</h2>"), choices, self.said, self.table, kind="wb-card")


def _told(moment: Moment | None, notes: int, n_words: int, relevance: float) -> tuple[str, str]:
    """A sentence and the table, as HTML; ``notes`` says when the labels were written."""
    if moment is None:
        return message("The words of the topics appear here when there is a run."), ""
    counts = counts_of(moment)
    if counts is None:
        return message(f"{moment.path.name} has no snapshot of its topics yet; the words appear with the first."), ""
    ranked = "probability" if relevance == 1 else "lift" if relevance == 0 else f"relevance (λ = {relevance:g})"
    said = (
        f"Words by {ranked}, sizes as shares of the training tokens; "
        f"iteration {int(counts['snapshot_iteration'][-1])} of {moment.path.name}."
    )
    n_empty = counts.sizes["topic"] - len(topics_by_size(counts))
    if n_empty:
        said += f" {n_empty} of {counts.sizes['topic']} topics hold no token and are left out."
    more = f'<p><a href="topics?{urlencode({"run": moment.path.name})}">Explore them on the Topics page</a></p>'
    return message(said) + more, table_of(counts, n_words, relevance, moment.path.name, labels_now(moment)[0])


def table_of(counts: xr.Dataset, n_words: int, relevance: float, name: str, labels: dict[int, str] | None = None) -> str:
    """The topics as an HTML table, largest first; their words with probabilities, whatever is in them, as text.

    Of an HDP only topics with a token. Labels that people gave stand before the words.
    """
    labels = labels or {}
    found, share = top_words(counts, n_words, relevance), topic_sizes(counts)["share"].values
    rows, places = [], {topic: at for at, topic in enumerate(counts["topic"].values.tolist())}
    for at in map(places.get, topics_by_size(counts)):
        own = found.isel(topic=at)
        words = "".join(
            f'<span title="{phi:.4f}">{escape(str(word))}</span> '
            for word, phi in zip(own["word"].values, own["phi"].values.tolist(), strict=True)
        )
        rows.append(
            f'<tr><th scope="row">{int(own["topic"])}</th><td class="size"><span class="track"><span class="bar" '
            f'style="width:{100 * share[at] / share.max():.1f}%"></span></span>{100 * share[at]:.1f} %</td>'
            f'<td class="words">{_called(labels.get(int(own["topic"]), ""))}{words}</td></tr>'
        )
    return (
        f'<div class="scroll"><table aria-label="words of {escape(name)}"><thead><tr><th>Topic</th><th>Size</th><th>Words</th>'
        f"</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _called(label: str) -> str:
    return f"<strong>{escape(label)}</strong> " if label else ""
