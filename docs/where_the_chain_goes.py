"""The numbers and figures of where_the_chain_goes.md: ``python docs/where_the_chain_goes.py PART``, a part below.

``laws``, ``settings``, ``redrawn`` and ``kos500`` (which reads `WORKBENCH_DATA`) print tables in Markdown in some minutes each,
``corners``, ``hundred`` and ``stay`` a few numbers; ``figures`` writes the two SVG files beside this one. Seeds are fixed.
"""

import math
import sys
from pathlib import Path

import matplotlib
import numba
import numpy as np
from scipy.special import expit, polygamma, psi

from workbench.corpus import Corpus, hold_out_tokens, load_corpus
from workbench.engines import get_engine
from workbench.engines.engine import StepContext
from workbench.engines.options import make_options
from workbench.measures import exact, stationary
from workbench.measures.exact import total_variation
from workbench.models import LDA

HERE = Path(__file__).parent
TOYS = {
    "two documents": [(0, 0, 5), (0, 1, 1), (1, 1, 1), (1, 2, 5)],
    "three documents": [(0, 0, 3), (0, 1, 1), (1, 0, 3), (1, 2, 1), (2, 1, 1), (2, 2, 3)],
    "three others": [(0, 0, 3), (0, 1, 1), (1, 0, 1), (1, 1, 3), (2, 1, 1), (2, 2, 3)],
    "counts 1, 2, 4": [(0, 0, 4), (0, 1, 1), (0, 2, 2), (1, 0, 1), (1, 1, 2), (1, 2, 4)],
}
MODEL = LDA(2, 0.1, 0.1)
STARTS = {"two documents": 18, "three documents": 0, "three others": 0, "counts 1, 2, 4": 0}
"""The first of twelve seeds: with 18 and 29 svb-cgs comes to the second law of two documents."""
CHAINS = [("svb-cgs", {"r": 1, "n_chains": s}) for s in (1, 2, 5, 20, math.inf)]
BY_R = [("svb-cgs", {"r": r, "n_chains": s}) for r in (0, 1, 2, 4) for s in (1, math.inf)]
ENGINES = ["svb", "cvb", "cvb0", ("cvb-cgs", {"r": 1}), ("cvb0-cgs", {"r": 1}), "cgs"]
SPLITS = [
    ("adaptive-cgs", {"split": "random", "refresh": 1, "budget": share}) for share in (0.4, 0.67)
]
SPLITS += [("adaptive-cgs", {"split": "gap", "refresh": 1, "budget": 0.67})]
SPLITS += [("mixed-cgs", {"chance": chance}) for chance in (0.9, 0.5, 0.1)]


def toy(name: str) -> Corpus:
    return Corpus.from_pairs(*np.array(TOYS[name]).T)


def row(*cells) -> None:
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def span(values) -> str:
    """The smallest and the largest."""
    low, high = np.nanmin(values), np.nanmax(values)
    return f"{low:.3f}" if round(low, 3) == round(high, 3) else f"{low:.3f} … {high:.3f}"


def show(name: str, engines, n_iterations: int, burn_in: int = 500) -> None:
    """A row a setting, of twelve starts."""
    for entry in engines:
        given = {"seed": STARTS[name], "n_iterations": n_iterations, "burn_in": burn_in}
        found = stationary(toy(name), MODEL, [entry], **given).isel(setting=0)
        sampled = found["sampled_distance"].values
        row(
            name,
            found["setting"].item(),
            found["n_attractors"].item(),
            np.bincount(found["attractor"]).tolist(),
            f"{found['spread'].item():.3f}",
            f"{found['half_distance'].max().item():.4f}",
            span(found["predictive_distance"]),
            span(found["co_assignment_distance"]),
            "" if np.isnan(sampled).all() else span(sampled),
        )


def head() -> None:
    row(
        "corpus",
        "setting",
        "laws",
        "starts in each",
        "between starts",
        "halves",
        "predictive",
        "same topic",
        "sampled",
    )
    row(*["---"] * 9)


def laws() -> None:
    head()
    for name in list(TOYS)[:3]:
        show(name, [("svb-cgs", {"r": 1})], 20_000)
    show("two documents", [("svb-cgs", {"r": 1, "schedule": "sequential"}), "cgs"], 20_000)


def settings() -> None:
    head()
    for name in ("two documents", "three documents"):
        show(name, CHAINS + ENGINES + SPLITS, 1500)
    show("counts 1, 2, 4", BY_R, 1500)


