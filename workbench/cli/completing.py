"""Completion in a shell: names of corpora, engines, runs, formats and figures.

The completion of a parameter is chosen by its metavar (CORPUS, RUN …), else by its name, so new commands need none of
their own. Slow imports are avoided, because the shell waits.
"""

from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import get_type_hints

import typer


def _beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    """Return the names that begin with the incomplete word."""
    return [name for name in names if name.startswith(incomplete)]


def _lists(incomplete: str, names: Iterable[str]) -> list[str]:
    """Return completions of a comma-separated list: of its last name, without names that the list already has."""
    before, comma, last = incomplete.rpartition(",")
    return [
        before + comma + name for name in _beginning(last, names) if name not in before.split(",")
    ]


def _names_in(
    module: str, names: str, complete: Callable = _beginning, more: tuple = ()
) -> Callable:
    """Return a function that completes names from an attribute or function of a module, which it imports when called."""

    def completions(incomplete: str) -> list[str]:
        value = getattr(import_module(module), names)
        return complete(incomplete, [*(value() if callable(value) else value), *more])

    return completions


def figure_formats(incomplete: str) -> list[str]:
    return _lists(incomplete, ("svg", "pdf", "png"))


def _runs(context: typer.Context, incomplete: str) -> list[str]:
    """Complete the name of a run in the store given earlier on the command line, or in the default store."""
    from workbench.runs.store.places import default_store, is_run

    store = Path(context.params.get("store") or default_store())
    earlier = context.params.get("run") or ()
    names = sorted(path.name for path in store.glob("*") if is_run(path))
    return _beginning(
        incomplete, [name for name in names if isinstance(earlier, str) or name not in earlier]
    )


VALUES = {
    **dict.fromkeys(("CORPUS", "NAME"), _names_in("workbench.runs.loading", "named_sets")),
    **dict.fromkeys(("RUN", "RUN…"), _runs),
    "FIGURE": _names_in("workbench.papers.figures", "names", more=("all",)),
    "engine": _names_in("workbench.engines", "ENGINES"),
    "engines": _names_in("workbench.engines", "ENGINES", _lists),
    "model": _names_in("workbench.models.networks.shipped", "SHIPPED"),
}


def complete_values(app: typer.Typer, command_class: type) -> None:
    """Make each command of an application a ``command_class``, and set the completion of every parameter."""
    for command in app.registered_commands:
        command.cls = command_class
        hints = get_type_hints(command.callback, include_extras=True)
        for name, hint in hints.items():
            for metadata in getattr(hint, "__metadata__", ()):
                metadata.autocompletion = metadata.autocompletion or VALUES.get(
                    metadata.metavar or name
                )
        # typer would read the annotations, which are text, once more
        command.callback.__annotations__ = hints
    for group in app.registered_groups:
        complete_values(group.typer_instance, command_class)
