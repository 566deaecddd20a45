"""What a bug report needs to know about the machine and what is installed on it."""

from __future__ import annotations

import os
import platform
import re
import struct
from collections.abc import Callable, Iterator
from importlib import metadata

from mercer import __version__

# What is told about is imported in the function that tells it, even NumPy: one that is broken does
# not keep the others from being told.

__all__ = ["show_versions", "versions_text"]

_TOOLS = {"test", "bench", "docs"}
"""Extras that bring tools for work on mercer itself, no part of it."""

_LIMITS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "LOKY_MAX_CPU_COUNT",
)
"""Variables that change how many threads there are."""

_VECTORS = re.compile(r"sse2|avx\w*|fma|asimd\w*|neon|sve\w*")
"""The processor's features that decide about vector loops, as Linux spells them."""

Line = tuple[str, str]


def show_versions() -> None:
    """Print what a bug report should contain: versions, processor, GPUs, threads and libraries.

    The text names no files and no folders, so that it can be pasted anywhere. Optional parts are
    looked up but not imported, except for torch, which alone knows the GPUs: one that is broken
    does no harm here.

    Examples
    --------
    >>> import mercer
    >>> mercer.show_versions()
    mercer ...
    <BLANKLINE>
    System
      Python ...
    """
    print(versions_text())


def versions_text() -> str:
    """Return the text that `show_versions` prints.

    Examples
    --------
    >>> versions_text().splitlines()[0].split()[0]
    'mercer'
    """
    parts: dict[str, Callable[[], Iterator[Line]]] = {
        "System": _system,
        "Needed": _needed,
        "Optional": _optional,
        "Engine": _engine_lines,
        "GPU": _gpus,  # before the libraries, since torch brings some
        "Threads": _threads,
        "Linear algebra": _libraries,
        "Data": _data,
    }
    lines = [f"mercer {__version__}"]
    for title, part in parts.items():
        lines += ["", title, *(f"  {name:<28}  {value}".rstrip() for name, value in _told(part))]
    return "\n".join(lines)


def _told(part: Callable[[], Iterator[Line]]) -> list[Line]:
    """Return the lines of a part; what goes wrong on the way is the last of them.

    Only the kind of the error is told, since its message may name a file.
    """
    lines: list[Line] = []
    try:
        lines.extend(part())
    except Exception as error:
        lines.append(("(the rest is unknown)", f"asking raised {type(error).__name__}"))
    return lines


def _system() -> Iterator[Line]:
    kind = f"{platform.python_implementation()}, {8 * struct.calcsize('P')} bit"
    yield "Python", f"{platform.python_version()} ({kind}, {platform.python_compiler()})"
    yield "platform", platform.platform()
    facts = _processor_facts()
    name = facts.get("model name") or platform.processor() or "of unknown name"
    yield "processor", f"{name} ({platform.machine()})"


def _needed() -> Iterator[Line]:
    for name, extra in _requirements():
        if not extra:
            yield name, _version(name) or "absent"


def _optional() -> Iterator[Line]:
    for name, extra in _requirements():
        if extra and extra not in _TOOLS:
            yield name, _version(name) or f'absent; pip install "mercer[{extra}]" brings it'


def _requirements() -> list[tuple[str, str]]:
    """Return each package that mercer can use and the extra that brings it, "" for none."""
    found: dict[str, str] = {}
    for line in metadata.requires("mercer") or []:
        wanted, _, condition = line.partition(";")
        name = re.match(r"[\w.-]*\w", wanted.strip())
        extra = re.search(r"""extra\s*==\s*["']([\w-]+)["']""", condition)
        if name and name[0] != "mercer":
            found.setdefault(name[0], extra[1] if extra else "")
    return list(found.items())


def _version(name: str) -> str | None:
    """Return the version of an installed package without importing it."""
    try:
        return metadata.version(name) or "present, of unknown version"
    except metadata.PackageNotFoundError:
        return None
    except Exception:
        return "present, but broken: its version cannot be read"


def _engine_lines() -> Iterator[Line]:
    yield "processor has", " ".join(_processor_sets()) or "unknown"
    if "MERCER_INSTRUCTION_SET" in os.environ:
        yield "MERCER_INSTRUCTION_SET", _word("MERCER_INSTRUCTION_SET")
    try:
        from mercer.gram import instruction_set
    except ImportError as error:
        if not str(error).startswith("MERCER_INSTRUCTION_SET"):
            raise
        yield "does not load", str(error)  # the engine's own sentence, which names no file
    else:
        yield "instruction set", instruction_set()


def _processor_sets() -> list[str]:
    """Return what vector instructions the processor has, from the system or else from NumPy."""
    facts = _processor_facts()
    flags = (facts.get("flags") or facts.get("Features") or "").split()
    if flags:
        return [flag for flag in flags if _VECTORS.fullmatch(flag)]
    import numpy as np

    known = np.show_config(mode="dicts")["SIMD Extensions"]
    return [*known.get("baseline", []), *known.get("found", [])]


def _processor_facts() -> dict[str, str]:
    """Return what Linux says about the first processor; nothing on other systems."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            first = file.read().split("\n\n")[0]
    except OSError:
        return {}
    pairs = (line.partition(":") for line in first.splitlines())
    return {name.strip(): value.strip() for name, _, value in pairs}


def _gpus() -> Iterator[Line]:
    from mercer.gram.devices import why_not

    yield "device='cuda'", why_not("cuda") or "can be used"
    try:
        import torch
    except ImportError:
        return
    yield "CUDA", str(torch.version.cuda or "none, this torch is one for processors")
    for number in range(torch.cuda.device_count()):
        card = torch.cuda.get_device_properties(number)
        size = f"{card.total_memory / 2**30:.0f} GiB"
        yield f"cuda:{number}", f"{card.name}, {size}, compute capability {card.major}.{card.minor}"


def _threads() -> Iterator[Line]:
    yield "processors", str(os.cpu_count())
    if hasattr(os, "sched_getaffinity"):
        yield "this process may use", str(len(os.sched_getaffinity(0)))
    for name in _LIMITS:
        if name in os.environ:
            yield name, _word(name)
    import joblib

    yield "joblib counts", f"{joblib.cpu_count()} (with limits of a container)"
    from mercer._threads import available_threads

    yield "mercer uses", str(available_threads())


def _libraries() -> Iterator[Line]:
    import scipy.linalg  # noqa: F401  (only what is loaded can be asked)
    from threadpoolctl import threadpool_info

    for library in threadpool_info():
        words = [library.get("version"), library.get("architecture")]
        words += [library.get("threading_layer"), f"{library.get('num_threads')} threads"]
        name = f"{library.get('internal_api')} ({library.get('prefix')})"
        yield name, ", ".join(str(word) for word in words if word)


def _data() -> Iterator[Line]:
    yield "MERCER_DATA", "set" if os.environ.get("MERCER_DATA") else "not set"


def _word(name: str) -> str:
    """Return a variable's value if it is a plain word or list of numbers, never a path."""
    value = os.environ[name]
    return value if re.fullmatch(r"[\w,. -]{0,40}", value) else "set, but to no plain word"