def stay() -> None:
    """The iterations at which start 11 of three documents changes the majority topic of an averaged pair, of 60,000."""
    corpus, engine, before = toy("three documents"), get_engine("svb-cgs"), None
    options = make_options(engine, {"r": 1})
    state = engine.init(corpus, MODEL, options, StepContext(11, 0))
    for step in range(1, 60_001):
        state, _ = engine.step(corpus, MODEL, options, state, StepContext(11, step))
        sides = (state.mean_dk[:, 0] > 1.5).tolist()
        if sides != before:
            print(step, sides)
            before = sides


def update(own, other, s_own: int, s_other: int) -> tuple:
    """A responsibility of two documents after an update, and the sum of its absolute derivatives by itself and by the other."""
    n = 5 * own + 5 * other + s_own + s_other
    raising = [0.1 + 5 * own, 0.1 + 5 * own + s_own, 12.3 - n]
    lowering = [0.1 + 5 * (1 - own), 0.1 + 5 * (1 - own) + 1 - s_own, 0.3 + n]
    new = expit(sum(map(psi, raising)) - sum(map(psi, lowering)))
    of_sizes = polygamma(1, 0.3 + n) + polygamma(1, 12.3 - n)
    of_own = sum(polygamma(1, x) for x in (*raising[:2], *lowering[:2])) - of_sizes
    return new, 5 * new * (1 - new) * (np.abs(of_own) + of_sizes)


def corners() -> None:
    """The least responsibility of topic 1 in document 0 after an update within each box, and the largest slopes after that."""
    for name, low, high, after in (
        ("apart", 0.8, 0.2, (0.0, 0.076)),
        ("together", 0.95, 1.0, (0.977, 1.0)),
    ):
        sampled = [(s, t) for s in (0, 1) for t in (0, 1)]
        least = min(update(low, high, s, t)[0] for s, t in sampled)
        own, other = (
            np.linspace(0.924 if name == "apart" else 0.977, 1.0, 1601)[:, None],
            np.linspace(*after, 1601),
        )
        largest = max(update(own, other, s, t)[1].max() for s, t in sampled)
        print(f"{name}: at least {least:.4f}; slopes sum to {largest:.2f}")


def hundred() -> None:
    """Of the first hundred seeds, those that come to the law of one topic in two documents."""
    corpus, engine = toy("two documents"), get_engine("svb-cgs")
    for schedule in ("parallel", "sequential"):
        options, found = make_options(engine, {"r": 1, "schedule": schedule}), []
        for seed in range(100):
            state = engine.init(corpus, MODEL, options, StepContext(seed, 0))
            for step in range(1, 201):
                state, _ = engine.step(corpus, MODEL, options, state, StepContext(seed, step))
            found += [seed] if len(set(state.mean_dk[:, 0] > 2.5)) == 1 else []
        print(schedule, found)


# ---------------------------------------------------------------------- the split redrawn, each pair by itself


@numba.njit
def digamma(x):
    shift = 0.0
    while x < 10.0:
        shift += 1.0 / x
        x += 1.0
    return (
        math.log(x)
        - 0.5 / x
        - 1.0 / (12.0 * x**2)
        + 1.0 / (120.0 * x**4)
        - 1.0 / (252.0 * x**6)
        - shift
    )


@numba.njit
def add(n_dk, n_wk, n_k, d, w, row, weight):
    n_dk[d] += weight * row
    n_wk[w] += weight * row
    n_k += weight * row


@numba.njit
def averaged_row(n_dk, n_wk, n_k, d, w, alpha, beta):
    """spec A9 of one chain."""
    found = np.array(
        [
            digamma(alpha + n_dk[d, k])
            + digamma(beta + n_wk[w, k])
            - digamma(len(n_wk) * beta + n_k[k])
            for k in range(len(n_k))
        ]
    )
    found = np.exp(found - found.max())
    return found / found.sum()


@numba.njit
def draw(p):
    u, k = np.random.random() * p.sum(), 0
    while k < len(p) - 1 and u >= p[k]:
        u -= p[k]
        k += 1
    return k


