"""What memory there is: by hand, of the machine, of its control groups."""

import psutil
import pytest
from data_files import refused

from workbench.data.available_memory import (
    GIB,
    MIB,
    available_memory,
    container_memory,
    parse_size,
)


@pytest.mark.parametrize(
    "text, n_bytes",
    [
        ("4G", 4 * GIB),
        ("500M", 500 * MIB),
        ("1.5 GiB", 1.5 * GIB),
        ("64kb", 65536),
        ("2t", 2048 * GIB),
        ("1048576", MIB),
    ],
)
def test_a_size_is_read_with_its_unit(text, n_bytes):
    assert parse_size(text) == n_bytes


@pytest.mark.parametrize("text", ["abc", "-4G", "4X", "G", "0", "4 GB free", "nan", "1e9"])
def test_what_is_no_size_is_refused_by_name(text, monkeypatch):
    monkeypatch.setenv("WORKBENCH_MEMORY", text)
    assert "WORKBENCH_MEMORY must be a size such as 4G or 500M; got " in refused(available_memory)


def test_what_is_set_by_hand_stands_for_the_machine(monkeypatch):
    monkeypatch.setenv("WORKBENCH_MEMORY", "3G")
    assert available_memory().n_bytes == 3 * GIB
    assert available_memory().describe() == "WORKBENCH_MEMORY allows 3.0 GB"


def test_without_it_the_machine_is_asked(monkeypatch):
    monkeypatch.setenv("WORKBENCH_MEMORY", "")
    there = available_memory()
    assert 0 < there.n_bytes <= psutil.virtual_memory().total
    assert there.describe().endswith("are free") or there.describe().startswith(
        "the container has left "
    )


def group(folder, **files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / f"memory.{name}").write_text(f"{text}\n")


def test_a_container_of_version_two_counts_with_every_group_above_it(tmp_path):
    own = tmp_path / "cgroup"
    own.write_text("0::/pod/job\n")
    assert container_memory(tmp_path / "fs", own) is None
    group(tmp_path / "fs" / "pod" / "job", max="max", current=MIB)
    assert container_memory(tmp_path / "fs", own) is None
    group(
        tmp_path / "fs" / "pod",
        max=100 * MIB,
        current=60 * MIB,
        stat=f"anon 1\ninactive_file {5 * MIB}\nactive_file 7",
    )
    assert container_memory(tmp_path / "fs", own) == 45 * MIB
    group(tmp_path / "fs" / "pod" / "job", max=20 * MIB, current=30 * MIB)
    assert container_memory(tmp_path / "fs", own) == 0


def test_a_container_of_version_one_is_found_among_the_controllers(tmp_path):
    own = tmp_path / "cgroup"
    own.write_text("9:name=systemd:/pod\n4:cpu,memory:/pod\n3:cpuset:/\n0::/\n")
    group(tmp_path / "fs" / "memory" / "pod", limit_in_bytes=2**63 - 4096, usage_in_bytes=MIB)
    assert container_memory(tmp_path / "fs", own) is None
    stat = f"cache 9\ninactive_file {9 * MIB}\ntotal_inactive_file {3 * MIB}"
    group(tmp_path / "fs" / "memory", limit_in_bytes=64 * MIB, usage_in_bytes=32 * MIB, stat=stat)
    assert container_memory(tmp_path / "fs", own) == 35 * MIB


def test_inside_a_container_that_hides_its_path_the_root_counts(tmp_path):
    own = tmp_path / "cgroup"
    own.write_text("0::/docker/0123\n")
    group(tmp_path / "fs", max=8 * MIB, current=2 * MIB)
    assert container_memory(tmp_path / "fs", own) == 6 * MIB


def test_a_container_with_less_than_the_machine_counts(monkeypatch):
    monkeypatch.delenv("WORKBENCH_MEMORY", raising=False)
    monkeypatch.setattr("workbench.data.available_memory.container_memory", lambda: 10 * MIB)
    assert available_memory().describe() == "the container has left 10 MB"
    monkeypatch.setattr("workbench.data.available_memory.container_memory", lambda: 2**60)
    assert available_memory().describe().endswith("are free")
