"""Every option of every engine changes what a run computes, in some combination with the others, or is refused."""

from dataclasses import replace

import numpy as np
import pytest
from engines.test_protocol import OF_SEQUENCES, known
from form_values import TEXTS
from pairwise import every_pair_of_choices
from toys import data_for, labelled, simulated

import workbench as wb
from workbench.engines import ENGINES, get_engine
from workbench.engines.options import options_of
from workbench.models import ModelError
from workbench.models.networks.network import Network
from workbench.models.networks.shipped import generic_lda
from workbench.models.options import OptionError
from workbench.runs.execution.compare import prepared
from workbench.runs.settings import SplitSettings
from workbench.runs.spec import RunSpec, make_spec

pytestmark = pytest.mark.slow


def other_values(field, given) -> list:
    """Values of an option that are not the given one."""
    default, found = field.default, field.metadata["choices"]
    if not found:
        found = (
            (1, 2, default + 1)
            if field.metadata["whole"] or np.isinf(default)
            else (default / 2 + 0.07, 2 * default, default + 0.1)
        )
    return [value for value in (*found, *TEXTS.get(field.name, ())) if value != given]


def combinations(engine):
    """Rows (option → choice) in which an option may matter: defaults, nothing sampled, every pair, with counts also at 1."""
    counts = {
        name: 1
        for name, field in options_of(engine).items()
        if field.metadata["whole"] and not field.metadata["choices"]
    }
    yield {}
    if "r" in options_of(engine):
        yield {"r": 0}
    yield from (
        {name: value} for name in TEXTS.keys() & options_of(engine).keys() for value in TEXTS[name]
    )
    for row in every_pair_of_choices(engine):
        yield from (row | more for more in ({}, counts, *({name: 1} for name in counts)))


@pytest.mark.parametrize("name", ENGINES)
def test_every_option_changes_a_bit_of_some_run(name):
    engine, computed = get_engine(name), {}
    data, more = data_for(engine, labelled(known(simulated()))), {}
    if engine.model is Network:
        first, *others = (network := generic_lda(3, 0.1, 0.1))["levels"]
        more["model"] = Network(**network | {"levels": (replace(first, learn="vector"), *others)})
    elif "n_topics" in engine.model.takes:
        more["n_topics"] = 3
    if name in OF_SEQUENCES:
        train, test = wb.hold_out_ends(data, 2)
    elif name == "static":
        years = data.inputs[:, 0]
        data = replace(data, inputs=np.column_stack([years, np.arange(len(years)) % 2]))
        train, test = wb.hold_out_rows(data, "year", [1992])
    else:
        train, test, _ = prepared(data, SplitSettings(holdout=0.2))

    def numbers(row):
        """Bytes of all variables of the run; None if the options are refused."""
        key = tuple(sorted(row.items()))
        if key not in computed:
            try:
                run = wb.fit(
                    train,
                    name,
                    test=test,
                    n_iterations=6,
                    burn_in=1,
                    options=row,
                    progress=False,
                    **more,
                )
                kept = run.drop_vars(["elapsed", "cpu_time"])
                computed[key] = {each: kept[each].values.tobytes() for each in kept.data_vars}
            except (OptionError, ModelError):
                computed[key] = None
        return computed[key]

    def matters(option, field):
        return any(
            numbers(row | {option: value}) not in (None, numbers(row))
            for row in combinations(engine)
            if numbers(row) is not None
            for value in other_values(field, row.get(option, field.default))
        )

    without_effect = [
        option for option, field in options_of(engine).items() if not matters(option, field)
    ]
    assert without_effect == [], "name each in the engine's step, or leave it out of its options"


def test_an_option_without_an_effect_is_left_out_of_specs_of_earlier_versions():
    spec = make_spec(simulated(), "ln-ctm", 3)
    earlier = replace(spec, options=spec.options | {"topics": "integrated"})
    assert RunSpec.from_json(earlier.to_json()) == spec
