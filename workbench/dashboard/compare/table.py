"""The table of every run of the store: which runs are drawn and chosen, and their progress.

The browser draws it with Tabulator (`table.js`), whose script and style sheet come with Panel, and takes every value as text.
After the first look only cells that have changed are sent. `pn.widgets.Tabulator` would draw all rows anew whenever a cell
changes, so that clicks and the focus are lost: docs/decisions/page_shell.md.
"""

import json
import math
import re
from pathlib import Path
from typing import ClassVar

import panel as pn
import param

# loading this puts the script of Tabulator into the pages
from panel.models.tabulator import THEME_PATH

from workbench.dashboard.compare.wording import label_of, number_of_runs
from workbench.dashboard.shared.drawn import BrowserComponent, code, style
from workbench.dashboard.shared.link import LONGEST, QueryParameter, attribute_parameter
from workbench.dashboard.shared.numbers import COLUMNS
from workbench.dashboard.shared.policy import policy
from workbench.dashboard.shared.run_monitor import Reading, describe_changes
from workbench.dashboard.shared.shell import Toggles, column, message, styled, text, with_label
from workbench.measures.learning import differing, every_setting, settings_of
from workbench.numbers import DASH, capital, format_duration
from workbench.runs.progress import decimals
from workbench.runs.store.status import FAILED, LOST

HEADLINE, TRAINING, ELAPSED = (
    COLUMNS.index(name) for name in ("test_perplexity", "train_perplexity", "elapsed")
)
ACTIVE = COLUMNS.index("n_active_topics")
LEARNT = {
    "alpha": ("alpha", COLUMNS.index("alpha_total"), "in all "),
    "beta": ("beta", COLUMNS.index("beta"), ""),
    "alpha_total": ("alpha", COLUMNS.index("alpha_total"), "in all "),
    "beta_total": ("beta", COLUMNS.index("beta_total"), "in all "),
    "top_concentration": ("gamma", COLUMNS.index("top_concentration"), ""),
}
"""Learnt prior → its name, the column of its value, and a word before the value."""
TITLES = {
    "corpus": "Corpus",
    "K": "K",
    "seed": "Seed",
    "state": "State",
    "progress": "Progress",
    "perplexity": "Perplexity",
    "time": "Time",
    "left": "Time left",
}
"""Default columns besides the name → heading; every setting can be a further column."""
USUAL = tuple(TITLES)
HINTS = {
    "K": "The number of topics. Of an HDP those that have a token, and in brackets those asked for."
}
GROUPS = {"None": "", "Engine": "engine", "Corpus": "corpus"}
TABULATOR = (
    Path(pn.__file__).parent / f"dist/bundled/datatabulator/{THEME_PATH}tabulator_simple.min.css"
)
TERM = re.compile(r'(-?)(?:([a-z_]+):)?(?:"([^"]*)"|([^\s"]+))')
"""A term of a search: not, key, and a phrase or a word."""
KEYS = {key: key for key in ("engine", "seed", "state", "corpus", "name", "note", "label")} | {
    "k": "K",
    "tag": "tags",
}
"""Key of a search → cell that it is about; other keys are options."""
EXACT = ("engine", "k", "seed")
FIND = "Find: words, engine:cgs k:10 state:running tag:paper r:1"


