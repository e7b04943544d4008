"""The ledger as a table: each item of the papers with its result, or with why there is none."""

from collections import Counter
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from workbench.numbers import format_with_error
from workbench.papers.ledger import ITEMS, Item
from workbench.papers.results import EXTENTS, SHIPPED, WHOLE, Result, read_results
from workbench.papers.verdicts import FAILS, HOLDS, UNDECIDED

NUMBER, NOT_RUN, BY_TEST, OTHER, NOTHING = (
    "number",
    "not run",
    "checked by a test",
    "other numbers",
    "not reproduced",
)
VERDICTS = {
    HOLDS: "The 95 % interval, or what was computed, says so.",
    FAILS: "The 95 % interval, or what was computed, says otherwise.",
    UNDECIDED: "The interval has both, or there are too few runs.",
    NUMBER: "A number of the paper beside ours.",
    NOT_RUN: "A command makes it, which has not been run.",
    BY_TEST: "A test of the package finds the numbers.",
    OTHER: "A test finds other numbers than the paper has; the row says why.",
    NOTHING: "Nothing here makes it; the row says why.",
}
"""What stands beside a claim, and what it means."""
OF_PACKAGE = "results that come with the package"


class Line(NamedTuple):
    """One claim or number of an item."""

    verdict: str  # of `VERDICTS`
    says: str
    ours: str  # the numbers in words


class Entry(NamedTuple):
    """An item and one figure that makes it, or none."""

    item: Item
    figure: str  # its name; empty where none makes it
    result: Result | None
    source: str  # where the result comes from
    lines: tuple[Line, ...]
    means: tuple[str, ...]  # means of the methods, in words

    @property
    def extent(self) -> str:
        """How much was run; empty where nothing was."""
        return self.result.extent if self.result else ""

    @property
    def command(self) -> str:
        """What makes it: all of it, where it was not run."""
        if self.item.test:
            return f"python -m pytest tests/{self.item.test}"
        return (
            self.result.command
            if self.result
            else f"workbench reproduce {self.figure}" * bool(self.figure)
        )


def entries(own: Path | None = None, shipped: Path = SHIPPED) -> list[Entry]:
    """The ledger in the order of `ITEMS`, with the results that come with the package and those of a file of one's own.

    Of several results of a figure the fullest counts (whole, part, quick), of equally full ones the newest.

    Raises
    ------
    ReportError
        A file is no ledger.
    """
    chosen: dict[str, tuple[Result, str]] = {}
    for path, source in ((shipped, OF_PACKAGE), *([(own, str(own))] if own else [])):
        for result in read_results(path):
            known = chosen.get(result.figure)
            if known is None or _rank(result) >= _rank(known[0]):
                chosen[result.figure] = result, source
    return [
        _entry(item, figure, *chosen.get(figure, (None, "")))
        for item in ITEMS
        for figure in item.figures or ("",)
    ]


def _rank(result: Result) -> tuple[int, str]:
    return -EXTENTS.index(result.extent), result.date


def _entry(item: Item, figure: str, result: Result | None, source: str) -> Entry:
    if item.test:
        lines = [Line(BY_TEST if item.met else OTHER, item.why, "")]
    elif not figure:
        lines = [Line(NOTHING, item.why, "")]
    elif result is None:
        lines = [Line(NOT_RUN, "", "")]
    else:
        lines = list(_lines(item, result)) or [Line(NOT_RUN, "The run had nothing of this.", "")]
    return Entry(
        item,
        figure,
        result,
        source,
        tuple(lines),
        tuple(_means(result)) if result and item.means else (),
    )


def _lines(item: Item, result: Result) -> Iterable[Line]:
    for one in result.outcomes:
        if not item.says or any(part in one.says for part in item.says):
            yield Line(one.verdict, one.says, one.measured)
    for number in result.numbers if item.means else ():
        if number.published is not None:
            runs = f"{number.n} runs" if number.n > 1 else "one run"
            yield Line(
                NUMBER,
                f"{number.what}, {number.of}: {number.published:g} in the paper",
                f"{_value(number)} ({runs})",
            )