@numba.njit
def redrawn_run(documents, words, counts, n_topics, alpha, beta, chance, n_sweeps, burn_in, seed):
    """(half, document, word) mean predictive of halves of a run of svb-cgs whose split is redrawn in every sweep.

    Each pair with more than one token is averaged with the given chance, the others are sampled. A pair that comes to be
    sampled has the topics of its tokens drawn from its responsibility; one that comes to be averaged is updated.
    """
    np.random.seed(seed)
    n_pairs, eye = len(counts), np.eye(n_topics)
    first = np.cumsum(counts) - counts
    topics = np.random.randint(0, n_topics, counts.sum())
    gamma, averaged = np.empty((n_pairs, n_topics)), counts > 1
    n_dk, n_wk, n_k = (
        np.zeros((documents.max() + 1, n_topics)),
        np.zeros((words.max() + 1, n_topics)),
        np.zeros(n_topics),
    )
    for i in range(n_pairs):
        gamma[i] = np.random.exponential(1.0, n_topics)
        gamma[i] /= gamma[i].sum()
        for token in range(first[i], first[i] + counts[i]):
            add(
                n_dk,
                n_wk,
                n_k,
                documents[i],
                words[i],
                gamma[i] if averaged[i] else eye[topics[token]],
                1.0,
            )
    table = np.zeros((2, len(n_dk), len(n_wk)))
    for sweep in range(burn_in + n_sweeps):
        for i in range(n_pairs):
            d, w, new = documents[i], words[i], counts[i] > 1 and np.random.random() < chance
            if averaged[i] and not new:
                add(n_dk, n_wk, n_k, d, w, gamma[i], -float(counts[i]))
                for token in range(first[i], first[i] + counts[i]):
                    topics[token] = draw(gamma[i])
                    add(n_dk, n_wk, n_k, d, w, eye[topics[token]], 1.0)
            elif new and not averaged[i]:
                gamma[i] = averaged_row(n_dk, n_wk, n_k, d, w, alpha, beta)
                for token in range(first[i], first[i] + counts[i]):
                    add(n_dk, n_wk, n_k, d, w, eye[topics[token]], -1.0)
                add(n_dk, n_wk, n_k, d, w, gamma[i], float(counts[i]))
            averaged[i] = new
        for i in range(n_pairs):
            d, w = documents[i], words[i]
            if not averaged[i]:
                for token in range(first[i], first[i] + counts[i]):
                    add(n_dk, n_wk, n_k, d, w, eye[topics[token]], -1.0)
                    topics[token] = draw(
                        (alpha + n_dk[d]) * (beta + n_wk[w]) / (len(n_wk) * beta + n_k)
                    )
                    add(n_dk, n_wk, n_k, d, w, eye[topics[token]], 1.0)
        for i in range(n_pairs):
            d, w = documents[i], words[i]
            if averaged[i]:
                row = averaged_row(n_dk, n_wk, n_k, d, w, alpha, beta)
                add(n_dk, n_wk, n_k, d, w, row - gamma[i], float(counts[i]))
                gamma[i] = row
        if sweep >= burn_in:
            half = 2 * (sweep - burn_in) // n_sweeps
            for d in range(len(n_dk)):
                theta = (alpha + n_dk[d]) / (n_topics * alpha + n_dk[d].sum())
                for w in range(len(n_wk)):
                    table[half, d, w] += (theta * (beta + n_wk[w]) / (len(n_wk) * beta + n_k)).sum()
    return table / (n_sweeps / 2)


def redrawn_runs(corpus: Corpus, chance: float, n_sweeps: int, n_starts: int = 12) -> np.ndarray:
    """(start, half, document, word)"""
    given = (
        corpus.documents.astype(np.int64),
        corpus.words.astype(np.int64),
        corpus.counts.astype(np.int64),
    )
    return np.array(
        [redrawn_run(*given, 2, 0.1, 0.1, chance, n_sweeps, 500, seed) for seed in range(n_starts)]
    )


def redrawn() -> None:
    row("corpus", "chance to be averaged", "between starts", "halves", "predictive")
    row(*["---"] * 5)
    for name in list(TOYS)[:3]:
        truth = exact(toy(name), MODEL)["predictive"].values
        for chance in (1.0, 0.9, 0.5, 0.1, 0.0):
            runs = redrawn_runs(toy(name), chance, 50_000)
            means = runs.mean(axis=1)
            row(
                name,
                chance,
                f"{total_variation(means[:, None], means[None]).max():.3f}",
                f"{total_variation(runs[:, 0], runs[:, 1]).max():.4f}",
                span(total_variation(means, truth)),
            )


