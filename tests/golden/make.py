"""Write the golden store anew, after a change of the store's layout: ``python tests/golden/make.py``."""

import json
import shutil
from pathlib import Path

import workbench as wb
from workbench.data import blocks
from workbench.models import LDA
from workbench.runs.store.status import replace_json

home = Path(__file__).parent / "store"
shutil.rmtree(home, ignore_errors=True)
corpus, _ = LDA(2, 0.3, 0.3).simulate(5, 8, 20, seed=3)
train, test = wb.hold_out_tokens(corpus, fraction=0.2, seed=0)
expected = {}
blocks.NUMBERS = 8  # a snapshot lies in several chunks, as those of large corpora do
ENGINES = (
    ("svb", {}),
    ("cgs", {}),
    ("svb-cgs", {"n_chains": 2}),
    ("cgs", {"learn_alpha": "sampled", "learn_beta": "maximised"}),
    ("cv-hdp", {"moves_every": 3, "moves_after": 5}),
    ("g-hdp", {"top_concentration": 5.0, "learn_gamma": False}),
)
for engine, options in ENGINES:
    settings = dict(n_topics=2, n_iterations=12, snapshot_every=5, options=options)
    ds = wb.fit(train, engine, test=test, store=home, progress=False, **settings)
    scalars = [name for name, variable in ds.data_vars.items() if variable.dims == ("iteration",)]
    expected[ds.attrs["name"]] = {
        "spec_hash": ds.attrs["spec_hash"],
        "final": {name: float(ds[name][-1]) for name in scalars},
        "phi": ds.phi.values[0, :5].tolist(),
        "words": list(ds.word.values[:3]),
    }
for run in wb.open_runs(home):
    for name in ("lock", "control.json"):
        (run.path / name).unlink(missing_ok=True)
    status = json.loads((run.path / "status.json").read_text())
    replace_json(run.path / "status.json", status | {"pid": 0})
(home / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")
