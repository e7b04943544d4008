"""The ledger as a table: each item of the papers with its result, or the reason why there is none."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from scipy.special import stdtr

from workbench.numbers import format_with_error
from workbench.papers.figures import SMOOTH, STARTED
from workbench.papers.results import EXTENTS, SHIPPED, WHOLE, Number, Outcome, Result, read_results
from workbench.papers.verdicts import FAILS, HOLDS, KINDS, UNDECIDED
from workbench.tables import Table, numbers, texts

PAPERS = {
    "H": "Welling, Teh & Kappen (2008), Hybrid variational/Gibbs collapsed inference in topic models",
    "C": "Collin & Martin, A collapsed variational Bayesian inference algorithm for latent Dirichlet allocation (a study)",
    "V": "Heinrich & Goesele (2009), Variational Bayes for generic topic models",
    "D": "Teh, Kurihara & Welling (2008), Collapsed variational inference for HDP",
    "P": "Linderman, Johnson & Adams (2015), Dependent multinomial models made easy",
}
"""First letter of the ids of a paper → the paper."""


@dataclass(frozen=True)
class Item:
    """A figure, table or number of a paper: the published result, and what reproduces it, or why nothing does."""

    # such as H19: the paper's letter and a number, the same for related items
    id: str
    where: str  # place in the paper
    target: str  # the result in the paper or the specification
    figures: tuple[str, ...] = ()  # names for `workbench reproduce`
    # parts of the texts of the claims of this item; empty: all claims of the figure
    says: tuple[str, ...] = ()
    means: bool = True  # whether the means of the methods are shown
    test: str = ""  # a test that checks it, FILE::NAME in tests/
    numbers_agree: bool = True  # whether the numbers of the test are the paper's
    why: str = ""  # why nothing reproduces it, or which part is not reproduced

    @property
    def paper(self) -> str:
        return PAPERS[self.id[0]]


SIZES = "corpus/test_catalog.py::test_a_data_set_is_as_described"
OF_PAPERS = (
    # ---- hybrids
    Item(
        "H16",
        "section 7, the data set KOS",
        "3,430 documents, 6,909 words, 467,714 tokens in 360,664 pairs of document and word.",
        test=SIZES,
        numbers_agree=False,
        why="Documents and tokens are as many; the published file has 6,906 words and 353,160 pairs.",
    ),
    Item(
        "H17",
        "section 7, the data set NIPS",
        "1,740 documents, 12,419 words, 2,166,029 tokens in 836,644 pairs.",
        test=SIZES,
        numbers_agree=False,
        why="The paper's edition is not available: ours has 13,649 words, 2,301,375 tokens and 933,295 pairs.",
    ),
    Item(
        "H19",
        "figure 3",
        "KOS, 10 topics: variational engines settle sooner than Gibbs sampling, at worse perplexities, and "
        "the hybrid of CVB follows Gibbs sampling. The plot has no numbers; computed beforehand: averaged Gibbs sampling "
        "1612.5 to 1624.5, its single states 1705 to 1722.",
        ("hybrid-fig3",),
    ),
    Item(
        "H19",
        "figure 4",
        "KOS, the perplexities at the end: collapsed below standard, each hybrid below its variational "
        "parent, the hybrid of CVB level with Gibbs sampling.",
        ("hybrid-fig4",),
    ),
    Item(
        "H19",
        "figure 5",
        "NIPS, 40 topics, perplexity along the iterations: the same statements as for KOS.",
        ("hybrid-fig5",),
    ),
    Item(
        "H19",
        "figure 6",
        "NIPS, 40 topics, the perplexities at the end: the same order as on KOS.",
        ("hybrid-fig6",),
    ),
    Item(
        "H20",
        "section 7, sizes of the truncated KOS",
        "The 3,000 most frequent words: 404,344 tokens, 299,144 pairs; 4,000: "
        "428,396 tokens, 319,321 pairs.",
        test="corpus/test_experiments.py::test_the_most_frequent_words_of_kos",
        why="Pairs differ by 27 and 16: words that are equally frequent at the limit can be kept in any order.",
    ),
    Item(
        "H20",
        "figure 7",
        "KOS with its 3,000 most frequent words: lower perplexities in the same order.",
        ("hybrid-fig7",),
    ),
    Item(
        "H20",
        "text beside figure 7",
        "KOS with its 4,000 most frequent words: the same order.",
        ("hybrid-fig7-4000",),
    ),
    Item(
        "H20",
        "figure 8",
        "NIPS with its 6,000 most frequent words: the same order.",
        ("hybrid-fig8",),
    ),
    Item(
        "H20",
        "text beside figure 8",
        "NIPS with 4,000 and with 8,000 words: the same order.",
        ("hybrid-fig8-4000", "hybrid-fig8-8000"),
    ),
    Item(
        "H21",
        "section 7, singletons of KOS",
        "Pairs of count 1 are 62.3 % of the tokens and 82.5 % of the pairs; 176,255 "
        "tokens in 61,701 pairs are left without them, and 26 documents have nothing left.",
        test="corpus/test_experiments.py::test_the_singletons_of_kos_before_any_split",
    ),
    Item(
        "H21",
        "figure 9",
        "KOS without singletons in training: a hybrid differs from its parent by averaging alone.",
        ("hybrid-fig9",),
    ),
    Item(
        "H21",
        "figure 10",
        "KOS without singletons in training and test. The paper does not say which tokens of the test set "
        "these are: by two rules.",
        ("hybrid-fig10", "hybrid-fig10-full"),
    ),
    Item(
        "H21",
        "text beside figure 10",
        "NIPS without singletons: effects in the same direction, but smaller.",
        why="No record runs it; workbench compare nips --singletons train does.",
    ),
    Item(
        "H22",
        "footnote 3",
        "exp(digamma(x)) is almost a straight line above 5, which could save time.",
        why="Engines use a close approximation everywhere; what the straight line would cost and save was not measured.",
    ),
    Item(
        "H23",
        "section 7, end",
        "Hybrids cost less where counts are large. Computed beforehand for KOS: visits of a sweep, "
        "as a share of the tokens, 75.5 % for r 0 and 1, 84.0 % for 2, 88.8 % for 3, 93.6 % for 5, 98.2 % for 10.",
        why="No record compares costs by r; the tab Frontier of the Sweep page does so for your own runs.",
    ),
    # ---- study of CVB
    Item(
        "C5",
        "figure 2",
        "1,000 documents of KOS, 8 topics: on training words CVB is better than VB, and both settle in "
        "about ten iterations.",
        why="No record compares training words.",
    ),
    Item(
        "C5",
        "figure 3",
        "The same documents, held-out words: CVB settles sooner than Gibbs sampling and is better than VB; "
        "Gibbs sampling is best in the end.",
        ("cvb-fig3",),
    ),
    Item(
        "C6",
        "section 5, the data set",
        "395 stories of Reuters, 212 words each on average, 4,258 different ones; 84,010 "
        "tokens in 60,114 pairs.",
        test=SIZES,
    ),
    Item(
        "C6",
        "figure 4",
        "395 stories of Reuters, 10 topics, held-out words: the same statements as for KOS.",
        ("cvb-fig4",),
    ),
    Item(
        "C7",
        "figure 5",
        "Three topics of CVB by their ten most frequent words: (year, world …), (10th, turks, ottoman …), "
        "(hao, thich, thien …).",
        why="No record finds these topics among those of a run.",
    ),
    Item(
        "C8",
        "sections 5 and 6",
        "An iteration of CVB costs more than a sweep of Gibbs sampling.",
        why="Benchmarks measure both (make bench), but no record holds the statement against them.",
    ),
    # ---- generic models
    Item(
        "V11",
        "section 4, the data set NIPS",
        "1,740 documents, 174 of them held out, 13,649 words, 2,301,375 tokens, 2,037 authors.",
        test="corpus/test_catalog.py::test_nips_has_authors_titles_and_years",
    ),
    Item(
        "V12",
        "figure 2, the table",
        "LDA, the author-topic model and pachinko allocation, each by Gibbs sampling, VB_ML and "
        "VB in two sizes: 18 perplexities from 1613.9 to 2115.1, 330 to 440 sweeps against 19 to 28 iterations. Gibbs "
        "sampling is always better, VB mostly a little better than VB_ML, and takes more than twice as long.",
        ("generic-fig2",),
    ),
    # ---- HDP
    Item(
        "D11",
        "section 4, the data set KOS",
        "3,430 documents, 6,906 words, 467,714 tokens.",
        test=SIZES,
    ),
    Item(
        "D11",
        "section 4, the data set Reuters",
        "8,433 documents, 4,593 words, 566,298 tokens.",
        test=SIZES,
        numbers_agree=False,
        why="How stories were chosen is not reported: our reconstruction has 8,417, 4,550 and 563,571.",
    ),
    Item(
        "D11",
        "section 4, five newsgroups",
        "4,716 documents, 8,424 words, 437,850 tokens.",
        test=SIZES,
        numbers_agree=False,
        why="How words were chosen is not reported: ours has 4,700, 8,631 and 510,142.",
    ),
    Item(
        "D14",
        "figure 2",
        "Log p of test words and bounds on three data sets, with 40, 80 and 120 topics: CV-HDP above "
        "CV-LDA above V-LDA, Gibbs sampling above these, and G-HDP begun with 100 topics above all. Plots without numbers.",
        ("cv-hdp-fig2",),
        ("predict", "bound"),
    ),
    Item(
        "D15",
        "caption of figure 2",
        "Topics that G-HDP finds, begun with 1 and with 100: KOS 113.2 ± 11.4 and 168.3 ± 3.9, "
        "Reuters 60.4 ± 6.4 and 122.2 ± 5.0, newsgroups 83.5 ± 5.0 and 128.1 ± 6.6.",
        ("cv-hdp-fig2",),
        ("topics on",),
        False,
    ),
    Item(
        "D16",
        "figure 3",
        "KOS, 130 topics: variational engines that begin from a Gibbs sampler end clearly better, CV-HDP "
        "best of them.",
        ("cv-hdp-fig3",),
    ),
    Item(
        "D17",
        "section 4",
        "Learning beta and tau improves nothing.",
        ("cv-hdp-kos500",),
        ("learning beta and tau",),
        False,
    ),
    Item(
        "D18",
        "sections 1 and 4",
        "Variational engines settle in fewer steps than sampling.",
        ("cv-hdp-fig2",),
        ("converge faster",),
        False,
    ),
    Item(
        "D10",
        "section 4, the algorithms",
        "500 documents of KOS, 40 topics; not in the paper. Computed beforehand by a "
        "separate program: log p of test words and bounds of ten algorithms, from -7.84 to -7.19 and from -8.78 to -7.96.",
        ("cv-hdp-kos500",),
        ("predict", "is above", "as likely", "log p of", "bound of"),
    ),
    # ---- stick breaking
    Item(
        "P3",
        "figure 1",
        "Correlated, uncorrelated and anti-correlated Gaussians of two sticks, and their densities on the "
        "simplex.",
        ("sb-fig1",),
    ),
    Item(
        "P4",
        "figure 5",
        "Sticks of a uniform Dirichlet over nine categories: more skewed the earlier, and close to the "
        "Gaussian of the same moments.",
        ("sb-fig5",),
    ),
    Item(
        "P8",
        "figure 2, middle",
        "Associated Press: SB-CTM predicts best, EM lies between it and LN-CTM, LDA settles first. "
        "The plot has no numbers.",
        ("ctm-fig2-ap",),
    ),
    Item("P8", "figure 2, right", "20 Newsgroups: the same order.", ("ctm-fig2-news",)),
    Item(
        "P9",
        "figure 2, left",
        "Topics of parliament and of the election go together, those of the economy and of courts "
        "do not.",
        ("ctm-fig2-topics",),
    ),
    Item(
        "P13",
        "section 4, the data",
        "100 names in 48 states from 1960 to 2013, 50 births of each state and year.",
        test="corpus/test_covariate_sets.py::test_names_are_44_states_with_fifty_births_a_row_before_2012",
        numbers_agree=False,
        why="Full counts of California, Illinois, New York and Texas are not among our files: 44 states.",
    ),
    Item(
        "P13",
        "figure 3, the table",
        "Names of 2012 and 2013, hits among the 10 most and the 10 least frequent ones: static "
        "4.2 and 0.7, raw GP 4.9 and 0.7, LNM 6.7 and 4.8, SBM 7.3 and 4.0 in 2012, and as many within 0.3 in 2013.",
        ("gp-table3",),
    ),
    Item(
        "P14",
        "figure 3, top",
        "Maps of the probabilities of names in three years, whose uncertainty is negligible.",
        ("gp-fig3-maps",),
    ),
    Item(
        "P15",
        "figure 3, bottom right",
        "The stick-breaking process comes to its predictions much sooner than the "
        "logistic-normal one. The plot has no numbers.",
        ("gp-fig3-time",),
        ("faster", "sampler is more", "as good"),
    ),
    Item(
        "P16",
        "appendix B",
        "Predictions with the trained values integrated out vary less, so that fewer sweeps are needed.",
        ("gp-fig3-time",),
        ("collapsed predictions",),
        False,
    ),
    Item(
        "P17",
        "figure 6",
        "Three categories: the Gaussians of four Gibbs steps beside the true posterior of the sticks.",
        ("sb-fig6",),
    ),
    Item(
        "P19",
        "section 5",
        "Hidden Markov models of 20, 30 and 40 states predict worse than one of 10.",
        why="Records run 10 states alone.",
    ),
    Item(
        "P20",
        "figure 4, DNA",
        "The last 10 of 682 protein symbols: the hidden Markov model predicts best, SBM-LDS best of "
        "the linear dynamical systems, and orders of magnitude faster than particles. The plot has no numbers.",
        ("lds-fig4-dna",),
    ),
    Item(
        "P20",
        "figure 4, Associated Press",
        "The last 10 words of articles: SBM-LDS predicts best.",
        ("lds-fig4-reuters",),
        why="The running text is not available: stories of Reuters stand in its place.",
    ),
    Item(
        "P20",
        "figure 4, Alice",
        "The last 100 of 4,000 words of Alice's Adventures in Wonderland: SBM-LDS predicts best.",
        ("lds-fig4-alice",),
    ),
    Item(
        "P21",
        "section 2.3",
        "The order of the categories on the stick does no harm; the paper says so and measures "
        "nothing.",
        ("sb-order", "lds-order"),
    ),
)


def _with_second_rows(items: Iterable[Item]) -> Iterator[Item]:
    """Yield each item, followed by one for variants of its figures where variational methods begin with a warm-up."""
    for item in items:
        yield item
        variants = tuple(name + SMOOTH for name in item.figures if name in STARTED)
        if variants and item.means:  # further items of a figure are on some of its claims
            where = f"{item.where}, from a good start"
            target = (
                "Not in the paper: the same claims where variational methods begin with a warm-up."
            )
            yield replace(item, where=where, target=target, figures=variants, says=())


ITEMS = tuple(_with_second_rows(OF_PAPERS))
"""The items of the papers, and those that are also computed from a good start."""
NUMBER, NOT_RUN, BY_TEST, OTHER, NOTHING = (
    "number",
    "not run",
    "checked by a test",
    "other numbers",
    "not reproduced",
)
VERDICTS = {
    HOLDS: "The 95 % interval, or a computation, supports the claim.",
    FAILS: "The 95 % interval, or a computation, contradicts the claim.",
    UNDECIDED: "The interval includes both, or there are too few runs.",
    NUMBER: "A number of the paper and ours.",
    NOT_RUN: "There is a command, which has not been run.",
    BY_TEST: "A test of the package checks the numbers.",
    OTHER: "A test has other numbers than the paper; the row gives the reason.",
    NOTHING: "Nothing reproduces it; the row gives the reason.",
}
"""Verdict → meaning."""
CHANCE = 0.05
"""Share of verdicts on differences that are decided by chance where there is no difference."""


class Line(NamedTuple):
    """A claim or a number of a ledger item: the verdict, the text, and our numbers."""

    verdict: str  # of `VERDICTS`
    says: str
    ours: str  # our numbers as a text
    p: float = math.nan  # p-value of no difference, see `p_value`


class Entry(NamedTuple):
    """A ledger item with one of the figures that reproduce it, and the result of that figure, if any."""

    item: Item
    figure: str  # name of the figure; "" without one
    result: Result | None
    source: str  # source of the result
    lines: tuple[Line, ...]
    means: tuple[str, ...]  # means of the methods as texts

    @property
    def extent(self) -> str:
        """Return "whole", "part" or "quick", for how much of the figure was run; "" without a result."""
        return self.result.extent if self.result else ""

    @property
    def command(self) -> str:
        """Return the command of the entry: of its test, else of its result, else of the whole figure; "" if it has none."""
        if self.item.test:
            return f"python -m pytest tests/{self.item.test}"
        return (
            self.result.command
            if self.result
            else f"workbench reproduce {self.figure}" * bool(self.figure)
        )


def entries(folder: Path | None = None, shipped: Path = SHIPPED) -> list[Entry]:
    """Return all ledger entries in the order of `ITEMS`, with results from the package and from a file.

    For each figure the fullest result is used (whole, part, quick), then the newest.

    Raises
    ------
    ReportError
        A file is not a ledger.
    """
    sources = {shipped: "results that come with the package"} | ({folder: folder} if folder else {})
    results = [
        (result_read, str(source))
        for path, source in sources.items()
        for result_read in read_results(path)
    ]
    results.sort(key=lambda pair: (-EXTENTS.index(pair[0].extent), pair[0].date))
    result_by_figure = {result.figure: (result, source) for result, source in results}
    return [
        _entry(item, figure, *result_by_figure.get(figure, (None, "")))
        for item in ITEMS
        for figure in item.figures or ("",)
    ]


def _entry(item: Item, figure: str, result: Result | None, source: str) -> Entry:
    if item.test:
        lines = [Line(BY_TEST if item.numbers_agree else OTHER, item.why, "")]
    elif not figure:
        lines = [Line(NOTHING, item.why, "")]
    elif result is None:
        lines = [Line(NOT_RUN, "", "")]
    else:
        lines = list(_lines(item, result)) or [Line(NOT_RUN, "The run has no result for this.", "")]
    return Entry(
        item,
        figure,
        result,
        source,
        tuple(lines),
        tuple(_means(result)) if result and item.means else (),
    )


def _lines(item: Item, result: Result) -> Iterable[Line]:
    for outcome in result.outcomes:
        if not item.says or any(part in outcome.says for part in item.says):
            yield Line(outcome.verdict, outcome.says, outcome.measured, p_value(outcome))
    for number in result.numbers if item.means else ():
        if number.published is not None:
            runs = f"{number.n} runs" if number.n > 1 else "one run"
            yield Line(
                NUMBER,
                f"{number.what}, {number.of}: {number.published:g} in the paper",
                f"{_value(number)} ({runs})",
            )


def _means(result: Result) -> Iterable[str]:
    """Yield, for each kind of number that the paper does not print, a line with every method's value."""
    numbers = [number for number in result.numbers if number.published is None]
    for meaning in dict.fromkeys(number.what for number in numbers):
        yield f"{meaning}: " + "; ".join(
            f"{number_of_kind.of} {_value(number_of_kind)}"
            for number_of_kind in numbers
            if number_of_kind.what == meaning
        )


