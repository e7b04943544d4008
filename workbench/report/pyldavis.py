"""Preparation of runs for pyLDAvis."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np

from workbench.errors import DISTRIBUTION, shown
from workbench.report.export import pyldavis_arguments
from workbench.report.files import ReportError
from workbench.report.gathering import AnyRun, gather

if TYPE_CHECKING:
    from pyLDAvis import PreparedData


def to_pyldavis(run: AnyRun, store: str | os.PathLike | None = None, **settings) -> PreparedData:
    """Return the result of ``pyLDAvis.prepare`` for the last snapshot; show it by ``pyLDAvis.display`` or ``save_html``.

    Parameters
    ----------
    run, store
        `Run`, path, name in ``store``, or the Dataset of a run of a topic model, finished or not.
    **settings
        Of ``pyLDAvis.prepare``, as ``R=20``, ``mds="tsne"`` or ``sort_topics=False``; its defaults except ``n_jobs=1``.

    Raises
    ------
    ReportError, MeasureError, StoreError
        No pyLDAvis (the extra ``pyldavis`` has it), several runs, a run without topics or with fewer than two; a setting that
        pyLDAvis refuses.

    Sievert & Shirley (2014).
    """
    try:
        import pyLDAvis
    except ImportError as error:
        message = f"pyLDAvis cannot be imported ({shown(error)}); pip install '{DISTRIBUTION}[pyldavis]' adds it"
        raise ReportError(message) from error
    reported = gather(run, store)
    if len(reported) > 1:
        raise ReportError(
            f"pyLDAvis shows one run at a time; got {len(reported)}; give one of them"
        )
    arguments = pyldavis_arguments(reported[0])
    if len(arguments["topic_term_dists"]) < 2:
        raise ReportError("pyLDAvis needs at least two topics; this run has one")
    settings = {"n_jobs": 1} | settings
    try:
        return pyLDAvis.prepare(
            **{name: np.array(values) for name, values in arguments.items()}, **settings
        )
    except (TypeError, ValueError) as error:
        message = f"pyLDAvis cannot show the run ({shown(error)}); check the settings {', '.join(settings)}"
        raise ReportError(message) from error
