"""The command `audit`: the table for people, the JSON, and what is said where something is missing."""

import pytest

import workbench as wb


@pytest.fixture(autouse=True)
def two_runs(in_a_folder_of_its_own, tmp_path):
    """Runs `half` (cgs, with a test set) and `other` (g-hdp) in ./runs, and three unseen texts in new.csv."""
    train, test = wb.hold_out_tokens(wb.LDA(2, 0.3, 0.3).simulate(8, 6, 12, seed=0)[0], 0.2)
    for name, engine in (("half", "cgs"), ("other", "g-hdp")):
        wb.fit(
            train,
            engine,
            n_topics=2,
            n_iterations=6,
            burn_in=1,
            test=test,
            store="runs",
            name=name,
            progress=False,
        )
    (tmp_path / "new.csv").write_text("text\nw1 w2 w1\nw3\nnobody\n")


READ = ("--read", "token_pattern=\\w+")


def test_audit_prints_the_rows_that_there_are_and_says_why_others_are_not(command):
    status, out, err = command("audit", "half")
    assert (
        status == 0
        and "held_out_tokens_average" in out
        and "joint_of_training" in out
        and "p(w|d) of held-out tokens" in out
    )
    assert (
        "no document_completion, foldin_same, left_to_right" in err
        and "there are no unseen documents" in err
    )


def test_audit_prints_every_row_as_json(told):
    found = told("audit", "half", "new.csv", "--particles", 3, *READ)
    assert found["name"] == "half"
    wanted = wb.measures.perplexity_audit(
        wb.open_run("half"), unseen=wb.load_corpus("new.csv", token_pattern=r"\w+"), n_particles=3
    )
    values = {row["protocol"]: row["value"] for row in found["protocols"]}
    for name in ("left_to_right", "exact", "document_completion", "bound_gensim"):
        assert values[name] == wanted["value"][name]
    assert all(row["value"] is None for row in found["protocols"] if row["note"])


def test_audit_of_another_model_is_one_sentence(command):
    status, out, err = command("audit", "other")
    assert (
        status == 2
        and out == ""
        and "audited of runs of LDA; run 'other' is of engine g-hdp" in err
    )