class RunTable(BrowserComponent):
    """The table of runs; the buttons act on the runs in ``chosen``, and a click on a colour swatch calls ``on_draw``."""

    rows = param.List(doc="The cells of each run, newest first; sent when runs come or go.")
    news = param.String(
        doc="As JSON, number: of the message; rows: name and changed cells of runs since the last one."
    )
    # (JSON: Bokeh would search a dict for models, row by row, in each session)
    chosen = param.List(doc="Names of the runs that are ticked.")
    empty = param.String(doc="What to do next, when there is no run.")
    found = param.List(default=None, allow_None=True, doc="Names of the runs that are found.")
    sort = param.String(
        doc="The column that rows are sorted by, downwards after a minus; newest first without one."
    )
    group = param.String(doc="The setting that rows are grouped by.")
    topics = param.String(doc="Address of the topics of a run, without its name; empty: no links.")
    heads = param.List(doc="Name, heading and explanation of each column that is shown.")
    settings = param.Dict(
        default={},
        doc="Setting in which runs differ → what it is called; one of the link → the same.",
    )
    colours = param.Dict(default={}, doc="Name → colour of the runs that are drawn.")
    query = param.String(
        doc="What is looked for: words, and key:value as in engine:cgs k:10 tag:paper.",
    )
    columns = param.List(
        default=list(USUAL),
        doc="The columns that are shown beside the name: of USUAL, and settings.",
    )

    _esm = code("table")
    _stylesheets: ClassVar = [TABULATOR.read_text(encoding="utf-8"), *style("table")]

    def __init__(self, on_draw=lambda name: None, **settings):
        super().__init__(**settings)
        self._on_draw, self._n_news = on_draw, 0
        self._readings_and_cells: dict[
            str, tuple[Reading, dict]
        ] = {}  # last reading and cells of every run
        self._sent_rows: dict[str, dict] = {}  # rows as the browser has them
        self.search = styled(
            pn.widgets.TextInput(
                label="Find runs", placeholder=FIND, css_classes=["wb-unlabelled", "wb-grow"]
            )
        )
        self.groups = styled(pn.widgets.Select(label="Group runs by", width=150))
        fold_button = styled(Toggles(label="More of the table", options=["Columns"]))
        self.column_choice = styled(
            Toggles(label="Columns of the table", visible=pn.bind(bool, fold_button))
        )
        self.status = text(css_classes=["wb-mid"])
        self.tools = column(
            self.search,
            with_label(self.groups),
            fold_button,
            self.status,
            self.column_choice,
            kind="wb-bar",
            visible=False,
        )
        self._offer()
        for widget, name, attribute in (
            (self.search, "value_input", "query"),
            (self.groups, "value", "group"),
            (self.column_choice, "value", "columns"),
        ):
            widget.param.watch(
                lambda event, attribute=attribute: setattr(self, attribute, event.new), name
            )
        self.param.watch(self._find, "query")
        self.param.watch(self._offer, ["settings", "group", "columns"])
        self.param.watch(self._send, "colours")
        self.param.watch(self._describe, ["rows", "found", "chosen"])

    def _handle_msg(self, content) -> None:
        if not isinstance(content, dict):
            return
        if isinstance(name := content.get("draw"), str):
            self._on_draw(name)
        if isinstance(query := content.get("find"), str):
            self.query = query
        if "again" in content:
            self._tell(list(self._sent_rows.values()))

    def show(self, readings: tuple[Reading, ...]) -> None:
        """Set the rows to the readings; only changed cells are sent to the browser."""
        names_before = list(self._readings_and_cells)
        self._readings_and_cells = {
            reading.name: (reading, self._row(reading)) for reading in readings
        }
        if names_before != list(self._readings_and_cells):
            settings_of_runs = [cells["settings"] for _, cells in self._readings_and_cells.values()]
            self.settings = {name: setting_label(name) for name in differing(settings_of_runs)}
        self._send()
        self._find()
        self.chosen = [name for name in self.chosen if name in self._readings_and_cells]

    def _send(self, *events) -> None:
        """Send all rows if the browser has other runs, else the cells that have changed."""
        rows_before, colours, settings = self._sent_rows, self.colours, self.settings
        self._sent_rows = {
            name: cells
            | {
                "settings": {
                    key: value for key, value in cells["settings"].items() if key in settings
                },
                "drawn": colours.get(name),
            }
            for name, (_, cells) in self._readings_and_cells.items()
        }
        if list(rows_before) != list(self._sent_rows):
            self.rows = list(self._sent_rows.values())
        elif changed_rows := [
            {"name": name}
            | {key: value for key, value in row.items() if value != rows_before[name][key]}
            for name, row in self._sent_rows.items()
            if row != rows_before[name]
        ]:
            self.rows[:] = (
                self._sent_rows.values()
            )  # for a browser that has yet to ask for the page
            self._tell(changed_rows)

    def _tell(self, changed_rows: list[dict]) -> None:
        """Send changed cells of runs to the browser."""
        self._n_news += 1
        self.news = json.dumps({"number": self._n_news, "rows": changed_rows}, allow_nan=False)

    def _row(self, reading: Reading) -> dict:
        """Return the cells of a run; the same object if nothing new was read."""
        known_reading, cells = self._readings_and_cells.get(reading.name, (None, {}))
        return cells if known_reading is reading else row(reading)

    def _find(self, *events) -> None:
        """Find the runs that match the search, and show the search in its field; ``found`` is None without a search."""
        if self.query != self.search.value_input:  # else the visitor may be typing on
            self.search.param.update(value=self.query, value_input=self.query)
        terms = terms_of(self.query)
        rows = [cells for _, cells in self._readings_and_cells.values()]
        self.found = [cells["name"] for cells in rows if fits(cells, terms)] if terms else None

    def _describe(self, *events) -> None:
        """Write the numbers of all runs, of the runs found and of the runs chosen."""
        n, found_names, chosen_names = (
            number_of_runs(len(self._readings_and_cells)),
            self.found,
            self.chosen,
        )
        n_away = 0 if found_names is None else len(set(chosen_names) - set(found_names))
        texts = (
            n if found_names is None else f"{len(found_names)} of {n} found",
            chosen_names and f"; {len(chosen_names)} chosen",
            n_away and f", {n_away} of them not among those found",
        )
        self.status.object = message("".join(filter(None, texts)))
        self.tools.visible = bool(self._readings_and_cells)

    def _offer(self, *events) -> None:
        """Offer the columns and groups of the runs and of the page's address, and send headings of the shown columns."""
        linked_keys = filter(is_setting, (self.group, *self.columns))
        settings = {name: setting_label(name) for name in linked_keys} | self.settings
        groups = {title: name for name, title in settings.items()} | GROUPS
        self.groups.param.update(options=GROUPS | groups, value=self.group)
        titles = TITLES | settings | TITLES
        self.column_choice.param.update(
            options={title: name for name, title in titles.items()}, value=self.columns
        )
        self.heads = [["run", "Run", ""]] + [
            [name, title, HINTS.get(name, "")]
            for name, title in titles.items()
            if name in self.columns
        ]

    def parameters(self) -> dict[str, QueryParameter]:
        """Return the query parameters of the page's address for search, order, groups and columns."""
        default = ",".join(USUAL)

        def take(text: str) -> bool:
            names = [name for name in text.split(",") if name]
            if fits := all(name in USUAL or is_setting(name) for name in names):
                self.columns = names
            return fits

        return {
            "find": attribute_parameter(self, "query"),
            "sort": attribute_parameter(
                self,
                "sort",
                lambda text: (
                    text.removeprefix("-") in ("", "run", *USUAL)
                    or is_setting(text.removeprefix("-"))
                ),
            ),
            "group": attribute_parameter(self, "group", lambda text: not text or is_setting(text)),
            "columns": QueryParameter(lambda: ",".join(self.columns), default, take),
        }


