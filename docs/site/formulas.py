"""Formulas as MathML, made by docutils when the site is built: no script, no font and no other host in the page."""

from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

logger = logging.getLogger(__name__)


def mathml(node, as_block: bool) -> str:
    """The MathML of a formula; one that docutils does not understand is a warning, which ends the build."""
    try:
        return tex2mathml(node.astext(), as_block)
    except MathError as error:
        logger.warning("formula %r: %s", node.astext(), error, location=node)
        return ""


def visit_inline(writer, node) -> None:
    """Writes a formula within a line."""
    from docutils import nodes

    writer.body.append(mathml(node, False))
    raise nodes.SkipNode


def visit_block(writer, node) -> None:
    """Writes a formula on lines of its own, with its number where it has one."""
    from docutils import nodes

    writer.body.append(writer.starttag(node, "div", CLASS="math notranslate"))
    if node["number"]:
        writer.body.append(f'<span class="eqno">({get_node_equation_number(writer, node)})</span>')
    writer.body.append(mathml(node, True) + "</div>\n")
    raise nodes.SkipNode


def setup(app) -> dict:
    """Registers the renderer under the name that ``html_math_renderer`` takes."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
