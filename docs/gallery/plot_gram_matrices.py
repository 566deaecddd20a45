r"""
Looking at a kernel matrix
==========================

The matrix of all kernel values, rows sorted by class, is everything that a kernel machine sees.
Bright squares along the diagonal mean that rows of a class are alike. With too wide a Gaussian
(first picture) all rows resemble all others; with too narrow a one (third) each resembles only
itself, and nothing can be learned for other rows. ``gamma="median"``, one over the median squared
distance, is a good place to begin.

The fourth picture adds what no columns tell: who knows whom. Any matrix of similarities will do as
a kernel if it has no negative eigenvalues; it may be added to the values of another, and
`Precomputed`, or ``kernel="precomputed"``, stands for it where a machine asks for a kernel.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_score

from mercer import SVC, GramDisplay, is_mercer
from mercer.kernels import RBF, Precomputed

iris = load_iris()
X, y = iris.data[::2], iris.target[::2]
names = iris.target_names[y]
gamma = RBF("median").resolve(X).gamma

figure, axes = plt.subplots(2, 2, figsize=(10.0, 7.4), layout="constrained")
for ax, factor, word in zip(axes.flat, (0.01, 1.0, 100.0), ("wide", "median", "narrow")):
    kernel = RBF(factor * gamma)
    accuracy = cross_val_score(SVC(kernel=kernel), X, y, cv=10).mean()
    shown = GramDisplay.from_kernel(kernel, X, names, ax=ax, vmin=0, vmax=1)
    ax.set_title(f"{word}, γ = {kernel.gamma:.3g}: {100 * accuracy:.1f} % right", fontsize="medium")
    shown.colorbar_.set_label("")
    shown.colorbar_.ax.set_title("k", fontsize="medium")

# Acquaintances, most of them of the same class: shares of common ones are a kernel.

rng = np.random.default_rng(0)
knows = rng.random((75, 75)) < np.where(y[:, None] == y, 0.3, 0.05)
lengths = np.linalg.norm(knows, axis=1, keepdims=True)
common = (knows / lengths) @ (knows / lengths).T
K = 0.5 * common + 0.5 * RBF(gamma)(X)
assert is_mercer(K)
accuracy = cross_val_score(SVC(kernel=Precomputed()), K, y, cv=10).mean()
shown = GramDisplay.from_matrix(K, names, ax=axes[1, 1])
axes[1, 1].set_title(f"and acquaintances: {100 * accuracy:.1f} % right", fontsize="medium")
shown.colorbar_.set_label("")
shown.colorbar_.ax.set_title("k", fontsize="medium")

plt.show()
