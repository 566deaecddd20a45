r"""
A ball for each class
=====================

`NearestHypersphereClassifier` describes each class by a ball of its own, without looking at the
others, and gives a row to the ball whose centre is nearest. How near is a matter of measure: by the
plain distance a wide class loses rows to a small one beside it; in units of the radius
(``"relative"``, the default) it does not. `SVC` looks at the rows where classes meet, and usually
has fewer errors.

Balls are worth their price where classes come and go, since a further class changes no other ball
and takes one small fit, and where a new row may belong to none: with a threshold, rows outside of
all balls are refused (white), while `SVC` always names a class.

After figures 4.8 to 4.11 of S. van der Westhuizen, *Nearest Hypersphere Classification: A
Comparison with Other Classification Techniques*, Stellenbosch University 2014.
"""

from matplotlib import pyplot as plt
from sklearn.datasets import load_iris

from mercer import SVC, BoundaryDisplay, NearestHypersphereClassifier, SupportRegionDisplay

iris = load_iris(as_frame=True)
X, y = iris.data[["sepal length (cm)", "sepal width (cm)"]], iris.target_names[iris.target]
two = y != "virginica"

balls = {
    "two balls": NearestHypersphereClassifier(gamma=0.5, nu=0.1),
    "three balls": NearestHypersphereClassifier(gamma=0.5, nu=0.1),
    "plain distance": NearestHypersphereClassifier(gamma=0.5, nu=0.1, dissimilarity="absolute"),
    "the balls": NearestHypersphereClassifier(gamma=0.5, nu=0.1, reject_threshold=1.0),
    "SVC": SVC(C=10.0, gamma=0.5),
}
figure, axes = plt.subplots(1, 5, figsize=(14.5, 3.6), layout="constrained", sharey=True)
for ax, (name, model) in zip(axes, balls.items()):
    rows = two if name == "two balls" else y == y
    model.fit(X[rows], y[rows])
    display = SupportRegionDisplay if name == "the balls" else BoundaryDisplay
    display.from_estimator(model, X[rows], y[rows], ax=ax, legend=False, eps=0.3)
    n_errors = int((model.predict(X[rows]) != y[rows]).sum())
    verdict = "wrong or refused" if name == "the balls" else "wrong"
    ax.set_title(f"{name}: {n_errors} {verdict}", fontsize="medium")
    ax.label_outer()

plt.show()
