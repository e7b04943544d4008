"""CVB0 of Bayesian networks: a plain twin, and LDA as a network beside the engine that knows nothing else."""

import numpy as np
import pytest
from bayes_net_twins import completions, families, random_net

from workbench.corpus import Corpus
from workbench.engines import get_engine
from workbench.engines.bayes_nets import bn_cvb0
from workbench.engines.bayes_nets.cases import cases_within
from workbench.engines.engine import StepContext
from workbench.engines.options import NoOptions
from workbench.models import LDA
from workbench.models.bayes_nets.bayes_net import BayesNet
from workbench.models.bayes_nets.nodes import Node
from workbench.records import Records


def posterior(net, case, q, counted) -> np.ndarray:
    """(table cell,) expected counts of the families of one case given cells in proportion to probabilities."""
    rows = net.tables.sum_rows(q)[net.tables.row_of]
    found, weights = np.zeros(net.tables.n_cells), []
    every = [
        [cell for i, cell in enumerate(families(net, each)) if i in counted]
        for each in completions(net, case)
    ]
    weights = np.array([np.prod([q[cell] / rows[cell] for cell in cells]) for cells in every])
    for weight, cells in zip(weights / weights.sum(), every, strict=True):
        np.add.at(found, cells, weight)
    return found


@pytest.mark.parametrize("seed", range(6))
def test_it_follows_a_plain_twin(seed):
    """Of all families of a record, hidden or not: those of observed nodes count as 1 before and after."""
    net, records = random_net(seed, n_nodes=5, n_cases=9, tied=seed % 2 == 1, missing="imputed")
    state = bn_cvb0.init(records, net, NoOptions(), StepContext(seed, 0))
    cases = cases_within(records, net)
    weights, nodes = cases.weights, set(range(len(net.nodes)))
    start = net.tables.means(bn_cvb0.initial_counts(net.tables, StepContext(seed, 0)))
    own = [posterior(net, case, start, nodes) for case in cases.values]
    for step in range(1, 4):
        state, _ = bn_cvb0.step(records, net, NoOptions(), state, StepContext(seed, step))
        for i, case in enumerate(cases.values):
            total = sum(n * each for n, each in zip(weights, own, strict=True))
            own[i] = posterior(net, case, net.tables.alpha + total - own[i], nodes)
        total = sum(n * each for n, each in zip(weights, own, strict=True))
        np.testing.assert_allclose(state.counts, total, rtol=1e-9, atol=1e-12)


def test_lda_as_a_network_is_cvb0():
    random = np.random.default_rng(1)
    values = np.unique(
        np.column_stack([random.integers(5, size=40), random.integers(8, size=40)]), axis=0
    )
    counts = random.integers(1, 5, len(values))
    corpus = Corpus.from_pairs(values[:, 0], values[:, 1], counts, n_documents=5, n_words=8)
    nodes = (Node("d", 5, given=True), Node("z", 3, ("d",), 0.3), Node("x", 8, ("z",), 0.2))
    names = tuple(map(str, range(8)))
    net, records = BayesNet("lda", nodes), Records(values, counts, ("d", "x"), (names[:5], names))
    lda, model = get_engine("cvb0"), LDA(3, 0.3, 0.2)
    options = lda.options()
    theirs = lda.init(corpus, model, options, StepContext(0, 0))
    ours = bn_cvb0.init(records, net, NoOptions(), StepContext(0, 0))
    ours = ours._replace(own=np.ascontiguousarray(np.asarray(theirs.gamma)[:, :3]).ravel())
    for step in range(1, 31):
        theirs, _ = lda.step(corpus, model, options, theirs, StepContext(0, step))
        ours, _ = bn_cvb0.step(records, net, NoOptions(), ours, StepContext(0, step))
        found = lda.counts(corpus, model, options, theirs)
        np.testing.assert_allclose(
            ours.counts, [*found["n_dk"].ravel(), *found["n_kw"].ravel()], rtol=1e-9, atol=1e-12
        )
