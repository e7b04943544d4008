"""The ledger as a table: each item of the papers with its result, or the reason why there is none."""

from collections import Counter
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from workbench.numbers import format_with_error
from workbench.papers.ledger import ITEMS, Item
from workbench.papers.results import EXTENTS, SHIPPED, WHOLE, Number, Result, read_results
from workbench.papers.verdicts import FAILS, HOLDS, UNDECIDED
from workbench.tables import Table, numbers, texts

NUMBER, NOT_RUN, BY_TEST, OTHER, NOTHING = (
    "number",
    "not run",
    "checked by a test",
    "other numbers",
    "not reproduced",
)
VERDICTS = {
    HOLDS: "The 95 % interval, or a computation, supports the claim.",
    FAILS: "The 95 % interval, or a computation, contradicts the claim.",
    UNDECIDED: "The interval includes both, or there are too few runs.",
    NUMBER: "A number of the paper and ours.",
    NOT_RUN: "There is a command, which has not been run.",
    BY_TEST: "A test of the package checks the numbers.",
    OTHER: "A test has other numbers than the paper; the row gives the reason.",
    NOTHING: "Nothing reproduces it; the row gives the reason.",
}
"""Verdict → meaning."""
OF_PACKAGE = "results that come with the package"


class Line(NamedTuple):
    """A claim or a number of a ledger item: the verdict, the text, and our numbers."""

    verdict: str  # of `VERDICTS`
    says: str
    ours: str  # our numbers as a text


class Entry(NamedTuple):
    """A ledger item with one of the figures that reproduce it, and the result of that figure, if any."""

    item: Item
    figure: str  # name of the figure; "" without one
    result: Result | None
    source: str  # source of the result
    lines: tuple[Line, ...]
    means: tuple[str, ...]  # means of the methods as texts

    @property
    def extent(self) -> str:
        """Return "whole", "part" or "quick", for how much of the figure was run; "" without a result."""
        return self.result.extent if self.result else ""

    @property
    def command(self) -> str:
        """Return the command that reproduces the result; if there is none, the command for the whole figure."""
        if self.item.test:
            return f"python -m pytest tests/{self.item.test}"
        return (
            self.result.command
            if self.result
            else f"workbench reproduce {self.figure}" * bool(self.figure)
        )


def entries(folder: Path | None = None, shipped: Path = SHIPPED) -> list[Entry]:
    """Return all ledger entries in the order of `ITEMS`, with results from the package and from a file.

    For each figure the fullest result is used (whole, part, quick), then the newest.

    Raises
    ------
    ReportError
        A file is not a ledger.
    """
    chosen: dict[str, tuple[Result, str]] = {}
    for path, source in ((shipped, OF_PACKAGE), *([(folder, str(folder))] if folder else [])):
        for result in read_results(path):
            current = chosen.get(result.figure)
            if current is None or _rank(result) >= _rank(current[0]):
                chosen[result.figure] = result, source
    return [
        _entry(item, figure, *chosen.get(figure, (None, "")))
        for item in ITEMS
        for figure in item.figures or ("",)
    ]


def _rank(result: Result) -> tuple[int, str]:
    """Return a key that sorts results by extent, the whole last, and then by date, the newest last."""
    return -EXTENTS.index(result.extent), result.date


def _entry(item: Item, figure: str, result: Result | None, source: str) -> Entry:
    if item.test:
        lines = [Line(BY_TEST if item.met else OTHER, item.why, "")]
    elif not figure:
        lines = [Line(NOTHING, item.why, "")]
    elif result is None:
        lines = [Line(NOT_RUN, "", "")]
    else:
        lines = list(_lines(item, result)) or [Line(NOT_RUN, "The run has no result for this.", "")]
    return Entry(
        item,
        figure,
        result,
        source,
        tuple(lines),
        tuple(_means(result)) if result and item.means else (),
    )


def _lines(item: Item, result: Result) -> Iterable[Line]:
    for outcome in result.outcomes:
        if not item.says or any(part in outcome.says for part in item.says):
            yield Line(outcome.verdict, outcome.says, outcome.measured)
    for number in result.numbers if item.means else ():
        if number.published is not None:
            runs = f"{number.n} runs" if number.n > 1 else "one run"
            yield Line(
                NUMBER,
                f"{number.what}, {number.of}: {number.published:g} in the paper",
                f"{_value(number)} ({runs})",
            )


