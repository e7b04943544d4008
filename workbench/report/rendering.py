"""Pages of reports: one frame for all, without scripts, for light and dark screens and paper; and figures in them."""

import re
from collections.abc import Iterable
from pathlib import Path

from markupsafe import Markup

from workbench.report.drawing import draw, inline_svg
from workbench.report.findings import without_repeats
from workbench.runs.progress import bar
from workbench.views import Picture
from workbench.views.elements import TWO_COLUMNS

POINTS = 72
"""Points of an inch."""


def render(template: str, **values: object) -> str:
    """Return the page that a template of this folder makes of the values; every text is escaped."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(**values)


def drawn_figures(pictures: Iterable[Picture], progress: bool = False) -> list[dict]:
    """Return name, SVG, title and caption of each picture; a sentence of several captions is in the first alone."""
    pictures = list(pictures)
    captions = without_repeats([picture.caption for picture in pictures])
    return [
        {
            "name": picture.name,
            "svg": Markup(_svg_of(picture)),
            "title": picture.title,
            "caption": caption,
        }
        for picture, caption in zip(
            bar("figures drawn", len(pictures), progress, unit="figure", iterable=pictures),
            captions,
            strict=True,
        )
    ]


def _svg_of(picture: Picture) -> str:
    """Return a picture as SVG for a page, as wide as its share of two columns of a journal."""
    look = picture.legend, picture.height
    plain_svg = draw(picture.panels, 2, ("svg",), *look, width=picture.width)["svg"].decode()
    svg = inline_svg(plain_svg, picture.name, picture.title, picture.hover)
    share = float(re.search(r'viewBox="0 0 ([\d.]+)', svg)[1]) / POINTS / TWO_COLUMNS
    return svg.replace("<svg", f'<svg style="width: max({share:.0%}, min(100%, 24rem))"', 1)