def _value(number: Number) -> str:
    """Return a number as text, with its standard error."""
    error = float("nan") if number.error is None else number.error
    return format_with_error(number.value, error, 1 if abs(number.value) >= 10 else 3)


def p_value(outcome: Outcome) -> float:
    """Return the two-sided p-value of Student's test that a claimed difference is 0; NaN for other claims and single pairs."""
    kind = KINDS.get(outcome.kind)
    is_equality = outcome.kind in ("same", "level")
    if not kind or kind.times or kind.within or is_equality or not outcome.error:
        return math.nan
    return 2 * float(stdtr(outcome.n - 1, -abs(outcome.value) / outcome.error))


def largest_standing(p_values: Iterable[float]) -> float:
    """Return the largest p-value that is significant at 5 % after Holm's correction for all p-values; 0 if none is."""
    ordered, largest = sorted(p for p in p_values if not math.isnan(p)), 0.0
    for rank, p in enumerate(ordered):
        if p > CHANCE / (len(ordered) - rank):
            break
        largest = p
    return largest


def verdict_of(line: Line, extent: str) -> str:
    """Return the verdict as text; if not the whole figure was run, with the extent in parentheses."""
    is_partial = extent not in ("", WHOLE) and line.verdict in (HOLDS, FAILS, UNDECIDED, NUMBER)
    return f"{line.verdict} ({extent})" if is_partial else line.verdict


