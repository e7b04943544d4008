"""The networks of Heinrich & Goesele (2009), fig. 1, as arguments of `Network`; ``alpha`` is per topic, ``beta`` per word.

`description_of` reads networks in files, TOML or JSON, too. As TOML, LDA is::

    name = "lda"
    variables = [{ name = "topic", size = 10 }]

    [[levels]]
    name = "theta"
    draws = "topic"
    rows = [{ by = ["document"] }]

    [[levels]]
    name = "phi"
    draws = "word"
    rows = [{ by = ["topic"] }]
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from inspect import Parameter, signature
from pathlib import Path

from workbench.models.files import read_settings
from workbench.models.lda import check_topics
from workbench.models.model import ModelError
from workbench.models.networks.levels import AUTHORS, LABELS, PREFIXES, Level, Rows, Variable
from workbench.plugins import call_plugins


def generic_lda(n_topics: int = 10, alpha=0.1, beta: float = 0.1) -> dict:
    """Return LDA as a network of two levels: documents mix topics, topics mix words.

    Blei, Ng & Jordan (2003); Heinrich & Goesele (2009), fig. 1 a.
    """
    return dict(
        name="lda",
        variables=(Variable("topic", n_topics),),
        levels=(
            Level("theta", "topic", (Rows(("document",)),), prior=alpha),
            Level("phi", "word", (Rows(("topic",)),), prior=beta),
        ),
    )


def author_topic(n_topics: int = 10, alpha=0.1, beta: float = 0.1) -> dict:
    """Return the author-topic model: a token has a random author of its document, who draws a topic, which draws the word.

    x ~ uniform over the document's authors, z ~ theta_x, w ~ phi_z; theta_x ~ Dirichlet(alpha), phi_z ~ Dirichlet(beta).
    The authors come from the corpus.

    Rosen-Zvi, Griffiths, Steyvers & Smyth (2004); Heinrich & Goesele (2009), fig. 1 b.
    """
    return dict(
        name="author-topic",
        variables=(Variable("author", AUTHORS), Variable("topic", n_topics)),
        levels=(
            Level("authors", "author", (Rows(("document",)),), kind="observed", table=AUTHORS),
            Level("theta", "topic", (Rows(("author",)),), prior=alpha),
            Level("phi", "word", (Rows(("topic",)),), prior=beta),
        ),
    )


def labeled(alpha: float = 0.1, beta: float = 0.1) -> dict:
    """Return labeled LDA: a topic for each label of the corpus; a document mixes the topics of its own labels.

    theta_d ~ Dirichlet(alpha) over the labels of d, or over all if it has none; z ~ theta_d, w ~ phi_z. The labels come from
    the corpus.

    Ramage, Hall, Nallapati & Manning (2009).
    """
    return dict(generic_lda(2, alpha, beta), name="labeled", variables=(Variable("topic", LABELS),))


def partially_labeled(
    n_topics: int = 5, n_background: int = 5, alpha: float = 0.1, beta: float = 0.1
) -> dict:
    """Return partially labeled LDA: ``n_topics`` topics for each label, and background topics that every document mixes.

    The paper draws a label psi_d ~ Dirichlet(n_topics alpha), then one of its topics theta_dl ~ Dirichlet(alpha). Together they
    are one draw from a Dirichlet(alpha) over all topics that the labels of the document allow, as here.

    Ramage, Manning & Dumais (2011), sec. 3.
    """
    topic = Variable("topic", LABELS, per_label=n_topics, background=n_background)
    return dict(generic_lda(2, alpha, beta), name="partially-labeled", variables=(topic,))


def polylingual(n_topics: int = 10, alpha=0.1, beta: float = 0.1) -> dict:
    """Return polylingual LDA: documents in several languages mix topics, which have a distribution over words per language.

    z ~ theta_d, w ~ phi_zl with the language l of the token; phi_zl ~ Dirichlet(beta) over the words of l. The languages are
    the prefixes of the corpus's words, as in "de:haus"; tags, as "tag:oil", can be one.

    Mimno, Wallach, Naradowsky, Smith & McCallum (2009).
    """
    network = generic_lda(n_topics, alpha, beta)
    theta, phi = network["levels"]
    return dict(network, name="polylingual", levels=(theta, replace(phi, leaves=PREFIXES)))


def pachinko(n_topics: int = 10, n_super: int = 5, alpha=0.1, beta: float = 0.1) -> dict:
    """Return four-level pachinko allocation: documents mix super-topics, and mix topics within each super-topic.

    x ~ theta0_d, y ~ theta1_dx, w ~ phi_y. The prior of theta1_dx is a learnt vector for each super-topic x, which
    distinguishes super-topics.

    Li & McCallum (2006); Heinrich & Goesele (2009), fig. 1 c.
    """
    return dict(
        name="pachinko",
        variables=(Variable("super", n_super), Variable("topic", n_topics)),
        levels=(
            Level("theta0", "super", (Rows(("document",)),), prior=alpha),
            Level(
                "theta1",
                "topic",
                (Rows(("document", "super")),),
                prior=alpha,
                groups=("super",),
                learn="vector",
            ),
            Level("phi", "word", (Rows(("topic",)),), prior=beta),
        ),
    )


def hierarchical_pachinko_1(
    n_topics: int = 10, n_super: int = 5, alpha=0.1, beta: float = 0.1, depth: float = 1.0
) -> dict:
    """Return hierarchical pachinko (model 1): a token's word is drawn from the root, its super-topic or its sub-topic.

    x ~ theta0_d, y ~ theta1_dx, l ~ zeta_xy, w ~ phi of the root, of x or of y. The rows over words are the root, the
    super-topics, then the sub-topics. ``depth`` is the prior of zeta, which the whole corpus shares.

    Mimno, Li & McCallum (2007), model 1; Heinrich & Goesele (2009), fig. 1 d.
    """
    return dict(
        name="hpam1",
        variables=(
            Variable("super", n_super),
            Variable("sub", n_topics),
            Variable("depth", 3, ("root", "super", "sub")),
        ),
        levels=(
            Level("theta0", "super", (Rows(("document",)),), prior=alpha),
            Level(
                "theta1",
                "sub",
                (Rows(("document", "super")),),
                prior=alpha,
                groups=("super",),
                learn="vector",
            ),
            Level("zeta", "depth", (Rows(("super", "sub")),), prior=depth),
            Level(
                "phi",
                "word",
                (
                    Rows((), (("depth", "root"),)),
                    Rows(("super",), (("depth", "super"),)),
                    Rows(("sub",), (("depth", "sub"),)),
                ),
                prior=beta,
            ),
        ),
    )


def hierarchical_pachinko_2(
    n_topics: int = 10, n_super: int = 5, alpha=0.1, beta: float = 0.1
) -> dict:
    """Return hierarchical pachinko (model 2): a token may stop at the root or a super-topic and draw its word there.

    x ~ theta0_d; if x = 0 the root draws the word; else y ~ theta1_dx; if y = 0 the super-topic x draws it, else the
    sub-topic y. So x and y have one value more than there are super-topics and sub-topics.
    The rows over words are the root, the super-topics, then the sub-topics.

    Mimno, Li & McCallum (2007), model 2; Heinrich & Goesele (2009), fig. 1 d.
    """
    n_topics, n_super = check_topics(n_topics), check_topics(n_super)
    return dict(
        name="hpam2",
        variables=(Variable("super", n_super + 1), Variable("sub", n_topics + 1)),
        levels=(
            Level("theta0", "super", (Rows(("document",)),), prior=alpha),
            Level(
                "theta1",
                "sub",
                (Rows(("document", "super"), (("super", 1, n_super),)),),
                prior=alpha,
                groups=("super",),
                learn="vector",
            ),
            Level(
                "phi",
                "word",
                (
                    Rows((), (("super", 0),)),
                    Rows(("super",), (("super", 1, n_super), ("sub", 0))),
                    Rows(("sub",), (("sub", 1, n_topics),)),
                ),
                prior=beta,
            ),
        ),
    )


SHIPPED = {
    "lda": generic_lda,
    "author-topic": author_topic,
    "labeled": labeled,
    "partially-labeled": partially_labeled,
    "polylingual": polylingual,
    "pachinko": pachinko,
    "hpam1": hierarchical_pachinko_1,
    "hpam2": hierarchical_pachinko_2,
}
SHIPPED |= call_plugins("models", SHIPPED)
"""Name for ``model=`` and ``--model`` → function that returns the network as a dict; includes plug-ins."""


def takes_n_topics(name: str) -> bool:
    """Return whether ``n_topics`` is a setting of the network, which it is unless the corpus determines its topics."""
    return name not in SHIPPED or _takes(SHIPPED[name], "n_topics")


def _takes(make: Callable, setting: str) -> bool:
    """Return whether a function has a parameter for a setting; that of a plug-in, which is not loaded yet, has all."""
    parameters = signature(make).parameters.values()
    return any(each.name == setting or each.kind is Parameter.VAR_KEYWORD for each in parameters)


def description_of(description) -> tuple[str, Mapping]:
    """Return the description of a network from a dict or the path of a .toml or .json file.

    The first result is the start of error messages: the path of the file, or empty.

    Raises
    ------
    ModelError
        For a missing file, or one that is no TOML or JSON.
    """
    if isinstance(description, Mapping):
        return "", description
    if isinstance(description, (str, Path)) and Path(description).suffix in (".toml", ".json"):
        return f"{description}: ", read_settings(
            description, "a network", "name, variables and levels"
        )
    matches = get_close_matches(str(description), SHIPPED, 1, 0.5)
    hint = f"did you mean '{matches[0]}'? There are" if matches else "there are"
    raise ModelError(
        f"no model '{description}'; {hint} {', '.join(SHIPPED)}, and files in .toml or .json"
    )


def shipped(name: str, n_topics: int | None, sizes: dict[str, int]) -> dict:
    """Return the arguments of `Network` for a shipped network; remove the sizes that were used from ``sizes``."""
    make = SHIPPED[name]
    if n_topics is not None and not takes_n_topics(name):
        raise ModelError(
            f"network '{name}' has a topic for each label of the corpus; leave n_topics out"
        )
    names = {declared.name for declared in make()["variables"]}
    arguments = {} if n_topics is None else {"n_topics": n_topics}
    if "background" in sizes and "n_background" in signature(make).parameters:
        arguments["n_background"] = sizes.pop("background")
    for variable, parameter in (("topic", "n_topics"), ("sub", "n_topics"), ("super", "n_super")):
        if variable in sizes and variable in names and _takes(make, parameter):
            arguments[parameter] = sizes.pop(variable)
    return make(**arguments)
