"""What is wrong with a network, in one sentence: what was wanted, what came, what to do."""

from __future__ import annotations

import numbers
import re
from collections import Counter

from workbench.models.lda import MOST_TOPICS, ModelError
from workbench.models.networks.levels import AUTHORS, DOCUMENT, KINDS, LEARNING, WORD
from workbench.models.networks.number_checks import check_prior, check_table
from workbench.models.networks.regions import holds, regions_of
from workbench.models.variables import VARIABLES

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
TAKEN = {dim for variable in VARIABLES.values() for dim in variable.dims} - {"topic"} | {"run", "column", "chain", AUTHORS}
"""Dims of a run's Dataset, which no variable may be called; "topic" are the rows over words, and one may be."""
MOST_PATHS = 2**20


def check(network) -> None:
    """Checks a network, see `Network`.

    Raises
    ------
    ModelError
    """
    _check_variables(network)
    _check_order(network)
    for level in network.levels:
        _check_level(network, level)
    _check_paths(network)
    for each in network.levels:  # their sentences name sizes of rows, which fit by now
        check_prior(network, each)
        check_table(network, each)


def _check_variables(network) -> None:
    where = f"network '{network.name}'"
    for what, each in [("variable", each) for each in network.variables] + [("level", each) for each in network.levels]:
        if not isinstance(each.name, str) or not NAME.fullmatch(each.name):
            raise ModelError(f"{where}: the name of a {what} is letters, digits and _, a letter first; got {each.name!r}")
    for what, names in {"variables": network.variables, "levels": network.levels}.items():
        twice = [name for name, n in Counter(each.name for each in names).items() if n > 1]
        if twice:
            raise ModelError(f"{where}: two {what} are called '{twice[0]}'; rename one")
    for each in network.variables:
        if each.name in TAKEN:
            raise ModelError(f"{where}: a variable cannot be called '{each.name}', which means something else; rename it")
        if each.size != AUTHORS and not _is_whole(each.size, 1, MOST_TOPICS):
            raise ModelError(
                f"{where}: variable '{each.name}' must have a size from 1 to {MOST_TOPICS}, or \"{AUTHORS}\"; "
                f"got {each.size!r}"
            )
        if each.values and len(each.values) != each.size:
            raise ModelError(f"{where}: variable '{each.name}' has {each.size} values; got {len(each.values)} names for them")
        if len(set(each.values)) < len(each.values):
            raise ModelError(f"{where}: two values of variable '{each.name}' have one name; rename one")
    for level in network.levels:
        if {f"n_{level.name}", f"alpha_{level.name}"} & set(VARIABLES):
            raise ModelError(f"{where}: a level cannot be called '{level.name}', since n_{level.name} or "
                             f"alpha_{level.name} means something else; rename it")


def _check_order(network) -> None:
    """Checks that every variable is drawn once, before it is used, and the word last."""
    where, known, drawn = f"network '{network.name}'", {each.name for each in network.variables}, {}
    for level in network.levels:
        if level.draws != WORD and level.draws not in known:
            raise ModelError(_unknown(network, f"level '{level.name}' draws", level.draws))
        if level.draws != WORD and network.is_open(level.draws) and level.table != AUTHORS:
            raise ModelError(
                f"{where}: level '{level.name}' draws '{level.draws}', authors; make it observed, with table = \"{AUTHORS}\""
            )
        if level.draws in drawn:
            raise ModelError(
                f"{where}: levels '{drawn[level.draws]}' and '{level.name}' both draw '{level.draws}'; a variable is drawn "
                "once, so make them one level, whose rows are for different paths (when)"
            )
        if WORD in drawn:
            raise ModelError(f"{where}: '{level.name}' is below level '{drawn[WORD]}', which draws the word; put that last")
        if not level.rows:
            raise ModelError(f'{where}: level \'{level.name}\' has no rows; for a single one write rows = [{{ by = [] }}]')
        for rows in level.rows:
            for name in (*rows.by, *(limit[0] for limit in rows.when)):
                if name == WORD or name == level.draws:
                    raise ModelError(
                        f"{where}: level '{level.name}' draws '{level.draws}' given '{name}' itself; number its rows by "
                        "what is drawn before"
                    )
                if name not in known | {DOCUMENT}:
                    raise ModelError(_unknown(network, f"the rows of level '{level.name}' are told by", name))
                if name != DOCUMENT and name not in drawn:
                    raise ModelError(
                        f"{where}: the rows of level '{level.name}' are told by '{name}', which is not drawn before; put the "
                        f"level that draws '{name}' above it"
                    )
        drawn[level.draws] = level.name
    if WORD not in drawn:
        raise ModelError(f"{where}: no level draws the word; let the last one have draws = \"{WORD}\"")
    idle = [each.name for each in network.variables if each.name not in drawn]
    if idle:
        raise ModelError(f"{where}: no level draws variable '{idle[0]}'; remove it, or add a level with draws = \"{idle[0]}\"")