def terms_of(query: str) -> list[tuple[str, str, str]]:
    """Return the terms of a search as ("-" for not, or "", key, value), without a key whose value is not yet typed."""
    terms = [
        (minus, key, phrase or word)
        for minus, key, phrase, word in TERM.findall(query.lower())
        if phrase or word
    ]
    return [term for term in terms if term[1] or not re.fullmatch("[a-z_]+:", term[2])]


def fits(cells: dict, terms: list[tuple[str, str, str]]) -> bool:
    """Return whether a run matches all terms of a search."""

    def has(key: str, value: str) -> bool:
        if not key:
            texts = (*cells["run"], *(cells[name] for name in ("name", "corpus", "state")))
            return value in " ".join(map(str, texts)).lower()
        if key not in KEYS:
            return f"{key}={value}" in cells["label"].lower().split()
        text = str(cells[KEYS[key]]).lower()
        return value in (re.findall(r"[^\s()]+", text) if key in EXACT else text)

    return all(has(key, value) != bool(minus) for minus, key, value in terms)


def key_of(setting: str) -> str:
    """Return the key of a setting in the table; with a suffix if another column has its name."""
    return (
        f"{setting}_option"
        if setting in USUAL and setting not in ("corpus", "K", "seed")
        else setting
    )


def is_setting(key: str) -> bool:
    """Return whether a key of the table stands for a setting."""
    return any(
        key_of(name) == key
        for name in (key, key.removesuffix("_option"))
        if name in every_setting()
    )


