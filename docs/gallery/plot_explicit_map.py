r"""
An explicit map against its kernel
==================================

The kernel :math:`K(x, x') = (1 + \langle x, x' \rangle)^2` of two features is the dot product of

.. math:: \Phi(x) = (1, \sqrt2 x_1, \sqrt2 x_2, x_1^2, \sqrt2 x_1 x_2, x_2^2)

so that a machine with this kernel and a linear machine on the six columns of :math:`\Phi` are one
and the same. Left, the kernel machine on the data: its boundary is an ellipse. In the middle the
linear machine, seen along the columns :math:`x_1^2` and :math:`x_2^2` while the other four are held
at their medians: the ring has become a corner that a straight line cuts off. Right, both give the
same decision values; the kernel machine has never computed the six columns.

After section 5.2.1 and figure 5.2 of A. Hopfgartner and M. Rupp, *Support Vector Machines*, FH
Vorarlberg 2021.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import make_circles

from mercer import SVC, BoundaryDisplay, explicit_map
from mercer.kernels import Polynomial
from mercer.plotting.palette import BLUE, VERMILION

X, y = make_circles(100, noise=0.12, factor=0.4, random_state=0)
kernel = Polynomial(degree=2, gamma=1.0, coef0=1.0)

# `explicit_map` writes the feature space out; its dot products are the kernel values.

mapped = explicit_map(kernel, X)
assert np.allclose(mapped @ mapped.T, kernel(X))

# Both machines, with a small tolerance to see how well they agree.

by_kernel = SVC(C=10.0, kernel=kernel, tol=1e-6).fit(X, y)
by_map = SVC(C=10.0, kernel="linear", tol=1e-6).fit(mapped, y)

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(10.5, 3.6), layout="constrained")
BoundaryDisplay.from_estimator(by_kernel, X, y, ax=left, legend=False)
left.set_title("kernel machine, two features", fontsize="medium")
left.set(xlabel="$x_1$", ylabel="$x_2$")
BoundaryDisplay.from_estimator(by_map, mapped, y, ax=middle, features=(3, 5), legend=False)
middle.set_title("linear machine, two of six columns", loc="center", fontsize="medium")
middle.set_title("", loc="left")
middle.set(xlabel="$x_1^2$", ylabel="$x_2^2$")

first, second = by_kernel.decision_function(X), by_map.decision_function(mapped)
for code, style, color in ((0, "o", BLUE), (1, "s", VERMILION)):
    own = y == code
    right.plot(first[own], second[own], style, color=color, ms=4, label=f"class {code}")
right.axline((0, 0), slope=1, color=right.xaxis.label.get_color(), lw=0.8, zorder=0)
right.set_title(f"largest difference {np.abs(first - second).max():.0e}", fontsize="medium")
right.set(xlabel="decision value, kernel machine", ylabel="decision value, linear machine")
right.legend()

plt.show()
