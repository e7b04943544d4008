"""The tick boxes for engines, by family, each with a description."""

from functools import partial
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
    """A field to find engines, and tick boxes for them in a fold for each family."""

    value = param.List(doc="The engines that are ticked, in the order of the registry.")

    _rename: ClassVar = {"value": None}

    def __init__(self, value: list[str]):
        self._families = [
            (Fold(title, self._show), members, in_form(pn.widgets.CheckBoxGroup(inline=True)))
            for title, members in families().items()
        ]
        self._about, self._hints = Fold("Which engine?", self._show), text()
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
        for _, _, ticks in self._families:
            ticks.param.watch(partial(self._take, ticks), "value")
        self.search.param.watch(self._find, "value_input")
        self.param.watch(self._show, "value")
        self.value = value

    def of_text(self, text: str) -> list[str]:
        """Return the engines listed in the text of a link, in order; raise ValueError if a name is no engine."""
        names = [name for name in text.split(",") if name]
        if unknown := set(names) - set(ENGINES):
            raise ValueError(unknown)
        return [name for name in ENGINES if name in names]

    def _take(self, ticks: pn.widgets.CheckBoxGroup, event) -> None:
        ticked = {*self.value}.difference(ticks.options).union(event.new)
        self.value = [name for name in ENGINES if name in ticked]

    def _find(self, event) -> None:
        """Open the families that have an engine that is looked for, and close the others."""
        for fold, members, _ in self._families:
            fold.unfold(bool(event.new) and any(map(self._is_wanted, members)))
        self._show()

    def _is_wanted(self, name: str) -> bool:
        """Return whether name, title or family of an engine have the text that is looked for."""
        about = f"{name} {get_engine(name).title} {ENGINES[name]}".lower()
        return self.search.value_input.lower() in about

    def _show(self, event=None) -> None:
        parts = [self.search]
        for fold, members, ticks in self._families:
            ticked = [name for name in members if name in self.value]
            # an open fold keeps its title: a longer one would move the ticks from under the pointer
            fold.show("" if fold.is_open else ", ".join(ticked))
            parts.append(fold)
            if fold.is_open:
                found = [name for name in members if self._is_wanted(name)]
                value = [name for name in found if name in ticked]
                ticks.param.update(options=found, value=value)
                parts.append(ticks)
        about = [get_engine(name) for name in self.value]
        hints = [f"{each.name}: {each.title}. {each.when} {each.source}." for each in about]
        hints = [f'<p class="muted">{escape(hint)}</p>' for hint in (FIRST_CHOICE, *hints)]
        self._hints.object = "".join(hints)
        parts += [self._about, *([self._hints] if self._about.is_open else [])]
        if parts != self.objects:
            self.objects = parts
