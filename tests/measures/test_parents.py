"""Who began from whom, where names are not enough to know it."""

from dataclasses import replace

from comparisons import made_up

from workbench.measures import lineage, spec_of


def begun_from(run, parent_hash: str, name: str = "cgs-0-t0"):
    """A run like the given one, begun from iteration 50 of another."""
    start = {
        "name": name,
        "hash": parent_hash,
        "iteration": 50,
        "counts": "c" * 64,
        "dropped": 0.25,
    }
    return run.assign_attrs(name="begun", spec=replace(spec_of(run), start=start).to_json())


def test_lineage_identifies_parents_by_hash_and_uses_their_present_name():
    parent = made_up("cgs", [1])
    (edge,) = lineage(
        [begun_from(made_up("cvb", [1]), spec_of(parent).hash, "as it was called"), parent]
    )
    assert edge.known and (edge.run, edge.parent, edge.iteration) == ("begun", "cgs-0-t0", 50)
    assert edge.text == "from cgs-0-t0, iteration 50, 25 % of its tokens dropped"


def test_lineage_does_not_take_a_run_with_the_name_of_the_parent_for_it():
    (edge,) = lineage(
        [made_up("cgs", [1], seed=0), begun_from(made_up("cvb", [1]), "abcdef0123456789")]
    )
    assert not edge.known and edge.parent == "cgs-0-t0 (abcdef01)"
    (alone,) = lineage([begun_from(made_up("cvb", [1]), "abcdef0123456789")])
    assert not alone.known and alone.parent == "cgs-0-t0"
