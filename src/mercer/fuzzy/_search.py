"""Genetic search over centres, widths and antecedents of all rules together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import differential_evolution

from mercer._extras import how_to_get
from mercer.fuzzy._clusters import Clusters
from mercer.fuzzy._votes import Floats, weights_of_sums

WIDTHS = (0.5, 5.0)
"""Least and largest width, in standard deviations of the feature."""

BLOCK = 2**18
"""Numbers that are worked on at a time, so that they stay in the cache."""

DOUBT = 0.02
"""A vote for no class. Without it, rules that hardly fire would do as well as those that fit."""

LEAST_SHARE = 1e-3
"""A wrong row costs no more than a share of the votes this small would."""


class Population(NamedTuple):
    """Rule bases of equal shape: arrays of (bases, rules, antecedents)."""

    centers: Floats
    widths: Floats
    kept: NDArray[np.bool_]


class Start(NamedTuple):
    """One rule a cluster, with the features that it may use."""

    features: NDArray[np.int64]
    centers: Floats
    widths: Floats
    lowest: Floats
    highest: Floats


def start_from(
    clusters: Clusters, X: Floats, codes: Any, weight: Floats, usable: Any, most: int
) -> Start:
    """Return a rule for each cluster.

    The features of a rule are the `most` ones in which the rows of other classes lie furthest from
    it, in units of its widths. The exponent of (11) lacks the ½ of the normal density, so that the
    width is √2 standard deviations.
    """
    widths = np.clip(np.sqrt(2) * clusters.spreads, *WIDTHS)
    features = np.empty((len(widths), min(most, usable.size)), dtype=np.int64)
    for j, (center, width, code) in enumerate(zip(clusters.centers, widths, clusters.codes)):
        others = codes != code
        apart = np.average(((X[others] - center) / width) ** 2, axis=0, weights=weight[others])
        best = np.argsort(-apart[usable], kind="stable")[: features.shape[1]]
        features[j] = np.sort(usable[best])
    pick = np.arange(len(widths))[:, None], features
    low, high = X.min(axis=0)[features], X.max(axis=0)[features]
    return Start(features, np.clip(clusters.centers[pick], low, high), widths[pick], low, high)


class Cost:
    """What a rule base costs: mean surprise at the true classes, and a price on what it is made of.

    The surprise of a row is minus the logarithm of the share of its class in the votes. All that
    is worked on has the rows of the data last, where they lie side by side.
    """

    def __init__(
        self,
        values: Floats,
        class_weights: Floats,
        *,
        t_norm: str,
        vote: str,
        parsimony: float,
    ) -> None:
        self.values = np.ascontiguousarray(np.moveaxis(values, 0, -1))  # rules, antecedents, rows
        self.class_weights = class_weights
        self.row_weights = class_weights.sum(axis=1)
        self.row_classes = class_weights.argmax(axis=1)
        self.t_norm, self.parsimony = t_norm, parsimony
        self.gather = np.maximum if vote == "winner" else np.add
        # (v - c)^2 is a product of v^2, v and 1 with what a rule base makes of them.
        ones = np.ones_like(self.values[:, :1])
        self._powers = np.concatenate([self.values**2, self.values, ones], axis=1)

    def __call__(self, population: Population) -> Floats:
        n_rules, _, n_rows = self.values.shape
        step = max(1, BLOCK // max(n_rules * n_rows, 1))
        starts = range(0, len(population.centers), step)
        parts: tuple[Any, ...] = population
        return np.concatenate(
            [self._of(Population(*[part[i : i + step] for part in parts])) for i in starts]
        )

    def _of(self, population: Population) -> Floats:
        parts: tuple[Any, ...] = population
        by_rule = Population(*[np.moveaxis(part, 1, 0) for part in parts])
        distances = self._sums(by_rule) if self.t_norm == "product" else self._largest(by_rule)
        firing = np.exp(np.negative(distances, out=distances), out=distances)
        firing[~by_rule.kept.any(axis=-1)] = 0.0
        total, true = self._votes(firing)
        share = np.maximum(true / (total + DOUBT), LEAST_SHARE)
        kept = population.kept
        size = kept.sum(axis=(1, 2)) + kept.any(axis=2).sum(axis=1)
        return self.parsimony * size - np.log(share) @ self.row_weights

    def _sums(self, by_rule: Population) -> Floats:
        """Return the sums of the exponents of all antecedents: (rules, bases, rows)."""
        centers, widths, kept = by_rule
        factors = kept / widths**2
        constants = (factors * centers**2).sum(axis=-1, keepdims=True)
        return np.concatenate([factors, -2 * factors * centers, constants], axis=-1) @ self._powers

    def _largest(self, by_rule: Population) -> Floats:
        """Return the largest of the exponents of all antecedents: (rules, bases, rows)."""
        largest = np.zeros((*by_rule.centers.shape[:2], self.values.shape[2]))
        for k in range(self.values.shape[1]):
            centers, widths, kept = (part[..., k, None] for part in by_rule)
            exponents = self.values[:, None, k] - centers
            exponents /= np.where(kept, widths, np.inf)
            np.maximum(largest, np.square(exponents, out=exponents), out=largest)
        return largest

    def _votes(self, firing: Floats) -> tuple[Floats, Floats]:
        """Return all votes and those for the true class: (bases, rows). The firing is used up."""
        weights = weights_of_sums(firing @ self.class_weights)
        firing *= weights.max(axis=-1)[..., None]
        votes = np.zeros((weights.shape[-1], *firing.shape[1:]))
        for j, codes in enumerate(weights.argmax(axis=-1)):  # the one class of each rule
            for p, code in enumerate(codes):
                self.gather(votes[code, p], firing[j, p], out=votes[code, p])
        rows = np.arange(firing.shape[2])
        return votes.sum(axis=0), votes[self.row_classes, :, rows].T


class Genome:
    """Rule bases as vectors of numbers from 0 to 1: centres, logarithms of widths, whether kept."""

    def __init__(self, start: Start) -> None:
        self.start = start
        self.shape = start.features.shape
        self.n_genes = 3 * start.features.size
        self._span = np.maximum(start.highest - start.lowest, np.finfo(np.float64).tiny)
        self._log_widths = np.log(WIDTHS)

    def encode(self) -> Floats:
        """Return the genes of the start, where every antecedent is kept."""
        low, high = self._log_widths
        centers = (self.start.centers - self.start.lowest) / self._span
        widths = (np.log(self.start.widths) - low) / (high - low)
        return np.clip(np.stack([centers, widths, np.full(self.shape, 0.75)]).ravel(), 0.0, 1.0)

    def decode(self, genes: Floats) -> Population:
        """Return the rule bases of genes, one row each."""
        centers, widths, kept = np.moveaxis(genes.reshape(len(genes), 3, *self.shape), 1, 0)
        low, high = self._log_widths
        return Population(
            self.start.lowest + centers * self._span,
            np.exp(low + widths * (high - low)),
            kept >= 0.5,
        )

    def first_population(self, size: int, random_state: Any) -> Floats:
        """Return the start and others around it."""
        genes = self.encode()
        spread = np.repeat([0.05, 0.12, 0.4], self.n_genes // 3)
        population = genes + spread * random_state.normal(size=(size, self.n_genes))
        population[0] = genes
        return np.clip(population, 0.0, 1.0)


class Found(NamedTuple):
    """The best rule base, alone in its population, and the best cost after each generation."""

    best: Population
    costs: Floats


def search(
    start: Start,
    cost: Cost,
    *,
    method: str,
    n_generations: int,
    population_size: int,
    random_state: Any,
    report: Callable[[int, float], None],
) -> Found:
    """Return the best rule base of so many generations, made as simple as the cost allows.

    After each generation its number and the least cost so far are reported.
    """
    genome = Genome(start)
    population = genome.first_population(population_size, random_state)
    seed = int(random_state.randint(np.iinfo(np.int32).max))
    costs: list[float] = []

    def judge(genes: Floats) -> Floats:
        values = cost(genome.decode(genes))
        costs.append(min([*costs[-1:], float(values.min())]))
        report(len(costs) - 1, costs[-1])
        return values

    genes = genome.encode()
    if n_generations:
        genes = SEARCHES[method](judge, population, n_generations, seed)
    best = simplified(genome.decode(genes[None]), cost)
    return Found(best, np.array(costs))


def differential(judge: Callable[[Floats], Floats], first: Floats, n: int, seed: int) -> Floats:
    """Return the best genes of SciPy's differential evolution.

    Few genes change at a time (`recombination`): good rules are left alone while others improve.
    """
    return differential_evolution(
        lambda columns: judge(columns.T),
        [(0.0, 1.0)] * first.shape[1],
        maxiter=n,
        init=first,
        mutation=(0.3, 0.8),
        recombination=0.1,
        tol=0.0,
        polish=False,
        vectorized=True,
        updating="deferred",
        seed=seed,
    ).x


def genetic(judge: Callable[[Floats], Floats], first: Floats, n: int, seed: int) -> Floats:
    """Return the best genes of pymoo's genetic algorithm, with its crossover and mutation."""
    try:
        from pymoo.algorithms.soo.nonconvex.ga import GA
        from pymoo.core.problem import Problem
        from pymoo.optimize import minimize
    except ImportError as error:
        raise ImportError(
            "search='genetic' needs pymoo, which is not installed; run "
            f"{how_to_get('fuzzy')}, or use search='differential', which needs nothing more."
        ) from error

    class Rules(Problem):
        def _evaluate(self, x: Floats, out: dict[str, Floats], *args: Any, **kwargs: Any) -> None:
            out["F"] = judge(x)[:, None]

    problem = Rules(n_var=first.shape[1], n_obj=1, xl=0.0, xu=1.0)
    algorithm = GA(pop_size=len(first), sampling=first, eliminate_duplicates=False)
    # pymoo counts the first population as a generation.
    return minimize(problem, algorithm, ("n_gen", n + 1), seed=seed).X


SEARCHES = {"differential": differential, "genetic": genetic}


def simplified(base: Population, cost: Cost) -> Population:
    """Drop rules and antecedents one after the other as long as the cost does not rise."""
    centers, widths, kept = base
    lowest = cost(base)[0]
    while kept.any():
        fewer = _one_less(kept[0])
        shape = fewer.shape
        costs = cost(
            Population(np.broadcast_to(centers, shape), np.broadcast_to(widths, shape), fewer)
        )
        best = int(costs.argmin())
        if costs[best] > lowest:
            break
        lowest, kept = costs[best], fewer[[best]]
    return Population(centers, widths, kept)


def _one_less(kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return all that is left when one rule or one antecedent is dropped."""
    rules = np.flatnonzero(kept.any(axis=1))
    where = np.argwhere(kept)
    fewer = np.repeat(kept[None], len(rules) + len(where), axis=0)
    fewer[np.arange(len(rules)), rules] = False
    fewer[(np.arange(len(where)) + len(rules), *where.T)] = False
    return fewer