def starts() -> None:
    """Of 200 random corpora of two or three documents: the groups of a hundred starts, by chance to be averaged."""
    random, corpora = np.random.default_rng(0), []
    while len(corpora) < 200:
        n_documents = int(random.integers(2, 4))
        words = [random.choice(3, 2, replace=False) for _ in range(n_documents)]
        counts = random.integers(1, 5 if n_documents == 2 else 4, size=(n_documents, 2))
        cells = [
            (d, w, n) for d in range(n_documents) for w, n in zip(words[d], counts[d], strict=True)
        ]
        if np.unique(words).size == 3:
            corpora.append(Corpus.from_pairs(*np.array(cells).T))
    row("chance to be averaged", "corpora by groups of starts", "predictive, mean", "most")
    row(*["---"] * 4)
    for chance in (1.0, 0.9, 0.5):
        numbers, far = [], []
        for corpus in corpora:
            means = redrawn_runs(corpus, chance, 5000, 100).mean(axis=1)
            if chance < 1 and groups_of(means) > 1:  # they may only not have run for long enough
                means = redrawn_runs(corpus, chance, 20_000, 100).mean(axis=1)
            numbers.append(groups_of(means))
            far.append(total_variation(means, exact(corpus, MODEL)["predictive"].values).max())
        tallied = ", ".join(f"{n}: {numbers.count(n)}" for n in sorted(set(numbers)))
        row(chance, tallied, f"{np.mean(far):.3f}", f"{np.max(far):.3f}")


def groups_of(means: np.ndarray) -> int:
    """The number of groups of starts whose mean predictives are within 0.05 of the group's first."""
    firsts = means[:1]
    for mean in means:
        if total_variation(firsts, mean).min() > 0.05:
            firsts = np.append(firsts, mean[None], axis=0)
    return len(firsts)


# ---------------------------------------------------------------------- 500 blog entries


def kos500() -> None:
    """K = 10, four starts of each r, 500 iterations after 300; numbers that do not depend on the numbers of topics."""
    train, test = hold_out_tokens(load_corpus("kos500"), fraction=0.1, seed=0)
    model, random = LDA(10, 0.1, 0.1), np.random.default_rng(0)
    chosen = random.integers(train.n_pairs, size=(2, 2000))
    chosen = chosen[:, train.words[chosen[0]] != train.words[chosen[1]]]
    row(
        "r",
        "perplexity",
        "log p: within, between",
        "same topic: within, between",
        "shares: within, between",
    )
    row(*["---"] * 5)
    for r in (0, 1, 2, 5, math.inf):
        runs = [halves_of(train, test, model, r, seed, chosen) for seed in range(4)]
        cells = []
        for each in zip(*runs, strict=True):
            values = np.array(each)  # (start, half, number)
            # of a mean of both halves
            within = np.sqrt(np.mean((values[:, 0] - values[:, 1]) ** 2) / 4)
            between = np.sqrt(np.mean(values.mean(axis=1).var(axis=0, ddof=1)))
            cells.append(
                f"{within:.4f}, {between:.4f} ({between / within:.1f}×)"
                if within > 1e-9
                else f"0, {between:.4f}"
            )
        perplexity = [
            np.exp(-np.average(each[0].mean(axis=0), weights=test.counts)) for each in runs
        ]
        row(r, f"{np.mean(perplexity):.1f} ± {np.std(perplexity, ddof=1):.1f}", *cells)


def halves_of(train, test, model, r, seed, chosen) -> tuple:
    """Of both halves of a run: log of the mean p(w|d) of held-out pairs, same topics of pairs of tokens, sorted shares."""
    engine, burn_in, n_kept = get_engine("svb-cgs"), 300, 500
    options = make_options(engine, {"r": r})
    state = engine.init(train, model, options, StepContext(seed, 0))
    p, same, shares = (
        np.zeros((2, test.n_pairs)),
        np.zeros((2, chosen.shape[1])),
        np.zeros((2, model.n_topics)),
    )
    for step in range(1, burn_in + n_kept + 1):
        state, _ = engine.step(train, model, options, state, StepContext(seed, step))
        if step <= burn_in:
            continue
        half, counts = (
            2 * (step - burn_in - 1) // n_kept,
            engine.counts(train, model, options, state),
        )
        p[half] += engine.predict(train, model, options, state, test)
        phi = (0.1 + counts["n_kw"]) / (
            0.1 * train.n_words + counts["n_kw"].sum(axis=1, keepdims=True)
        )
        topics = (0.1 + counts["n_dk"][train.documents[chosen]]) * phi.T[train.words[chosen]]
        topics /= topics.sum(axis=-1, keepdims=True)
        same[half] += (topics[0] * topics[1]).sum(axis=-1)
        shares[half] += np.sort(counts["n_kw"].sum(axis=1))[::-1] / train.n_tokens
    return np.log(p / (n_kept / 2)), same / (n_kept / 2), shares / (n_kept / 2)


