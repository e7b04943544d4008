"""The splits and merges that a run tried, and which run began from which."""

from __future__ import annotations

from functools import partial
from html import escape
from pathlib import Path

from workbench.dashboard.compare.files import lineage_file, moves_file
from workbench.dashboard.shared.downloads import Downloads, Handover
from workbench.dashboard.shared.run_monitor import Reading
from workbench.dashboard.shared.shell import STYLE, column, message, text
from workbench.measures import Move, describe_moves
from workbench.measures.lineage import descent, edges_of
from workbench.report.drawing import FORMATS

CSS = (STYLE / "history.css").read_text(encoding="utf-8")
STEP, LINE = 20, 26
"""Pixels from one generation to the next, and from one run to the next."""


class Moves:
    """The card with the splits and merges of one run; hidden for a run that tries none."""

    def __init__(self, handover: Handover):
        self.said, self.table = text(sizing_mode="stretch_width"), text(sizing_mode="stretch_width")
        self.table.stylesheets = [*self.table.stylesheets, CSS]
        self.files, self._path = _files(handover, "Moves", lambda *asked: partial(moves_file, self._path, *asked)), None
        self.card = column(
            text("<h2>Splits and merges</h2>"), self.said, self.table,
            *self.files.row("Download", "download splits and merges"), kind="wb-card", visible=False,
        )
        self._shown = None

    def show(self, reading: Reading | None) -> None:
        """Shows the moves of the run."""
        tried = reading.moves if reading is not None else ()
        shown = (reading.name, len(tried)) if tried else None
        if shown == self._shown:
            return
        self._shown, self.card.visible, self._path = shown, bool(tried), reading.path if tried else None
        self.said.object = message(f"{reading.name}: {describe_moves(tried)}. The latest is on top.") if tried else ""
        self.table.object = moves_table(tried, reading.name) if tried else ""


def moves_table(tried: tuple[Move, ...], name: str) -> str:
    """The moves as an HTML table, the latest first."""
    rows = "".join(
        f'<tr class="{"kept" if move.accepted else "back"}"><th scope="row">{move.iteration:,}</th><td>{move.kind}</td>'
        f'<td>{move.giver} → {move.taker}</td><td class="gain">{move.gain_text}</td><td>{move.outcome}</td></tr>'
        for move in reversed(tried)
    )
    return (
        f'<div class="scroll"><table aria-label="moves of {escape(name)}"><thead><tr><th>Iteration</th><th>Move</th>'
        f'<th>Topics</th><th class="gain">Bound, nats</th><th>Became</th></tr></thead><tbody>{rows}</tbody></table></div>'
    )


class Lineage:
    """The card with the tree of which run began from which; hidden where every run began at random."""

    def __init__(self, handover: Handover):
        self.picture = text(sizing_mode="stretch_width")
        self.picture.stylesheets = [*self.picture.stylesheets, CSS]
        self.files = _files(handover, "Lineage", lambda *asked: partial(lineage_file, self._paths, *asked))
        self._paths: list[Path] = []
        self.card = column(
            text("<h2>Who began from whom</h2>"), self.picture, *self.files.row("Download", "download who began from whom"),
            kind="wb-card", visible=False,
        )

    def show(self, readings: tuple[Reading, ...], colours: dict[str, str]) -> None:
        """Draws the tree of these runs, in the colours of their curves."""
        lines = family(readings)
        names = {name for _, name, _ in lines}
        self._paths = [reading.path for reading in readings if reading.name in names]
        picture = tree(lines, colours)
        if picture != self.picture.object:
            self.picture.object, self.card.visible = picture, bool(picture)


def family(readings: tuple[Reading, ...]) -> list[tuple[int, str, str]]:
    """(generation, name, from which iteration) of each run that began from another, or another from it, ancestors first.

    A parent that is not in the store stands there by the name that is recorded of it.
    """
    specs = {reading.name: reading.spec for reading in reversed(readings) if reading.spec is not None}  # the oldest first
    return [
        (generation, name if edge or name in specs else f"{name} (not in this store)",
         f"from iteration {edge.iteration:,}" if edge else "")
        for name, generation, edge in descent(edges_of(list(specs.items())))
    ]


def tree(lines: list[tuple[int, str, str]], colours: dict[str, str]) -> str:
    """The tree as a small SVG, a line for each run, in which text is text; empty without runs."""
    if not lines:
        return ""
    drawn, last = [], {}
    for at, (generation, name, told) in enumerate(lines):
        x, y = 8 + STEP * generation, LINE * at + LINE // 2
        if generation:
            drawn.append(f'<path d="M{x - STEP},{last[generation - 1]} V{y} H{x}"/>')
        last[generation] = y
        dot = f'style="fill:{colours[name]}"' if name in colours else ""
        drawn.append(
            f'<circle cx="{x}" cy="{y}" r="5" {dot}/><text data-run="{escape(name)}" x="{x + 12}" y="{y + 4}">{escape(name)}'
            f"<tspan> {escape(told)}</tspan></text>"
        )
    drawn.sort(key=lambda part: not part.startswith("<path"))
    height = LINE * len(lines)
    said = "; ".join(f"{name} {told}" if told else name for _, name, told in lines)
    return f'<div class="scroll"><svg height="{height}" role="img" aria-label="{escape(said)}">{"".join(drawn)}</svg></div>'


def _files(handover: Handover, what: str, make) -> Downloads:
    """The buttons of a card; ``make(form, columns)`` returns what makes the file."""
    figures = {f"{what} as {form.upper()}": partial(make, form) for form in FORMATS}
    return Downloads(handover, {f"{what} as CSV": lambda: make("csv")}, figures)
