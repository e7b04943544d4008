"""Infer the hidden nodes of new records under the network of a run, and the probability of their known cells."""

import numpy as np
import xarray as xr

from workbench.engines.bayes_nets.cases import log_evidence_of, posterior
from workbench.models.bayes_nets.bayes_net import BayesNet
from workbench.records import DataError, Records
from workbench.runs.spec import RunSpec, SpecError

SMALLEST = 1e-300
"""Replaces an estimated probability of 0 in logarithms."""


def infer_records(run: xr.Dataset, records: Records, n_threads: int = 1) -> xr.Dataset:
    """Compute the posterior of the hidden nodes of new records, given the known cells and the run's distributions.

    Parameters
    ----------
    run : Dataset of a run of a Bayesian network
    records : Records
        Levels are matched by name. A field of the run that the records lack counts as missing in all of them. For a hidden
        Markov model the fields are the positions of a sequence, in order. If your own network has numbered states, level i is
        state i.
    n_threads : int
        Number of threads; it does not change the result.

    Returns
    -------
    xarray.Dataset
        ``posterior`` (record, node, state): probability of each state of each hidden node, NaN beyond the states of a node;
        ``state_name`` (node, state), empty there; ``log_probability`` (record) of the known cells, in nats;
        ``multiplicity`` (record).

    Raises
    ------
    SpecError, ModelError, DataError
        The run is of another model, or a field or level is unknown to it.
    """
    subject = f"run '{run.attrs.get('name', 'this Dataset')}'"
    if "n_cpt" not in run:
        raise SpecError(
            f"{subject} is of no Bayesian network, so there are no hidden nodes of records; give documents, or choose a run "
            "of a Bayesian network"
        )
    if run.sizes.get("snapshot", 0) == 0:
        raise SpecError(
            f"{subject} has no snapshot yet, so it has no tables; wait for its first, or resume it"
        )
    spec, n_threads = (
        RunSpec.from_json(run.attrs["spec"]),
        SpecError.whole("threads", n_threads, 1, 1024),
    )
    training_records = _as_in_training(run, spec, records)
    net = spec.parts()[1].for_data(training_records)
    values, logs = net.values(training_records), np.log(np.maximum(_tables(run), SMALLEST))
    hidden = [
        number
        for number, node in enumerate(net.nodes)
        if node.name not in training_records.fields and not node.given
    ]
    probabilities = np.full(
        (
            len(values),
            len(hidden),
            max((net.nodes[number].n_states for number in hidden), default=0),
        ),
        np.nan,
    )
    names = np.full(probabilities.shape[1:], "", object)
    for index, number in enumerate(hidden):
        names[index, : net.nodes[number].n_states] = net.nodes[number].state_names
        probabilities[:, index, : net.nodes[number].n_states] = posterior(
            net, values, number, logs, n_threads
        )
    return xr.Dataset(
        {
            "posterior": (
                ("record", "node", "state"),
                probabilities,
                {"long_name": "probability of each state of a hidden node"},
            ),
            "log_probability": (
                "record",
                log_evidence_of(net, values, logs, n_threads),
                {"long_name": "log probability of the known cells", "units": "nats"},
            ),
            "multiplicity": (
                "record",
                training_records.multiplicities,
                {"long_name": "how often the record came"},
            ),
        },
        {
            "node": [net.nodes[number].name for number in hidden],
            "state": np.arange(probabilities.shape[2]),
            "state_name": (
                ("node", "state"),
                names,
                {"long_name": "name of the state of the node"},
            ),
        },
        {"run": spec.name, "engine": spec.engine, "records": records.name},
    )


def _tables(run: xr.Dataset) -> np.ndarray:
    """Return the estimates (parameter,) of all cells of the conditional probability tables of a Bayesian network.

    They are posterior means, or ratios of counts for expectation maximisation.
    """
    if "log_likelihood" not in run:
        return run["cpt"].values
    counts, rows = run["n_cpt"].isel(snapshot=-1).values, run["row"].values
    total = np.bincount(rows, counts)[rows]
    return np.divide(counts, total, out=run["cpt"].values.copy(), where=total > 0)


def _as_in_training(run: xr.Dataset, spec: RunSpec, records: Records) -> Records:
    """Return the records with the fields and levels of the run's training records; unchanged for a user's own network."""
    model = spec.parts()[1]
    if not isinstance(model, BayesNet) or not model.is_shipped:
        return records
    values_by_table = run["value"].groupby("table")
    if model.network == "hmm":
        levels = dict.fromkeys(
            records.fields, tuple(dict.fromkeys(values_by_table["emission"].values.tolist()))
        )
    else:
        tables = [name for name in dict.fromkeys(run["table"].values.tolist()) if name != "class"]
        levels = {
            name: tuple(dict.fromkeys(values_by_table[name].values.tolist())) for name in tables
        }
    if unknown := [field for field in records.fields if field not in levels]:
        raise DataError(
            f"run '{spec.name}' has no field {unknown[0]!r}; there are {', '.join(levels)}; leave the field out"
        )
    values = np.full((records.n_distinct, len(levels)), -1)
    for column, (field, names) in enumerate(levels.items()):
        if field in records.fields:
            values[:, column] = _renumber(records, field, names, spec.name)
    return Records(
        values, records.multiplicities, tuple(levels), tuple(levels.values()), records.name
    )


def _renumber(records: Records, field: str, names: tuple[str, ...], run: str) -> np.ndarray:
    """Return a field's values (record,) as the run numbers the levels; raise DataError for a level that the run lacks.

    names : the levels of the field in the run
    """
    column = records.values[:, records.fields.index(field)]
    levels = records.levels[records.fields.index(field)]
    new_numbers = np.array([*(names.index(name) if name in names else -2 for name in levels), -1])
    numbers = new_numbers[column]
    if np.any(numbers == -2):
        unknown_level = levels[column[numbers == -2][0]]
        raise DataError(
            f"run '{run}' does not know the level {unknown_level!r} of {field!r}; there are {', '.join(names[:10])}; "
            "leave it out, or make the cell missing"
        )
    return numbers
