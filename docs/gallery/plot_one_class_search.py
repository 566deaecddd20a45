r"""
How wide, when nothing bad is known?
====================================

One knows usual rows only. How closely should a description follow them? `OneClassSearch` answers
without labels, and its strategies look at different things: how many rows become support vectors
(``"support_fraction"``, whose search is drawn below), the rule of thumb for densities
(``"silverman"``), or how much of the box around the data is accepted (``"artificial_outliers"``).
With ``nu=0.05`` each leaves about a twentieth of the rows outside.

The points of `artificial_outliers` are drawn evenly from that box. The share of them inside a
region is its area, so that among descriptions that accept equally many usual rows the best one
accepts the fewest of these (numbers above the panels). `TargetProbability` uses the same points to
say how sure one may be that a row is usual: the shading of the last panel. In the panel before,
`CellOneClassSVM` cuts 3000 rows into cells of 500, each with a machine of its own: for more rows
than one machine likes.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import make_moons

from mercer import SVDD, CellOneClassSVM, OneClassSearch, SupportFractionDisplay
from mercer.plotting.palette import BLUE, GREY, VERMILION
from mercer.spheres import TargetProbability, artificial_outliers

X = make_moons(200, noise=0.08, random_state=0)[0]
many = make_moons(3000, noise=0.08, random_state=1)[0]
box = artificial_outliers(X, 4000, random_state=0)
strategies = ["support_fraction", "silverman", "artificial_outliers"]
models = {
    name: OneClassSearch(SVDD(nu=0.05), strategy=name, n_widths=12, random_state=0).fit(X)
    for name in strategies
}
models["cells, 3000 rows"] = CellOneClassSVM(
    SVDD(nu=0.05, gamma=8.0), cell_size=500, random_state=0
).fit(many)

figure, axes = plt.subplots(2, 3, figsize=(12.0, 6.6), layout="constrained")
a, b = np.linspace(-1.5, 2.5, 120), np.linspace(-1.1, 1.6, 120)
plane = np.column_stack([axis.ravel() for axis in np.meshgrid(a, b)])
places = [axes[0, 0], axes[0, 1], axes[0, 2], axes[1, 1]]
for ax, (name, model) in zip(places, models.items()):
    values = model.decision_function(plane).reshape(120, 120)
    ax.contourf(a, b, values, [0, np.inf], colors=[BLUE], alpha=0.2)
    ax.contour(a, b, values, [0], colors=[BLUE])
    ax.plot(*(X if model is not models["cells, 3000 rows"] else many).T, ".", ms=2, color=GREY)
    accepted = (model.predict(box) == 1).mean()
    ax.set_title(f"{name}: {accepted:.0%} of the box", fontsize="medium")

SupportFractionDisplay.from_search(models["support_fraction"], ax=axes[1, 0], legend=False)
axes[1, 0].legend(fontsize="small", loc="lower right")
axes[1, 0].set_title("why that width", fontsize="medium")
sure = TargetProbability(SVDD(nu=0.05, gamma=8.0), random_state=0).fit(X)
shades = axes[1, 2].contourf(
    a, b, sure.predict_proba(plane)[:, 1].reshape(120, 120), np.linspace(0, 1, 11), cmap="cividis"
)
axes[1, 2].plot(*X.T, ".", ms=2, color=VERMILION)
axes[1, 2].set_title("probability of being usual", fontsize="medium")
figure.colorbar(shades, ax=axes[1, 2]).ax.set_title("P", fontsize="small")
for ax in (*places, axes[1, 2]):
    ax.set(xlabel="first feature", ylabel="second feature")
    ax.label_outer()

plt.show()