def describe_result(entry: Entry) -> str:
    """Return the extent and date of a result, and the version of the code, as text; "" without a result."""
    if entry.result is None:
        return ""
    result = entry.result
    extent_text = {WHOLE: "Whole"}.get(
        result.extent, f"{result.extent.capitalize()}, not the whole"
    )
    left_out = result.left_out.removeprefix("Not the published extent: ")
    return f"{extent_text}{': ' * bool(left_out)}{left_out.rstrip('.')}. {result.date[:10]}, {result.code}."


def counts(rows: Iterable[Entry]) -> dict[str, int]:
    """Return verdict (with extent) → number of lines, in the order of `VERDICTS`, whole runs before others."""
    counter = Counter(verdict_of(line, row.extent) for row in rows for line in row.lines)
    names = [
        name
        for verdict in VERDICTS
        for name in (verdict, *(f"{verdict} ({extent})" for extent in EXTENTS))
    ]
    return {name: counter[name] for name in names if counter[name]}


HEAD = """# Ledger

Every figure, table and number of the papers that has a target, with the results of our runs. This page is written by
`workbench ledger --out FILE` from the results of `workbench reproduce NAME`, never by hand. *Quick* and *part* are
smaller than the paper's experiment and no verdict on it: the whole can have another result. The commit is that of
the code that compared the claims with the runs.

"""
BY_CHANCE = (
    "{} verdicts judge a difference by its 95 % interval. Without any difference {:.1f} of them would hold or fail by "
    "chance. The {} with a star stand after Holm's correction for all of them (5 %)."
)


