"""The frame of a page: title, theme, style sheets, and how a session begins and ends.

A plain Panel layout with style sheets of our own. Why, and what was measured: docs/decisions/page_shell.md.
"""

import contextvars
import logging
import secrets
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from html import escape
from itertools import count
from pathlib import Path
from weakref import WeakSet

import panel as pn
import param
from bokeh.document import Document
from bokeh.events import ButtonClick, ConnectionLost, DocumentReady
from bokeh.models import Button, CustomJS
from panel.io.resources import BASE_TEMPLATE

from workbench.dashboard.shared.policy import PolicyError, policy
from workbench.dashboard.shared.ui_events import when_drawn
from workbench.runs.request import DATA, PREPROCESSING, request_fields

LOG = logging.getLogger(__name__)
STYLE = Path(__file__).parent / "style"
SCRIPTS = Path(__file__).parent / "scripts"
TICK, MANY_PAGES = 1000, 10
"""Milliseconds between two ticks of a session; with as many pages open twice, and so on, so that clicks are still answered."""
PAGES = {
    "compare": "Compare",
    "sweep": "Sweep",
    "topics": "Topics",
    "oracle": "Oracle",
    "ledger": "Ledger",
}
"""Address → name of each page, in the order of the links."""
LOOK = "· read-only"
"""Added to the subtitle of a read-only page."""
NONCE = secrets.token_hex(16)
"""Placeholder in the page's own scripts, which the server replaces by a nonce in each answer."""
VIEWS: WeakSet = WeakSet()
"""The open pages; the limit on pages and tests count them."""


def read_style(name: str) -> str:
    """Return a style sheet of this folder."""
    return (STYLE / name).read_text(encoding="utf-8")


LAYOUT_CSS, WIDGET_CSS, TEXT_CSS, FIGURE_CSS, LEGEND_CSS, NOTEBOOK_CSS, PICTURE_CSS = map(
    read_style,
    (
        "layout.css",
        "widgets.css",
        "text.css",
        "figure.css",
        "legend.css",
        "notebook.css",
        "picture.css",
    ),
)
NAMES = (SCRIPTS / "names.js").read_text(encoding="utf-8")
STORED_THEME = "const wb = localStorage.getItem('wb-theme'); if (wb) document.documentElement.dataset.wbTheme = wb;"
KEPT_CHOICES = """
const isForm = (path) => /\\/(compare|sweep)$/.test(path)
const keepForm = () => isForm(location.pathname) && sessionStorage.setItem('wb-form', location.search)
addEventListener('pagehide', () => { sessionStorage.setItem(location.pathname, location.search); keepForm() })
addEventListener('click', (event) => {
  const link = event.composedPath().find((part) => part.matches?.('nav[aria-label=pages] a'))
  if (!link || link.pathname === location.pathname) return
  keepForm()
  const choices = new URLSearchParams(sessionStorage.getItem(link.pathname) ?? '')
  const form = isForm(link.pathname) && sessionStorage.getItem('wb-form')
  for (const name of typeof form === 'string' ? CARRIED : []) {
    const value = new URLSearchParams(form).get(name)
    if (value !== null) choices.set(name, value)
    else if (IN_EACH.includes(name)) choices.delete(name)
  }
  link.search = choices
})
"""
"""Script that opens another page with the choices that the tab had there last; a link to the page itself drops them.

Between pages with a form for runs it carries the corpus and its settings: `carried_fields`, of which each form has IN_EACH.
"""
REPAINT = "for (const figure of figures) figure.change.emit();"
ON_READY = (
    f"matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {{ {REPAINT} }});"
)
TOGGLE = f"""
const page = document.documentElement
const system = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'
page.dataset.wbTheme = (page.dataset.wbTheme || system) === 'dark' ? 'light' : 'dark'
localStorage.setItem('wb-theme', page.dataset.wbTheme)
{REPAINT}
"""
LOST = """
if (document.body.dataset.wbLost === undefined) {
  document.body.dataset.wbLost = ''
  const back = () => fetch('favicon.ico', { cache: 'no-store' }).then((answer) => answer.ok, () => false)
  const wait = async () => (await back()) ? location.reload() : setTimeout(wait, 2000)
  setTimeout(wait, 500)
}
"""
"""Script that reports a lost connection, and reloads the page, whose address has the choices, when the server is back."""
COPY_LINK = """
const done = () => { button.label = 'Copied'; setTimeout(() => { button.label = 'Copy link' }, 1500) }
const by_hand = () => {
  const field = document.createElement('textarea')
  field.value = location.href
  document.body.append(field); field.select(); document.execCommand('copy'); field.remove(); done()
}
if (navigator.clipboard) navigator.clipboard.writeText(location.href).then(done, by_hand)
else by_hand()
"""


