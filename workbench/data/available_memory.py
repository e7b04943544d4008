"""The available memory: what the machine or its container has free, or what WORKBENCH_MEMORY states."""

import os
import re
from pathlib import Path
from typing import NamedTuple

import psutil

from workbench.errors import DataError
from workbench.numbers import GIB, MIB, format_size

UNITS = {"": 1, "K": 2**10, "M": MIB, "G": GIB, "T": 2**40, "P": 2**50}


class AvailableMemory(NamedTuple):
    """The number of bytes that can still be allocated, and what limits it."""

    n_bytes: int
    # beginning of a sentence before the size, as "WORKBENCH_MEMORY allows"; "" for the machine
    limit: str

    def describe(self) -> str:
        """Return the available memory and its limit as text: "3.1 GB are free"."""
        size = format_size(self.n_bytes)
        return f"{self.limit} {size}" if self.limit else f"{size} are free"


def available_memory() -> AvailableMemory:
    """Return the available memory: the smallest of what the machine, the container and the process limit leave.

    If WORKBENCH_MEMORY is set, it replaces machine and container.
    """
    limits = [_shared_memory()]
    process = psutil.Process()
    # only Linux has it
    limit = process.rlimit(psutil.RLIMIT_AS)[0] if hasattr(psutil, "RLIMIT_AS") else -1
    if limit != -1:
        remainder = max(limit - process.memory_info().vms, 0)
        limits.append(AvailableMemory(remainder, "the process may still take"))
    return min(limits)


def check_fits(n_bytes: float, purpose: str, mend: str) -> None:
    """Raise an error if ``purpose`` needs more than the available memory; its message ends with the advice ``mend``."""
    memory = available_memory()
    if not n_bytes <= memory.n_bytes:  # NaN too
        size = f"about {format_size(n_bytes)}" if n_bytes < UNITS["P"] else "more than a petabyte"
        raise DataError(f"{purpose} would take {size} of memory and {memory.describe()}; {mend}")


def _shared_memory() -> AvailableMemory:
    """Return WORKBENCH_MEMORY if it is set, else the memory that the machine or its container has free."""
    if setting := os.environ.get("WORKBENCH_MEMORY"):
        return AvailableMemory(parse_size(setting), "WORKBENCH_MEMORY allows")
    machine, container = psutil.virtual_memory().available, container_memory()
    if container is not None and container < machine:
        return AvailableMemory(container, "the container has left")
    return AvailableMemory(machine, "")


def parse_size(text: str) -> int:
    """Return the number of bytes that a text such as 4G or 500M (WORKBENCH_MEMORY) states; raise DataError for other text."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    size = int(float(match[1]) * UNITS[match[2].upper()]) if match else 0
    if size <= 0:
        raise DataError(
            f"WORKBENCH_MEMORY must be a size such as 4G or 500M; got {text!r}; change it, or unset it"
        )
    return size


def container_memory(
    groups: Path = Path("/sys/fs/cgroup"), membership: Path = Path("/proc/self/cgroup")
) -> int | None:
    """Return the bytes that this process's control groups leave, with file cache as free; None without a limit."""
    free_bytes = []
    for line in _lines(membership):
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        first = bool(controllers)  # version 1 has a tree for each controller
        names = (
            ("limit_in_bytes", "usage_in_bytes", "total_inactive_file")
            if first
            else ("max", "current", "inactive_file")
        )
        home = groups / "memory" if first else groups
        group_path = home / path.strip("/")
        for group in (
            group_path,
            *(parent for parent in group_path.parents if parent.is_relative_to(home)),
        ):
            free_bytes += _free_bytes_in(group, *names)
    return min(free_bytes, default=None)


def _free_bytes_in(group: Path, limit: str, usage: str, cache: str) -> list[int]:
    """Return a list of the bytes still free in one control group; [] if the group has no limit."""
    maximum, used = ("".join(_lines(group / f"memory.{name}")).strip() for name in (limit, usage))
    if not maximum.isdigit() or not used.isdigit() or int(maximum) >= psutil.virtual_memory().total:
        return []
    cached = sum(
        int(line.split()[1]) for line in _lines(group / "memory.stat") if line.split()[0] == cache
    )
    return [max(int(maximum) - int(used) + cached, 0)]


def _lines(path: Path) -> list[str]:
    """Return the lines of a system file; [] if it does not exist."""
    try:
        return path.read_text().splitlines()
    except OSError:
        return []
