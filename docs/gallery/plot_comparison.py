r"""
A table, several models, one picture each question
==================================================

`compare` takes a table, tunes models inside of folds and judges them on rows they have not seen.
Here a linear discriminant and a tree tell three kinds of wine apart (name more models, or none to
try all). What comes back answers in sentences, ``result.sentences()``, in a page of HTML,
``result.report(path)``, and in pictures that `mercer.report` draws into any axes.

Above: the error of each model with what it varies by from fold to fold, beside guessing; which
wines the best one takes for which, off the diagonal its mistakes; and which columns it would miss,
shuffled one at a time. Below: whether more rows would help (the error still falling at the right
end) or other columns are needed; whether its probabilities are to be believed; and the residuals of
a regression, where a pattern would say that the model misses something.
"""

from matplotlib import pyplot as plt
from sklearn.datasets import load_diabetes, load_wine

import mercer
from mercer.report import (
    draw_confusion,
    draw_errors,
    draw_features,
    draw_learning,
    draw_reliability,
    draw_residuals,
)

X, y = load_wine(return_X_y=True, as_frame=True)
wines = mercer.compare(X, y, models="lda,tree", folds=3, repeats=1)
print(*wines.sentences(), sep="\n")

figure, axes = plt.subplots(2, 3, figsize=(12.5, 7.2), layout="constrained")
drawings = {
    "error of each model": draw_errors,
    "what is taken for what": draw_confusion,
    "which columns matter": draw_features,
    "would more rows help?": draw_learning,
    "are probabilities right?": draw_reliability,
}
for ax, (title, draw) in zip(axes.flat, drawings.items()):
    draw(wines, ax=ax)
    ax.set_title(title, fontsize="medium", pad=22 if draw is draw_errors else None)

X, y = load_diabetes(return_X_y=True, as_frame=True)
patients = mercer.compare(X, y, models="ridge", folds=2, repeats=1)
draw_residuals(patients, ax=axes[1, 2])
axes[1, 2].set_title("diabetes: what is left over", fontsize="medium")
for ax in figure.axes[6:]:
    ax.set_title("how often given", fontsize="medium")

plt.show()
