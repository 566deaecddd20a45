r"""
Selectors side by side
======================

In Weston's linear problem six of fifty features matter, and each shows by itself, two of them best.
In the nonlinear one two features matter, and only together: each class is two clouds, crosswise
(first picture), so that the mean of every feature is the same in both classes.

Every selector takes two features from forty (sixty) training rows, in three draws of the data; a
machine fitted to these two is judged on further rows. On the linear problem all are good, and the
filters at the top, which need no machine, are nearly as good as any. On the nonlinear one filters
find nothing, nor does `ZeroNormSelector`, which asks a linear machine. Those that ask a machine
with a kernel come through: by elimination, by adding features one at a time as long as the error
falls, or by a scale for each feature.

After figures 5.1 to 5.6 of K. Smets, *Studie van kernel-gebaseerde technieken voor single-class
classificatie en feature selectie*, Universiteit Antwerpen 2006.
"""

import numpy as np
from matplotlib import pyplot as plt

from mercer import SVC, KernelRFE, KernelSequentialSelector
from mercer.datasets import make_weston_linear, make_weston_nonlinear
from mercer.feature_selection import (
    CorrelationFeatureSelector,
    MinimumRedundancySelector,
    ScaledFeatureSelector,
    ZeroNormSelector,
    percent,
)
from mercer.kernels import Linear, Polynomial
from mercer.plotting.palette import BLUE, VERMILION

figure, axes = plt.subplots(1, 3, figsize=(13.5, 3.8), layout="constrained")
X, y = make_weston_nonlinear(200, random_state=0)
for label, marker, color in ((-1, "o", BLUE), (1, "s", VERMILION)):
    axes[0].plot(*X[y == label, :2].T, marker, color=color, ms=4, label=f"class {label}")
axes[0].legend(fontsize="small")
axes[0].set(xlabel="first feature", ylabel="second feature")
axes[0].set_title("nonlinear: the two that matter", fontsize="medium")

for ax, name, make, n, kernel in (
    (axes[1], "linear", make_weston_linear, 40, Linear()),
    (axes[2], "nonlinear", make_weston_nonlinear, 60, Polynomial(2, gamma=0.1, coef0=1.0)),
):
    machine = SVC(C=10.0, kernel=kernel)
    smooth = SVC(C=10.0, kernel=kernel, loss="squared_hinge")  # its bound has a gradient
    selectors = [
        KernelRFE(machine, n_features_to_select=2, step=percent(0.3)),
        KernelSequentialSelector(machine, n_features_to_select=2, cv=3),
        ScaledFeatureSelector(smooth, n_features_to_select=2, max_iter=8),
        ZeroNormSelector(n_features_to_select=2),
        CorrelationFeatureSelector(n_features_to_select=2),
        MinimumRedundancySelector(n_features_to_select=2),
    ]
    shares = np.empty((3, len(selectors)))
    for draw, row in enumerate(shares):
        X, y = make(n + 500, random_state=draw)
        X = X / X[:n].std(axis=0)
        for i, selector in enumerate(selectors):
            two = selector.fit(X[:n], y[:n]).get_support()
            row[i] = machine.fit(X[:n, two], y[:n]).score(X[n:, two], y[n:])
    names = [type(selector).__name__.removesuffix("Selector") for selector in selectors]
    ax.plot(100 * shares.T, range(len(names)), "o", mfc="none", color=BLUE)
    ax.plot(100 * shares.mean(axis=0), range(len(names)), "d", color=VERMILION, ms=9)
    ax.axvline(50, color="black", lw=0.8, ls=":")
    ax.set_yticks(range(len(names)), names)
    ax.set(xlabel="further rows right, %", xlim=(42, 102))
    ax.set_title(f"{name}: three draws, their mean", fontsize="medium")

plt.show()
