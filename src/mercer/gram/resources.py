"""What the engine uses of this machine, and giving back what it keeps."""

from __future__ import annotations

from mercer import _engine


def release_memory() -> int:
    """Give the buffers that the engine keeps for the next fit back to the system.

    The engine keeps at most 256 MiB after a fit, because fresh memory costs more time than the
    kernel values that go into it.

    Returns
    -------
    int
        Bytes given back.

    Examples
    --------
    >>> _ = release_memory()
    >>> release_memory()
    0
    """
    return _engine.release_kept_memory()


def instruction_set() -> str:
    """Return the instruction set that the engine's hot loops use on this processor.

    The environment variable ``MERCER_INSTRUCTION_SET`` asks for less than the processor has; it is
    read once, when the engine is first used.

    Returns
    -------
    str
        "baseline" for what every processor of this kind has, or the name of a larger set, such as
        "avx2" or "avx512".

    Examples
    --------
    >>> instruction_set().isalnum()
    True
    """
    return _engine.instruction_set()
