r"""
How many landmarks
==================

Low rank machines see a kernel through its values with a few points, the landmarks (stars). A
boundary made of five of them is rough, one of thirty cannot be told, where there are rows, from
that of the exact machine (white dots), and the fit takes time in proportion to the rows, not to
their square.

`NystroemSVC` chooses its landmarks as centres of k-means, which cover the rows evenly; they may
also be drawn by leverage (rows that the others do not stand for), or just at random.
`LowRankKernel` tells how much of a row the landmarks miss: the fourth picture has the share of the
kernel that is lost on average, for landmarks that `choose_landmarks` has chosen in each way. Use
these machines from some ten thousand rows on, where the kernel is smooth; raise ``rank`` until the
error no longer falls.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import make_moons

from mercer import SVC, BoundaryDisplay, NystroemSVC
from mercer.lowrank import LowRankKernel, choose_landmarks
from mercer.plotting.palette import COLORS

X, y = make_moons(400, noise=0.2, random_state=0)
exact = SVC(gamma=2.0).fit(X, y)
rows = X[np.random.default_rng(0).permutation(len(X))]
ways = {"uniform": "^", "leverage": "s", "kmeans": "o"}
ranks = [5, 12, 30]
missed = np.empty((len(ranks), len(ways)))

figure, axes = plt.subplots(1, 4, figsize=(14.0, 3.6), layout="constrained")
for ax, rank, row in zip(axes, ranks, missed):
    for i, way in enumerate(ways):
        random = np.random.RandomState(0)
        points = choose_landmarks(rows, rank, way, exact.kernel_, random)
        row[i] = LowRankKernel(exact.kernel_, points).missing(X).mean()
    # The last way is k-means, as it would be without landmarks of one's own.
    model = NystroemSVC(gamma=2.0, landmarks=points).fit(X, y)
    shown = BoundaryDisplay.from_estimator(model, X, y, ax=ax, legend=False)
    plane = np.column_stack([axis.ravel() for axis in np.meshgrid(*shown.grid)])
    values = exact.decision_function(plane).reshape(len(shown.grid[1]), -1)
    ax.contour(*shown.grid, values, [0], colors="white", linewidths=2.5, linestyles=":")
    ax.plot(*points.T, "*", ms=13, color="white", mec="black", zorder=10)
    ax.set_title(f"{rank} landmarks", fontsize="medium")
    ax.label_outer()

for (way, marker), values, color in zip(ways.items(), missed.T, COLORS):
    axes[3].semilogy(ranks, values, marker + "-", color=color, label=way)
axes[3].minorticks_off()
axes[3].set_yticks([0.5, 0.2, 0.1, 0.05, 0.02, 0.01], [50, 20, 10, 5, 2, 1])
axes[3].set(xlabel="landmarks", ylabel="of the kernel is missed, %")
axes[3].legend(fontsize="small")
axes[3].set_title("three ways to choose", fontsize="medium")

plt.show()