def column(*components, kind: str, **settings) -> pn.Column:
    """Return the components in a container; layout.css styles it by its ``kind``."""
    return Box(
        *components,
        css_classes=kind.split(),
        stylesheets=[LAYOUT_CSS],
        margin=0,
        **{"sizing_mode": "stretch_width"} | settings,
    )


class Box(pn.Column):
    """A container of components, below one another unless a style sheet arranges them otherwise."""

    html_attributes = param.Dict(default={}, doc="Attributes of its element: role, aria-label.")


class Text(pn.widgets.StaticText):
    """HTML in the style of the page; escape texts by visitors before setting ``value``.

    A change sends only the HTML. `pn.pane.HTML` sends its style sheets with it, in a notebook those of another host.
    """

    disable_math = param.Boolean(default=True, doc="Is $$ shown as it is?")
    html_attributes = param.Dict(default={}, doc="Attributes of its element: role, aria-label.")

    @property
    def object(self) -> str:
        """Return the HTML."""
        return self.value

    @object.setter
    def object(self, html: str) -> None:
        self.value = html

    def say(self, sentence: str, kind: str = "muted") -> None:
        """Show a sentence as a `message`; hide the text if the sentence is empty."""
        self.param.update(value=message(sentence, kind), visible=bool(sentence))


def text(html: str = "", *sheets: str, **settings) -> Text:
    """Return HTML in the style of the page, with further style sheets by name; escape texts by visitors."""
    return Text(value=html, stylesheets=[TEXT_CSS, *map(read_style, sheets)], margin=0, **settings)


def message(sentence: str, kind: str = "muted") -> str:
    """Return a sentence as escaped HTML, which screen readers read when it changes; ``kind``: muted, good or bad."""
    return f'<p class="{kind}" role="status">{escape(sentence)}</p>' if sentence else ""


class NamedGroup(pn.widgets.Widget):
    """A widget that screen readers announce as a group, with the widget's label as its name."""

    html_attributes = param.Dict(default={}, doc="Attributes of its element: role, aria-label.")

    __abstract = True

    def __init__(self, **settings):
        super().__init__(
            html_attributes={"role": "group", "aria-label": settings["label"]}, **settings
        )


class Choice(NamedGroup, pn.widgets.RadioButtonGroup):
    """Buttons of which exactly one is chosen."""


class Toggles(NamedGroup, pn.widgets.CheckButtonGroup):
    """Buttons of which any number is chosen."""


def styled(widget, **settings):
    """Give a widget the style of the page, and return it."""
    widget.param.update(stylesheets=[WIDGET_CSS], margin=0, **settings)
    return widget


def with_label(widget, *components) -> pn.Column:
    """Return a container of the widget's label, the widget, now without a label of its own, and further components."""
    widget.css_classes = ["wb-unlabelled"]
    return column(_label(widget.label), widget, *components, kind="wb-pair", sizing_mode=None)


def in_row(label: str, name: str, *components) -> pn.Column:
    """Return components in a row after a label; ``name``: what screen readers read as the name of the group."""
    return column(
        _label(label),
        *components,
        kind="wb-bar",
        html_attributes={"role": "group", "aria-label": name},
    )


def _label(words: str) -> Text:
    """Return a visible label that screen readers skip, since the component beside it has its own name."""
    return text(
        f'<span class="muted" aria-hidden="true">{escape(words)}</span>', css_classes=["wb-mid"]
    )


def in_form(widget):
    """Return the widget styled as a field of a form, as wide as the form."""
    return styled(widget, sizing_mode="stretch_width", width=None, min_width=0)


def button(name: str, **settings) -> pn.widgets.Button:
    """Return a button in the style of the page."""
    return styled(pn.widgets.Button(label=name, **settings))


def carried_fields() -> tuple[list[str], list[str]]:
    """Return the names of the fields that links between pages carry: those of each form, and those that some forms lack.

    They are the corpus, how it is read and split, and the priors.
    """
    names_of = {
        section: [name for name, field in request_fields().items() if field.section == section]
        for section in (DATA, PREPROCESSING)
    }
    return ["corpus", "path", "holdout", *names_of[DATA]], [
        "alpha",
        "beta",
        *names_of[PREPROCESSING],
    ]


