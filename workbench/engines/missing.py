"""Engines of modules outside the package, and a placeholder for those that are not installed."""

import re
from dataclasses import dataclass, field
from importlib import import_module

from workbench.corpus import Corpus
from workbench.engines.engine import NOT_INSTALLED, Engine, NoOptions, Options
from workbench.models.model import Model
from workbench.models.options import OptionError

WRITER = "open it with the version that wrote it"
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True)
class MissingModel(Model):
    """The model of a run whose engine is not installed; only its stored settings are known."""

    stored: dict = field(default_factory=dict)

    def settings(self) -> dict:
        """Return the stored settings of the model."""
        return self.stored

    def dims(self, data=None) -> dict[str, int]:
        """Return dimension → length of a corpus; {} for other data."""
        return super().dims(data if isinstance(data, Corpus) else None)

    def coords(self, data) -> dict[str, tuple]:
        """Return the coordinates of a corpus, as `Model` does; {} for other data."""
        return super().coords(data) if isinstance(data, Corpus) else {}

    def describe(self) -> list[tuple[str, str]]:
        """Return a (label, text) pair for captions, which says that the engine is not installed."""
        return [("model", "that of an engine which is not installed")]

    def recorded(self, options: Options) -> tuple:
        """Return no variables, since a stored run describes its own arrays."""
        return ()


def import_engine(name: str, module: str) -> Engine:
    """Return the engine of a module outside the package.

    Raises
    ------
    OptionError
        The module cannot be imported, or has no such engine.
    """
    if not NAME.fullmatch(name):
        raise OptionError(
            f"the name of an engine is small letters and digits with hyphens between, as my-gibbs; got {name!r}"
        )
    if not module:
        raise OptionError(
            f"engine '{name}' of the run is not in this version of workbench; {WRITER}"
        )
    try:
        engine = import_module(module).engine(name)
    except ImportError as error:
        package = module.partition(".")[0]
        raise OptionError(
            f"engine '{name}' is in the module {module}, which cannot be imported ({error}); install the package "
            f"that has it ({package}), or put its folder on PYTHONPATH"
        ) from error
    except Exception as error:  # whatever a module of somebody else raises
        raise OptionError(
            f"engine '{name}' of the module {module} fails ({error}); mend the module, or uninstall its package"
        ) from error
    if not isinstance(engine, Engine) or engine.name != name:
        raise OptionError(f"{module}.engine('{name}') must return an Engine of that name")
    return engine


def import_or_stand_in(name: str, module: str) -> Engine:
    """Return the engine of a module outside the package, or `stand_in` if it cannot be imported."""
    try:
        return import_engine(name, module)
    except OptionError as error:
        return stand_in(name, error)


def stand_in(name: str, error: OptionError) -> Engine:
    """Return a placeholder engine: all its functions raise ``error``, and its title is the error message."""

    def refuse(*_):
        raise error

    return Engine(
        name=name,
        title=str(error),
        kind=NOT_INSTALLED,
        source="",
        model=MissingModel,
        options=NoOptions,
        state=tuple,
        watches=(),
        samples=lambda data, options: False,
        init=refuse,
        step=refuse,
        watch=refuse,
        counts=refuse,
        predict=refuse,
        fold_in=refuse,
        learnt=refuse,
    )
