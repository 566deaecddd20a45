"""Make the pictures of the README: python docs/make_images.py"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot as plt
from sklearn.datasets import make_moons

from mercer import SVC, BoundaryDisplay

IMAGES = Path(__file__).parent / "images"


def boundary() -> None:
    """Two moons with some noise, and what SVC makes of them."""
    X, y = make_moons(200, noise=0.2, random_state=0)
    model = SVC(C=5.0, gamma=1.0).fit(X, y)
    display = BoundaryDisplay.from_estimator(model, X, y)
    display.ax_.set(xlabel="first feature", ylabel="second feature")
    display.figure_.savefig(IMAGES / "boundary.png", dpi=130)
    plt.close(display.figure_)


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    boundary()
