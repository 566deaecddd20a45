r"""
One straight line, found in four ways
=====================================

Two classes that a straight line can part have many such lines. A perceptron moves its line whenever
it meets a row on the wrong side, and stops at the first line that has none: where that is depends
on the order of the rows. :math:`\alpha`-LMS moves a little with every row, and the pseudo-inverse
solves at once what :math:`\alpha`-LMS comes near to: the least squares of the values -1 and +1.
Neither asks for a wide margin. The machine with a hard margin (``C=inf``) does, and only the rings
have a say in it.

The second row has further squares far behind the line. They are right by any measure, and margin
and perceptron hardly notice them; least squares wants their values to be +1 too, turns its line
towards them and gets a row wrong that a line could part.

After figures 6.1 and 6.2 of A. Hopfgartner and M. Rupp, *Support Vector Machines*, FH Vorarlberg
2021.
"""

import numpy as np
from matplotlib import pyplot as plt

from mercer import SVC, BoundaryDisplay
from mercer.discriminant import AlphaLMS, LinearPerceptron, PseudoInverseClassifier

rng = np.random.default_rng(3)
near = np.vstack([rng.normal((-1.4, 0.4), 0.5, (20, 2)), rng.normal((1.4, -0.4), 0.5, (20, 2))])
far = np.vstack([near, rng.normal((7.0, 5.0), 0.4, (12, 2))])

models = {
    "hard margin": SVC(C=np.inf, kernel="linear"),
    "perceptron": LinearPerceptron(random_state=0),
    "α-LMS": AlphaLMS(random_state=0),
    "pseudo-inverse": PseudoInverseClassifier(),
}
figure, axes = plt.subplots(2, 4, figsize=(12.0, 6.0), layout="constrained")
for row, X in zip(axes, (near, far)):
    y = np.where(np.arange(len(X)) < 20, -1, 1)
    for ax, (name, model) in zip(row, models.items()):
        model.fit(X, y)
        BoundaryDisplay.from_estimator(model, X, y, ax=ax, legend=False)
        n_errors = int((model.predict(X) != y).sum())
        ax.set_title(f"{name}: {n_errors} error{'s' * (n_errors != 1)}", fontsize="medium")
        ax.set(xlabel="", ylabel="")
for ax in axes[1]:
    ax.set_xlabel("feature 0")
for ax in axes[:, 0]:
    ax.set_ylabel("feature 1")

plt.show()
