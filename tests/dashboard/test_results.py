"""The card *Settings and results*."""

from workbench.dashboard.compare.results import EVERY, Results
from workbench.dashboard.shared.downloads import Handover
from workbench.dashboard.shared.run_monitor import RunMonitor


def test_runs_are_drawn_by_the_settings_in_which_they_differ_or_by_one_of_them(
    drawn, new_run, store
):
    card = Results(Handover())
    card.follow([], [])
    assert "Runs that differ in a setting" in card.status.object and not card.results.visible
    for seed in range(2):
        for k in (2, 3):
            new_run(f"k{k}-{seed}", "cgs", seed=seed, n_topics=k, n_iterations=4)
    readings, settings = RunMonitor(store).look().readings, ["K", "seed"]
    card.follow(readings, settings)
    assert card.card_content.picture.header[3:] == ["K", "test_perplexity"]
    assert list(card.setting.options) == [EVERY, "K", "Seed"]
    parts = card.parameters()
    assert parts["settings"].take("seed") and parts["result"].take("updates")
    card.follow(readings, settings)
    assert card.card_content.picture.header[3:] == ["seed", "updates"] and card.figure.objects
    assert {row[-1] for row in card.card_content.picture.rows} == {
        one.latest[1] for one in readings
    }
    assert not parts["settings"].take("no such") and card.setting.value == "seed"
    unfinished = [readings[0]._replace(status=readings[0].status | {"state": "running"})]
    card.follow([*unfinished, *readings[1:]], settings, "kos")
    assert "Runs that have not finished are left out: 1." in card.status.object
    assert len(
        card.card_content.picture.rows
    ) == 3 and card.card_content.picture.caption.startswith("On kos. ")
