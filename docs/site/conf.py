"""Settings of Sphinx for the site; `build.py` makes the folder that it reads."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import workbench

project = "workbench"
author = "the workbench developers"
copyright = "the workbench developers, BSD-3-Clause"
release = version = workbench.__version__
root_doc = "index"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "formulas"]
exclude_patterns = ["docs/site/**", "workbench/**/*.ipynb", "docs/gallery/make.py"]
# types in docstrings are words, as "name or path", and no references
suppress_warnings = ["ref.python"]

myst_enable_extensions = ["dollarmath", "attrs_inline"]
myst_dmath_allow_digits = myst_dmath_allow_space = False
myst_heading_anchors = 4
# notebooks.py executes them, two at a time, and keeps what came out
nb_execution_mode = "off"
nb_merge_streams = True

default_role = "literal"
autodoc_typehints = "none"  # docstrings name types and shapes
autodoc_member_order = "bysource"
python_maximum_signature_line_length = 100
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = f"workbench {release}"
html_math_renderer = "mathml"
# a summary is read from the page found, which a browser refuses for file://
html_show_search_summary = False
html_copy_source = False
html_static_path = [str(Path(__file__).parent / "static")]
html_css_files = ["site.css"]
html_theme_options = {"navigation_with_keys": True}
pygments_style, pygments_dark_style = "a11y-high-contrast-light", "a11y-high-contrast-dark"


def escape_underscores(app, what, name, value, options, lines: list[str]) -> None:
    """Names that end with _, as scikit-learn's attributes, are no references of reStructuredText; literals are unchanged."""
    for place, line in enumerate(lines):
        parts = re.split(r"(``.*?``|`.*?`)", line)
        parts[::2] = [re.sub(r"(?<=\w)_(?![\w_])", r"\\_", part) for part in parts[::2]]
        lines[place] = "".join(parts)


def setup(app) -> None:
    """Behind napoleon, which makes fields of the sections of a docstring."""
    app.connect("autodoc-process-docstring", escape_underscores, priority=900)
