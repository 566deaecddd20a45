"""A comparison in plain words."""

from __future__ import annotations

import numpy as np

from mercer.cli.comparison import Comparison, paired_difference

UNKNOWN = "–"


def summarize(comparison: Comparison, n_threads: int) -> list[str]:
    """Say which candidate is best, whether that can be trusted, and how much time it takes.

    Parameters
    ----------
    comparison : Comparison
    n_threads : int
        Threads that mercer's fits used.

    Returns
    -------
    list of str
        One to three sentences.
    """
    sentences = [_best(comparison)]
    if comparison.succeeded.sum() > 1:
        sentences.append(_certainty(comparison))
    pairs = [
        (index, twin)
        for index in range(len(comparison.candidates))
        if (twin := comparison.peer_of(index)) is not None
    ]
    if pairs:
        sentences.append(_beside_the_peer(comparison, pairs, n_threads))
    return sentences


def percent(share: float) -> str:
    """Return a share in percent, with a dash for what is not known."""
    return UNKNOWN if np.isnan(share) else f"{100 * share:.1f}"


def duration(seconds: float) -> str:
    """Return a time in the unit that suits it."""
    if np.isnan(seconds):
        return UNKNOWN
    if seconds < 1:
        return f"{1e3 * seconds:.3g} ms" if seconds < 0.1 else f"{1e3 * seconds:.0f} ms"
    return f"{seconds:.3g} s" if seconds < 100 else f"{seconds / 60:.1f} min"


def _best(comparison: Comparison) -> str:
    best = comparison.best
    error = percent(comparison.mean_errors[best])
    spread = percent(comparison.error_deviation(best))
    n_folds = comparison.errors.shape[1]
    over = f" ± {spread} over {n_folds} folds" if n_folds > 1 else " on one fold"
    return f"Lowest error: {comparison.candidates[best]}, {error} %{over}."


def _certainty(comparison: Comparison) -> str:
    errors, best = comparison.errors, comparison.best
    if errors.shape[1] < 2:
        return "One fold cannot tell whether the differences mean anything."
    others = [index for index in np.flatnonzero(comparison.succeeded) if index != best]
    differences = [
        paired_difference(errors[index], errors[best], comparison.test_ratio) for index in others
    ]
    open_ones = [index for index, (gap, half) in zip(others, differences) if gap <= half]
    if not open_ones:
        return "Every other one is worse by more than the uncertainty of the difference (95 %)."
    if len(open_ones) == len(others):
        return "No other one is worse by more than the uncertainty of the difference (95 %)."
    are = "other one is" if len(open_ones) == 1 else "others are"
    return (
        f"{len(open_ones)} {are} not worse by more than the uncertainty of the difference (95 %); "
        f"{len(others) - len(open_ones)} clearly worse."
    )


def _beside_the_peer(comparison: Comparison, pairs: list[tuple[int, int]], n_threads: int) -> str:
    means = comparison.mean_errors
    largest = max(abs(means[ours] - means[peer]) for ours, peer in pairs)
    logs = [
        np.log(comparison.fit_seconds(peer) / comparison.fit_seconds(ours)) for ours, peer in pairs
    ]
    ratio = float(np.exp(np.mean(logs)))
    speed = f"{ratio:.2g} times as fast" if ratio >= 1 else f"{1 / ratio:.2g} times slower"
    if 0.95 < ratio < 1.05:
        speed = "as fast"
    threads = "1 thread each" if n_threads == 1 else f"{n_threads} threads against 1"
    kernels = ", ".join(comparison.candidates[ours].kernel for ours, _ in pairs)
    return (
        f"Beside scikit-learn with the same loss and kernel ({kernels}): errors differ by at most "
        f"{percent(largest)} points; mercer's fits are {speed} (geometric mean, {threads})."
    )
