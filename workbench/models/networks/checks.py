"""Validation of networks; each error is one sentence: what was expected, what was given, what to do."""

import numbers
import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain

import numpy as np

from workbench.models.lda import MOST_TOPICS
from workbench.models.model import ModelError
from workbench.models.networks.leaves import check_leaves
from workbench.models.networks.levels import (
    AUTHORS,
    DOCUMENT,
    KINDS,
    LEARNING,
    PREFIXES,
    WORD,
    Rows,
    holds,
    regions_of,
)
from workbench.models.variables import VARIABLES
from workbench.models.word_priors import LARGEST_PRIOR, SMALLEST_PRIOR

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
TAKEN = {dim for variable in VARIABLES.values() for dim in variable.dims} - {"topic"} | {
    "run",
    "column",
    "chain",
    AUTHORS,
}
"""Names of a run's dimensions, which a variable must not have; "topic", the rows over words, is allowed."""
MOST_PATHS = 2**20


def check(network) -> None:
    """Raise ModelError if a network is invalid; see `Network`.

    Raises
    ------
    ModelError
    """

    def level_errors(*parts):
        return (
            sentence
            for level in network.levels
            for part in parts
            for sentence in part(network, level)
        )

    # Each part takes for granted what those before it have found right.
    for sentence in chain(
        _in_names(network),
        _in_order(network),
        level_errors(_in_level),
        _in_paths(network),
        level_errors(_in_prior, _in_table),
    ):
        raise ModelError(f"network '{network.name}'{sentence}")


def check_corpus(network, corpus) -> None:
    """Raise ModelError if a corpus does not suit a network; see `Network.for_data`.

    Raises
    ------
    ModelError
    """
    prefix, topics = (
        f"network '{network.name}'",
        [variable.size for variable in network.variables if variable.name == "topic"],
    )
    if topics and network.n_topics not in (None, topics[0]):
        raise ModelError(
            f"{prefix} has {network.n_topics} rows over words, which a run calls topics, and a variable 'topic' of {topics[0]} "
            "values; give the variable another name, as sub"
        )
    if network.levels[-1].leaves:
        check_leaves(prefix, network.levels[-1].leaves, corpus)
    if network.author is None:
        return
    if corpus.authors is None:
        raise ModelError(
            f"{prefix} needs the authors of documents, and {corpus.name!r} has none; take a corpus with authors, "
            "or a network without"
        )
    for d, (n_tokens, names) in enumerate(zip(corpus.document_tokens, corpus.authors, strict=True)):
        document, title = f"document {d} of {corpus.name!r}", corpus.titles[d]
        if n_tokens and not names:
            raise ModelError(
                f"{prefix} needs an author of every document; {document} ({title!r}) has none; leave it out, or "
                "name one"
            )
        if names and len(set(names)) < len(names):
            raise ModelError(f"{document} ({title!r}) names an author twice; name each once")


def _errors(*cases: tuple[object, str]) -> Iterator[str]:
    """Yield the sentence of each case whose condition is true."""
    return (sentence for condition, sentence in cases if condition)


def _in_names(network) -> Iterator[str]:
    parts_of_kind = (("variable", network.variables), ("level", network.levels))
    yield from (
        f": the name of a {kind} is letters, digits and _, a letter first; got {part.name!r}"
        for kind, parts in parts_of_kind
        for part in parts
        if not isinstance(part.name, str) or not NAME.fullmatch(part.name)
    )
    yield from (
        f": two {kind}s are called '{name}'; rename one"
        for kind, parts in parts_of_kind
        for name, n in Counter(part.name for part in parts).items()
        if n > 1
    )
    for part in network.variables:
        prefix, size, n_named = f": variable '{part.name}'", part.size, len(part.values)
        yield from _errors(
            (
                part.name in TAKEN,
                f": a variable cannot be called '{part.name}', which means something else; rename it",
            ),
            (
                size != AUTHORS and not _is_whole(size, 1, MOST_TOPICS),
                f'{prefix} must have a size from 1 to {MOST_TOPICS}, or "{AUTHORS}"; got {size!r}',
            ),
            (
                part.is_labelled
                and not (
                    _is_whole(part.per_label, 1, MOST_TOPICS)
                    and _is_whole(part.background, 0, MOST_TOPICS)
                ),
                f"{prefix} must have a whole number per_label from 1 on and a background from 0 on; got {part.per_label!r} "
                f"and {part.background!r}",
            ),
            (
                n_named and n_named != size,
                f"{prefix} has {size} values; got {n_named} names for them",
            ),
            (
                len(set(part.values)) < n_named,
                f": two values of variable '{part.name}' have one name; rename one",
            ),
        )
    labelled = [variable.name for variable in network.variables if variable.is_labelled]
    yield from _errors(
        (
            len(labelled) > 1,
            f": the labels of documents restrict {' and '.join(labelled)}; keep one of them",
        )
    )
    yield from (
        f": a level cannot be called '{level.name}', since n_{level.name} or alpha_{level.name} means something else; rename it"
        for level in network.levels
        if {f"n_{level.name}", f"alpha_{level.name}"} & set(VARIABLES)
    )


