"""Which of its compiled copies the engine runs."""

from __future__ import annotations

from mercer import _engine


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
