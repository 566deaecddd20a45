r"""
Which columns a machine listens to
==================================

A machine with a Gaussian kernel has no weights that one could read. `feature_sensitivity` asks how
strongly its decision value moves when a column does, on average over the rows, from the derivative
of the kernel: nothing is shuffled, nothing fitted again. At the left a problem of ten columns where
the class depends on the first three; beside it what shuffling each column costs
(``permutation_importance``), which took fifty predictions of all rows.

The two do not ask the same. Sensitivity is what the machine *does*, also where it does not help;
shuffling on new rows is what it is *good for*. A column with much of the first and none of the
second is noise that was learned: at the right, the same problem with a narrower kernel, which
listens to everything. Use it to understand a machine that has been fitted, and a selector to remove
columns.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.inspection import permutation_importance

from mercer import SVC, feature_sensitivity
from mercer.plotting.palette import BLUE, VERMILION

rng = np.random.default_rng(0)
X = rng.normal(size=(600, 10))
y = X[:, 0] + X[:, 1] * X[:, 2] > 0
X, X_test, y, y_test = X[:300], X[300:], y[:300], y[300:]

figure, axes = plt.subplots(1, 2, figsize=(10.5, 3.8), layout="constrained")
for ax, gamma in zip(axes, (0.03, 0.3)):
    machine = SVC(C=10.0, gamma=gamma).fit(X, y)
    felt = feature_sensitivity(machine, X)
    lost = permutation_importance(machine, X_test, y_test, n_repeats=5, random_state=0)
    places = np.arange(10)
    ax.bar(places - 0.2, felt / felt.max(), 0.4, color=BLUE, label="sensitivity")
    share = lost.importances_mean / lost.importances_mean.max()
    ax.bar(places + 0.2, share, 0.4, color=VERMILION, label="loss when shuffled")
    ax.set_xticks(places)
    ax.set(xlabel="column", ylabel="share of the largest")
    right = 100 * machine.score(X_test, y_test)
    ax.set_title(f"γ = {gamma:g}: {right:.0f} % of new rows right", fontsize="medium")
axes[0].legend(fontsize="small")

plt.show()