def _in_order(network) -> Iterator[str]:
    """Yield an error message unless every variable is drawn once, before it is used, and the word last."""
    names, level_of = [variable.name for variable in network.variables], {}
    unknown = f"which is no variable; there are {', '.join(names) or 'none'}"
    for level in network.levels:
        prefix, draws = f": level '{level.name}'", level.draws
        yield from _errors(
            (draws != WORD and draws not in names, f"{prefix} draws '{draws}', {unknown}"),
            (
                draws in names and network.is_open(draws) and level.table != AUTHORS,
                f"{prefix} draws '{draws}', authors; make it observed, with table = \"{AUTHORS}\"",
            ),
            (
                draws in level_of,
                f": levels '{level_of.get(draws)}' and '{level.name}' both draw '{draws}'; a variable is drawn once, so make "
                "them one level, whose rows are for different paths (when)",
            ),
            (
                WORD in level_of,
                f": '{level.name}' is below level '{level_of.get(WORD)}', which draws the word; put that last",
            ),
            (
                not level.rows,
                f"{prefix} has no rows; for a single one write rows = [{{ by = [] }}]",
            ),
        )
        for name in (
            name for rows in level.rows for name in (*rows.by, *(limit[0] for limit in rows.when))
        ):
            subject = f": the rows of level '{level.name}' are numbered by '{name}',"
            yield from _errors(
                (
                    name in (WORD, draws),
                    f"{prefix} draws '{draws}' given '{name}' itself; number its rows by what is drawn before",
                ),
                (name not in (*names, DOCUMENT), f"{subject} {unknown}"),
                (
                    name not in (*level_of, DOCUMENT),
                    f"{subject} which is not drawn before; put the level that draws '{name}' above it",
                ),
            )
        level_of[draws] = level.name
    if WORD not in level_of:
        yield f': no level draws the word; let the last one have draws = "{WORD}"'
    yield from (
        f": no level draws variable '{name}'; remove it, or add a level with draws = \"{name}\""
        for name in names
        if name not in level_of
    )


