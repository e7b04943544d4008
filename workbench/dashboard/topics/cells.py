"""Topics in HTML tables: buttons that choose a topic, bars of shares, and tables whose rows are topics."""

from collections.abc import Iterable, Mapping, Sequence

import param
from markupsafe import Markup

from workbench.dashboard.shared.card import Card
from workbench.dashboard.shared.clickable import Clickable, sort_by
from workbench.dashboard.shared.link import LONGEST, QueryParameter, attribute_parameter
from workbench.tables import Column, Table
from workbench.views.elements import topic_colour
from workbench.views.live import NONE

CHIP = Markup(
    '<button type="button" class="topic" data-key="topic {0}" aria-pressed="false" aria-label="{1}" '
    'style="--topic: {2}">{3}</button>'
)
BAR = Markup(
    '<span class="track"><span class="bar" style="width: {:.1f}%; --topic: {}"></span></span> {:.1f} %'
)


class TopicCard(Card):
    """A card of topics: in its picture and its table a topic is chosen by a click, and headings sort the table."""

    word = param.String(doc="The word that is chosen.")
    sort = param.String(doc="Column that rows are sorted by, from the largest on after a minus.")

    def __init__(self, heading: str, handover, *tools, **settings):
        super().__init__(heading, handover, *tools, table=Clickable(self.clicked), **settings)

    def clicked(self, kind: str, value: str) -> None:
        """Handle a click: choose the topic or the word (or none, if it was chosen already), or sort the rows."""
        if kind == "sort":
            self.sort = value[:LONGEST]
        elif kind == "topic" and (number := whole_number_of(value)) != NONE:
            self.chosen = NONE if number == self.chosen else number
        elif kind == "word":
            self.word = "" if value == self.word else value[:LONGEST]

    @param.depends("chosen", "word", watch=True)
    def _mark_rows(self) -> None:
        word = [f"word {self.word}"] if self.word else []
        self.table.marked = [f"topic {self.chosen}", *word]

    def parameter(self, columns: Iterable[Column]) -> QueryParameter:
        """Return the query parameter of the page's address that says by which of the columns the rows are sorted."""
        valid_sorts = {sign + column.name for column in columns for sign in ("", "-")}
        return attribute_parameter(self, "sort", valid_sorts.__contains__)


def whole_number_of(text: str) -> int:
    """Return the whole number (0 or more) in a text; NONE for any other text."""
    return int(text) if text.isdecimal() and len(text) < 10 else NONE


def chip(topic: int, text: object = None, name: str = "") -> Markup:
    """Return a button that chooses a topic and shows ``text`` or its number; screen readers also read ``name``."""
    label = f"topic {topic}{f': {name}' if name else ''}"
    return CHIP.format(topic, label, colour_of(topic), topic if text is None else text)


def colour_of(topic: int) -> str:
    """Return the colour of a topic as CSS: that which people gave it, see `style_of`, or that of its number; grey for NONE."""
    return (
        f"var(--topic-{topic}, {topic_colour(topic)})" if topic != NONE else "var(--wb-strong-line)"
    )


def style_of(colours: Mapping[int, str]) -> str:
    """Return the style sheet of a page on which these topics have these colours; "" for none."""
    declarations = " ".join(f"--topic-{topic}: {colour};" for topic, colour in colours.items())
    return declarations and f":host {{ {declarations} }}"


def bar(share: float, topic: int = NONE, largest: float = 1.0) -> Markup:
    """Return a share with a bar in the colour of a topic; the bar is full for the share ``largest``."""
    return BAR.format(100 * share / largest, colour_of(topic), 100 * share)


def topic_table(
    columns: Sequence[Column],
    rows: Iterable[Sequence],
    sort: str,
    caption: str,
    names: Mapping[int, str],
) -> str:
    """Return an HTML table of topics in the order of ``sort``; each row begins with the number of its topic."""
    fields, rows = [column.name for column in columns], list(rows)
    if (name := sort.removeprefix("-")) in fields:
        rows = sorted_rows(rows, fields.index(name), sort.startswith("-"))
    heads = [sort_by(column, sort) for column in columns]
    cells = [(chip(row[0], name=names.get(row[0], "")), *row[1:]) for row in rows]
    return Table(heads, cells, caption).html([{"data-key": f"topic {row[0]}"} for row in rows])


def sorted_rows(rows: list[Sequence], position: int, down: bool) -> list[Sequence]:
    """Return rows sorted by their value at a position; rows with None or NaN at that position come last."""
    rows_with_value = [
        row for row in rows if row[position] is not None and row[position] == row[position]
    ]
    rows_without_value = [
        row for row in rows if row[position] is None or row[position] != row[position]
    ]
    return sorted(rows_with_value, key=lambda row: row[position], reverse=down) + rows_without_value
