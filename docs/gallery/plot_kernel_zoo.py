r"""
Five kernels, and what they can draw
====================================

A kernel says how similar two rows are, and a machine can only draw what sums of kernels around its
support vectors can be. Above, the similarity of x to the points -1 (full line) and 1 (dashed);
below, the boundary between the same two classes.

`Linear` is the dot product, and its sums are straight lines. `Polynomial` is a power of that, with
curves of its degree. `RBF` falls off smoothly and as fast in each direction, and can draw anything.
`Laplacian` has a kink at the point itself, so that its boundaries are rougher, which suits data
with jumps and columns of counts. `Sigmoid`, the kernel of old neural networks, is no kernel in the
strict sense: its matrices may have negative eigenvalues, as `is_mercer` tells; the machine warns
then, and the picture shows that it is right to.

After figure 4.6 of R. Planas, *Analysis of the SVM-RFE algorithm for feature selection*, UPC
Barcelona 2021, and chapter 5 of A. Hopfgartner and M. Rupp, *Support Vector Machines*, 2021.
"""

import warnings

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import make_moons

from mercer import SVC, BoundaryDisplay, is_mercer
from mercer.kernels import RBF, Laplacian, Linear, Polynomial, Sigmoid
from mercer.plotting.palette import BLUE, VERMILION

X, y = make_moons(80, noise=0.2, random_state=0)
X = X - X.mean(axis=0)
kernels = {
    "Linear()": Linear(),
    "Polynomial(3)": Polynomial(3, gamma=1.0, coef0=1.0),
    "RBF(2)": RBF(2.0),
    "Laplacian(1)": Laplacian(1.0),
    "Sigmoid(1)": Sigmoid(1.0, coef0=-0.5),
}
line = np.linspace(-3, 3, 301)[:, None]

figure, axes = plt.subplots(2, 5, figsize=(14.0, 5.6), layout="constrained")
for (upper, lower), (name, kernel) in zip(axes.T, kernels.items()):
    for centre, style, color in ((-1.0, "-", BLUE), (1.0, "--", VERMILION)):
        upper.plot(line, kernel(line, [[centre]]), style, color=color)
    valid = is_mercer(kernel(X))
    upper.set_xlabel("x")
    upper.set_title(f"{name}: {'a' if valid else 'not a'} kernel", fontsize="medium")
    with warnings.catch_warnings(action="ignore"):  # the title says so
        model = SVC(C=10.0, kernel=kernel).fit(X, y)
    BoundaryDisplay.from_estimator(model, X, y, ax=lower, legend=False, grid_resolution=150)
    lower.set_title(f"{100 * (1 - model.score(X, y)):.0f} % errors", fontsize="medium")
    lower.label_outer()
    if lower is not axes[1, 0]:
        lower.set_ylabel("")
axes[0, 0].set_ylabel("k(x, -1) and k(x, 1)")

plt.show()
