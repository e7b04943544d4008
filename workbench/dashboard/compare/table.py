"""The table of every run of the store: which runs are drawn and chosen, and their progress.

The browser finds, sorts and groups them (`finding.js`), updates the cells in place and draws those that are seen
(`table.js`); it takes every value as text. After the first look only rows that have changed are sent.
"""

import json
import math

import param

from workbench.dashboard.compare.wording import label_of
from workbench.dashboard.shared.drawn import Drawn, code, style
from workbench.dashboard.shared.link import LONGEST, Part, attribute_part
from workbench.dashboard.shared.numbers import COLUMNS
from workbench.dashboard.shared.policy import policy
from workbench.dashboard.shared.run_monitor import Reading, describe_changes
from workbench.measures.learning import differing, every_setting, settings_of
from workbench.numbers import DASH, format_duration
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
USUAL = ("tags", "corpus", "K", "seed", "state", "progress", "perplexity", "time", "left")
"""Default columns besides the name; every setting can be a further column."""


class RunTable(Drawn):
    """The table of runs; the buttons act on the runs in ``chosen``, and a click on a colour swatch calls ``on_draw``."""

    rows = param.List(doc="What `row` makes of each run, newest first; sent when runs come or go.")
    news = param.String(
        doc="As JSON, number: of the message; rows: those that have changed since the last one."
    )
    # (JSON: Bokeh would search a dict for models, row by row, three times a second in each session)
    chosen = param.List(doc="Names of the runs that are ticked.")
    colours = param.Dict(default={}, doc="Name → colour of the runs that are drawn.")
    empty = param.String(doc="What to do next, when there is no run.")
    query = param.String(
        doc="What is looked for: words, and key:value as in engine:cgs k:10 tag:paper."
    )
    found = param.List(doc="Names of the runs that are found by it; empty: all.")
    sort = param.String(
        doc="The column that rows are sorted by, downwards after a minus; newest first without one."
    )
    group = param.String(doc="The setting that rows are grouped by.")
    columns = param.List(
        default=list(USUAL),
        doc="The columns that are shown beside the name: of USUAL, and settings.",
    )
    settings = param.Dict(
        default={},
        doc="Setting in which runs differ → what it is called; one of the link → the same.",
    )

    _esm = code("finding", "table")
    _stylesheets = style("table")

    def __init__(self, on_draw=lambda name: None, **settings):
        super().__init__(**settings)
        self._on_draw = on_draw
        self._known: dict[str, tuple[Reading, dict]] = {}  # last reading and row of every run
        self._settings: dict[str, dict] = {}  # of every run
        self._n_news = 0

    def _handle_msg(self, said) -> None:
        name = said.get("draw") if isinstance(said, dict) else None
        if isinstance(name, str):
            self._on_draw(name)

    def show(self, readings: tuple[Reading, ...]) -> None:
        """Set the rows to the readings; only changed rows are sent to the browser."""
        before = self._known
        if list(before) != [reading.name for reading in readings]:
            self._settings = {reading.name: self._settings_of(reading) for reading in readings}
            self.settings = {name: called(name) for name in differing(self._settings.values())}
        self._known = {reading.name: (reading, self._row(reading)) for reading in readings}
        if list(before) != list(self._known):
            self.rows = [
                row | {"settings": self._differing(name)} for name, (_, row) in self._known.items()
            ]
        elif changed := [
            row | {"settings": self._differing(name)}
            for name, (_, row) in self._known.items()
            if row != before[name][1]
        ]:
            self._n_news += 1
            self.news = json.dumps({"number": self._n_news, "rows": changed}, allow_nan=False)
        self.chosen = [name for name in self.chosen if name in self._known]

    def _row(self, reading: Reading) -> dict:
        """Return the cells of a run; the same object if nothing new was read."""
        known, cells = self._known.get(reading.name, (None, {}))
        return cells if known is reading else row(reading)

    def _settings_of(self, reading: Reading) -> dict:
        """Return the settings of a run by key of the table, see `key_of`."""
        known = self._settings.get(reading.name)
        if known is None and reading.spec is not None:
            found = settings_of(reading.spec)
            known = {key_of(name): value for name, value in found.items()}
        return known or {}

    def _differing(self, name: str) -> dict:
        own = self._settings[name]
        return {setting: own[setting] for setting in self.settings if setting in own}

    def parts(self) -> dict[str, Part]:
        """Return search, order, groups and columns as parts of the link."""
        usual = ",".join(USUAL)

        def take(text: str) -> bool:
            names = [name for name in text.split(",") if name]
            if fits := all(name in USUAL or is_setting(name) for name in names):
                self.columns = names
            return fits

        return {
            "find": attribute_part(self, "query"),
            "sort": attribute_part(
                self,
                "sort",
                lambda text: (
                    text.removeprefix("-") in ("", "run", *USUAL)
                    or is_setting(text.removeprefix("-"))
                ),
            ),
            "group": attribute_part(self, "group", lambda text: not text or is_setting(text)),
            "columns": Part(lambda: ",".join(self.columns), usual, take),
        }


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


