r"""
Cells: one machine for each part of the space
=============================================

Beyond some ten thousand rows a single machine spends most of its time on kernel values of rows that
are far from each other. `CellSVC` cuts the rows into cells (black lines) and fits a machine in
each. The machines do not know of each other: at the left each row has the value of its own cell's
machine, and the decision function breaks where cells meet.

In the middle the machines are given the rows of their neighbours that are nearly as near, and rows
in between have the mean of the values, with weights that fall to zero where a cell ends: the
function is continuous. The boundary is near that of a single machine (right), from fits to an
eighth of the rows and some of their neighbours.
"""

import numpy as np
from matplotlib import pyplot as plt

from mercer import SVC, CellSVC

random = np.random.default_rng(0)
X = random.uniform(-2, 2, size=(4000, 2))
y = np.sin(2.5 * X[:, 0]) + 0.3 * random.normal(size=4000) > X[:, 1]

machine = SVC(C=10.0, gamma=1.0)
models = {
    "own cell only": CellSVC(machine, cell_size=500, overlap=0, random_state=1),
    "neighbours' rows, mean of values": CellSVC(
        machine, cell_size=500, overlap=0.5, random_state=1
    ),
    "one machine": machine,
}

figure, axes = plt.subplots(1, 3, figsize=(13.5, 4.4), layout="constrained", sharey=True)
grid = np.linspace(-2, 2, 400)
plane = np.column_stack([axis.ravel() for axis in np.meshgrid(grid, grid)])
levels = [-3, -2, -1, 0, 1, 2, 3]
for ax, (title, model) in zip(axes, models.items()):
    values = model.fit(X, y).decision_function(plane).reshape(400, 400)
    surface = ax.contourf(grid, grid, values, levels, cmap="cividis", extend="both")
    ax.contour(grid, grid, values, [0.0], colors="white", linewidths=2)
    if isinstance(model, CellSVC):
        own = model.partition_.nearest(plane).reshape(400, 400)
        for cell in range(model.n_cells_):
            ax.contour(grid, grid, own == cell, [0.5], colors="black", linewidths=0.7)
    ax.set(title=title, xlabel="first feature", xlim=(-2, 2), ylim=(-2, 2))
axes[0].set_ylabel("second feature")
figure.colorbar(surface, ax=axes, label="decision value").ax.set_title("f(x)", fontsize="medium")

plt.show()
