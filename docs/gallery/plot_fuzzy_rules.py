r"""
Three rules for three irises
============================

A fuzzy rule classifier is read, not computed: here three rules for the three species of iris,
found by `FuzzyRuleClassifier` from clusters of each species and a genetic search. Above, the fuzzy
sets of the two features that the rules ask; a number names the rule, and words above the curves
divide the feature into low, medium and high. The upright line is a flower that was measured,
an unusual versicolor: its dots tell how far each antecedent is true of it.

Below, the same rules in the plane of the two features. A region has the colour of the rule that
wins there. On the right the accuracy on flowers left out, against the largest number of rules that
is allowed, beside that of a random forest of 200 trees: three rules are enough.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score

from mercer import BoundaryDisplay, FuzzyRuleClassifier, MembershipsDisplay
from mercer.plotting.palette import BLUE, VERMILION

iris = load_iris(as_frame=True)
X, y = iris.data, iris.target_names[iris.target]
model = FuzzyRuleClassifier(max_rules=3, random_state=0).fit(X, y)
print(*model.rules_, sep="\n")
flower = X.iloc[70]
print(model.explain(flower))

figure, axes = plt.subplots(2, 2, figsize=(10.0, 7.4), layout="constrained")
petal = ["petal length (cm)", "petal width (cm)"]
MembershipsDisplay.from_estimator(model, features=petal, row=flower, axes=axes[0])
for ax, name in zip(axes[0], ("petal length", "petal width")):
    ax.set_title(f"fuzzy sets of {name}", fontsize="medium")

# The regions of the rules, in the two features.

plane = FuzzyRuleClassifier(max_rules=3, random_state=0).fit(X[petal], y)
BoundaryDisplay.from_estimator(plane, X[petal], y, ax=axes[1, 0], legend=False)
axes[1, 0].set_title("where each class wins", fontsize="medium")

# How many rules are needed.

folds = StratifiedKFold(5, shuffle=True, random_state=0)
sizes = [3, 4, 6, 10]
last = axes[1, 1]
scores = [
    cross_val_score(FuzzyRuleClassifier(max_rules=size, random_state=0), X, y, cv=folds)
    for size in sizes
]
errors = [np.std(score, ddof=1) / np.sqrt(5) for score in scores]
last.errorbar(sizes, np.mean(scores, axis=1), errors, fmt="o-", color=BLUE, label="rules")
forest = cross_val_score(RandomForestClassifier(200, random_state=0), X, y, cv=folds).mean()
last.axhline(forest, color=VERMILION, ls="--", label="random forest")
last.set(xlabel="largest number of rules", ylabel="accuracy, five folds", ylim=(0.9, 1.0))
last.set_title("accuracy on flowers left out", fontsize="medium")
last.legend(fontsize="small")

plt.show()
