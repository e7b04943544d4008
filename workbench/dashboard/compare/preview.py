"""The preview card of a corpus before runs are started: sizes, warnings, first documents and words."""

from collections.abc import Callable
from html import escape

import numpy as np
from markupsafe import Markup

from workbench.corpus import AnyCorpus, Corpus
from workbench.corpus.quality import DROP, describe_quality, quality_of
from workbench.corpus.texts.counting import FOUND
from workbench.dashboard.shared.clickable import KEY, Clickable
from workbench.dashboard.shared.policy import policy
from workbench.dashboard.shared.shell import column, message, read_style
from workbench.records import Records
from workbench.tables import Table, numbers, texts
from workbench.views.elements import short_text

MOST_DOCUMENTS, MOST_WORDS = 10, 40
MOST_LETTERS, MOST_NAME = 240, 60
"""Letters shown of a text, and of a title, label, word or column name."""

RULES = {
    "stop_words": "Stop words",
    "min_letters": "Words of fewer than {} letters",
    "min_documents": "In fewer than {} documents",
    "max_share": "In more than {:.0%} of all documents",
}
"""Option → description of what it leaves out, with its value."""


class Preview:
    """The preview card; hidden until it has something to show.

    ``clicked(option, value)`` is called for a click that leaves out a word or the repeated texts.
    """

    def __init__(self, on_click: Callable[[str, str], None]):
        self.html = Clickable(on_click, stylesheets=[read_style("preview.css")])
        self.card = column(self.html, kind="wb-card preview", visible=False)

    def show(
        self,
        data: AnyCorpus | Records,
        losses: dict | None = None,
        reading_options: dict | None = None,
    ) -> None:
        """Show a corpus or records; see `preview_html`."""
        self.html.object, self.card.visible = preview_html(data, losses, reading_options), True

    def clear(self) -> None:
        """Show nothing."""
        self.html.object, self.card.visible = "", False


def preview_html(
    data: AnyCorpus | Records, losses: dict | None = None, reading_options: dict | None = None
) -> str:
    """Return the preview as HTML; ``losses``: what texts lost (see `counting.DROPPED`)."""
    sizes = " · ".join(f"{n:,} {noun}" for noun, n in data.describe().items())
    html_parts = [f"<h2>Preview of {_short_text(data.name)}</h2>", message(f"{sizes}.")]
    if isinstance(data, AnyCorpus):
        findings, quality = (data.reading or {}).get("found", {}), quality_of(data)
        html_parts += [
            message(policy().for_visitors(f"{sentence}."), "bad")
            for sentence in (
                *filter(None, [findings.get("bad_dates")]),
                *describe_quality(data, quality),
            )
        ]
        if losses is not None and quality is not None and len(quality.repeated):
            html_parts.append(KEY.format(f"repeated {DROP}", "", "Leave repeated texts out"))
        if data.table is not None:
            names = ", ".join(short_text(name, MOST_NAME) for name in data.table.metadata) or "none"
            introduction = (
                "The texts are kept; further columns: "
                if data.table.texts is not None
                else "Columns that are kept: "
            )
            html_parts.append(message(f"{introduction}{names}."))
        html_parts += [
            _losses_html(data, losses or {}, reading_options or {}),
            _documents_html(data),
            _words_html(data, FOUND in (losses or {})),
        ]
    return "".join(html_parts)


def _losses_html(corpus: Corpus, losses: dict[str, list[int]], reading_options: dict) -> str:
    """Return an HTML table of the words and tokens that stop words, and each rule in use, left out of the texts."""
    if FOUND not in losses:
        return ""
    words, tokens = losses[FOUND]
    ngrams = ", n-grams included" if reading_options.get("ngrams", 1) > 1 else ""
    sentence = (
        f"The texts have {words:,} words with {tokens:,} tokens; {corpus.n_words:,} words with {corpus.n_tokens:,} tokens "
        f"are kept{ngrams}."
    )
    rows = [
        (rule.format(reading_options.get(name)), *loss, loss[1] / max(1, tokens))
        for name, rule in RULES.items()
        if (loss := losses.get(name))
        and (any(loss) or name in reading_options or name == "stop_words")
    ]
    columns = [
        *texts("Left out"),
        *numbers("Words", "Tokens"),
        *numbers("of all", kind="share", digits=1),
    ]
    return message(sentence) + Table(columns, rows, "left out").html()


def _documents_html(corpus: AnyCorpus) -> str:
    """Return an HTML table of the first documents."""
    documents = None if corpus.table is None else corpus.table.texts
    values_of_columns = {
        name: values
        for name, values in (("Label", corpus.labels), ("Time", corpus.times))
        if values is not None
    }
    columns = [*texts("Document", *values_of_columns), *numbers("Tokens")]
    columns += texts("Text") if documents is not None else []
    rows = []
    for index, title in enumerate(corpus.titles[:MOST_DOCUMENTS]):
        cells = (
            "" if values[index] is None else values[index] for values in values_of_columns.values()
        )
        row = [short_text(str(cell), MOST_NAME) for cell in (title, *cells)]
        row.append(int(corpus.document_tokens[index]))
        if documents is not None:
            start = " ".join(documents[index][: 4 * MOST_LETTERS].split())
            row.append(short_text(start, MOST_LETTERS) or Markup("<em>empty</em>"))
        rows.append(row)
    return f'<div class="scroll">{Table(columns, rows, "first documents").html()}</div>'


def _words_html(corpus: AnyCorpus, is_counted: bool) -> str:
    """Return HTML with the most frequent words and their tokens; if texts were counted, a click leaves a word out."""

    def shown(word: str) -> str:
        key = KEY.format(
            f"more_stop_words {word}", f"leave out {word}", short_text(word, MOST_NAME)
        )
        return key if is_counted else _short_text(word)

    totals = corpus.word_tokens
    order = np.argsort(-totals, kind="stable")[:MOST_WORDS]
    words = " ".join(
        f"{shown(corpus.vocabulary[w])}&nbsp;<small>{totals[w]:,}</small>"
        for w in order
        if totals[w]
    )
    return f"<p>Most frequent words{' (a click leaves one out)' * is_counted}: {words}</p>"


def _short_text(value) -> str:
    return escape(short_text(str(value), MOST_NAME))
