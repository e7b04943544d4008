"""Topics merged, dropped and split: a run that continues from the counts of the shown one."""

from __future__ import annotations

import re
from functools import partial
from html import escape
from pathlib import Path
from urllib.parse import urlencode

import panel as pn

from workbench.dashboard.compare.live_strip import branches
from workbench.dashboard.shared.background import in_background, sentence_of
from workbench.dashboard.shared.link import LONGEST
from workbench.dashboard.shared.policy import policy
from workbench.dashboard.shared.run_monitor import Reading
from workbench.dashboard.shared.shell import button, column, in_form, styled, text
from workbench.runs.execution.topic_edits import takes_edits

WAYS = ("merge", "drop", "split")
"""Edits of the chosen topics, each with a button."""


class Editing:
    """The card *Edit the topics*: edits are written by buttons or by hand, and a new run starts with them."""

    def __init__(self):
        self.topics = in_form(pn.widgets.MultiSelect(label="Topics", options={}, size=6))
        self.edits = styled(
            pn.widgets.TextInput(
                label="Edits",
                placeholder="merge 3 7; drop 5; split 2; add 1",
                max_length=LONGEST,
                sizing_mode="stretch_width",
            )
        )
        self.buttons = {edit: button(edit.capitalize()) for edit in WAYS}
        self.start = button("Continue with these", color="primary")
        self.said = text(sizing_mode="stretch_width", visible=False)
        for edit, made in self.buttons.items():
            made.on_click(lambda event, edit=edit: self._write(edit))
        self.start.on_click(lambda event: self._start())
        bar = column(*self.buttons.values(), self.start, kind="wb-bar")
        heading = text("<h2>Edit the topics</h2>")
        parts = heading, self.topics, self.edits, bar, self.said
        self.view = column(*parts, kind="wb-card editing")
        self._path: Path | None = None
        self._document = pn.state.curdoc

    def show(self, reading: Reading | None, words: dict[int, str]) -> None:
        """Set the run and the first words of its topics; what was written about another run is removed."""
        path = reading and reading.path
        if path != self._path:
            self._path = path
            self.edits.param.update(value="", value_input="")
        options = {f"{topic} {few}": topic for topic, few in words.items()}
        if options != self.topics.options:
            kept = [topic for topic in self.topics.value if topic in words]
            self.topics.param.update(options=options, value=kept)
        self.view.visible = bool(words) and not policy().read_only and takes_edits(reading.spec)

    def _write(self, edit: str) -> None:
        """Add an edit of the chosen topics, or, if too few are chosen, say how many the edit needs."""
        topics = sorted(self.topics.value)
        least = 2 if edit == "merge" else 1
        if len(topics) < least:
            self.said.say(f"Choose {'two topics' if least == 2 else 'a topic'} to {edit}.", "bad")
            return
        self.said.say("")
        written = "; ".join([*self.written(), " ".join(map(str, [edit, *topics]))])
        self.edits.param.update(value=written, value_input=written)
        self.topics.value = []

    def written(self) -> list[str]:
        """Return the edits that are written."""
        return [edit.strip() for edit in re.split("[;\n]", self.edits.value_input) if edit.strip()]

    def _start(self) -> None:
        edits, parent = self.written(), self._path
        if not edits:
            self.said.say("Write an edit first, such as merge 3 7.", "bad")
            return

        def then(found: tuple[list[Path], list[Exception]] | None, error: Exception | None) -> None:
            started, refused = found or ([], [error])
            if refused:
                self.said.say(sentence_of(refused[0]), "bad")
                return
            names = ",".join(path.name for path in (parent, *started))
            link = f'<a href="compare?{urlencode({"runs": names})}">Compare both</a>'
            self.said.param.update(
                value=f'<p role="status">Started {escape(started[0].name)}. {link}</p>',
                visible=True,
            )
            self.edits.param.update(value="", value_input="")

        work = partial(branches, [parent], lambda run: run.branch(*edits))
        in_background(self._document, work, then)
