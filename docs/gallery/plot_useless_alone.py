r"""
Useless alone, useful together
==============================

Six clouds that teach what a feature is worth beside another. Two that seem to say the same (1a) are
better together than one, as their sum shows after a turn by 45° (1b). If the classes stretch along
the line between them (2a) the second adds nothing, if they stretch across it (2b) very much. In 3a
the second feature has no information of its own and still helps the first; in 3b neither has any,
and together they part the classes.

Numbers are the share of rows left out that a machine gets right with the first feature, the second,
and both. A filter that asks one feature at a time cannot know the difference. That is why selectors
ask a machine, and are worth their time where features act together.

After figures A.1 to A.3 of K. Smets, *Studie van kernel-gebaseerde technieken voor single-class
classificatie en feature selectie*, Universiteit Antwerpen 2006, and I. Guyon and A. Elisseeff, JMLR
3, 2003.
"""

from matplotlib import pyplot as plt
from sklearn.model_selection import cross_val_score

from mercer import SVC
from mercer.datasets import make_guyon
from mercer.plotting.palette import BLUE, VERMILION

words = {
    "1a": "seemingly redundant",
    "1b": "the same, turned",
    "2a": "correlated along",
    "2b": "correlated across",
    "3a": "one useless alone",
    "3b": "both useless alone",
}
figure, axes = plt.subplots(2, 3, figsize=(10.5, 6.8), layout="constrained")
for ax, (case, word) in zip(axes.flat, words.items()):
    X, y = make_guyon(case, random_state=0)
    machine = SVC(C=10.0, gamma=0.5)
    shares = [
        cross_val_score(machine, X[:, columns], y, cv=5).mean() for columns in ([0], [1], [0, 1])
    ]
    for label, marker, color in ((-1, "o", BLUE), (1, "s", VERMILION)):
        ax.plot(*X[y == label].T, marker, color=color, ms=4, alpha=0.8, label=f"class {label}")
    ax.set(xlabel="first feature", ylabel="second feature")
    ax.set_title(
        f"{case}, {word}: {shares[0]:.0%}, {shares[1]:.0%}, {shares[2]:.0%}", fontsize="small"
    )
axes[0, 0].legend(fontsize="small")

plt.show()
