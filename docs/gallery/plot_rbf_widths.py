r"""
RBF kernels from wide to narrow
===============================

The kernel :math:`\exp(-\gamma \lVert x - x' \rVert^2)` needs no degree; its one parameter
:math:`\gamma` says how near two rows must be to count as similar.

A small :math:`\gamma` makes all rows similar, and the boundary is almost a straight line. With
growing :math:`\gamma` it bends around the classes, until one of them is enclosed. In the end each
row is similar only to itself: islands around the rows, nearly all of them support vectors, and
little learned that holds for other rows. The last panel shows this: the error on the training rows
falls to 0 and stays there, while that on rows left out in turn rises again. Rings mark support
vectors on the margin (dashed lines), outlines those at the bound C.

After figure 6.6 of A. Hopfgartner and M. Rupp, *Support Vector Machines*, FH Vorarlberg 2021.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import make_moons
from sklearn.model_selection import cross_val_score

from mercer import SVC, BoundaryDisplay
from mercer.plotting.palette import BLUE, GREEN, VERMILION

X, y = make_moons(60, noise=0.2, random_state=0)

figure, axes = plt.subplots(2, 3, figsize=(10.5, 6), layout="constrained")
for ax, gamma in zip(axes.flat, (0.01, 0.1, 1.0, 10.0, 100.0)):
    model = SVC(C=10.0, gamma=gamma).fit(X, y)
    BoundaryDisplay.from_estimator(model, X, y, ax=ax, legend=False)
    ax.set_title(f"γ = {gamma:g}: {model.support_.size} support vectors", fontsize="medium")
    ax.set(xlabel="", ylabel="")

# Errors and support vectors against the width.

widths = np.logspace(-2, 2, 13)
models = [SVC(C=10.0, gamma=gamma).fit(X, y) for gamma in widths]
training = [1 - model.score(X, y) for model in models]
left_out = [1 - cross_val_score(model, X, y, cv=10).mean() for model in models]
support = [model.support_.size / len(X) for model in models]
last = axes[1, 2]
for shares, style, color, name in (
    (training, "o-", BLUE, "error, training rows"),
    (left_out, "s--", VERMILION, "error, rows left out"),
    (support, "^:", GREEN, "share of support vectors"),
):
    last.semilogx(widths, shares, style, color=color, label=name)
last.set(xlabel="γ", ylim=(-0.03, 1.03))
last.set_title("against the width", fontsize="medium")
last.legend(fontsize="small")

plt.show()
