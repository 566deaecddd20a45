r"""
Balls and planes around one class
=================================

A ball in feature space becomes a region of the plane. Above, polynomial kernels: degree 1 is a
circle around the cloud; higher degrees bend with the rows, but swell at their ends, since what is
far from the origin counts more. A Gaussian kernel has no such origin (right). Below, the distance
from the centre for three widths, as contours: nearly those of one ball while the kernel is wide,
and hills around single rows when it is narrow.

`OneClassSVM` lays a plane between the rows and the origin. With a Gaussian kernel all images lie on
a sphere, and the plane cuts off the same cap that the ball does. With a linear kernel (last panel)
one sees the plane, and that it is the line through the origin that parts the rows from their
reflection, moved: `reflect` makes these two classes for an ordinary `SVC`.

After figures 2.1 to 2.5 of K. Smets, *Studie van kernel-gebaseerde technieken voor single-class
classificatie en feature selectie*, Universiteit Antwerpen 2006.
"""

import numpy as np
from matplotlib import pyplot as plt

from mercer import SVC, SVDD, BoundaryDisplay, OneClassSVM, SupportRegionDisplay
from mercer.kernels import Polynomial
from mercer.plotting.palette import VERMILION
from mercer.spheres import reflect

rng = np.random.default_rng(2)
angle = rng.uniform(0.1, 0.6 * np.pi, 60)
X = 2.0 * np.column_stack([np.cos(angle), np.sin(angle)]) + rng.normal(scale=0.25, size=(60, 2))

figure, axes = plt.subplots(2, 4, figsize=(12.5, 6.2), layout="constrained")
balls = {f"polynomial, degree {d}": Polynomial(d, gamma=1.0, coef0=1.0) for d in (1, 2, 4)}
models = {name: SVDD(kernel=kernel, nu=0.1) for name, kernel in balls.items()}
models["Gaussian, γ = 0.5"] = SVDD(gamma=0.5, nu=0.1)
models |= {f"distance, γ = {gamma:g}": SVDD(gamma=gamma, nu=0.1) for gamma in (0.1, 1.0, 10.0)}
for ax, (name, model) in zip(axes.flat, models.items()):
    levels = 5 if name.startswith("distance") else 0
    display = SupportRegionDisplay.from_estimator(
        model.fit(X), X, ax=ax, n_levels=levels, legend=False, eps=0.6
    )
    ax.set_title(name, fontsize="medium")
    ax.label_outer()

# The plane away from the origin, and the machine of the rows and their reflection.

plane = OneClassSVM(kernel="linear", nu=0.1).fit(X)
last = axes[1, 3]
both, side = reflect(X)
mirrored = SVC(C=1 / (2 * 0.1 * len(X) * abs(plane.intercept_[0])), kernel="linear").fit(both, side)
BoundaryDisplay.from_estimator(mirrored, both, side, ax=last, legend=False)
w, rho = plane.coef_[0], -plane.intercept_[0]
last.axline((0, rho / w[1]), slope=-w[0] / w[1], color=VERMILION, ls="--")
last.set_ylabel("")
last.set_title("plane and reflection", fontsize="medium")

plt.show()
