"""The tick boxes for engines, by family, each with a description."""

import re
from functools import partial
from html import escape
from typing import ClassVar

import panel as pn
import param

from workbench.dashboard.shared.form import WIDE, Fold
from workbench.dashboard.shared.shell import LAYOUT_CSS, Box, in_form, text
from workbench.engines import ENGINES, FIRST_CHOICE, get_engine
from workbench.errors import shown


def families() -> dict[str, list[str]]:
    """Return a dict title of a family -> names of its engines; a family is a folder of engines."""
    names_by_family: dict[str, list[str]] = {}
    for name, module in ENGINES.items():
        folder = module.split(".")[1] if module.startswith(".") else "plug-ins"
        title = folder.upper() if len(folder) == 3 else folder.replace("_", " ").capitalize()
        names_by_family.setdefault(title, []).append(name)
    return names_by_family


class EngineChoice(Box):
    """A search field for engines, and their tick boxes, in one fold per family."""

    value = param.List(doc="The engines that are ticked, in the order of the registry.")

    _rename: ClassVar = {"value": None}

    def __init__(self, value: list[str]):
        self._folds = {
            Fold(title, self._show): in_form(pn.widgets.CheckBoxGroup(options=names, inline=True))
            for title, names in families().items()
        }
        self._folds_of_search = self._folds_before = (
            set()
        )  # folds that the search opened; that were open before it
        self._no_match, self._hints = text(visible=False), text()
        self._hint_fold = Fold("Which engine?", self._show)
        self.search = in_form(
            pn.widgets.TextInput(label="Engines", placeholder="Find: gibbs, hdp, network …")
        )
        super().__init__(
            css_classes=[WIDE, "wb-folds"],
            html_attributes={"role": "group", "aria-label": "Engines"},
            stylesheets=[LAYOUT_CSS],
            sizing_mode="stretch_width",
            margin=0,
        )
        for ticks in self._folds.values():
            ticks.param.watch(partial(self._take, ticks), "value")
        self.search.param.watch(self._find, "value_input")
        self.param.watch(self._show, "value")
        self.value = value

    def of_text(self, text: str) -> list[str]:
        """Return the engines in a comma-separated text of the page's address; raise ValueError for an unknown name."""
        names = [name for name in text.split(",") if name]
        if unknown := set(names) - set(ENGINES):
            raise ValueError(unknown)
        return [name for name in ENGINES if name in names]

    def _take(self, ticks: pn.widgets.CheckBoxGroup, event) -> None:
        ticked_names = {*self.value}.difference(ticks.options).union(event.new)
        self.value = [name for name in ENGINES if name in ticked_names]

    def _find(self, event) -> None:
        """Open the folds with an engine that matches the search, and those opened by hand since; close all others."""
        search_text = _plain_text(event.new)
        by_hand = {fold for fold in self._folds if fold.is_open} - self._folds_of_search
        if not _plain_text(event.old):
            self._folds_before, by_hand = by_hand, set()
        folds = self._folds_before
        if search_text:
            folds = {
                fold
                for fold, ticks in self._folds.items()
                for name in ticks.options
                if search_text in _plain_text(f"{name} {get_engine(name).title} {fold.title}")
            }
        none = f"No engine has {shown(event.new)}; empty the field to see all."
        self._no_match.say(none if search_text and not folds else "")
        self._folds_of_search = folds - by_hand if search_text else set()
        for fold in self._folds:
            fold.unfold(fold in folds | by_hand)

    def _show(self, event=None) -> None:
        components = [self.search, self._no_match]
        for fold, ticks in self._folds.items():
            ticks.value = [name for name in ticks.options if name in self.value]
            # an open fold keeps its title: a longer one would move the ticks from under the pointer
            fold.show("" if fold.is_open else ", ".join(ticks.value))
            components += [fold, *([ticks] if fold.is_open else [])]
        engines = [get_engine(name) for name in self.value]
        hints = [f"{each.name}: {each.title}. {each.when} {each.source}." for each in engines]
        hints = [f'<p class="muted">{escape(hint)}</p>' for hint in (FIRST_CHOICE, *hints)]
        self._hints.object = "".join(hints)
        components += [self._hint_fold, *([self._hints] if self._hint_fold.is_open else [])]
        if components != self.objects:
            self.objects = components


def _plain_text(text: str) -> str:
    """Return a text in lower case, with blanks, hyphens and underscores replaced by single spaces."""
    return " ".join(re.findall(r"[^\s_-]+", text.lower()))
