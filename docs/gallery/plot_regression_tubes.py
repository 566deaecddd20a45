r"""
Tubes around a curve
====================

Support vector regression lays a tube of half-width :math:`\varepsilon` along the data. Rows inside
cost nothing and have no say; only those on its wall or outside (rings) carry the curve. A wide tube
needs few of them and is coarse, a narrow one needs many: :math:`\varepsilon` is best somewhat
smaller than the noise.

Relevance vector regression finds the size of the noise by itself, and its band, two standard
deviations to each side, is that of a new observation. Beware that far from the few rows it has kept
it knows of the noise only: in the gap and at the ends the band is too narrow for what the curve
really does there.

The last panel has ten thousand rows. `NystroemSVR` looks at them through 30 landmarks, `CellSVR`
fits a machine to each stretch of 1000 rows and blends them where stretches meet; both take a
fraction of the time of one machine, and their curves cannot be told apart.
"""

import numpy as np
from matplotlib import pyplot as plt

from mercer import RVR, SVR, CellSVR, NystroemSVR
from mercer.plotting.palette import BLUE, GREY, VERMILION

rng = np.random.default_rng(0)
many = rng.uniform(-3, 3, size=(10_000, 1))
target = np.sinc(many[:, 0]) + rng.normal(scale=0.15, size=10_000)
few = np.flatnonzero((many[:80, 0] < 0.3) | (many[:80, 0] > 1.5))  # with a gap
X, y = many[few], target[few]
line = np.linspace(-3, 3, 300)[:, None]

figure, axes = plt.subplots(1, 4, figsize=(14.0, 3.8), layout="constrained", sharey=True)
for ax, model in zip(axes, (SVR(epsilon=0.1), SVR(epsilon=0.4), RVR())):
    model.set_params(gamma=1.0).fit(X, y)
    if isinstance(model, SVR):
        curve, width, chosen = model.predict(line), model.epsilon, model.support_
        name = f"SVR, ε = {width}"
    else:
        curve, deviation = model.predict(line, return_std=True)
        width, chosen, name = 2 * deviation, model.relevance_, "RVR"
    ax.fill_between(line[:, 0], curve - width, curve + width, color=BLUE, alpha=0.15)
    ax.plot(line, curve, color=BLUE)
    ax.plot(X, y, ".", color=GREY)
    ax.plot(X[chosen], y[chosen], "o", mfc="none", mec=VERMILION)
    ax.set_title(f"{name}: {len(chosen)} of {len(X)} rows", fontsize="medium")

last, settings = axes[3], {"epsilon": 0.1, "gamma": 1.0}
low_rank = NystroemSVR(**settings, rank=30, random_state=0).fit(many, target)
cells = CellSVR(SVR(**settings), cell_size=1000, random_state=0).fit(many, target)
last.plot(many[::20], target[::20], ".", ms=2, color=GREY)
last.plot(line, low_rank.predict(line), color=BLUE, lw=3, label="NystroemSVR")
last.plot(line, cells.predict(line), "--", color=VERMILION, label="CellSVR")
last.set_title("10,000 rows", fontsize="medium")
last.legend(fontsize="small")
for ax in axes:
    ax.set(xlabel="x", ylim=(-1.0, 1.6))
axes[0].set_ylabel("target")

plt.show()
