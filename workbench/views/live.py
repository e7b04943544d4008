"""Interactive pictures on pages and in notebooks: hover texts, zoom, choosing a topic, and the controls of the view."""

from collections.abc import Callable, Mapping, Sequence
from html import escape
from threading import Lock

import panel as pn
import param
from bokeh.document import Document
from bokeh.models import AllIndices, ColumnDataSource, GlyphRenderer, TapTool, UnionRenderers
from bokeh.plotting import figure

from workbench.corpus import Corpus
from workbench.measures import MeasureError, each_run
from workbench.measures.selection import Runs
from workbench.views.elements import SEARCH, TOPIC, arrangement, holoviews
from workbench.views.every import VIEWS, view_named
from workbench.views.look import INCH, bokeh_panel
from workbench.views.picture import Choice, Control, Picture, RunsToDraw, Slider

WRAPPED = {"flex-wrap": "wrap", "overflow-x": "auto", "gap": "4px 24px"}
LEAST_OF_WIDTH = 0.75
"""Share of its width that a picture whose names need it keeps on a narrow page."""
NONE = -1
"""Stands for no topic."""
DRAWING = Lock()
"""Held while HoloViews draws, since it switches Bokeh's validation off and on for the whole process."""


def figures_of(picture: Picture, columns: int = 2) -> list[figure]:
    """Return the panels of a picture as figures of Bokeh for one session; can be called in any thread."""
    across, width, height = arrangement(len(picture.panels), columns, picture.height, picture.width)
    hover = {kind: iter(texts) for kind, texts in picture.hover.items()}
    with DRAWING:
        panels = [bokeh_panel(panel, (width, height), hover) for panel in picture.panels]
        # a document is set in this mode alone: else that of the session, or of the process, would keep each plot
        renderer = holoviews().renderer("bokeh").instance(mode="server")
        plots = [renderer.get_plot(panel, doc=Document()).state for panel in panels]
    for number, plot in enumerate(plots):
        every, union = AllIndices(), UnionRenderers()
        plot.html_attributes = {"role": "figure", "aria-label": picture.title}
        least = round(LEAST_OF_WIDTH * INCH * picture.width) if picture.width else 280
        plot.min_width = min(plot.max_width or least, least)
        plot.css_classes = ["fixed"] if plot.frame_width else []
        for glyphs in plot.select(GlyphRenderer):  # what is never selected needs no other looks
            if TOPIC not in glyphs.data_source.data:
                glyphs.update(selection_glyph=None, nonselection_glyph=None, hover_glyph=None)
                glyphs.update(muted_glyph=glyphs.muted_glyph if plot.legend else None)
            if (
                SEARCH in glyphs.data_source.data
            ):  # several elements of a chosen topic are tapped in turn
                plot.select(TapTool).mode = "replace"
            # these two hold nothing, so that one of each does for all
            glyphs.view.filter, glyphs.data_source.selection_policy = every, union
        plot.name = f"{picture.name}-{number}"
    return plots


def with_topics(plot: figure) -> list[ColumnDataSource]:
    """Return the data sources of a figure whose points stand for topics."""
    return [
        each.data_source for each in plot.select(GlyphRenderer) if TOPIC in each.data_source.data
    ]


