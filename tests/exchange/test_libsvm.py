"""LIBSVM reads our files as we meant them, and we read its files as it meant them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from absolute_terms import ROUNDING, absolute_terms, unscaled
from sklearn.datasets import dump_svmlight_file, load_diabetes, load_iris, load_svmlight_file
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits
from zoo import blobs

import mercer
from mercer import SVC, SVR, OneClassSVM, PlattClassifier
from mercer.datasets import load_a9a, load_hemophilia
from mercer.kernels import RBF, Laplacian, Linear, Polynomial, Weighted

pytestmark = pytest.mark.filterwarnings("ignore:The kernel is not positive semi-definite")

KERNELS: dict[str, dict[str, Any]] = {
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "gamma": 0.3, "coef0": 1.0},
    "rbf": {"kernel": "rbf"},
    "sigmoid": {"kernel": "sigmoid", "gamma": 0.002, "coef0": 0.1},
}
DECIMALS = 1e-9


def tool(name: str) -> str:
    """Return a program of LIBSVM, or skip where it is not installed."""
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed (Debian: libsvm-tools)")
    return path


def run(*command: Any) -> None:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def tool_predicts(path: Path, X: Any, *options: str) -> np.ndarray:
    """Return what svm-predict writes, one row a line."""
    program, data, answer = tool("svm-predict"), path.with_suffix(".x"), path.with_suffix(".out")
    dump_svmlight_file(X, np.zeros(X.shape[0]), str(data), zero_based=False)
    run(program, *options, data, path, answer)
    return np.array([line.split() for line in answer.read_text().splitlines() if "l" not in line])


def library_values(path: Path, X: Any) -> np.ndarray:
    """Return the decision values of LIBSVM's own library, one column a machine."""
    utilities = pytest.importorskip("libsvm.svmutil")
    model = utilities.svm_load_model(os.fspath(path))
    with threadpool_limits(1):  # its threads wait busily for each other
        _, _, values = utilities.svm_predict([], sp.csr_matrix(X), model, "-q")
    return np.array(values)


def machine_values(model: Any, X: Any) -> np.ndarray:
    """Return our values in the shape of LIBSVM: of each pair, or of the only machine."""
    if isinstance(model, SVR):
        return model.predict(X)[:, None]
    shape = getattr(model, "decision_function_shape", None)
    if shape is not None:
        model.set_params(decision_function_shape="ovo")
    values = model.decision_function(X)
    if shape is not None:
        model.set_params(decision_function_shape=shape)
    return values.reshape(len(values), -1)


def agrees(model: Any, path: Path, X: Any) -> None:
    """Check labels and values of the file against the model, rows on a boundary left out."""
    mercer.to_libsvm(model, path)
    ours = machine_values(model, X)
    np.testing.assert_allclose(library_values(path, X), ours, rtol=0, atol=DECIMALS)
    told = tool_predicts(path, X)[:, 0].astype(float)
    if isinstance(model, SVR):
        np.testing.assert_allclose(told, ours[:, 0], rtol=0, atol=DECIMALS)
    else:
        clear = (np.abs(ours) > DECIMALS).all(axis=1)
        assert clear.mean() > 0.8
        np.testing.assert_array_equal(told[clear], model.predict(X)[clear])


def read_again(path: Path, model: Any, X: Any) -> Any:
    copy = mercer.from_libsvm(path, n_features=X.shape[1])
    scale = max(1.0, np.abs(machine_values(model, X)).max())
    np.testing.assert_allclose(
        machine_values(copy, X), machine_values(model, X), rtol=0, atol=1e-12 * scale
    )
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))
    return copy


