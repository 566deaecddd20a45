"""Loaders of the data sets that have no splits of their own or only one.

They share four options, which mean what they mean in scikit-learn: `return_X_y` returns only
``(data, target)``, `as_frame` returns pandas objects, `data_home` is the folder for downloads (see
`get_data_home`), and with ``download_if_missing=False`` nothing is downloaded. A set is read from
the folder that the environment variable ``MERCER_DATA`` names, where it holds the set.
"""

from __future__ import annotations

import os
from typing import Any, TypedDict, Unpack

import numpy as np

from ._bunch import make_bunch, part_rows, stack
from ._store import fetch

LETTER_FEATURES = (
    "x-box y-box width high onpix x-bar y-bar x2bar y2bar xybar x2ybr xy2br x-ege xegvy y-ege yegvx"
).split()


class LoaderOptions(TypedDict, total=False):
    """What all loaders take."""

    return_X_y: bool
    as_frame: bool
    data_home: str | os.PathLike[str] | None
    download_if_missing: bool


def load_golub(*, subset: str = "all", **options: Unpack[LoaderOptions]) -> Any:
    """Load Golub's leukaemia data: 72 patients, 7129 genes, ALL (-1) or AML (+1).

    Parameters
    ----------
    subset : {"all", "train", "test"}, default="all"
        All patients, the 38 to learn from, or the 34 to test on.
    **options
        `return_X_y`, `as_frame`, `data_home`, `download_if_missing`, as in `load_ida`.

    Returns
    -------
    Bunch or tuple
        `feature_names` are accession numbers, `sample` the numbers of the patients; with all
        patients `train` and `test` are row numbers.

    References
    ----------
    .. [1] T. R. Golub et al., Molecular classification of cancer, Science 286, 1999.

    Examples
    --------
    >>> from mercer.datasets import load_golub
    >>> load_golub(subset="train").data.shape  # doctest: +SKIP
    (38, 7129)
    """
    arrays, shown = _arrays("golub", options)
    return make_bunch(
        "golub",
        stack(arrays, "X", "train", "test"),
        stack(arrays, "y", "train", "test"),
        feature_names=list(arrays["genes"]),
        target_names=["ALL", "AML"],
        parts=part_rows(len(arrays["y_train"]), 72),
        subset=subset,
        sample=stack(arrays, "sample", "train", "test"),
        **shown,
    )


def load_colon(**options: Unpack[LoaderOptions]) -> Any:
    """Load Alon's colon cancer data: 62 tissues, 2000 clones, normal (-1) or tumour (+1).

    Parameters
    ----------
    **options
        `return_X_y`, `as_frame`, `data_home`, `download_if_missing`, as in `load_ida`.

    Returns
    -------
    Bunch or tuple
        `tissue` is the original code: negative for a tumour, the absolute value is the patient.

    References
    ----------
    .. [1] U. Alon et al., Broad patterns of gene expression revealed by clustering analysis of
       tumor and normal colon tissues, PNAS 96, 1999.

    Examples
    --------
    >>> from mercer.datasets import load_colon
    >>> load_colon().data.shape  # doctest: +SKIP
    (62, 2000)
    """
    arrays, shown = _arrays("colon", options)
    return make_bunch(
        "colon",
        arrays["X"],
        arrays["y"],
        feature_names=list(arrays["genes"]),
        target_names=["normal", "tumour"],
        tissue=arrays["tissue"],
        **shown,
    )


def load_madelon(*, subset: str = "all", **options: Unpack[LoaderOptions]) -> Any:
    """Load MADELON: 500 features, of which 20 matter; labels -1 and +1.

    Parameters
    ----------
    subset : {"all", "train", "test"}, default="all"
        All 2600 rows, the 2000 to learn from, or the 600 of the challenge's validation part (the
        labels of its test part are not public).
    **options
        `return_X_y`, `as_frame`, `data_home`, `download_if_missing`, as in `load_ida`.

    Returns
    -------
    Bunch or tuple
        As of `load_ida`.

    References
    ----------
    .. [1] I. Guyon, S. Gunn, A. Ben-Hur, G. Dror, Result analysis of the NIPS 2003 feature
       selection challenge, NIPS 17, 2004.

    Examples
    --------
    >>> from mercer.datasets import load_madelon
    >>> load_madelon(subset="test").data.shape  # doctest: +SKIP
    (600, 500)
    """
    arrays, shown = _arrays("madelon", options)
    return _in_parts("madelon", arrays, subset, shown, last="valid")