def _means(result: Result) -> Iterable[str]:
    """Yield, for each kind of number that the paper does not print, a line with every method's value."""
    numbers = [number for number in result.numbers if number.published is None]
    for what in dict.fromkeys(number.what for number in numbers):
        yield f"{what}: " + "; ".join(
            f"{number_of_kind.of} {_value(number_of_kind)}"
            for number_of_kind in numbers
            if number_of_kind.what == what
        )


def _value(number: Number) -> str:
    """Return a number as text, with its standard error."""
    error = float("nan") if number.error is None else number.error
    return format_with_error(number.value, error, 1 if abs(number.value) >= 10 else 3)


def by_paper(rows: Iterable[Entry]) -> dict[str, list[Entry]]:
    """Return name of the paper → its ledger entries, in order."""
    return {
        paper: list(paper_entries)
        for paper, paper_entries in groupby(rows, key=lambda row: row.item.paper)
    }


def verdict_of(line: Line, extent: str) -> str:
    """Return the verdict as text; if not the whole figure was run, with the extent in parentheses."""
    is_partial = extent not in ("", WHOLE) and line.verdict in (HOLDS, FAILS, UNDECIDED, NUMBER)
    return f"{line.verdict} ({extent})" if is_partial else line.verdict


def describe_result(entry: Entry) -> str:
    """Return the extent and date of a result, and the version of the code, as text; "" without a result."""
    if entry.result is None:
        return ""
    result = entry.result
    extent_text = {WHOLE: "Whole"}.get(
        result.extent, f"{result.extent.capitalize()}, not the whole"
    )
    left_out = result.left_out.removeprefix("Not the published extent: ")
    return f"{extent_text}{': ' * bool(left_out)}{left_out.rstrip('.')}. {result.date[:10]}, {result.code}."


def counts(rows: Iterable[Entry]) -> dict[str, int]:
    """Return verdict (with extent) → number of lines, in the order of `VERDICTS`, whole runs before others."""
    counter = Counter(verdict_of(line, row.extent) for row in rows for line in row.lines)
    names = [
        name
        for verdict in VERDICTS
        for name in (verdict, *(f"{verdict} ({extent})" for extent in EXTENTS))
    ]
    return {name: counter[name] for name in names if counter[name]}


def to_markdown(rows: list[Entry]) -> str:
    """Return the ledger as a page of Markdown."""
    text = [
        "# Ledger",
        "",
        "Every figure, table and number of the papers that has a target, with the results of our runs. This page is written by",
        "`workbench ledger --out FILE` from the results of `workbench reproduce NAME`, never by hand. *Quick* and *part* are",
        "smaller than the paper's experiment and no verdict on it: the whole can have another result. The commit is that of",
        "the code that compared the claims with the runs.",
        "",
        Table(
            [*texts("verdict"), *numbers("lines"), *texts("meaning")],
            [(name, n, VERDICTS[name.split(" (")[0]]) for name, n in counts(rows).items()],
        ).markdown(),
    ]
    for paper, paper_entries in by_paper(rows).items():
        text += [f"## {paper}", ""]
        for entry in paper_entries:
            text += _item_markdown(entry)
    return "\n".join(text).rstrip("\n") + "\n"


def _item_markdown(entry: Entry) -> list[str]:
    item, reason = entry.item, entry.item.why if entry.figure else ""
    commands = [f"`{entry.command}`"] if entry.command else []
    lines = [
        (f"**{verdict_of(line, entry.extent)}**", _cell(line.says), _cell(line.ours))
        for line in entry.lines
    ]
    return [
        f"### {item.id}: {item.where}" + f" ({entry.figure})" * bool(entry.figure),
        "",
        f"{item.target}{' ' * bool(reason)}{reason}",
        "",
        " ".join(filter(None, [_cell(describe_result(entry)), *commands])),
        *([""] if entry.command else []),
        Table(texts("verdict", "claim", "ours"), lines).markdown(),
        *(part for mean in entry.means for part in (f"Means, {_cell(mean)}", "")),
    ]


def _cell(text: str) -> str:
    return text.replace("\n", " ").replace("_", "\\_")
