"""The problems of each group, with the reason for their parameters.

Gaussians: separation 2.95 (Bayes error 7 %) gives 20 to 32 % support vectors. `clustered` is
``make_classification`` with 10 informative and 2 redundant features of 20, 4 clusters a class and
5 % of the labels drawn anew: 27 to 51 % support vectors.
"""

from __future__ import annotations

from dataclasses import replace

from .problems import Problem


def gaussians(n: int, d: int, C: float = 1.0, separation: float = 2.95, **more: object) -> Problem:
    """Two normal classes; the separation is named where it is not the usual one."""
    arguments = (("n", n), ("d", d), ("separation", separation))
    title = "Gaussians" if separation == 2.95 else f"Gaussians, separation {separation:g},"
    return Problem(f"{title} {n}×{d}", "gaussians", arguments, C=C, **more)  # type: ignore[arg-type]


def clustered(n: int, C: float = 10.0, flipped: float = 0.05) -> Problem:
    """``make_classification`` with a share of labels drawn anew."""
    title = "make_classification" if flipped == 0.05 else f"make_classification, noise {flipped:g},"
    return Problem(f"{title} {n}×20", "clustered", (("n", n), ("flipped", flipped)), C=C)


def archive(name: str, file: str, **more: object) -> Problem:
    """Return a set of the data folder, as it is."""
    return Problem(name, "archive", (("file", file),), **more)  # type: ignore[arg-type]


def speed(quick: bool) -> list[Problem]:
    """Ten generated problems with growing n, and two real sets."""
    if quick:
        return [gaussians(300, 20), clustered(300)]
    return [
        gaussians(2000, 20),
        clustered(2000),
        gaussians(5000, 20),
        clustered(5000),
        gaussians(10000, 20),
        clustered(10000),
        gaussians(10000, 100),
        gaussians(20000, 50),
        clustered(20000),
        gaussians(40000, 20),
        # The parameters that are usual for these sets: LIBSVM's default for a9a; C = 32 and
        # gamma = 2 for ijcnn1, whose columns lie in [-1, 1] already.
        archive("a9a 32561×123", "speed/a9a.npz", C=1.0, gamma="auto"),
        archive("ijcnn1 49990×22", "speed/ijcnn1.npz", C=32.0, gamma=2.0),
    ]


def hard(quick: bool) -> list[Problem]:
    """Large C, noise and overlap: many support vectors at the bound, many iterations."""
    if quick:
        return [
            gaussians(200, 20, C=100, separation=1.5),
            Problem("checkerboard 200×2", "checkerboard", (("n", 200), ("flipped", 0.1)), C=1000),
        ]
    costs = (100.0, 1000.0, 10000.0)
    # A width ten times that of gamma="scale": at the usual one 20 dimensions are separable.
    problems = [gaussians(2000, 20, C=C, separation=1.5, gamma=0.005) for C in costs]
    problems += [gaussians(10000, 20, C=100.0, separation=1.5)]
    problems += [clustered(5000, C=C, flipped=0.2) for C in costs]
    problems += [clustered(10000, C=100.0, flipped=0.2)]
    problems += [
        Problem(
            "checkerboard, noise 0.1, 5000×2",
            "checkerboard",
            (("n", 5000), ("flipped", 0.1)),
            C=C,
            gamma=1.0,
        )
        for C in costs
    ]
    labels_at_random = gaussians(2000, 20, C=100.0, separation=0.0)
    problems += [replace(labels_at_random, name="random labels 2000×20")]
    problems += [archive("banana 5300×2", "ida/banana.npz", C=C, gamma=1.0) for C in costs]
    problems += [archive("image 2310×18", "ida/image.npz", C=C) for C in costs]
    problems += [archive("splice 3175×60", "ida/splice.npz", C=1000.0)]
    return problems


def multiclass(quick: bool) -> list[Problem]:
    """Letter (26 classes) and usps (10 classes)."""
    rows = (("rows", 600),) if quick else ()
    letter = (("file", "speed/letter.npz"), *rows)
    usps = (("file", "usps.npz"), *rows)
    return [
        Problem("letter, 26 classes", "standardised", letter, C=10.0),
        Problem("usps, 10 classes", "archive", usps, C=10.0),
    ]


