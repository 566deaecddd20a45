r"""
What a forest finds alike
=========================

Two rows are close to a forest if many of its trees send both to the same leaf. The share of such
trees is their proximity, and 1 − proximity a squared distance, from which classical scaling makes
a map. Classes become arms; rows between them are those that the forest confuses.

Of the irises, setosa stands apart, and the two other species meet. Ringed rows are those farthest
from their own species: among the versicolor flowers number 70 has petals like a virginica.

The second map looks at out-of-bag rows only, so that no tree has learned the label of a row it
judges, and some flowers move into the arm of the other species: the first map shows what the
forest has learned, the second what it would say of flowers that are new to it.
"""

from matplotlib import pyplot as plt
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

from mercer import SimilarityMapDisplay

iris = load_iris()
species = iris.target_names[iris.target]
forest = RandomForestClassifier(500, random_state=0).fit(iris.data, species)

figure, (left, right) = plt.subplots(1, 2, figsize=(11.5, 4.6), layout="constrained")
SimilarityMapDisplay.from_estimator(forest, iris.data, species, ax=left, n_outliers=5, legend=False)
left.set_title("all trees", fontsize="medium")
SimilarityMapDisplay.from_estimator(forest, iris.data, species, ax=right, kind="oob", n_outliers=5)
right.set_title("out-of-bag rows only", fontsize="medium")

plt.show()
