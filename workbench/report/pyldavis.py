"""Runs prepared for pyLDAvis by its own `prepare`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from workbench.errors import DISTRIBUTION, shown
from workbench.report.export import pyldavis_arguments
from workbench.report.files import ReportError
from workbench.report.gathering import gather

if TYPE_CHECKING:
    from pyLDAvis import PreparedData


def to_pyldavis(run, store=None, **settings) -> PreparedData:
    """What ``pyLDAvis.prepare`` gives of the last snapshot of a run: ``pyLDAvis.display`` shows it, ``save_html`` writes it.

    Parameters
    ----------
    run, store
        `Run`, path, name in ``store``, or the Dataset of a run of a topic model, finished or not.
    **settings
        Of ``pyLDAvis.prepare``, as ``R=20``, ``mds="tsne"`` or ``sort_topics=False``; by default its own, but for ``n_jobs=1``.

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
        said = f"pyLDAvis cannot be imported ({shown(error)}); pip install '{DISTRIBUTION}[pyldavis]' adds it"
        raise ReportError(said) from error
    found = gather(run, store)
    if len(found) > 1:
        raise ReportError(f"pyLDAvis shows one run at a time; {len(found)} came; give one of them")
    arguments = pyldavis_arguments(found[0])
    if len(arguments["topic_term_dists"]) < 2:
        raise ReportError(
            "pyLDAvis lays topics out by their distances, and this run has one; fit it with two or more"
        )
    settings = {"n_jobs": 1} | settings
    try:
        return pyLDAvis.prepare(
            **{name: np.array(values) for name, values in arguments.items()}, **settings
        )
    except (TypeError, ValueError) as error:
        said = f"pyLDAvis cannot show the run ({shown(error)}); see to the settings {', '.join(settings)}"
        raise ReportError(said) from error
