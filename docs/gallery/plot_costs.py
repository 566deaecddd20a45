r"""
Errors that are not equally bad
===============================

To miss an illness costs more than to examine a healthy person once more. `MinimumCostClassifier`
takes the probabilities of any classifier and decides for what costs least on average: where missing
the illness costs ten times as much, it is named from a probability of 1/11 on, and the boundary
moves (white dashes: equal costs). Discriminants know the probabilities from normal distributions,
with one covariance matrix (LDA, straight) or one for each class (QDA, curved); `PlattClassifier`
makes them for a machine. If passing a row on to somebody who knows better costs 0.3, nothing is
decided between the dotted lines.

The bars are what a decision costs on average on rows left out. `cost_scorer` makes this a score for
searches and cross-validation, minus the mean cost: a `CostScorer`.

After section 2.2 and figures 2.3 to 2.6 of S. van der Westhuizen, *Nearest Hypersphere
Classification*, Stellenbosch University 2014.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.model_selection import cross_val_score

from mercer import SVC, BoundaryDisplay, MinimumCostClassifier, PlattClassifier
from mercer.discriminant import CostScorer
from mercer.plotting.palette import BLUE, GREY

rng = np.random.default_rng(1)
X = np.vstack([rng.normal(0.0, 1.0, (160, 2)), rng.normal((1.8, 1.2), (0.5, 1.2), (80, 2))])
y = np.repeat(["healthy", "ill"], [160, 80])
costs = [[0, 1], [10, 0]]
scorer = CostScorer(costs)

figure, axes = plt.subplots(1, 4, figsize=(14.0, 3.8), layout="constrained")
models = {
    "LDA": LinearDiscriminantAnalysis(),
    "QDA": QuadraticDiscriminantAnalysis(),
    "SVC": PlattClassifier(SVC()),
}
for i, (ax, (name, model)) in enumerate(zip(axes, models.items())):
    cheap = MinimumCostClassifier(model, costs).fit(X, y)
    shown = BoundaryDisplay.from_estimator(cheap, X, y, ax=ax, legend=False)
    across, up = np.meshgrid(*shown.grid)
    plane = np.column_stack([across.ravel(), up.ravel()])
    ill = cheap.estimator_.predict_proba(plane)[:, 1].reshape(across.shape)
    ax.contour(*shown.grid, ill, [0.5], colors="white", linewidths=2.5, linestyles="--")
    # Naming the illness costs 1 - p, not naming it 10 p: where both cost more, one passes on.
    ax.contour(*shown.grid, ill, [0.03, 0.7], colors="black", linestyles=":")
    ax.set_title(f"{name}: missing costs 10", fontsize="medium")
    for rule, place, color in ((model, i - 0.2, GREY), (cheap, i + 0.2, BLUE)):
        cost = -cross_val_score(rule, X, y, scoring=scorer).mean()
        label = {GREY: "equal costs", BLUE: "these costs"}[color] if i == 0 else None
        axes[3].bar(place, cost, 0.38, color=color, label=label)
axes[3].set_xticks(range(3), models)
axes[3].set_ylabel("mean cost, rows left out")
axes[3].set_title("five folds", fontsize="medium")
axes[3].legend(fontsize="small")

plt.show()
