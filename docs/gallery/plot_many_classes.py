r"""
Many classes from machines for two
==================================

A support vector machine parts two classes. With more there are three ways. One against one, the
default, fits a machine to each pair and lets them vote: ten machines here, each on few rows. One
against the rest fits five, each on all rows, and takes the largest decision value. The machine of
Crammer and Singer is one program for all classes, whose margin is between the right class and the
best of the others.

With clouds around a ring, one against the rest is in trouble: no line parts the class in the middle
from the others (below, linear kernels). It is left with what the others do not want, and nearly all
of its rows are outlined: they lie inside the margin. The other ways have no such need. With a
Gaussian kernel (above) all three agree but for places where there are no rows.
"""

import numpy as np
from matplotlib import pyplot as plt

from mercer import SVC, BoundaryDisplay, CrammerSingerSVC

rng = np.random.default_rng(0)
angles = 2 * np.pi * np.arange(4) / 4
centres = np.vstack([[0, 0], 2.0 * np.column_stack([np.cos(angles), np.sin(angles)])])
y = np.repeat(np.arange(5), 30)
X = centres[y] + rng.normal(scale=0.45, size=(150, 2))

figure, axes = plt.subplots(
    2, 3, figsize=(10.5, 7.0), layout="constrained", sharex=True, sharey=True
)
for row, kernel in zip(axes, ("rbf", "linear")):
    models = {
        "one against one": SVC(kernel=kernel, C=10.0),
        "one against the rest": SVC(kernel=kernel, C=10.0, multi_class="ovr"),
        "Crammer and Singer": CrammerSingerSVC(kernel=kernel, C=10.0),
    }
    for ax, (name, model) in zip(row, models.items()):
        model.fit(X, y)
        BoundaryDisplay.from_estimator(model, X, y, ax=ax, legend=False, grid_resolution=150)
        n_errors = int((model.predict(X) != y).sum())
        ax.set_title(f"{name}, {kernel}: {n_errors} errors", fontsize="medium")
        ax.label_outer()

plt.show()
