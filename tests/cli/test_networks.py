"""Networks on the command line: by name, by file, with sizes."""

import json

from workbench.models.networks.network import Network
from workbench.models.networks.shipped import pachinko

FIT = ("fit", "-e", "network-vb", "-n", 2, "-q")


def test_a_shipped_model_is_fitted_shown_and_asked_of_unseen_documents(command, six_documents):
    status, out, _ = command(
        *FIT, six_documents, "--model", "hpam2", "-k", 2, "--size", "super=2", "--json"
    )
    (run,) = json.loads(out)["runs"]
    assert status == 0 and run["n_topics"] == 5
    _, told, _ = command("show", run["name"])
    assert "network hpam2: super 3, sub 3" in told
    status, out, _ = command("infer", run["name"], six_documents, "--json")
    assert status == 0 and len(json.loads(out)["documents"]) == 6


def test_a_network_in_a_file_is_fitted(command, six_documents, tmp_path):
    (tmp_path / "mine.json").write_text(json.dumps(Network(**pachinko(2, 3)).settings()))
    status, out, _ = command(*FIT, six_documents, "--model", "mine.json", "--alpha", 0.3, "--json")
    assert status == 0 and json.loads(out)["runs"][0]["n_topics"] == 2
