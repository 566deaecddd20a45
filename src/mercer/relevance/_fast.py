"""Sequential maximisation of the evidence: add, re-estimate, delete."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mercer.relevance._basis import Basis
from mercer.relevance._likelihood import Likelihood
from mercer.relevance._model import Fit, first_model
from mercer.relevance._newton import follow, propose
from mercer.relevance._scores import Scorer, Scores
from mercer.relevance._widen import contributions, widened

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

PATIENCE = 0.1
"""Precisions are re-estimated while that promises this share of what the last function brought."""

MOST_REESTIMATES = 8
"""Re-estimates between two looks at the functions outside."""

MOST_CAUTION = 9
"""With how many precisions, each ten times the last, a new function is tried before it is refused.
Of fifteen thousand functions of random programs 27 were taken with a higher one still, and none of
those raised the log evidence by 0.001."""

MOST_REFUSED = 20
"""Functions refused one after the other, of those that promise most, before the search ends. Of the
same fifteen thousand none was taken after more of them."""

MOST_HELD = 50
"""Functions up to which the first one and the noise of a regression are held."""

COARSE = 0.3
"""Gains that are left before the model is widened, from a hundred rows on; of less, fewer."""

LISTED = 64
"""Functions on the short list, from which some are added before all are looked at again."""

ENOUGH = 0.5
"""The short list will do while it promises this share of what any other function did."""

TIE = 1e-9
"""Gains that differ by less than this share are equal, so that rounding does not choose."""


def fit_fast(
    likelihood: Likelihood,
    basis: Basis,
    *,
    tol: float,
    max_iter: int,
    most_precision: float = np.inf,
    widens: bool = True,
) -> Fit:
    r"""Maximise the evidence from the empty model upwards; it never decreases.

    A function with precision :math:`\alpha` changes the log evidence, all others held fixed, by

    .. math:: \ell(\alpha) = \tfrac12\Bigl(\ln\frac{\alpha}{\alpha + s} +
              \frac{q^2}{\alpha + s}\Bigr),

    whose maximum is at :math:`\alpha = s^2/(q^2 - s)` if :math:`q^2 > s` and at infinity, that is
    without the function, if not. Functions that promise most are added, those with
    :math:`q^2 \le s` deleted. The precisions of all chosen functions are re-estimated together by
    Newton's method, and with them the noise of a regression.

    Nothing at all is a local maximum: of wide functions none is of use without another or a
    constant to subtract. So are few functions and much noise. Therefore the constant function, or
    else the one that resembles the targets most, is there from the start and held, with a wide
    prior, and so is little noise, until nothing else promises anything.

    What is chosen first stands in the way of what would be better later. So when most is done, the
    model is widened by many functions, all of which start anew; see `widened`. If the evidence is
    higher in the end, that is the model.

    Parameters
    ----------
    likelihood : Likelihood
    basis : Basis
    tol : float
        Stops where no action promises to raise the log evidence by more than this.
    max_iter : int
        Most actions.
    most_precision : float
        Largest precision of the noise.
    widens : bool
        Whether the model is widened, which takes longer than all that comes before.

    Returns
    -------
    Fit
    """
    fit = Fit(first_model(likelihood, basis))
    fit.move(fit.model, "start")
    scorer = Scorer(basis)
    coarse = max(tol, COARSE * min(1.0, float(likelihood.weights.sum()) / 100))
    first = coarse if widens else tol
    search = BasisSearch(fit, scorer, first, most_precision, fit.model.indices)
    search.climb(max_iter)
    if not (fit.converged and widens):
        return fit
    other = Fit(widened(fit.model, scorer, tol, most_precision))
    BasisSearch(other, scorer, tol, most_precision).climb(max_iter - len(fit.history))
    if other.model.log_evidence > fit.model.log_evidence + tol:
        fit.jump(other, "widen")
    else:
        search.tol, fit.converged = tol, False
        search.climb(max_iter)
    return fit


@dataclass(frozen=True, eq=False)
class Shortlist:
    """The functions that promised most when all were looked at, and what the best other did."""

    indices: Indices
    values: Floats
    outside: float

    @classmethod
    def of(cls, basis: Basis, gains: Floats) -> Shortlist:
        """Return the list of the functions with the largest gains."""
        order = np.argsort(-gains, kind="stable")
        indices = np.sort(order[:LISTED])
        return cls(indices, basis.rows(indices), float(gains[order[LISTED]]))


@dataclass(eq=False)
class BasisSearch:
    """The actions; each says whether it has raised the evidence."""

    fit: Fit
    scorer: Scorer
    tol: float
    most_precision: float
    held: Indices = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    last_gain: float = np.inf
    reestimates: int = 0
    refused: set[tuple[int, int]] = field(default_factory=set)
    refused_at: float = -np.inf
    shortlist: Shortlist | None = None

    def climb(self, max_iter: int) -> None:
        """Act until nothing promises to raise the log evidence by more than the tolerance."""
        while len(self.fit.history) < max_iter:
            if not (
                self.delete()
                or self.reestimate(max(self.tol, PATIENCE * self.last_gain))
                or self.add()
                or self.reestimate(self.tol)
            ):
                if not self.held.size:
                    self.fit.converged = True
                    return
                self.release()
            if self.fit.model.size >= MOST_HELD:
                self.release()

    def release(self) -> None:
        """Hold nothing any more."""
        self.held = self.held[:0]

    def delete(self) -> bool:
        """Delete the function without which the evidence is highest, if it rises by that."""
        model = self.fit.model
        losses, idle = contributions(model)
        idle[self._held_weights()] = False
        if not idle.any():
            return False
        worst = int(np.where(idle, losses, np.inf).argmin())
        smaller = model.only(np.arange(model.size) != worst)
        if not smaller.log_evidence >= model.log_evidence:
            return False
        self.fit.move(smaller, "delete", int(model.indices[worst]))
        return True

    def reestimate(self, wanted: float) -> bool:
        """Re-estimate all precisions, if that promises as much as is wanted."""
        if wanted > self.tol and self.reestimates >= MOST_REESTIMATES:
            return False
        held = self._held_weights()
        if held.size and self.fit.model.posterior.likelihood.is_quadratic:
            held = np.append(held, -1)  # the noise
        step = propose(self.fit.model, held)
        if step.gain <= wanted:
            return False
        better = follow(self.fit.model, step, self.most_precision)
        if better is None:
            return False
        self.fit.move(better, "re-estimate")
        self.reestimates += 1
        return True

    def add(self) -> bool:
        """Add the function that promises most: of the short list, or else of all."""
        model, short = self.fit.model, self.shortlist
        if short is not None:
            scores = self.scorer.score_some(model, short.indices, short.values)
            if self._add_best(scores, short.indices, ENOUGH * short.outside):
                return True
        everything = np.arange(self.scorer.basis.size)
        if model.posterior.likelihood.is_quadratic or everything.size <= 4 * LISTED:
            scores = self.scorer.score(model)
        else:
            scores = self.scorer.score_leading(model, LISTED + 1)
            self.shortlist = Shortlist.of(self.scorer.basis, scores.gains().max(axis=0))
        return self._add_best(scores, everything, 0.0)

    def _held_weights(self) -> Indices:
        if not self.held.size:
            return self.held
        return (self.fit.model.indices[:, None] == self.held).any(axis=1).nonzero()[0]

    def _add_best(self, scores: Scores, indices: Indices, least: float) -> bool:
        """Add the function with the largest gain, or the next one where the evidence would fall."""
        # Of numbers that overflow nothing is promised.
        gains = np.nan_to_num(scores.gains(), nan=0.0, posinf=0.0)
        for output, index in self.refused:
            gains[output, indices == index] = 0.0
        while True:
            (output, k), gain = _best(gains)
            self.fit.gain_left = gain
            if gain <= max(self.tol, least) or len(self.refused) >= MOST_REFUSED:
                return False
            if self._try(output, int(indices[k]), *scores.start(output, k)):
                return True
            gains[output, k] = 0.0
            self.refused.add((output, int(indices[k])))
            self.refused_at = self.fit.model.log_evidence

    def _try(self, output: int, index: int, alpha: float, weight: float) -> bool:
        """Add a function; keep it if the evidence rises.

        What it promises holds for a constant curvature. Where that changes with the weights, the
        function is tried with more and more caution. Those that were refused have another chance
        as soon as the evidence has risen by the tolerance.
        """
        model, basis = self.fit.model, self.scorer.basis
        for _ in range(1 if model.posterior.likelihood.is_quadratic else MOST_CAUTION):
            larger = model.with_function(basis, index, output, alpha, weight)
            rise = larger.log_evidence - model.log_evidence
            if rise > 0:
                if larger.log_evidence > self.refused_at + self.tol:
                    self.refused.clear()
                self.fit.move(larger, "add", index)
                self.last_gain, self.reestimates = rise, 0
                return True
            alpha, weight = 10.0 * alpha, 0.1 * weight
        return False


def _best(gains: Floats) -> tuple[tuple[int, int], float]:
    """Return the place of the largest gain, the first of those that differ by rounding only."""
    best = float(gains.max(initial=0.0))
    output, index = np.unravel_index(int(np.argmax(gains >= (1.0 - TIE) * best)), gains.shape)
    return (int(output), int(index)), best
