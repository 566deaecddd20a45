"""A matrix of low rank in place of K: where to start, and what conjugate gradients lean on."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from mercer.gram.device.memory import free_memory
from mercer.solvers.device.program import DeviceProgram, State
from mercer.solvers.device.squares import CHUNK, RunningSquare

FEW, USUAL = 512, 1024
"""Landmarks: few where the start is near the solution already.

On an H200, milliseconds of whole fits with 512 / 1024: two Gaussians, 50 features, C = 1, 20,000
rows 42 / 45, 100,000 87 / 101, 300,000 284 / 337; sixteen clusters, 20 features, C = 10, 20,000
rows 126 / 115, 100,000 461 / 363, 300,000 2660 / 2070, where 256 fail. A million rows of the
Gaussians take 3460 with 1024 and 3790 with 2048.
"""

NEAR_ROOM = 3.5e5

FEWEST = 128
"""Landmarks below which an approximation helps nobody."""

JITTER = 1e-5
"""Added to the diagonal of the landmarks' matrix, relative to its mean."""

LEAST_REST = 1e-4
"""Of the diagonal, what at least stays beside the approximation."""

FLOOR = 0.2
"""Share of the mean rest below which no row's is taken to be: landmarks themselves have none."""

TURNS = 8
"""Most corrections of the guess at the start."""

SETTLED = 0.1
"""Share of the free variables that may still change sides when the start is good enough; .02 takes
a tenth longer for 20,000 rows."""


class Approximation:
    r"""The Nyström approximation :math:`K \approx P P^\top + \mathrm{diag}(D)`.

    Parameters
    ----------
    program : DeviceProgram
    rank : int

    References
    ----------
    C. Williams, M. Seeger, "Using the Nyström method to speed up kernel machines", NIPS 13 (2001).
    """

    def __init__(self, program: DeviceProgram, rank: int) -> None:
        points, n = program.points, program.points.n
        drawn = np.random.default_rng(0).choice(n, min(rank, n), replace=False)
        landmarks = points.take(torch.as_tensor(np.sort(drawn), device=program.device))
        inverse = _inverse_factor(points.values(landmarks, landmarks), JITTER).T
        precision = torch.float32 if points.allows_rounding else torch.double
        near, inverse = landmarks.to(precision), inverse.to(precision)
        parts = []
        for tile in points.tiles():
            for piece in torch.split(points.take(tile), max(1, CHUNK // len(landmarks))):
                parts.append((points.values(piece.to(precision), near) @ inverse).float())
        self.P = torch.cat(parts)
        diagonal = points.diagonal
        self.size = float(diagonal.mean())
        rest = diagonal - self.P.square().sum(dim=1)
        rest = torch.maximum(rest, LEAST_REST * diagonal.clamp(min=1e-3 * self.size))
        self.mean_rest = float(rest.mean())
        rest = rest.clamp(min=FLOOR * self.mean_rest)
        self.program = program
        view = program.point_of(None)
        self.D = (rest if view is None else rest[view]) + program.ridge
        self.light = 1.0 / self.D
        self.square = self.running_square(self.light)  # of whichever variables are free

    @classmethod
    def of(cls, program: DeviceProgram) -> Approximation | None:
        """Return the approximation of a rank that fits the memory, or None where none does."""
        rank = FEW if program.room <= NEAR_ROOM else USUAL
        while rank >= FEWEST:
            if cls.bytes_for(program, rank) < free_memory(program.device):
                try:
                    return cls(program, rank)
                except torch.linalg.LinAlgError:
                    return None
            rank //= 2
        return None

    @staticmethod
    def bytes_for(program: DeviceProgram, rank: int) -> float:
        """Return the memory that it takes, with that of equations among half of the variables."""
        return 4.0 * rank * program.points.n + 8.0 * rank * 0.5 * program.n + 2 * 8.0 * CHUNK

    def running_square(self, weights: Any) -> RunningSquare:
        """Return what squares P of some variables with weights."""
        return RunningSquare(self.factor, self.P.shape[1], weights)

    def factor(self, at: Any = None) -> Any:
        """Return P of some variables."""
        at = self.program.point_of(at)
        return self.P if at is None else self.P[at]


def _inverse_factor(matrix: Any, shift: float) -> Any:
    """Return the inverse of the Cholesky factor of a matrix with a raised diagonal."""
    diagonal = matrix.diagonal()
    diagonal += shift * diagonal.mean()
    factor = torch.linalg.cholesky(matrix)
    eye = torch.eye(len(matrix), dtype=torch.double, device=matrix.device)
    return torch.linalg.solve_triangular(factor, eye, upper=False)


def inverse_of_one_more(square: Any) -> Any:
    """Return L^-1 with L L' = 1 + square."""
    square.diagonal().add_(1.0)
    eye = torch.eye(len(square), dtype=torch.double, device=square.device)
    return torch.linalg.solve_triangular(torch.linalg.cholesky(square), eye, upper=False)


def solve_approximately(program: DeviceProgram, approximation: Approximation) -> State | None:
    r"""Return a state near the solution of the program with the approximation in place of K.

    With :math:`w = P^\top\beta` a free variable has
    :math:`\beta_i = -(p_i + P_i w + b) / D_i`; the guess which are free is corrected a few times.
    """
    P, p = approximation.factor(), program.p
    D = approximation.D.clamp(min=approximation.mean_rest)
    free = program.upper > program.lower
    beta = torch.where(free, 0.0, program.lower)
    single, square = P.dtype, approximation.running_square(1.0 / D)
    for _ in range(TURNS):
        at = free.nonzero()[:, 0]
        if len(at) < 2:
            return None
        weights = square.weights[at]
        own = approximation.factor(at)
        inverse = inverse_of_one_more(square.of(at))
        pull = torch.where(free, -p / D, beta)
        right = (P.T @ pull.to(single)).double()
        column = (own.T @ weights.to(single)).double()
        by_pull, by_column = (inverse.T @ (inverse @ one) for one in (right, column))
        lack = pull.sum() - column @ by_pull - program.delta
        offset = lack / (weights.sum() - column @ by_column)
        w = (by_pull - offset * by_column).to(single)
        values = -(p + (P @ w).double() + offset) / D
        inside = (values > program.lower) & (values < program.upper)
        changed = torch.stack([(inside != free).sum(), inside.sum()]).tolist()
        free = inside
        beta = torch.minimum(torch.maximum(values, program.lower), program.upper)
        if changed[0] <= SETTLED * changed[1]:
            break
    return State(program, beta, free, values >= program.upper, offset)
