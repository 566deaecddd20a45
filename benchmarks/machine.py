"""What the figures depend on: the processor, the memory, the versions, the thread settings."""

from __future__ import annotations

import contextlib
import datetime
import os
import platform
import resource
import sys
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path

from . import instruction_sets

PACKAGES = (
    "mercer",
    "numpy",
    "scipy",
    "scikit-learn",
    "scikit-learn-intelex",
    "libsvm-official",
    "clarabel",
)
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
KIB, MIB, GIB = 2**10, 2**20, 2**30


def describe() -> dict[str, str]:
    """Name the machine and the software, for the head of a report."""
    return {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "processor": processor(),
        "instruction set of mercer": instruction_set(),
        "cores": str(cores()),
        "memory": f"{total_memory() / GIB:.1f} GiB",
        "load before": load(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": ", ".join(f"{name} {version(name)}" for name in PACKAGES),
        "thread variables": ", ".join(
            f"{name}={os.environ[name]}" for name in THREAD_VARIABLES if name in os.environ
        )
        or "none set",
    }


def load() -> str:
    """Return the load of the last minute, with a warning where others use the machine."""
    last_minute = os.getloadavg()[0]
    busy = " (BUSY: others use this machine, the figures are noisy)" if last_minute > 0.5 else ""
    return f"{last_minute:.2f}{busy}"


def version(package: str) -> str:
    """Return the installed version of a package, or ``"absent"``.

    mercer may also lie beside its engine on the path, without having been installed.
    """
    try:
        return metadata.version(package) or "unknown"
    except metadata.PackageNotFoundError:
        if package != "mercer" or find_spec("mercer") is None:
            return "absent"
    return f"{import_module('mercer').__version__} (not installed)"


def instruction_set() -> str:
    """Return the instruction set that mercer's engine uses, or why there is none."""
    try:
        return instruction_sets.in_use()
    except ImportError as error:
        return f"none, the engine does not import ({error})"


def processor() -> str:
    """Return the processor's name and the widest vector instructions that matter here."""
    fields = _proc_fields(Path("/proc/cpuinfo"))
    name = fields.get("model name", platform.processor() or "unknown")
    flags = fields.get("flags", "").split()
    vectors = [flag for flag in ("avx512f", "avx2") if flag in flags][:1]
    return " ".join([name, *vectors])


def cores() -> int:
    """Return the number of cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def total_memory() -> int:
    """Return the physical memory in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def cache_megabytes() -> int:
    """Return the kernel cache given to every solver: 2000 MB, or a quarter of a small memory."""
    return int(min(2000, total_memory() / 4 / 1e6))


def restart_peak_memory() -> int:
    """Forget the highest memory use so far; return the bytes from which a new peak is counted.

    Linux can set its high-water mark back to the present use. Elsewhere the mark stays, and a
    later peak below it is seen as 0; a fresh process for each measurement keeps that rare.
    """
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return peak_memory()


def peak_memory() -> int:
    """Return this process's highest resident memory in bytes.

    ``VmHWM`` is preferred to ``ru_maxrss``, which a child process inherits from its parent.
    """
    status = _proc_fields(Path("/proc/self/status"))
    if "VmHWM" in status:
        return int(status["VmHWM"].split()[0]) * KIB
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * KIB


def limit_memory(limit: int) -> None:
    """Limit this process's address space to ``limit`` bytes: beyond it allocations fail."""
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _proc_fields(path: Path) -> dict[str, str]:
    """Read the first occurrence of each ``name: value`` of a file under ``/proc``."""
    fields: dict[str, str] = {}
    if path.exists():
        for line in path.read_text().splitlines():
            name, _, value = line.partition(":")
            fields.setdefault(name.strip(), value.strip())
    return fields
