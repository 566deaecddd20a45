r"""
A simulation, and boxes of its errors
=====================================

How does one compare methods, if not on the data that suit one of them? By drawing many samples of
known distributions. Here seven columns are normal or, skewed, lognormal (first picture: the
densities), and the classes differ in where they lie or in how wide they are (second: two columns of
the latter). Every sample is learnt by four methods and judged on further rows, and a box shows the
middle half of the errors.

Where normal classes differ in place, a straight line is right, and what can do more loses a little.
Where one class lies around the other no line helps, and LDA does little better than chance; the
quadratic discriminant has the right form, the machine finds it, and one ball for each class comes
near. Skewed data are nobody's form, and the machine, which asks for none, is best.

After figures 5.1 to 5.8 of S. van der Westhuizen, *Nearest Hypersphere Classification*,
Stellenbosch University 2014. The study with all 16 configurations is in ``studies/simulation``.
"""

import numpy as np
from matplotlib import pyplot as plt
from scipy.stats import lognorm, norm
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

from mercer import SVC, NearestHypersphereClassifier
from mercer.datasets import make_simulation
from mercer.plotting.palette import BLUE, VERMILION

figure, axes = plt.subplots(2, 3, figsize=(11.5, 6.4), layout="constrained")
line = np.linspace(-3, 4, 300)
scale = 1 / np.sqrt(np.e * (np.e - 1))  # of the lognormal, for variance 1
skewed = lognorm.pdf(line, 1, loc=-1 / np.sqrt(np.e - 1), scale=scale)
axes[0, 0].plot(line, norm.pdf(line), color=BLUE, label="normal")
axes[0, 0].plot(line, skewed, "--", color=VERMILION, label="lognormal")
axes[0, 0].legend(fontsize="small")
axes[0, 0].set(xlabel="value of a column", ylabel="density")
axes[0, 0].set_title("mean 0, variance 1", fontsize="medium")

X, y = make_simulation(3, random_state=0)
for label, marker, color in ((-1, "o", BLUE), (1, "s", VERMILION)):
    axes[0, 1].plot(*X[y == label, :2].T, marker, color=color, ms=4, label=f"class {label}")
axes[0, 1].legend(fontsize="small")
axes[0, 1].set(xlabel="first column", ylabel="second column")
axes[0, 1].set_title("normal, different widths", fontsize="medium")

models = {
    "LDA": LinearDiscriminantAnalysis(),
    "QDA": QuadraticDiscriminantAnalysis(),
    "SVC": SVC(),
    "balls": NearestHypersphereClassifier(gamma=1 / 7, nu=0.1, cv=None),
}
names = {1: "normal, place", 3: "normal, width", 9: "lognormal, place", 11: "lognormal, width"}
for ax, (number, name) in zip(axes.flat[2:], names.items()):
    errors = np.empty((15, len(models)))
    for i, row in enumerate(errors):
        X_test, y_test = make_simulation(number, n_samples=(200, 200), random_state=1000 + i)
        X, y = make_simulation(number, random_state=i)
        row[:] = [1 - model.fit(X, y).score(X_test, y_test) for model in models.values()]
    ax.boxplot(100 * errors, tick_labels=models, medianprops={"color": VERMILION})
    ax.set(ylabel="error, %", ylim=(0, 55))
    ax.set_title(name, fontsize="medium")

plt.show()