def _in_level(network, level) -> Iterator[str]:
    """Yield error messages about one level: its kind, prior, groups, and the variables that number its rows."""
    prefix, author = (
        f": level '{level.name}'",
        next(
            (
                author_level.draws
                for author_level in network.levels
                if author_level.table == AUTHORS
            ),
            None,
        ),
    )
    yield from (
        f"{prefix} must have a {name} of {', '.join(choices)}; got {value!r}"
        for name, value, choices in (("kind", level.kind, KINDS), ("learn", level.learn, LEARNING))
        if value not in choices
    )
    for rows in level.rows:
        yield from _errors(
            (
                len(set(rows.by)) < len(rows.by),
                f"{prefix} has rows by {', '.join(rows.by)}; name each once",
            ),
            (
                len({name for name, *_ in rows.when}) < len(rows.when),
                f"{prefix} limits a variable twice in one when; give one span",
            ),
        )
        for name, first, last in rows.when:
            if name in (DOCUMENT, author):
                yield f"{prefix} is limited to certain values of '{name}', which cannot be; limit another variable"
            largest = network.size(name) - 1
            if not (_is_whole(first, 0, largest) and _is_whole(last, 0, largest)):
                yield f"{prefix}: '{name}' has the values 0 to {largest}; got when {name} is {first!r} to {last!r}"
            if first > last:
                yield f"{prefix}: when {name} is {first} to {last} never holds; the first value comes first"
        by = [name for name in rows.by if name != DOCUMENT]
        yield from _errors(
            (
                author in level.groups,
                f"{prefix} groups its priors by '{author}', which the corpus defines; group by something else",
            ),
            (
                len(set(level.groups)) < len(level.groups),
                f"{prefix} groups its priors twice by the same variable; got {', '.join(level.groups)}; name each once",
            ),
        )
        yield from (
            f"{prefix} groups its priors by '{name}', by which its rows are not numbered; they are by "
            f"{', '.join(by) or 'nothing'}"
            for name in level.groups
            if name not in by
        )
    is_labelled = level.draws != WORD and network.variable(level.draws).is_labelled
    yield from _errors(
        (
            is_labelled and level.rows != (Rows((DOCUMENT,)),),
            f"{prefix} draws '{level.draws}' by the labels of documents; let its rows be by document alone, for every path",
        ),
        (
            is_labelled and (level.kind != "dirichlet" or level.learn != "none"),
            f"{prefix} draws '{level.draws}' by the labels of documents; make it dirichlet, with a prior that is not learnt",
        ),
        (
            is_labelled and np.ndim(level.prior) > 0,
            f"{prefix} draws '{level.draws}', whose number the corpus determines, so its prior must be one number",
        ),
    )
    for owner, name in (("a document", DOCUMENT), ("an author", author)):
        is_by = [name in rows.by for rows in level.rows]
        yield from _errors(
            (
                any(is_by) and not all(is_by),
                f"{prefix} has rows of {owner} and others that are not; make them two levels",
            ),
            (
                any(is_by) and level.draws == WORD and name == DOCUMENT,
                f"{prefix} draws words from rows by document, which share nothing; number them by a variable",
            ),
        )
    yield from _errors(
        (
            any(DOCUMENT in rows.by and author in rows.by for rows in level.rows),
            f"{prefix} has rows by document and by '{author}'; take one of them",
        ),
        (
            level.of_documents and level.kind == "point",
            f"{prefix} has rows by document, which cannot be point estimates; make it dirichlet",
        ),
        (
            level.kind != "dirichlet" and level.learn != "none",
            f"{prefix} is {level.kind} and has no prior to learn; leave learn out",
        ),
    )


def _in_paths(network) -> Iterator[str]:
    """Yield error messages about paths (too many, no word, a missing variable, two blocks of a level) and unvisited rows."""
    regions, visited_rows = regions_of(network), set()
    n_paths = sum(region.n_paths for region in regions)
    if n_paths > MOST_PATHS:
        yield f" has {n_paths:,} paths a token, and may have {MOST_PATHS:,}; take smaller sizes"
    given_names = {DOCUMENT, *(level.draws for level in network.levels if level.table == AUTHORS)}
    for region in regions:
        spans = {}
        route = "paths with " + (
            ", ".join(
                f"{name} {first}" if first == last else f"{name} {first} to {last}"
                for name, (first, last) in region.spans.items()
            )
            or "nothing drawn"
        )
        for level in network.levels:
            blocks = [rows for rows in level.rows if holds(rows, spans)]
            if len(blocks) > 1:
                yield f": two rows of '{level.name}' are for {route}; let their when differ"
            for rows in blocks:
                visited_rows.add((level.name, rows))
                yield from (
                    f": the rows of level '{level.name}' are by '{name}', which {route} do not have; limit the rows (when)"
                    for name in rows.by
                    if name not in given_names and name not in spans
                )
                if level.draws in region.spans:
                    spans[level.draws] = region.spans[level.draws]
            if not blocks and level.draws == WORD:
                yield f": {route} draw no word; give level '{level.name}' rows for them"
    for level in network.levels:
        for rows in level.rows:
            if (level.name, rows) not in visited_rows:
                condition = ", ".join(
                    f"{name} is {first} to {last}" for name, first, last in rows.when
                )
                yield f": no path visits the rows of level '{level.name}' when {condition}; remove them"


