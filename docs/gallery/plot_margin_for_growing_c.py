"""
The margin for growing C
========================

C is the price of slack. A small C buys a wide margin and tolerates rows inside it or beyond the
boundary; a large C pays for few errors with a narrow margin. ``C=inf``, the hard margin, tolerates
nothing.

Above, one row of the second class lies close to the first. It alone decides where the hard margin
runs, so that the boundary passes the first class at a hair's breadth; a small C gives this row up
for a margin four times as wide. Below, two rows lie among those of the other class.
No hard margin exists then, while the soft margin hardly notices them, whatever C is.

After figures 4.1 and 6.3 of A. Hopfgartner and M. Rupp, *Support Vector Machines*, FH Vorarlberg
2021.
"""

import numpy as np
from matplotlib import pyplot as plt

from mercer import SVC, BoundaryDisplay

rng = np.random.default_rng(4)
X = np.vstack([rng.normal((-1.5, 0), 0.5, (20, 2)), rng.normal((1.5, 0), 0.5, (20, 2))])
y = np.repeat([-1, 1], 20)

# One outlier that leaves the classes separable, and two rows on the wrong side that do not.

outlier = np.vstack([X, [[-0.35, 0.9]]]), np.append(y, 1)
mixed = np.vstack([X, [[-1.3, 0.5], [1.3, -0.5]]]), np.append(y, [1, -1])

# Two classes have one machine: ``margin_`` is half the width of its margin, 1/|w|.

figure, axes = plt.subplots(2, 3, figsize=(10.5, 6), layout="constrained", sharex=True, sharey=True)
settings = [(*outlier, C) for C in (0.1, 1.0, np.inf)] + [(*mixed, C) for C in (0.1, 1.0, 1000.0)]
for ax, (data, labels, C) in zip(axes.flat, settings):
    model = SVC(C=C, kernel="linear").fit(data, labels)
    BoundaryDisplay.from_estimator(model, data, labels, ax=ax, legend=ax is axes[1, 2])
    n_errors = int((model.predict(data) != labels).sum())
    ax.set_title(
        f"C = {C:g}: width {2 * model.margin_[0]:.2f}, {n_errors} error{'s' * (n_errors != 1)}",
        fontsize="medium",
    )
    ax.label_outer()

plt.show()
