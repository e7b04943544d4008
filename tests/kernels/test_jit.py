"""numba's cache is named after every source that compiled code can come from."""

import pytest

from workbench.kernels.jit import sources_hash


@pytest.mark.parametrize(
    "path", ["kernels/a.py", "kernels/lda/deep/a.py", "engines/a.py", "engines/hdp/a.py"]
)
def test_a_changed_byte_in_any_folder_changes_the_name_of_the_cache(tmp_path, path):
    for each in (
        "kernels/a.py",
        "kernels/lda/deep/a.py",
        "engines/a.py",
        "engines/hdp/a.py",
        "views/a.py",
    ):
        (tmp_path / each).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / each).write_text("x = 1\n")
    before = sources_hash.__wrapped__(tmp_path)
    (tmp_path / path).write_text("x = 2\n")
    changed = sources_hash.__wrapped__(tmp_path)
    (tmp_path / path).write_text("x = 1\n")
    (tmp_path / path).rename(tmp_path / path.replace("a.py", "b.py"))
    moved = sources_hash.__wrapped__(tmp_path)
    assert len({before, changed, moved}) == 3


def test_other_sources_leave_the_cache_alone(tmp_path):
    (tmp_path / "views").mkdir()
    before = sources_hash.__wrapped__(tmp_path)
    (tmp_path / "views" / "a.py").write_text("x = 1\n")
    assert sources_hash.__wrapped__(tmp_path) == before
