"""Which compiled copy of the engine is measured: the best of this processor, or a smaller one."""

from __future__ import annotations

import os
import sys

LEVELS = ("baseline", "avx2", "avx512")
VARIABLE = "MERCER_INSTRUCTION_SET"
"""Read by mercer's engine alone; the peers keep the best instructions that they know."""


class LevelError(Exception):
    """An instruction set cannot be used, and the message says why."""


def in_use() -> str:
    """Return the instruction set that mercer's engine says it uses in this process."""
    from mercer import _engine

    return _engine.instruction_set()


def choose(level: str) -> None:
    """Have mercer's engine use a level, here and in all processes started from here on."""
    loaded = "mercer._engine" in sys.modules
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = level
    try:
        found = in_use()
    except (ImportError, RuntimeError) as error:
        _restore(before)
        raise LevelError(f"mercer's engine does not load with {level}: {error}") from error
    if found != level:
        _restore(before)
        reason = (
            f"it was loaded before with {found}"
            if loaded
            else f"this processor lacks it and offers {found}"
        )
        raise LevelError(f"mercer's engine cannot use {level}: {reason}.")


def _restore(before: str | None) -> None:
    if before is None:
        del os.environ[VARIABLE]
    else:
        os.environ[VARIABLE] = before
