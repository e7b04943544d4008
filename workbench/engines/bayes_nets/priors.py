"""Learning of the priors of Bayesian networks: one number x for all cells of a table (spec A.10).

With n the counts of a table, expected, sampled or both, x maximises, or is drawn given, their Polya likelihood::

    f(x) = sum_rows { lnG(R x) - lnG(R x + n_r) + sum_k [ lnG(x + n_rk) - lnG(x) ] },   R states k of a row

a mean over the chains that share x. It is what L of eq. 26 says about x, so the bound of `bn-vb` never falls. A table whose
prior was given as a row or as a table keeps it, and so does one of a single state.
"""

from dataclasses import dataclass, fields

import numpy as np

from workbench.engines.bayes_nets.cases import predict_cells
from workbench.engines.engine import Options, State, StepContext
from workbench.engines.lda.hyperparameters import TINY, WAYS, refuse_without_effect
from workbench.engines.lda.likelihoods import Polya, climb_once, clip, draw_prior
from workbench.errors import Named
from workbench.kernels.lda.polya import real_sites, whole_sites
from workbench.kernels.uniforms import LEARNT_PRIORS
from workbench.models.bayes_nets.bayes_net import BayesNet
from workbench.models.options import option
from workbench.records.records import Records


@dataclass(frozen=True, kw_only=True)
class Learning:
    """Options for learning the priors; a base class of the engines' options."""

    learn_priors: str = option(
        "fixed",
        "prior of each table: fixed; maximised by one Newton step per update; or sampled under a Gamma prior",
        choices=WAYS,
        late=True,
    )
    learn_after: int = option(
        20, "iterations before the first prior update", low=0, whole=True, late=True
    )
    learn_every: int = option(1, "iterations between prior updates", low=1, whole=True, late=True)
    a_prior: float = option(
        1.0,
        "shape of the Gamma prior on sampled table priors",
        low=TINY,
        late=True,
        label="Prior: shape",
    )
    b_prior: float = option(
        1.0,
        "rate of the Gamma prior on sampled table priors",
        low=TINY,
        late=True,
        label="Prior: rate",
    )

    def __post_init__(self):
        changed_options = {f.name for f in fields(Learning) if getattr(self, f.name) != f.default}
        if self.learn_priors == "fixed":
            refuse_without_effect(
                changed_options,
                ("learn_after", "learn_every"),
                "nothing is learnt; set ",
                Named("learn_priors"),
            )
        if self.learn_priors != "sampled":
            needed = Named("learn_priors", "sampled")
            refuse_without_effect(
                changed_options, ("a_prior", "b_prior"), "priors are not sampled; set ", needed
            )


def learns(options: Options) -> bool:
    """Return whether any prior is learnt."""
    return getattr(options, "learn_priors", "fixed") != "fixed"


def learnt_alpha(
    net: BayesNet,
    options: Options,
    context: StepContext,
    alpha: np.ndarray,
    *chains: np.ndarray,
    whole: bool = False,
):
    """Return the priors (table cell,): newly learnt if an update is due at this step, else unchanged.

    chains : (table cell,) counts of each chain, expected plus sampled
    whole : whether the counts are whole numbers, since all records are sampled
    """
    is_due = (
        learns(options)
        and context.step >= max(options.learn_after, 1)
        and (context.step - options.learn_after) % options.learn_every == 0
    )
    if not is_due:
        return alpha
    alpha = alpha.copy()
    random = np.random.Generator(np.random.Philox(int(context.key(LEARNT_PRIORS))))
    for first, last, width in learnable(net):
        likelihood = polya([counts[first:last].reshape(-1, width) for counts in chains], whole)
        x = clip(alpha[first : first + 1])
        if options.learn_priors == "maximised":
            x = climb_once(likelihood, x)
        else:
            x = draw_prior(likelihood, x, options.a_prior, options.b_prior, random)
        alpha[first:last] = x
    return alpha


def retune(
    records: Records, model: BayesNet, options: Options, state: State, context: StepContext
) -> tuple[State, dict]:
    """Return the state with the model's priors, after these have been changed during the run; counts stay."""
    return state._replace(alpha=model.tables.alpha.copy()), {}


def learnable(net: BayesNet) -> list[tuple[int, int, int]]:
    """Return (first cell, end, number of states) of each table whose prior is one number and can be learnt."""
    widths = {}
    for node, table in zip(net.nodes, net.tables.table_of, strict=True):
        if table >= 0 and isinstance(node.prior, float) and node.n_states > 1:
            widths[int(table)] = node.n_states
    starts = net.tables.starts.tolist()
    return [(starts[table], starts[table + 1], width) for table, width in sorted(widths.items())]


def polya(chains: list[np.ndarray], whole: bool) -> Polya:
    """Return the Polya likelihood, averaged over chains, of a table's scalar prior given counts (row, state) per chain."""
    n_chains, width = len(chains), chains[0].shape[1]
    rows = np.concatenate(chains)
    if not whole:
        rows = np.maximum(rows, 0.0)
        cells, totals = (
            real_sites(values, None, None, None, values.shape[1], True)
            for values in (rows, rows.sum(axis=1)[:, None])
        )
        cells, totals = (
            sites._replace(weight=sites.weight / n_chains) for sites in (cells, totals)
        )
        return Polya(cells, totals, width)
    rows = np.rint(rows).astype(np.int64)
    return Polya(
        whole_sites([rows], n_chains),
        whole_sites([rows.sum(axis=1)], n_chains),
        width,
        n_chains == 1,
    )


def watched(net: BayesNet, options: Options, state: State) -> dict[str, float]:
    """Return {"prior_mean": the learnt priors averaged over tables}, or {} if priors are fixed."""
    if not learns(options):
        return {}
    firsts = [first for first, _, _ in learnable(net)]
    return {"prior_mean": float(state.alpha[firsts].mean()) if firsts else float("nan")}


def kept(options: Options, state: State) -> dict[str, np.ndarray]:
    """Return {"table_prior": the learnt priors (table cell,)} for a snapshot, or {} if priors are fixed."""
    return {"table_prior": state.alpha} if learns(options) else {}


def counts(records: Records, net: BayesNet, options: Learning, state: State) -> dict:
    """Return the arrays of a snapshot: expected or sampled counts of all tables, and the learnt priors if any."""
    return {"n_cpt": state.counts} | kept(options, state)


def predict(
    records: Records,
    net: BayesNet,
    options: Learning,
    state: State,
    cells: Records,
    context: StepContext | None = None,
) -> np.ndarray:
    """Return the probability (cell,) of each held-out cell given its record's training cells, by posterior mean tables."""
    means = net.tables.with_priors(state.alpha).means(np.maximum(state.counts, 0.0))
    return predict_cells(records, net, np.log(means), cells, context)