# ---------------------------------------------------------------------- figures


def figures() -> None:
    matplotlib.use("svg")
    matplotlib.rcParams |= {
        "svg.hashsalt": "where the chain goes",
        "font.size": 7,
        "font.family": "sans-serif",
    }
    boxes()
    distances()


def boxes() -> None:
    """The plane of the two responsibilities: boxes that no run leaves, and the first sweeps of runs."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    figure = Figure(figsize=(3.3, 3.1), layout="constrained")
    axes = figure.add_subplot(
        xlabel="responsibility of topic 1, document 0",
        ylabel="responsibility of topic 1, document 1",
    )
    for left, bottom, side, colour in (
        (0.8, 0, 0.2, "C0"),
        (0, 0.8, 0.2, "C0"),
        (0.95, 0.95, 0.05, "C1"),
        (0, 0, 0.05, "C1"),
    ):
        axes.add_patch(Rectangle((left, bottom), side, side, color=colour, alpha=0.25, lw=0))
    corpus, engine = toy("two documents"), get_engine("svb-cgs")
    options = make_options(engine, {"r": 1})
    for seed in range(60):
        state = engine.init(corpus, MODEL, options, StepContext(seed, 0))
        path = [state.mean_dk[:, 0] / 5]
        for step in range(1, 31):
            state, _ = engine.step(corpus, MODEL, options, state, StepContext(seed, step))
            path.append(state.mean_dk[:, 0] / 5)
        x, y = np.array(path).T
        colour = "C1" if (x[-1] > 0.5) == (y[-1] > 0.5) else "C0"
        axes.plot(x, y, color=colour, lw=0.4)
        axes.plot(x[0], y[0], "o", color=colour, ms=2)
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    figure.savefig(HERE / "where_the_chain_goes-1.svg", metadata={"Date": None})


def distances() -> None:
    """How far each of twelve starts is from the posterior, by setting."""
    from matplotlib.figure import Figure

    listed = [
        ("svb", "svb"),
        ("svb-cgs", "svb-cgs r=1"),
        (("svb-cgs", {"n_chains": 20}), "S=20"),
        (("svb-cgs", {"n_chains": math.inf}), "S=∞"),
        (("cvb-cgs", {"r": 1}), "cvb-cgs r=1"),
        (("cvb0-cgs", {"r": 1}), "cvb0-cgs r=1"),
        (SPLITS[1], "split redrawn"),
        ("cgs", "cgs"),
    ]
    figure = Figure(figsize=(3.3, 2.6), layout="constrained")
    axes = figure.subplots(1, 2, sharey=True)
    for panel, name in zip(axes, ("two documents", "three documents"), strict=True):
        for at, (entry, _) in enumerate(listed):
            found = stationary(toy(name), MODEL, [entry], seed=STARTS[name], n_iterations=1000)
            panel.plot(
                found["predictive_distance"].values[0],
                [at] * 12,
                "o",
                ms=3,
                mfc="none",
                mew=0.6,
                color=f"C{at % 10}",
            )
        panel.set(title=name, xlim=(-0.02, 0.42))
        panel.tick_params(length=2)
    axes[0].set_yticks(range(len(listed)), [label for _, label in listed])
    axes[0].invert_yaxis()
    figure.supxlabel("total variation from the posterior's predictive", fontsize=7)
    figure.savefig(HERE / "where_the_chain_goes-2.svg", metadata={"Date": None})


if __name__ == "__main__":
    parts = {
        "laws": laws,
        "settings": settings,
        "corners": corners,
        "hundred": hundred,
        "stay": stay,
        "redrawn": redrawn,
        "starts": starts,
    }
    parts |= {"kos500": kos500, "figures": figures}
    parts[sys.argv[1]]()
