"""The registry of engines: the name of each, its module and its paper. Importing it compiles nothing.

A new engine is one new file with a function ``engine(name)`` and one line here; menus, command line,
benchmarks and the protocol tests pick it up from the registry. Engines of other packages come by the
entry points ``workbench.engines``, or by `register_engine`.
"""

import sys
from collections.abc import Callable
from importlib import import_module
from inspect import Parameter, Signature
from types import ModuleType

from workbench.plugins import find_plugins

ENGINES: dict[str, str] = {
    "vb": ".lda.vb",  # Blei, Ng & Jordan 2003, sec. 5: variational EM
    "svb": ".lda.svb",  # Welling, Teh & Kappen 2008, eq. 11: collapsed view of variational Bayes
    "online-vb": ".lda.online_vb",  # Hoffman, Blei & Bach 2010: online variational Bayes, in batches
    "cvb": ".lda.cvb",  # Teh, Newman & Welling 2007: collapsed variational Bayes, second order
    "cvb0": ".lda.cvb0",  # Asuncion, Welling, Smyth & Teh 2009: collapsed variational Bayes, zeroth order
    "cgs": ".lda.cgs",  # Griffiths & Steyvers 2004: collapsed Gibbs sampling
    "svb-cgs": ".lda.hybrid",  # Welling, Teh & Kappen 2008, eq. 20-25: sample small counts, average large ones
    "cvb-cgs": ".lda.hybrid",  # the same, sec. 5.1: with collapsed variational Bayes
    "cvb0-cgs": ".lda.hybrid",  # the same with CVB0
    "adaptive-cgs": ".lda.adaptive",  # the same, with a split that adapts: sec. 8
    "mixed-cgs": ".lda.mixed",  # the same, with pairs averaged by chance, drawn in every iteration
    "slda": ".lda.slda",  # McAuliffe & Blei 2007: LDA with a response of each document, by Gibbs sampling
    "dmr": ".lda.dmr",  # Mimno & McCallum 2008: LDA with a prior of topics by columns of a document, by Gibbs sampling
    "cv-hdp": ".hdp.cv_hdp",  # Teh, Kurihara & Welling 2008: collapsed variational inference for the HDP
    "g-hdp": ".hdp.g_hdp",  # Teh, Jordan, Beal & Blei 2006, sec. 5.3: direct assignment sampling of the HDP
    "sb-ctm": ".stick_breaking.sb_ctm",  # Linderman, Johnson & Adams 2015, eq. 10-13: Gibbs sampling of correlated topics
    "ln-ctm": ".stick_breaking.ln_ctm",  # Chen et al. 2013, sec. 3: Gibbs sampling of logistic-normal topics
    "ctm-em": ".stick_breaking.ctm_em",  # Blei & Lafferty 2006, sec. 3: variational EM for logistic-normal topics
    "sb-ctm-vb": ".stick_breaking.sb_ctm_vb",  # Linderman et al. 2015, app. C: variational inference, in batches
    "sb-dtm": ".stick_breaking.sb_dtm",  # Blei & Lafferty 2006: topics that drift from year to year, by stick-breaking
    "sb-ctm-lds": ".stick_breaking.sb_ctm_lds",  # Linderman, Johnson & Adams 2015, sec. 3: prevalence as a linear system
    "sbm-gp": ".stick_breaking.sbm_gp",  # the same, sec. 4: multinomial Gaussian processes by stick-breaking
    "lnm-gp": ".stick_breaking.lnm_gp",  # Murray, Adams & MacKay 2010: elliptical slice sampling of log odds
    "raw-gp": ".stick_breaking.raw_gp",  # Linderman et al. 2015, sec. 4: Gaussian process regression of sticks of shares
    "static": ".stick_breaking.static_rows",  # the same, table 3: the shares of the last document of the same place
    "sbm-lds": ".stick_breaking.sbm_lds",  # the same, sec. 5: multinomial linear dynamical systems by stick-breaking
    "lnm-lds": ".stick_breaking.lnm_lds",  # the same, logistic-normal: particle Gibbs with ancestor sampling
    "raw-lds": ".stick_breaking.raw_lds",  # the same: a Gaussian linear dynamical system of the shares of words
    "hmm": ".stick_breaking.hmm",  # Linderman, Johnson & Adams 2015, sec. 5: Gibbs sampling of a hidden Markov model
    "network-vb": ".networks.vb",  # Heinrich & Goesele 2009: variational Bayes for networks of mixture levels
    "network-vb-ml": ".networks.vb",  # the same, eq. 12: rows of the corpus are point estimates
    "network-gibbs": ".networks.gibbs",  # the same; Griffiths & Steyvers 2004: every token's path is drawn
    "network-hybrid": ".networks.hybrid",  # Welling, Teh & Kappen 2008, sec. 4: the same two, by counts
    "network-cvb0": ".networks.cvb0",  # Asuncion, Welling, Smyth & Teh 2009, eq. 6: for networks
    "bn-vb": ".bayes_nets.bn_vb",  # Welling, Teh & Kappen 2008, eq. 27-28: Bayesian networks with hidden nodes
    "bn-cvb0": ".bayes_nets.bn_cvb0",  # Asuncion, Welling, Smyth & Teh 2009, eq. 6: for Bayesian networks
    "bn-em": ".bayes_nets.bn_em",  # Lauritzen 1995: expectation maximisation of Bayesian networks
    "bn-gibbs": ".bayes_nets.bn_gibbs",  # the same, eq. 29, corrected where nodes share a table: every record is drawn
    "bn-hybrid": ".bayes_nets.bn_hybrid",  # the same, sec. 4 and 6: equal records that are frequent are averaged
}


