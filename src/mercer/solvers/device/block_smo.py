"""Block SMO with products from a device: the way that always works."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from mercer.gram.base import StoredGram, padded
from mercer.problems import Programs, QuadraticProgram
from mercer.solvers._limits import Limits
from mercer.solvers.device.program import DeviceProgram

BLOCK = 2048
"""Variables of a working set; the processor solves for them while they stay in its cache."""

INNER_SHARE = 0.1
"""Share of the gap to which a working set is solved."""

PATIENCE = 40
"""How often new variables may have been as many as there are, without half the gap, before nothing
helps any more; never fewer than `FEWEST` rounds."""

FEWEST = 200


class BlockSmo:
    """Steps of a working set after the other.

    A quarter of a working set are the variables that violate their condition most by rising, a
    quarter those by falling, and half are kept from the set before.

    Parameters
    ----------
    program : DeviceProgram
    beta, gradient : tensor of shape (n,)
        Of a feasible point; are changed.
    limits : Limits
        Iterations are steps of two variables.
    smo : callable
        ``smo(programs, gram, tol, limits, warm_start)`` solves the working set on the processor.
    """

    def __init__(
        self, program: DeviceProgram, beta: Any, gradient: Any, limits: Limits, smo: Callable
    ) -> None:
        self.program, self.beta, self.gradient = program, beta, gradient
        self.limits, self.smo = limits, smo
        self.kept = torch.zeros(0, dtype=torch.long, device=beta.device)
        self.moved = 0.0

    def run(self, until: float, tol: float) -> float:
        """Go on until the gap is small enough, a limit is reached or nothing helps; return it."""
        best, rounds_since = float("inf"), 0
        patience = max(FEWEST, PATIENCE * self.program.n // (BLOCK // 2))
        while True:
            gap = float(self.program.gap(self.beta, self.gradient)[0])
            if not gap > until or self.limits.stop(gap):
                return gap
            if gap < 0.5 * best:
                best, rounds_since = gap, 0
            rounds_since += 1
            if rounds_since > patience:
                return gap
            self._round(gap, tol)

    def _round(self, gap: float, tol: float) -> None:
        at = self._working_set()
        matrix = self.program.block(at)
        change = self._solved(at, matrix, max(0.5 * tol, INNER_SHARE * gap))
        moved = change.nonzero()[:, 0]
        self.kept = at
        if not len(moved):
            return
        at, change = at[moved], change[moved]
        self.beta[at] += change
        self.beta[at] = torch.minimum(
            torch.maximum(self.beta[at], self.program.lower[at]), self.program.upper[at]
        )
        self.gradient[at] += self.program.ridge[at] * change
        self.gradient += self.program.image(self.program.columns(at), change)
        self.moved += float(change @ change)

    def _working_set(self) -> Any:
        """Return half of the last working set and the worst of all others on either side."""
        program, quarter = self.program, min(BLOCK, self.program.n) // 4
        rising = torch.where(self.beta < program.upper, -self.gradient, -torch.inf)
        falling = torch.where(self.beta > program.lower, self.gradient, -torch.inf)
        is_new = torch.zeros(program.n, dtype=torch.bool, device=rising.device)
        is_new[torch.topk(rising, quarter).indices] = True
        falling[is_new] = -torch.inf
        is_new[torch.topk(falling, quarter).indices] = True  # where few may fall, some again
        new = is_new.nonzero()[:, 0]
        kept = self.kept[~is_new[self.kept]]
        # What changed in the last round may change again; of the rest, the newest stay.
        return torch.cat([new, kept[: 2 * quarter]])

    def _solved(self, at: Any, matrix: Any, tol: float) -> Any:
        """Return by how much the variables of a working set change."""
        program, beta = self.program, self.beta[at]
        # The linear term is made with the values that the processor gets.
        short = matrix if program.is_exact else matrix.float()
        ridge = program.ridge[at]
        linear = self.gradient[at] - short.double() @ beta - ridge * beta
        values = padded(len(at), np.float64 if program.is_exact else np.float32)
        values[:, : len(at)] = short.cpu()
        start, linear, ridge = (one.cpu().numpy() for one in (beta, linear, ridge))
        bounds = (program.lower[at].cpu().numpy(), program.upper[at].cpu().numpy())
        own = QuadraticProgram.known(linear, *bounds, float(start.sum()), ridge)
        found = self.smo(Programs.of([own]), StoredGram(values), tol, self.limits, start)
        return program.sent(found - start)
