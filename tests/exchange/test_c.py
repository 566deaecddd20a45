"""The C function gives our values and labels, and every compiler warning is an error."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from absolute_terms import ROUNDING, absolute_terms, unscaled
from sklearn.datasets import load_diabetes, load_iris, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, PowerTransformer, StandardScaler

import mercer
from mercer import RVR, SVC, SVDD, SVR, OneClassSVM
from mercer.exchange import to_c
from mercer.kernels import RBF, Constant, Laplacian, Linear, Polynomial, Weighted

pytestmark = pytest.mark.filterwarnings("ignore:The kernel is not positive semi-definite")

X, y = load_iris(return_X_y=True)
WIDTHS = np.array([0.5, 0.01, 0.2, 1.0])
KERNELS: dict[str, Any] = {
    "linear": Linear(),
    "rbf": RBF(0.2),
    "rbf_widths": RBF(WIDTHS),
    "poly": Polynomial(3, 0.05, 1.0),
    "poly_degree_0": Polynomial(0, 1.0, 1.0),
    "sigmoid": mercer.kernels.Sigmoid(0.001, 0.1),
    "laplacian": Laplacian(0.2),
    "euclidean_laplacian": Laplacian(0.2, metric="euclidean"),
    "multiple": 3.0 * RBF(0.2),
    "weighted_linear": Weighted(Linear(), [1.0, 0.0, 2.0, 1.0]),
    "weighted_poly": 0.5 * Weighted(Polynomial(2, 0.1, 1.0), WIDTHS),
}
MACHINES: dict[str, Any] = {
    "svc_2": lambda kernel: SVC(kernel=kernel).fit(X[50:], y[50:]),
    "svc_3": lambda kernel: SVC(kernel=kernel).fit(X, y),
    "svc_rest": lambda kernel: SVC(kernel=kernel, multi_class="ovr").fit(X, y),
    "svr": lambda kernel: SVR(kernel=kernel).fit(X[:, :4], X.sum(axis=1)),
    "one_class": lambda kernel: OneClassSVM(kernel=kernel, nu=0.2).fit(X),
    "svdd": lambda kernel: SVDD(kernel=kernel, nu=0.2).fit(X[:, :4]),
}


@pytest.fixture(scope="module", name="compiled")
def compiler(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return a function that compiles named sources into one library, strictly."""
    program = shutil.which("gcc") or shutil.which("clang")
    if program is None:
        pytest.skip("there is no C compiler")

    def compiled(sources: dict[str, str]) -> ctypes.CDLL:
        folder = tmp_path_factory.mktemp("c")
        for name, text in sources.items():
            assert text.isascii()
            (folder / f"{name}.c").write_text(text)
        files = [f"{name}.c" for name in sources]
        strict = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-ffp-contract=off")
        command = [program, *strict, "-shared", "-fPIC", "-o", "all.so", *files, "-lm"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return ctypes.CDLL(str(folder / "all.so"))

    return compiled


def answers(library: ctypes.CDLL, name: str, points: Any, size: int) -> tuple[Any, Any]:
    """Return index and values of each row; of a regression the values alone."""
    function, pointer = getattr(library, name), ctypes.POINTER(ctypes.c_double)
    points = np.ascontiguousarray(points)
    if size == 0:
        function.restype = ctypes.c_double
        return None, np.array([function(row.ctypes.data_as(pointer)) for row in points])
    function.restype = ctypes.c_int
    values = np.full((len(points), size), np.nan)
    indices = [
        function(row.ctypes.data_as(pointer), value.ctypes.data_as(pointer))
        for row, value in zip(points, values)
    ]
    return np.array(indices), values


def agree(library: ctypes.CDLL, name: str, model: Any, points: Any) -> None:
    machine = model[-1] if hasattr(model, "steps") else model
    if isinstance(machine, SVR):
        ours = model.predict(points)
        _, values = answers(library, name, points, 0)
        np.testing.assert_allclose(values, ours, rtol=1e-6, atol=1e-6)
        return
    if isinstance(machine, SVC):
        machine.set_params(decision_function_shape="ovo")
    ours = model.decision_function(points).reshape(len(points), -1)
    indices, values = answers(library, name, points, ours.shape[1])
    scale = max(1.0, np.abs(ours).max())
    np.testing.assert_allclose(values, ours, rtol=0, atol=1e-6 * scale)
    labels = getattr(machine, "classes_", np.array([-1, 1]))
    clear = (np.abs(ours) > 1e-9 * scale).all(axis=1)
    np.testing.assert_array_equal(labels[indices][clear], model.predict(points)[clear])
    assert clear.mean() > 0.5


def test_machines_and_kernels(compiled: Any) -> None:
    """All of them in one library, since compilers take longer to start than to compile."""
    models = {
        f"{machine}_{kernel}": MACHINES[machine](KERNELS[kernel])
        for machine in MACHINES
        for kernel in KERNELS
        if machine == "svr" or kernel != "poly_degree_0"  # whose values are all equal
        if (machine, kernel) != ("svdd", "sigmoid")  # which is no ball
    }
    library = compiled({name: to_c(model, name=name) for name, model in models.items()})
    for name, model in models.items():
        agree(library, name, model, X[::3] + 0.01)


def test_no_row_is_nearer_than_the_centre(compiled: Any) -> None:
    """Where the kernel is not positive semi-definite, squared distances could be below 0."""
    points = np.random.default_rng(1).normal(size=(20, 3))
    model = SVDD(kernel=mercer.kernels.Sigmoid(1.0, 1.0), nu=0.5).fit(points)
    assert (model.decision_function(points) == model.radius_**2).any()
    agree(compiled({"ball": to_c(model, name="ball")}), "ball", model, points)


def test_scalers_are_folded_in(compiled: Any) -> None:
    table, kinds = load_wine(return_X_y=True)
    values = load_diabetes(return_X_y=True)[1][: len(table)]
    models = {
        "standard": make_pipeline(StandardScaler(), SVC()).fit(table, kinds),
        "range": make_pipeline(MinMaxScaler(), SVC(kernel="linear")).fit(table, kinds),
        "both": make_pipeline(MinMaxScaler((-2, 5)), StandardScaler(with_std=False), SVR()).fit(
            table, values
        ),
        "unscaled": make_pipeline(StandardScaler(with_mean=False), "passthrough", SVDD()).fit(
            table
        ),
        "widths": make_pipeline(StandardScaler(), SVC(kernel=RBF(np.linspace(0.01, 1, 13)))).fit(
            table, kinds
        ),
    }
    library = compiled({name: to_c(model, name=name) for name, model in models.items()})
    for name, model in models.items():
        agree(library, name, model, table + 0.01)


def test_rounding_on_data_far_from_zero(compiled: Any) -> None:
    models = unscaled()
    library = compiled({name: to_c(model, name=name) for name, (model, _) in models.items()})
    for name, (model, table) in models.items():
        is_number = isinstance(model, SVR)
        ours = model.predict(table) if is_number else model.decision_function(table)
        ours = ours.reshape(len(table), -1)
        _, values = answers(library, name, table, 0 if is_number else ours.shape[1])
        error = np.abs(values.reshape(ours.shape) - ours)
        assert (error <= ROUNDING * absolute_terms(model, table)).all(), name


def test_odd_machines(compiled: Any) -> None:
    """Nothing to add up, many classes with ties, strange names of classes, data far away."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(60, 3))
    strange = np.array(["*/ x", "\\", '"'])[rng.integers(3, size=60)]
    models: dict[str, Any] = {
        "constant": SVR(epsilon=9.0).fit(points, points[:, 0]),
        "ties": SVC(gamma=5.0).fit(points, rng.integers(6, size=60)),
        "names": SVC(kernel=RBF(0.1) * 2.0).fit(points, strange),
        "sparse": SVC().fit(sp.csr_array(points), points[:, 0] > 0),
        "far": SVDD(kernel="linear").fit(points + 1e6),
        "constant_kernel": SVR(kernel=Constant(2.0)).fit(points, points[:, 0]),
    }
    library = compiled({name: to_c(model, name=name) for name, model in models.items()})
    for name, model in models.items():
        agree(library, name, model, points + 0.1 + 1e6 * (name == "far"))
    file = mercer.to_c(models["names"])
    assert file.count("*/") == 2 - ("on the boundary" not in file)


def test_the_order_of_ties_is_that_of_the_file(compiled: Any, tmp_path: Path) -> None:
    model = SVC(gamma=5.0).fit(X, y)
    mercer.to_libsvm(model, tmp_path / "model")
    text = (tmp_path / "model").read_text().replace("label 0 1 2", "label 2 1 0")
    (tmp_path / "model").write_text(text)
    other = mercer.from_libsvm(tmp_path / "model")
    agree(compiled({"other": to_c(other, name="other")}), "other", other, X + 3.0)


def test_names_that_c_has_already() -> None:
    model = SVC().fit(X[50:], y[50:])
    for name in ("double", "exp", "expf", "main", "printf", "NAN", "__f", "_F"):
        with pytest.raises(ValueError, match=f"'{name}' already") as error:
            to_c(model, name=name)
        assert "\n" not in str(error.value)


def test_names_of_its_own_variables_are_free(compiled: Any) -> None:
    names, model = ("x", "values", "_f"), SVC().fit(X, y)
    library = compiled({name: to_c(model, name=name) for name in names})
    for name in names:
        agree(library, name, model, X[::10])


def test_what_cannot_be_written() -> None:
    table = np.abs(X) + 1.0
    refused = {
        "identifier": (SVC().fit(X, y), "no-name"),
        "identifier; got None": (SVC().fit(X, y), None),
        "got RVR": (RVR().fit(X, y), "f"),
        "linear, polynomial": (SVC(kernel=RBF(1.0) + Linear()).fit(X, y), "f"),
        "precomputed kernel": (SVC(kernel="precomputed").fit(X @ X.T, y), "f"),
        "ties of votes": (SVC(break_ties=True).fit(X, y), "f"),
        "PowerTransformer": (make_pipeline(PowerTransformer(), SVC()).fit(table, y), "f"),
        "without clip": (make_pipeline(MinMaxScaler(clip=True), SVC()).fit(X, y), "f"),
        "not fitted": (SVC(), "f"),
    }
    for words, (model, name) in refused.items():
        with pytest.raises((ValueError, TypeError), match=words) as error:
            to_c(model, name=name)
        assert "\n" not in str(error.value)