def linear(quick: bool) -> list[Problem]:
    """Rows ≫ columns, both losses."""
    if quick:
        bases = [gaussians(500, 10, kernel="linear")]
    else:
        bases = [
            gaussians(20000, 20, C=0.01, kernel="linear"),
            gaussians(20000, 20, kernel="linear"),
            gaussians(50000, 50, kernel="linear"),
            archive("a9a 32561×123", "speed/a9a.npz", C=1.0, kernel="linear"),
            archive("ijcnn1 49990×22", "speed/ijcnn1.npz", C=1.0, kernel="linear"),
        ]
    return [replace(base, loss=loss) for base in bases for loss in ("hinge", "squared_hinge")]


def regression(quick: bool) -> list[Problem]:
    """Noise of the size of the tube or more: half of the rows or more are support vectors.

    Friedman's function has a spread of 5 and noise of 1; the waves one of 0.5 and noise of 0.2.
    """
    sizes = ((300, 1.0),) if quick else ((5000, 1.0), (5000, 10.0), (20000, 1.0))
    problems = [
        Problem(f"friedman1 {n}×10", "friedman", (("n", n), ("noise", 1.0)), C=C, epsilon=0.5)
        for n, C in sizes
    ]
    n = 300 if quick else 10000
    problems += [
        Problem(f"waves {n}×2", "waves", (("n", n), ("noise", 0.2)), C=C, epsilon=0.1)
        for C in (1.0, 10.0)
    ]
    wine = (("file", "winequality-red.csv"),)
    problems += [
        Problem("winequality-red 1599×11", "table", wine, C=C, epsilon=0.1) for C in (1.0, 10.0)
    ]
    n = 300 if quick else 5000
    linear = Problem(
        f"friedman1 {n}×10, linear",
        "friedman",
        (("n", n), ("noise", 1.0)),
        kernel="linear",
        epsilon=0.5,
    )
    return [*problems, linear]


def predict(quick: bool) -> list[Problem]:
    """Return fitted models of each kind, and rows that they have not seen."""
    n, m = (300, 500) if quick else (10000, 20000)
    drawn = (("n", n), ("test_rows", m))
    wide = 20 if quick else 100
    spread = (("separation", 2.95),)
    problems = [
        Problem(
            f"Gaussians {n}×20",
            "with_test_rows",
            (("generator", "gaussians"), *drawn, ("d", 20), *spread),
        ),
        Problem(
            f"Gaussians {n}×{wide}",
            "with_test_rows",
            (("generator", "gaussians"), *drawn, ("d", wide), *spread),
        ),
        Problem(
            f"make_classification {n}×20",
            "with_test_rows",
            (("generator", "clustered"), *drawn, ("flipped", 0.05)),
            C=10.0,
        ),
    ]
    if quick:
        return problems[:1]
    real = (("file", "speed/a9a.npz"), ("rows", 10000))
    return [*problems, Problem("a9a 10000×123", "archive", real, gamma="auto"), *multiclass(False)]


def growth(quick: bool) -> list[Problem]:
    """One kind of problem while n doubles."""
    sizes = (100, 200, 400) if quick else (1000, 2000, 4000, 8000, 16000, 32000)
    return [gaussians(n, 20) for n in sizes]


def large(quick: bool) -> list[Problem]:
    """More rows than any Gram matrix of the allowed memory could hold."""
    n = 1000 if quick else 100_000
    return [gaussians(n, 20), clustered(n)]


def elimination(quick: bool) -> list[tuple[Problem, int]]:
    """Return problems of many features, with how many to drop at a time.

    The second has the shape of the colon set: few rows that many of the features tell apart.
    """
    if quick:
        return [(Problem("40×60, one by one", "informative", (("n", 40), ("d", 60))), 1)]
    rich = (("n", 1000), ("d", 300), ("n_clusters_per_class", 3), ("n_informative", 100))
    rich += (("n_redundant", 100), ("n_repeated", 20), ("flip_y", 0.05), ("class_sep", 2.0))
    wide = (("n", 62), ("d", 2000), ("n_informative", 60), ("flip_y", 0.05))
    return [
        (Problem("1000×300, ten by ten", "informative", (*rich, ("seed", 2))), 10),
        (Problem("62×2000, one by one", "informative", wide), 1),
    ]
