"""The card *Convergence of chains*: R-hat, effective samples, and the ranks of the draws of each chain."""

from functools import lru_cache, partial

from workbench.dashboard.compare.looking import Looked, begun
from workbench.dashboard.shared.card import Shown, by_label_html
from workbench.dashboard.shared.shell import message
from workbench.measures.convergence import ESS_OF_CHAIN, R_HAT_LIMIT, agreement
from workbench.tables import Column, Table
from workbench.views.convergence import draws_by_label
from workbench.views.elements import dimension
from workbench.views.every import draw_view

number = partial(Column, kind="number")
COLUMNS = (
    Column(
        "Engine and options",
        meaning="settings in which the runs differ; runs that differ only in their seeds are chains",
    ),
    number("Chains", meaning="how many runs"),
    number("Draws", meaning="recorded iterations of each after burn-in"),
    number(
        "R-hat",
        digits=3,
        meaning="how much wider all chains together are than each, the largest of what was recorded; one chain has none",
    ),
    Column("Worst", meaning="the quantity with this R-hat; of one chain, with the fewest samples"),
    number(
        "Effective, bulk",
        meaning="effective samples of all chains in the bulk of the distribution; the smallest",
    ),
    number(
        "Effective, tails", meaning="effective samples at its quantiles of 5 and 95 %; the smallest"
    ),
)
SAID = message(
    f"Draws are commonly used where R-hat is below {R_HAT_LIMIT} and there are {ESS_OF_CHAIN} effective samples a chain. A "
    "chain by itself cannot tell that another start would end elsewhere. Topics have other numbers in each chain, so only "
    "what does not depend on these is compared."
)


@lru_cache(maxsize=32)
def convergence_of(runs: Looked) -> Shown:
    """Return a table of R-hat and effective sample sizes by label, and a picture of ranks of draws by chain."""
    datasets, rows = [progress for *_, progress in begun(runs)], []
    for label, draws in draws_by_label(datasets).items() if datasets else ():
        if found := agreement(draws):
            n, alone = draws.sizes["chain"], draws.sizes["chain"] == 1
            worst = max(found, key=lambda name: -found[name][1] if alone else found[name][0])
            r_hats, bulk, tails = zip(*found.values(), strict=True)
            r_hat = None if alone else max(r_hats)
            rows.append((label, n, draws.sizes["draw"], r_hat, named(worst), min(bulk), min(tails)))
    if not rows:
        return Shown()
    html = by_label_html(Table(COLUMNS, rows, "convergence of chains"))
    picture = next(iter(draw_view("convergence", datasets)), None)
    return Shown(SAID, picture, html, tuple(path for path, _ in runs))


def named(quantity: str) -> str:
    """Return the label that the page shows for a quantity."""
    return "sizes of the topics" if quantity == "sorted_share" else dimension(quantity).label
