"""The splits and merges that a run tried, and which run began from which."""

from collections.abc import Callable
from functools import lru_cache, partial
from html import escape

from workbench.dashboard.compare.files import lineage_file, moves_file
from workbench.dashboard.shared.downloads import Downloads, Handover
from workbench.dashboard.shared.files import File
from workbench.dashboard.shared.run_monitor import Reading
from workbench.dashboard.shared.shell import column, message, text
from workbench.measures import Move, describe_moves
from workbench.measures.matching import descent, edges_of
from workbench.report.drawing import FORMATS

STEP, LINE = 20, 26
"""Pixels from one generation to the next, and from one run to the next."""


class HtmlCard:
    """A card with a table or a picture as HTML, and files of it; hidden while there is none."""

    def __init__(
        self,
        handover: Handover,
        title: str,
        what: str,
        file: Callable[..., File],
        style: str = "history.css",
    ):
        self.html = text("", style, sizing_mode="stretch_width")
        self._source = None  # what the files are made of

        def make(form: str, columns: int = 1):
            return partial(file, self._source, form, columns)

        figures = {f"{what} as {form.upper()}": partial(make, form) for form in FORMATS}
        self.files = Downloads(handover, {f"{what} as CSV": lambda: make("csv")}, figures)
        row = self.files.row("Download", f"download {title[0].lower()}{title[1:]}")
        self.card = column(
            text(f"<h2>{title}</h2>"), self.html, *row, kind="wb-card", visible=False
        )

    def _set(self, html: str, source) -> None:
        self._source, self.html.object, self.card.visible = source, html, bool(html)


class Moves(HtmlCard):
    """The card with the splits and merges of one run; hidden for a run that tries none."""

    def __init__(self, handover: Handover):
        super().__init__(handover, "Splits and merges", "Moves", moves_file)

    def show(self, reading: Reading | None) -> None:
        """Shows the moves of the run."""
        tried = reading.moves if reading is not None else ()
        self._set(moves_table(tried, reading.name) if tried else "", reading and reading.path)


@lru_cache(maxsize=8)
def moves_table(tried: tuple[Move, ...], name: str) -> str:
    """How many moves were kept, and the moves as an HTML table, the latest first."""
    rows = "".join(
        f'<tr class="{"kept" if move.accepted else "back"}"><th scope="row">{move.iteration:,}</th><td>{move.kind}</td>'
        f'<td>{move.giver} → {move.taker}</td><td class="gain">{move.gain_text}</td><td>{move.outcome}</td></tr>'
        for move in reversed(tried)
    )
    said = message(f"{name}: {describe_moves(tried)}. The latest is on top.")
    return (
        f'{said}<div class="scroll"><table aria-label="moves of {escape(name)}"><thead><tr><th>Iteration</th><th>Move</th>'
        f'<th>Topics</th><th class="gain">Bound, nats</th><th>Became</th></tr></thead><tbody>{rows}</tbody></table></div>'
    )


class Lineage(HtmlCard):
    """The card with the tree of which run began from which; hidden where every run began at random."""

    def __init__(self, handover: Handover):
        super().__init__(handover, "Warm starts", "Lineage", lineage_file)

    def show(self, readings: tuple[Reading, ...], colours: dict[str, str]) -> None:
        """Draws the tree of these runs, in the colours of their curves."""
        lines = family(readings)
        names = {name for _, name, _ in lines}
        self._set(
            tree(lines, colours), [reading.path for reading in readings if reading.name in names]
        )


def family(readings: tuple[Reading, ...]) -> list[tuple[int, str, str]]:
    """(generation, name, from which iteration) of each run that began from another, or another from it, ancestors first.

    A parent that is not in the store stands there by the name that is recorded of it.
    """
    # the oldest first
    specs = {
        reading.name: reading.spec for reading in reversed(readings) if reading.spec is not None
    }
    return [
        (
            generation,
            name if edge or name in specs else f"{name} (not in this store)",
            f"from iteration {edge.iteration:,}" if edge else "",
        )
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
