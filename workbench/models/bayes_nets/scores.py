"""Scores of held-out records: log likelihoods per cell and per record."""

import numpy as np

from workbench.models.model import LOG_LIKELIHOOD, Predicted, Scores
from workbench.models.variables import Variable

OF_RECORDS = Variable(
    "test_log_likelihood_record",
    ("iteration",),
    "nats",
    "mean log probability of all held-out cells of a record together, over the records that have one",
    better="higher",
)


def log_likelihoods(train, test, predicted: Predicted) -> dict[str, float]:
    """Return the log likelihood per held-out cell, and per record with one, weighted by the multiplicity of records.

    That of a record is the sum over its cells, each given the cells in training; where the engine samples, the logarithm of the
    mean over iterations of their product. Of whole records it is log p(record). NaN where nothing is held out.
    """
    n_records = test.multiplicities[np.unique(test.groups)].sum()
    if not n_records:
        return {LOG_LIKELIHOOD.name: float("nan"), OF_RECORDS.name: float("nan")}
    with np.errstate(divide="ignore"):
        of_cells = float(test.weights @ np.log(predicted.probability))
    return {
        LOG_LIKELIHOOD.name: of_cells / test.n_items,
        OF_RECORDS.name: float(predicted.log_of_groups.sum() / n_records),
    }


LOG_LIKELIHOODS = Scores((LOG_LIKELIHOOD, OF_RECORDS), log_likelihoods)
