"""New records under the network of a run: the posterior of its hidden nodes, and the probability of what is known."""

import numpy as np
import xarray as xr

from workbench.engines.bayes_nets.cases import log_evidence_of, posterior
from workbench.models.bayes_nets.bayes_net import BayesNet
from workbench.records import DataError, Records
from workbench.runs.spec import RunSpec, SpecError, whole

SMALLEST = 1e-300
"""In the place of an estimated probability 0, of which there is no logarithm."""


def infer_records(run: xr.Dataset, records: Records, n_threads: int = 1) -> xr.Dataset:
    """The posterior of the hidden nodes of records, given their known cells and the distributions of a run.

    Parameters
    ----------
    run : Dataset of a run of a Bayesian network
    records : Records
        Levels are matched by name. A field of the run that they lack is missing in all; of a hidden Markov model their fields
        are the places of a sequence, in order. Where a network of one's own has numbered states, level i is state i.
    n_threads : int
        Never changes a bit.

    Returns
    -------
    xarray.Dataset
        ``posterior`` (record, node, state): probability of each state of each node that no field shows, NaN beyond the states
        that a node has; ``state_name`` (node, state), empty there; ``log_probability`` (record): of the known cells, nats;
        ``multiplicity`` (record).

    Another run, a field or a level that the run does not know is a SpecError, ModelError or DataError.
    """
    called = f"run '{run.attrs.get('name', 'this Dataset')}'"
    if "n_cpt" not in run:
        said = f"{called} is of no Bayesian network, so there are no hidden nodes of records"
        raise SpecError(f"{said}; give documents, or choose a run of a Bayesian network")
    if run.sizes.get("snapshot", 0) == 0:
        raise SpecError(
            f"{called} has no snapshot yet, so it has no tables; wait for its first, or resume it"
        )
    spec, n_threads = RunSpec.from_json(run.attrs["spec"]), whole("threads", n_threads, 1, 1024)
    known = _as_in_training(run, spec, records)
    net = spec.parts()[1].for_data(known)
    values, logs = net.values(known), np.log(np.maximum(_tables(run), SMALLEST))
    hidden = [
        at for at, node in enumerate(net.nodes) if node.name not in known.fields and not node.given
    ]
    found = np.full(
        (len(values), len(hidden), max((net.nodes[at].n_states for at in hidden), default=0)),
        np.nan,
    )
    names = np.full(found.shape[1:], "", object)
    for place, at in enumerate(hidden):
        names[place, : net.nodes[at].n_states] = net.nodes[at].state_names
        found[:, place, : net.nodes[at].n_states] = posterior(net, values, at, logs, n_threads)
    return xr.Dataset(
        {
            "posterior": (
                ("record", "node", "state"),
                found,
                {"long_name": "probability of each state of a hidden node"},
            ),
            "log_probability": (
                "record",
                log_evidence_of(net, values, logs, n_threads),
                {"long_name": "log probability of the known cells", "units": "nats"},
            ),
            "multiplicity": (
                "record",
                known.multiplicities,
                {"long_name": "how often the record came"},
            ),
        },
        {
            "node": [net.nodes[at].name for at in hidden],
            "state": np.arange(found.shape[2]),
            "state_name": (
                ("node", "state"),
                names,
                {"long_name": "name of the state of the node"},
            ),
        },
        {"run": spec.name, "engine": spec.engine, "records": records.name},
    )


def _tables(run: xr.Dataset) -> np.ndarray:
    """(parameter,) distributions: posterior means, of expectation maximisation the shares of the counts."""
    if "log_likelihood" not in run:
        return run["cpt"].values
    counts, rows = run["n_cpt"].isel(snapshot=-1).values, run["row"].values
    total = np.bincount(rows, counts)[rows]
    return np.divide(counts, total, out=run["cpt"].values.copy(), where=total > 0)


def _as_in_training(run: xr.Dataset, spec: RunSpec, records: Records) -> Records:
    """The records with the fields and levels that a shipped network was made for; as they are for one of one's own."""
    model = spec.parts()[1]
    if not isinstance(model, BayesNet) or not model.is_shipped:
        return records
    of_table = run["value"].groupby("table")
    if model.network == "hmm":
        levels = dict.fromkeys(
            records.fields, tuple(dict.fromkeys(of_table["emission"].values.tolist()))
        )
    else:
        tables = [name for name in dict.fromkeys(run["table"].values.tolist()) if name != "class"]
        levels = {name: tuple(dict.fromkeys(of_table[name].values.tolist())) for name in tables}
    if unknown := [field for field in records.fields if field not in levels]:
        raise DataError(
            f"run '{spec.name}' has no field {unknown[0]!r}; there are {', '.join(levels)}; leave the field out"
        )
    values = np.full((records.n_distinct, len(levels)), -1)
    for at, (field, names) in enumerate(levels.items()):
        if field in records.fields:
            values[:, at] = _renumbered(records, field, names, spec.name)
    return Records(
        values, records.multiplicities, tuple(levels), tuple(levels.values()), records.name
    )


def _renumbered(records: Records, field: str, names: tuple[str, ...], run: str) -> np.ndarray:
    """The column of a field with the numbers that its levels have in a run."""
    column = records.values[:, records.fields.index(field)]
    own = records.levels[records.fields.index(field)]
    place = np.array([*(names.index(name) if name in names else -2 for name in own), -1])
    found = place[column]
    if np.any(found == -2):
        wrong = own[column[found == -2][0]]
        raise DataError(
            f"run '{run}' does not know the level {wrong!r} of {field!r}; there are {', '.join(names[:10])}; "
            "leave it out, or make the cell missing"
        )
    return found