def to_markdown(rows: list[Entry], head: str = HEAD) -> str:
    """Return the ledger as Markdown, after the text ``head``."""
    columns = [*texts("verdict"), *numbers("lines"), *texts("meaning")]
    meanings = [(name, n, VERDICTS[name.split(" (")[0]]) for name, n in counts(rows).items()]
    text = [Table(columns, meanings).markdown()]
    p_values = [line.p for row in rows for line in row.lines if not math.isnan(line.p)]
    largest_p = largest_standing(p_values)
    if p_values:
        n_standing = sum(p <= largest_p for p in p_values)
        text += [BY_CHANCE.format(len(p_values), CHANCE * len(p_values), n_standing), ""]
    for paper, paper_entries in groupby(rows, key=lambda row: row.item.paper):
        text += [f"## {paper}", ""]
        for entry in paper_entries:
            text += _item_markdown(entry, largest_p)
    return head + "\n".join(text).rstrip("\n") + "\n"


def _item_markdown(entry: Entry, largest_p: float) -> list[str]:
    """Return the lines of an entry; a star marks verdicts with a p-value of at most ``largest_p``."""
    item, reason = entry.item, entry.item.why if entry.figure else ""
    commands = [f"`{entry.command}`"] if entry.command else []
    lines = [
        (
            f"**{verdict_of(line, entry.extent)}**{' ★' * (line.p <= largest_p)}",
            _cell(line.says),
            _cell(line.ours),
        )
        for line in entry.lines
    ]
    return [
        f"### {item.id}: {item.where}" + f" ({entry.figure})" * bool(entry.figure),
        "",
        f"{item.target}{' ' * bool(reason)}{reason}",
        "",
        " ".join(filter(None, [_cell(describe_result(entry)), *commands])),
        *([""] if entry.command else []),
        Table(texts("verdict", "claim", "ours"), lines).markdown(),
        *(part for mean in entry.means for part in (f"Means, {_cell(mean)}", "")),
    ]


def _cell(text: str) -> str:
    return text.replace("\n", " ").replace("_", "\\_")
