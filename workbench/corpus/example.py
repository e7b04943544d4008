"""A CSV file of simulated news to try the readers, the figures over time and the pages on: what is in it is known."""

import csv
import io
from datetime import date, timedelta
from pathlib import Path

import numpy as np

from workbench.data.drawing import check_whole
from workbench.data.opening import path_of
from workbench.data.saving import encoded, put_files

WORDS = {
    "sport": "match team goal player coach league season score win fans",
    "food": "recipe kitchen salt bread cheese oven dinner",
    "technology": "software data cloud model chip network code startup device",
    "health": "doctor patient vaccine hospital drug trial symptom nurse clinic",
    "money": "bank market stock price tax budget loan",
}
FIRST, DAYS = date(2019, 1, 1), 1800
BREAK, OWN = 0.3, 0.8
"""When health becomes common, as a share of the days; and the share of a document's words that are of its category."""
EMPTY, TWICE = 200, 11
"""Every so many documents there is an empty one; this one has the text of the one before."""


def write_example_csv(path, n_documents: int = 1500, seed: int = 0) -> Path:
    """Write news of five categories with id, date, category, source and text; return the path.

    A document has a day, uniform over 1,800 from 2019 on, and a category and a second theme drawn with weights that change with
    the day: technology rises all the time, health at once after three tenths of it, money falls. Of its 15 to 39 words four in
    five are of the category, uniform over its words, the others of the second theme; the source is web or print by chance.
    Every 200th text is empty, and one stands there twice.

    A number of documents below 20, a seed out of range or a place that cannot be written is a DataError.
    """
    n_documents, random = (
        check_whole("n_documents", n_documents, 20),
        np.random.default_rng(check_whole("seed", seed, 0)),
    )
    themes, rows = [words.split() for words in WORDS.values()], []
    for number in range(n_documents):
        day = int(random.integers(DAYS))
        passed = day / DAYS
        weights = np.array(
            [1.0, 1.0, 0.3 + 2 * passed, 0.3 if passed < BREAK else 2.0, 1.6 - 1.5 * passed]
        )
        main, other = random.choice(len(themes), 2, p=weights / weights.sum())
        own = random.random(random.integers(15, 40)) < OWN
        words = [str(random.choice(themes[main if of_main else other])) for of_main in own]
        text = "" if number % EMPTY == EMPTY // 2 else f"The {' '.join(words)}."
        when = FIRST + timedelta(days=day)
        rows.append(
            [
                f"item {number}",
                when.isoformat(),
                list(WORDS)[main],
                str(random.choice(["web", "print"])),
                text,
            ]
        )
    rows[TWICE][-1] = rows[TWICE - 1][-1]
    content = io.StringIO()
    csv.writer(content, lineterminator="\n").writerows(
        [["id", "date", "category", "source", "text"], *rows]
    )
    path = path_of(path)
    put_files({path: encoded(content.getvalue(), path)})
    return path
