r"""
Boundaries of eight methods
===========================

The same two moons for eight methods. The boundary tells what each takes for granted: a straight
line, boxes along the axes, a ball for each class, smoothness, or nothing much.

The support vector machine bends smoothly with the widest margin that its kernel offers. The kernel
perceptron has the same kernel and no margin: it stops at any boundary without errors, and the mean
of all its boundaries (below) is calmer. The relevance vector machine needs the fewest rows. Two
balls divide the plane where they are equally near. A tree cuts along one feature at a time, the
regions of fuzzy rules have corners where another rule begins to win, and a neural network of twenty
units may do anything where there are no rows. Errors are those on 1000 further rows; another draw
of the moons has another order.

After figure 6.8 of A. Hopfgartner and M. Rupp, *Support Vector Machines*, FH Vorarlberg 2021, and
the comparison in the lecture of A. Verikas, Halmstad 2013.
"""

from matplotlib import pyplot as plt
from sklearn.datasets import make_moons
from sklearn.neural_network import MLPClassifier

from mercer import (
    RVC,
    SVC,
    BoundaryDisplay,
    FuzzyRuleClassifier,
    KernelPerceptron,
    NearestHypersphereClassifier,
    PrunedTreeClassifier,
)

X, y = make_moons(120, noise=0.15, random_state=1)
X_test, y_test = make_moons(1000, noise=0.15, random_state=2)
models = {
    "SVC": SVC(C=10.0, gamma=1.0),
    "kernel perceptron": KernelPerceptron(gamma=3.0, random_state=0),
    "relevance vectors": RVC(gamma=1.0),
    "nearest hypersphere": NearestHypersphereClassifier(gamma=1.0, nu=0.1),
    "mean perceptron": KernelPerceptron(gamma=3.0, variant="averaged", random_state=0),
    "pruned tree": PrunedTreeClassifier(random_state=0),
    "fuzzy rules": FuzzyRuleClassifier(max_rules=6, n_generations=60, random_state=0),
    "neural network": MLPClassifier((20,), activation="tanh", solver="lbfgs", random_state=1),
}
figure, axes = plt.subplots(2, 4, figsize=(12.0, 6.0), layout="constrained")
for ax, (name, model) in zip(axes.flat, models.items()):
    model.fit(X, y)
    BoundaryDisplay.from_estimator(model, X, y, ax=ax, legend=False, grid_resolution=150)
    error = 1 - model.score(X_test, y_test)
    ax.set_title(f"{name}: {100 * error:.1f} %", fontsize="medium")
    ax.label_outer()

plt.show()
