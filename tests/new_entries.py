"""A plugin of pytest (``-p new_entries``) that adds an engine, an option of it, and a view; see test_registries."""

from dataclasses import dataclass, replace

import workbench.views
from workbench.engines import ENGINES
from workbench.engines.engine import Engine
from workbench.engines.lda import cvb, cvb0
from workbench.models.options import option
from workbench.views import every
from workbench.views.comparison import draw_ordering
from workbench.views.picture import Picture, View

ENGINE = "cooled-cvb0"


@dataclass(frozen=True)
class Options(cvb.Options):
    """The options of cvb0, and one more."""

    tempering: float = option(1.0, "The temperature of the responsibilities", low=0.1, label="Heat")


def engine(name: str = ENGINE) -> Engine:
    return cvb0.engine(name)._replace(
        when="To see that a new engine is found by all that lists engines.",
        options=Options,
        colour="",  # one of the palette
    )


def draw_again(view: View, shown, **options) -> list[Picture]:
    """The final perplexities, under another name."""
    return [replace(each, name=view.name) for each in draw_ordering(view, shown, **options)]


VIEW = View("ordering-again", "Final perplexities again", every.SCORED, draw_again)
ENGINES[ENGINE] = __name__
every.VIEWS = workbench.views.VIEWS = (*every.VIEWS, VIEW)


def pytest_collection_modifyitems(items) -> None:
    """Leaves of each parametrised test its first case, and those that name what is new."""
    first = {(item.parent.nodeid, item.originalname): item for item in reversed(items)}
    new = (ENGINE, "tempering", VIEW.name)
    kept = {*first.values(), *(item for item in items if any(name in item.name for name in new))}
    items[:] = [item for item in items if item in kept]
