r"""
From decision values to probabilities
=====================================

A support vector machine says on which side a row lies and how far from the boundary, not how sure
one may be. The upper pictures show the margins, :math:`y f(x)`, of a problem with few rows and
forty columns: errors lie left of 0, and a machine wants every row at 1 or beyond. On the rows that
it was fitted to it has its way (left), on new rows much less (right). So probabilities must come
from decision values of rows left out.

`PlattClassifier` gets those by folds, and makes probabilities of them by a sigmoid. Below, how
often a class occurs among new rows that were given a probability for it: calibrated ones follow the
diagonal, which is what a probability should mean. The same sigmoid fitted to the decision values of
the training rows is far too sure of itself. At the right the probability in a plane, the stronger
the colour the more certain.

Use it where a decision has a price, where the unsure are passed on to a person, or where the
answers of several machines must be weighed against each other.
"""

from matplotlib import pyplot as plt
from sklearn.datasets import make_classification

from mercer import SVC, BoundaryDisplay, MarginDisplay, PlattClassifier, ReliabilityDisplay
from mercer.calibration import fit_sigmoid
from mercer.datasets import make_ripley

X, y = make_classification(2200, 40, class_sep=0.7, n_informative=5, random_state=0)
X, X_test, y, y_test = X[:200], X[200:], y[:200], y[200:]
machine = SVC(kernel="linear").fit(X, y)
model = PlattClassifier(machine, random_state=0).fit(X, y)
biased = fit_sigmoid(machine.decision_function(X), y)

figure, axes = plt.subplots(2, 2, figsize=(10.5, 7.4), layout="constrained")
for ax, rows, labels, name in (
    (axes[0, 0], X, y, "training rows"),
    (axes[0, 1], X_test, y_test, "new rows"),
):
    MarginDisplay.from_estimator(machine, rows, labels, ax=ax, legend=False)
    ax.set(xlim=(-5, 5))
    ax.set_title(f"margins of {name}", fontsize="medium")
given = {
    "folds": model.predict_proba(X_test)[:, 1],
    "training rows": biased.probability(machine.decision_function(X_test)),
}
reliability = ReliabilityDisplay.from_predictions(y_test, given, ax=axes[1, 0], legend=False)
reliability.ax_.legend(fontsize="x-small", loc="upper left", title="Brier score, log loss")
reliability.ax_.set_title("reliability on new rows", fontsize="medium")
reliability.histogram_ax_.set_title("how often given", fontsize="medium")

X, y = make_ripley(250, random_state=0)
smooth = PlattClassifier(SVC(gamma=4.0), random_state=0).fit(X, y)
BoundaryDisplay.from_estimator(
    smooth, X, y, ax=axes[1, 1], response_method="predict_proba", legend=False
)
axes[1, 1].set_title("probability in a plane", fontsize="medium")

plt.show()
