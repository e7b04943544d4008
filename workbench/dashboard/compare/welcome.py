"""The card that a visitor finds while the store has no run, with three ways to begin."""

from collections.abc import Callable
from html import escape
from pathlib import Path

import panel as pn

from workbench.corpus.catalog.named import DEFAULT
from workbench.dashboard.compare.fields import corpora
from workbench.dashboard.shared.policy import policy
from workbench.dashboard.shared.shell import button, column, text
from workbench.runs.loading import named_set
from workbench.runs.request import FILE
from workbench.runs.settings import DEFAULT_ENGINES


def welcome_card(store: Path, on_example: Callable, on_file: Callable) -> pn.Column:
    """Return the card, hidden; ``on_example`` and ``on_file`` are called at clicks on its buttons.

    A way that a visitor may not take is left out: a file of one's own, or a command for this machine.
    """
    example, own_file = button("Run the example", color="primary"), button("Use a file of my own")
    example.on_click(lambda event: on_example())
    own_file.on_click(lambda event: on_file())
    engines = ", ".join(DEFAULT_ENGINES)
    ways = [_way(example, f"{engines} on the {named_set(DEFAULT).title}, side by side.")]
    if FILE in corpora():
        ways.append(
            _way(
                own_file,
                "Texts in a table, or counts of words; the form below asks how to read it.",
            )
        )
    if not policy().others:
        html = (
            "Runs of another folder: end this server, and start <code>workbench serve --store FOLDER</code>. A run from a "
            f"terminal appears here: <code>workbench compare {DEFAULT} --store {escape(str(store))}</code>"
        )
        ways.append(text(f'<p class="muted">{html}</p>'))
    return column(
        text("<h2>Ways to begin</h2>"),
        *ways,
        kind="wb-card welcome",
        visible=False,
    )


def _way(choice: pn.widgets.Button, sentence: str) -> pn.Column:
    """Return a button and, beside it, what it does."""
    return column(
        choice,
        text(f'<p class="muted">{escape(sentence)}</p>', css_classes=["wb-grow"]),
        kind="wb-bar",
    )
