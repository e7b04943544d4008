"""Short runs of every engine and option choice keep their bits, and their specs keep their hashes."""

import json

import pytest
from digests import GOLDEN, digest, pair, run_of

from workbench.engines import ENGINES

ROWS = json.loads(GOLDEN.read_text())


@pytest.mark.parametrize("name", ENGINES)
def test_a_short_run_has_the_bits_and_the_hash_that_it_had(name):
    train, test = pair()
    rows = [row for row in ROWS if row["settings"]["engine"] == name]
    assert rows
    changed = []
    for row in rows:
        run = run_of(train, test, row["settings"])
        found = {"spec_hash": run.attrs["spec_hash"], "digest": digest(run)}
        changed += [row["settings"]] if found != {name: row[name] for name in found} else []
    assert not changed