def _unknown(network, what: str, name) -> str:
    there_are = ", ".join(each.name for each in network.variables) or "none"
    return f"network '{network.name}': {what} '{name}', which is no variable; there are {there_are}"


def _check_level(network, level) -> None:
    """Checks kind, learning and groups of a level, and what its rows are numbered by."""
    where = f"network '{network.name}': level '{level.name}'"
    for name, value, choices in (("kind", level.kind, KINDS), ("learn", level.learn, LEARNING)):
        if value not in choices:
            raise ModelError(f"{where} must have a {name} of {', '.join(choices)}; got {value!r}")
    author = next((each.draws for each in network.levels if each.table == AUTHORS), None)
    for rows in level.rows:
        if len(set(rows.by)) < len(rows.by):
            raise ModelError(f"{where} has rows by {', '.join(rows.by)}; name each once")
        _check_when(network, level, rows, author)
        if author in level.groups:
            raise ModelError(f"{where} groups its priors by '{author}', whom a corpus tells; group by something else")
        missing = [name for name in level.groups if name not in rows.by or name == DOCUMENT]
        if missing:
            raise ModelError(
                f"{where} groups its priors by '{missing[0]}', by which its rows are not numbered; they are by "
                f"{', '.join(name for name in rows.by if name != DOCUMENT) or 'nothing'}"
            )
    for whose, name in (("a document", DOCUMENT), ("an author", author)):
        has = [name in rows.by for rows in level.rows]
        if any(has) and not all(has):
            raise ModelError(f"{where} has rows of {whose} and others that are not; make them two levels")
        if any(has) and (level.draws == WORD and name == DOCUMENT):
            raise ModelError(f"{where} draws words from rows by document, which share nothing; number them by a variable")
    if any(DOCUMENT in rows.by and author in rows.by for rows in level.rows):
        raise ModelError(f"{where} has rows by document and by '{author}'; take one of them")
    if level.of_documents and level.kind == "point":
        raise ModelError(f"{where} has rows by document, which cannot be point estimates; make it dirichlet")
    if level.kind != "dirichlet" and level.learn != "none":
        raise ModelError(f"{where} is {level.kind} and has no prior to learn; leave learn out")


def _check_when(network, level, rows, author) -> None:
    where = f"network '{network.name}': level '{level.name}'"
    names = [name for name, *_ in rows.when]
    if len(set(names)) < len(names):
        raise ModelError(f"{where} limits a variable twice in one when; give one span")
    for name, first, last in rows.when:
        if name in (DOCUMENT, author):
            raise ModelError(f"{where} is limited to certain values of '{name}', which cannot be; limit another variable")
        size = network.size(name)
        if not (_is_whole(first, 0, size - 1) and _is_whole(last, 0, size - 1)):
            raise ModelError(f"{where}: '{name}' has the values 0 to {size - 1}; got when {name} is {first!r} to {last!r}")
        if first > last:
            raise ModelError(f"{where}: when {name} is {first} to {last} never holds; the first value comes first")


def _check_paths(network) -> None:
    """Checks that each path draws its word, and has every value that its rows depend on, from one block of rows."""
    where, regions = f"network '{network.name}'", regions_of(network)
    authors = {level.draws for level in network.levels if level.table == AUTHORS}
    n_paths = sum(region.n_paths for region in regions)
    if n_paths > MOST_PATHS:
        raise ModelError(f"{where} has {n_paths:,} paths a token, and may have {MOST_PATHS:,}; take smaller sizes")
    visited = set()
    for region in regions:
        spans, told = {}, _format_region(region)
        for level in network.levels:
            here = [rows for rows in level.rows if holds(rows, spans)]
            if len(here) > 1:
                raise ModelError(f"{where}: two rows of '{level.name}' are for paths with {told}; let their when differ")
            for rows in here:
                visited.add((level.name, level.rows.index(rows)))
                absent = [name for name in rows.by if name not in {DOCUMENT, *authors, *spans}]
                if absent:
                    raise ModelError(
                        f"{where}: the rows of level '{level.name}' are by '{absent[0]}', which paths with {told} do not have; "
                        "limit the rows (when)"
                    )
                if level.draws in region.spans:
                    spans[level.draws] = region.spans[level.draws]
            if not here and level.draws == WORD:
                raise ModelError(f"{where}: paths with {told} draw no word; give level '{level.name}' rows for them")
    for level in network.levels:
        for i, rows in enumerate(level.rows):
            if (level.name, i) not in visited:
                when = ", ".join(f"{name} is {first} to {last}" for name, first, last in rows.when)
                raise ModelError(f"{where}: no path visits the rows of level '{level.name}' when {when}; remove them")


def _format_region(region) -> str:
    return ", ".join(f"{name} {first}" if first == last else f"{name} {first} to {last}"
                     for name, (first, last) in region.spans.items()) or "nothing drawn"


def _is_whole(value, low: int, high: int) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool) and low <= value <= high
