r"""
Kernels made of kernels
=======================

Sums, products, powers and multiples of kernels are kernels again: ``RBF() + Linear()``, ``0.5 *
RBF() * Linear()``, ``Linear() ** 3``. So are weighted features, and the same kernel on rows scaled
to length 1. Shading shows the similarity to the point marked by a star, the line is the boundary of
a machine with that kernel.

A `Sum` finds rows alike that are alike in either way, a `Product` those that are in both.
`Weighted` is blind in the direction of small weights; here it nearly ignores the second feature.
`Normalized` divides by the lengths of both images, so that only the angle counts. A kernel of
scikit-learn's Gaussian processes, or any function of two sets of rows, comes in by
`GaussianProcessKernel` and `CallableKernel`, and may be added and multiplied like the others. Use
them where you know what makes two rows alike; the parameters of all parts can be searched by name.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import make_moons
from sklearn.gaussian_process.kernels import RationalQuadratic

from mercer import SVC
from mercer.kernels import (
    RBF,
    CallableKernel,
    Constant,
    GaussianProcessKernel,
    Linear,
    Normalized,
    Power,
    Product,
    Scaled,
    Sum,
    Weighted,
)
from mercer.plotting.palette import BLUE, VERMILION


def periodic(X, Y):
    """Return a similarity that comes again: rows a period apart in the first feature are alike."""
    across, up = np.moveaxis(X[:, None] - Y[None], 2, 0)
    return np.exp(-(np.sin(2 * across) ** 2) - 2 * up**2)


X, y = make_moons(80, noise=0.15, random_state=0)
kernels = {
    "Sum(RBF, Linear)": Sum(RBF(4.0), Scaled(Linear(), 0.2)),
    "Product(RBF, Linear)": Product(RBF(1.0), Sum(Linear(), Constant(1.0))),
    "Power(Linear + 1, 3)": Power(Linear() + 1.0, 3),
    "Weighted(RBF, (2, 0.2))": Weighted(RBF(1.0), [2.0, 0.2]),
    "Normalized(Linear + 0.1)": Normalized(Linear() + 0.1),
    "GaussianProcessKernel": GaussianProcessKernel(RationalQuadratic(0.5, 0.2)),
    "CallableKernel: periodic": CallableKernel(periodic),
    "RBF of two widths": 0.5 * RBF(0.3) + 0.5 * RBF(30.0),
}
across, up = np.meshgrid(np.linspace(-1.5, 2.5, 80), np.linspace(-1.0, 1.5, 80))
plane = np.column_stack([across.ravel(), up.ravel()])
star = X[[8]]

figure, axes = plt.subplots(
    2, 4, figsize=(12.5, 5.8), layout="constrained", sharex=True, sharey=True
)
for ax, (name, kernel) in zip(axes.flat, kernels.items()):
    model = SVC(C=10.0, kernel=kernel).fit(X, y)
    ax.contourf(across, up, model.kernel_(plane, star).reshape(80, 80), 12, cmap="Greys", alpha=0.8)
    ax.contour(across, up, model.decision_function(plane).reshape(80, 80), [0], colors="black")
    for code, marker, color in ((0, "o", BLUE), (1, "s", VERMILION)):
        ax.plot(*X[y == code].T, marker, color=color, ms=3)
    ax.plot(*star.T, "*", color="white", mec="black", ms=14)
    ax.set_title(name, fontsize="medium")
    ax.set(xlabel="feature 0", ylabel="feature 1")
    ax.label_outer()

plt.show()
