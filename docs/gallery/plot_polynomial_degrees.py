r"""
Polynomial kernels of degree 2 to 6
===================================

The kernel :math:`(\langle x, x' \rangle + 1)^Q` draws boundaries that are curves of degree Q. Which
degree is rich enough must be found by trying, and costs next to nothing: the machine solves a
problem of the same size for every Q.

Degree 2 has only ellipses, parabolas and hyperbolas to offer and cannot part the two classes;
degree 3 can. Higher degrees separate as well; they hardly differ among the data, and go their own
ways where there are none. The last panel lays the five boundaries over each other. Rings mark
support vectors on the margin (dashed lines), outlines those at the bound C.

After figure 6.4 of A. Hopfgartner and M. Rupp, *Support Vector Machines*, FH Vorarlberg 2021.
"""

from matplotlib import pyplot as plt
from matplotlib.lines import Line2D
from sklearn.datasets import make_moons

from mercer import SVC, BoundaryDisplay
from mercer.kernels import Polynomial
from mercer.plotting.palette import COLORS, GREY

X, y = make_moons(40, noise=0.1, random_state=0)
X = X - X.mean(axis=0)

# A large C, since the classes do not overlap.

degrees = range(2, 7)
figure, axes = plt.subplots(2, 3, figsize=(10.5, 6), layout="constrained", sharex=True, sharey=True)
displays = []
for ax, degree in zip(axes.flat, degrees):
    model = SVC(C=1000.0, kernel=Polynomial(degree=degree, gamma=1.0, coef0=1.0)).fit(X, y)
    displays.append(BoundaryDisplay.from_estimator(model, X, y, ax=ax, legend=False, eps=0.2))
    n_errors = int((model.predict(X) != y).sum())
    n_support = model.support_.size
    ax.set_title(f"Q = {degree}: {n_errors} errors, {n_support} support vectors", fontsize="medium")
    ax.label_outer()

# All boundaries in one picture: each display keeps its grid and its decision function.

last = axes[1, 2]
dashes = ["-", "--", "-.", ":", (0, (5, 1, 1, 1))]
handles = []
for display, degree, color, dash in zip(displays, degrees, COLORS, dashes):
    last.contour(*display.grid, display.fields[0], levels=[0], colors=[color], linestyles=[dash])
    handles.append(Line2D([], [], color=color, ls=dash, label=f"Q = {degree}"))
for code, marker in enumerate("os"):
    last.plot(*X[y == code].T, marker, color=GREY, ms=4)
last.set_title("all boundaries", fontsize="medium")
last.set_xlabel("feature 0")
last.legend(handles=handles, ncols=3, loc="lower center", fontsize="small")

plt.show()
