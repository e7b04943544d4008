"""Networks on the command line: by name, by file, with sizes."""

import json

from workbench.models.networks.network import Network
from workbench.models.networks.shipped import pachinko

FIT = ("fit", "-e", "network-vb", "-n", 2, "-q")


def test_a_shipped_model_is_fitted_shown_and_asked_of_unseen_documents(
    command, told, six_documents
):
    (run,) = told(*FIT, six_documents, "--model", "hpam2", "-k", 2, "--size", "super=2")["runs"]
    assert run["n_topics"] == 5
    assert "network hpam2: super 3, sub 3" in command("show", run["name"])[1]
    assert len(told("infer", run["name"], six_documents)["documents"]) == 6


def test_a_network_in_a_file_is_fitted(told, six_documents, tmp_path):
    (tmp_path / "mine.json").write_text(json.dumps(Network(**pachinko(2, 3)).settings()))
    (run,) = told(*FIT, six_documents, "--model", "mine.json", "--alpha", 0.3)["runs"]
    assert run["n_topics"] == 2