def _in_prior(network, level) -> Iterator[str]:
    prefix, prior = f": the prior of level '{level.name}'", np.array(level.prior, dtype=object)
    entries = list(_flat(level.prior))
    for value in entries:
        if (
            isinstance(value, bool)
            or not isinstance(value, numbers.Real)
            or not SMALLEST_PRIOR <= value < np.inf
        ):
            yield f"{prefix} must be a number greater than 0 (at least {SMALLEST_PRIOR:g}); got {value!r}"
        elif value > LARGEST_PRIOR:
            yield f"{prefix} must be at most {LARGEST_PRIOR:g}, or counts beside it are lost in rounding; got {value!r}"
    if prior.ndim == 0:
        return
    if level.draws == WORD:
        yield f"{prefix} must be one number, the same for every word; got {len(entries)} numbers"
    n_values, n_groups = network.size(level.draws), network.n_groups(level)
    yield from _errors(
        (
            prior.shape not in ((n_values,), (n_groups, n_values)),
            f"{prefix} must be one number, one for each of the {n_values} values of '{level.draws}', or {n_groups} (its "
            f"groups) x {n_values}; got {' x '.join(map(str, prior.shape))}",
        ),
        (
            level.learn == "scalar" and len(set(entries)) > 1,
            f"{prefix} is learnt as one number, but begins as {len(entries)}; give one, or learn a vector",
        ),
    )


def _in_table(network, level) -> Iterator[str]:
    prefix = f": level '{level.name}'"
    observed, is_author_table = level.kind == "observed", level.table == AUTHORS
    yield from _errors(
        (
            level.draws == WORD and observed,
            f"{prefix} draws the word and cannot be observed; make it dirichlet",
        ),
        (
            level.draws == WORD and level.learn == "vector",
            f"{prefix} draws the word and cannot learn a prior per word; make it scalar",
        ),
        (
            level.leaves and level.draws != WORD,
            f"{prefix} draws no word and has leaves; give those to the level that draws it",
        ),
        (
            level.leaves and (level.kind != "dirichlet" or level.learn != "none"),
            f"{prefix} has several leaves; make it dirichlet, with a prior that is not learnt",
        ),
        (
            level.leaves != PREFIXES and len({"", *level.leaves}) <= len(level.leaves),
            f"{prefix} must have leaves of different prefixes; got {level.leaves!r}",
        ),
        (
            not observed and level.table is not None,
            f"{prefix} is {level.kind} and has a table; leave it out, or make the level observed",
        ),
        (
            is_author_table and any(rows.by != (DOCUMENT,) or rows.when for rows in level.rows),
            f"{prefix} describes the authors of documents; let its rows be by document alone, for every path",
        ),
        (
            is_author_table
            and sum(author_level.table == AUTHORS for author_level in network.levels) > 1,
            f'{prefix} is not the only one with table = "{AUTHORS}"; keep one of them',
        ),
    )
    if not observed or is_author_table:
        return
    by = {name for rows in level.rows for name in rows.by}
    if network.is_open(level.draws) or DOCUMENT in by or any(map(network.is_author, by)):
        yield f"{prefix} is known row by row, so no document or author has a row; number its rows by a variable"
    shape = (network.n_rows(level), network.size(level.draws))
    try:
        table = np.array(level.table, float)
    except (TypeError, ValueError):
        table = np.empty(0)
    if table.shape != shape:
        uneven = "no table" if level.table is None else "rows of other lengths"
        size = " x ".join(map(str, table.shape)) if table.ndim == 2 else uneven
        yield f"{prefix} is observed and needs a table of {shape[0]} rows x {shape[1]} values; got {size}"
    yield from (
        f"{prefix}: each row of its table must be probabilities that sum to 1; row {i} is {row.tolist()}"
        for i, row in enumerate(table)
        if not ((row >= 0).all() and abs(row.sum() - 1) < 1e-9)
    )


def _flat(values) -> Iterator:
    """Iterate over the numbers in nested tuples, or over a single number."""
    return chain.from_iterable(map(_flat, values)) if isinstance(values, tuple) else iter((values,))


def _is_whole(value, low: int, high: int) -> bool:
    return (
        isinstance(value, numbers.Integral) and not isinstance(value, bool) and low <= value <= high
    )
