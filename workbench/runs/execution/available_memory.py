"""Memory that there is for runs: free on the machine, left by its container, or as WORKBENCH_MEMORY says."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

import psutil

from workbench.runs.spec import SpecError

MIB, GIB = 2**20, 2**30
UNITS = {"": 1, "K": 2**10, "M": MIB, "G": GIB, "T": 2**40}


class Room(NamedTuple):
    """Bytes that runs can still take, and who says so."""

    there: int
    says: str             # "" for the machine

    def told(self) -> str:
        """As in: 3.1 GB are free."""
        return f"{self.says} {told(self.there)}" if self.says else f"{told(self.there)} are free"


def room() -> Room:
    """What is free: of the machine, of the container where that is less, or what WORKBENCH_MEMORY says.

    Raises
    ------
    SpecError
        For a WORKBENCH_MEMORY that is no size.
    """
    by_hand = os.environ.get("WORKBENCH_MEMORY")
    if by_hand:
        return Room(parse_size(by_hand), "WORKBENCH_MEMORY allows")
    machine, container = psutil.virtual_memory().available, container_room()
    return Room(container, "the container has left") if container is not None and container < machine else Room(machine, "")


def parse_size(text: str) -> int:
    """Bytes of a size as 4G or 500M.

    Raises
    ------
    SpecError
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    size = int(float(found[1]) * UNITS[found[2].upper()]) if found else 0
    if size <= 0:
        raise SpecError(f"WORKBENCH_MEMORY must be a size such as 4G or 500M; got {text!r}; change it, or unset it")
    return size


def container_room(groups: Path = Path("/sys/fs/cgroup"), own: Path = Path("/proc/self/cgroup")) -> int | None:
    """What the control groups of this process leave it, file cache that can go counted as free; None without a limit."""
    left = []
    for line in _lines(own):
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        first = bool(controllers)  # version 1 has a tree for each controller
        names = ("limit_in_bytes", "usage_in_bytes", "total_inactive_file") if first else ("max", "current", "inactive_file")
        home = groups / "memory" if first else groups
        inside = home / path.strip("/")
        for group in dict.fromkeys([inside, *(parent for parent in inside.parents if parent.is_relative_to(home)), home]):
            left += _left_in(group, *names)
    return min(left, default=None)


def _left_in(group: Path, limit: str, usage: str, cache: str) -> list[int]:
    """What one control group leaves, if it has a limit."""
    bound, used = ("".join(_lines(group / f"memory.{name}")).strip() for name in (limit, usage))
    if not bound.isdigit() or not used.isdigit() or int(bound) >= psutil.virtual_memory().total:
        return []
    cached = sum(int(line.split()[1]) for line in _lines(group / "memory.stat") if line.split()[0] == cache)
    return [max(int(bound) - int(used) + cached, 0)]


def _lines(path: Path) -> list[str]:
    """The lines of a file of the system; none where there is no such file."""
    try:
        return path.read_text().splitlines()
    except OSError:
        return []


def told(n_bytes: float) -> str:
    """A size for people."""
    return f"{n_bytes / GIB:,.1f} GB" if n_bytes >= GIB else f"{n_bytes / MIB:,.0f} MB"