def _means(result: Result) -> Iterable[str]:
    """Numbers without one of the paper's beside them: a sentence for each kind."""
    plain = [number for number in result.numbers if number.published is None]
    for what in dict.fromkeys(number.what for number in plain):
        yield f"{what}: " + "; ".join(
            f"{each.of} {_value(each)}" for each in plain if each.what == what
        )


def _value(number) -> str:
    error = float("nan") if number.error is None else number.error
    return format_with_error(number.value, error, 1 if abs(number.value) >= 10 else 3)


def by_paper(rows: Iterable[Entry]) -> dict[str, list[Entry]]:
    """Paper → its entries, in their order."""
    return {paper: list(own) for paper, own in groupby(rows, key=lambda row: row.item.paper)}


def verdict_of(line: Line, extent: str) -> str:
    """The verdict in words, with how much was run where that was not the whole."""
    partly = extent not in ("", WHOLE) and line.verdict in (HOLDS, FAILS, UNDECIDED, NUMBER)
    return f"{line.verdict} ({extent})" if partly else line.verdict


def about_result(entry: Entry) -> str:
    """How much was run, when, and by which code, in words; what makes it, where nothing was run."""
    if entry.result is None:
        return ""
    result = entry.result
    how = {WHOLE: "Whole"}.get(result.extent, f"{result.extent.capitalize()}, not the whole")
    left_out = result.left_out.removeprefix("Not the published extent: ")
    return f"{how}{': ' * bool(left_out)}{left_out.rstrip('.')}. {result.date[:10]}, {result.code}."


def counts(rows: Iterable[Entry]) -> dict[str, int]:
    """Verdict, with how much was run → lines that have it; in the order of `VERDICTS`, whole before the rest."""
    found = Counter(verdict_of(line, row.extent) for row in rows for line in row.lines)
    names = [
        name
        for verdict in VERDICTS
        for name in (verdict, *(f"{verdict} ({extent})" for extent in EXTENTS))
    ]
    return {name: found[name] for name in names if found[name]}


def to_markdown(rows: list[Entry]) -> str:
    """The ledger as a page of Markdown."""
    text = [
        "# Ledger",
        "",
        "Every figure, table and number of the papers that has a target, and what our runs say of it. This page is written by",
        "`workbench ledger --out FILE` from the results that `workbench reproduce NAME` enters, and never by hand. *Quick* and",
        "*part* are less than the paper has, and no verdict on it: the whole can come out otherwise. A commit is that of the",
        "code which held the claims against the runs.",
        "",
        "| verdict | lines | meaning |",
        "|---|---:|---|",
        *(
            f"| {name} | {n} | {VERDICTS[name.split(' (')[0]]} |"
            for name, n in counts(rows).items()
        ),
        "",
    ]
    for paper, own in by_paper(rows).items():
        text += [f"## {paper}", ""]
        for entry in own:
            text += _item_markdown(entry)
    return "\n".join(text).rstrip("\n") + "\n"


def _item_markdown(entry: Entry) -> list[str]:
    item, told = entry.item, entry.item.why if entry.figure else ""
    made = [f"`{entry.command}`"] if entry.command else []
    lines = [
        f"| **{verdict_of(line, entry.extent)}** | {_cell(line.says)} | {_cell(line.ours)} |"
        for line in entry.lines
    ]
    return [
        f"### {item.id}: {item.where}" + f" ({entry.figure})" * bool(entry.figure),
        "",
        f"{item.target}{' ' * bool(told)}{told}",
        "",
        " ".join(filter(None, [_cell(about_result(entry)), *made])),
        *([""] if entry.command else []),
        "| verdict | claim | ours |",
        "|---|---|---|",
        *lines,
        "",
        *(part for mean in entry.means for part in (f"Means, {_cell(mean)}", "")),
    ]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("_", "\\_")
