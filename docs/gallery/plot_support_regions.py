r"""
Support regions of smallest enclosing balls
===========================================

The smallest ball around all rows in feature space covers a region of the plane, the support region.
With a wide Gaussian kernel, :math:`\gamma = 0.1`, a handful of rows on its surface (rings) carry
it, and it follows the shape of the data only roughly. With :math:`\gamma = 2` it clings to the
rows, and a third to a half of them are support vectors; around single rows the region is too small
to be seen.

The last column shows what that means: every support vector of the round cloud is a spike in the
index plot of its multipliers, and the share of support vectors grows with :math:`\gamma` until the
description only remembers its rows.

After figures 4.3 to 4.7 of S. van der Westhuizen, *Nearest Hypersphere Classification: A Comparison
with Other Classification Techniques*, Stellenbosch University 2014.
"""

import numpy as np
from matplotlib import pyplot as plt

from mercer import SVDD, MultipliersDisplay, SupportFractionDisplay, SupportRegionDisplay

rng = np.random.default_rng(0)
clouds = {
    "round": rng.normal(size=(100, 2)),
    "correlated": rng.multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]], size=100),
    "lognormal": rng.lognormal(size=(100, 2)),
}

figure, axes = plt.subplots(2, 4, figsize=(11.5, 5.5), layout="constrained")
for row, gamma in zip(axes, (0.1, 2.0)):
    for ax, (name, X) in zip(row, clouds.items()):
        ball = SVDD(gamma=gamma, nu=0).fit(X)
        SupportRegionDisplay.from_estimator(ball, X, ax=ax, n_levels=0, legend=False)
        title = f"{name}, γ = {gamma:g}: {ball.support_.size} support vectors"
        ax.set_title(title, fontsize="small")
        ax.set(xlabel="", ylabel="")

# The multipliers of the round cloud, and the share of support vectors against the width.

narrow = SVDD(gamma=2.0, nu=0).fit(clouds["round"])
MultipliersDisplay.from_estimator(narrow, ax=axes[0, 3], legend=False)
axes[0, 3].set_title("round, γ = 2: multipliers", fontsize="small")
widths = np.logspace(-2, 2, 17)
SupportFractionDisplay.from_estimator(
    SVDD(nu=0), clouds["round"], gammas=widths, ax=axes[1, 3], legend=False
)
axes[1, 3].set_title("round, against the width", fontsize="small")

plt.show()
