r"""
Graphs instead of rows
======================

A kernel machine never sees rows, only kernel values. So it can learn from graphs, if there is a
kernel of graphs: `ShortestPath` counts pairs of vertices at the same distance in both, and
`Normalized` makes large and small graphs comparable. Small-world networks are rings in which some
edges have been moved; scale-free graphs grow, and have hubs.

Without such a kernel one must think of statistics first. The first picture shows two of them, mean
and skewness of the degrees: small-world networks make two islands, since their rings have four or
eight neighbours. They part the two kinds, if one has thought of them. The second shows the kernel
matrix, with a square for each kind, and the third the decision values of graphs that the machine
has not seen.

After section 5.2.2 and figures 5.7 to 5.11 of K. Smets, *Studie van kernel-gebaseerde technieken
voor single-class classificatie en feature selectie*, Universiteit Antwerpen 2006.
"""

import numpy as np
from matplotlib import pyplot as plt
from scipy.stats import skew

from mercer import SVC, GramDisplay, MarginDisplay
from mercer.datasets import make_graphs
from mercer.kernels import Normalized, ShortestPath
from mercer.plotting.palette import BLUE, VERMILION

graphs, y = make_graphs(50, 50, n_vertices=(40, 80), random_state=0)
names = np.where(y < 0, "scale-free", "small world")
degrees = [np.array([degree for _, degree in graph.degree()]) for graph in graphs]
statistics = np.array([[np.mean(degree), skew(degree)] for degree in degrees])

figure, axes = plt.subplots(1, 3, figsize=(12.5, 4.0), layout="constrained")
for name, marker, color in (("scale-free", "o", BLUE), ("small world", "s", VERMILION)):
    axes[0].plot(*statistics[names == name].T, marker, color=color, ms=5, label=name)
axes[0].set(xlabel="mean degree", ylabel="skewness of degrees")
axes[0].set_title("two statistics", fontsize="medium")
axes[0].legend(fontsize="small")

# The values of the kernel are all that the machine asks for.

K = Normalized(ShortestPath())([graph.to_undirected() for graph in graphs])
known, new = slice(0, 50), slice(50, 100)
shown = GramDisplay.from_matrix(K[known, known], names[known], ax=axes[1])
shown.colorbar_.set_label("")
shown.colorbar_.ax.set_title("k", fontsize="medium")
axes[1].set_title("shortest-path kernel", fontsize="medium")
model = SVC(C=100.0, kernel="precomputed").fit(K[known, known], names[known])
MarginDisplay.from_estimator(model, K[new, known], names[new], ax=axes[2], legend=False)
right = model.score(K[new, known], names[new])
axes[2].set_title(f"50 further graphs: {100 * right:.0f} % right", fontsize="medium")

plt.show()
