"""The tick boxes for engines, by family, each with a description."""

from functools import partial
from html import escape
from itertools import chain
from typing import ClassVar

import panel as pn
import param

from workbench.dashboard.shared.form import WIDE, Fold
from workbench.dashboard.shared.shell import LAYOUT_CSS, Box, in_form, text
from workbench.engines import ENGINES, FIRST_CHOICE, get_engine


def families() -> dict[str, list[str]]:
    """Return the names of the engines by title of their family; a family is the folder of the engine."""
    found: dict[str, list[str]] = {}
    for name, module in ENGINES.items():
        folder = module.split(".")[1] if module.startswith(".") else "plug-ins"
        title = folder.upper() if len(folder) == 3 else folder.replace("_", " ").capitalize()
        found.setdefault(title, []).append(name)
    return found


class EngineChoice(Box):
    """Tick boxes for engines in a fold for each family; the first fold is open."""

    value = param.List(doc="The engines that are ticked, in the order of the registry.")

    _rename: ClassVar = {"value": None}

    def __init__(self, value: list[str]):
        self._folds = {
            Fold(title, self._show): in_form(pn.widgets.CheckBoxGroup(options=names, inline=True))
            for title, names in families().items()
        }
        self._about, self._hints = Fold("Which engine?", self._show), text()
        super().__init__(
            *chain(*self._folds.items(), (self._about, self._hints)),
            css_classes=[WIDE, "wb-folds"],
            html_attributes={"role": "group", "aria-label": "Engines"},
            stylesheets=[LAYOUT_CSS],
            sizing_mode="stretch_width",
            margin=0,
        )
        for ticks in self._folds.values():
            ticks.param.watch(partial(self._take, ticks.options), "value")
        self.param.watch(self._show, "value")
        self.value = value
        next(iter(self._folds)).unfold(True)

    def of_text(self, text: str) -> list[str]:
        """Return the engines listed in the text of a link, in order; raise ValueError if a name is no engine."""
        names = [name for name in text.split(",") if name]
        if unknown := set(names) - set(ENGINES):
            raise ValueError(unknown)
        return [name for name in ENGINES if name in names]

    def _take(self, members: list[str], event) -> None:
        ticked = {*self.value}.difference(members).union(event.new)
        self.value = [name for name in ENGINES if name in ticked]

    def _show(self, event=None) -> None:
        for fold, ticks in self._folds.items():
            ticked = [name for name in ticks.options if name in self.value]
            ticks.param.update(value=ticked, visible=fold.is_open)
            # an open fold keeps its title: a longer one would move the ticks from under the pointer
            fold.show("" if fold.is_open else ", ".join(ticked))
        about = [get_engine(name) for name in self.value]
        hints = [f"{each.name}: {each.title}. {each.when} {each.source}." for each in about]
        html = "".join(f'<p class="muted">{escape(hint)}</p>' for hint in (FIRST_CHOICE, *hints))
        self._hints.param.update(value=html, visible=self._about.is_open)
