r"""
How many features, and chosen by whom
=====================================

The class depends on the first three of thirty features: on the product of two of them, and on the
size of the third. The mean of every feature is the same in both classes, so that a filter, which
compares means, ranks no better than chance. Elimination with an RBF kernel asks what the machine
loses without a feature, and keeps the three.

Every ranking is made on the training rows of each fold alone and judged on the others. The full
line is the accuracy on rows that had no say, the dashed one that on the training rows; the small
strokes are the machines of the elimination on its way. The ring marks the best trade-off of
accuracy against size: beyond three features more only blur the picture.

The second panel shows what goes wrong where the ranking has seen all rows. The labels are drawn by
lot, so that nothing can be learned, and the honest curve stays at chance. The other one promises
far more than that: this is selection bias.
"""

import numpy as np
from matplotlib import pyplot as plt

from mercer import SVC, KernelRFE, RankingCurveDisplay
from mercer.feature_selection import percent, ranking_curve

rng = np.random.default_rng(0)
X = rng.normal(size=(400, 30))
y = X[:, 0] * X[:, 1] + X[:, 2] ** 2 > 1.0
machine = SVC(C=5.0)
elimination = KernelRFE(machine, criterion="decrease", step=percent(0.15))
sizes = [*range(1, 11), 12, 15, 20, 25, 30]
curves = ranking_curve(
    {"elimination": elimination}, machine, X, y, sizes=sizes, cv=5, random_state=0
)

figure, (left, right) = plt.subplots(2, 1, figsize=(8.4, 7.6), layout="constrained")
RankingCurveDisplay.from_curves(curves, ax=left)
left.set_title("three features matter, and only together", fontsize="medium")

# Labels by lot, and 500 features to find patterns in.

X, y = rng.normal(size=(60, 500)), rng.permutation(np.repeat([0, 1], 30))
machine = SVC(kernel="linear")
honest = KernelRFE(machine, step=percent(0.15))
biased = KernelRFE(machine, step=percent(0.15), n_features_to_select=1).fit(X, y).order_
curves = ranking_curve(
    {"ranked without the test rows": honest, "ranked with them": biased},
    machine,
    X,
    y,
    sizes=[1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200, 300, 400, 500],
    cv=10,
    baselines=False,
)
RankingCurveDisplay.from_curves(curves, ax=right, train=False)
right.set_title("nothing to learn, and selection bias", fontsize="medium")

plt.show()