@lru_cache
def _template():
    """Return the base page of Panel with our style sheet, theme and `names.js`, which take effect before it is drawn.

    All its scripts have a nonce. Its only text by visitors is the title, which is escaped.
    """
    script = f'<script nonce="{NONCE}"'
    in_each, others = carried_fields()
    choices = KEPT_CHOICES.replace("CARRIED", str(in_each + others)).replace(
        "IN_EACH", str(in_each)
    )
    blocks = "".join(
        f"{{% block {name} %}}{{{{ super() | replace('<script', '{script}') }}}}{{% endblock %}}"
        for name in ("js_resources", "inner_body")
    )
    return BASE_TEMPLATE.environment.from_string(
        f"{{% extends 'base.html' %}}{blocks}{{% block postamble %}}"
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{read_style('page.css')}</style>{script}>{STORED_THEME}{choices}</script>"
        f"{script}>{NAMES} name_controls(Bokeh.Models)</script>{{% endblock %}}"
    )


def lay_out(view, page_name: str, subtitle: str, *components, figures: Sequence = ()) -> pn.Column:
    """Return the page with its header (links to `PAGES`, copy link, theme), after setting up the session of ``view``.

    here : address of the page
    figures : figures that are painted anew in another theme
    """
    begin_session(view, page_name, figures)
    theme = _browser_button("Light / dark", TOGGLE, figures=list(figures))
    link = _browser_button("Copy link", COPY_LINK)
    links = "".join(
        f'<a href="{address}"{" aria-current=page" if address == page_name else ""}>{name}</a>'
        for address, name in PAGES.items()
    )
    subtitle += f" {LOOK}" * policy().read_only
    html = (
        f'<h1>workbench <small>{escape(subtitle)}</small></h1><nav aria-label="pages">{links}</nav>'
    )
    heading = text(html, "head.css", css_classes=["wb-grow"])
    return column(
        column(heading, link, theme, kind="wb-head", html_attributes={"role": "banner"}),
        column(*components, kind="wb-body", html_attributes={"role": "main"}),
        kind="wb-page",
    )


def page_or_sentence(make: Callable[[], pn.Column]) -> pn.Column:
    """Return the page that ``make`` returns, or a page with a sentence if too many pages are open or ``make`` fails.

    Panel itself would show the traceback to the visitor.
    """
    try:
        policy().limits.check("pages", len(VIEWS) + 1)
        return make()
    except PolicyError as error:
        sentence = f"{str(error).capitalize()}."
    except Exception:
        LOG.exception("a page could not be made")
        sentence = "This page could not be made; the log of its server says why."
    if pn.state.curdoc is not None:
        pn.state.curdoc.template = _template()
    return column(text(f"<p>{escape(sentence)}</p>"), kind="wb-page")


def _browser_button(label: str, code: str, **models) -> pn.pane.Bokeh:
    """Return a button whose click runs the JavaScript ``code`` in the browser, with the button as ``button``.

    A Bokeh button: Panel's `js_on_click` enters the button into a registry that never lets go of it.
    """
    new_button = Button(label=label, stylesheets=[WIDGET_CSS], margin=0)
    new_button.js_on_event(ButtonClick, CustomJS(args=models | {"button": new_button}, code=code))
    return pn.pane.Bokeh(new_button, margin=0)


@cache
def start_busy_cleanup() -> None:
    """Start Panel's clean-up task in an empty context, by changing a widget that no page shows.

    Panel starts this task once, at the first change of a widget; its context would keep the first visitor's session for ever.
    """
    context = contextvars.Context()
    model = context.run(pn.widgets.Toggle().get_root, Document())
    context.run(setattr, model, "active", True)


def begin_session(view, page_name: str, figures: Sequence) -> None:
    """Set title and theme, and call ``view.tick()`` every second once the page is drawn, less often if many pages are open.

    Nothing of this outlives the session. Without a session (an import, a test) nothing happens.
    """
    document = pn.state.curdoc
    if document is None or document.session_context is None:
        return
    VIEWS.add(view)
    start_busy_cleanup()
    document.title, document.template = f"workbench · {PAGES[page_name]}", _template()
    document.config.reconnect_session = False  # a restarted server does not know the old session
    document.js_on_event(DocumentReady, CustomJS(args={"figures": list(figures)}, code=ON_READY))
    document.js_on_event(ConnectionLost, CustomJS(code=LOST))

    turns = count(1)

    def tick() -> None:
        if next(turns) % (1 + len(VIEWS) // MANY_PAGES) == 0:
            view.tick()

    def on_drawn() -> None:
        view.tick()
        document.add_periodic_callback(tick, TICK)  # Bokeh removes the callback with the session

    when_drawn(document, on_drawn)