def load_hemophilia(**options: Unpack[LoaderOptions]) -> Any:
    """Load the carriers of haemophilia A: 30 normal women (0) and 45 carriers (1), two features.

    Parameters
    ----------
    **options
        `return_X_y`, `as_frame`, `data_home`, `download_if_missing`, as in `load_ida`.

    Returns
    -------
    Bunch or tuple
        As of `load_ida`.

    References
    ----------
    .. [1] J. D. F. Habbema, J. Hermans, K. van den Broek, A stepwise discriminant analysis program
       using density estimation, Compstat 1974.

    Examples
    --------
    >>> from mercer.datasets import load_hemophilia
    >>> load_hemophilia().feature_names  # doctest: +SKIP
    ['AHFactivity', 'AHFantigen']
    """
    columns, shown = _arrays("hemophilia", options)
    group = columns.pop("gr")
    return _from_columns(
        "hemophilia", columns, group == "carrier", shown, target_names=["normal", "carrier"]
    )


def load_saheart(**options: Unpack[LoaderOptions]) -> Any:
    """Load the South African heart disease data: 462 men, nine risk factors.

    Parameters
    ----------
    **options
        `return_X_y`, `as_frame`, `data_home`, `download_if_missing`, as in `load_ida`.

    Returns
    -------
    Bunch or tuple
        `target` is 1 where there is disease; the feature `famhist` is 1 where the family has a
        history of it.

    References
    ----------
    .. [1] J. E. Rousseauw et al., Coronary risk factor screening in three rural communities, South
       African Medical Journal 64, 1983.

    Examples
    --------
    >>> from mercer.datasets import load_saheart
    >>> load_saheart().feature_names[:5]  # doctest: +SKIP
    ['sbp', 'tobacco', 'ldl', 'adiposity', 'famhist']
    """
    columns, shown = _arrays("saheart", options)
    columns["famhist"] = (columns["famhist"] == "Present").astype(float)
    disease = columns.pop("chd")
    return _from_columns("saheart", columns, disease, shown, target_names=["healthy", "diseased"])


def load_winequality(**options: Unpack[LoaderOptions]) -> Any:
    """Load the red wines: 1599 wines, eleven measurements, quality from 3 to 8.

    Parameters
    ----------
    **options
        `return_X_y`, `as_frame`, `data_home`, `download_if_missing`, as in `load_ida`.

    Returns
    -------
    Bunch or tuple
        As of `load_ida`.

    References
    ----------
    .. [1] P. Cortez et al., Modeling wine preferences by data mining from physicochemical
       properties, Decision Support Systems 47, 2009.

    Examples
    --------
    >>> from mercer.datasets import load_winequality
    >>> wine = load_winequality()  # doctest: +SKIP
    >>> good = wine.target > 5  # doctest: +SKIP
    >>> int(good.sum()), len(good)  # doctest: +SKIP
    (855, 1599)
    """
    columns, shown = _arrays("winequality", options)
    quality = columns.pop("quality")
    return _from_columns("winequality", columns, quality, shown)


def load_usps(*, subset: str = "all", **options: Unpack[LoaderOptions]) -> Any:
    """Load the handwritten digits of the US postal service, 16 x 16 grey values in [-1, 1].

    Parameters
    ----------
    subset : {"all", "train", "test"}, default="all"
        All digits, the 7291 to learn from, or the 2007 to test on.
    **options
        `return_X_y`, `as_frame`, `data_home`, `download_if_missing`, as in `load_ida`.

    Returns
    -------
    Bunch or tuple
        As of `load_ida`.

    References
    ----------
    .. [1] Y. LeCun et al., Handwritten digit recognition with a back-propagation network, NIPS 2,
       1990.

    Examples
    --------
    >>> from mercer.datasets import load_usps
    >>> load_usps(subset="test").data.shape  # doctest: +SKIP
    (2007, 256)
    """
    arrays, shown = _arrays("usps", options)
    pixels = [f"pixel_{row}_{column}" for row in range(16) for column in range(16)]
    return _in_parts("usps", arrays, subset, shown, feature_names=pixels)


def load_letter(*, subset: str = "all", **options: Unpack[LoaderOptions]) -> Any:
    """Load the letters: 20000 capital letters, 16 features; 0 is A, 25 is Z.

    Parameters
    ----------
    subset : {"all", "train", "test"}, default="all"
        All letters, the first 16000 or the last 4000, the customary parts.
    **options
        `return_X_y`, `as_frame`, `data_home`, `download_if_missing`, as in `load_ida`.

    Returns
    -------
    Bunch or tuple
        As of `load_ida`.

    References
    ----------
    .. [1] P. W. Frey, D. J. Slate, Letter recognition using Holland-style adaptive classifiers,
       Machine Learning 6, 1991.

    Examples
    --------
    >>> from mercer.datasets import load_letter
    >>> load_letter(subset="train").data.shape  # doctest: +SKIP
    (16000, 16)
    """
    arrays, shown = _arrays("letter", options)
    return make_bunch(
        "letter",
        arrays["X"],
        arrays["y"],
        feature_names=LETTER_FEATURES,
        target_names=[chr(ord("A") + code) for code in range(26)],
        parts=part_rows(16000, 20000),
        subset=subset,
        **shown,
    )


