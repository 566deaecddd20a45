r"""
Choosing C and widths by gradients
==================================

A grid tries hundreds of pairs of C and :math:`\gamma`, each on five folds. A gradient search moves
both at once, downhill on a criterion that needs the training rows only, and arrives after about ten
evaluations (left: dots from the ring to the star, on the cross-validated error of a grid that was
computed for the picture).

Can the criterion be trusted? In the middle each point is a pair of C and :math:`\gamma`: from left
to right the criterion grows, upwards the error on rows that it has not seen. What counts is where
it starts, at the large markers: both criteria choose near the least error of all pairs.

A gradient costs hardly more for many parameters than for one, so that every feature can have its
own :math:`\gamma`, which no grid could search. At the right two of twelve features decide about
the class, by a circle; the search has found which.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import make_moons

from mercer import (
    SVC,
    CriterionDisplay,
    ErrorSurfaceDisplay,
    GradientSearch,
    PathSearchCV,
    WidthsDisplay,
)

X, y = make_moons(1200, noise=0.3, random_state=0)
X, X_test, y, y_test = X[:200], X[200:], y[:200], y[200:]

figure, axes = plt.subplots(1, 3, figsize=(13.5, 4.2), layout="constrained")

grid = {"C": np.logspace(-2, 3, 10), "gamma": np.logspace(-3, 2, 10)}
start = SVC(loss="squared_hinge", C=0.05, gamma=0.02)
path = GradientSearch(start, "evidence").fit(X, y)
fitted = PathSearchCV(SVC(), grid).fit(X, y)
surface = ErrorSurfaceDisplay.from_search(fitted, path=path, ax=axes[0])
surface.colorbar_.ax.set_title("%", fontsize="small")
axes[0].set_title(f"{path.n_evaluations_} evaluations instead of 500 fits", fontsize="medium")

# Two criteria against the error on further rows, over all pairs of a grid.

criteria = CriterionDisplay.from_estimator(
    SVC(loss="squared_hinge"),
    X,
    y,
    X_test,
    y_test,
    criteria=["evidence", "span"],
    ax=axes[1],
    legend=False,
)
names = [f"{name}: {100 * error:.1f} %" for name, error in criteria.chosen_.items()]
axes[1].legend(criteria.points_.values(), names, frameon=False, title="error of its choice")
axes[1].set_title("criterion against test error", fontsize="medium")

# One width for each feature; only the first two matter.

random = np.random.default_rng(0)
points = random.normal(size=(300, 12))
inside = points[:, 0] ** 2 + points[:, 1] ** 2 < 1.4
search = GradientSearch(random_state=0).fit(points, inside)
WidthsDisplay.from_estimator(search, ax=axes[2])
axes[2].set_title("width of each of 12 features", fontsize="medium")

plt.show()
