"""Expectation maximisation of the toy family: q_rc ~ pi_c prod_f theta_cf(x_rf), then pi and theta from expected counts."""

from typing import NamedTuple

import numpy as np
from families.latent_class import LatentClass

from workbench.engines.engine import VARIATIONAL, Engine, NoOptions

SMOOTHING = 0.1


class State(NamedTuple):
    n_cl: np.ndarray  # (class, level) expected cells
    n_c: np.ndarray  # (class,) expected records


def columns(records):
    """(record, level) 1 where a record has the level, and which field each level is of."""
    starts = np.r_[0, np.cumsum(records.n_levels)[:-1]]
    table, cells = np.zeros((records.n_distinct, int(records.n_levels.sum()))), records.cells
    table[cells.records, starts[cells.fields] + records.values[cells.records, cells.fields]] = 1.0
    return table, starts


def theta_of(state, records):
    raised, (_, starts) = state.n_cl + SMOOTHING, columns(records)
    return raised / np.repeat(np.add.reduceat(raised, starts, axis=1), records.n_levels, axis=1)


def responsibilities(records, state):
    logs = columns(records)[0] @ np.log(theta_of(state, records)).T + np.log(
        (state.n_c + 1) / (state.n_c + 1).sum()
    )
    top = logs.max(axis=1, keepdims=True)
    q = np.exp(logs - top)
    return q / q.sum(axis=1, keepdims=True), float(
        (records.multiplicities * (top[:, 0] + np.log(q.sum(axis=1)))).sum()
    )


def counted(records, q):
    weighed = q * records.multiplicities[:, None]
    return State(weighed.T @ columns(records)[0], weighed.sum(axis=0))


def init(records, model, options, context, warm_start=None):
    random = np.random.Generator(np.random.Philox(int(context.key(0))))
    return counted(records, random.dirichlet(np.ones(model.n_classes), records.n_distinct))


def step(records, model, options, state, context):
    context.interrupt()
    return counted(records, responsibilities(records, state)[0]), {"updates": records.n_items}


def watch(records, model, options, state):
    return {
        "bound": responsibilities(records, state)[1],
        "class_share": state.n_c / state.n_c.sum(),
    }


def counts(records, model, options, state):
    return {"n_cl": state.n_cl}


def predict(records, model, options, state, test, context=None):
    table, starts = columns(test)
    of_levels = responsibilities(records, state)[0] @ theta_of(state, records)
    return of_levels[
        test.cells.records,
        starts[test.cells.fields] + test.values[test.cells.records, test.cells.fields],
    ]


def engine(name="latent-class-em"):
    return Engine(
        name=name,
        kind=VARIATIONAL,
        title="Expectation maximisation of latent classes",
        source="a toy of the tests",
        model=LatentClass,
        options=NoOptions,
        state=State,
        watches=("bound",),
        samples=lambda records, options: False,
        init=init,
        step=step,
        watch=watch,
        counts=counts,
        predict=predict,
        fold_in=None,
    )