def setting_label(key: str) -> str:
    """Return the label of a setting, given its key in the table."""
    name = key if key in every_setting() else key.removesuffix("_option")
    return "Split" if name == "split" else label_of(name)


def row(reading: Reading) -> dict:
    """Return the cells of a run, as texts and as numbers for sorting."""
    spec, status, latest = reading.spec, reading.status, reading.latest
    topics, topics_text = n_topics(reading) if spec else (None, DASH)
    held_out = spec is None or spec.test is not None
    perplexity = latest[HEADLINE] if held_out else latest[TRAINING]
    perplexity_text = f"{perplexity:,.{decimals(perplexity)}f}" + (
        "" if held_out else " (training)"
    )
    n_iterations = status["n_iterations"]
    iteration = min(
        max(status["iteration"], int(latest[0]) if math.isfinite(latest[0]) else 0), n_iterations
    )
    note = " ".join(reading.notes.note.split())[:LONGEST]
    tags = list(reading.notes.tags)
    descriptions = [describe_changes(spec), learning_text(reading)] if spec else []
    return {
        "name": reading.name,
        "run": [
            reading.label,
            "".join(f" · {detail}" for detail in [*descriptions, note] if detail),
            advice_on_status(status),
            *tags,
        ],
        "label": reading.label,
        "engine": spec.engine if spec else DASH,
        "corpus": spec.corpus if spec else DASH,
        "note": note,
        "tags": tags,
        "K": topics_text,
        "seed": str(spec.seed) if spec else DASH,
        "state": status["state"],
        "settings": {key_of(name): value for name, value in settings_of(spec).items()}
        if spec
        else {},
        "progress": f"{iteration} / {n_iterations}"
        if n_iterations and reading.has_course
        else DASH,
        "perplexity": perplexity_text if math.isfinite(perplexity) else DASH,
        "time": format_duration(latest[ELAPSED]),
        "left": format_duration(status["time_left"]),
        "numbers": {
            "K": topics,
            "seed": spec.seed if spec else None,
            "progress": iteration / n_iterations if n_iterations else None,
            "perplexity": finite_or_none(perplexity),
            "time": finite_or_none(latest[ELAPSED]),
            "left": finite_or_none(status["time_left"]),
        },
    }


def advice_on_status(status: dict) -> str:
    """Return why a run cannot continue by itself, and what to do; empty if nothing is wrong."""
    message = policy().for_visitors(str(status["message"])).rstrip(".")
    if status["state"] == FAILED:
        return f"{message or 'It failed'}. Fix that, choose the run and press Resume; worker.log in its folder may say more."
    if status["state"] == LOST:
        message = capital(message) or "Its worker was killed"
        return f"{message}. Choose the run and press Resume; it continues from its last checkpoint."
    return message


def finite_or_none(number: float | None) -> float | None:
    """Return the number, or None if it is not finite."""
    return float(number) if number is not None and math.isfinite(number) else None


def n_topics(reading: Reading) -> tuple[int | None, str]:
    """Return the number of topics (None for a model without topics), and this number as text.

    An HDP learns the number: it counts the topics that have a token, and the text adds the initial number in brackets.
    """
    wanted_number, active = reading.spec.n_topics, reading.latest[ACTIVE]
    if not reading.spec.parts()[1].nonparametric or not math.isfinite(active):
        return wanted_number, "" if wanted_number is None else str(wanted_number)
    return round(active), f"{active:.0f} ({wanted_number})"


def learning_text(reading: Reading) -> str:
    """Return the priors that a run learns, with their last values: ``learns alpha (in all 0.84), gamma (2.1)``."""
    texts = [
        f"{LEARNT[name][0]} ({LEARNT[name][2]}{reading.latest[LEARNT[name][1]]:.3g})"
        for name in reading.learns
    ]
    texts += ["tau"] if reading.spec.options.get("learn_tau") else []
    return f"learns {', '.join(texts)}" if texts else ""