IMPORTED: dict[str, str] = dict.fromkeys(
    (
        "tomotopy-lda",
        "tomotopy-hdp",
        "tomotopy-ct",
        "tomotopy-pa",
        "gensim-lda",
        "sklearn-lda",
        "mallet-lda",
        "tables",
    ),
    ".imported",
)
"""Name → module of the engines of imported models; stored runs have them, no menu offers them."""
ENGINES |= {
    name: entry.module for name, entry in find_plugins("engines", ENGINES | IMPORTED).items()
}
OF_RUNS: dict[str, str] = {}
"""Name → module of further engines that stored runs have and no menu offers."""
REFERENCE = "cgs"
"""The engine whose long runs draw from the exact posterior of LDA, to which others are compared."""
STREAMING = "online-vb"
"""The engine that can continue a run with new documents."""
FIRST_CHOICE = (
    "Unsure? Take cvb0 for good topics quickly, cgs as the reference, g-hdp where the number of topics is to be found, hmm for "
    "sequences, bn-vb for records."
)
"""A text that recommends engines to begin with."""


def get_engine(name: str):
    """Return the engine with a given name; its kernels are compiled by the first step, not here.

    Raises
    ------
    OptionError
        For an unknown name, with the nearest known one.
    """
    module = _modules().get(name) if isinstance(name, str) else None
    if module is None:
        from workbench.errors import nearest_or_all, shown
        from workbench.models.options import OptionError

        sentence = f"no engine '{shown(name)}'; {nearest_or_all(name, ENGINES, cutoff=0.5)}"
        raise OptionError(sentence, field="engine", value=name)
    if module.startswith("."):
        return import_module(module, __name__).engine(name)
    from workbench.engines.missing import import_engine, import_or_stand_in

    return (import_engine if name in ENGINES else import_or_stand_in)(name, module)


def engine_called(name: object) -> object:
    """Return the engine name that ``name`` stands for in any case, with underscores, or as other programs call the engine.

    A name that stands for no engine is returned unchanged, for `get_engine` to refuse.
    """
    from workbench.errors import called, plain

    is_name = isinstance(name, str) and name not in _modules()
    return called(ENGINES).get(plain(name), name) if is_name else name


def _modules() -> dict[str, str]:
    """Return engine name → module, for engines that menus offer, imported models, and engines that stored runs add."""
    return OF_RUNS | IMPORTED | ENGINES


def is_known(name: str) -> bool:
    """Return whether an engine of this name is built in, installed or registered, or a stored run names its module."""
    return name in _modules()


def module_of(name: str) -> str | None:
    """Return the module of an engine that is defined outside the package; None for the package's own engines."""
    module = _modules()[name]
    return None if module.startswith(".") else module


def register_engine(name: str, module: str | ModuleType) -> None:
    """Register an engine that a module outside the package defines, for this process only.

    The spec of a run names the module, and worker processes, pages, reports and the command line
    import it by that name: it is a file that Python finds, as one beside the notebook, or a module
    of an installed package. A package has the entry point ``workbench.engines`` instead.

    Parameters
    ----------
    name : str
        As ``my-gibbs``.
    module : str or module
        It has a function ``engine(name)`` that returns an `Engine`.

    Raises
    ------
    OptionError
        The name is that of another engine, or the module cannot be imported or has no such engine.
    """
    from workbench.engines.missing import import_engine
    from workbench.models.options import OptionError

    path = module if isinstance(module, str) else module.__name__
    if (ENGINES | IMPORTED).get(name, path) != path:
        raise OptionError(f"'{name}' is the name of another engine; choose another name")
    if path == "__main__":
        raise OptionError(
            "other processes cannot import what a notebook or script defines; write the engine into a file of its own"
        )
    import_engine(name, path)
    ENGINES[name] = path


def any_with(scalar: str) -> str:
    """Return the names of the engines that record a diagnostic number ``scalar``, as a text such as "vb, svb or cvb"."""
    *others, last = [name for name in ENGINES if scalar in get_engine(name).watches]
    return f"{', '.join(others)} or {last}"


def every_score() -> dict:
    """Return score name → `Variable`, for all models' scores besides perplexity that say whether higher is better."""
    scores = [score for name in ENGINES for score in get_engine(name).model.scores]
    return {score.name: score for group in scores for score in group.variables if score.better}


def describe() -> dict[str, dict]:
    """Return engine name → title, when to use it, source, and options with default and meaning."""
    from workbench.engines.options import options_of

    return {
        name: {
            "title": engine.title,
            "when": engine.when,
            "source": engine.source,
            "options": {
                option: {"default": f.default, "meaning": f.metadata["help"]}
                for option, f in options_of(engine).items()
            },
        }
        for name, engine in zip(ENGINES, map(get_engine, ENGINES), strict=True)
    }


def __getattr__(name: str) -> Callable[..., tuple[str, dict]]:
    """Return a function, such as ``svb_cgs``, that turns options into the pair (engine, options) for `fit` and `compare`."""
    engine = name.replace("_", "-")
    if engine not in ENGINES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from workbench.engines.options import options_of, split_options

    def pair(**options: object) -> tuple[str, dict]:
        split_options(get_engine(engine), options)
        return engine, options

    pair.__name__, pair.__doc__ = name, get_engine(engine).title
    pair.__signature__ = Signature(
        [
            Parameter(option, Parameter.KEYWORD_ONLY, default=field.default)
            for option, field in options_of(get_engine(engine)).items()
        ]
    )
    return pair


def __dir__() -> list[str]:
    return sorted({*globals(), *(name.replace("-", "_") for name in ENGINES)})


class _CallableModule(ModuleType):
    """A module that can be called: `workbench.engines()` returns `describe()`."""

    def __call__(self) -> dict[str, dict]:
        return describe()


sys.modules[__name__].__class__ = _CallableModule
