"""A matrix of low rank in place of K: where to start, and what conjugate gradients lean on."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from mercer.gram.device.memory import free_memory
from mercer.solvers.device.program import DeviceProgram, State

FEW, USUAL, MANY = 512, 1024, 2048
"""Landmarks: few where the start is near the solution already, many for `LARGE` programs.

On an H200, milliseconds of whole fits with 512 / 1024: two Gaussians, 50 features, C = 1, 20,000
rows 42 / 45, 100,000 87 / 101, 300,000 284 / 337; sixteen clusters, 20 features, C = 10, 20,000
rows 126 / 115, 100,000 461 / 363, 300,000 2660 / 2070, where 256 fail.
"""

NEAR_ROOM, LARGE = 3.5e5, 500_000

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

CHUNK = 1 << 28
"""Numbers that are made float64 at a time."""


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
        self.rest = rest.clamp(min=FLOOR * self.mean_rest)
        self.program = program

    @classmethod
    def of(cls, program: DeviceProgram) -> Approximation | None:
        """Return the approximation of a rank that fits the memory, or None where none does."""
        rank = FEW if program.room <= NEAR_ROOM else USUAL
        rank = MANY if program.n >= LARGE else rank
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

    def factor(self, at: Any = None) -> Any:
        """Return P of some variables."""
        at = self.program.point_of(at)
        return self.P if at is None else self.P[at]

    def beside(self, program: DeviceProgram, at: Any = None) -> Any:
        """Return D of some variables, the ridge of a program included."""
        points = program.point_of(at)
        rest = self.rest if points is None else self.rest[points]
        return rest + (program.ridge if at is None else program.ridge[at])


def weighted_square(P: Any, weights: Any) -> Any:
    """Return P' diag(weights) P in float64, some rows at a time."""
    square = torch.zeros((P.shape[1], P.shape[1]), dtype=torch.double, device=P.device)
    step = max(1, CHUNK // P.shape[1])
    for begin in range(0, len(P), step):
        part = P[begin : begin + step].double()
        part *= weights[begin : begin + step, None].sqrt()
        square.addmm_(part.T, part)
    return square


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
    P, D, p = approximation.factor(), approximation.beside(program), program.p
    D = D.clamp(min=approximation.mean_rest)
    free = program.upper > program.lower
    beta = torch.where(free, 0.0, program.lower)
    single = P.dtype
    for _ in range(TURNS):
        at = free.nonzero()[:, 0]
        if len(at) < 2:
            return None
        weights = 1.0 / D[at]
        own = approximation.factor(at)
        inverse = inverse_of_one_more(weighted_square(own, weights))
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