def called(key: str) -> str:
    """Return the label of a setting, given its key in the table."""
    name = key if key in every_setting() else key.removesuffix("_option")
    return "Split" if name == "split" else label_of(name)


def row(reading: Reading) -> dict:
    """Return the cells of a run, as texts and as numbers for sorting."""
    spec, status, latest = reading.spec, reading.status, reading.latest
    topics, told_topics = n_topics(reading) if spec else (None, DASH)
    held_out = spec is None or spec.test is not None
    perplexity = latest[HEADLINE] if held_out else latest[TRAINING]
    told_perplexity = f"{perplexity:,.{decimals(perplexity)}f}" + (
        "" if held_out else " (training)"
    )
    n_iterations = status["n_iterations"]
    iteration = min(
        max(status["iteration"], int(latest[0]) if math.isfinite(latest[0]) else 0), n_iterations
    )
    return {
        "name": reading.name,
        "label": reading.label,
        "engine": spec.engine if spec else DASH,
        "corpus": spec.corpus if spec else DASH,
        "note": " ".join(reading.notes.note.split())[:LONGEST],
        "tags": list(reading.notes.tags),
        "changes": describe_changes(spec) if spec else "",
        "learns": learnt(reading) if spec else "",
        "K": told_topics,
        "seed": str(spec.seed) if spec else DASH,
        "state": status["state"],
        "why": why(status),
        "share": round(100 * iteration / n_iterations, 1) if n_iterations else 0,
        "progress": f"{iteration} / {n_iterations}"
        if n_iterations and reading.has_course
        else DASH,
        "perplexity": told_perplexity if math.isfinite(perplexity) else DASH,
        "time": format_duration(latest[ELAPSED]),
        "left": format_duration(status["time_left"]),
        "numbers": {
            "K": topics,
            "seed": spec.seed if spec else None,
            "progress": iteration / n_iterations if n_iterations else None,
            "perplexity": known(perplexity),
            "time": known(latest[ELAPSED]),
            "left": known(status["time_left"]),
        },
    }


def why(status: dict) -> str:
    """Return why a run cannot continue by itself, and what to do; empty if nothing is wrong."""
    message = policy().shown(str(status["message"])).rstrip(".")
    if status["state"] == FAILED:
        return f"{message or 'It failed'}. Fix that, choose the run and press Resume; worker.log in its folder may say more."
    if status["state"] == LOST:
        message = message[:1].upper() + message[1:] or "Its worker was killed"
        return f"{message}. Choose the run and press Resume; it continues from its last checkpoint."
    return message


def known(number: float | None) -> float | None:
    """Return the number, or None if it is not finite."""
    return float(number) if number is not None and math.isfinite(number) else None


def n_topics(reading: Reading) -> tuple[int | None, str]:
    """Return the number of topics (None for a model without topics), and its text.

    An HDP learns the number: it counts the topics that have a token, and the text adds the initial number in brackets.
    """
    asked, active = reading.spec.n_topics, reading.latest[ACTIVE]
    if not reading.spec.parts()[1].nonparametric or not math.isfinite(active):
        return asked, "" if asked is None else str(asked)
    return round(active), f"{active:.0f} ({asked})"


def learnt(reading: Reading) -> str:
    """Return the priors that a run learns, with their last values: ``learns alpha (in all 0.84), gamma (2.1)``."""
    parts = [
        f"{LEARNT[name][0]} ({LEARNT[name][2]}{reading.latest[LEARNT[name][1]]:.3g})"
        for name in reading.learns
    ]
    parts += ["tau"] if reading.spec.options.get("learn_tau") else []
    return f"learns {', '.join(parts)}" if parts else ""
