"""Search in the vocabulary: each word found, with its tokens and the topics that use it."""

from collections.abc import Mapping

import numpy as np
from markupsafe import Markup

from workbench.dashboard.shared.clickable import KEY
from workbench.dashboard.shared.snapshots import Moment, counts_of
from workbench.dashboard.topics.cells import chip
from workbench.measures import topics_of_word, used_topics
from workbench.measures.topics import word_tokens
from workbench.tables import Column, Table, numbers

MOST_WORDS, MOST_TOPICS, LEAST = 40, 6, 0.01
"""Maximum numbers of words listed and of topics shown of a word, and the minimum share of a shown topic."""
COLUMNS = [
    Column("Word", meaning="a click: its topics on the map"),
    *numbers("Tokens", meaning="training tokens"),
    Column("Topics", meaning="p(topic | word): which share of the word's tokens each topic has"),
]


def words_found(moment: Moment, names: Mapping[int, str], query: str) -> tuple[str, str]:
    """Return a sentence on the words that contain a text, ignoring case, and a table of these words.

    First comes the text itself, then words that begin with it, then others; within each group the most frequent first.
    """
    run, wanted = used_topics(counts_of(moment)), query.casefold()
    folded, tokens = [str(word).casefold() for word in run["word"].values], word_tokens(run)
    found = np.array([at for at, word in enumerate(folded) if wanted in word], int)
    near = [2 - (folded[at] == wanted) - folded[at].startswith(wanted) for at in found]
    some = found[np.lexsort((-tokens[found], near))][:MOST_WORDS]
    rows = []
    for at in some.tolist():
        word = str(run["word"].values[at])
        share = topics_of_word(run, word).to_series().sort_values(ascending=False, kind="stable")
        chips = (
            chip(
                topic, f"{topic}{f' · {names[topic]}' if topic in names else ''} {100 * part:.1f} %"
            )
            for topic, part in share[share >= LEAST][:MOST_TOPICS].items()
        )
        rows.append((KEY.format(f"word {word}", "", word), int(tokens[at]), Markup("").join(chips)))
    several = f"{len(found):,} of {len(folded):,} words contain"
    listed = f"; {MOST_WORDS} are shown" if len(found) > MOST_WORDS else ""
    said = f"{several if len(found) != 1 else 'One word contains'} “{query}”{listed}."
    if not rows:
        return f"No word of {moment.path.name} contains “{query}”.", ""
    return said, Table(COLUMNS, rows, f"words that contain {query}").html()
