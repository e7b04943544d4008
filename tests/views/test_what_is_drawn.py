"""What every view draws, read back from its figure, against numbers that plain loops compute from the runs."""

from collections import Counter
from dataclasses import replace
from functools import lru_cache, partial
from itertools import chain, combinations, permutations
from math import exp, log, log2, sqrt
from types import SimpleNamespace

import numpy as np
import pytest
from comparisons import made_up, tiny_comparison, tiny_corpus, tiny_run
from measures.test_frontier import chains, pair, settings
from measures.test_gap import chain as gibbs_chain
from measures.test_gap import tries
from measures.test_mixtures import run_of
from scipy.stats import t
from toys import dated, simulated
from views.test_bayes_nets import fitted as fitted_net
from views.test_groups_and_periods import DATES, fitted
from views.test_inference_views import begun_from, bounded
from views.test_rows_with_inputs import rows_of_places
from views.test_sequences import sequences
from views.test_settings_results import runs as runs_by_k

import workbench as wb
from workbench.corpus import hold_out_ends, hold_out_rows
from workbench.measures import (
    each_run,
    effect_curve,
    group_differences,
    labels_of,
    prevalence_curve,
    spec_of,
    topic_correlations,
    topics_by_group,
    topics_over_time,
)
from workbench.models.networks.network import Network
from workbench.report.drawing import _figure
from workbench.runs.afterwards.heldout_by_document import Scored
from workbench.views.every import VIEWS, draw_view, view_named
from workbench.views.groups import LIFTS
from workbench.views.picture import RunsToDraw

pytest.importorskip("holoviews")
beside = partial(zip, strict=True)
MONTHS = {"2020-01": 0, "2020-02": 1, "2020-03": 2, "2020-04": 3}
"""Month → its place on the axis; of the third there is no document."""


class Read:
    """What stands in the axes of a panel, by its place."""

    def __init__(self, axes):
        every = [(type(each).__name__, each) for each in axes.collections]
        of = {kind: [each for name, each in every if name == kind] for kind, _ in every}
        marks, patches = of.get("PathCollection", []), of.get("PatchCollection", [])
        self.title, self.x_label = axes.get_title().replace("\n", " "), axes.get_xlabel()
        self.x, self.y = (
            {
                label.get_text().replace("\n", " "): float(place)
                for place, label in zip(
                    side.get_majorticklocs(), side.get_majorticklabels(), strict=False
                )
            }
            for side in (axes.xaxis, axes.yaxis)
        )
        self.dots = [dot for each in marks for dot in each.get_offsets().tolist()]
        self.areas = [area for each in marks for area in each.get_sizes()]
        self.strokes = [
            path.tolist() for each in of.get("LineCollection", []) for path in each.get_segments()
        ]
        self.boxes = [
            path.get_extents().extents.tolist() for each in patches for path in each.get_paths()
        ]
        coloured = [each for _, each in every if each.get_clim()[0] is not None]
        self.scales = [each.get_clim() for each in coloured]
        self.values = [
            value
            for each in coloured
            for value in np.ma.filled(each.get_array(), np.nan).ravel().tolist()
        ]
        self.lines = [line.get_xydata().tolist() for line in axes.lines]
        self.named = dict(beside([line.get_label() for line in axes.lines], self.lines))
        self.bands = [_band(each.get_paths()) for each in of.get("FillBetweenPolyCollection", [])]
        self.layers = [_band([path]) for each in patches for path in each.get_paths()]
        self.texts = [(*map(float, text.get_position()), text.get_text()) for text in axes.texts]
        corners = [mesh.get_coordinates() for mesh in of.get("QuadMesh", [])]
        middles = [(each[:-1, :-1] + each[1:, 1:]).reshape(-1, 2) / 2 for each in corners]
        places = [tuple(np.round(place, 6).tolist()) for each in middles for place in each]
        self.cells = dict(beside(places, self.values)) if places else {}

    def across(self, place: float, ends: bool = False) -> list:
        """The places along x of the dots at this height, or of the ends of strokes."""
        points = [end for path in self.strokes for end in path] if ends else self.dots
        return sorted(x for x, y in points if abs(y - place) < 1e-9)

    def cell(self, row: str, column: float | str) -> float:
        """The value of the cell beside the name of a row and below that of a column."""
        return self.cells[self.x.get(column, column), self.y[row]]


def _band(paths) -> dict:
    """Place → (low, high) of a band."""
    points = [point for path in paths for point in path.vertices.tolist()]
    by_place = {x: [b for a, b in points if a == x] for x in sorted({a for a, _ in points})}
    return {x: (min(heights), max(heights)) for x, heights in by_place.items()}


def mean(values) -> float:
    return sum(map(float, values)) / len(values)


def error(values) -> float:
    return sqrt(sum((one - mean(values)) ** 2 for one in values) / (len(values) - 1) / len(values))


def around(values, times: float = 1.0) -> list[float]:
    """The mean less and plus its error."""
    return [mean(values) - times * error(values), mean(values) + times * error(values)]


def members(runs, name: str = "iteration") -> dict:
    """Label → its runs that have this variable."""
    having = [(label, run) for label, run in beside(labels_of(runs), runs) if name in run]
    return {label: [run for of, run in having if of == label] for label, _ in having}


def order(numbers) -> list[int]:
    return sorted(range(len(numbers)), key=lambda index: -numbers[index])


def names(run, n: int = 3) -> list[str]:
    """Number and words of each topic."""
    word, phi = run["word"].values, run["phi"].values
    return [f"{k} · {' '.join(word[w] for w in order(row)[:n])}" for k, row in enumerate(phi)]


def sizes_of(run) -> list[float]:
    return [sum(row) for row in run["n_kw"].values[-1].tolist()]


def shares_of(run, groups) -> dict[str, list[float]]:
    """Group → share of each topic in the tokens of its documents."""
    rows = list(beside(run["n_dk"].values[-1].tolist(), groups))
    sums = {g: [sum(row[k] for row, of in rows if of == g) for k in range(3)] for g in groups}
    return {g: [one / sum(own) for one in own] for g, own in sums.items()}