class PictureCard(pn.viewable.Viewer):
    """A picture of a view, shown interactively: the same that `workbench.report.figures` writes to files.

    ``card = PictureCard(changed)`` is made once; a page lays out ``card``, or ``card.bar``, ``card.figure`` and
    ``card.caption`` separately. ``card.draw(picture, view.controls(run))`` shows a picture, and does nothing for the present
    one. ``changed()`` is called when a control was set: draw again, with ``**card.options``. A tap on an element with the
    dimension `TOPIC` sets ``card.chosen``, and elements of the chosen topic are emphasised; one with the dimension `SEARCH` too
    sets ``card.search``, also to what it was. `figures_of` can make the figures
    in a thread, to be passed to `draw`. ``style_widget`` gives widgets the style of a page.
    """

    chosen = param.Integer(default=NONE, doc="Number of the topic that is chosen; -1: none.")
    search = param.String(doc="The search for documents whose element was tapped last.")

    def __init__(
        self,
        on_change: Callable[[], None] = lambda: None,
        style_widget: Callable = lambda widget, **settings: widget,
    ):
        super().__init__()
        self._on_change, self._style_widget = on_change, style_widget
        self.picture: Picture | None = None
        self._widgets: dict[Control, pn.widgets.Widget] = {}
        self._sources: list[ColumnDataSource] = []
        self.pending = self._marking = False
        self.play = style_widget(pn.widgets.Toggle(label="Play", width=60))
        self.bar, self.figure = (
            pn.Row(sizing_mode="stretch_width", margin=0, styles=WRAPPED) for _ in range(2)
        )
        self.caption = pn.widgets.StaticText(sizing_mode="stretch_width")

    def __panel__(self):
        return pn.Column(self.bar, self.figure, self.caption, sizing_mode="stretch_width", margin=0)

    @property
    def options(self) -> dict[str, object]:
        """Return option → value that is chosen in the view's controls."""
        return {
            each.option: tuple(widget.value) if isinstance(each, Choice) else widget.value
            for each, widget in self._widgets.items()
        }

    def draw(
        self,
        picture: Picture | None,
        controls: Sequence[Control] = (),
        figures: list[figure] | None = None,
    ) -> None:
        """Show a picture with its controls; show nothing if ``picture`` is None."""
        if picture is self.picture:
            return
        self.picture = picture
        if picture is not None:
            self.offer(controls)
        new_figures = (figures or figures_of(picture)) if picture else []
        self._sources = [source for each in new_figures for source in with_topics(each)]
        for source in self._sources:
            self._listen(source)
        self._mark()
        self.figure[:] = [
            pn.pane.Bokeh(each, sizing_mode="stretch_width", margin=0) for each in new_figures
        ]
        self.caption.value = escape(picture.caption).replace("$$", "$\u200b$") if picture else ""

    @param.depends("chosen", watch=True)
    def _mark(self) -> None:
        """Emphasise the elements of the chosen topic."""
        self._marking = True
        for source in self._sources:
            topics = enumerate(source.data[TOPIC])
            source.selected.indices = [index for index, topic in topics if topic == self.chosen]
        self._marking = False

    def tick(self) -> None:
        """Move the slider one step if it plays and the last step is drawn."""
        for each, widget in self._widgets.items():
            playing = isinstance(each, Slider) and each.plays and self.play.value
            if playing and not self.pending:
                next_value = widget.value + each.step
                widget.value = each.low if next_value > each.high + 1e-9 else next_value

    def offer(self, controls: Sequence[Control]) -> dict[str, pn.widgets.Widget]:
        """Show a widget for each control, and return option → widget; widgets already shown keep their values."""
        if list(controls) != list(self._widgets):
            self._widgets = {
                each: self._widgets.get(each) or self._widget(each) for each in controls
            }
            plays = any(isinstance(each, Slider) and each.plays for each in controls)
            self.bar[:] = [*self._widgets.values(), *([self.play] if plays else [])]
        return {each.option: widget for each, widget in self._widgets.items()}

    def _widget(self, control: Control) -> pn.widgets.Widget:
        if isinstance(control, Slider):
            is_whole = float(control.low).is_integer() and float(control.step).is_integer()
            widget = pn.widgets.FloatSlider(
                label=control.label,
                start=control.low,
                end=control.high,
                step=control.step,
                value=control.value,
                format="0" if is_whole else "0[.]00",
                width=240,
            )
        elif isinstance(control, Choice):
            widget = pn.widgets.MultiChoice(
                label=control.label,
                # which the browser takes for HTML
                options={escape(text): value for text, value in dict(control.choices).items()},
                placeholder=control.nothing,
                width=330,
            )
        else:
            widget = pn.widgets.Select(
                label=control.label, options=list(control.choices), value=control.value, width=200
            )
        widget.param.watch(lambda event: self._on_change(), "value")
        return self._style_widget(widget)

    def _listen(self, source: ColumnDataSource) -> None:
        """Choose the topic that is tapped; a tap beside all of them chooses none."""

        def selected(attr: str, old: list[int], new: list[int]) -> None:
            if not self._marking and (
                new or not any(each.selected.indices for each in self._sources)
            ):
                self.chosen = int(source.data[TOPIC][new[0]]) if new else NONE
                if new and SEARCH in source.data:
                    self.search = str(source.data[SEARCH][new[0]])
                self._mark()  # also where the topic was chosen before

        source.selected.on_change("indices", selected)


def show(
    runs: Runs,
    view: str,
    columns: int = 2,
    corpora: Mapping[str, Corpus] | None = None,
    **options,
) -> pn.viewable.Viewer:
    """Return an interactive view of runs, to be the last line of a notebook cell, with the controls of the view.

    ``view`` is a name of `workbench.views.VIEWS`, such as "topic-map"; ``runs``, ``columns`` and ``corpora`` as for
    `workbench.views.pictures`, and ``options`` those of the view.
    """
    MeasureError.one_of("view", view, [each.name for each in VIEWS])
    chosen_view, selection = view_named(view), RunsToDraw(each_run(runs), columns, corpora or {})
    controls = next(
        (chosen_view.controls(run) for run in selection.runs if chosen_view.fits(run)), ()
    )
    cards: list[PictureCard] = []

    def draw() -> None:
        picked_options = cards[0].options if cards else {}
        pictures = chosen_view.pictures(selection, **options | picked_options)
        cards.extend(PictureCard(draw) for _ in pictures[len(cards) :])
        for card, picture in zip(cards, pictures, strict=True):
            card.draw(picture, controls if card is cards[0] else ())

    draw()
    if not cards:
        raise MeasureError(
            f"the view {view!r} finds nothing to draw in these runs; it needs {' or '.join(chosen_view.needs)}"
        )
    for card in cards:
        card.play.visible = False  # nothing calls `tick` here
    pn.extension(inline=True)
    return pn.Column(*cards, sizing_mode="stretch_width")
