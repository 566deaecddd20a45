r"""
Filling gaps from rows that are alike
=====================================

A third of the petal widths of the irises have been wiped out. A median knows nothing of the flower
and gives all of them one value. `ProximityImputer` grows a forest, sees which rows end in the same
leaves, and fills a gap with the mean of rows alike; forest and values are renewed until they
settle. With ``value="linear"``, the default, a regression on the other columns corrects for where
the row lies among those alike, so that a long petal is also a wide one.

The last picture shows the proximities from which all of this is made, as a kernel matrix: bright
squares are the species. Rows of versicolor and virginica that are bright in each other's square are
those that the forest confuses. Use it on tables whose columns hang together; where they do not, the
median is as good and costs nothing.

After the lecture of A. Verikas, Halmstad 2013, on committees of trees.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer

from mercer import GramDisplay, ProximityImputer
from mercer.plotting.palette import BLUE, GREEN, GREY, VERMILION
from mercer.trees import proximity

iris = load_iris()
X, y = iris.data, iris.target_names[iris.target]
lost = np.random.default_rng(0).random(len(X)) < 0.33
gaps = X.copy()
gaps[lost, 3] = np.nan

forest = RandomForestClassifier(40, random_state=0)
imputers = {
    "median": SimpleImputer(strategy="median"),
    "mean of rows alike": ProximityImputer(forest, value="mean", max_iter=3),
    "rows alike, regression": ProximityImputer(forest, max_iter=3),
}
figure, axes = plt.subplots(1, 4, figsize=(14.0, 3.6), layout="constrained")
for ax, (name, imputer) in zip(axes, imputers.items()):
    filled = imputer.fit_transform(gaps, y)[lost, 3]
    for kind, marker, color in zip(iris.target_names, "os^", (BLUE, VERMILION, GREEN)):
        own = y[lost] == kind
        ax.plot(X[lost, 3][own], filled[own], marker, color=color, ms=4, label=kind)
    ax.axline((0, 0), slope=1, color=GREY, lw=0.8, zorder=0)
    error = np.sqrt(np.mean((filled - X[lost, 3]) ** 2))
    ax.set(xlabel="true petal width (cm)", ylabel="filled in (cm)", ylim=(0, 2.6))
    ax.set_title(f"{name}: off by {error:.2f} cm", fontsize="medium")
    ax.label_outer()
axes[0].legend(fontsize="small", loc="upper left")

shares = proximity(forest.fit(X, y), X, output="dense")
shown = GramDisplay.from_matrix(shares, y, ax=axes[3])
shown.colorbar_.set_label("")
shown.colorbar_.ax.set_title("share", fontsize="medium")
axes[3].set_title("proximities", fontsize="medium")

plt.show()