def case(runs, *corpora, scored=None, **options) -> SimpleNamespace:
    known = {corpus.content_hash: corpus for corpus in corpora}
    return SimpleNamespace(runs=runs, corpora=known, scored=scored or {}, options=options)


def numbered(*of):
    """Two seeds of one label with these numbers, all different."""
    about = {"better": "higher", "long_name": "a number", "units": "nats"}
    return [
        made_up("vb", [9, 8, 6], [1, 3, 4 + seed], seed).assign(
            {
                name: ("iteration", np.array([2.0, 3, 5]) * (k + 1) + seed / (k + 2), about)
                for k, name in enumerate(of)
            }
        )
        for seed in (0, 1)
    ]


def fit(data, engine, *settings, **more):
    return wb.fit(data, engine, *settings, **({"n_iterations": 4, "progress": False} | more))


@lru_cache
def in_sequence(engine, **options):
    train, test = hold_out_ends(sequences(), 5)
    run = fit(train, engine, test=test, options=options, burn_in=1)
    if "states_deviation" in run:
        run["states_deviation"][:] = np.random.default_rng(0).random(run["states_deviation"].shape)
    logs = -np.arange(1.0, 61) / 7 * (test.document_tokens > 0)
    scored = {spec_of(run).hash: Scored(logs, test.document_tokens, 4, 3)}
    return case([run], train, test, scored=scored)


@lru_cache
def placed(**options):
    train, test = hold_out_rows(rows_of_places(), "year", at_least=2002)
    settings = {"test": test, "options": {"average_after": 1}, "burn_in": 1}
    return case([fit(train, "sbm-gp", **settings)], train, test, **options)