@pytest.mark.parametrize("params", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_iris(params: dict[str, Any], n_classes: int, tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    rows = y > 2 - n_classes
    model = SVC(C=10.0, **params).fit(X[rows], 7 - 2 * y[rows])  # labels fall with the rows
    agrees(model, tmp_path / "iris.model", X)
    read_again(tmp_path / "iris.model", model, X)


@pytest.mark.parametrize("params", KERNELS.values(), ids=KERNELS)
def test_regression(params: dict[str, Any], tmp_path: Path) -> None:
    X, y = load_diabetes(return_X_y=True)
    X = 10 * X
    model = SVR(C=10.0, epsilon=5.0, **params).fit(X[:300], y[:300])
    agrees(model, tmp_path / "diabetes.model", X[300:])
    read_again(tmp_path / "diabetes.model", model, X)


@pytest.mark.parametrize("params", KERNELS.values(), ids=KERNELS)
def test_one_class(params: dict[str, Any], tmp_path: Path) -> None:
    X, _ = load_iris(return_X_y=True)
    model = OneClassSVM(nu=0.2, **params).fit(X[:100])
    agrees(model, tmp_path / "one.model", X)
    read_again(tmp_path / "one.model", model, X)


def test_rounding_on_data_far_from_zero(tmp_path: Path) -> None:
    """Our linear machines add up features and LIBSVM adds up vectors, whose terms cancel."""
    for name, (model, X) in unscaled().items():
        path, ours, terms = tmp_path / name, machine_values(model, X), absolute_terms(model, X)
        mercer.to_libsvm(model, path)
        assert (np.abs(library_values(path, X) - ours) <= ROUNDING * terms).all(), name
        copy = mercer.from_libsvm(path, n_features=X.shape[1])
        assert (np.abs(machine_values(copy, X) - ours) <= ROUNDING * terms).all(), name


@pytest.mark.usefixtures("data_folder")
def test_haemophilia(tmp_path: Path) -> None:
    X, y = load_hemophilia(return_X_y=True)
    codes = np.unique(y, return_inverse=True)[1]
    for params in KERNELS.values():
        model = SVC(C=10.0, **params).fit(X, codes)
        agrees(model, tmp_path / "haemophilia.model", X)
        read_again(tmp_path / "haemophilia.model", model, X)


@pytest.mark.usefixtures("data_folder")
def test_a9a(tmp_path: Path) -> None:
    X, y = load_a9a(subset="train", return_X_y=True)
    model = SVC(gamma=0.05).fit(X[:2000], y[:2000])
    agrees(model, tmp_path / "a9a.model", X[2000:4000])
    copy = read_again(tmp_path / "a9a.model", model, X[2000:4000])
    assert sp.issparse(copy.support_vectors_)


@pytest.mark.parametrize("labels", [[3, 8], [-1, 4, 0], [2, 5, 1, 3]])
def test_order_of_labels(labels: list[int], tmp_path: Path) -> None:
    """Whatever order the classes have in a file, the machine is the same one."""
    rng = np.random.default_rng(0)
    y = np.array(labels)[rng.integers(len(labels), size=120)]
    X = rng.normal(size=(120, 3)) + y[:, None] * [0.5, -0.3, 0.0]
    data, path = tmp_path / "data", tmp_path / "tool.model"
    dump_svmlight_file(X, y, str(data), zero_based=False)
    run(tool("svm-train"), "-q", "-c", 5, "-g", 0.3, "-b", 1, data, path)
    model = mercer.from_libsvm(path)
    assert model.classes_.tolist() == sorted(labels)
    np.testing.assert_array_equal(model.predict(X), tool_predicts(path, X)[:, 0].astype(int))
    mercer.to_libsvm(model, tmp_path / "again.model")
    read_again(tmp_path / "again.model", model, X)
    likely = tool_predicts(path, X, "-b", "1")[:, 1:].astype(float)
    order = np.argsort([int(word) for word in header_line(path, "label")])
    limit = 1e-5 if len(labels) == 2 else 0.005
    assert np.abs(likely[:, order] - model.predict_proba(X)).max() < limit


def header_line(path: Path, name: str) -> list[str]:
    lines = [line.split() for line in path.read_text().splitlines()]
    return next(line[1:] for line in lines if line and line[0] == name)


@pytest.mark.parametrize("machine", ["0", "1", "2", "3", "4"])
@pytest.mark.parametrize("kernel", ["0", "1", "2", "3"])
def test_files_of_the_tool(machine: str, kernel: str, tmp_path: Path) -> None:
    X, y = blobs(3, 80, 4, 0.4)
    data, path = tmp_path / "data", tmp_path / "tool.model"
    dump_svmlight_file(X, y, str(data), zero_based=False)
    X, _ = load_svmlight_file(str(data), n_features=4, zero_based=False)
    options = ("-q", "-s", machine, "-t", kernel, "-n", 0.3, "-g", 0.1, "-r", 0.5)
    run(tool("svm-train"), *options, data, path)
    model = mercer.from_libsvm(path, n_features=4)
    assert type(model) is {"2": OneClassSVM, "3": SVR, "4": SVR}.get(machine, SVC)
    theirs = library_values(path, X)
    if isinstance(model, SVC) and header_line(path, "label")[0] != "1":
        theirs = -theirs
    np.testing.assert_allclose(machine_values(model, X.toarray()), theirs, rtol=1e-9, atol=1e-9)


def test_precomputed(tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    K = np.tanh(X @ X.T / 50) + X @ X.T
    weights = np.where(np.arange(150) % 3, 1.0, 0.0)  # rows without weight have columns too
    path = tmp_path / "matrix.model"
    for model in (
        SVC(kernel="precomputed").fit(K, y, weights),
        SVR(kernel="precomputed").fit(K, y),
    ):
        mercer.to_libsvm(model, path)
        read_again(path, model, K)
        utilities = pytest.importorskip("libsvm.svmutil")
        loaded = utilities.svm_load_model(os.fspath(path))
        rows = [{0: i + 1, **{j + 1: k for j, k in enumerate(row)}} for i, row in enumerate(K)]
        with threadpool_limits(1):
            labels, _, values = utilities.svm_predict([], rows, loaded, "-q")
        np.testing.assert_allclose(values, machine_values(model, K), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(labels, model.predict(K), rtol=1e-9)


def test_precomputed_rows_are_counted_from_one(tmp_path: Path) -> None:
    K = np.array([[0.0, 0.0], [0.0, 25.0]])
    model, path = SVC(kernel="precomputed").fit(K, [-1, 1]), tmp_path / "model"
    mercer.to_libsvm(model, path)
    assert path.read_text().splitlines()[-2:] == ["0.08 0:2", "-0.08 0:1"]
    read_again(path, model, K)
    for false in ("0:0", "0:1.5", "1:1", "0:2", ""):
        path.write_text(path.read_text().replace("-0.08 0:1", f"-0.08 {false}"))
        with pytest.raises(ValueError, match=r"0:row|named twice"):
            mercer.from_libsvm(path)
        mercer.to_libsvm(model, path)


def test_the_best_of_a_search(tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    search = mercer.PathSearchCV(SVC(), {"C": [1.0, 10.0]}).fit(X, y)
    mercer.to_libsvm(search, tmp_path / "model")
    read_again(tmp_path / "model", search.best_estimator_, X)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities(n_classes: int, tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    rows, path = y > 2 - n_classes, tmp_path / "likely.model"
    X, y = X[rows], y[rows]
    for model in (SVC(probability=True).fit(X, y), PlattClassifier(SVC()).fit(X, y)):
        mercer.to_libsvm(model, path)
        told = tool_predicts(path, X, "-b", "1").astype(float)
        ours = model.predict_proba(X)
        order = np.argsort([int(word) for word in header_line(path, "label")])
        limit = 1e-5 if n_classes == 2 else 0.005  # six digits; and an iteration that ends early
        assert np.abs(told[:, 1:][:, order] - ours).max() < limit
        clear = np.abs(np.diff(np.sort(ours, axis=1)[:, -2:], axis=1)[:, 0]) > 0.01
        np.testing.assert_array_equal(told[clear, 0], model.classes_[ours.argmax(axis=1)][clear])
        copy = mercer.from_libsvm(path)
        np.testing.assert_allclose(copy.predict_proba(X), ours, rtol=1e-12)


@pytest.mark.parametrize(
    "kernel",
    [
        7.5 * RBF(0.3),
        3.0 * Linear(),
        Linear() ** 2,
        Weighted(Linear(), [1.0, 0.0, 2.0]),
        Weighted(Polynomial(2, 0.5, 1.0), [1.0, 3.0, 0.5]),
    ],
    ids=["scaled", "scaled_linear", "power", "weighted", "weighted_poly"],
)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_kernels_in_other_words(kernel: Any, form: Callable[[Any], Any], tmp_path: Path) -> None:
    X, y = blobs(4, 60, 3, 0.4)
    model = SVC(kernel=kernel).fit(form(X), y)
    mercer.to_libsvm(model, tmp_path / "model")
    np.testing.assert_allclose(
        library_values(tmp_path / "model", X), machine_values(model, X), rtol=1e-9, atol=1e-9
    )


def test_what_cannot_be_written(tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    path = tmp_path / "model"
    refused = {
        "whole numbers": SVC().fit(X, np.array(["a", "b", "c"])[y]),
        "as pairs only": SVC(multi_class="ovr").fit(X, y),
        "ties of votes": SVC(break_ties=True).fit(X, y),
        "one width": SVC(kernel=RBF([1.0, 2.0, 3.0, 4.0])).fit(X, y),
        "linear, polynomial": SVC(kernel=Laplacian(1.0)).fit(X, y),
        "give the machine alone": make_pipeline(StandardScaler(), SVC()).fit(X, y),
        "not fitted": SVC(),
    }
    for words, model in refused.items():
        with pytest.raises((ValueError, TypeError), match=words) as error:
            mercer.to_libsvm(model, path)
        assert "\n" not in str(error.value)
        assert not path.exists()


def test_columns_that_no_vector_has(tmp_path: Path) -> None:
    """A file tells the largest index of its vectors only."""
    X, y = blobs(5, 40, 3, 0.5)
    X[:, 2] = 0.0
    model = SVC().fit(X, y)
    mercer.to_libsvm(model, tmp_path / "model")
    assert mercer.from_libsvm(tmp_path / "model").n_features_in_ == 2
    read_again(tmp_path / "model", model, X)
    with pytest.raises(ValueError, match="at least 2"):
        mercer.from_libsvm(tmp_path / "model", n_features=1)


@pytest.mark.parametrize("machine", [2, 3, 4])
def test_more_than_we_keep(machine: int, tmp_path: Path) -> None:
    """Noise of a regression and densities of one class are in the file and change no value."""
    utilities = pytest.importorskip("libsvm.svmutil")
    X, y = blobs(6, 60, 3, 0.4)
    with threadpool_limits(1):
        model = utilities.svm_train(list(y), X.tolist(), f"-q -s {machine} -n 0.3 -b 1")
    path = tmp_path / "model"
    utilities.svm_save_model(os.fspath(path), model)
    assert "prob" in path.read_text()
    ours = machine_values(mercer.from_libsvm(path), X)
    np.testing.assert_allclose(ours, library_values(path, X), rtol=1e-9, atol=1e-9)


def test_reading_takes_little_more_memory_than_the_file(tmp_path: Path) -> None:
    X, y = blobs(7, 600, 60, 0.05)
    path = tmp_path / "model"
    mercer.to_libsvm(SVC(gamma=1.0).fit(X, y), path)
    mercer.from_libsvm(path)  # what it imports does not count
    tracemalloc.start()
    mercer.from_libsvm(path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 4 * path.stat().st_size


def test_no_support_vectors(tmp_path: Path) -> None:
    X = np.arange(10.0)[:, None]
    model = SVR(epsilon=5.0).fit(X, np.zeros(10))
    mercer.to_libsvm(model, tmp_path / "model")
    copy = mercer.from_libsvm(tmp_path / "model")
    np.testing.assert_array_equal(copy.predict(X), model.predict(X))


CLAIMS = {
    "no line 'SV'": ("\nSV\n", "\n"),
    "claims 2": ("\n-0.08\n", "\n"),
    "add up": ("total_sv 2", "total_sv 1000000000"),
    "rho must have": ("nr_class 2", "nr_class 99999"),
    "does not add up": ("nr_sv 1 1", "nr_sv 2 1"),
    "too large for a file": ("2:4.0", "2000000000:4.0"),
    "cannot be read": ("1:3.0", "3:3.0"),
    "no part of numbers": ("1:3.0", "1:nan"),
    "svm_type": ("c_svc", "d_svc"),
    "kernel_type": ("linear", "wavelet"),
    "must be finite": ("rho 1.0", "rho inf"),
    "occurs twice": ("label 1 -1", "label 1 1"),
    "whole numbers": ("label 1 -1", "label 1 x"),
    "gamma must have": ("linear", "rbf"),
    "beyond the 32 bits": ("total_sv 2", "total_sv 9999999999"),
    "gamma must be above": ("linear", "rbf\ngamma 0"),
    "has no meaning": ("rho", "rhinoceros"),
    "begin with": ("0.08 1:3.0", "1:3.0"),
    "last line": ("-0.08\n", "-0.08"),
    "b':', which is no part": ("1:3.0", "1: 3.0"),
}


@pytest.mark.parametrize("words", CLAIMS)
def test_false_claims(words: str, tmp_path: Path) -> None:
    path = tmp_path / "two.model"
    model = SVC(kernel="linear").fit([[0.0, 0.0], [3.0, 4.0]], [-1, 1])
    mercer.to_libsvm(model, path)
    text = path.read_text()
    true, false = CLAIMS[words]
    assert true in text
    path.write_text(text.replace(true, false))
    with pytest.raises(ValueError, match=words) as error:
        mercer.from_libsvm(path)
    assert "\n" not in str(error.value)
    assert str(error.value).count(". ") == 0


def _damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """Return the content with one thing wrong: bits, an end, a part lost, doubled or exchanged."""
    at, other = sorted(rng.integers(len(content), size=2))
    kind = rng.integers(6)
    if kind == 0:
        return content[:at] + bytes([content[at] ^ 1 << rng.integers(8)]) + content[at + 1 :]
    if kind == 1:
        return content[:at]
    if kind == 2:
        return content[:at] + content[other:]
    if kind == 3:
        return content[:other] + content[at:]
    if kind == 4:
        lines = content.split(b"\n")
        rng.shuffle(lines)
        return b"\n".join(lines)
    return content[:at] + rng.bytes(8) + content[at:]


@pytest.mark.parametrize("kernel", ["rbf", "poly", "precomputed"])
def test_damaged_files(kernel: str, tmp_path: Path) -> None:
    """A file has no checksum: it is refused with a sentence, or a machine with finite values."""
    X, y = load_iris(return_X_y=True)
    X, y = X[::5], y[::5]
    X = X @ X.T if kernel == "precomputed" else X
    path, rng = tmp_path / "damaged.model", np.random.default_rng(0)
    mercer.to_libsvm(SVC(kernel=kernel, probability=True).fit(X, y), path)
    content, refused = path.read_bytes(), 0
    for _ in range(100):
        path.write_bytes(_damaged(content, rng))
        try:
            model = mercer.from_libsvm(path, n_features=X.shape[1])
        except ValueError as error:
            assert "\n" not in str(error)  # noqa: PT017
            refused += 1
        else:
            with np.errstate(over="ignore", invalid="ignore"):
                assert set(model.predict(X)) <= set(model.classes_)
    assert refused > 50


FILES = Path(__file__).parent / "files"


@pytest.mark.parametrize("path", sorted(FILES.glob("*.model")), ids=lambda path: path.stem)
def test_files_of_earlier_versions(path: Path) -> None:
    """Two of ours and two of svm-train, with the values that LIBSVM 3 had for some rows.

    The files stay as they are; a later version adds others.
    """
    model, known = mercer.from_libsvm(path), json.loads(path.with_suffix(".json").read_text())
    rows, values = np.array(known["rows"]), np.array(known["values"])
    np.testing.assert_allclose(machine_values(model, rows), values, rtol=0, atol=DECIMALS)
    np.testing.assert_allclose(model.predict(rows), known["labels"], rtol=0, atol=DECIMALS)
    if "probabilities" in known:  # of an iteration that ends early
        error = np.abs(model.predict_proba(rows) - known["probabilities"]).max()
        assert error < 0.005


def test_the_files_are_there() -> None:
    assert len(list(FILES.glob("*.model"))) == len(list(FILES.glob("*.json"))) >= 4


def test_places_that_are_not_there(tmp_path: Path) -> None:
    place = tmp_path / "no folder" / "two.model"
    with pytest.raises(FileNotFoundError) as error:
        mercer.to_libsvm(SVC().fit([[0.0], [1.0]], [-1, 1]), place)
    assert error.value.filename == str(place)
    assert ".part" not in str(error.value)


def test_foreign_files(tmp_path: Path) -> None:
    path = tmp_path / "other"
    for content in (b"", b"svm_type", b"PK\x03\x04", b"\x80\x04}.", b"svm_type c_svc\n" * 1000):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="no whole model file of LIBSVM"):
            mercer.from_libsvm(path)
    with pytest.raises(FileNotFoundError):
        mercer.from_libsvm(tmp_path / "nothing")


def test_a_width_of_huge_or_tiny_numbers_is_one(tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    for unit in (1e-120, 1e120):
        model = SVC().fit(unit * X, y)
        mercer.to_libsvm(model, tmp_path / "model")
        again = mercer.from_libsvm(tmp_path / "model")
        values = model.decision_function(unit * X)
        np.testing.assert_allclose(again.decision_function(unit * X), values, atol=1e-12)
