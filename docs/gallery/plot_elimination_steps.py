r"""
Eliminating features: how fast, and when to stop
================================================

`KernelRFE` drops the features that matter least to a machine and trains it anew. One at a time is
the most careful way and takes a machine for each feature; the first picture shows how many are left
after each round with rules that begin with large steps and end with small ones. ``entropy`` looks
at how the importances are spread, and ``around(15)`` takes its small steps where they matter, near
the size that is wanted.

`KernelRFECV` finds that size by folds (second picture). What is best depends on what a feature
costs: the marks are the best sizes where features are free, where they weigh a quarter of the
errors (the usual 0.8 and 0.2), and where they weigh as much.

The last picture needs no further rows at all. A single elimination knows how much each feature
mattered, and from this the accuracy without it can be estimated: roughly, but the knee is there.

After figures 4.8, 5.2, 5.10 and 5.11 of R. Planas, *Analysis of the SVM-RFE algorithm for feature
selection*, UPC Barcelona 2021.
"""

import numpy as np
from matplotlib import pyplot as plt

from mercer import SVC, KernelRFE, KernelRFECV
from mercer.feature_selection import (
    annealing,
    around,
    constant,
    entropy,
    estimated_accuracy,
    halving,
    percent,
    square_root,
)
from mercer.plotting.palette import BLUE, COLORS, GREY, VERMILION

# Sixty features, of which twenty have to do with the class, each less than the one before.

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 60))
y = X[:, :20] @ 0.9 ** np.arange(20) + rng.normal(scale=0.7, size=300) > 0
machine = SVC(C=0.1, kernel="linear")

figure, axes = plt.subplots(1, 3, figsize=(13.5, 4.2), layout="constrained")
rules = {
    "constant(4)": constant(4),
    "halving()": halving(),
    "annealing()": annealing(),
    "percent(0.2)": percent(0.2),
    "square_root()": square_root(),
    "entropy(few=20)": entropy(20),
    "around(15, 0.3)": around(15, 0.3),
}
for (name, rule), color, marker in zip(rules.items(), (*COLORS[:6], GREY), "os^DvP*"):
    trace = KernelRFE(machine, step=rule, n_features_to_select=1).fit(X, y).trace_
    axes[0].plot(trace.sizes, marker + "-", ms=4, color=color, label=name)
axes[0].set(xlabel="round", ylabel="features left")
axes[0].legend(fontsize="small")
axes[0].set_title("60 features, down to one", fontsize="medium")

search = KernelRFECV(machine, step=percent(0.2), cv=5).fit(X, y)
sizes, scores = search.cv_results_["n_features"], search.cv_results_["mean_test_score"]
axes[1].plot(sizes, scores, "o-", ms=3, color=BLUE)
for errors, marker in ((1.0, "o"), (0.8, "s"), (0.5, "^")):
    best = np.argmin(errors * (1 - scores) + (1 - errors) * sizes / 60)
    name = f"errors {errors:g}, features {1 - errors:g}"
    style = {"ms": 11, "mfc": "none", "mec": VERMILION, "ls": ""}
    axes[1].plot(sizes[best], scores[best], marker, label=name, **style)
axes[1].legend(fontsize="small")
axes[1].set(xlabel="features", ylabel="accuracy, five folds")
axes[1].set_title("best size, by what errors weigh", fontsize="medium")

elimination = KernelRFE(machine, n_features_to_select=1).fit(X, y)
trace = elimination.trace_
# What each feature mattered in the round that dropped it; the last one has lost to nobody.
mattered = [parts[0] for parts in trace.importances[-2::-1]]
estimate = estimated_accuracy([trace.selected_importances[0], *mattered], 0.5, scores.max())
axes[2].plot(estimate, color=VERMILION, label="estimated from one elimination")
axes[2].plot(sizes, scores, "--", color=GREY, label="five folds")
axes[2].set(xlabel="features", ylabel="accuracy")
axes[2].legend(fontsize="small", loc="lower right")
axes[2].set_title("without further rows", fontsize="medium")

plt.show()
