r"""
A tree, pruned until it can be read
===================================

A decision tree cuts the plane at one threshold after another. Grown until every leaf is pure it
remembers single rows, as the thin strips at the left show. `PrunedTreeClassifier` grows that tree
too and takes back the cuts that do not pay, by cost complexity; how much has to pay is found by
folds. The third picture shows their mean error against the price of a leaf, with one standard
error; the smallest tree within one standard error of the best is taken (dashed line).

The last picture asks a forest of such trees which columns of the irises matter: how many rows more
a tree gets wrong, among those it has not seen, when the column is shuffled. What is left of the
pruned tree is read as rules: ``print(*tree.rules_)``. Use it where a decision must be explained,
and see first what a machine would get right, to know the price of the explanation.

After the lecture of A. Verikas, Halmstad 2013, on trees with backward pruning and on committees.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from mercer import BoundaryDisplay, PrunedTreeClassifier
from mercer.plotting.palette import BLUE, VERMILION
from mercer.trees import oob_importance

rng = np.random.default_rng(1)
X = rng.uniform(0, 1, size=(200, 2))
y = (X[:, 0] > 0.4) & (X[:, 1] < 0.6)
y = np.where(rng.random(200) < 0.1, ~y, y)  # a tenth of the labels is wrong

figure, axes = plt.subplots(1, 4, figsize=(14.0, 3.8), layout="constrained")
full = DecisionTreeClassifier(random_state=0).fit(X, y)
tree = PrunedTreeClassifier(random_state=0).fit(X, y)
for ax, model, fitted, name in (
    (axes[0], full, full, "grown"),
    (axes[1], tree, tree.tree_, "pruned"),
):
    BoundaryDisplay.from_estimator(model, X, y, ax=ax, legend=False)
    ax.set_title(f"{name}: {fitted.get_n_leaves()} leaves", fontsize="medium")

errors = 1 - tree.cv_scores_
deviation = errors.std(axis=1, ddof=1) / np.sqrt(errors.shape[1])
axes[2].errorbar(tree.alphas_, errors.mean(axis=1), deviation, fmt="o-", color=BLUE, ms=4)
axes[2].axvline(tree.alpha_, color=VERMILION, ls="--")
axes[2].set(xlabel="price of a leaf, α", ylabel="error, ten folds")
axes[2].set_title("how far to prune", fontsize="medium")

iris = load_iris()
forest = RandomForestClassifier(100, random_state=0).fit(iris.data, iris.target)
found = oob_importance(forest, iris.data, iris.target, random_state=0)
names = [name.removesuffix(" (cm)") for name in iris.feature_names]
axes[3].barh(names, found.importances, xerr=found.standard_error, color=BLUE)
axes[3].set_xlabel("errors more, mean over trees")
axes[3].set_title("irises: which columns matter", fontsize="medium")

plt.show()
