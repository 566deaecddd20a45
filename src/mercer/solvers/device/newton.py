"""Newton's method on all variables: guess which are free, solve their equations, correct."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from mercer.solvers._limits import Limits
from mercer.solvers.device.nystroem import Approximation, inverse_of_one_more
from mercer.solvers.device.program import DeviceProgram, State
from mercer.solvers.device.verdict import RENEWED, exact_gradient

VIOLATION, RESIDUAL = 0.3, 0.35
"""Shares of ``tol`` up to which a variable at a bound, or a free one, may miss its condition."""

CLOSE = 0.15
"""Share of ``tol`` to which equations are solved at the end."""

FORCING = 0.05
"""Share of the worst violation to which they are solved on the way."""

MOST_TURNS, MOST_PRODUCTS = 40, 100

PATIENCE = 3
"""Turns without fewer wrong guesses after which the method has failed."""

WIDE_TURNS = 2
"""Turns after which rows far from their condition wait for their gradient."""

FAR = 4.0
"""How many times the worst violation a row is away that waits."""

LOOKS = 3
"""Products between two looks at the residual, which make the device wait."""


@dataclass(frozen=True)
class Guess:
    """How good the present guess is.

    Parameters
    ----------
    over, under : tensor of bool
        Free variables beyond a bound.
    wrong : tensor of bool
        Variables at a bound whose condition does not hold.
    distance : tensor
        That of each row from zero gradient.
    n_wrong, n_free : int
    n_next : int
        Free variables after a correction.
    residual, worst : float
        Largest distance of a free variable, and of a wrong one.
    """

    over: Any
    under: Any
    wrong: Any
    distance: Any
    n_wrong: int
    n_free: int
    n_next: int
    residual: float
    worst: float

    @classmethod
    def of(cls, program: DeviceProgram, state: State, tol: float) -> Guess:
        """Look at a state."""
        slope = state.gradient + state.offset
        over = state.free & (state.beta > program.upper)
        under = state.free & (state.beta < program.lower)
        too_high = state.raised & (slope > VIOLATION * tol)
        too_low = ~state.free & ~state.raised & (slope < -VIOLATION * tol)
        wrong = (too_high | too_low) & (program.upper > program.lower)
        if state.near is not None:
            wrong &= torch.zeros_like(wrong).index_fill_(0, state.near, True)
        distance = slope.abs()
        numbers = [
            (over | under).sum(),
            wrong.sum(),
            state.free.sum(),
            torch.where(state.free, distance, 0.0).max(),
            torch.where(wrong, distance, 0.0).max(),
        ]
        n_out, n_in, n_free, residual, worst = torch.stack(
            [one.double() for one in numbers]
        ).tolist()
        n_next = int(n_free - n_out + n_in)
        counts = int(n_out + n_in), int(n_free), n_next
        return cls(over, under, wrong, distance, *counts, residual, worst)

    def correct(self, state: State) -> None:
        """Change the guess of a state."""
        state.raised = (state.raised & ~self.wrong) | self.over
        state.free = (state.free & ~self.over & ~self.under) | self.wrong


class Newton:
    """Moves states of a program to its solution.

    The method is the primal-dual active set [1]_, a semi-smooth Newton method. It needs a fair
    guess to begin with, and may fail.

    Parameters
    ----------
    approximation : Approximation
        For the conjugate gradients.
    tol : float
        The gap asked for.
    limits : Limits
        Iterations are products with K in conjugate gradients.

    References
    ----------
    .. [1] M. Hintermüller, K. Ito, K. Kunisch, "The primal-dual active set strategy as a semismooth
       Newton method", SIAM Journal on Optimization 13 (2002).
    """

    def __init__(self, approximation: Approximation, tol: float, limits: Limits) -> None:
        self.approximation, self.tol, self.limits = approximation, tol, limits

    def run(
        self, program: DeviceProgram, state: State, rough: float = 0.0, looks_first: bool = False
    ) -> bool:
        """Move a state to the solution, or until few guesses are wrong; say whether that worked.

        Parameters
        ----------
        program : DeviceProgram
        state : State
            Is changed.
        rough : float, default=0.0
            Share of the free variables that may be guessed wrong at the end.
        looks_first : bool, default=False
            Whether gradient and offset belong to this program, so that the guess may be corrected
            at once.
        """
        near_enough, fewest, worse = max(CLOSE * self.tol, FORCING), float("inf"), 0
        is_wide, steps, was_renewed = True, 0, False
        for turn in range(MOST_TURNS):
            if turn or looks_first:
                guess = Guess.of(program, state, self.tol)
                is_right = not guess.n_wrong and guess.residual < RESIDUAL * self.tol
                if is_right or guess.n_wrong < rough * guess.n_free:
                    if rough or state.near is None:
                        return True
                    state.catch_up(program)
                    continue
                worse = worse + 1 if guess.n_wrong >= fewest else 0
                fewest = min(fewest, guess.n_wrong)
                is_number = guess.worst == guess.worst
                if worse >= PATIENCE and not was_renewed and self._lacks_digits(state):
                    _renew(program, state)
                    fewest, worse, was_renewed = float("inf"), 0, True
                    continue
                if worse >= PATIENCE or not is_number or guess.n_next < 2:
                    return False
                guess.correct(state)
                near_enough = max(CLOSE * self.tol, FORCING * guess.worst)
                is_wide = steps < WIDE_TURNS
                if not is_wide:
                    far = FAR * max(guess.worst, guess.residual, self.tol)
                    state.let_wait(state.free | (guess.distance < far))
            if not self._step(program, state, near_enough, is_wide):
                return False
            steps += 1
            if self.limits.stop(fewest):
                return False
        return False

    def _lacks_digits(self, state: State) -> bool:
        """Say whether guesses may be wrong because rounding has changed the gradient."""
        return state.rounding() > RENEWED * self.tol

    def _step(self, program: DeviceProgram, state: State, close: float, is_wide: bool) -> bool:
        """Put variables where they are guessed to be; solve for the free ones."""
        target = torch.where(state.raised, program.upper, program.lower)
        moves = (~state.free & (state.beta != target)).nonzero()[:, 0]
        at = state.free.nonzero()[:, 0]
        if len(at) < 2:
            return False
        jump = program.told(target[moves] - state.beta[moves])
        right = -state.gradient[at]
        rows, columns = program.rows(at), program.columns(at)
        if len(moves):
            right -= program.times(rows, program.columns(moves), jump)
        shift = right.mean()
        total = program.delta - state.beta.sum() - jump.sum()
        ridge = program.ridge[at] if program.has_ridge else None

        def times(v: Any) -> Any:
            product = program.times(rows, columns, v)
            return product if ridge is None else product + ridge * v

        lean = Preconditioner(self.approximation, at)
        solved = conjugate_gradients(times, lean, right - shift, total, close, self.limits)
        change, offset = solved
        state.offset = offset + shift
        change = program.told(change)
        state.move(program, torch.cat([moves, at]), torch.cat([jump, change]), is_wide)
        state.beta[moves] = target[moves]  # what rounding of the jump left
        return True


def _renew(program: DeviceProgram, state: State) -> None:
    """Compute the gradient in float64."""
    state.near, state.waiting, state.moved = None, [], 0.0
    state.gradient = exact_gradient(program, state, None)


class Preconditioner:
    """The inverse of the approximation among some variables, in the plane of a fixed sum."""

    def __init__(self, approximation: Approximation, at: Any) -> None:
        self.light = approximation.light[at]
        lower = inverse_of_one_more(approximation.square.of(at))
        self.inverse = lower.T @ lower
        self.factor = approximation.factor(at).double().mul_(self.light[:, None])
        self.ones = self._solve(torch.ones_like(self.light))
        self.normal = self.ones / self.ones.sum()

    def _solve(self, v: Any) -> Any:
        """Return the approximation's inverse times a vector."""
        short = self.inverse @ (self.factor.T @ v)
        return torch.addmv(v * self.light, self.factor, short, alpha=-1.0)

    def project(self, v: Any) -> Any:
        """Return the same, moved so that the sum is zero: to the last digits of what is left."""
        moved = self._solve(v).addcmul_(self.normal, self.ones @ v, value=-1.0)
        return moved.addcmul_(self.normal, moved.sum(), value=-1.0)


def conjugate_gradients(
    times: Any, lean: Preconditioner, right: Any, total: Any, close: float, limits: Limits
) -> tuple[Any, Any]:
    """Return d and b with K d + b = right and a given sum of d."""
    change = lean.normal * total
    rest = right - times(change)
    z = lean.project(rest)
    direction, size = z, rest @ z
    for k in range(MOST_PRODUCTS):
        is_time_to_look = k % LOOKS == 0
        if is_time_to_look and not float(rest.max() - rest.min()) > 2.0 * close:
            break
        if is_time_to_look and limits.are_reached:
            break
        product = times(direction)
        limits.n_iter += 1
        length = size / (direction @ product)
        change.addcmul_(direction, length)
        rest = rest.addcmul_(product, length, value=-1.0)
        z = lean.project(rest)
        before, size = size, rest @ z
        direction = torch.addcmul(z, direction, size / before)
    return change, lean.normal @ rest
