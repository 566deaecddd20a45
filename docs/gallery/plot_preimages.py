r"""
What a machine has in mind
==========================

The centre of a ball is a point of feature space, made of the images of its support vectors. No row
need have it as its image, but some row comes nearest: its preimage, which `preimage` finds. For
digits one can look at it: above the centre of the ball around fifty digits of each kind, what "a
three" is to the machine; below the digit that lies farthest outside, which is the one to look at if
one wants to clean the data.

The wider the kernel, the nearer is the preimage to the weighted mean of the rows; a narrow kernel
has no centre that looks like anything, and the nearest row is as good as any. Use preimages to see
what a class looks like to a machine, and to take noise out of a row by going back from what a
description makes of it.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits

from mercer import SVDD
from mercer.spheres import preimage

digits = load_digits()
X, y = digits.data / 16, digits.target

figure, axes = plt.subplots(2, 8, figsize=(11.5, 3.6), layout="constrained")
for digit, (upper, lower) in enumerate(axes.T):
    rows = X[y == digit][:50]
    ball = SVDD(gamma=0.05, nu=0.2).fit(rows)
    coefficients = np.ravel(ball.dual_coef_)
    centre = preimage(ball.kernel_, rows[ball.support_], coefficients / coefficients.sum())
    values = ball.decision_function(rows)
    for ax, row, title in (
        (upper, centre, f"centre of {digit}"),
        (lower, rows[values.argmin()], f"{-values.min():.2f} outside"),
    ):
        ax.imshow(row.reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
        ax.set(xticks=[], yticks=[])
        ax.set_title(title, fontsize="medium")

plt.show()