@lru_cache
def net(**options):
    records = wb.Records.from_columns(
        {f"f{i}": ["0" if (k + k // (4 + i)) % 2 else "1" for k in range(60)] for i in range(3)}
    )
    return case([fitted_net(records, options={"n_states": 2})], records, **options)


@lru_cache
def grouped(**options):
    run, corpus = fitted(labels=("a", "b", "", "b") * 5, times=DATES * 4)
    return case([run], corpus, **options)


CURVES = {
    **{
        f"perplexity-by-{name}": [(clock, f"test_perplexity_{of}") for of in ("state", "average")]
        for name, clock in {
            "iterations": "iteration",
            "seconds": "elapsed",
            "updates": "updates",
            "steps": "steps",
        }.items()
    },
    "hits": [("elapsed", f"test_{of}") for of in ("top_hits", "bottom_hits", "log_likelihood")],
    "bound": [("iteration", "bound"), ("elapsed", "bound")],
    "objectives": [("iteration", "log_joint"), ("iteration", "objective")],
    "topic-numbers": [
        ("iteration", of) for of in ("n_active_topics", "n_large_topics", "effective_topics")
    ],
    "hyperparameters": [("iteration", "alpha_total"), ("iteration", "top_concentration")],
    "recorded": [("iteration", "speed"), ("iteration", "heat")],
}
"""View → clock and quantity of each of its panels."""


def quantity(run, name: str) -> list[float]:
    values, spec = run.get(name, run["iteration"]).values.tolist(), spec_of(run)
    times = spec.n_topics if name == "steps" else 1 / sum(run["n_k"].values[-1])
    return [value * (times if name in ("steps", "bound") else 1) for value in values]


def curves(panels, _, about):
    for panel, (clock, name) in beside(panels, CURVES[about.view]):
        labels = members(about.runs, "iteration" if name == "steps" else name)
        yield [label for label in panel.named if label[0] != "_"], list(labels)
        yield len(panel.bands), sum(len(group) > 1 for group in labels.values())
        sides = iter(panel.bands)
        for label, group in labels.items():
            xs, ys = (
                list(beside(*(quantity(run, each) for run in group))) for each in (clock, name)
            )
            yield panel.named[label], [[mean(x), mean(y)] for x, y in beside(xs, ys)]
            if len(group) > 1:
                yield next(sides), {mean(x): around(y) for x, y in beside(xs, ys)}


def vectors(panels, _, about):
    name = {"alphas": "alpha", "topic-sizes": "n_k"}[about.view]
    firsts = [group[0] for group in members(about.runs).values()]
    return [
        (panel.named[f"topic {k}"], [[i + 1, value] for i, value in enumerate(values)])
        for panel, run in beside(panels, firsts)
        for k, values in enumerate(run[name].values.T)
    ]


GAINS = {
    "": "test_perplexity",
    "unseen words clipped": "test_gain_joint_clipped",
    "0.1 added to each count": "test_gain_joint_added",
}
"""Title of a panel → what it shows."""


def marks(panels, _, about):
    last = {
        (panel, label): [float(run[GAINS[panel.title]][-1]) for run in group]
        for panel in panels
        for label, group in members(about.runs).items()
    }
    pairs = [(len(panels), 1 if about.view == "ordering" else 2)]
    for (panel, label), values in last.items():
        place = panel.y[label]
        pairs += [
            (panel.across(place), [mean(values)]),
            (panel.across(place, True), around(values)),
        ]
        pairs += [(panel.across(place - 0.3), sorted(values))]
    return pairs


def differences(panels, _, about):
    (panel,), reference = panels, panels[0].x_label.split()[-1]
    last = {
        label: [float(run["test_perplexity"][-1]) for run in group]
        for label, group in members(about.runs).items()
    }
    for label, *numbers in about.picture.rows:
        less, place = np.subtract(last[label], last[reference]), panel.y.get(f"{label} (3 pairs)")
        if label != reference:
            sides = around(less, t.ppf(0.975, 2))
            yield numbers[:5], [reference, mean(less), error(less), *sides]
            yield panel.across(place) + panel.across(place, True), [mean(less), *sides]
    yield {row[2] > 0 for row in about.picture.rows if row[0] != reference}, {False, True}
    yield "Left of the dotted line is better." in about.picture.caption, True


def state_and_average(panels, _, about):
    return [
        (panel.named[name], [[4 + i, mean(y)] for i, y in enumerate(beside(*rows))])
        for panel in panels
        for name, of in (("current state", "state"), ("running average after burn-in", "average"))
        for rows in [
            [run[f"test_perplexity_{of}"].values[3:] for run in members(about.runs)[panel.title]]
        ]
    ]


def ranks(panels, _, about):
    yield panels[0].y, {"1": 0, "2": -1}
    for panel in panels:
        name = "log_joint" if "log joint" in panel.x_label else "test_perplexity_state"
        draws = [run[name].values[3:].tolist() for run in members(about.runs)[panel.title]]
        every = sorted(chain(*draws))
        bins = [
            Counter(int((every.index(one) + 0.5) * 20 / len(every)) for one in own) for own in draws
        ]
        most = max(*(max(own.values()) for own in bins), len(draws[0]) / 10)
        yield (
            [(box[0], box[1], box[3] - box[1]) for box in panel.boxes],
            [
                (5 * i, -place, 0.8 * own[i] / most)
                for place, own in enumerate(bins)
                for i in range(20)
            ],
        )


def scores_by_k(panels, _, about):
    scores = {}
    for run in about.runs:
        scores.setdefault(spec_of(run).n_topics, []).append(-log(run["test_perplexity"].values[-1]))
    if about.view == "settings":
        means = [[i, mean([exp(-one) for one in own])] for i, own in enumerate(scores.values())]
        return [(panels[0].x, {"2": 0, "20": 1, "40": 2}), (panels[0].named["cgs"], means)]
    ends = [[k, end] for k, own in scores.items() for end in around(own)]
    pairs = [(panels[0].lines[0], [[k, mean(own)] for k, own in scores.items()])]
    pairs += [([end for path in panels[0].strokes for end in path], ends)]
    if about.view == "choose-k":
        best = max(scores, key=lambda k: mean(scores[k]))
        pairs += [(panels[0].x, {"2": 2, "20": 20, "40": 40})]
        pairs += [([x for x, _ in panels[0].lines[1]], [best, best])]
    return pairs


def costs(panels, _, about):
    for panel, cost in beside(panels[::2], ("updates", "cpu_time")):
        rows = [
            (
                mean([run[cost].values[-1] for run in group]),
                [log(run["test_perplexity"].values[-1]) - 5.15 for run in group],
            )
            for group in members(settings()).values()
        ]
        yield sorted(panel.dots), sorted([x, mean(away)] for x, away in rows)
        yield (
            sorted(chain(*panel.strokes)),
            sorted([x, end] for x, away in rows for end in around(away)),
        )
        yield {text.strip() for *_, text in panel.texts}, {"r=2, S=3", "cgs"}


def stacked(panels, _, about):
    (panel,), tried, of_chains = panels, about.runs[:-2], about.runs[-2:]
    last = {run.attrs["name"]: float(run["test_perplexity"][-1]) for run in (*tried, *of_chains)}
    states = [sqrt(a * b) for a, b in (run["test_perplexity_state"][3:] for run in of_chains)]
    gained = [state - last[run.attrs["name"]] for state, run in beside(states, of_chains)]
    best = last[max(tried, key=lambda run: run["bound"][-1]).attrs["name"]]
    labels, hover = members(tried), about.picture.hover["Polygons"]
    yield list(panel.y), [*labels]
    yield draw_view("gap", tried), []
    errors, priors = about.picture.caption.split(". ")[-2:]
    yield errors.endswith("± one standard error over seeds"), True
    yield (
        priors,
        "What better priors would close needs runs with several alpha and beta on several splits.",
    )
    for row, (label, group) in enumerate(labels.items()):
        own, place, sides = [last[run.attrs["name"]] for run in group], panel.y[label], [0, 0]
        parts = mean(own) - best, best - mean(states), mean(gained)
        errors = error(own) if len(own) > 1 else None, error(states), error(gained)
        yield panel.across(place), [sum(parts)]
        for index, (part, spread) in enumerate(beside(parts, errors)):
            low, bottom, high, top = panel.boxes[index * len(labels) + row]
            sides[part < 0] += part
            end = sides[part < 0]
            yield (low, high, bottom + top), (*sorted([end - part, end]), 2 * place)
            drawn = panel.across(place + 0.16 * (1 - index), True)
            yield drawn, [] if spread is None else [end - spread, end + spread]
            yield f" {part:.4g}" in hover[index][row], True


def speedups(panels, _, about):
    ((panel,),) = [panels]
    (row,), places = panel.y, {text: x for x, _, text in panel.texts}
    return [
        ([panel.cell(row, k) for k in ("2", "4")], [log2(2), 2.0]),
        (places, {"2": panel.x["2"], "8": panel.x["4"]}),
        (panel.scales, [(-2, 2)]),
    ]


def tree(panels, _, about):
    (panel,), texts = panels, panels[0].texts
    return [
        ([text.split()[0] for *_, text in texts], [run.attrs["name"] for run in about.runs]),
        (texts[1][2].endswith("iteration 7"), True),
        ([y for _, y in panel.dots], [y for _, y, _ in texts]),
        (panel.dots[1][0] - panel.dots[0][0], texts[1][0] - texts[0][0]),
    ]


def tried(panels, _, about):
    return [
        (panels[0].dots, [[1, -4], [2, -3], [3, -2], [4, -1]]),
        (panels[0].lines[0], panels[0].dots),
    ]


def levels(panels, run, about):
    texts, tokens = {text: x for x, _, text in panels[0].texts}, run["n_theta0"].values[-1].sum(0)
    drawn = [row[5] for row in about.picture.rows if row[0] == "theta0"]
    return [
        (texts["1 row a document\nof 3"], texts["theta0"]),
        (texts["2 rows a document\nof 4"], texts["theta1"]),
        (sorted(drawn), sorted(tokens.tolist())),
    ]


def words(panels, _, about):
    for panel, run in beside(panels, about.runs):
        phi, sizes = run["phi"].values, sizes_of(run)
        for column, topic in enumerate(order(sizes)):
            best = order(phi[topic])[:10]
            texts = [(y, text) for x, y, text in panel.texts if int(x) == column]
            share = 100 * sizes[topic] / sum(sizes)
            written = [f"topic {topic} · {share:.1f} %", *run["word"].values[best]]
            written += [f"{phi[topic][w]:.3f}".lstrip("0") for w in best]
            yield texts, list(beside([*range(0, -11, -1), *range(-1, -11, -1)], written))
            bars = [box[2] - box[0] for box in panel.boxes if int(box[0]) == column]
            yield bars, [0.3 * phi[topic][w] / phi.max() for w in best]


def distance(a, b) -> float:
    """The square root of the Jensen-Shannon divergence to base 2."""
    both = beside(a, b)
    return sqrt(sum(p * log2(2 * p / (p + q)) + q * log2(2 * q / (p + q)) for p, q in both) / 2)


def supports(panels, _, about):
    runs = {run.attrs["name"]: run for run in about.runs}
    nearest = runs.pop(about.picture.rows[0][1])
    own, topics = nearest["phi"].values, range(4)
    phis = [[row] for row in own]
    for run in runs.values():
        apart = [[distance(a, b) for b in run["phi"].values] for a in own]
        to = min(permutations(topics), key=lambda to: sum(apart[k][to[k]] for k in topics))
        for k in topics:
            phis[k] += [run["phi"].values[to[k]]] * (apart[k][to[k]] <= 0.3)
    means = [[mean(column) for column in beside(*rows)] for rows in phis]
    longest = max(max(row[w] for row in phis[k]) for k in topics for w in order(means[k])[:10])
    sizes = sizes_of(nearest)
    for column, k in enumerate(sorted(order(sizes), key=lambda k: -len(phis[k]))):
        best = order(means[k])[:10]
        texts = [text for x, y, text in panels[0].texts if int(x) == column]
        written = [f"topic {k} · in {len(phis[k])} of 4 runs", *nearest["word"].values[best]]
        yield texts, [*written, *(f"{means[k][w]:.3f}".lstrip("0") for w in best)]
        bars = [box[2] - box[0] for box in panels[0].boxes if int(box[0]) == column]
        yield bars, [0.3 * means[k][w] / longest for w in best]
        ends = [
            [x for x, _ in stroke] for stroke in panels[0].strokes if int(stroke[0][0]) == column
        ]
        ranges = [[edge(row[w] for row in phis[k]) for edge in (min, max)] for w in best]
        yield ends, [[column + 0.5 + 0.3 * p / longest for p in both] for both in ranges]


def circles(panels, run, about):
    (plane, listed), sizes, phi = panels, sizes_of(run), run["phi"].values
    topics, own = order(sizes), names(run, 5)
    yield plane.areas, [sum(plane.areas) * sizes[k] / sum(sizes) for k in topics]
    for a, b in combinations(range(3), 2):
        apart = np.hypot(*np.subtract(plane.dots[a], plane.dots[b]))
        yield apart, distance(phi[topics[a]], phi[topics[b]])
    yield [text for *_, text in plane.texts], list(map(str, topics))
    shares = [f"{100 * sizes[k] / sum(sizes):.1f} %" for k in topics]
    yield [text for *_, text in listed.texts], [*shares, *(own[k] for k in topics)]


def branches(panels, run, about):
    (panel,), own, phi = panels, names(run), run["phi"].values
    apart = {pair: distance(*phi[list(pair)]) for pair in combinations(range(3), 2)}
    near = min(apart, key=apart.get)
    (far,) = set(range(3)) - set(near)
    rest = mean([value for pair, value in apart.items() if pair != near])
    first, last = sorted(panel.strokes, key=lambda path: path[1][0])
    at_near = {panel.y[own[topic]] for topic in near}
    yield [path[1][0] for path in (first, last)], [apart[near], rest]
    yield {first[0][1], first[-1][1]}, at_near
    yield {last[0][1], last[-1][1]}, {panel.y[own[far]], mean(at_near)}
    yield sorted(y for _, y in panel.dots), sorted(panel.y.values())
    yield about.picture.rows[-1][-1], rest


def near_documents(panels, run, about):
    (panel,), own, theta = panels, names(run, 5), run["theta"].values
    roots = np.sqrt(theta / 2)
    left, scale, _ = np.linalg.svd(roots - roots.mean(axis=0), full_matrices=False)
    plane, n, hover = left[:, :2] * scale[:2], len(theta), about.picture.hover["Points"][0]
    for a, b in combinations(range(n), 2):
        apart = np.hypot(*np.subtract(panel.dots[a], panel.dots[b]))
        yield float(apart), float(np.hypot(*(plane[a] - plane[b])))
    largest = [order(row)[0] for row in run["n_dk"].values[-1]]
    shown = 100 * sum(scale[:2] ** 2) / sum(scale**2)
    yield panel.title, f"cvb0: {n} of {n} documents, {shown:.0f} % of the variance"
    yield {text for *_, text in panel.texts}, set(map(str, largest))
    titles = run["document"].values
    yield (
        hover,
        [f"{titles[d]}\n{theta[d, k]:.0%} {own[k]}" for d, k in enumerate(largest)],
    )


def correlations(panels, run, about):
    (matrix, arcs), own, values = panels, names(run), topic_correlations(run)["correlation"].values
    pairs = {(i, j): values[i, j] for i in range(4) for j in range(4) if i != j}
    most = max(map(abs, pairs.values()))
    joined = {frozenset(map(round, (line[0][1], line[-1][1]))) for line in arcs.lines}
    strong = [pair for pair, value in pairs.items() if abs(value) > 0.1]
    return [
        *((matrix.cell(own[i], str(j)), value) for (i, j), value in pairs.items()),
        ([*matrix.scales, matrix.title], [(-most, most), f"sb-ctm, full colour: ±{most:.2f}"]),
        (joined, {frozenset(round(arcs.y[own[k]]) for k in pair) for pair in strong}),
        *(
            (text[-1], f"correlation {values[int(text[0][0]), int(text[1][0])]:+.2f}")
            for text in (text.split("\n") for text in about.picture.hover["QuadMesh"][0])
        ),
    ]


def periods(panels, run, about):
    (stacked, *panels), own = panels, names(run)
    months, below = [time[:7] for time in run["document_time"].values], [0.0] * 4
    shares, table = shares_of(run, months), topics_over_time(run, period="month")
    for panel, layer, texts in beside(panels, stacked.layers, about.picture.hover["Points"]):
        of = table.sel(topic=own.index(panel.title))
        heights = [shares.get(month, [0] * 3)[own.index(panel.title)] for month in MONTHS]
        sides = {i: (float(of["low"][i]), float(of["high"][i])) for i in (0, 1, 3)}
        yield [panel.x, stacked.x], [MONTHS, MONTHS]
        yield panel.dots, [[i, heights[i]] for i in sides]
        yield panel.bands[0], sides
        yield [layer[i] for i in sides], [(below[i], below[i] + heights[i]) for i in sides]
        below = np.add(below, heights)
        for text, (i, (low, high)), month in beside(
            texts, sides.items(), sorted(shares.keys() - {""})
        ):
            span = f"{heights[i]:.2%} ({100 * low:.2f} to {100 * high:.2f}) of the tokens"
            yield text.split("\n")[1], f"{month}: {span}, {months.count(month)} documents"


def lifts(panels, run, about):
    (panel, bar), own, labels = panels, names(run), run["document_label"].values.tolist()
    shares, table, texts = shares_of(run, labels), topics_by_group(run), []
    whole = shares_of(run, [label and "all" for label in labels])["all"]
    for name in sorted(own, key=panel.y.get):
        for group, tick in (("a", "a (5)"), ("b", "b (10)")):
            share, lift = (
                shares[group][own.index(name)] / over[own.index(name)] for over in ([1] * 3, whole)
            )
            low, high = (
                100 * float(table[side].sel(topic=own.index(name), group=group))
                for side in ("low", "high")
            )
            yield panel.cell(name, tick), log2(lift)
            texts += [
                f"{tick[:1]}: {tick[3:-1]} documents",
                f"{share:.2%} ({low:.2f} to {high:.2f}) of its tokens, {lift:.2f} times that of all",
            ]
    drawn = [text.split("\n") for text in about.picture.hover["QuadMesh"][0]]
    yield [line for text in drawn for line in text[::2]], texts
    most = log2(min(end for end in LIFTS if log2(end) >= max(map(abs, panel.values))))
    yield [panel.x, panel.scales], [{"a (5)": 0, "b (10)": 1}, [(-most, most)]]
    yield bar.y, {f"{2**end:.2g}": end for end in (-most, -most / 2, 0, most / 2, most)}


def column_effects(panels, run, about):
    return by_label(panels, run, about, effect_curve(run, "~ label", "label"))


def formula_effects(panels, run, about):
    return by_label(panels, run, about, prevalence_curve(run, "label"))


def by_formula():
    labelled = replace(simulated(40, 15, 30), labels=("a", "b") * 20)
    options = {"prevalence": "~ label"}
    return case([fit(labelled, "sb-ctm", 4, options=options, burn_in=1, snapshot_every=1)])


def by_label(panels, run, about, curve):
    own = names(run)
    for panel, texts in beside(panels, about.picture.hover["Points"]):
        of = curve.sel(topic=own.index(panel.title))
        shares, changes = (of[name].values.tolist() for name in ("share", "change"))
        sides = [
            of[f"{name}_{side}"].values for name in ("share", "change") for side in ("low", "high")
        ]
        yield panel.x, {"a": 0, "b": 1}
        yield panel.dots, [[0, shares[0]], [1, shares[1]]]
        yield panel.lines, [[[i, sides[0][i]], [i, sides[1][i]]] for i in (0, 1)]
        for i, text in enumerate(texts):
            low, high, change_low, change_high = (100 * side[i] for side in sides)
            about_share = f"label {'ab'[i]}: {shares[i]:.2%} ({low:.2f} to {high:.2f})"
            points = f"{100 * changes[i]:+.2f} ({change_low:+.2f} to {change_high:+.2f})"
            yield text.split("\n")[1:], [about_share, f"{points} percentage points from the first"]


def group_gaps(panels, run, about):
    (panel,), own, labels = panels, names(run), run["document_label"].values.tolist()
    shares, sides = shares_of(run, labels), [f"label: {one}" if one else None for one in labels]
    table = group_differences(run, sides, "label: b", "label: a")
    for text in about.picture.hover["Points"][0]:
        k = int(text.split()[0])
        a, b, place = shares["a"][k], shares["b"][k], panel.y[own[k]]
        low, high = (100 * float(table[side].sel(topic=k)) for side in ("low", "high"))
        lines = [[x for x, _ in line] for line in panel.lines if {y for _, y in line} == {place}]
        yield [panel.across(place), *lines], [[100 * (b - a)], [low, high]]
        gap = f"difference {100 * (b - a):+.2f} ({low:+.2f} to {high:+.2f}) percentage points"
        wanted = [f"label: b: {b:.2%}, all other documents: {a:.2%}", gap]
        yield text.split("\n")[1:], wanted


def years(panels, run, about):
    times, vocabulary = run["time"].values.tolist(), run["word"].values.tolist()
    for panel in panels:
        of = run["phi_by_time"].isel(snapshot=-1).sel(topic=names(run).index(panel.title))
        phi, drawn = (
            of.transpose("word", "time").values,
            [vocabulary.index(text) for *_, text in panel.texts],
        )
        yield panel.lines, [list(map(list, beside(times, phi[w]))) for w in drawn]
        yield set(drawn), set(order(np.ptp(phi, axis=1))[:6])
        yield panel.x, {str(year): year for year in times}


def prevalence(panels, run, about):
    (panel,), values = panels, run["prevalence"].transpose("topic", "time").values
    most, ticks = np.nanmax(values), list(map(str, run["time"].values))
    return [
        ([*panel.scales, panel.title], [(0, most), f"sb-dtm, full colour: {most:.0%}"]),
        *((panel.cell(names(run)[k], ticks[i]), value) for (k, i), value in np.ndenumerate(values)),
    ]


def coherences(panels, _, about):
    column = about.picture.header.index("npmi")
    for panel, run in beside(panels, about.runs):
        scores = [row[column] for row in about.picture.rows if row[0] == panel.title]
        for name, score in beside(names(run), scores):
            place = panel.y[name]
            yield panel.across(place), [score]
            yield panel.across(place, True), sorted([mean(scores), score])


def ribbons(panels, _, about):
    ((panel,), (train,)) = panels, about.corpora.values()
    for run, left in beside(about.runs, (0.38, 0.61)):
        joint = run["theta"].values[train.documents] * run["phi"].values.T[train.words]
        tokens = (train.counts[:, None] * joint / joint.sum(axis=1, keepdims=True)).sum(axis=0)
        bars = [box for box in panel.boxes if abs(box[0] - left) + box[2] - box[0] < 0.02]
        texts = [
            (y, text.split("   ")[-1]) for x, y, text in panel.texts if (x < 0.5) == (left < 0.5)
        ]
        tops = {text: hi - lo for y, text in texts for _, lo, _, hi in bars if lo < y < hi}
        yield tops, {name: 3.2 * own / sum(tokens) for name, own in beside(names(run, 5), tokens)}


def shares_in_rows(about) -> list[list[float]]:
    """Share of each word in the counts of each row."""
    counts = np.zeros((12, 3))
    for corpus in about.corpora.values():
        np.add.at(counts, (corpus.documents, corpus.words), corpus.counts)
    return counts / counts.sum(axis=1, keepdims=True)


def maps(panels, run, about):
    rows, p, counted = (
        run["document"].values.tolist(),
        run["probability"].values,
        shares_in_rows(about),
    )
    titles = ["Bob 2001, counted", f"Bob 2001, inferred, full colour: {p[:, 1].max():.1%}"]
    for panel, values, title, texts in beside(
        panels, (counted, p), titles, about.picture.hover["Polygons"]
    ):
        places = [text.split("\n")[0] for text in texts]
        at = [rows.index(f"{place} 2001") for place in places]
        west = {
            place: min(box[0] for box, of in beside(panel.boxes, places) if of == place)
            for place in places
        }
        yield [panel.title, sorted(west, key=west.get)], [title, ["CA", "a town", "Kansas", "OH"]]
        yield [panel.values, panel.scales], [[values[row, 1] for row in at], [(0, p[:, 1].max())]]
        shown = [f"Bob 2001: {p[row, 1]:.2%}, counted: {counted[row, 1]:.2%}" for row in at]
        yield (
            [
                ", ".join([lines[1].split(" ±")[0], lines[2]])
                for lines in (text.split("\n") for text in texts)
            ],
            shown,
        )


def places_by_year(panels, run, about):
    counted, vocabulary = shares_in_rows(about), run["word"].values.tolist()
    at = [run["document"].values.tolist().index(f"Kansas {year}") for year in (2000, 2001, 2002)]
    for panel in panels:
        p, spread, share = (
            {2000 + i: of[row][vocabulary.index(panel.title)] for i, row in enumerate(at)}
            for of in (run["probability"].values, run["probability_deviation"].values, counted)
        )
        yield [panel.lines[0], panel.dots], [list(map(list, of.items())) for of in (p, share)]
        yield (
            panel.bands[0],
            {year: (max(p[year] - spread[year], 0), p[year] + spread[year]) for year in p},
        )
        yield panel.x, {str(year): year for year in p}


def paths(panels, run, about):
    means, spread = run["states_mean"].values[:30], run["states_deviation"].values[:30]
    for panel, k in beside(panels, order(means.var(axis=0))):
        both = list(beside(means[:, k], spread[:, k]))
        yield panel.lines[0], [[i, middle] for i, (middle, _) in enumerate(both)]
        yield panel.bands[0], {i: (m - 2 * s, m + 2 * s) for i, (m, s) in enumerate(both)}
        yield [x for x, _ in panel.lines[1]], [24.5, 24.5]


def chances(panels, run, about):
    values = run["state_probability"].isel(snapshot=-1).transpose("hidden_state", "document").values
    return [(panels[0].scales, [(0, 1)]), (len(about.picture.rows), 30 * 3)] + [
        ([panels[0].cell(name, float(i)) for i in range(30)], values[int(name[0])][:30])
        for name in panels[0].y
    ]


def gains(panels, _, about):
    (train, test), (scored,) = about.corpora.values(), about.scored.values()
    seen = [sum(train.counts[train.words == w]) for w in range(4)]
    bases = {
        "unseen clipped at 1e-8": [log(max(n / sum(seen), 1e-8)) for n in seen],
        "0.1 added to each count": [log((n + 0.1) / (sum(seen) + 0.4)) for n in seen],
    }
    rows = list(beside(test.documents, scored.log_likelihood[test.documents], test.words))
    return [
        (
            [box[3] + box[1] for box in panel.boxes if box[0] < panel.x[name] < box[2]],
            [mean([score - base[w] for d, score, w in rows if first <= d < first + 30])],
        )
        for panel, base in beside(panels, (bases[panel.title] for panel in panels))
        for name, first in (("one", 0), ("two", 30))
    ]


def loaded(panels, run, about):
    ((panel,), rows, spread) = (
        panels,
        run["loadings"].values[-1],
        np.cov(run["states"].values[-1].T),
    )
    said = run["word"].values[run["stick_words"].values[: len(rows)]].tolist()
    places = {text: x for x, _, text in panel.texts}
    return [
        (places, {word: x for word, (x, _) in beside(said, panel.dots)}),
        (about.picture.hover["Points"], [said]),
        *(
            (
                np.hypot(*np.subtract(panel.dots[a], panel.dots[b])),
                sqrt((rows[a] - rows[b]) @ spread @ (rows[a] - rows[b])),
            )
            for a, b in combinations(range(3), 2)
        ),
    ]


def next_words(panels, run, about):
    (panel,), logs = panels, []
    belief, moves, emitted = (
        run[name].values[-1] for name in ("first_state", "transitions", "emissions")
    )
    said = np.concatenate(
        [corpus.words[corpus.documents < 30] for corpus in about.corpora.values()]
    )
    for w in said:
        joint = [belief[s] * emitted[s][w] for s in range(3)]
        logs += [np.log10(sum(joint))]
        belief = [sum(joint[s] * moves[s][to] for s in range(3)) / sum(joint) for to in range(3)]
    chosen = [text.split("\n")[0].split(": ")[1] for text in about.picture.hover["Polygons"][0]]
    return [
        (panel.values, logs),
        ([text for *_, text in panel.texts], run["word"].values[said].tolist()),
        (sorted({min(path)[0] for path in panel.strokes}), [25, 26, 27, 28, 29]),
        (chosen, [f"{10**value:.2%}" for value in logs]),
    ]


def tables_of(run) -> dict[str, dict]:
    """Table → (condition, state) → posterior mean of the probability."""
    prior = run["table_prior"].values[-1] if "table_prior" in run else run["prior"].values
    of, found = ("table", "row", "given", "value"), {}
    cells = list(
        beside(*(run[name].values.tolist() for name in of), run["n_cpt"].values[-1] + prior)
    )
    for table, row, given, value, weight in cells:
        same_row = [other for name, at, *_, other in cells if (name, at) == (table, row)]
        found.setdefault(table, {})[given[-1:], value] = weight / sum(same_row)
    return found


def drawn_nodes(panels, run, about):
    hover = [text for own in about.picture.hover["Points"] for text in own]
    places = {text: (x, y) for x, y, text in panels[0].texts}
    at = [places[text.split("\n")[0].split(",")[0]] for text in hover]
    nats = -sum(p * log(p) for p in tables_of(run)["class"].values())
    return [
        (
            [(x, abs(y - height)) for (x, height), (_, y) in beside(panels[0].dots, at)],
            [(x, 0.42) for x, _ in at],
        ),
        (hover[0].split("\n")[-1], f"entropy {nats:.3f} of {log(2):.3f} nats"),
    ]


def table_cells(panels, run, about):
    (panel,), tables, classes = panels, tables_of(run), ("0", "1")
    if about.view == "distributions":
        rows = {next(tick for tick in panel.y if tick[-1] == given): given for given in classes}
        return [
            (panel.cell(row, value), tables["f1"][given, value])
            for row, given in rows.items()
            for value in classes
        ]
    if about.view == "class-profiles":
        ticks = {k: f"{k}: {100 * tables['class']['', k]:.0f} %" for k in classes}
        fields = [f"f{i}" for i in range(3)]
        return [
            (panel.cell(f"{of}=1", ticks[k]), tables[of][k, "1"]) for of in fields for k in classes
        ]
    (records,) = about.corpora.values()
    known = beside(records.fields, records.levels, records.values[2])
    each = [[tables[field][k, names_[value]] for k in classes] for field, names_, value in known]
    joint = [tables["class"]["", k] * np.prod([row[int(k)] for row in each]) for k in classes]
    return [
        ([panel.cell(*panel.y, k) for k in (0.0, 1.0)], [one / sum(joint) for one in joint]),
        (panel.scales, [(0, 1)]),
    ]


def compared():
    return case(each_run(tiny_comparison()))


def paired():
    """Three seeds of a reference, of a label that is better and of one that is worse, so that no sign is lost."""
    last = {"svb": [103, 110, 118], "cgs": [100, 104, 109], "cvb": [98, 99, 104]}
    return case(
        [
            made_up(engine, [2 * value, value], seed=seed)
            for engine, values in last.items()
            for seed, value in enumerate(values)
        ]
    )


def small():
    return case(
        [tiny_run("cgs"), tiny_run("svb")],
        wb.hold_out_tokens(tiny_corpus(), fraction=0.2, seed=0)[0],
    )


def agreeing():
    """Four seeds: two with the same topics in another order, one with other words of a topic, one with other words of all."""
    first = tiny_run("cgs").load()
    phi, n_words = first["phi"].values, first.sizes["word"]
    others = [0.9 * phi[[1, 2, 3, 0]] + 0.1 / n_words, phi.copy(), phi[:, ::-1]]
    others[1][2] = np.roll(phi[2], n_words // 2)
    return case([first, *(_seeded(first, seed, rows) for seed, rows in enumerate(others, 7))])


def _seeded(run, seed: int, phi):
    """The run as one of another seed, with these words of its topics."""
    spec = run.attrs["spec"].replace('"seed": 0', f'"seed": {seed}')
    return run.assign(phi=(("topic", "word"), phi)).assign_attrs(spec=spec, name=f"seed {seed}")


def turned(run):
    """The run with its topics in another order, so that their numbers are not that of their sizes or years."""
    return run.isel(topic=[2, 0, 1]).assign_coords(topic=range(3))


def yearly():
    return case([turned(fit(dated(simulated(20, 15, 30)), "sb-dtm", 3))])


MOVES = {
    "move": [1.0, 2, 2, 1],
    "move_accepted": [1.0, 1, 0, 0],
    "move_gain": [1.0, 1, -1, -1],
    "move_from": [0.0, 1, 0, 1],
    "move_to": [1.0, 0, 1, 0],
}
ALPHA = [[0.5, 0.2], [0.6, 0.3]]
CHECKED = {
    "ordering": (compared, marks),
    "differences": (paired, differences),
    "perplexity-by-iterations": (compared, curves),
    "perplexity-by-seconds": (compared, curves),
    "perplexity-by-updates": (compared, curves),
    "perplexity-by-steps": (lambda: case(runs_by_k()), curves),
    "state-and-average": (compared, state_and_average),
    "gains": (lambda: case(numbered("test_gain_joint_clipped", "test_gain_joint_added")), marks),
    "hits": (lambda: case(numbered(*(name for _, name in CURVES["hits"]))), curves),
    "bound": (lambda: case(numbered("bound")), curves),
    "objectives": (lambda: case(numbered("log_joint", "objective")), curves),
    "convergence": (compared, ranks),
    "against-topics": (lambda: case(runs_by_k()), scores_by_k),
    "choose-k": (lambda: case(runs_by_k()), scores_by_k),
    "settings": (lambda: case(runs_by_k()), scores_by_k),
    "frontier": (lambda: case([*settings(), *chains()]), costs),
    "gap": (
        lambda: case(
            [
                *tries(),
                gibbs_chain(5, (50, 60, 70, 12, 12)),
                gibbs_chain(7, (50, 60, 70, 12, 13), seed=1),
            ]
        ),
        stacked,
    ),
    "overtaking": (lambda: case([*pair(k=2), *pair(k=4, faster=8)]), speedups),
    "topic-numbers": (lambda: case([tiny_run("g-hdp")]), curves),
    "hyperparameters": (lambda: case([*map(tiny_run, ("g-hdp", "cv-hdp", "cgs"))]), curves),
    "alphas": (
        lambda: case([made_up("cgs", [2.0, 1.0]).assign(alpha=(("iteration", "topic"), ALPHA))]),
        vectors,
    ),
    "moves": (
        lambda: case(
            [
                bounded("cv-hdp", [-16, -12, -8, -4]).assign(
                    {name: ("iteration", np.array(values, float)) for name, values in MOVES.items()}
                )
            ]
        ),
        tried,
    ),
    "lineage": (lambda: case([(parent := made_up("cgs", [1])), begun_from(parent, "svb")]), tree),
    "network": (
        lambda: case([run_of(Network.of("hpam2", n_topics=3, sizes={"super": 2}))]),
        levels,
    ),
    "topic-sizes": (compared, vectors),
    "topic-words": (small, words),
    "consensus": (agreeing, supports),
    "topic-map": (lambda: case([turned(grouped().runs[0])]), circles),
    "topic-tree": (lambda: case([turned(grouped().runs[0])]), branches),
    "document-map": (grouped, near_documents),
    "topic-correlations": (lambda: case([fit(simulated(20, 15, 30), "sb-ctm", 4)]), correlations),
    "prevalence-by-year": (yearly, prevalence),
    "topics-over-time": (lambda: grouped(period="month"), periods),
    "topics-by-group": (grouped, lifts),
    "group-differences": (grouped, group_gaps),
    "effects": (grouped, column_effects),
    "prevalence": (by_formula, formula_effects),
    "words-by-year": (yearly, years),
    "coherence": (small, coherences),
    "topic-flow": (small, ribbons),
    "word-map": (lambda: placed(word="Bob", time=2001), maps),
    "rows-by-year": (lambda: placed(place="Kansas"), places_by_year),
    "hidden-paths": (lambda: in_sequence("sbm-lds", state_dim=2), paths),
    "state-probabilities": (lambda: in_sequence("hmm", n_states=3), chances),
    "sequence-gains": (lambda: in_sequence("hmm", n_states=3), gains),
    "loadings": (lambda: in_sequence("sbm-lds", state_dim=2), loaded),
    "text": (lambda: in_sequence("hmm", n_states=3), next_words),
    "nodes": (net, drawn_nodes),
    "class-profiles": (net, table_cells),
    "distributions": (lambda: net(table="f1"), table_cells),
    "record-posterior": (lambda: net(record=3), table_cells),
    "recorded": (lambda: case(numbered("speed", "heat")), curves),
}
"""View → runs that have all that it needs, and what its panels show of them, as pairs of what is drawn and what is computed."""


def same(drawn, computed) -> bool:
    """Are two nested collections of texts and numbers the same? Numbers to the rounding of sums in float64."""
    if isinstance(computed, dict):
        return drawn.keys() == computed.keys() and same(
            [*map(drawn.get, computed)], [*computed.values()]
        )
    if isinstance(computed, (list, tuple, np.ndarray)):
        return len(drawn) == len(computed) and all(map(same, drawn, computed))
    return drawn == (
        computed
        if isinstance(computed, (str, set))
        else pytest.approx(computed, rel=1e-7, abs=1e-12, nan_ok=True)
    )


@pytest.mark.parametrize("view", VIEWS, ids=[view.name for view in VIEWS])
def test_a_view_draws_its_numbers(view):
    made, check = CHECKED[view.name]
    about, panels = made(), []
    drawn = view.pictures(RunsToDraw(about.runs, 2, about.corpora, about.scored), **about.options)
    for picture in drawn:
        figure = _figure(picture.panels, 2, picture.legend, picture.height)
        own = list(map(Read, figure.axes))
        labels = dict.fromkeys(label for panel in own for label in panel.named if label[0] != "_")
        legend = [text.get_text() for each in figure.legends for text in each.texts]
        assert legend == [*labels] * picture.legend
        panels += own
    about.view, about.picture = view.name, drawn[0]
    pairs = list(check(panels, about.runs[0], about))
    wrong = [pair for pair in pairs if not same(*pair)]
    assert pairs and not wrong, f"drawn, and computed: {wrong[:3]}"


@pytest.mark.parametrize(
    "name", ["topics-over-time", "topics-by-group", "group-differences", "effects"]
)
def test_a_view_draws_without_options_what_its_controls_begin_with(name):
    """So that a page need not draw again once it has the controls."""
    view, about = view_named(name), grouped()
    shown = RunsToDraw(about.runs, 2, about.corpora)
    initial = {control.option: control.value for control in view.controls(about.runs[0])}
    drawn, begun = view.pictures(shown), view.pictures(shown, **initial)
    assert repr(drawn[0].rows) == repr(begun[0].rows) and drawn[0].hover == begun[0].hover
