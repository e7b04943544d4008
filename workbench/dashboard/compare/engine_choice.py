"""The tick boxes for engines, by family, each with a description."""

from html import escape
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
        self._families, self._about = families(), Fold(self._show)
        self._folds = {title: Fold(self._show) for title in self._families}
        self._ticks: dict[str, pn.widgets.CheckBoxGroup] = {}
        self._hints = text()
        super().__init__(
            css_classes=[WIDE, "wb-folds"],
            html_attributes={"role": "group", "aria-label": "Engines"},
            stylesheets=[LAYOUT_CSS],
            sizing_mode="stretch_width",
            margin=0,
        )
        self.param.watch(lambda event: self._show(), "value")
        self.value = value
        first = next(iter(self._folds))
        self._folds[first].value = self._folds[first].options

    def ticks(self, title: str) -> pn.widgets.CheckBoxGroup:
        """Return the tick boxes of a family."""
        if title not in self._ticks:
            made = in_form(pn.widgets.CheckBoxGroup(options=self._families[title], inline=True))
            made.param.watch(lambda event: self._take(title, event.new), "value")
            self._ticks[title] = made
        return self._ticks[title]

    def of_text(self, text: str) -> list[str]:
        """Return the engines listed in the text of a link, in order; raise ValueError if a name is no engine."""
        names = [name for name in text.split(",") if name]
        if unknown := set(names) - set(ENGINES):
            raise ValueError(unknown)
        return [name for name in ENGINES if name in names]

    def _take(self, title: str, ticked: list[str]) -> None:
        others = [name for name in self.value if name not in self._families[title]]
        self.value = [name for name in ENGINES if name in {*others, *ticked}]

    def _show(self) -> None:
        objects = []
        for title, members in self._families.items():
            fold, ticked = self._folds[title], [name for name in members if name in self.value]
            # an open fold keeps its title: a longer one would move the ticks from under the pointer
            says = bool(ticked) and not fold.is_open
            fold.show(f"{title}: {', '.join(ticked)}" if says else title, fold.is_open)
            objects.append(fold)
            if fold.is_open:
                objects.append(ticks := self.ticks(title))
                ticks.value = ticked
        self._about.show("Which engine?", self._about.is_open)
        objects.append(self._about)
        if self._about.is_open:
            about = [get_engine(name) for name in self.value]
            hints = [f"{each.name}: {each.title}. {each.when} {each.source}." for each in about]
            self._hints.object = "".join(
                f'<p class="muted">{escape(hint)}</p>' for hint in (FIRST_CHOICE, *hints)
            )
            objects.append(self._hints)
        if objects != self.objects:
            self.objects = objects
