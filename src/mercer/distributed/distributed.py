"""Machines for rows that lie on many computers."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer._inputs import need_two_classes
from mercer._progress import say
from mercer._sklearn import HasMethods
from mercer.cells import CellSVC
from mercer.distributed._cluster import cluster_at, need_dask
from mercer.distributed._collections import Blocks, is_collection
from mercer.distributed._rows import Facts, learn_facts
from mercer.distributed._values import lazy_values
from mercer.distributed._ways import way_of


def _has(method: str) -> Any:
    return available_if(lambda model: hasattr(model._machine(), method))


class Distributed(MetaEstimatorMixin, BaseEstimator):
    r"""A machine that learns from arrays or data frames of dask, on the workers of its cluster.

    The rows are never collected in one place. What comes back is an ordinary model, which predicts
    arrays anywhere; rows of dask it predicts on the workers, block by block, when the values are
    asked for.

    **Cells** (`CellSVC`, `CellSVR`, `CellOneClassSVM`): each block is cut by cell, the rows of a
    cell meet on one worker, which fits its machine. With the same ``random_state`` the cells are
    those of a fit on one computer, and the machines solve the same programs. Blocks are read three
    times.

    **Low rank** (`NystroemSVC`, `NystroemSVR`): landmarks come from rows drawn at random, and in
    each pass every block answers with its sums, which are added up in an order that is always the
    same. With the same ``random_state`` the landmarks are those of a fit on one computer, and the
    machine is that of all rows, to the same gap. Blocks are read about ten times.

    **One exact machine** (`SVC`, `SVR`, `OneClassSVM`): a cascade. Machines of parts of the rows
    leave their support vectors, which are merged until one worker has them all; its machine is
    shown all rows, and those that break its optimality conditions join, until the gap

    .. math:: \max_{i:\, \beta_i < u_i} -(G_i + b) + \max_{i:\, \beta_i > l_i} (G_i + b)

    over all rows is within ``tol``: the optimum is that of one computer, whatever the blocks. One
    worker must be able to hold the support vectors, and a few rows more, several times.
    Blocks are read four to eight times.

    ``X.persist()`` first keeps the blocks on the workers, if they have the memory. A worker that is
    lost is replaced by the others, which do its work again.

    Parameters
    ----------
    estimator : estimator or None, default=None
        What to fit: CellSVC, CellSVR, CellOneClassSVM, NystroemSVC, NystroemSVR, SVC, SVR or
        OneClassSVM; None is ``CellSVC()``.
    address : str or None, default=None
        Of a scheduler, such as ``"tcp://10.0.0.1:8786"``. None is the dask client in use.
    verbose : int, default=0
        Whether to print how far the work has come.

    Attributes
    ----------
    model_ : estimator
        The fitted machine, to be kept and used without dask. Of an exact one ``support_`` and
        ``gap_`` are those of all rows; ``slack_`` is not there.
    classes_ : ndarray of shape (n_classes,)
        Labels, of a classifier.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, of data frames.

    See Also
    --------
    mercer.CellSVC : Cells.
    mercer.NystroemSVC : Low rank.

    Notes
    -----
    What loops over folds, resamples or cells here by joblib does so on a cluster inside
    ``joblib.parallel_config("dask")``: scikit-learn's searches and cross-validation of any machine
    or search, its ``OneVsOneClassifier``, `mercer.feature_selection.ranking_curve` and studies.

    References
    ----------
    H. P. Graf, E. Cosatto, L. Bottou, I. Durdanovic, V. Vapnik, "Parallel support vector machines:
    the cascade SVM", Neural Information Processing Systems (2004).

    P. Thomann, I. Blaschzyk, M. Meister, I. Steinwart, "Spatial decompositions for large scale
    SVMs", AISTATS (2017).

    M. Rocklin, "Dask: parallel computation with blocked algorithms and task scheduling", SciPy
    (2015).

    Examples
    --------
    >>> import dask.array as da
    >>> from dask.distributed import Client
    >>> from sklearn.datasets import make_moons
    >>> from mercer import SVC, CellSVC
    >>> from mercer.distributed import Distributed
    >>> X, y = make_moons(2000, noise=0.2, random_state=0)
    >>> rows, labels = da.from_array(X, chunks=(500, 2)), da.from_array(y, chunks=500)
    >>> machine = CellSVC(SVC(C=10.0), cell_size=500, random_state=0)
    >>> with Client(processes=False, n_workers=1, dashboard_address=":0"):
    ...     model = Distributed(machine).fit(rows, labels)
    ...     right = (model.predict(rows) == labels).mean().compute()
    >>> bool(right > 0.95)
    True
    >>> model.predict(X[:2])  # by model.model_, without dask
    array([0, 1])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit"]), None],
        "address": [str, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self, estimator: Any = None, *, address: str | None = None, verbose: int = 0
    ) -> None:
        self.estimator = estimator
        self.address = address
        self.verbose = verbose

    def _machine(self) -> Any:
        return CellSVC() if self.estimator is None else self.estimator

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the machine on the workers.

        Parameters
        ----------
        X : dask array or data frame of shape (n_samples, n_features)
            Blocks may be of any size, also unknown, and sparse (of scipy or of sparse).
        y : dask array or series of shape (n_samples,), default=None
            Labels or targets; none for one class.
        sample_weight : dask array or series of shape (n_samples,), default=None
            As of the machine.

        Returns
        -------
        Distributed
        """
        need_dask()
        self._validate_params()
        machine = clone(self._machine())
        way, kind = way_of(machine), get_tags(machine).estimator_type
        machine._validate_params()
        blocks = Blocks.of(X, self._targets(y, kind), sample_weight)
        with cluster_at(self.address) as cluster:
            facts = learn_facts(blocks, cluster, kind)
            if facts.classes is not None:
                need_two_classes(facts.classes.size)
            way(machine, blocks, facts, cluster, lambda line: say(self, line))
        self._keep(machine, blocks, facts)
        return self

    def _targets(self, y: Any, kind: str | None) -> Any:
        """Return what is to be learned; of one class nothing is."""
        if kind == "outlier_detector":
            return None
        if y is None:
            raise ValueError(f"{type(self._machine()).__name__} needs y, one value for each row.")
        return y

    def _keep(self, machine: Any, blocks: Blocks, facts: Facts) -> None:
        """Set the fitted attributes, all at once and only after everything has worked."""
        if facts.classes is not None:
            machine.classes_ = facts.classes
        for fitted in (machine, self):
            fitted.__dict__.pop("feature_names_in_", None)
            fitted.n_features_in_ = blocks.n_features
            if blocks.names is not None:
                fitted.feature_names_in_ = blocks.names
        self.model_ = machine

    @property
    def classes_(self) -> Any:
        """Labels, of a classifier."""
        check_is_fitted(self)
        return self.model_.classes_

    def _values(self, method: str, X: Any) -> Any:
        check_is_fitted(self)
        if is_collection(X):
            return lazy_values(self.model_, method, X)
        return getattr(self.model_, method)(X)

    @_has("predict")
    def predict(self, X: Any) -> Any:
        """Return the predicted labels or targets.

        Parameters
        ----------
        X : dask array or data frame, or array-like, of shape (n_samples, n_features)

        Returns
        -------
        dask array, dask series or ndarray of shape (n_samples,)
            Of rows of dask not computed yet; of data frames with their index.
        """
        return self._values("predict", X)

    @_has("decision_function")
    def decision_function(self, X: Any) -> Any:
        """Return the decision values.

        Parameters
        ----------
        X : dask array or data frame, or array-like, of shape (n_samples, n_features)

        Returns
        -------
        dask array, series or data frame, or ndarray
            As of the machine.
        """
        return self._values("decision_function", X)

    @_has("score_samples")
    def score_samples(self, X: Any) -> Any:
        """Return how normal rows are, by a machine of one class.

        Parameters
        ----------
        X : dask array or data frame, or array-like, of shape (n_samples, n_features)

        Returns
        -------
        dask array, dask series or ndarray of shape (n_samples,)
        """
        return self._values("score_samples", X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        own = get_tags(self._machine())
        tags.estimator_type = own.estimator_type
        tags.classifier_tags, tags.regressor_tags = own.classifier_tags, own.regressor_tags
        tags.target_tags = own.target_tags
        tags.input_tags.sparse = own.input_tags.sparse
        return tags