def load_a9a(*, subset: str = "all", **options: Unpack[LoaderOptions]) -> Any:
    """Load a9a: the Adult census in 123 binary features, labels -1 and +1.

    Parameters
    ----------
    subset : {"all", "train", "test"}, default="all"
        All rows, the 32561 to learn from, or the 16281 to test on.
    **options
        `return_X_y`, `as_frame`, `data_home`, `download_if_missing`, as in `load_ida`.

    Returns
    -------
    Bunch or tuple
        As of `load_ida`.

    References
    ----------
    .. [1] J. Platt, Fast training of support vector machines using sequential minimal
       optimization, 1998.

    Examples
    --------
    >>> from mercer.datasets import load_a9a
    >>> load_a9a(subset="train").data.shape  # doctest: +SKIP
    (32561, 123)
    """
    arrays, shown = _arrays("a9a", options)
    return _in_parts("a9a", arrays, subset, shown)


def load_ijcnn1(*, subset: str = "all", **options: Unpack[LoaderOptions]) -> Any:
    """Load ijcnn1: 22 features of a time series, labels -1 and +1.

    Parameters
    ----------
    subset : {"all", "train", "test"}, default="all"
        All rows, the 49990 to learn from, or the 91701 to test on.
    **options
        `return_X_y`, `as_frame`, `data_home`, `download_if_missing`, as in `load_ida`.

    Returns
    -------
    Bunch or tuple
        As of `load_ida`.

    References
    ----------
    .. [1] C.-C. Chang, C.-J. Lin, IJCNN 2001 challenge: generalization ability and text decoding,
       IJCNN 2001.

    Examples
    --------
    >>> from mercer.datasets import load_ijcnn1
    >>> load_ijcnn1(subset="train").data.shape  # doctest: +SKIP
    (49990, 22)
    """
    arrays, shown = _arrays("ijcnn1", options)
    return _in_parts("ijcnn1", arrays, subset, shown)


def load_cardio(**options: Unpack[LoaderOptions]) -> Any:
    """Load the cardiotocograms: 1831 rows, 21 features, 176 outliers (1).

    Parameters
    ----------
    **options
        `return_X_y`, `as_frame`, `data_home`, `download_if_missing`, as in `load_ida`.

    Returns
    -------
    Bunch or tuple
        As of `load_ida`.

    References
    ----------
    .. [1] S. Han et al., ADBench: anomaly detection benchmark, NeurIPS 2022.

    Examples
    --------
    >>> from mercer.datasets import load_cardio
    >>> int(load_cardio().target.sum())  # doctest: +SKIP
    176
    """
    arrays, shown = _arrays("cardio", options)
    names = ["inlier", "outlier"]
    return make_bunch("cardio", arrays["X"], arrays["y"], target_names=names, **shown)


def load_shuttle(**options: Unpack[LoaderOptions]) -> Any:
    """Load the shuttle: 49097 rows, nine features, 3511 outliers (1).

    Parameters
    ----------
    **options
        `return_X_y`, `as_frame`, `data_home`, `download_if_missing`, as in `load_ida`.

    Returns
    -------
    Bunch or tuple
        As of `load_ida`.

    References
    ----------
    .. [1] S. Han et al., ADBench: anomaly detection benchmark, NeurIPS 2022.

    Examples
    --------
    >>> from mercer.datasets import load_shuttle
    >>> int(load_shuttle().target.sum())  # doctest: +SKIP
    3511
    """
    arrays, shown = _arrays("shuttle", options)
    names = ["inlier", "outlier"]
    return make_bunch("shuttle", arrays["X"], arrays["y"], target_names=names, **shown)


def _arrays(name: str, options: LoaderOptions) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the arrays, and the options that say how to show them."""
    unknown = set(options) - set(LoaderOptions.__annotations__)
    if unknown:
        raise TypeError(f"load_{name} knows no option {min(unknown)!r}.")
    arrays = fetch(name, options.get("data_home"), options.get("download_if_missing", True))
    shown = {key: options.get(key, False) for key in ("return_X_y", "as_frame")}
    return arrays, shown


def _in_parts(
    name: str, arrays: dict[str, Any], subset: str, shown: Any, last: str = "test", **names: Any
) -> Any:
    y = stack(arrays, "y", "train", last)
    parts = part_rows(len(arrays["y_train"]), len(y))
    X = stack(arrays, "X", "train", last)
    return make_bunch(name, X, y, parts=parts, subset=subset, **names, **shown)


def _from_columns(
    name: str, columns: dict[str, Any], target: Any, shown: dict[str, Any], **names: Any
) -> Any:
    X = np.column_stack(list(columns.values()))
    return make_bunch(name, X, target, feature_names=list(columns), **names, **shown)
