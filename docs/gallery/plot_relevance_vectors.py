r"""
Relevance vectors beside support vectors
========================================

Ripley's synthetic data: two classes, each a mixture of two normal distributions, which overlap.

The support vector machine keeps every row that lies on its margin or inside, here almost a third
of them. The relevance vector machine of the same kernel keeps a handful. They are not found near
the boundary but at places that stand for many rows. It has no C to choose, and knows probabilities,
shown as shading: the stronger the colour, the more certain the class.

Below, how the fit went: functions are added (triangles up), all precisions re-estimated (dots),
functions deleted again (triangles down), and once the choice is looked at anew from the side of
many functions (star). The evidence never falls. The last panel shows how often the second class
really occurs among 5000 further rows for which a probability was given; an honest machine follows
the diagonal.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.calibration import calibration_curve

from mercer import RVC, SVC, BoundaryDisplay, EvidenceDisplay, PlattClassifier
from mercer.datasets import make_ripley
from mercer.plotting.palette import BLUE, GREY, VERMILION

X, y = make_ripley(250, random_state=0)
support = SVC(C=1.0, gamma=4.0).fit(X, y)
relevance = RVC(gamma=4.0).fit(X, y)

figure = plt.figure(figsize=(10.0, 7.4), layout="constrained")
grid = figure.add_gridspec(4, 2, height_ratios=[3.2, 3.2, 3.2, 1.6])
left, right = figure.add_subplot(grid[:2, 0]), figure.add_subplot(grid[:2, 1])
BoundaryDisplay.from_estimator(support, X, y, ax=left, legend=False)
left.set_title(f"SVC: {support.support_.size} support vectors", fontsize="medium")
BoundaryDisplay.from_estimator(
    relevance, X, y, ax=right, legend=False, response_method="predict_proba"
)
right.set_title(f"RVC: {relevance.relevance_.size} relevance vectors", fontsize="medium")

# How the evidence rose.

upper = figure.add_subplot(grid[2, 0])
lower = figure.add_subplot(grid[3, 0], sharex=upper)
rise = EvidenceDisplay.from_estimator(relevance, axes=(upper, lower), legend=False).lines_[0]
# The first step, from the constant function alone, is so large that the others would not be seen.
upper.set_ylim(rise.get_ydata()[2] - 3, rise.get_ydata()[-1] + 3)
upper.set_title("evidence, step by step", fontsize="medium")
lower.set_title("number of weights", fontsize="medium")
lower.set(ylabel="")

# Whether the probabilities can be trusted.

last = figure.add_subplot(grid[2:, 1])
X_test, y_test = make_ripley(5000, random_state=1)
last.plot([0, 1], [0, 1], color=GREY, lw=1.0)
for model, style, color, name in (
    (relevance, "o-", BLUE, "RVC"),
    (PlattClassifier(support).fit(X, y), "s--", VERMILION, "PlattClassifier(SVC)"),
):
    p = model.predict_proba(X_test)[:, 1]
    happened, said = calibration_curve(y_test, p, n_bins=10)
    brier = np.mean((p - y_test) ** 2)
    last.plot(said, happened, style, color=color, label=f"{name}, Brier score {brier:.4f}")
last.set(xlabel="probability given", ylabel="share that occurred")
last.set_title("reliability", fontsize="medium")
last.legend(fontsize="small")

plt.show()
